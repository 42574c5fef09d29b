//! The last line of a session, and the line with the number of collected tests.

use crate::scan;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PytestSummary {
    pub(super) passed: u32,
    pub(super) failed: u32,
    pub(super) skipped: u32,
    pub(super) milliseconds: Option<u64>,
}

impl PytestSummary {
    /// Parses `1 failed, 3 passed, 2 warnings in 0.12s`, with `(0:01:15)` after it for a long run.
    pub(super) fn parse(title: &str) -> Option<Self> {
        let (parts, time) = title.rsplit_once(" in ")?;
        let time = match time.split_once(" (") {
            Some((time, clock)) if clock.ends_with(')') => time,
            Some(_) => return None,
            None => time,
        };
        let milliseconds = Some(scan::parse_seconds(time.strip_suffix('s')?)?);
        let mut summary = Self { milliseconds, ..Self::default() };
        if parts == "no tests ran" {
            return Some(summary);
        }
        for part in parts.split(", ") {
            let (number, word) = scan::split_amount(part)?;
            let sum = match word {
                "passed" | "xpassed" => &mut summary.passed,
                "failed" | "error" | "errors" | "subtests failed" => &mut summary.failed,
                "skipped" | "xfailed" => &mut summary.skipped,
                "deselected" | "warning" | "warnings" | "rerun" | "subtests passed"
                | "subtests skipped" => continue,
                _ => return None,
            };
            *sum = sum.saturating_add(number);
        }
        Some(summary)
    }

    /// Returns the number of all tests.
    pub(super) fn total(self) -> u32 {
        self.passed.saturating_add(self.failed).saturating_add(self.skipped)
    }

    pub(super) fn add(&mut self, other: Self) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
        if let Some(more) = other.milliseconds {
            self.milliseconds = Some(self.milliseconds.unwrap_or(0).saturating_add(more));
        }
    }
}

/// Parses the number of tests that should run: `collected 5 items / 2 deselected / 3 selected`, `2 workers [5 items]`.
/// A module that is skipped as a whole counts as one more.
pub(super) fn parse_expected(line: &str) -> Option<u32> {
    if let Some((workers, items)) = line.split_once(" [") {
        let (_, word) = scan::split_amount(workers)?;
        let (number, what) = scan::split_amount(items.strip_suffix(']')?)?;
        let fits = matches!(word, "workers" | "worker") && matches!(what, "items" | "item");
        return fits.then_some(number);
    }
    let line = line.strip_prefix("collecting ... ").unwrap_or(line);
    let mut parts = line.strip_prefix("collected ")?.split(" / ");
    let (mut number, word) = scan::split_amount(parts.next()?)?;
    if !matches!(word, "items" | "item") {
        return None;
    }
    for part in parts {
        match scan::split_amount(part)? {
            (less, "deselected") => number = number.saturating_sub(less),
            (more, "skipped") => number = number.saturating_add(more),
            _ => {}
        }
    }
    Some(number)
}

/// Counts the progress letters of a line; None if it has other characters.
pub(super) fn count_progress_letters(line: &str) -> Option<u32> {
    let all = line.bytes().all(|byte| b".FEsxX".contains(&byte));
    if all { u32::try_from(line.len()).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_counts() {
        let line = "1 failed, 2 passed, 3 skipped, 4 deselected, 5 xfailed, 6 xpassed, 7 warnings, 8 errors in 75.30s (0:01:15)";
        let summary = PytestSummary::parse(line).unwrap();
        assert_eq!((summary.passed, summary.failed, summary.skipped), (8, 9, 8));
        assert_eq!(summary.milliseconds, Some(75_300));
        for line in ["5 tests collected in 0.02s", "5 passed", "in 1s", "5 passed in a second", ""]
        {
            assert_eq!(PytestSummary::parse(line), None, "{line}");
        }
    }

    #[test]
    fn collected_tests_are_counted() {
        assert_eq!(parse_expected("collected 5 items / 2 deselected / 3 selected"), Some(3));
        assert_eq!(parse_expected("collecting ... collected 1 item"), Some(1));
        assert_eq!(parse_expected("collected 0 items / 1 skipped"), Some(1));
        assert_eq!(parse_expected("2 workers [11 items]"), Some(11));
        assert_eq!(parse_expected("collected 5 coins"), None);
        assert_eq!(parse_expected("rootdir: /x"), None);
    }
}
