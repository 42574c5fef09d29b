//! The tests of one module: a line per class, and the total.

use super::super::count_sums::add_counts;
use crate::TestCounts;
use crate::scan::split_number;

#[derive(Default)]
pub(super) struct SurefireModule<'a> {
    classes: TestCounts,
    /// The class of the last line.
    pub(super) class: Option<&'a str>,
    /// True if a class has failures.
    pub(super) failed: bool,
    results: bool,
    /// True with -q, which prints only classes with failures, and no headings.
    quiet: bool,
    pub(super) total: Option<TestCounts>,
}

impl<'a> SurefireModule<'a> {
    /// Returns a module without a printed heading.
    pub(super) fn new_quiet() -> Self {
        Self { quiet: true, results: true, ..Self::default() }
    }

    /// Marks that the total comes next.
    pub(super) fn expect_total(&mut self) {
        self.results = true;
    }

    /// Reads a line with numbers of tests: of a class if it has a time, else the total, which is trusted if it is the
    /// sum of the classes.
    pub(super) fn read_counts(&mut self, line: &'a str, counts: TestCounts) {
        if let Some((_, rest)) = line.split_once(", Time elapsed: ") {
            self.failed |= counts.failed > 0;
            self.class = rest.rsplit_once("in ").map(|(_, class)| class.trim());
            add_counts(&mut self.classes, counts);
        } else if self.results && self.adds_up(counts) {
            self.total = Some(counts);
        } else {
            // A test printed it.
            self.results = false;
        }
    }

    fn adds_up(&self, total: TestCounts) -> bool {
        total == self.classes || (self.quiet && self.failed && total.failed == self.classes.failed)
    }
}

/// Parses the numbers of `Tests run: 3, Failures: 1, Errors: 0, Skipped: 1`.
pub(super) fn parse_test_counts(line: &str) -> Option<TestCounts> {
    let (run, rest) = split_number(line.strip_prefix("Tests run: ")?)?;
    let (failures, rest) = split_number(rest.strip_prefix(", Failures: ")?)?;
    let (errors, rest) = split_number(rest.strip_prefix(", Errors: ")?)?;
    let (skipped, rest) = split_number(rest.strip_prefix(", Skipped: ")?)?;
    let failed = failures.checked_add(errors)?;
    let passed = run.checked_sub(failed)?.checked_sub(skipped)?;
    (rest.is_empty() || rest.starts_with(", ")).then_some(TestCounts { passed, failed, skipped })
}
