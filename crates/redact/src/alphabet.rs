//! Classes of bytes, in one table.

/// A set of bytes, one bit for each class.
pub(super) type ByteClass = u16;

pub(super) const DIGIT: ByteClass = 1;
pub(super) const LOWER: ByteClass = 1 << 1;
pub(super) const UPPER: ByteClass = 1 << 2;
/// `a` to `f` in either case; with [`DIGIT`] the hexadecimal alphabet.
pub(super) const HEX_LETTER: ByteClass = 1 << 3;
pub(super) const DASH: ByteClass = 1 << 4;
pub(super) const UNDERSCORE: ByteClass = 1 << 5;
/// `+` and `/`.
pub(super) const PLUS_SLASH: ByteClass = 1 << 6;
pub(super) const EQUALS: ByteClass = 1 << 7;
pub(super) const DOT: ByteClass = 1 << 8;
pub(super) const SPACE: ByteClass = 1 << 9;
pub(super) const NEWLINE: ByteClass = 1 << 10;
/// `"`, `'` and the backtick.
pub(super) const QUOTE: ByteClass = 1 << 11;
pub(super) const TILDE: ByteClass = 1 << 12;
pub(super) const COLON: ByteClass = 1 << 13;
pub(super) const PERCENT: ByteClass = 1 << 14;
/// Bytes that may end a bare value, including the first bytes of foreign punctuation.
pub(super) const END: ByteClass = 1 << 15;

pub(super) const LETTER: ByteClass = LOWER | UPPER;
pub(super) const ALNUM: ByteClass = LETTER | DIGIT;
pub(super) const HEX: ByteClass = DIGIT | HEX_LETTER;
pub(super) const WORD: ByteClass = ALNUM | UNDERSCORE;
pub(super) const URL64: ByteClass = WORD | DASH;
pub(super) const BASE64: ByteClass = ALNUM | PLUS_SLASH | EQUALS;
/// Bytes of names: `spring.mail.password`, `X-Api-Key`, `DB_PASS`.
pub(super) const NAME: ByteClass = URL64 | DOT;
pub(super) const BLANK: ByteClass = SPACE | NEWLINE;

static CLASSES: [u16; 256] = classes();

const fn classes() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = match byte {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => LOWER | HEX_LETTER,
            b'g'..=b'z' => LOWER,
            b'A'..=b'F' => UPPER | HEX_LETTER,
            b'G'..=b'Z' => UPPER,
            b'-' => DASH,
            b'_' => UNDERSCORE,
            b'+' | b'/' => PLUS_SLASH,
            b'=' => EQUALS,
            b'.' => DOT,
            b' ' | b'\t' => SPACE | END,
            b'\n' | b'\r' => NEWLINE | END,
            b'"' | b'\'' | b'`' => QUOTE | END,
            b';' | b'<' | b'>' | b')' | b'[' | b']' | b'}' | b'|' | b'&' | b'\\' | b',' | 0x1b => {
                END
            }
            0xe2 | 0xe3 | 0xef => END,
            b'~' => TILDE,
            b':' => COLON,
            b'%' => PERCENT,
            _ => 0,
        };
        if byte == u8::MAX {
            return table;
        }
        byte += 1;
    }
}

/// Returns true if a byte belongs to one of the classes.
#[inline]
pub(super) fn has_class(byte: u8, classes: ByteClass) -> bool {
    CLASSES[byte as usize] & classes != 0
}

/// Returns true if there is a byte at `at` and it belongs to one of the classes.
#[inline]
pub(super) fn is_at(text: &[u8], at: usize, classes: ByteClass) -> bool {
    text.get(at).is_some_and(|&byte| has_class(byte, classes))
}

/// Returns the end of the run of these classes that begins at `from`.
#[inline]
pub(super) fn run(text: &[u8], from: usize, classes: ByteClass) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().position(|&byte| !has_class(byte, classes)).unwrap_or(rest.len())
}

/// Returns the start of the run of these classes that ends before `end`. It looks back over `most` bytes.
#[inline]
pub(super) fn run_back(text: &[u8], end: usize, classes: ByteClass, most: usize) -> usize {
    let floor = end.saturating_sub(most);
    let window = &text[floor..end];
    end - window.iter().rev().position(|&byte| !has_class(byte, classes)).unwrap_or(window.len())
}

/// Returns true if the text continues with `word` at `at`.
#[inline]
pub(super) fn starts(text: &[u8], at: usize, word: &[u8]) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(word))
}

/// Returns true if the text continues with `word` at `at`, in any case.
#[inline]
pub(super) fn starts_any_case(text: &[u8], at: usize, word: &[u8]) -> bool {
    text.get(at..at + word.len()).is_some_and(|there| there.eq_ignore_ascii_case(word))
}

/// Returns the length of the escape at `at`: `\n`, `\u0026`, `%3D`, a terminal colour. Returns 0 if there is none.
///
/// Escapes separate words as blanks do: the `n` of `\nghp_…` does not belong to the token.
pub(super) fn escape(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(b'\\') => {
            // JSON within JSON doubles its backslashes; all of them belong to the escape.
            let letter = at + text[at..].iter().take_while(|&&byte| byte == b'\\').count();
            match text.get(letter) {
                Some(b'u') if run(text, letter + 1, HEX) >= letter + 5 => letter + 5 - at,
                Some(b'x') if run(text, letter + 1, HEX) >= letter + 3 => letter + 3 - at,
                Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'/' | b'`') => letter + 1 - at,
                _ if letter > at + 1 => letter - at,
                _ => 0,
            }
        }
        Some(b'%') if is_at(text, at + 1, HEX) && is_at(text, at + 2, HEX) => 3,
        Some(0x1b) if text.get(at + 1) == Some(&b'[') => {
            let mut end = at + 2;
            while end < at + 16 && (is_at(text, end, DIGIT) || text.get(end) == Some(&b';')) {
                end += 1;
            }
            if is_at(text, end, LETTER) { end + 1 - at } else { 0 }
        }
        _ => 0,
    }
}
