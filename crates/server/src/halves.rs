//! Half an emoji, in what is sent.
//!
//! JavaScript has texts that are cut in the middle of a character, and writes the half as `\ud83d`. Our reader of JSON refuses
//! that, and with it the whole call. So each half is read as U+FFFD, as hooks read it. That is as long in JSON, so bytes are
//! exchanged where they stand and none are moved.

/// Makes each half in a JSON text what stands for a character that is none.
pub fn mend(text: &mut [u8]) {
    let mut at = 0;
    while let Some(next) = text[at..].iter().position(|byte| *byte == b'\\') {
        at += next;
        match escape(&text[at..]) {
            Escape::Whole(length) => at += length,
            Escape::Half => {
                text[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
        }
    }
}

/// What stands behind a backslash.
enum Escape {
    /// So many bytes, which mean what they say.
    Whole(usize),
    /// The six bytes of half a character.
    Half,
}

fn escape(bytes: &[u8]) -> Escape {
    match unit(bytes) {
        // A letter, a quotation mark, another backslash; or nothing that is JSON.
        None => Escape::Whole(2.min(bytes.len())),
        Some(0xD800..=0xDBFF) => match unit(&bytes[6..]) {
            Some(0xDC00..=0xDFFF) => Escape::Whole(12),
            _ => Escape::Half,
        },
        Some(0xDC00..=0xDFFF) => Escape::Half,
        Some(_) => Escape::Whole(6),
    }
}

/// The code of one `\uXXXX`.
fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |code, digit| Some(code * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn mended(text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        mend(&mut bytes);
        bytes
    }

    #[test]
    fn a_half_reads_as_what_it_is_not_and_a_pair_stays() {
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
            let got: Value = serde_json::from_slice(&mended(sent)).unwrap();
            assert_eq!(got, read, "{sent}");
        }
    }

    #[test]
    fn what_is_no_json_stays_as_it_is() {
        for text in
            ["\\", "\\u", "\\ud83", "\\uzzzz", "\\u\n{}", "x\\", "\\u12\n{\"a\":1}\n", "\\ud8+d"]
        {
            assert_eq!(mended(text), text.as_bytes(), "{text:?}");
        }
        assert_eq!(mended("\\ud83d\\"), b"\\ufffd\\");
    }

    proptest! {
        /// Nothing but halves is touched, and twice is once.
        #[test]
        fn a_text_is_mended_once(text in r#"(\\|u|d83d|DE00|0041|"|\n|x|ä){0,24}"#) {
            let once = mended(&text);
            prop_assert_eq!(once.len(), text.len());
            let mut twice = once.clone();
            mend(&mut twice);
            prop_assert_eq!(twice, once);
        }

        #[test]
        fn any_value_comes_through(text in any::<String>()) {
            let sent = Value::String(text).to_string();
            prop_assert_eq!(mended(&sent), sent.as_bytes());
        }
    }
}
