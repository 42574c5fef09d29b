//! The text of a run for readers: without escape sequences, with LF line ends, as a terminal would show it.

use std::borrow::Cow;

use rutter_redact::escape::{ESCAPE_BYTE, after_any, after_escape};

/// Returns the text that a terminal would show for these bytes, as far as readers need it.
///
/// Removes colours, other escape sequences and NULs, turns CRLF into LF, keeps only the last version of an overwritten
/// line (a progress bar), and replaces invalid UTF-8 with the replacement character. Borrows plain text.
pub fn plain_text(bytes: &[u8]) -> Cow<'_, str> {
    if !bytes.iter().any(|byte| matches!(byte, &ESCAPE_BYTE | b'\r' | 0)) {
        return String::from_utf8_lossy(bytes);
    }
    let mut kept = Vec::with_capacity(bytes.len());
    let mut start = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            ESCAPE_BYTE => at = after_escape(bytes, at),
            0 => {}
            b'\n' => {
                kept.push(b'\n');
                start = kept.len();
            }
            b'\r' => {
                // Some terminals send several CRs before the LF. A CR without text after it overwrites nothing.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_terminal_text() {
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
            assert_eq!(plain_text(bytes), text, "{bytes:?}");
        }
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(plain_text(b"12 passed in 0.1s\n"), Cow::Borrowed(_)));
    }
}
