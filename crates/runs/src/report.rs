//! The result of reading the output of a run, the same for every runner.

use std::collections::HashMap;

use super::scan::CodePlace;
use super::{RunKind, TestCounts, Verdict};

/// Maximum number of passed tests that a report names.
pub const MAX_PASSED_TESTS: usize = 2000;

/// The reader for the output of a program that runs tests, builds, or checks.
#[derive(Debug)]
pub struct OutputReader {
    /// The program's name: `pytest`, `cargo test`.
    pub name: &'static str,
    /// Tests, a build or a check.
    pub kind: RunKind,
    /// Texts of which at least one is in every output that the reader understands; empty if any output may be. A line
    /// break in them also matches the start and the end of the output. A script may run anything, and it takes too long
    /// for a hook to let each reader read all of a long output.
    pub keywords: &'static [&'static str],
    /// True if it prints nothing on success. Then an empty output is a pass, if no output was hidden.
    pub silent_on_success: bool,
    /// Reads the output, which has no escape sequences, ends its lines in LF, and may be truncated anywhere.
    pub read: fn(&str) -> OutputReport,
}

impl OutputReader {
    /// Returns a reader for a program that reports its success.
    pub(super) const fn new(
        name: &'static str,
        kind: RunKind,
        keywords: &'static [&'static str],
        read: fn(&str) -> OutputReport,
    ) -> Self {
        Self { name, kind, keywords, silent_on_success: false, read }
    }

    /// Returns the reader for a program that prints nothing on success.
    pub(super) const fn silent_on_success(self) -> Self {
        Self { silent_on_success: true, ..self }
    }
}

/// The content of a run's output. If in doubt it is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputReport {
    /// The verdict, by the output alone. Passed only if a summary reports that and no other line contradicts it;
    /// unknown if the output was truncated before its summary.
    pub verdict: Verdict,
    /// Numbers of tests over all parts of the run.
    pub counts: Option<TestCounts>,
    /// The failures in the order of the output, each once.
    pub failures: Vec<ReportedFailure>,
    /// Tests that the output names as passed, in the order of the output, at most [`MAX_PASSED_TESTS`]. Most runners
    /// name them only in verbose mode.
    pub passed: Vec<PassedTest>,
    /// Duration that the runner prints, in milliseconds.
    pub duration: Option<u64>,
}

/// A failed test, or an error of a build or check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportedFailure {
    /// The runner's name for the test, as typed to run it alone; None for a build or a crash.
    pub test: Option<String>,
    /// The package, crate or file that the runner printed around the test, if the name does not contain it.
    pub scope: Option<String>,
    /// The kind of error: `AssertionError`, `E0308`, `TS2322`, `panicked`.
    pub error: Option<String>,
    /// First line of the message.
    pub message: Option<String>,
    /// The innermost place in the project's code: a file as printed, without line and column.
    pub frame: Option<String>,
    /// The line in that file.
    pub line: Option<u32>,
}

/// A test that the output names as passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedTest {
    /// The name, spelled as in [`ReportedFailure::test`].
    pub test: String,
    /// The package, crate or file, as in [`ReportedFailure::scope`].
    pub scope: Option<String>,
}

impl ReportedFailure {
    /// Sets the frame and the line.
    pub(super) fn set_place(&mut self, place: CodePlace<'_>) {
        self.frame = Some(place.path.to_owned());
        self.line = place.line;
    }

    /// Returns the failure with its frame and line set, if a place is given.
    pub(super) fn with_place(mut self, place: Option<CodePlace<'_>>) -> Self {
        if let Some(place) = place {
            self.set_place(place);
        }
        self
    }
}

/// Collects the names of passed tests, up to [`MAX_PASSED_TESTS`].
#[derive(Debug, Default)]
pub(super) struct PassedTests(Vec<PassedTest>);

impl PassedTests {
    /// Adds a test. `name` is called only if the list is not full.
    pub(super) fn add(&mut self, scope: Option<&str>, name: impl FnOnce() -> String) {
        if self.0.len() < MAX_PASSED_TESTS {
            self.0.push(PassedTest { test: name(), scope: scope.map(str::to_owned) });
        }
    }

    /// Returns the number of tests.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the list without the tests that also failed: those ran twice, or failed in a later phase.
    pub(super) fn without_failed(mut self, failures: &[ReportedFailure]) -> Vec<PassedTest> {
        let mut failed: HashMap<&str, Vec<Option<&str>>> = HashMap::new();
        for failure in failures {
            if let Some(test) = failure.test.as_deref() {
                failed.entry(test).or_default().push(failure.scope.as_deref());
            }
        }
        self.0.retain(|passed| {
            // An unknown scope may be any scope.
            let scope = passed.scope.as_deref();
            let scopes = failed.get(passed.test.as_str()).map(Vec::as_slice).unwrap_or_default();
            scopes.iter().all(|other| other.is_some() && scope.is_some() && *other != scope)
        });
        self.0
    }
}

impl OutputReport {
    /// Creates a report without a duration. Tests that also failed are removed from `passed`.
    pub(super) fn new(
        verdict: Verdict,
        counts: Option<TestCounts>,
        passed: PassedTests,
        failures: Vec<ReportedFailure>,
    ) -> Self {
        let passed = passed.without_failed(&failures);
        Self { verdict, counts, failures, passed, duration: None }
    }

    /// Returns true if the verdict is known.
    pub fn is_known(&self) -> bool {
        self.verdict != Verdict::Unknown || self.counts.is_some()
    }

    /// Returns an empty report with an unknown verdict.
    pub fn unknown() -> Self {
        Self {
            verdict: Verdict::Unknown,
            counts: None,
            failures: Vec::new(),
            passed: Vec::new(),
            duration: None,
        }
    }
}
