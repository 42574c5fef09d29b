//! The silent loop: a failure, what was tried, and what turned it green. Needs no word from the agent.
//!
//! An episode opens when a run fails in a way that no open one stands for, and it is about one failure: a run that fails in
//! three places opens three. It goes on while that failure, or that test, fails. A run that must have met it and does not
//! have it any more ends it, and the changes in between are what turned it green: unless there were none, or they took
//! the test away. Only what was fixed is ever told again.

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::project::ProjectKey;
use crate::run::Fault;
use crate::{Clean, Id, Time};
use rutter_redact::choice;
use rutter_runs::place::same_scope;
use rutter_runs::selection::{Failed, Selection};
use rutter_runs::signature;

mod attribution;
mod files;
mod shown;

pub use crate::quote::tokens;
pub(crate) use attribution::{GreenRun, attribute};
pub use files::{files_of, has_extension, is_same_file};
pub use shown::{Again, ShownFix, best_change, can_show};

/// Minimum length of a shortened error that still tells anything.
const MIN_SHORTENED_BYTES: usize = 12;

/// Maximum size of a kept fix.
pub const MAX_FIX_BYTES: usize = 4 * 1024;

choice! {
    /// How an episode ended.
    How, "ending of an episode" {
        /// Changes turned it green.
        Fixed = "fixed",
        /// It was green again without a change: no lesson.
        Flaky = "flaky",
        /// The test was taken away, renamed or told to be skipped: no lesson.
        Removed = "removed",
        /// The test goes on failing under another name, in an episode of that name.
        Renamed = "renamed",
        /// Nobody ran it again for a long time.
        Left = "left",
    }
}

/// One failure, from its first sight to the run that no longer has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Episode {
    /// Its identity.
    pub id: Id,
    /// The project.
    pub project: ProjectKey,
    /// In which checkout.
    pub root: Clean,
    /// The selection of the run that failed last.
    pub selection: Selection,
    /// The normalised shape of the failure.
    pub signature: Clean,
    /// The test, by the runner's name.
    pub test: Option<Clean>,
    /// The error, in one line.
    pub error: Clean,
    /// The package, crate or file around the test, where its name does not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Clean>,
    /// The file it points at.
    pub file: Option<Clean>,
    /// The code did not compile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_compile_error: bool,
    /// The run that failed first.
    pub first: Option<Id>,
    /// The run that failed last.
    pub last: Option<Id>,
    /// Number of failing runs.
    pub attempts: u32,
    /// Time of the first failure.
    pub opened: Time,
    /// Time of the last failure.
    pub seen: Time,
    /// Time of the first run that must have met it and did not have it any more, though other tests failed.
    pub gone: Option<Time>,
    /// Its ending.
    pub ending: Option<Ending>,
}

impl Episode {
    /// The same, followed no longer since it was last seen.
    pub(crate) fn left(mut self) -> Self {
        let at = self.seen;
        self.ending = Some(Ending { how: How::Left, at, outcome: None, fix: Vec::new() });
        self
    }

    /// Returns true if a failure is the one that this is about: of the same shape; or of the same test with the same words,
    /// where a text that was cut does not show more.
    pub fn is_about(&self, fault: &Fault) -> bool {
        if !same_scope(self.scope.as_deref(), fault.scope.as_deref()) || !self.is_in_file_of(fault)
        {
            return false;
        }
        let shape = fault.signature.as_deref();
        if shape.is_some_and(|shape| signature::alike(shape, &self.signature)) {
            return true;
        }
        self.is_of_test(fault) && same_words(&self.error, &fault.error)
    }

    /// Returns true if a failure is one of the same test.
    pub(crate) fn is_of_test(&self, fault: &Fault) -> bool {
        self.test.is_some()
            && self.test == fault.test
            && same_scope(self.scope.as_deref(), fault.scope.as_deref())
    }

    /// Returns true unless both are about no test, and about two files: a shape has only the name of its file.
    fn is_in_file_of(&self, fault: &Fault) -> bool {
        match (&self.file, &fault.file) {
            (Some(one), Some(other)) if self.test.is_none() => {
                let ends = |long: &str, short: &str| {
                    long.strip_suffix(short)
                        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
                };
                ends(one, other) || ends(other, one)
            }
            _ => true,
        }
    }

    /// The failure, as far as it matters for whether a run executed it.
    pub(crate) fn failed(&self) -> Failed<'_> {
        Failed {
            test: self.test.as_deref(),
            scope: self.scope.as_deref(),
            file: self.file.as_deref(),
            is_compile_error: self.is_compile_error,
        }
    }
}

/// Returns true if two errors say the same, numbers and the like aside. A runner may shorten one with dots.
fn same_words(one: &str, other: &str) -> bool {
    let (one, other) = (signature::masked(one), signature::masked(other));
    let shortened = |short: &str, long: &str| {
        let start =
            short.strip_suffix("...").or_else(|| short.strip_suffix('…')).map(str::trim_end);
        start.is_some_and(|start| start.len() >= MIN_SHORTENED_BYTES && long.starts_with(start))
    };
    one == other || shortened(&one, &other) || shortened(&other, &one)
}

/// How and when an episode ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// How.
    pub how: How,
    /// When.
    pub at: Time,
    /// The run that was green.
    pub outcome: Option<Id>,
    /// What turned it green, what matters most first; at most [`MAX_FIX_BYTES`] bytes together.
    pub fix: Vec<Change>,
}
