//! Words of placeholders. They are patterns rather than lists, because patterns compile to a switch over lengths.

/// Returns true for types, switches and common placeholders, in lower case.
#[rustfmt::skip]
pub(super) fn is_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"1password" | b"any" | b"ask" | b"auto" | b"bar" | b"base64" | b"baz" | b"bearer" | b"bool" | b"boolean"
        | b"bytes" | b"changeit" | b"default" | b"define" | b"undef" | b"disabled" | b"empty"
        | b"enabled" | b"env" | b"false" | b"file" | b"foo" | b"foobar" | b"generated" | b"guest"
        | b"hidden" | b"hide" | b"int" | b"keychain" | b"keyring" | b"masked" | b"mongo" | b"mysql"
        | b"never" | b"nil" | b"no" | b"none" | b"null" | b"number" | b"oauth" | b"oauth2" | b"object"
        | b"off" | b"on" | b"optional" | b"plain" | b"plaintext" | b"postgres" | b"prompt" | b"random"
        | b"redis" | b"removed" | b"required" | b"root" | b"self" | b"show" | b"stdin" | b"str"
        | b"string" | b"tbd" | b"text" | b"true" | b"undefined" | b"unknown" | b"unset" | b"vault"
        | b"yes"
    )
}

/// Returns true for words that placeholders are composed of: `my-secret-token`, `test_password`.
#[rustfmt::skip]
pub(super) fn is_part(part: &[u8]) -> bool {
    matches!(
        part,
        b"a" | b"access" | b"account" | b"admin" | b"an" | b"api" | b"apikey" | b"app" | b"auth"
        | b"aws" | b"bad" | b"basic" | b"bot" | b"client" | b"code" | b"current" | b"db" | b"demo"
        | b"dev" | b"expired" | b"github" | b"good" | b"hash" | b"hashed" | b"id" | b"input"
        | b"invalid" | b"jwt" | b"key" | b"local" | b"my" | b"name" | b"new" | b"old" | b"openai"
        | b"or" | b"pass" | b"passphrase" | b"passwd" | b"password" | b"personal" | b"private"
        | b"prod" | b"public" | b"pwd" | b"refresh" | b"sample" | b"secret" | b"secrets" | b"service"
        | b"session" | b"some" | b"strong" | b"super" | b"supersecret" | b"test" | b"testing" | b"the"
        | b"this" | b"to" | b"token" | b"tokens" | b"user" | b"username" | b"valid" | b"value"
        | b"wrong"
    )
}
