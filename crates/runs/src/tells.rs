//! Selection of the readers that may understand a text, in one pass over it.
//!
//! Eighteen readers of tests took 15 ms for 300 KB, which is more than the whole budget of a hook.

use super::report::Runner;
use super::runners::RUNNERS;

/// Returns the readers with a keyword in the text, in their order. Readers without keywords are never used for the
/// output of an unknown program.
pub(super) fn telling(text: &str) -> Vec<&'static Runner> {
    let runners: Vec<&'static Runner> =
        RUNNERS.iter().copied().filter(|runner| !runner.tells.is_empty()).collect();
    let mut asked: Vec<bool> = vec![false; runners.len()];
    let mut words = Words::of(&runners, &asked);
    // Line breaks around the text let keywords match at its first and last line.
    let bytes = [b"\n", text.as_bytes(), b"\n"].concat();
    for (at, three) in bytes.windows(LEAST).enumerate() {
        if !words.may_begin(beginning([three[0], three[1], three[2]])) {
            continue;
        }
        // Several readers may have the same keyword. Keywords of readers that were found are dropped.
        while let Some(number) = words.find(&bytes[at..]) {
            asked[number] = true;
            words = Words::of(&runners, &asked);
        }
    }
    runners.into_iter().zip(asked).filter_map(|(runner, asked)| asked.then_some(runner)).collect()
}

/// Minimum length of a keyword in bytes.
const LEAST: usize = 3;

/// Number of distinct hashes of keyword prefixes.
const BEGINNINGS: usize = 1 << 17;

/// Hashes the first bytes of a keyword to a number below [`BEGINNINGS`]. Two prefixes may share a hash.
fn beginning([first, second, third]: [u8; LEAST]) -> usize {
    usize::from(first) << 9 ^ usize::from(second) << 5 ^ usize::from(third)
}

/// The keywords to search for.
struct Words {
    /// Prefix hash, keyword and index of its reader, sorted by the hash.
    words: Vec<(usize, &'static [u8], usize)>,
    /// Bit set of the prefix hashes that occur.
    beginnings: [u64; BEGINNINGS / 64],
}

impl Words {
    /// Collects the keywords of the readers that were not found yet.
    fn of(runners: &[&'static Runner], asked: &[bool]) -> Self {
        let mut words = Vec::new();
        let mut beginnings = [0; BEGINNINGS / 64];
        for (number, runner) in runners.iter().enumerate().filter(|(number, _)| !asked[*number]) {
            for word in runner.tells.iter().map(|word| word.as_bytes()) {
                if let Some(&first) = word.first_chunk::<LEAST>() {
                    let first = beginning(first);
                    beginnings[first / 64] |= 1 << (first % 64);
                    words.push((first, word, number));
                }
            }
        }
        words.sort_unstable();
        Self { words, beginnings }
    }

    fn may_begin(&self, first: usize) -> bool {
        self.beginnings[first / 64] & (1 << (first % 64)) != 0
    }

    /// Returns the index of a reader with a keyword at the start of the text.
    fn find(&self, text: &[u8]) -> Option<usize> {
        let first = beginning(*text.first_chunk()?);
        let from = self.words.partition_point(|(other, ..)| *other < first);
        let mut words = self.words[from..].iter().take_while(|(other, ..)| *other == first);
        words.find(|(_, word, _)| text.starts_with(word)).map(|(.., number)| *number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_long_enough_to_be_found() {
        for runner in RUNNERS {
            assert!(runner.tells.iter().all(|word| word.len() >= LEAST), "{}", runner.name);
        }
    }

    #[test]
    fn readers_are_asked_whose_words_are_there() {
        let names =
            |text: &str| -> Vec<&str> { telling(text).iter().map(|runner| runner.name).collect() };
        assert_eq!(names(""), [""; 0]);
        assert_eq!(names("  3 passing (13ms)"), ["mocha"]);
        assert_eq!(names("1..2\n# tests 2"), ["bats", "node --test"]);
    }

    proptest! {
        #[test]
        fn words_are_found_anywhere(
            before in "\\PC{0,20}", after in "\\PC{0,20}", which in 0_usize..1000, twice in 0_usize..1000,
        ) {
            let words: Vec<&str> = RUNNERS.iter().flat_map(|runner| runner.tells).copied().collect();
            let text = format!("{before}{}{}{after}", words[which % words.len()], words[twice % words.len()]);
            let lines = format!("\n{text}\n");
            let found: Vec<&str> = telling(&text).iter().map(|runner| runner.name).collect();
            let there = RUNNERS.iter().filter(|runner| runner.tells.iter().any(|word| lines.contains(word)));
            let there: Vec<&str> = there.map(|runner| runner.name).collect();
            prop_assert_eq!(found, there);
        }
    }
}
