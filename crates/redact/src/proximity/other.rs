//! Names of values that are not secrets.

use crate::alphabet::{self, NAME, QUOTE, SPACE};
use crate::name::{self, NameClass, SecretName};

/// Returns true if the name right before a value names something other than a secret.
pub(crate) fn has_other_name(text: &[u8], start: usize, done: usize) -> bool {
    let floor = start.saturating_sub(8).max(done);
    let between = |byte: &&u8| {
        alphabet::has_class(**byte, QUOTE | SPACE)
            || matches!(**byte, b'=' | b':' | b',' | b'[' | b'(' | b'\\' | b'>')
    };
    let end = start - text[floor..start].iter().rev().take_while(between).count();
    let begin = alphabet::run_back(text, end, NAME, (end - done).min(24));
    let name = &text[begin..end];
    // `connect.sid`, `X-Session-Id`: a session id is as good as a login.
    if matches!(name.last(), Some(b'd' | b'D'))
        && matches!(
            name::classify(name),
            Some(SecretName { class: NameClass::Perhaps, kind: "token" })
        )
    {
        return false;
    }
    // `session id X`, in two words.
    if name.eq_ignore_ascii_case(b"id") && text[done..begin].ends_with(b"ession ") {
        return false;
    }
    let known: [&[u8]; 33] = [
        b"id",
        b"hash",
        b"digest",
        b"checksum",
        b"etag",
        b"nonce",
        b"kid",
        b"fingerprint",
        b"cursor",
        b"signature",
        b"integrity",
        b"rev",
        b"revision",
        b"commit",
        b"sha256",
        b"sha512",
        b"sha1",
        b"sha384",
        b"md5",
        b"h1",
        b"uid",
        b"uuid",
        b"version",
        b"arn",
        b"base64",
        b"mappings",
        b"public",
        b"peer",
        b"recipient",
        b"public_key",
        b"publickey",
        b"sitekey",
        b"class",
    ];
    known.iter().any(|known| {
        name.len() >= known.len() && name[name.len() - known.len()..].eq_ignore_ascii_case(known)
    }) || is_public(text, begin, end, done)
}

/// Returns true for a part of an `arn:…`. Colons separate its parts.
pub(super) fn is_resource(text: &[u8], start: usize, done: usize) -> bool {
    let part = |&byte: &u8| byte == b':' || alphabet::has_class(byte, NAME | alphabet::PLUS_SLASH);
    let window = &text[start.saturating_sub(96).max(done)..start];
    let begin = window.len() - window.iter().rev().take_while(|byte| part(byte)).count();
    window[begin..].starts_with(b"arn:")
}

/// Returns true for `Public key: …`, in two words.
fn is_public(text: &[u8], begin: usize, end: usize, done: usize) -> bool {
    let word = &text[begin..end];
    let before = &text[begin.saturating_sub(8).max(done)..begin];
    word.eq_ignore_ascii_case(b"key")
        && before.len() >= 7
        && before[before.len() - 7..before.len() - 1].eq_ignore_ascii_case(b"public")
}
