//! Blocks of secrets: `tokens = { agent = "…" }`, where even a UUID is one.

use super::is_cold;
use crate::redact::alphabet::{self, BLANK, HEX, QUOTE, SPACE};
use crate::redact::{Finding, drawn, placeholder, random};

/// How far a block is looked at.
const BLOCK: usize = 400;

/// Where the block ends that the word from `at` to `end` opens, when its name speaks of secrets.
pub(in crate::redact) fn block(text: &[u8], at: usize, end: usize) -> Option<usize> {
    if !matches!(text[end - 1], b's' | b'S') || end - at < 5 {
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
    let sign = alphabet::run(text, end, SPACE | QUOTE);
    let from = alphabet::run(text, sign + 1, SPACE);
    let close = match (text.get(sign)?, text.get(from)?) {
        (b'=' | b':', b'{') => b'}',
        (b'=' | b':', b'[') => b']',
        // Of YAML, up to an empty line.
        (b':', b'\n') if !named(&known[5]) && !named(&known[6]) => 0,
        _ => return None,
    };
    let window = &text[from..text.len().min(from + BLOCK)];
    let end = match close {
        0 => window.windows(2).position(|two| two[0] == b'\n' && !alphabet::is(two[1], SPACE)),
        _ => window.iter().position(|&byte| byte == close),
    };
    Some(from + end.unwrap_or(window.len()))
}

/// The literal that begins with the word at `at`, within such a block.
pub(in crate::redact) fn listed(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let quote = at
        .checked_sub(1)
        .filter(|&open| open >= done && alphabet::is(text[open], QUOTE | SPACE))?;
    let window = &text[at..text.len().min(at + 160)];
    let over = |&byte: &u8| byte == text[quote] || alphabet::is(byte, BLANK);
    let whole = (at + window.len() == text.len()).then_some(window.len());
    let value = &window[..window.iter().position(over).or(whole)?];
    let mut before = text[done..quote].iter().rev().skip_while(|byte| alphabet::is(**byte, BLANK));
    let given = matches!(before.next(), Some(b'=' | b':' | b'[' | b','));
    let digits = value.strip_prefix(b"0x").unwrap_or(value);
    let hex = digits.iter().all(|&byte| alphabet::is(byte, HEX | alphabet::DASH));
    // Addresses of accounts are shorter than their keys.
    let long = if digits.len() < value.len() { digits.len() == 64 } else { value.len() >= 24 };
    let secret = given
        && hex
        && long
        && random::is_random(digits)
        && !is_account(text, quote, done, digits.len() == value.len())
        && !is_cold(text, at, done)
        && !placeholder::is(value);
    debug_assert!(!secret || drawn::is_hex(digits), "hexadecimals");
    secret.then_some(Finding { start: at, end: at + value.len(), kind: "secret" })
}

/// Of accounts only their keys are secrets, which begin with `0x`.
fn is_account(text: &[u8], quote: usize, done: usize, plain: bool) -> bool {
    let before = &text[quote.saturating_sub(16).max(done)..quote];
    plain && before.windows(8).any(|part| part.eq_ignore_ascii_case(b"accounts"))
}
