//! Blocks of secrets: `tokens = { agent = "…" }`. In a block, a UUID is a secret too.

use super::has_other_name;
use crate::alphabet::{self, BLANK, HEX, QUOTE, SPACE};
use crate::name::{self, NameClass};
use crate::{Finding, character_mix, handmade, placeholder, randomness};

/// Length of a block that is examined.
const MAX_BLOCK_BYTES: usize = 400;

/// Returns the end of the block that the word from `at` to `end` opens if the word names secrets.
pub(crate) fn block_end(text: &[u8], at: usize, end: usize) -> Option<usize> {
    if !matches!(text[end - 1], b's' | b'S') || end - at < 4 {
        return None;
    }
    let known: [&[u8]; 7] =
        [b"tokens", b"secrets", b"passwords", b"credentials", b"apikeys", b"keys", b"accounts"];
    let word = &text[at..end];
    let named = |known: &&[u8]| {
        word.len() >= known.len() && word[word.len() - known.len()..].eq_ignore_ascii_case(known)
    };
    if !known.iter().any(named) {
        return None;
    }
    // Keys that are credentials: `api_keys`, not the keys of a map.
    let name = alphabet::run_back(text, end - 1, alphabet::NAME, at.min(40) + (end - 1 - at));
    let is_key = named(&known[5]);
    let opens = is_key
        && name::classify(&text[name..end - 1]).is_some_and(|name| name.class == NameClass::Secret);
    if is_key && word.len() == 4 && !opens {
        return None;
    }
    // `[tokens]` in TOML, up to the next section.
    if text.get(end) == Some(&b']')
        && at > 0
        && text[at - 1] == b'['
        && alphabet::is_at(text, end + 1, alphabet::NEWLINE)
    {
        let window = &text[end + 1..text.len().min(end + 1 + MAX_BLOCK_BYTES)];
        let section = window.windows(2).position(|two| two == b"\n[");
        return Some(end + 1 + section.unwrap_or(window.len()));
    }
    let sign = alphabet::run(text, end, SPACE | QUOTE);
    let from = alphabet::run(text, sign + 1, SPACE);
    let close = match (text.get(sign)?, text.get(from)?) {
        (b'=' | b':', b'{') => b'}',
        (b'=' | b':', b'[') => b']',
        // A YAML block ends with an empty line.
        (b':', b'\n') if opens || !is_key && !named(&known[6]) => 0,
        _ => return None,
    };
    let window = &text[from..text.len().min(from + MAX_BLOCK_BYTES)];
    let end = match close {
        0 => window.windows(2).position(|two| {
            two[0] == b'\n' && !alphabet::has_class(two[1], SPACE | alphabet::DASH)
        }),
        _ => window.iter().position(|&byte| byte == close),
    };
    Some(from + end.unwrap_or(window.len()))
}

/// Returns the literal in a block that begins with the word at `at`.
pub(crate) fn block_value(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    if let Some(found) = whole_line(text, at, done) {
        return Some(found);
    }
    let quote = at
        .checked_sub(1)
        .filter(|&open| open >= done && alphabet::has_class(text[open], QUOTE | SPACE))?;
    let window = &text[at..text.len().min(at + 160)];
    let over = |&byte: &u8| byte == text[quote] || alphabet::has_class(byte, BLANK);
    let whole = (at + window.len() == text.len()).then_some(window.len());
    let value = &window[..window.iter().position(over).or(whole)?];
    let mut before =
        text[done..quote].iter().rev().skip_while(|byte| alphabet::has_class(**byte, BLANK));
    let given = matches!(before.next(), Some(b'=' | b':' | b'[' | b',' | b'-'));
    let made = given
        && handmade::is_surely_handmade(value)
        && value.iter().any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_punctuation())
        && !has_other_name(text, at, done);
    if made {
        return Some(Finding { start: at, end: at + value.len(), kind: "secret" });
    }
    let digits = value.strip_prefix(b"0x").unwrap_or(value);
    let hex = digits.iter().all(|&byte| alphabet::has_class(byte, HEX | alphabet::DASH));
    // Addresses of accounts are shorter than their keys.
    let long = if digits.len() < value.len() { digits.len() == 64 } else { value.len() >= 24 };
    let secret = given
        && hex
        && long
        && character_mix::is_random(digits)
        && !has_other_name(text, at, done)
        && !placeholder::is_placeholder(value);
    debug_assert!(!secret || randomness::is_hex(digits), "hexadecimals");
    secret.then_some(Finding { start: at, end: at + value.len(), kind: "secret" })
}

/// Returns a key that fills its line, as in a literal of several lines.
fn whole_line(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let start = alphabet::run_back(text, at, alphabet::URL64, (at - done).min(8));
    if start == 0 || text[start - 1] != b'\n' {
        return None;
    }
    let end = alphabet::run(text, at, alphabet::URL64 | alphabet::BASE64);
    let alone = text.get(end).is_none_or(|&byte| alphabet::has_class(byte, alphabet::NEWLINE));
    let value = &text[start..end];
    let secret = alone
        && value.len() >= 24
        && character_mix::is_random(value)
        && !placeholder::is_placeholder(value);
    secret.then_some(Finding { start, end, kind: "secret" })
}
