//! Start and end of a value, quoted or bare.

use super::alphabet::{self, ALNUM, BLANK, END, NAME, NEWLINE, QUOTE, SPACE};

/// The notation of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueForm {
    /// Between quotes: a literal.
    Quoted,
    /// Bare, right after `=`: a shell's or a URL's literal, or an argument in code.
    Tight,
    /// Bare, after blanks: a configuration's literal, or code, or prose.
    Loose,
}

/// Length of a string that is examined. The next pass examines the rest of a longer one.
const MAX_STRING_BYTES: usize = 8 * 1024;

/// Length of a bare value that is examined before it is known to be a secret. Without this limit, a long line of names
/// without blanks would be read again from every one of them.
const PROBE_BYTES: usize = 48;

/// The position and notation of a value. The end of a bare one may be farther away.
#[derive(Clone, Copy)]
pub(super) struct ValueSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) form: ValueForm,
}

/// Returns the value after a separator that ends at `after`.
pub(super) fn value_after(
    text: &[u8],
    after: usize,
    loose: bool,
    below: bool,
) -> Option<ValueSpan> {
    // `**Password:** x`: the name is bold.
    let after = if alphabet::starts(text, after, b"** ") { after + 2 } else { after };
    let mut start = alphabet::run(text, after, SPACE);
    if start > after + 40 {
        return None;
    }
    // A YAML block begins on the next line as well.
    let block = below && matches!(text.get(start), Some(b'|' | b'>'));
    let line = if block { alphabet::run(text, start + 1, alphabet::DASH) } else { start };
    if below && alphabet::is_at(text, line, NEWLINE) {
        start = line;
    }
    if below && alphabet::is_at(text, start, NEWLINE) {
        start = alphabet::run(text, start, BLANK);
    }
    let loose = loose && start > after;
    if text.get(start) == Some(&0x1b) {
        start += alphabet::escape(text, start);
    }
    let (open, quote) = opening(text, start);
    if quote != 0 {
        let end = closing(text, open, &text[open.saturating_sub(5).max(start)..open]);
        return Some(ValueSpan { start: open, end, form: ValueForm::Quoted });
    }
    let form = if loose { ValueForm::Loose } else { ValueForm::Tight };
    Some(ValueSpan::bare(text, start, form))
}

/// Returns the start of a quoted value and its quote: `"`, `b'`, `\"`, `f"`. The quote is 0 for a bare value.
fn opening(text: &[u8], start: usize) -> (usize, u8) {
    // A literal in a wrapper is a literal.
    let wraps: [&[u8]; 5] =
        [b"Some(", b"Secret(", b"SecretStr(", b"SecretString(", b"String::from("];
    let begins = text.get(start) == Some(&b'S');
    let wrap = wraps.iter().find(|wrap| begins && alphabet::starts(text, start, wrap));
    let start = start + wrap.map_or(0, |wrap| wrap.len());
    let mut at = start;
    if matches!(text.get(at), Some(b'b' | b'f' | b'r' | b'u' | b'@' | b'$' | b'B' | b'F' | b'R'))
        && alphabet::is_at(text, at + 1, QUOTE)
    {
        at += 1;
    }
    while at < start + 4 && text.get(at) == Some(&b'\\') {
        at += 1;
    }
    match text.get(at) {
        Some(&quote) if alphabet::has_class(quote, QUOTE) => (at + 1, quote),
        _ => (start, 0),
    }
}

