//! Randomness of long values, judged by changes between letters, digits and cases.
//!
//! Entropy by frequency says little about 20 characters. The number of changes tells keys from names: `getUserById`
//! changes at every word, `k3Xw9Qz` at nearly every character.

use super::alphabet::{self, ALNUM, DIGIT, LETTER, LOWER, UPPER};

/// Counts of a value's characters and of the changes between their classes.
#[derive(Default)]
struct CharacterMix {
    letters: usize,
    digits: usize,
    /// Changes between a letter and a digit.
    steps: usize,
    /// Changes from a small to a capital letter.
    humps: usize,
    /// Runs of one or two small letters beside a capital: words are longer.
    stubs: usize,
}

fn mix(value: &[u8]) -> CharacterMix {
    let mut mix = CharacterMix::default();
    let mut last = 0;
    let mut small = 0;
    for &byte in value {
        if alphabet::has_class(byte, LOWER) {
            small += 1;
        } else {
            mix.stubs += usize::from((1..=2).contains(&small) && alphabet::has_class(byte, UPPER));
            small = 0;
        }
        if alphabet::has_class(byte, DIGIT) {
            mix.digits += 1;
            mix.steps += usize::from(alphabet::has_class(last, LETTER));
        } else if alphabet::has_class(byte, LETTER) {
            mix.letters += 1;
            mix.steps += usize::from(alphabet::has_class(last, DIGIT));
            mix.humps +=
                usize::from(alphabet::has_class(last, LOWER) && alphabet::has_class(byte, UPPER));
        }
        last = byte;
    }
    mix
}

/// Returns true if a value of 16 characters or more is most likely random.
pub(super) fn is_random(value: &[u8]) -> bool {
    let mix = mix(value);
    let length = mix.letters + mix.digits;
    if length < 16 || length * 4 < value.len() * 3 {
        return false;
    }
    let mixed =
        mix.steps >= 2 && (2 * mix.steps + mix.humps) * 3 >= length && mix.letters * 6 >= length;
    let letters = length >= 20 && mix.stubs >= 4 && mix.stubs * 7 >= length;
    mixed || letters
}

/// Returns true if a value is made of words, as names and sentences are: `app-tls-cert`, `getToken`, `v2`,
/// `2026-11-15`.
pub(super) fn is_wordy(value: &[u8]) -> bool {
    value.split(|&byte| !alphabet::has_class(byte, ALNUM) && byte.is_ascii()).all(|part| {
        let mix = mix(part);
        let trailing =
            part.iter().rev().take_while(|&&byte| alphabet::has_class(byte, DIGIT)).count();
        let digits = mix.letters == 0 && mix.digits <= 4;
        let word = mix.steps <= 1 && mix.digits == trailing && trailing <= 3;
        let looks_random =
            mix.humps * 3 >= part.len() || mix.stubs >= 4 && mix.stubs * 7 >= part.len();
        digits || (word && (mix.humps == 0 || !looks_random))
    })
}

/// Returns true for letters, digits and signs that do not occur together in names.
pub(super) fn is_signed(value: &[u8]) -> bool {
    let sign = |byte: &u8| {
        matches!(
            byte,
            b'!' | b'#' | b'%' | b'^' | b'*' | b'~' | b'@' | b'+' | b'=' | b'$' | b'&' | b'?'
        )
    };
    value.len() >= 8
        && value.iter().any(sign)
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_keys_from_names() {
        for random in [
            "8a7d0c3fe5b94a1290ffab34c1d2e7f6",
            "q7Yh2LpV9sXc4NwB",
            "wJalrXUtnFEMIK7MDENGbPxRfiCYzKd93kQpLm1x",
            "GkZQxWvTnHsLrBpYcDfMjKqXzAeUiOtR",
            "dWPBMvaQMLUAgCiPjujckApIzH",
        ] {
            assert!(is_random(random.as_bytes()) && !is_wordy(random.as_bytes()), "{random}");
        }
        for wordy in [
            "app-tls-cert",
            "getAuthenticatedUserAccessTokenFromRepository",
            "wrapRangeInMappedTextNode",
            "aes-256-gcm",
            "settings.password.reset.title",
            "customer#0001",
            "us-intl",
        ] {
            assert!(is_wordy(wordy.as_bytes()) && !is_random(wordy.as_bytes()), "{wordy}");
        }
    }
}
