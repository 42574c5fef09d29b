//! The table of word vectors, read in place in the binary: nothing is unpacked, built or copied.
//!
//! `tools/distill/table.py` writes it and documents the layout. All numbers are little-endian and read byte by byte, so
//! no alignment is needed; the rows are aligned anyway, so that each touches one cache line less.

use super::VECTOR_DIMS;

#[repr(C, align(64))]
struct Aligned<B: ?Sized>(B);

static TABLE_FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../../model/table.bin"));
static TABLE_BYTES: &[u8] = &TABLE_FILE.0;
static VECTOR_ROWS: &[[u8; VECTOR_DIMS]] =
    TABLE_BYTES.split_at(SCALES_OFFSET).0.split_at(TABLE_HEADER_BYTES).1.as_chunks().0;

const TABLE_HEADER_BYTES: usize = 64;
const TOKEN_COUNT: usize = read_u32(16);
const BEGINNING_COUNT: usize = read_u32(20);
const SCALES_OFFSET: usize = TABLE_HEADER_BYTES + TOKEN_COUNT * VECTOR_DIMS;
const ROWS_OFFSET: usize = SCALES_OFFSET + TOKEN_COUNT * 2;
const ENDS_OFFSET: usize = ROWS_OFFSET + TOKEN_COUNT * 2;
const TEXT_OFFSET: usize = ENDS_OFFSET + (TOKEN_COUNT + 1) * 4;

// A file with another layout does not compile.
const _: () = {
    assert!(matches!(TABLE_FILE.0.split_at(8).0, b"RUTTABLE"));
    assert!(
        read_u32(8) == 1
            && read_u32(12) == VECTOR_DIMS
            && TOKEN_COUNT == BEGINNING_COUNT + read_u32(24)
    );
    assert!(TABLE_FILE.0.len() == TEXT_OFFSET + read_u32(28) && TOKEN_COUNT <= u16::MAX as usize);
};

/// Identifies the table: the first bytes of its sha256.
pub(super) const TABLE_HASH: u64 = (read_u32(36) as u64) << 32 | read_u32(32) as u64;

const fn read_u32(at: usize) -> usize {
    let bytes = &TABLE_FILE.0;
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

    pub(super) fn from_number(number: u16) -> Option<Self> {
        (usize::from(number) < TOKEN_COUNT).then_some(Self(number))
    }

    pub(super) fn row(self) -> &'static [u8; VECTOR_DIMS] {
        &VECTOR_ROWS[usize::from(self.0)]
    }

    /// Returns the factor of the row. Stored in half precision, positive and never subnormal.
    pub(super) fn scale(self) -> f32 {
        let half = read_u16_entry(SCALES_OFFSET, usize::from(self.0));
        f32::from_bits((u32::from(half) << 13) + (112 << 23))
    }
}

/// The position of a token in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordPosition {
    Beginning,
    Within,
}

/// Returns the longest token that the text starts with, and its length.
pub(super) fn longest_token(text: &str, place: WordPosition) -> Option<(Token, usize)> {
    let (first, mut last) = match place {
        WordPosition::Beginning => (0, BEGINNING_COUNT),
        WordPosition::Within => (BEGINNING_COUNT, TOKEN_COUNT),
    };
    let mut text = text.as_bytes();
    // The entry that sorts directly before the text is either the longest token that starts it, or shares a shorter
    // prefix with the text; then every token that starts the text also starts that shared prefix.
    loop {
        last = first + partition_point(last - first, |at| token_text(first + at) <= text);
        let before = token_text(last.checked_sub(1).filter(|&at| at >= first)?);
        let shared = before.iter().zip(text).take_while(|(a, b)| a == b).count();
        if shared == before.len() {
            return Some((Token(read_u16_entry(ROWS_OFFSET, last - 1)), shared));
        }
        text = &text[..shared];
        last -= 1;
    }
}

/// Returns the number of leading indices below `count` for which `is` returns true; it must be false for all later
/// ones.
fn partition_point(count: usize, is: impl Fn(usize) -> bool) -> usize {
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

fn token_text(at: usize) -> &'static [u8] {
    &TABLE_BYTES[TEXT_OFFSET + read_u32_entry(ENDS_OFFSET, at)
        ..TEXT_OFFSET + read_u32_entry(ENDS_OFFSET, at + 1)]
}

fn read_u16_entry(section: usize, at: usize) -> u16 {
    let at = section + at * 2;
    u16::from_le_bytes([TABLE_BYTES[at], TABLE_BYTES[at + 1]])
}

fn read_u32_entry(section: usize, at: usize) -> usize {
    read_u32(section + at * 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_found_as_itself() {
        let mut seen = vec![false; TOKEN_COUNT];
        for at in 0..TOKEN_COUNT {
            let place =
                if at < BEGINNING_COUNT { WordPosition::Beginning } else { WordPosition::Within };
            let text = std::str::from_utf8(token_text(at)).unwrap();
            let (token, length) = longest_token(text, place).unwrap();
            assert_eq!(
                (token, length),
                (Token(read_u16_entry(ROWS_OFFSET, at)), text.len()),
                "{text}"
            );
            seen[usize::from(token.0)] = true;
        }
        assert!(seen.iter().all(|&seen| seen));
        assert_eq!(longest_token("[UNK]", WordPosition::Beginning), Some((Token::UNKNOWN, 5)));
    }

    #[test]
    fn longest_token_matches_exhaustive_search() {
        let tried = |text: &str, place| {
            let range = if place == WordPosition::Beginning {
                0..BEGINNING_COUNT
            } else {
                BEGINNING_COUNT..TOKEN_COUNT
            };
            range
                .filter(|&at| text.as_bytes().starts_with(token_text(at)))
                .map(|at| token_text(at).len())
                .max()
        };
        let texts =
            ["unbelievable", "zzzz", "the", "thé", "字字", "\u{10ffff}", "", "embeddings", "ingly"];
        for text in texts {
            for place in [WordPosition::Beginning, WordPosition::Within] {
                let found = longest_token(text, place).map(|(_, length)| length);
                assert_eq!(found, tried(text, place), "{text} {place:?}");
            }
        }
    }

    #[test]
    fn scales_are_halves_of_one_form() {
        for at in 0..TOKEN_COUNT {
            let bits = read_u16_entry(SCALES_OFFSET, at);
            assert!((0x0400..0x7c00).contains(&bits), "{bits:x}");
        }
    }

    #[test]
    fn table_matches_manifest() {
        let manifest: serde_json::Value =
            serde_json::from_str(include_str!("../../model/manifest.json")).unwrap();
        let files = &manifest["files"];
        for (name, bytes) in
            [("table.bin", TABLE_BYTES), ("fold.bin", &include_bytes!("../../model/fold.bin")[..])]
        {
            assert_eq!(files[name]["bytes"], bytes.len());
            assert_eq!(files[name]["sha256"], hex(bytes), "{name}");
        }
        assert_eq!(
            &hex(&TABLE_BYTES[TABLE_HEADER_BYTES..])[..16],
            format!("{:016x}", TABLE_HASH.swap_bytes())
        );
        assert_eq!(manifest["measured"]["rows"], TOKEN_COUNT);
    }

    fn hex(bytes: &[u8]) -> String {
        use sha2::Digest as _;
        sha2::Sha256::digest(bytes)
            .iter()
            .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    }
}
