//! The text of a run as a reader wants it: no escape sequences, one kind of line end, what a terminal would have left.

use std::borrow::Cow;

const ESCAPE: u8 = 0x1b;

/// The text that a terminal would show of these bytes, as far as a reader of outcomes cares.
///
/// Colours and other escape sequences go, CRLF becomes LF, a line that was written over (a progress bar) keeps what was
/// written last, NULs go, and what is no UTF-8 becomes the replacement character. Plain text is borrowed.
pub fn plain(bytes: &[u8]) -> Cow<'_, str> {
    if !bytes.iter().any(|byte| matches!(byte, &ESCAPE | b'\r' | 0)) {
        return String::from_utf8_lossy(bytes);
    }
    let mut kept = Vec::with_capacity(bytes.len());
    let mut start = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            ESCAPE => at = after_escape(bytes, at),
            0 => {}
            b'\n' => {
                kept.push(b'\n');
                start = kept.len();
            }
            b'\r' => {
                // Some terminals send several before the LF. One with nothing after it has overwritten nothing.
                at = after_any(bytes, at, |next| next == b'\r');
                if !matches!(bytes.get(at), None | Some(b'\n')) {
                    kept.truncate(start);
                }
            }
            _ => kept.push(byte),
        }
    }
    Cow::Owned(match String::from_utf8(kept) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// The first place at or after `at` whose byte is not one of these.
fn after_any(bytes: &[u8], at: usize, one: fn(u8) -> bool) -> usize {
    bytes[at..].iter().position(|&byte| !one(byte)).map_or(bytes.len(), |more| at + more)
}

/// Returns the end of the escape sequence whose first byte was just read. One that does not end is given up at the line's end,
/// so that a stray escape cannot swallow the run.
fn after_escape(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'[') => {
            let end = after_any(bytes, at + 1, |byte| (0x20..0x40).contains(&byte));
            match bytes.get(end) {
                Some(0x40..=0x7e) => end + 1,
                _ => end,
            }
        }
        // Titles and links: up to a bell or ESC backslash.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = after_any(bytes, at + 1, |byte| !matches!(byte, 7 | ESCAPE | b'\n'));
            match bytes.get(end) {
                Some(7) => end + 1,
                Some(&ESCAPE) if bytes.get(end + 1) == Some(&b'\\') => end + 2,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_show() {
        for (bytes, text) in [
            (&b"plain\n"[..], "plain\n"),
            (b"\x1b[1;31mred\x1b[0m and \x1b[Kclean\n", "red and clean\n"),
            (b"a\r\nb\r\r\nc\r", "a\nb\nc"),
            (b"10%\r50%\r100%\ndone\n", "100%\ndone\n"),
            (b"\x1b]8;;http://x\x07link\x1b]8;;\x1b\\ \x1b(Bend", "link end"),
            (b"\x1b[31", ""),
            (b"\x1b", ""),
            (b"\x1b]0;never ends\nnext", "\nnext"),
            (b"\0n\0u\0l", "nul"),
            (b"\xff\r\n", "\u{fffd}\n"),
            ("\u{1b}[2mé\u{1b}[22m".as_bytes(), "é"),
        ] {
            assert_eq!(plain(bytes), text, "{bytes:?}");
        }
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(plain(b"12 passed in 0.1s\n"), Cow::Borrowed(_)));
    }
}
