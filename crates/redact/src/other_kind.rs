//! Random values that are not secrets: digests, public keys, versions, key combinations.

use super::alphabet::{self, ALNUM};

/// Returns true for random values that are not secrets: digests, public keys, ids with a prefix, symbols, files.
pub(super) fn is_other_kind(value: &[u8]) -> bool {
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
pub(super) fn is_key_combination(value: &[u8]) -> bool {
    let keys: [&[u8]; 8] =
        [b"Ctrl+", b"Shift+", b"Alt+", b"Cmd+", b"Meta+", b"Super+", b"Option+", b"Control+"];
    keys.iter().any(|key| value.starts_with(key))
}

/// Returns true for a version: `1.2.3-rc.1+build.8a7d0c3`.
pub(super) fn is_version(value: &[u8]) -> bool {
    let dot = alphabet::run(value, 0, alphabet::DIGIT);
    dot > 0 && value.get(dot) == Some(&b'.') && alphabet::is_at(value, dot + 1, alphabet::DIGIT)
}

/// Returns true for signs that a password may begin with.
pub(super) fn is_sign(byte: u8) -> bool {
    matches!(byte, b'!' | b'%' | b'^' | b'*' | b'+' | b'.' | b'~' | b'#' | b'?')
}
