//! Values before the word that names them: `X is the deploy token`, `use X as password`, `assert 'X' == user.password`.

use super::alphabet::{self, BLANK, NEWLINE, QUOTE};
use super::proximity::has_other_name;
use super::randomness::{self, Randomness};
use super::{Finding, character_mix, handmade, other_kind, placeholder, prefix};

/// Maximum distance of a value from its name.
const MAX_DISTANCE_BYTES: usize = 112;
/// Shortest value that is taken without a verb between it and its name.
const MIN_BARE_BYTES: usize = 12;

/// Returns the value on the line before the word at `at` that names it. Text before `from` was searched already.
pub(super) fn find(text: &[u8], at: usize, from: usize) -> Option<Finding> {
    let floor = at.saturating_sub(MAX_DISTANCE_BYTES).max(from).min(at);
    let line = text[floor..at].iter().rposition(|&byte| alphabet::has_class(byte, NEWLINE));
    let floor = line.map_or(floor, |line| floor + line + 1);
    // Random values without a digit are rare; they need a verb.
    let window = &text[floor..at];
    let verb = |part: &[u8]| matches!(part, b" as " | b" is ");
    if !window.iter().any(u8::is_ascii_digit) && !window.windows(4).any(verb) {
        return None;
    }
    let parts = |byte: u8| {
        alphabet::has_class(byte, BLANK | QUOTE) || matches!(byte, b'(' | b')' | b'[' | b']')
    };
    let mut end = at;
    while end > floor {
        let window = &text[floor..end];
        let start = floor + window.iter().rposition(|&byte| parts(byte)).map_or(0, |sign| sign + 1);
        // A word that begins before the floor is not cut.
        let whole = start > floor || floor == 0 || parts(text[floor - 1]);
        let stop = end
            - text[start..end]
                .iter()
                .rev()
                .take_while(|byte| matches!(byte, b',' | b'.' | b':' | b';'))
                .count();
        if whole && stop > start + 6 && is_value(text, start, stop, at, floor) {
            return Some(Finding { start, end: stop, kind: "secret" });
        }
        end = start.saturating_sub(1).max(floor);
        if start == floor {
            break;
        }
    }
    None
}

fn is_value(text: &[u8], start: usize, end: usize, at: usize, floor: usize) -> bool {
    let value = &text[start..end];
    let between = &text[end..at];
    let looks_random = randomness::is_likely_random(value) || character_mix::is_signed(value);
    let mixed = value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_lowercase);
    let password = || matches!(text[at] | 32, b'p' | b'k') && between.len() <= 40;
    let secret = match link(between) {
        _ if value.len() < randomness::MIN_RANDOM_BYTES && !password() => false,
        Link::Verb | Link::Field if password() && handmade::is_surely_handmade(value) => true,
        Link::Verb => {
            (looks_random || value.len() >= 20 && mixed && character_mix::is_random(value))
                && !other_kind::is_other_kind(value)
                || value.len() >= 32 && randomness::is_hex(value) && character_mix::is_random(value)
        }
        Link::Comparison => looks_random && !other_kind::is_other_kind(value),
        Link::Other | Link::Field => {
            value.len() >= MIN_BARE_BYTES
                && mixed
                // `PKCS#8-encoded` is a name.
                && !value.contains(&b'#')
                && randomness::measure(value) == Randomness::Certain
                && !other_kind::is_other_kind(value)
        }
    };
    secret
        && !placeholder::is_placeholder(value)
        && prefix::token(text, start).is_none()
        && (matches!(link(between), Link::Verb) && !randomness::is_hex(value)
            || !has_other_name(text, start, floor))
        && !value.iter().any(|byte| matches!(byte, b'/' | b'@'))
        && !has_name(value)
}

/// Returns true for `name=value` and `name:value`, which other rules handle.
fn has_name(value: &[u8]) -> bool {
    let sign = value.iter().position(|byte| matches!(byte, b'=' | b':'));
    sign.is_some_and(|sign| character_mix::is_wordy(&value[..sign]))
}

/// The words between a value and the name after it.
enum Link {
    /// `is the`, `as`.
    Verb,
    /// `==`.
    Comparison,
    /// `in the`, `when it asks for the`.
    Field,
    Other,
}

fn link(between: &[u8]) -> Link {
    let has = |word: &[u8]| between.windows(word.len()).any(|part| part == word);
    if has(b" is the ")
        || has(b" is our ")
        || has(b" is my ")
        || has(b" was the ")
        || has(b" as ")
        || has(b" is an ")
    {
        Link::Verb
    } else if between.starts_with(b" into ") && !between[6..].contains(&b' ') {
        // `Put X into config/master.key`.
        Link::Verb
    } else if has(b"==") || has(b"!=") {
        Link::Comparison
    } else if has(b" in the ") || has(b" into the ") || has(b" for the ") || has(b" at the ") {
        Link::Field
    } else {
        Link::Other
    }
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn values_before_their_names() {
        for (text, left) in [
            ("use Rh08i7lHhiOK as the password", "use [redacted:password] as the password"),
            (
                "assert 'Rh08i7lHhiOK' == user.password",
                "assert '[redacted:secret]' == user.password",
            ),
            (
                "8a7d0c3fe5b94a1290ffab34c1d2e7f6 is the old API token",
                "[redacted:secret] is the old API token",
            ),
            ("use bob:Rh08i7lHhiOK to log in", "use bob:[redacted:password] to log in"),
        ] {
            assert_eq!(redact(text), left);
        }
        for text in [
            "use environment variables as credentials",
            "8a7d0c3fe5b94a1290ffab34c1d2e7f68a7d0c3f fixes the token",
            "getUserById2 returns the token",
            "assert 'identifier' == token.kind",
            "open http://localhost:3000 to log in",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
