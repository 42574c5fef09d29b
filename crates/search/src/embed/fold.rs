//! Normalises characters before words are looked up: lower case, without accents, some removed.

/// The normalisation table, made from the reference tokeniser by `tools/distill/fold.py`, which documents the layout.
static FOLD_TABLE: &[u8] = include_bytes!("../../model/fold.bin");

const RANGE_COUNT: usize = read_u32(0) as usize;

const fn read_u32(at: usize) -> u32 {
    let at = at * 4;
    u32::from_le_bytes([FOLD_TABLE[at], FOLD_TABLE[at + 1], FOLD_TABLE[at + 2], FOLD_TABLE[at + 3]])
}

/// The normalised form of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoldedChar {
    Nothing,
    /// The end of a word.
    Space,
    /// A word that consists of this character.
    Alone(char),
    Letter(char),
    Letters([Option<char>; 3]),
}

pub(super) fn fold_char(c: char) -> FoldedChar {
    match c {
        'a'..='z' | '0'..='9' => FoldedChar::Letter(c),
        'A'..='Z' => FoldedChar::Letter(c.to_ascii_lowercase()),
        ' ' | '\t' | '\n' | '\r' => FoldedChar::Space,
        '!'..='~' => FoldedChar::Alone(c),
        // The parts of a Korean syllable can be computed.
        '\u{ac00}'..='\u{d7a3}' => {
            let at = u32::from(c) - 0xac00;
            let last = (at % 28 != 0).then_some(0x11a7 + at % 28);
            let parts = [Some(0x1100 + at / 588), Some(0x1161 + at % 588 / 28), last];
            FoldedChar::Letters(parts.map(|part| part.and_then(char::from_u32)))
        }
        _ => fold_by_table(c),
    }
}

fn fold_by_table(c: char) -> FoldedChar {
    let code = u32::from(c);
    let range = |at: usize| 1 + at * 3;
    let (mut low, mut high) = (0, RANGE_COUNT);
    while low < high {
        let middle = low.midpoint(high);
        if read_u32(range(middle) + 1) < code { low = middle + 1 } else { high = middle }
    }
    if low == RANGE_COUNT || code < read_u32(range(low)) {
        return FoldedChar::Letter(c);
    }
    let (first, to) = (read_u32(range(low)), read_u32(range(low) + 2));
    let (kind, to) = (to >> 24, to & 0xff_ffff);
    let moved = || char::from_u32(to + (code - first)).unwrap_or(c);
    match kind {
        0 => FoldedChar::Nothing,
        1 => FoldedChar::Space,
        2 => FoldedChar::Alone(moved()),
        3 => FoldedChar::Letter(moved()),
        _ => {
            let at = range(RANGE_COUNT) + to as usize;
            let length = read_u32(at) as usize;
            let letter = |n| (n < length).then(|| read_u32(at + 1 + n)).and_then(char::from_u32);
            FoldedChar::Letters([letter(0), letter(1), letter(2)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_shortcut_matches_table() {
        for c in '\0'..='\x7f' {
            assert_eq!(fold_char(c), fold_by_table(c), "{c:?}");
        }
    }

    #[test]
    fn every_character_becomes_something() {
        let kinds = ('\0'..=char::MAX).fold([0; 5], |mut kinds, c| {
            let kind = match fold_char(c) {
                FoldedChar::Nothing => 0,
                FoldedChar::Space => 1,
                FoldedChar::Alone(_) => 2,
                FoldedChar::Letter(_) => 3,
                FoldedChar::Letters(_) => 4,
            };
            kinds[kind] += 1;
            kinds
        });
        // Counted when the table was made; 11,172 of the last are Korean.
        assert_eq!(kinds, [139_248, 22, 81_994, 879_586, 11_214]);
    }

    #[test]
    fn accents_go_and_capitals_become_small() {
        assert_eq!(fold_char('É'), FoldedChar::Letter('e'));
        assert_eq!(fold_char('\u{301}'), FoldedChar::Nothing);
        assert_eq!(fold_char('≠'), FoldedChar::Alone('='));
        assert_eq!(fold_char('字'), FoldedChar::Alone('字'));
        assert_eq!(fold_char('각'), FoldedChar::Letters([Some('ᄀ'), Some('ᅡ'), Some('ᆨ')]));
        assert_eq!(
            fold_char('\u{9cb}'),
            FoldedChar::Letters([Some('\u{9c7}'), Some('\u{9be}'), None])
        );
    }
}
