//! A user and a password side by side without a name: `user:password@host`, `auth=("user", "x")`.

use super::alphabet::{self, ALNUM, BLANK, END, NAME, QUOTE, SPACE};
use super::randomness::{self, Randomness};
use super::{Finding, character_mix, handmade, other_kind, placeholder, value_span};

/// Returns the password of `user:password@host` without a scheme. The `@` is at `at`.
pub(super) fn at_sign(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    if let Some(found) = slash(text, at, done).or_else(|| after_address(text, at)) {
        return Some(found);
    }
    let host = alphabet::is_at(text, at + 1, ALNUM) && !alphabet::starts(text, at + 1, b"sha256:");
    let floor = at.saturating_sub(64).max(done);
    let stop = |&byte: &u8| byte == b':' || alphabet::has_class(byte, END);
    let colon = floor + text[floor..at].iter().rposition(stop)?;
    if !host || text[colon] != b':' || colon + 6 > at {
        return None;
    }
    let user = alphabet::run_back(text, colon, NAME, (colon - done).min(32));
    let alone =
        user == 0 || alphabet::has_class(text[user - 1], BLANK | QUOTE) || text[user - 1] == b'=';
    let password = &text[colon + 1..at];
    // A URL in the name of a file or a branch: `https:__bob:X@host`, `mirror/https-bob:X@host`.
    let in_name = user > 0
        && (text[user - 1] == b'/' || text[user - 1] == b':' && text[user..].starts_with(b"__"));
    let alone = alone
        || in_name
            && (randomness::is_likely_random(password) || character_mix::is_signed(password));
    let made = || &text[user..colon] != b"npm" && handmade::is_surely_handmade(password);
    let looks_random = password.len() >= 8
        && (!character_mix::is_wordy(password) || randomness::is_likely_random(password) || made())
        && !password.contains(&b'/');
    (user < colon && alone && looks_random && !placeholder::is_placeholder(password))
        .then_some(Finding { start: colon + 1, end: at, kind: "password" })
}

/// Returns the password of `ada@corp.io / X`. The `@` is at `at`.
fn after_address(text: &[u8], at: usize) -> Option<Finding> {
    let host = at + 1 + alphabet::run(&text[at + 1..text.len().min(at + 65)], 0, NAME);
    if !alphabet::starts(text, host, b" / ") {
        return None;
    }
    let start = host + 3;
    let window = &text[start..text.len().min(start + 64)];
    let length = window
        .iter()
        .position(|&byte| alphabet::has_class(byte, BLANK | QUOTE) || byte == b')')
        .or((start + window.len() == text.len()).then_some(window.len()))?;
    let value = &window[..length];
    let value = value.strip_suffix(b".").or(value.strip_suffix(b",")).unwrap_or(value);
    let secret = (character_mix::is_signed(value)
        || randomness::is_likely_random(value)
        || handmade::is_surely_handmade(value))
        && !value.contains(&b'/')
        && !placeholder::is_placeholder(value);
    secret.then_some(Finding { start, end: start + value.len(), kind: "password" })
}

/// Returns the password of `user/password@host`, the form of Oracle's tools. The `@` is at `at`.
fn slash(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let floor = at.saturating_sub(40).max(done);
    let stop = |&byte: &u8| byte == b'/' || alphabet::has_class(byte, END);
    let slash = floor + text[floor..at].iter().rposition(stop)?;
    let from = slash + 1;
    if text[slash] != b'/' || slash == done {
        return None;
    }
    let user = alphabet::run_back(text, slash, alphabet::WORD, (slash - done).min(32));
    let alone =
        user == 0 || alphabet::has_class(text[user - 1], BLANK | QUOTE) || text[user - 1] == b'(';
    let host = alphabet::is_at(text, at + 1, ALNUM) || alphabet::starts(text, at + 1, b"//");
    let password = &text[from..at];
    let plain = password.iter().all(|&byte| alphabet::has_class(byte, alphabet::WORD));
    let looks_random = || {
        randomness::is_likely_random(password) && (plain || !other_kind::is_other_kind(password))
    };
    let secret = user < slash
        && alone
        && host
        && !password.is_empty()
        && !password.contains(&b':')
        && looks_random()
        && !placeholder::is_placeholder(password);
    secret.then_some(Finding { start: from, end: at, kind: "password" })
}

