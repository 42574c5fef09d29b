//! Frequencies of words in texts about software, so that `test` counts as a common word even in a store of three
//! lessons.
//!
//! `background.txt` is sorted. Each line has one term and the number of paragraphs, out of ten thousand, that contain
//! it. The text is searched in place. `cargo run -p rutter-search --example background` makes it from the documentation
//! of the crates that this project depends on; it contains only counts, none of their text.

/// The terms and their counts.
static BACKGROUND_TABLE: &str = include_str!("background.txt");

/// The assumed share of a term that is not in the table.
const RARE_TERM_SHARE: f64 = 0.5 / 10_000.0;

/// Returns the share of paragraphs that contain a term.
pub fn background_share(term: &str) -> f64 {
    let (mut low, mut high) = (0, BACKGROUND_TABLE.len());
    let bytes = BACKGROUND_TABLE.as_bytes();
    while low < high {
        let middle = usize::midpoint(low, high);
        let start = bytes[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = bytes[middle..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(bytes.len(), |at| middle + at);
        let (found, share) = BACKGROUND_TABLE[start..end].split_once(' ').unwrap_or_default();
        match found.cmp(term) {
            std::cmp::Ordering::Equal => {
                return share.parse().map_or(RARE_TERM_SHARE, |share: f64| share / 10_000.0);
            }
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    RARE_TERM_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_is_found() {
        let lines: Vec<&str> = BACKGROUND_TABLE.lines().collect();
        assert!(lines.len() > 1_000, "{}", lines.len());
        assert!(lines.is_sorted(), "it is searched by halves");
        for line in lines {
            let (term, count) = line.split_once(' ').unwrap();
            assert!(
                (background_share(term) - count.parse::<f64>().unwrap() / 10_000.0).abs() < 1e-9,
                "{line}"
            );
        }
        for term in ["", "zzzzzz", "0", "xylophon", "~"] {
            assert!((background_share(term) - RARE_TERM_SHARE).abs() < 1e-9, "{term}");
        }
        assert!(
            background_share("error") > 0.03
                && background_share("test") > background_share("mutex")
        );
    }
}