/// Returns the end of the value after the quote `opened`, which includes its backslashes.
fn closing(text: &[u8], from: usize, opened: &[u8]) -> usize {
    let quote = opened[opened.len() - 1];
    let slashes: usize = opened.iter().map(|&byte| usize::from(byte == b'\\')).sum();
    let window = &text[from..text.len().min(from + MAX_STRING_BYTES)];
    let mut run = 0;
    for (at, &byte) in window.iter().enumerate() {
        if byte == quote && (run == slashes || slashes == 0 && run % 2 == 0) {
            return from + at - if slashes > 0 { run } else { 0 };
        }
        // A string has one line: without a closing quote, it ends with its line.
        if byte == b'\n' {
            return from + at;
        }
        run = if byte == b'\\' { run + 1 } else { 0 };
    }
    let mut end = from + window.len();
    while end < text.len() && !is_boundary(text[end]) {
        end += 1;
    }
    end
}

impl ValueSpan {
    /// Returns the bare value at `start`.
    pub(super) fn bare(text: &[u8], start: usize, form: ValueForm) -> Self {
        Self { start, end: bare_end(text, start, PROBE_BYTES, form), form }
    }

    /// Returns the full end of a value that will be replaced.
    pub(super) fn whole(self, text: &[u8]) -> usize {
        match self.form {
            ValueForm::Quoted => self.end,
            form => bare_end(text, self.start, usize::MAX, form),
        }
    }
}

/// Returns the end of a bare value within its first `most` bytes.
fn bare_end(text: &[u8], start: usize, most: usize, form: ValueForm) -> usize {
    let mut at = start;
    let limit = text.len().min(start.saturating_add(most));
    let mut bracket = false;
    while at < limit {
        let byte = text[at];
        if !alphabet::has_class(byte, END) {
            at += 1;
            continue;
        }
        bracket |= byte == b'[';
        let ends = match byte {
            b'"' | b'\'' | b'`' | b';' | b'<' | b'>' | b')' | b']' | b'}' | b'|' | 0x1b => true,
            b'\\' => is_break(text, at),
            b'[' => is_colour(text, at),
            b',' | b'&' => parts(text, at, form),
            0xe2 => matches!(text.get(at + 1), Some(0x80 | 0x81)),
            0xe3 => text.get(at + 1) == Some(&0x80),
            0xef => matches!(text.get(at + 1), Some(0xbc | 0xbd)),
            _ => alphabet::has_class(byte, BLANK),
        };
        // A placeholder ends with its bracket, also within a value.
        if ends && !(byte == b']' && bracket) {
            break;
        }
        bracket &= byte != b']';
        at += 1;
    }
    while at < text.len() && !is_boundary(text[at]) {
        at += 1;
    }
    // The full stop of a sentence does not belong to a value.
    while at > start && matches!(text[at - 1], b'.' | b',' | b':') && at - start > 1 {
        at -= 1;
    }
    at
}

/// Returns true if the bracket at `at` belongs to a terminal colour: `[0m`.
fn is_colour(text: &[u8], at: usize) -> bool {
    let end = at
        + 1
        + text[at + 1..]
            .iter()
            .take(8)
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b';'))
            .count();
    end > at + 1 && text.get(end) == Some(&b'm')
}

/// Returns true if the backslash at `at` begins an escape and does not protect a sign: `p\\!x` in a properties file.
fn is_break(text: &[u8], at: usize) -> bool {
    let length = alphabet::escape(text, at);
    let guarded = matches!(text.get(at + length), Some(b'!' | b'#' | b'=' | b':'));
    length > 0 && !(guarded && text[at + length - 1] == b'\\')
}

fn is_boundary(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// Returns true if a comma or an ampersand separates two values and is not a character of a password.
fn parts(text: &[u8], at: usize, form: ValueForm) -> bool {
    let next = at + 1;
    let word = alphabet::run(text, next, NAME);
    let named = matches!(text.get(word), Some(b'=' | b':')) || alphabet::starts(text, at, b"&amp;");
    // Behind `password: `, the rest of the word is the value; `a=b,c=d` is a list.
    if form == ValueForm::Loose {
        return text.get(next).is_none_or(|&byte| alphabet::has_class(byte, END));
    }
    !text.get(next).is_some_and(|&byte| alphabet::has_class(byte, ALNUM)) || named
}
