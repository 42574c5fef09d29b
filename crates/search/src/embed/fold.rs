//! Normalises characters before words are looked up: lower case, without accents, some removed.

/// The normalisation table, made from the reference tokeniser by `tools/distill/fold.py`, which documents the layout.
static TABLE: &[u8] = include_bytes!("../../model/fold.bin");

const RANGES: usize = number(0) as usize;

const fn number(at: usize) -> u32 {
    let at = at * 4;
    u32::from_le_bytes([TABLE[at], TABLE[at + 1], TABLE[at + 2], TABLE[at + 3]])
}

/// The normalised form of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folded {
    Nothing,
    /// The end of a word.
    Space,
    /// A word that consists of this character.
    Alone(char),
    Letter(char),
    Letters([Option<char>; 3]),
}

pub(super) fn fold(c: char) -> Folded {
    match c {
        'a'..='z' | '0'..='9' => Folded::Letter(c),
        'A'..='Z' => Folded::Letter(c.to_ascii_lowercase()),
        ' ' | '\t' | '\n' | '\r' => Folded::Space,
        '!'..='~' => Folded::Alone(c),
        // The parts of a Korean syllable can be computed.
        '\u{ac00}'..='\u{d7a3}' => {
            let at = u32::from(c) - 0xac00;
            let last = (at % 28 != 0).then_some(0x11a7 + at % 28);
            let parts = [Some(0x1100 + at / 588), Some(0x1161 + at % 588 / 28), last];
            Folded::Letters(parts.map(|part| part.and_then(char::from_u32)))
        }
        _ => listed(c),
    }
}

fn listed(c: char) -> Folded {
    let code = u32::from(c);
    let range = |at: usize| 1 + at * 3;
    let (mut low, mut high) = (0, RANGES);
    while low < high {
        let middle = low.midpoint(high);
        if number(range(middle) + 1) < code { low = middle + 1 } else { high = middle }
    }
    if low == RANGES || code < number(range(low)) {
        return Folded::Letter(c);
    }
    let (first, to) = (number(range(low)), number(range(low) + 2));
    let (kind, to) = (to >> 24, to & 0xff_ffff);
    let moved = || char::from_u32(to + (code - first)).unwrap_or(c);
    match kind {
        0 => Folded::Nothing,
        1 => Folded::Space,
        2 => Folded::Alone(moved()),
        3 => Folded::Letter(moved()),
        _ => {
            let at = range(RANGES) + to as usize;
            let length = number(at) as usize;
            let letter = |n| (n < length).then(|| number(at + 1 + n)).and_then(char::from_u32);
            Folded::Letters([letter(0), letter(1), letter(2)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_for_ascii_is_the_list() {
        for c in '\0'..='\x7f' {
            assert_eq!(fold(c), listed(c), "{c:?}");
        }
    }

    #[test]
    fn every_character_becomes_something() {
        let kinds = ('\0'..=char::MAX).fold([0; 5], |mut kinds, c| {
            let kind = match fold(c) {
                Folded::Nothing => 0,
                Folded::Space => 1,
                Folded::Alone(_) => 2,
                Folded::Letter(_) => 3,
                Folded::Letters(_) => 4,
            };
            kinds[kind] += 1;
            kinds
        });
        // Counted when the table was made; 11,172 of the last are Korean.
        assert_eq!(kinds, [139_248, 22, 81_994, 879_586, 11_214]);
    }

    #[test]
    fn accents_go_and_capitals_become_small() {
        assert_eq!(fold('É'), Folded::Letter('e'));
        assert_eq!(fold('\u{301}'), Folded::Nothing);
        assert_eq!(fold('≠'), Folded::Alone('='));
        assert_eq!(fold('字'), Folded::Alone('字'));
        assert_eq!(fold('각'), Folded::Letters([Some('ᄀ'), Some('ᅡ'), Some('ᆨ')]));
        assert_eq!(fold('\u{9cb}'), Folded::Letters([Some('\u{9c7}'), Some('\u{9be}'), None]));
    }
}
