//! Half an emoji, in what a client sends.
//!
//! JavaScript has texts that are cut in the middle of a character, and writes the half as `\ud83d`. Our reader of JSON refuses
//! that, the SDK drops a line it cannot read, and a client waits for its answer for as long as it has patience. So each half
//! is read as U+FFFD, as hooks read it. That is as long in JSON, so bytes are exchanged on their way and none are moved.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// A reader whose halves are made whole.
pub(super) struct Halves<R> {
    reader: R,
    /// What was read; so much of it as `decided` says can be passed on.
    bytes: Vec<u8>,
    decided: usize,
}

impl<R> Halves<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, bytes: Vec::new(), decided: 0 }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Halves<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.decided == 0 {
            let mut chunk = [0; 8 * 1024];
            let mut read = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.reader).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                // Whatever waited for its other half waits in vain.
                this.decided = this.bytes.len();
                break;
            }
            this.bytes.extend_from_slice(read.filled());
            this.decided = mend(&mut this.bytes);
        }
        let passed = this.decided.min(into.remaining());
        into.put_slice(&this.bytes[..passed]);
        this.bytes.drain(..passed);
        this.decided -= passed;
        Poll::Ready(Ok(()))
    }
}

/// What stands behind a backslash.
enum Escape {
    /// Too little has come to tell.
    Unknown,
    /// So many bytes, which mean what they say.
    Whole(usize),
    /// The six bytes of half a character.
    Half,
}

/// Exchanges each half, and says how many bytes are decided.
fn mend(bytes: &mut [u8]) -> usize {
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| *byte == b'\\') {
        at += next;
        match escape(&bytes[at..]) {
            Escape::Unknown => return at,
            Escape::Whole(length) => at += length,
            Escape::Half => {
                bytes[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
        }
    }
    bytes.len()
}

fn escape(bytes: &[u8]) -> Escape {
    match unit(bytes) {
        Unit::Unknown => Escape::Unknown,
        // A letter, a quotation mark, another backslash; or nothing that is JSON.
        Unit::None => Escape::Whole(2.min(bytes.len())),
        Unit::Code(0xD800..=0xDBFF) => match unit(&bytes[6..]) {
            Unit::Unknown => Escape::Unknown,
            Unit::Code(0xDC00..=0xDFFF) => Escape::Whole(12),
            Unit::Code(_) | Unit::None => Escape::Half,
        },
        Unit::Code(0xDC00..=0xDFFF) => Escape::Half,
        Unit::Code(_) => Escape::Whole(6),
    }
}

/// One `\uXXXX`.
enum Unit {
    Unknown,
    None,
    Code(u32),
}

fn unit(bytes: &[u8]) -> Unit {
    let mut code = 0;
    for place in 0..6 {
        let Some(byte) = bytes.get(place) else { return Unit::Unknown };
        match (place, char::from(*byte).to_digit(16)) {
            (0, _) if *byte == b'\\' => {}
            (1, _) if *byte == b'u' => {}
            (2.., Some(digit)) => code = code * 16 + digit,
            _ => return Unit::None,
        }
    }
    Unit::Code(code)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// What comes out of pieces of these lengths.
    fn through(text: &[u8], pieces: &[usize]) -> Vec<u8> {
        let mut reader: Box<dyn AsyncRead + Unpin> = Box::new(tokio::io::empty());
        let mut rest = text;
        let mut parts = Vec::new();
        for length in pieces {
            let (piece, behind) = rest.split_at((*length).min(rest.len()));
            parts.push(piece.to_vec());
            rest = behind;
        }
        parts.push(rest.to_vec());
        for part in parts {
            // An empty piece would be the end.
            if !part.is_empty() {
                reader = Box::new(reader.chain(io::Cursor::new(part)));
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut read = Vec::new();
        runtime.block_on(Halves::new(reader).read_to_end(&mut read)).unwrap();
        read
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
            for cut in 0..=sent.len() {
                let got = through(sent.as_bytes(), &[cut]);
                let got: Value = serde_json::from_slice(&got).unwrap();
                assert_eq!(got, read, "{sent} cut at {cut}");
            }
        }
    }

    #[test]
    fn what_is_no_json_goes_through_as_it_is() {
        for text in ["\\", "\\u", "\\ud83", "\\ud83d", "\\ud83d\\", "\\uzzzz", "\\u\n{}", "x\\"] {
            let got = through(text.as_bytes(), &[]);
            assert_eq!(got.len(), text.len(), "{text:?}");
        }
        assert_eq!(through(b"\\u12\n{\"a\":1}\n", &[2]), b"\\u12\n{\"a\":1}\n");
    }

    proptest! {
        /// However it is cut, the same comes out, and a text that has no halves is not touched.
        #[test]
        fn pieces_make_no_difference(
            text in r#"(\\|u|d83d|DE00|0041|"|\n|x|ä){0,24}"#,
            pieces in prop::collection::vec(1..7_usize, 0..12),
        ) {
            prop_assert_eq!(through(text.as_bytes(), &pieces), through(text.as_bytes(), &[]));
        }

        #[test]
        fn any_value_comes_through(text in any::<String>(), pieces in prop::collection::vec(1..9_usize, 0..6)) {
            let sent = Value::String(text).to_string();
            prop_assert_eq!(through(sent.as_bytes(), &pieces), sent.as_bytes());
        }
    }
}
