//! The table of word vectors, read in place in the binary: nothing is unpacked, built or copied.
//!
//! `tools/distill/table.py` writes it and documents the layout. All numbers are little-endian and read byte by byte, so
//! no alignment is needed; the rows are aligned anyway, so that each touches one cache line less.

use super::DIMS;

#[repr(C, align(64))]
struct Aligned<B: ?Sized>(B);

static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../../model/table.bin"));
static BYTES: &[u8] = &FILE.0;
static ROW: &[[u8; DIMS]] = BYTES.split_at(SCALES).0.split_at(HEADER).1.as_chunks().0;

const HEADER: usize = 64;
const COUNT: usize = number(16);
const BEGINNING: usize = number(20);
const SCALES: usize = HEADER + COUNT * DIMS;
const ROWS: usize = SCALES + COUNT * 2;
const ENDS: usize = ROWS + COUNT * 2;
const TEXT: usize = ENDS + (COUNT + 1) * 4;

// A file with another layout does not compile.
const _: () = {
    assert!(matches!(FILE.0.split_at(8).0, b"RUTTABLE"));
    assert!(number(8) == 1 && number(12) == DIMS && COUNT == BEGINNING + number(24));
    assert!(FILE.0.len() == TEXT + number(28) && COUNT <= u16::MAX as usize);
};

/// Identifies the table: the first bytes of its sha256.
pub(super) const HASH: u64 = (number(36) as u64) << 32 | number(32) as u64;

const fn number(at: usize) -> usize {
    let bytes = &FILE.0;
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}

/// A token, identified by its row in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Token(u16);

impl Token {
    /// Stands for a word that cannot be built from the vocabulary.
    pub(super) const UNKNOWN: Self = Self(1);

    pub(super) fn number(self) -> u16 {
        self.0
    }

    pub(super) fn of_number(number: u16) -> Option<Self> {
        (usize::from(number) < COUNT).then_some(Self(number))
    }

    pub(super) fn row(self) -> &'static [u8; DIMS] {
        &ROW[usize::from(self.0)]
    }

    /// Returns the factor of the row. Stored in half precision, positive and never subnormal.
    pub(super) fn scale(self) -> f32 {
        let half = short(SCALES, usize::from(self.0));
        f32::from_bits((u32::from(half) << 13) + (112 << 23))
    }
}

/// The position of a token in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Beginning,
    Within,
}

/// Returns the longest token that the text starts with, and its length.
pub(super) fn longest(text: &str, place: Place) -> Option<(Token, usize)> {
    let (first, mut last) = match place {
        Place::Beginning => (0, BEGINNING),
        Place::Within => (BEGINNING, COUNT),
    };
    let mut text = text.as_bytes();
    // The entry that sorts directly before the text is either the longest token that starts it, or shares a shorter
    // prefix with the text; then every token that starts the text also starts that shared prefix.
    loop {
        last = first + partition(last - first, |at| entry(first + at) <= text);
        let before = entry(last.checked_sub(1).filter(|&at| at >= first)?);
        let shared = before.iter().zip(text).take_while(|(a, b)| a == b).count();
        if shared == before.len() {
            return Some((Token(short(ROWS, last - 1)), shared));
        }
        text = &text[..shared];
        last -= 1;
    }
}

/// Returns the number of leading indices below `count` for which `is` returns true; it must be false for all later
/// ones.
fn partition(count: usize, is: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if is(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn entry(at: usize) -> &'static [u8] {
    &BYTES[TEXT + long(ENDS, at)..TEXT + long(ENDS, at + 1)]
}

fn short(section: usize, at: usize) -> u16 {
    let at = section + at * 2;
    u16::from_le_bytes([BYTES[at], BYTES[at + 1]])
}

fn long(section: usize, at: usize) -> usize {
    number(section + at * 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_found_as_itself() {
        let mut seen = vec![false; COUNT];
        for at in 0..COUNT {
            let place = if at < BEGINNING { Place::Beginning } else { Place::Within };
            let text = std::str::from_utf8(entry(at)).unwrap();
            let (token, length) = longest(text, place).unwrap();
            assert_eq!((token, length), (Token(short(ROWS, at)), text.len()), "{text}");
            seen[usize::from(token.0)] = true;
        }
        assert!(seen.iter().all(|&seen| seen));
        assert_eq!(longest("[UNK]", Place::Beginning), Some((Token::UNKNOWN, 5)));
    }

    #[test]
    fn the_longest_is_what_trying_every_length_finds() {
        let tried = |text: &str, place| {
            let range = if place == Place::Beginning { 0..BEGINNING } else { BEGINNING..COUNT };
            range
                .filter(|&at| text.as_bytes().starts_with(entry(at)))
                .map(|at| entry(at).len())
                .max()
        };
        let texts =
            ["unbelievable", "zzzz", "the", "thé", "字字", "\u{10ffff}", "", "embeddings", "ingly"];
        for text in texts {
            for place in [Place::Beginning, Place::Within] {
                let found = longest(text, place).map(|(_, length)| length);
                assert_eq!(found, tried(text, place), "{text} {place:?}");
            }
        }
    }

    #[test]
    fn scales_are_halves_of_one_form() {
        for at in 0..COUNT {
            let bits = short(SCALES, at);
            assert!((0x0400..0x7c00).contains(&bits), "{bits:x}");
        }
    }

    #[test]
    fn the_table_is_the_one_that_the_manifest_speaks_of() {
        let manifest: serde_json::Value =
            serde_json::from_str(include_str!("../../model/manifest.json")).unwrap();
        let files = &manifest["files"];
        for (name, bytes) in
            [("table.bin", BYTES), ("fold.bin", &include_bytes!("../../model/fold.bin")[..])]
        {
            assert_eq!(files[name]["bytes"], bytes.len());
            assert_eq!(files[name]["sha256"], hex(bytes), "{name}");
        }
        assert_eq!(&hex(&BYTES[HEADER..])[..16], format!("{:016x}", HASH.swap_bytes()));
        assert_eq!(manifest["measured"]["rows"], COUNT);
    }

    fn hex(bytes: &[u8]) -> String {
        use sha2::Digest as _;
        sha2::Sha256::digest(bytes)
            .iter()
            .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    }
}
