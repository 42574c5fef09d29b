//! What the output of a run says, whatever the runner.

use super::{Counts, Kind, Verdict};

/// A program that runs tests, builds, or checks, and how to read what it prints.
#[derive(Debug)]
pub struct Runner {
    /// What people call it: `pytest`, `cargo test`.
    pub name: &'static str,
    /// What it runs.
    pub kind: Kind,
    /// A text in which none of these stands says nothing to it; where there are none, any text may. A line break in
    /// them stands for the ends of the text as well. A script may run anything, and to have each reader look at all of
    /// a long text takes too long for a hook.
    pub tells: &'static [&'static str],
    /// Reads its output: escape sequences are gone, lines end in LF, and it may be cut off anywhere.
    pub read: fn(&str) -> Report,
}

/// What the text of a run says. On doubt it says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How it went, by the text alone. Passed only where a summary says so and nothing else says otherwise; a text that
    /// was cut off before its summary is unknown.
    pub verdict: Verdict,
    /// How many, over all parts of the run.
    pub counts: Option<Counts>,
    /// What failed, in the order of the output, each once.
    pub failures: Vec<Failure>,
    /// How long it says it took, in milliseconds.
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
    /// What it says, first line.
    pub message: Option<String>,
    /// The innermost place in the project's own code: a file as printed, without line and column.
    pub frame: Option<String>,
    /// The line in that file.
    pub line: Option<u32>,
}

impl Report {
    /// Whether it says anything.
    pub fn is_known(&self) -> bool {
        self.verdict != Verdict::Unknown || self.counts.is_some()
    }

    /// Nothing is known.
    pub fn unknown() -> Self {
        Self { verdict: Verdict::Unknown, counts: None, failures: Vec::new(), duration: None }
    }
}