/// Returns the password of `root/X` and `admin:X` without a host. The user ends at `end`.
pub(super) fn beside_user(text: &[u8], end: usize, done: usize) -> Option<Finding> {
    let sign = alphabet::run(text, end, SPACE);
    let start = alphabet::run(text, sign + 1, SPACE);
    let joined = sign == end;
    let parts = match text.get(sign) {
        Some(b'/') => joined == (start == sign + 1),
        Some(b':') => joined && start == sign + 1,
        _ => false,
    };
    if !parts || start < done {
        return None;
    }
    let window = &text[start.min(text.len())..text.len().min(start + 64)];
    let over = |&byte: &u8| {
        alphabet::has_class(byte, BLANK | QUOTE) || matches!(byte, b')' | b'/' | b':' | b'@')
    };
    let length = window
        .iter()
        .position(over)
        .or((start + window.len() == text.len()).then_some(window.len()))?;
    let value = &window[..length];
    let value = value.strip_suffix(b".").or(value.strip_suffix(b",")).unwrap_or(value);
    let ends = text.get(start + length).is_none_or(|byte| !matches!(byte, b'/' | b':' | b'@'));
    let secret = ends
        && (randomness::measure(value) == Randomness::Certain
            || character_mix::is_signed(value)
            || handmade::is_surely_handmade(value))
        && !other_kind::is_other_kind(value)
        && !placeholder::is_placeholder(value);
    secret.then_some(Finding { start, end: start + value.len(), kind: "password" })
}

/// Returns the password of `auth=("user", "password")` and `BasicAuth("user", "password")`. The parenthesis is at `at`.
pub(super) fn pair(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let before = &text[at.saturating_sub(12).max(done)..at];
    let before = before.strip_suffix(b" ").unwrap_or(before);
    let known: [&[u8]; 5] = [b"auth=", b"auth =", b"BasicAuth", b"basic_auth", b"DigestAuth"];
    if !known.iter().any(|end| before.ends_with(end)) {
        return None;
    }
    let user = value_span::value_after(text, at + 1, false, false)
        .filter(|user| is_quoted(text, at + 1, user.start))?;
    let comma = alphabet::run(text, user.end, QUOTE | SPACE);
    let from = alphabet::run(text, comma + 1, SPACE);
    let password = value_span::value_after(text, from, false, false)?;
    let value = text.get(password.start..password.end)?;
    let literal = text.get(comma) == Some(&b',') && is_quoted(text, from, password.start);
    (literal && value.len() >= 4 && !placeholder::is_placeholder(value)).then_some(Finding {
        start: password.start,
        end: password.end,
        kind: "password",
    })
}

/// Returns true if a quote after `from` opens the value at `start`.
fn is_quoted(text: &[u8], from: usize, start: usize) -> bool {
    start > from && alphabet::has_class(text[start - 1], QUOTE)
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn redacts_password_after_user_name() {
        for (text, left) in [
            ("nc -x bob:k3Xw9QzA@proxy:80", "nc -x bob:[redacted:password]@proxy:80"),
            (
                "get(u, auth=(\"svc\", \"hunter2\"))",
                "get(u, auth=(\"svc\", \"[redacted:password]\"))",
            ),
            ("HTTPBasicAuth('a', 'hunter2')", "HTTPBasicAuth('a', '[redacted:password]')"),
        ] {
            assert_eq!(redact(text), left);
        }
        for text in [
            "git@github.com:acme/x.git",
            "rust:1.95-slim@sha256:abc",
            "npm:left-pad@1.3.0",
            "auth=(user, password)",
            "dev@host:/srv/x",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
