//! Further occurrences of a secret that was found. A text often repeats a secret (a failure compares it, an edit
//! moves it), and only one of the occurrences may have a name.

use super::alphabet::{self, ALNUM, BLANK};
use super::{Finding, character_mix, placeholder, randomness};

/// Maximum number of secrets per text that are searched for again.
const MAX_VALUES: usize = 8;
/// Lengths of the secrets that are searched for: shorter ones may be words, longer ones are files.
const LENGTHS: std::ops::RangeInclusive<usize> = 12..=256;

/// Random secrets of a text that are searched for in the rest of it.
pub(super) struct Repeats<'a> {
    values: Vec<(&'a [u8], &'static str)>,
    /// First bytes of the values.
    firsts: [bool; 256],
}

impl<'a> Repeats<'a> {
    /// Collects the random values among the findings.
    pub(super) fn new(text: &'a [u8], found: &[Finding]) -> Self {
        let mut repeats = Self { values: Vec::new(), firsts: [false; 256] };
        for finding in found {
            if repeats.values.len() == MAX_VALUES {
                break;
            }
            let value = &text[finding.start..finding.end];
            let known = repeats.values.iter().any(|(known, _)| *known == value);
            if !known && is_unique(value) {
                repeats.firsts[usize::from(value[0])] = true;
                repeats.values.push((value, finding.kind));
            }
        }
        repeats
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns every occurrence of a value that is not part of a longer word.
    pub(super) fn findings<'b>(&'b self, text: &'b [u8]) -> impl Iterator<Item = Finding> + 'b {
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < text.len() {
                let start = at;
                at += 1;
                if !self.firsts[usize::from(text[start])]
                    || start > 0 && alphabet::has_class(text[start - 1], ALNUM)
                {
                    continue;
                }
                let whole = |value: &[u8]| {
                    alphabet::starts(text, start, value)
                        && !alphabet::is_at(text, start + value.len(), ALNUM)
                };
                if let Some((value, kind)) = self.values.iter().find(|(value, _)| whole(value)) {
                    at = start + value.len();
                    return Some(Finding { start, end: at, kind });
                }
            }
            None
        })
    }
}

/// Returns true if a value cannot occur by chance.
fn is_unique(value: &[u8]) -> bool {
    LENGTHS.contains(&value.len())
        && (randomness::is_likely_random(value) || character_mix::is_random(value))
        && !value.iter().any(|&byte| alphabet::has_class(byte, BLANK))
        && value.iter().all(u8::is_ascii)
        && !placeholder::is_placeholder(value)
}
