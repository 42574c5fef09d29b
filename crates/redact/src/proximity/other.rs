//! Random values that are not secrets.

use super::is_sign;
use crate::alphabet::{self, ALNUM, NAME, QUOTE, SPACE};
use crate::name::{self, NameClass, SecretName};

/// Returns true for random values that are not secrets: digests, public keys, ids with a prefix, symbols, files.
pub(crate) fn is_other_kind(value: &[u8]) -> bool {
    let begins: [&[u8]; 13] = [
        b"sha1", b"sha2", b"sha3", b"sha5", b"md5", b"AAAA", b"age1", b"ssh-", b"_ZN", b"xn--",
        b"SHA256", b"SHA512", b"MD5:",
    ];
    let prefix = alphabet::run(value, 0, alphabet::LOWER);
    let id = (2..=8).contains(&prefix)
        && value.get(prefix) == Some(&b'_')
        && alphabet::run(value, prefix, alphabet::WORD) == value.len();
    let constant = value.contains(&b'_') && !value.iter().any(u8::is_ascii_lowercase);
    let dot = value.iter().rposition(|&byte| byte == b'.');
    let plain = !value
        .iter()
        .any(|&byte| matches!(byte, b'!' | b'%' | b'^' | b'*' | b'+' | b'~' | b'#' | b'?'));
    let file = plain
        && dot.is_some_and(|dot| {
            (2..=5).contains(&(value.len() - dot - 1))
                && value[dot + 1..].iter().all(u8::is_ascii_lowercase)
        });
    let sane = value.iter().all(|&byte| {
        alphabet::has_class(
            byte,
            ALNUM | alphabet::PLUS_SLASH | alphabet::DASH | alphabet::UNDERSCORE | alphabet::EQUALS,
        ) || is_sign(byte)
            || matches!(byte, b'@' | b',' | b':')
    });
    let range = value.windows(3).any(|part| matches!(part, b"a-z" | b"A-Z" | b"0-9"));
    let url = value.windows(3).any(|part| part == b"://");
    !sane
        || url
        || range
        || is_key_combination(value)
        || is_version(value)
        || id
        || constant
        || file
        || begins.iter().any(|begin| value.starts_with(begin))
}

/// Returns true for `Ctrl+Shift+F5`.
pub(crate) fn is_key_combination(value: &[u8]) -> bool {
    let keys: [&[u8]; 8] =
        [b"Ctrl+", b"Shift+", b"Alt+", b"Cmd+", b"Meta+", b"Super+", b"Option+", b"Control+"];
    keys.iter().any(|key| value.starts_with(key))
}

/// Returns true for a version: `1.2.3-rc.1+build.8a7d0c3`.
pub(crate) fn is_version(value: &[u8]) -> bool {
    let dot = alphabet::run(value, 0, alphabet::DIGIT);
    dot > 0 && value.get(dot) == Some(&b'.') && alphabet::is_at(value, dot + 1, alphabet::DIGIT)
}

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
