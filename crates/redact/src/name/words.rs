//! Words within names. They are patterns rather than lists, because patterns compile to a switch over lengths.

/// Returns true for words that make a following `key` a credential.
#[rustfmt::skip]
pub(super) fn opens(word: &[u8]) -> bool {
    matches!(
        word,
        b"access" | b"account" | b"activation" | b"admin" | b"aes" | b"algolia" | b"anthropic" | b"api" | b"app" | b"application" | b"auth" | b"cipher"
        | b"client" | b"crypto" | b"cypher" | b"datadog" | b"deploy" | b"encrypt" | b"encryption" | b"fernet" | b"heroku" | b"hmac"
        | b"integration" | b"jwt" | b"license" | b"mailgun" | b"master" | b"openai" | b"private" | b"product" | b"record" | b"role" | b"sdk"
        | b"secret" | b"recovery" | b"server" | b"service" | b"session" | b"shared" | b"sendgrid" | b"signing" | b"storage"
        | b"symmetric" | b"unseal" | b"twilio" | b"webhook" | b"wpa" | b"write"
    )
}

/// Returns true for words that make a following `key` an identifier.
#[rustfmt::skip]
pub(super) fn opens_nothing(word: &[u8]) -> bool {
    matches!(
        word,
        b"bucket" | b"cache" | b"composite" | b"dict" | b"foreign" | b"gpg" | b"group" | b"hash"
        | b"host" | b"i18n" | b"idempotency" | b"index" | b"kms" | b"label" | b"lookup" | b"map"
        | b"message" | b"natural" | b"object" | b"partition" | b"primary" | b"pub" | b"public"
        | b"publishable" | b"query" | b"range" | b"react" | b"routing" | b"row" | b"site" | b"sort"
        | b"translation" | b"unique"
    )
}

/// Returns true for words that may follow without changing the class of a name: `TOKEN_PROD`, `SECRET_KEY_BASE`.
#[rustfmt::skip]
pub(super) fn is_suffix(word: &[u8]) -> bool {
    matches!(
        word,
        b"b64" | b"base" | b"base64" | b"bytes" | b"current" | b"data" | b"default" | b"dev" | b"env"
        | b"hex" | b"live" | b"main" | b"new" | b"next" | b"old" | b"plain" | b"plaintext" | b"pre"
        | b"primary" | b"prod" | b"production" | b"raw" | b"secondary" | b"stage" | b"staging" | b"str"
        | b"string" | b"test" | b"text" | b"val" | b"value"
    )
}
