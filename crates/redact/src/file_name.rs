//! Secrets in the names of files, folders, branches and tests. A sign joins them to the word that names them:
//! `db-password-X.sql`, `test_rejects_token_X`, `X-secret.txt`.

use super::alphabet::{self, ALNUM, END, NAME, URL64};
use super::name;
use super::randomness::{self, Randomness};
use super::{Finding, character_mix, handmade, other_kind, placeholder, prefix, token_shape};

/// Longest name that is examined.
const MAX_BYTES: usize = 160;
/// Shortest hexadecimal value that is a secret: shorter ones are build numbers.
const MIN_HEX_BYTES: usize = 32;

/// Returns the secret that is joined to the word from `at` to `end`.
#[inline]
pub(super) fn secret(text: &[u8], at: usize, end: usize, done: usize) -> Option<Finding> {
    let joins = |at: usize| matches!(text.get(at), Some(b'-' | b'_' | b'.'));
    let before = at > done && joins(at - 1);
    let length = end - at;
    if !joins(end) && !before || !(2..=11).contains(&length) || !is_naming(text, at, end, done) {
        return None;
    }
    // `token` has other meanings than `password`, so the value after it must be more random.
    let least =
        if matches!(text[at], b'p' | b'P') { Randomness::Likely } else { Randomness::Certain };
    // A UUID is an identifier, except after the name of a password or a key.
    let uuid = matches!(text[at], b'p' | b'P' | b'a' | b'A' | b'k' | b'K');
    let after = if joins(end) { after(text, end + 1, least) } else { None };
    let after = after.filter(|found| uuid || !is_uuid(&text[found.start..found.end]));
    after.or_else(|| if before { preceding(text, at - 1, done) } else { None })
}

/// Returns true if a word in a name announces a secret.
fn is_naming(text: &[u8], at: usize, end: usize, done: usize) -> bool {
    let word = &text[at..end];
    let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
    match (word[0] | 32, word.len()) {
        (b'p', 2) => is("pw"),
        (b'p', 3) => is("pwd") || is("pat"),
        (b'p', 4) => is("pass"),
        (b'p', 6) => is("passwd"),
        (b'p', 8) => is("password"),
        (b'p', 10) => is("passphrase"),
        (b't', 5) => is("token"),
        (b's', 6) => is("secret"),
        (b's', 7) => is("session"),
        (b'c', 4 | 5) => is("cred") || is("creds"),
        (b'c', 10 | 11) => is("credential") || is("credentials"),
        (b'a', 6) => is("apikey"),
        (b'j', 3) => is("jwt"),
        (b'b', 6) => is("bearer"),
        (b's', 4) => is("seed"),
        (b'p', 7) => is("privkey"),
        (b'r', 3) => is("rsa") && at >= 3 && text[..at].ends_with(b"id_"),
        (b'k', 3) => {
            let start = alphabet::run_back(text, end, NAME, (end - done).min(name::MAX_NAME_BYTES));
            name::classify(&text[start..end]).is_some()
        }
        _ => false,
    }
}

