//! Tokens with a vendor's prefix.
//!
//! Prefixes and lengths follow gitleaks' rules. A token is the longest run of its alphabet, even if a vendor issues
//! shorter ones: half a token left behind is a leak, a few characters too many are not.

mod table;

use table::{PREFIXES, Prefix};

use super::Finding;
use super::alphabet::{self, ALNUM, BASE64};
use super::{character_mix, placeholder};

/// For every first byte, the range of rows that begin with it.
static BY_BYTE: [(u16, u16); 128] = by_byte();

/// A bit for the folded first three bytes of every row. It dismisses most words.
static BEGINS: [u64; 64] = begins();

const fn by_byte() -> [(u16, u16); 128] {
    let mut table = [(0_u16, 0_u16); 128];
    let mut at = 0;
    while at < PREFIXES.len() {
        let first = PREFIXES[at].text.as_bytes()[0] as usize;
        let (from, to) = table[first];
        #[expect(clippy::cast_possible_truncation, reason = "the table has a few hundred rows")]
        let here = at as u16;
        table[first] = if from == to { (here, here + 1) } else { (from, here + 1) };
        at += 1;
    }
    table
}

const fn begins() -> [u64; 64] {
    let mut table = [0; 64];
    let mut at = 0;
    while at < PREFIXES.len() {
        let text = PREFIXES[at].text.as_bytes();
        let mut third = if text.len() > 2 { text[2] } else { 0 };
        loop {
            let bit = fold(text[0], text[1], third);
            table[bit / 64] |= 1 << (bit % 64);
            if text.len() > 2 || third == 127 {
                break;
            }
            third += 1;
        }
        at += 1;
    }
    table
}

const fn fold(first: u8, second: u8, third: u8) -> usize {
    (first as usize * 31 + second as usize * 517 + third as usize * 67) % 4096
}

/// Returns the token that begins at `at`, the start of a word.
pub(super) fn token(text: &[u8], at: usize) -> Option<Finding> {
    let &[first, second, third] = text.get(at..at + 3)?.first_chunk()?;
    let bit = fold(first, second, third);
    if BEGINS[bit / 64] & (1 << (bit % 64)) == 0 || !first.is_ascii() {
        return None;
    }
    let (from, to) = BY_BYTE[first as usize];
    let rows = &PREFIXES[usize::from(from)..usize::from(to)];
    rows.iter().find_map(|row| row.at(text, at))
}

impl Prefix {
    fn at(&self, text: &[u8], at: usize) -> Option<Finding> {
        if !alphabet::starts(text, at, self.text.as_bytes()) {
            return None;
        }
        let start = at + self.text.len();
        let mut end = alphabet::run(text, start, self.alphabet);
        // The full stop after a token belongs to the sentence.
        while end > start && matches!(text[end - 1], b'.' | b' ' | b':') {
            end -= 1;
        }
        let body = &text[start..end];
        let bare = self.text.bytes().all(|byte| alphabet::has_class(byte, ALNUM));
        if bare && is_inside_blob(text, at) {
            return None;
        }
        let whole = body.len() >= self.least && !alphabet::is_at(text, end, ALNUM);
        let looks_random = !self.is_common || character_mix::is_random(body);
        let token = whole && looks_random || is_cut_off(text, self.text, start, end);
        (token && !placeholder::is_filler(body)).then_some(Finding {
            start: at,
            end,
            kind: self.kind,
        })
    }
}

/// Returns true if a token is cut off: `ghp_R7tQx2LmZ9…`, as test runners print long values.
fn is_cut_off(text: &[u8], prefix: &str, start: usize, end: usize) -> bool {
    let dots =
        alphabet::starts(text, end, b"...") || alphabet::starts(text, end, "\u{2026}".as_bytes());
    let telling = prefix.len() >= 4 && prefix.ends_with(['_', '-']);
    let body = &text[start..end];
    dots && telling && body.len() >= 8 && !character_mix::is_wordy(body)
}

/// Returns true if the byte at `at` is inside of encoded data, where any four letters turn up.
fn is_inside_blob(text: &[u8], at: usize) -> bool {
    let within = at > 0 && matches!(text[at - 1], b'+' | b'/');
    within && at - alphabet::run_back(text, at, BASE64, 40) == 40
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact;

    #[test]
    fn rows_are_sorted() {
        for pair in PREFIXES.windows(2) {
            let [a, b] = [pair[0].text, pair[1].text];
            assert!(a.as_bytes()[0] <= b.as_bytes()[0], "{a} before {b}");
            assert!(!b.starts_with(a), "{a} hides {b}");
        }
    }

    #[test]
    fn kinds_are_documented() {
        let page = include_str!("../../../docs/reference/redaction.md");
        for row in PREFIXES {
            let mark = format!("[redacted:{}]", row.kind);
            assert_eq!(placeholder::mark_end(mark.as_bytes(), 0), Some(mark.len()), "{mark}");
            assert!(
                page.contains(&format!("`{}`", row.kind)),
                "{} is documented nowhere",
                row.kind
            );
        }
    }

    #[test]
    fn every_row_is_found() {
        for row in PREFIXES {
            // Digits and hexadecimal letters are in every alphabet except the one of capitals.
            let body = if row.alphabet & alphabet::LOWER == 0
                && row.alphabet & alphabet::HEX_LETTER == 0
            {
                "7B2D9F4C6E8A3D5"
            } else {
                "7b2d9f4c6e8a3d5"
            };
            let token = format!("{}{}", row.text, body.repeat(1 + row.least / body.len()));
            let text = format!("see {token}, please");
            assert_eq!(redact(&text), format!("see [redacted:{}], please", row.kind), "{token}");
        }
    }

    #[test]
    fn beginnings_and_fillers_stay() {
        for text in
            ["ghp_ and glpat-", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "AKIAIOSFODNN7EXAMPLE"]
        {
            assert_eq!(redact(text), text);
        }
    }
}
