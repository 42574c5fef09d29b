//! Linters and type checkers: a list of findings, each with a place and a rule, and perhaps a last line that sums up.
//!
//! Most of them say nothing when all is well. Silence is no summary, so that is unknown by the text alone.

use crate::runs::report::{Failure, Report};
use crate::runs::{Verdict, scan};

/// What a checker said so far.
#[derive(Default)]
pub(super) struct Findings {
    list: Vec<Failure>,
    /// It said that all is well.
    pub(super) good: bool,
    /// It said that something is not.
    pub(super) bad: bool,
}

impl Findings {
    pub(super) fn add(&mut self, path: Option<&str>, rule: Option<&str>, message: &str) {
        if self.list.len() == scan::MOST {
            return;
        }
        self.list.push(Failure {
            test: None,
            error: rule.map(str::to_owned),
            message: Some(message.trim().to_owned()),
            frame: path.map(str::to_owned),
            ..Failure::default()
        });
    }

    pub(super) fn report(self) -> Report {
        let verdict = if self.bad || !self.list.is_empty() {
            Verdict::Failed
        } else if self.good {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        Report { verdict, failures: self.list, ..Report::unknown() }
    }
}
