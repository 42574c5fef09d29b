//! The words between a name and its value in a sentence: `the password of bob is X`, `password for the box = X`, `set
//! to X`.

use super::is_whole_hex;
use crate::alphabet::{self, BLANK, QUOTE, SPACE};
use crate::value_span::{ValueForm, ValueSpan};
use crate::{character_mix, handmade, placeholder, randomness};

/// Maximum number of words between a name and its verb.
const MAX_WORDS: usize = 8;
/// Longest word between a name and its verb: the address of a user.
const MAX_WORD_BYTES: usize = 32;

/// Returns the start of the value after a verb or a sign a few words on, and true. Without one, returns `gap` and
/// false.
pub(super) fn find_linked_value(text: &[u8], gap: usize) -> (usize, bool) {
    let mut at = gap;
    for _ in 0..MAX_WORDS {
        let over = |byte: &u8| alphabet::has_class(*byte, BLANK | QUOTE);
        let window = &text[at.min(text.len())..text.len().min(at + MAX_WORD_BYTES)];
        let length = window.iter().position(over).unwrap_or(window.len());
        let word = &window[..length];
        let next = alphabet::run(text, at + length, SPACE);
        if word.is_empty() || next == at + length {
            break;
        }
        if is_verb(word) || is_arrow(word) || word.ends_with(b":") && length > 1 {
            return (after_adverbs(text, next), true);
        }
        // `changed from x to y`: the first value is taken in this pass, the second in the next one.
        if matches!(word, b"from" | b"to" | b"auf") && !alphabet::starts(text, next, b"be ") {
            let past =
                placeholder::mark_end(text, next).map(|mark| alphabet::run(text, mark, SPACE));
            let to = past.filter(|&past| alphabet::starts(text, past, b"to ")).map(|past| past + 3);
            let from = to.unwrap_or(next);
            let open = from + usize::from(alphabet::is_at(text, from, QUOTE));
            let end = ValueSpan::bare(text, open, ValueForm::Tight).end;
            let value = &text[open..end];
            let address = value.contains(&b'@') && value.contains(&b'.');
            let sure = character_mix::is_signed(value)
                || handmade::is_surely_handmade(value)
                || randomness::is_likely_random(value)
                || is_whole_hex(value);
            let sure = sure && !address;
            return if sure { (from, true) } else { (gap, false) };
        }
        // The end of the sentence, or a noun that makes the name something else.
        if matches!(word[length - 1], b'.' | b';' | b'?' | b'!')
            || at == gap && is_attribute(word)
            || matches!(word[0], b'[' | b'<')
            || word == b"public"
            || is_value(word)
        {
            break;
        }
        at = next;
    }
    (gap, false)
}

/// Returns true if a word may be the value itself: `the token X is old`.
fn is_value(word: &[u8]) -> bool {
    word.len() >= 8 && word.iter().any(u8::is_ascii_digit) && !word.contains(&b'@')
}

/// Returns the start of the value in `is now X` and `is set to X`.
fn after_adverbs(text: &[u8], from: usize) -> usize {
    let words: [&[u8]; 9] = [
        b"now ",
        b"still ",
        b"just ",
        b"currently ",
        b"set ",
        b"to ",
        b"jetzt ",
        b"weiterhin ",
        b"always ",
    ];
    let mut at = from;
    for _ in 0..2 {
        let word = words.iter().find(|word| alphabet::starts(text, at, word));
        at += word.map_or(0, |word| word.len());
    }
    at
}

/// Returns the position after a typographic quotation mark: `“X”`, `„X“`, `« X »`.
pub(super) fn after_quote(text: &[u8], at: usize) -> usize {
    let marks =
        ["\u{201c}", "\u{201e}", "\u{2018}", "\u{201a}", "\u{ab}\u{a0}", "\u{ab} ", "\u{ab}"];
    let mark = marks.iter().find(|mark| alphabet::starts(text, at, mark.as_bytes()));
    mark.map_or(at, |mark| at + mark.len())
}

#[rustfmt::skip]
fn is_verb(word: &[u8]) -> bool {
    matches!(
        word,
        b"is" | b"was" | b"be" | b"equals" | b"contains" | b"takes" | b"becomes" | b"reads" | b"ist" | b"war" | b"lautet" | b"lautete"
        | b"est" | b"es" | b"era" | b"\xc3\xa8" | b"\xc3\xa9"
    )
}

fn is_arrow(word: &[u8]) -> bool {
    matches!(word, b"=" | b"->" | b"=>" | b":" | b"-") || matches!(word, [0xe2, 0x80 | 0x86, _])
}

/// Returns true for a noun that changes the meaning of the name before it: `key fingerprint`, `password length`.
#[rustfmt::skip]
pub(crate) fn is_attribute(word: &[u8]) -> bool {
    matches!(
        word,
        b"algorithm" | b"authentication" | b"box" | b"cache" | b"check" | b"checksum" | b"column" | b"count" | b"dialog" | b"digest"
        | b"endpoint" | b"expiry" | b"field" | b"file" | b"fingerprint" | b"flow" | b"form" | b"format" | b"generator" | b"grant"
        | b"handler" | b"hash" | b"hashes" | b"hashing" | b"helper" | b"hint" | b"history" | b"id" | b"input" | b"length" | b"manager"
        | b"module" | b"name" | b"page" | b"path" | b"policy" | b"prefix" | b"provider" | b"rotation" | b"rules" | b"screen" | b"service"
        | b"size" | b"store" | b"strength" | b"test" | b"tests" | b"type" | b"validation" | b"version"
    )
}
