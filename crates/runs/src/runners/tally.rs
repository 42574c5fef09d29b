//! Adding up what several runs of one command told.

use crate::Counts;

/// Adds to a total. No run has billions of tests, but a text may say so.
pub(super) fn add(total: &mut Counts, more: Counts) {
    total.passed = total.passed.saturating_add(more.passed);
    total.failed = total.failed.saturating_add(more.failed);
    total.skipped = total.skipped.saturating_add(more.skipped);
}

/// All of them.
pub(super) fn all(counts: Counts) -> u32 {
    counts.passed.saturating_add(counts.failed).saturating_add(counts.skipped)
}

/// Adds a time to those before.
pub(super) fn add_time(total: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *total = Some(total.unwrap_or(0).saturating_add(more));
    }
}
