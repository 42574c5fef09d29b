//! Selection of the readers that may understand a text, in one pass over it.
//!
//! Eighteen readers of tests took 15 ms for 300 KB, which is more than the whole budget of a hook.

use super::report::OutputReader;

/// Returns those of `all` with a keyword in the text, in their order. Readers without keywords are never used for the
/// output of an unknown program.
pub(super) fn select_readers(
    all: &[&'static OutputReader],
    text: &str,
) -> Vec<&'static OutputReader> {
    let runners: Vec<&'static OutputReader> =
        all.iter().copied().filter(|runner| !runner.keywords.is_empty()).collect();
    let mut asked: Vec<bool> = vec![false; runners.len()];
    let mut words = KeywordIndex::new(&runners, &asked);
    // Line breaks around the text let keywords match at its first and last line.
    let bytes = [b"\n", text.as_bytes(), b"\n"].concat();
    for (at, three) in bytes.windows(MIN_KEYWORD_BYTES).enumerate() {
        if !words.has_prefix(hash_prefix([three[0], three[1], three[2]])) {
            continue;
        }
        // Several readers may have the same keyword. Keywords of readers that were found are dropped.
        while let Some(number) = words.find_reader(&bytes[at..]) {
            asked[number] = true;
            words = KeywordIndex::new(&runners, &asked);
        }
    }
    runners.into_iter().zip(asked).filter_map(|(runner, asked)| asked.then_some(runner)).collect()
}

/// Minimum length of a keyword in bytes.
const MIN_KEYWORD_BYTES: usize = 3;

/// Number of distinct hashes of keyword prefixes.
const PREFIX_HASH_COUNT: usize = 1 << 17;

/// Hashes the first bytes of a keyword to a number below [`PREFIX_HASH_COUNT`]. Two prefixes may share a hash.
fn hash_prefix([first, second, third]: [u8; MIN_KEYWORD_BYTES]) -> usize {
    usize::from(first) << 9 ^ usize::from(second) << 5 ^ usize::from(third)
}

/// The keywords to search for.
struct KeywordIndex {
    /// Prefix hash, keyword and index of its reader, sorted by the hash.
    words: Vec<(usize, &'static [u8], usize)>,
    /// Bit set of the prefix hashes that occur.
    beginnings: [u64; PREFIX_HASH_COUNT / 64],
}

impl KeywordIndex {
    /// Collects the keywords of the readers that were not found yet.
    fn new(runners: &[&'static OutputReader], asked: &[bool]) -> Self {
        let mut words = Vec::new();
        let mut beginnings = [0; PREFIX_HASH_COUNT / 64];
        for (number, runner) in runners.iter().enumerate().filter(|(number, _)| !asked[*number]) {
            for word in runner.keywords.iter().map(|word| word.as_bytes()) {
                if let Some(&first) = word.first_chunk::<MIN_KEYWORD_BYTES>() {
                    let first = hash_prefix(first);
                    beginnings[first / 64] |= 1 << (first % 64);
                    words.push((first, word, number));
                }
            }
        }
        words.sort_unstable();
        Self { words, beginnings }
    }

    fn has_prefix(&self, first: usize) -> bool {
        self.beginnings[first / 64] & (1 << (first % 64)) != 0
    }

    /// Returns the index of a reader with a keyword at the start of the text.
    fn find_reader(&self, text: &[u8]) -> Option<usize> {
        let first = hash_prefix(*text.first_chunk()?);
        let from = self.words.partition_point(|(other, ..)| *other < first);
        let mut words = self.words[from..].iter().take_while(|(other, ..)| *other == first);
        words.find(|(_, word, _)| text.starts_with(word)).map(|(.., number)| *number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::runners::{RUNNERS, select_readers};

    #[test]
    fn keywords_have_minimum_length() {
        for runner in RUNNERS {
            assert!(
                runner.keywords.iter().all(|word| word.len() >= MIN_KEYWORD_BYTES),
                "{}",
                runner.name
            );
        }
    }

    #[test]
    fn readers_with_keywords_are_selected() {
        let names = |text: &str| -> Vec<&str> {
            select_readers(text).iter().map(|runner| runner.name).collect()
        };
        assert_eq!(names(""), [""; 0]);
        assert_eq!(names("  3 passing (13ms)"), ["mocha"]);
        assert_eq!(names("1..2\n# tests 2"), ["bats", "node --test"]);
    }

    proptest! {
        #[test]
        fn keywords_are_found_anywhere(
            before in "\\PC{0,20}", after in "\\PC{0,20}", which in 0_usize..1000, twice in 0_usize..1000,
        ) {
            let words: Vec<&str> = RUNNERS.iter().flat_map(|runner| runner.keywords).copied().collect();
            let text = format!("{before}{}{}{after}", words[which % words.len()], words[twice % words.len()]);
            let lines = format!("\n{text}\n");
            let found: Vec<&str> = select_readers(&text).iter().map(|runner| runner.name).collect();
            let there = RUNNERS.iter().filter(|runner| runner.keywords.iter().any(|word| lines.contains(word)));
            let there: Vec<&str> = there.map(|runner| runner.name).collect();
            prop_assert_eq!(found, there);
        }
    }
}
