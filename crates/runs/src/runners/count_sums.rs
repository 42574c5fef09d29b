//! Sums over several runs of one command.

use crate::TestCounts;

/// Adds to a total. Saturates, because the numbers come from a text that may contain anything.
pub(super) fn add_counts(total: &mut TestCounts, more: TestCounts) {
    total.passed = total.passed.saturating_add(more.passed);
    total.failed = total.failed.saturating_add(more.failed);
    total.skipped = total.skipped.saturating_add(more.skipped);
}

/// Returns the sum of several counts.
pub(super) fn sum_counts(all: impl IntoIterator<Item = TestCounts>) -> TestCounts {
    let mut total = TestCounts::default();
    for counts in all {
        add_counts(&mut total, counts);
    }
    total
}

/// Returns the number of all tests.
pub(super) fn total_tests(counts: TestCounts) -> u32 {
    counts.passed.saturating_add(counts.failed).saturating_add(counts.skipped)
}

/// Adds a time to a total.
pub(super) fn add_duration(total: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *total = Some(total.unwrap_or(0).saturating_add(more));
    }
}
