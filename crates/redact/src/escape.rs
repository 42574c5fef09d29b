//! Terminal sequences: colours, titles, links, cursor movements. They are removed as a whole.

/// The byte that begins a sequence.
pub const ESCAPE_BYTE: u8 = 0x1b;

/// Returns a text without sequences.
pub fn without_sequences(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        rest = after_sequence(rest).unwrap_or_else(|| {
            kept.push(sign);
            &rest[sign.len_utf8()..]
        });
    }
    kept
}

/// Returns the text after the sequence at its start. Returns `None` if it does not start with a sequence.
pub fn after_sequence(text: &str) -> Option<&str> {
    // Older terminals have one character for `ESC [`.
    if let Some(rest) = text.strip_prefix('\u{9b}') {
        return rest.get(after_control(rest.as_bytes(), 0)..);
    }
    text.starts_with('\u{1b}').then(|| text.get(after_escape(text.as_bytes(), 1)..))?
}

/// Returns the first position at or after `at` with a byte that does not match.
pub fn after_any(bytes: &[u8], at: usize, one: fn(u8) -> bool) -> usize {
    bytes[at..].iter().position(|&byte| !one(byte)).map_or(bytes.len(), |more| at + more)
}

/// Returns the end of the escape sequence that begins before `at`. An unfinished sequence ends with its line, so that a
/// stray escape cannot swallow the run.
pub fn after_escape(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'[') => after_control(bytes, at + 1),
        // Titles and links: up to a bell or ESC backslash.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = after_any(bytes, at + 1, |byte| !matches!(byte, 7 | ESCAPE_BYTE | b'\n'));
            match bytes.get(end) {
                Some(7) => end + 1,
                Some(&ESCAPE_BYTE) if bytes.get(end + 1) == Some(&b'\\') => end + 2,
                _ => end,
            }
        }
        Some(_) => {
            let end = after_any(bytes, at, |byte| (0x20..0x30).contains(&byte));
            match bytes.get(end) {
                Some(0x30..=0x7e) => end + 1,
                _ => end,
            }
        }
        None => at,
    }
}

/// Returns the end of parameters and the letter after them, such as `31m`.
fn after_control(bytes: &[u8], at: usize) -> usize {
    let end = after_any(bytes, at, |byte| (0x20..0x40).contains(&byte));
    match bytes.get(end) {
        Some(0x40..=0x7e) => end + 1,
        _ => end,
    }
}
