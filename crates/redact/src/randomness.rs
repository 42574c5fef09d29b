//! Randomness of short values, judged by their pairs of letters.
//!
//! Three of a hundred letter pairs in words and names are rare ones; in a random value, every second pair is. That
//! tells a password of twelve characters from a name, which [`character_mix`](super::character_mix) cannot. Callers
//! ask only where the context suggests a secret: hashes and ids are random as well.

use super::alphabet::{self, ALNUM, DIGIT, HEX, LETTER, LOWER, UPPER};

/// For every first letter, a bit for each second letter that often follows it: the pairs that make up 96 of a hundred
/// in three thousand files of sources and manuals.
#[rustfmt::skip]
static COMMON: [u32; 26] = [
    0x1fe_bd6e, 0x116_4911, 0x01e_ddb5, 0x01e_4959, 0x1ef_b87f, 0x01e_7979,
    0x016_2190, 0x01a_4111, 0x2ae_f87f, 0x000_0000, 0x000_0110, 0x11c_4939,
    0x01c_d113, 0x17c_ed7d, 0x07e_fd6e, 0x11e_c915, 0x010_0000, 0x11e_717d,
    0x11e_dd95, 0x19e_d9bd, 0x00e_b977, 0x000_0111, 0x006_6191, 0x008_8011,
    0x00c_a000, 0x000_0010,
];

/// Shortest value that can be told from a name.
pub(super) const MIN_RANDOM_BYTES: usize = 10;

/// Length of the examined start of a value.
const MAX_EXAMINED_BYTES: usize = 48;

/// Likelihood that a value is random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Randomness {
    Low,
    Likely,
    Certain,
}

/// Returns true if a value is most likely random, and neither a number nor a hash nor a UUID.
pub(super) fn is_likely_random(value: &[u8]) -> bool {
    measure(value) >= Randomness::Likely
}

/// Returns the likelihood that a value is random; [`Randomness::Low`] for numbers, hashes and UUIDs.
pub(super) fn measure(value: &[u8]) -> Randomness {
    let value = &value[..value.len().min(MAX_EXAMINED_BYTES)];
    let code = |byte: &u8| {
        matches!(
            byte,
            b'(' | b')'
                | b'['
                | b']'
                | b'{'
                | b'}'
                | b'<'
                | b'>'
                | b'|'
                | b'"'
                | b'\''
                | b'`'
                | b'\\'
        )
    };
    let dotted = |byte: &u8| *byte == b'.' || alphabet::has_class(*byte, HEX | alphabet::DASH);
    if value.len() < MIN_RANDOM_BYTES
        || value.starts_with(b"0x")
        || value.iter().all(dotted)
        || value.iter().any(code)
    {
        return Randomness::Low;
    }
    let has = |classes| value.iter().any(|&byte| alphabet::has_class(byte, classes));
    let (lower, upper) = (has(LOWER), has(UPPER));
    // In one case only, part numbers and constants look random as well.
    let digits = value.iter().filter(|&&byte| alphabet::has_class(byte, DIGIT)).count();
    let parted = value.iter().any(|byte| matches!(byte, b'_' | b'-'));
    let enough = match lower && upper {
        true => MIN_RANDOM_BYTES,
        false if parted => usize::MAX,
        false if digits >= 3 => 12,
        false => 16,
    };
    // In a random value, letters in a row look like a word now and then.
    let word = 6 + usize::from(!(lower && upper)) + value.len() / 24;
    let (odd, pairs, stubs) = score_pairs(value);
    if value.len() < enough || pairs < 6 || has_word(value, word) {
        return Randomness::Low;
    }
    // Names with acronyms (`RegOpenKeyExW`) have rare pairs too; without a digit or a sign the score must be higher.
    let parts =
        LETTER | alphabet::DASH | alphabet::PLUS_SLASH | alphabet::DOT | alphabet::UNDERSCORE;
    if value.iter().all(|&byte| alphabet::has_class(byte, parts)) {
        return match (odd + 2 * stubs) * 20 {
            _ if !(lower && upper) => Randomness::Low,
            odd if odd >= pairs * 28 && value.len() >= 14 => Randomness::Certain,
            odd if odd >= pairs * 23 => Randomness::Likely,
            _ => Randomness::Low,
        };
    }
    if odd * 13 >= pairs * 10 { Randomness::Certain } else { Randomness::Low }
}

