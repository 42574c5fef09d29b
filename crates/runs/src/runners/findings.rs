//! The output of linters and type checkers: a list of findings, each with a place and a rule, and often a summary line.
//!
//! Most of them print nothing on success. An empty output is not a summary, so by the text alone it is unknown.

use crate::Verdict;
use crate::report::{OutputReport, ReportedFailure};
use crate::scan::{self, CodePlace};

/// The findings of a checker so far.
#[derive(Default)]
pub(super) struct Findings {
    list: Vec<ReportedFailure>,
    /// True if a line reports success.
    pub(super) good: bool,
    /// True if a line reports failure.
    pub(super) bad: bool,
}

impl Findings {
    /// Adds a finding, unless the list is full.
    pub(super) fn add(&mut self, place: Option<CodePlace<'_>>, rule: Option<&str>, message: &str) {
        if self.list.len() < scan::MAX_FAILURES {
            let failure = ReportedFailure {
                error: rule.map(str::to_owned),
                message: Some(message.trim().to_owned()),
                ..ReportedFailure::default()
            };
            self.list.push(failure.with_place(place));
        }
    }

    /// Adds a finding, unless one of the last is equal: a header is compiled many times.
    pub(super) fn add_once(
        &mut self,
        place: Option<CodePlace<'_>>,
        rule: Option<&str>,
        message: &str,
    ) {
        let is_same = |other: &ReportedFailure| {
            other.message.as_deref() == Some(message.trim())
                && other.frame.as_deref() == place.map(|place| place.path)
                && other.line == place.and_then(|place| place.line)
        };
        if !self.list.iter().rev().take(64).any(is_same) {
            self.add(place, rule, message);
        }
    }

    /// Adds the findings and the reported result of another list.
    pub(super) fn append(&mut self, mut other: Self) {
        self.list.append(&mut other.list);
        self.bad |= other.bad;
        self.good |= other.good;
    }

    /// Returns true if the list is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn report(self) -> OutputReport {
        let verdict = if self.bad || !self.list.is_empty() {
            Verdict::Failed
        } else if self.good {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        OutputReport { verdict, failures: self.list, ..OutputReport::unknown() }
    }
}
