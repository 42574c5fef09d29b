//! How common words are in texts about software, so that a store of three lessons knows that `test` says little.
//!
//! `background.txt` is sorted, one term and how many of ten thousand paragraphs have it on each line; it is searched where
//! it lies. `cargo run -p rutter-search --example background` makes it from the documentation of the crates that this project
//! depends on; the counts are facts about them, nothing of their text is in it.

/// Terms and their shares.
static TABLE: &str = include_str!("background.txt");

/// What a term that is not in the table is taken for.
const RARE: f64 = 0.5 / 10_000.0;

/// The share of paragraphs that have a term.
pub fn share(term: &str) -> f64 {
    let (mut low, mut high) = (0, TABLE.len());
    let bytes = TABLE.as_bytes();
    while low < high {
        let middle = usize::midpoint(low, high);
        let start = bytes[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = bytes[middle..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(bytes.len(), |at| middle + at);
        let (found, share) = TABLE[start..end].split_once(' ').unwrap_or_default();
        match found.cmp(term) {
            std::cmp::Ordering::Equal => {
                return share.parse().map_or(RARE, |share: f64| share / 10_000.0);
            }
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    RARE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_is_found() {
        let lines: Vec<&str> = TABLE.lines().collect();
        assert!(lines.len() > 1_000, "{}", lines.len());
        assert!(lines.is_sorted(), "it is searched by halves");
        for line in lines {
            let (term, count) = line.split_once(' ').unwrap();
            assert!(
                (share(term) - count.parse::<f64>().unwrap() / 10_000.0).abs() < 1e-9,
                "{line}"
            );
        }
        for term in ["", "zzzzzz", "0", "xylophon", "~"] {
            assert!((share(term) - RARE).abs() < 1e-9, "{term}");
        }
        assert!(share("error") > 0.03 && share("test") > share("mutex"));
    }
}
