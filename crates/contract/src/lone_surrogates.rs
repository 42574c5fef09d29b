//! Repair of lone surrogates in JSON, for example half of an emoji.
//!
//! The client cuts long texts by UTF-16 units, which may be in the middle of a character, and writes the half as
//! `\ud83d`. A Rust string cannot hold that, and serde_json rejects the whole text. U+FFFD has the same length in JSON,
//! so it replaces the half in place.

/// Replaces each lone surrogate in a JSON text by U+FFFD, in place. Returns true if there was one.
pub fn replace_lone_surrogates(text: &mut [u8]) -> bool {
    let (mut at, mut found) = (0, false);
    while let Some(next) = text[at..].iter().position(|byte| *byte == b'\\') {
        at += next;
        match parse_escape(&text[at..]) {
            EscapeSequence::Complete(length) => at += length,
            EscapeSequence::LoneSurrogate => {
                text[at + 2..at + 6].copy_from_slice(b"fffd");
                found = true;
                at += 6;
            }
        }
    }
    found
}

/// An escape sequence.
enum EscapeSequence {
    /// A valid sequence, with its length in bytes.
    Complete(usize),
    /// The six bytes of a lone surrogate.
    LoneSurrogate,
}

fn parse_escape(bytes: &[u8]) -> EscapeSequence {
    match parse_code_unit(bytes) {
        // An escaped letter, quotation mark or backslash, or invalid JSON.
        None => EscapeSequence::Complete(2.min(bytes.len())),
        Some(0xD800..=0xDBFF) => match parse_code_unit(&bytes[6..]) {
            Some(0xDC00..=0xDFFF) => EscapeSequence::Complete(12),
            _ => EscapeSequence::LoneSurrogate,
        },
        Some(0xDC00..=0xDFFF) => EscapeSequence::LoneSurrogate,
        Some(_) => EscapeSequence::Complete(6),
    }
}

/// Returns the code unit of a leading `\uXXXX`.
fn parse_code_unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |code, digit| Some(code * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn replaced(text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        let found = replace_lone_surrogates(&mut bytes);
        assert_eq!(found, bytes != text.as_bytes(), "{text:?}");
        bytes
    }

    #[test]
    fn replaces_halves_and_keeps_pairs() {
        for (sent, read) in [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\udE00 x""#, "\u{fffd} x"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
            (r#""\ud83d\u0041""#, "\u{fffd}A"),
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
            (r#""\u00e4\"\\""#, "ä\"\\"),
        ] {
            let got: Value = serde_json::from_slice(&replaced(sent)).unwrap();
            assert_eq!(got, read, "{sent}");
        }
    }

    #[test]
    fn keeps_invalid_json_unchanged() {
        for text in
            ["\\", "\\u", "\\ud83", "\\uzzzz", "\\u\n{}", "x\\", "\\u12\n{\"a\":1}\n", "\\ud8+d"]
        {
            assert_eq!(replaced(text), text.as_bytes(), "{text:?}");
        }
        assert_eq!(replaced("\\ud83d\\"), b"\\ufffd\\");
    }

    proptest! {
        /// The length never changes, and a second pass changes nothing.
        #[test]
        fn replacement_is_idempotent(text in r#"(\\|u|d83d|DE00|0041|"|\n|x|ä){0,24}"#) {
            let once = replaced(&text);
            prop_assert_eq!(once.len(), text.len());
            let mut twice = once.clone();
            prop_assert!(!replace_lone_surrogates(&mut twice));
            prop_assert_eq!(twice, once);
        }

        #[test]
        fn keeps_valid_json_unchanged(text in any::<String>()) {
            let sent = Value::String(text).to_string();
            prop_assert_eq!(replaced(&sent), sent.as_bytes());
        }
    }
}
