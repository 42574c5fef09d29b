//! The result of reading the output of a run, the same for every runner.

use std::collections::HashMap;

use super::scan::Place;
use super::{Counts, Kind, Verdict};

/// The number of passed tests that a report names at most.
pub const MAX_PASSED_TESTS: usize = 2000;

/// A program that runs tests, builds, or checks, and how to read what it prints.
#[derive(Debug)]
pub struct Runner {
    /// Its name: `pytest`, `cargo test`.
    pub name: &'static str,
    /// Tests, a build or a check.
    pub kind: Kind,
    /// A text in which none of these stands says nothing to it; where there are none, any text may. A line break in
    /// them stands for the ends of the text as well. A script may run anything, and to have each reader look at all of
    /// a long text takes too long for a hook.
    pub tells: &'static [&'static str],
    /// Prints nothing when all is well, so an empty output is a pass if nothing of it was hidden.
    pub silent_on_success: bool,
    /// Reads its output: escape sequences are gone, lines end in LF, and it may be cut off anywhere.
    pub read: fn(&str) -> Report,
}

/// The content of a run's text. On doubt it is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The verdict, by the text alone. Passed only where a summary says so and nothing else says otherwise; a text that
    /// was cut off before its summary is unknown.
    pub verdict: Verdict,
    /// Numbers of tests over all parts of the run.
    pub counts: Option<Counts>,
    /// The failures in the order of the output, each once.
    pub failures: Vec<Failure>,
    /// Tests that the output names as passed, in the order of the output, at most [`MAX_PASSED_TESTS`]. Most runners
    /// name them only when asked for more output.
    pub passed: Vec<PassedTest>,
    /// Duration that the runner prints, in milliseconds.
    pub duration: Option<u64>,
}

/// One thing that failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// The runner's own name for the test, as one would type it to run it alone; none for a build or a crash.
    pub test: Option<String>,
    /// The package, crate or file that the runner printed around the test, where the name does not contain it.
    pub scope: Option<String>,
    /// The kind of error: `AssertionError`, `E0308`, `TS2322`, `panicked`.
    pub error: Option<String>,
    /// First line of the message.
    pub message: Option<String>,
    /// The innermost place in the project's own code: a file as printed, without line and column.
    pub frame: Option<String>,
    /// The line in that file.
    pub line: Option<u32>,
}

/// A test that the output names as passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedTest {
    /// The name, spelled as in [`Failure::test`].
    pub test: String,
    /// The package, crate or file, as in [`Failure::scope`].
    pub scope: Option<String>,
}

impl Failure {
    /// Sets the frame and the line.
    pub(super) fn set_place(&mut self, place: Place<'_>) {
        self.frame = Some(place.path.to_owned());
        self.line = place.line;
    }

    /// Returns the failure with its frame and line set, if there is a place.
    pub(super) fn at(mut self, place: Option<Place<'_>>) -> Self {
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
    /// Adds a test. `name` runs only if the list is not full.
    pub(super) fn add(&mut self, scope: Option<&str>, name: impl FnOnce() -> String) {
        if self.0.len() < MAX_PASSED_TESTS {
            self.0.push(PassedTest { test: name(), scope: scope.map(str::to_owned) });
        }
    }

    /// Returns the number of tests.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the list without the tests that also failed: those were run twice, or failed in a later phase.
    pub(super) fn without(mut self, failures: &[Failure]) -> Vec<PassedTest> {
        let mut failed: HashMap<&str, Vec<Option<&str>>> = HashMap::new();
        for failure in failures {
            if let Some(test) = failure.test.as_deref() {
                failed.entry(test).or_default().push(failure.scope.as_deref());
            }
        }
        self.0.retain(|passed| {
            // A scope that is not known may be any.
            let scope = passed.scope.as_deref();
            let scopes = failed.get(passed.test.as_str()).map(Vec::as_slice).unwrap_or_default();
            scopes.iter().all(|other| other.is_some() && scope.is_some() && *other != scope)
        });
        self.0
    }
}

impl Report {
    /// Returns true if the verdict is known.
    pub fn is_known(&self) -> bool {
        self.verdict != Verdict::Unknown || self.counts.is_some()
    }

    /// Nothing is known.
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