/// Returns the value at `start`: the rest of the name without its extension, or its next part.
fn after(text: &[u8], start: usize, least: Randomness) -> Option<Finding> {
    // A token with a known prefix is longer than a part of a name.
    let known = || {
        let word = alphabet::run(text, start, ALNUM);
        prefix::token(text, start).or_else(|| token_shape::token(text, start, word)).is_some()
    };
    if !alphabet::is_at(text, start, ALNUM) || known() {
        return None;
    }
    let window = &text[start..text.len().min(start + MAX_BYTES)];
    let over =
        |&byte: &u8| alphabet::has_class(byte, END) || matches!(byte, b'/' | b':' | b'(' | b'=');
    // A value that continues beyond the window is not cut.
    let length = window
        .iter()
        .position(over)
        .or((start + window.len() == text.len()).then_some(window.len()))?;
    let whole = &window[..length];
    let dot = whole.iter().rposition(|&byte| byte == b'.');
    let stem = &whole[..dot.filter(|dot| length - dot <= 6).unwrap_or(length)];
    let part = &whole[..alphabet::run(whole, 0, ALNUM)];
    // A hand-made password with at least two digits: tests are numbered with one.
    let made = |value: &&[u8]| {
        least == Randomness::Likely
            && handmade::is_surely_handmade(value)
            && (value[0].is_ascii_uppercase() || character_mix::is_signed(value))
            && !value.contains(&b'_')
    };
    let parts = [whole, stem, part];
    let user = alphabet::run(stem, 0, alphabet::LETTER);
    // `creds_ada_X`: a user is between them.
    if let Some(rest) = stem.get(user + 1..).filter(|_| user > 1 && stem[user] == b'_')
        && !parts.into_iter().any(|value| is_secret(value, true, least))
        && rest.iter().all(|&byte| alphabet::has_class(byte, ALNUM))
        && is_secret(rest, true, Randomness::Certain)
    {
        return Some(Finding { start: start + user + 1, end: start + stem.len(), kind: "secret" });
    }
    let mut found = parts.into_iter().find(|value| is_secret(value, true, least) || made(value))?;
    // The rest of the name stays only if it is made of words.
    if !character_mix::is_wordy(&whole[found.len()..]) {
        found = whole;
    }
    Some(Finding { start, end: start + found.len(), kind: "secret" })
}

/// Returns the value that ends before the sign at `end`.
fn preceding(text: &[u8], end: usize, done: usize) -> Option<Finding> {
    let start = alphabet::run_back(text, end, ALNUM, (end - done).min(MAX_BYTES));
    let long = end - start >= 24 && text[start..end].iter().any(u8::is_ascii_digit);
    let free = start == done
        || !alphabet::has_class(text[start - 1], URL64)
        || long && text[start - 1] == b'-';
    let value = &text[start..end];
    let secret = free && value.len() >= 16 && is_secret(value, false, Randomness::Certain);
    secret.then_some(Finding { start, end, kind: "secret" })
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36 && value[8] == b'-' && value[23] == b'-'
}

fn is_secret(value: &[u8], hex: bool, least: Randomness) -> bool {
    if value.len() < randomness::MIN_RANDOM_BYTES
        || placeholder::is_placeholder(value)
        || other_kind::is_version(value)
    {
        return false;
    }
    let hex = hex
        && value.len() >= MIN_HEX_BYTES
        && randomness::is_hex(value)
        && character_mix::is_random(value);
    hex || randomness::measure(value) >= least && !other_kind::is_other_kind(value)
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn secrets_in_names() {
        for (text, left) in [
            ("dumps/db-password-Dd0XLH8OIpZHzP.sql", "dumps/db-password-[redacted:secret].sql"),
            ("test_login_with_token_Rh08i7lHhiOKe0Ix", "test_login_with_token_[redacted:secret]"),
            ("keys/e0IxAiGpwfTFfpEr1CdC-secret.txt", "keys/[redacted:secret]-secret.txt"),
            ("apikey-8a7d0c3fe5b94a1290ffab34c1d2e7f6.json", "apikey-[redacted:secret].json"),
            // An earlier version cut this one at its last dot.
            (
                "KEY-eyJhbGciOiJIUzI1NiJ9.eyJA00AaAA0aAAaaAAA0aAA.0AaAAAAaAa00AAA0aAa0Aaa0aAaA",
                "KEY-[redacted:jwt]",
            ),
        ] {
            assert_eq!(redact(text), left);
        }
        for text in [
            "tests/test_password_reset_flow.py",
            "default-token-x7k2p",
            "app-secret-g7t5k2m4h9",
            "fix/token-refreshOn401",
            "session-2026-11-15T12-20-13.json",
            "secret-8a7d0c3f",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
