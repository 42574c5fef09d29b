//! Placeholders of secrets: `changeme`, `<your-token>`, `${VAR}`, `xxxx`.
//!
//! They are kept. Documentation and examples are most of what an agent reads, and a memory with `[redacted]` in the
//! place of `your-api-key` has lost information and protected nothing. Default passwords of development databases
//! (`postgres`, `guest`) count as placeholders; a word that is in no list here does not.

use super::alphabet::{self, ALNUM};
use super::{PLACEHOLDER_START, character_mix, randomness};

mod words;

use words::{is_part, is_word};

/// Parts of placeholders that random secrets do not contain.
static STAND_IN_PARTS: &[&str] = &[
    "changeme",
    "change-me",
    "change_me",
    "dummy",
    "example",
    "fake",
    "insert",
    "placeholder",
    "redacted",
    "filtered",
    "no_log",
    "replace",
    "todo",
    "xxxx",
    "your",
];

/// Returns true if a value is a placeholder rather than a secret.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let seen = ByteSet::from_bytes(value);
    if is_mark(value) || is_reference(value) || is_elided(value, &seen) || seen.is_filler(value) {
        return true;
    }
    if (seen.has(b'{') || seen.has(b'%')) && is_template(value) {
        return true;
    }
    let mut lower = [0; 64];
    let Some(lower) = lower.get_mut(..value.len()) else { return false };
    lower.copy_from_slice(value);
    lower.make_ascii_lowercase();
    let lower = &*lower;
    is_word(lower) || is_made_of_parts(lower) || has_mark(lower) && character_mix::is_wordy(value)
}

/// Returns true if a value is exactly one placeholder of this crate.
fn is_mark(value: &[u8]) -> bool {
    mark_end(value, 0) == Some(value.len())
}

/// Returns the end of the crate's own placeholder at `at`. Longer ones do not count: a key in a bracket must not pass
/// for a placeholder.
pub(super) fn mark_end(text: &[u8], at: usize) -> Option<usize> {
    let from = at + PLACEHOLDER_START.len();
    let end = alphabet::run(text, from, alphabet::LOWER | alphabet::DIGIT | alphabet::DASH);
    let ours = alphabet::starts(text, at, PLACEHOLDER_START) && (1..=24).contains(&(end - from));
    (ours && text.get(end) == Some(&b']')).then_some(end + 1)
}

/// Returns true if the body of a token is filler: one character over and over, or a documented example.
pub(super) fn is_filler(body: &[u8]) -> bool {
    ByteSet::from_bytes(body).is_filler(body)
}

/// The ASCII characters of a value.
struct ByteSet([u64; 2]);

impl ByteSet {
    fn from_bytes(value: &[u8]) -> Self {
        let mut seen = [0_u64; 2];
        for &byte in value {
            seen[usize::from(byte >> 6) & 1] |= 1 << (byte & 63);
        }
        Self(seen)
    }

    fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6) & 1] & (1 << (byte & 63)) != 0
    }

    fn is_filler(&self, body: &[u8]) -> bool {
        let distinct = self.0[0].count_ones() + self.0[1].count_ones();
        let few = distinct <= 2 || (body.len() >= 16 && distinct <= 4);
        few || self.has(b'X') && (contains(body, b"EXAMPLE") || contains(body, b"XXXXX"))
            || self.has(b'x') && contains(body, b"xxxxx")
    }
}

/// Returns true for variables, templates and references to secret stores.
fn is_reference(value: &[u8]) -> bool {
    let first = value.first().copied().unwrap_or_default();
    let last = value.last().copied().unwrap_or_default();
    let second = value.get(1).copied().unwrap_or_default();
    match first {
        b'$' => second.is_ascii_alphabetic() || matches!(second, b'{' | b'(' | b'_'),
        b'<' => last == b'>',
        b'[' => last == b']',
        b'(' => last == b')',
        b'{' => true,
        b'%' => last == b'%' && value.len() > 2 || second == b'(' || value.len() == 2,
        b'@' => last == b'@' && value.len() > 2,
        b'#' => second == b'{',
        _ => is_store(value),
    }
}

/// Returns true for a path into a secret store, and for a URL, which other rules handle.
fn is_store(value: &[u8]) -> bool {
    let scheme = alphabet::run(value, 0, ALNUM | alphabet::PLUS_SLASH | alphabet::DASH);
    let known: [&[u8]; 8] =
        [b"arn", b"ssm", b"vault", b"file", b"env", b"secretsmanager", b"keyvault", b"resolve"];
    scheme > 0
        && value.get(scheme) == Some(&b':')
        && (alphabet::starts(value, scheme, b"://") || known.contains(&&value[..scheme]))
}

/// Returns true for a value made of generic words: `my-secret-token`, `test_password_2`, `accessToken`.
fn is_made_of_parts(lower: &[u8]) -> bool {
    let mut parts =
        lower.split(|byte| !byte.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.all(|part| {
        let letters = alphabet::run(part, 0, alphabet::LETTER);
        let word = if part.len() - letters <= 1 { &part[..letters] } else { part };
        is_part(word) || is_word(word)
    })
}

/// Returns true if a value contains one of [`STAND_IN_PARTS`]. It compares only at pairs of letters that one begins
/// with.
fn has_mark(lower: &[u8]) -> bool {
    let begins = |two: &[u8]| {
        matches!(
            two,
            b"ch"
                | b"du"
                | b"ex"
                | b"fa"
                | b"in"
                | b"no"
                | b"pl"
                | b"re"
                | b"fi"
                | b"to"
                | b"xx"
                | b"yo"
        )
    };
    let mut pairs = lower.windows(2).enumerate().filter(|(_, two)| begins(two));
    pairs.any(|(at, _)| {
        STAND_IN_PARTS.iter().any(|mark| alphabet::starts(lower, at, mark.as_bytes()))
    })
}

/// Returns true for a pattern with room for a value: `%s:%s`, `Bearer ${token}`.
fn is_template(value: &[u8]) -> bool {
    let braces = |two: &[u8]| matches!(two, b"${" | b"{{" | b"#{" | b"{}");
    let percent = |two: &[u8]| matches!(two, b"%s" | b"%(");
    value.windows(2).any(|two| {
        braces(two)
            || percent(two)
                && character_mix::is_wordy(value)
                && !randomness::is_likely_random(value)
    })
}

/// Returns true if most of a value is left out: `sk-...`, `abc…`, `***`, `ab******`.
fn is_elided(value: &[u8], seen: &ByteSet) -> bool {
    let stars = || value.iter().map(|&byte| usize::from(byte == b'*')).sum::<usize>();
    value.ends_with(b"...")
        || value.ends_with("\u{2026}".as_bytes())
        || seen.has(b'*') && stars() * 2 >= value.len()
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::is_placeholder;

    #[test]
    fn recognizes_placeholders() {
        for value in [
            "changeme",
            "<your-token>",
            "${VAR}",
            "$TOKEN",
            "xxxxxxxx",
            "********",
            "[FILTERED]",
            "password",
            "test-secret",
            "YOUR_API_KEY",
            "{{ x }}",
            "%PASS%",
            "op://vault/db/password",
            "None",
            "sk-...",
            "[redacted:token]",
            "string",
            "postgres",
            "password1",
        ] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
        for value in ["hunter2", "swordfish", "$2y$05$abc", "k3Xw9Qz", "password123", "%4fdG"] {
            assert!(!is_placeholder(value.as_bytes()), "{value}");
        }
    }
}