/// Returns true if a value has `least` letters in a row that form a word.
fn has_word(value: &[u8], least: usize) -> bool {
    let mut length = 1;
    value.windows(2).any(|two| {
        let small = alphabet::has_class(two[0], LETTER) && alphabet::has_class(two[1], LOWER);
        length = if small && is_common(two[0], two[1]) { length + 1 } else { 1 };
        length >= least
    })
}

/// Returns true if a value has only hexadecimal digits and dashes: a hash, a git object name, a UUID.
pub(super) fn is_hex(value: &[u8]) -> bool {
    value.iter().all(|&byte| alphabet::has_class(byte, HEX | alphabet::DASH))
}

/// Returns true if the letter pairs of a value are too rare for a word.
pub(super) fn has_rare_pairs(value: &[u8]) -> bool {
    let (odd, pairs, _) = score_pairs(value);
    pairs >= 6 && odd >= pairs
}

/// Returns the rarity score of the pairs, their number, and the number of words of one or two small letters.
fn score_pairs(value: &[u8]) -> (usize, usize, usize) {
    let (mut odd, mut pairs, mut stubs) = (0, 0, 0);
    // Number of small letters since the last capital.
    let mut small = None;
    for (at, two) in value.windows(2).enumerate() {
        let (a, b) = (two[0], two[1]);
        let (first, second) = (alphabet::has_class(a, ALNUM), alphabet::has_class(b, ALNUM));
        if first != second {
            // Names contain `-`, `.` and `/` between words, but not `!` or `%`.
            let sign = if first { b } else { a };
            let part = matches!(sign, b'-' | b'_' | b'.' | b'/' | b':' | b',' | b'=' | b'@');
            odd += if part { 0 } else { 2 };
            pairs += usize::from(!part);
            small = None;
        } else if first {
            let digits = (alphabet::has_class(a, DIGIT), alphabet::has_class(b, DIGIT));
            let hump = alphabet::has_class(a, LOWER) && alphabet::has_class(b, UPPER);
            let falls = alphabet::has_class(a, UPPER) && alphabet::has_class(b, LOWER);
            // The last of several capitals begins a word.
            let after = falls && at > 0 && alphabet::has_class(value[at - 1], UPPER);
            stubs += usize::from(hump && small.is_some_and(|small| small < 3));
            odd += match digits {
                (true, true) => continue,
                (true, false) | (false, true) => 2,
                _ if hump => 2,
                _ if is_common(a, b) => usize::from(after),
                _ => 3,
            };
            small = if falls { Some(1) } else { small.map(|small| small + 1) };
            pairs += 1;
        }
    }
    (odd, pairs, stubs)
}

fn is_common(a: u8, b: u8) -> bool {
    debug_assert!(
        alphabet::has_class(a, LETTER) && alphabet::has_class(b, LETTER),
        "pairs of letters"
    );
    COMMON[usize::from((a | 32) - b'a') % 26] & (1 << ((b | 32) - b'a')) != 0
}

#[cfg(test)]
mod tests {
    use super::is_likely_random;

    #[test]
    fn tells_random_values_from_names() {
        for value in [
            "1CdCVLIMOaBZhX",
            "xGRfbRs6d7CO",
            "qfias3z%.MO1lQ",
            "f8MEviWXghum",
            "APswTvsVamVM",
            "ouseWRiqagfMuX",
            "DGISJOWV2A41F5YIGPAT",
            "oy23mp8egr5s51r5xd280roly6a79p",
        ] {
            assert!(is_likely_random(value.as_bytes()), "{value}");
        }
        for value in [
            "oauth2ClientSecret",
            "base64Encode",
            "getUserById2",
            "aes-256-gcm-siv",
            "X509Certificate",
            "SecretsManagerReadWrite",
            "8a7d0c3fe5b94a1290ff",
            "2026-11-15T12:20:13",
            "KeyExchangeAlgorithm",
            "application/json",
            "0x7F00FFC000000000",
            "PBXBuildFile",
            "PBXFileReference",
            "MprAdminServerConnect",
        ] {
            assert!(!is_likely_random(value.as_bytes()), "{value}");
        }
    }
}
