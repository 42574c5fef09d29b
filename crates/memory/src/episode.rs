//! Episodes: a failure, the attempts to fix it, and the change that did. They need no cooperation from the agent.
//!
//! An episode opens when a run fails with a failure that no open episode covers. Each is about one failure: a run that
//! fails in three places opens three. It stays open while that failure, or that test, fails. It ends with a run that
//! must have executed the test and does not have the failure any more; the changes in between are the fix, unless there
//! were none, or they removed the test. Only fixed episodes are ever shown.

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::project::ProjectKey;
use crate::run::RunFault;
use crate::{Clean, Id, Time};
use rutter_redact::choice;
use rutter_runs::place::same_scope;
use rutter_runs::selection::{FailedTest, TestSelection};
use rutter_runs::signature;

mod attribution;
pub mod error_words;
mod files;
mod guarded;
mod shown;

pub use crate::quote::estimate_tokens;
pub(crate) use attribution::{GreenRun, attribute_fix};
pub use files::{files_of_episode, has_extension, is_same_file};
pub(crate) use guarded::guarded_hunks;
pub use shown::{RecurrenceKind, ShownFix, best_change, can_show};

/// Minimum length of a shortened error that is still meaningful.
const MIN_SHORTENED_BYTES: usize = 12;

/// Maximum size of a stored fix.
pub const MAX_FIX_BYTES: usize = 4 * 1024;

choice! {
    /// The way an episode ended.
    EpisodeEndingKind, "ending of an episode" {
        /// Changes fixed it.
        Fixed = "fixed",
        /// The test passed again without a change: no lesson.
        Flaky = "flaky",
        /// The test was removed, renamed or skipped: no lesson.
        Removed = "removed",
        /// The test still fails under another name, in an episode of that name.
        Renamed = "renamed",
        /// The test was not run again for a long time.
        Left = "left",
    }
}

/// A failure, from its first occurrence to the run that no longer has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Episode {
    /// Id of the row.
    pub id: Id,
    /// The project.
    pub project: ProjectKey,
    /// The checkout in which it failed.
    pub root: Clean,
    /// The selection of the run that failed last.
    pub selection: TestSelection,
    /// The normalised shape of the failure.
    pub signature: Clean,
    /// The test, by the runner's name.
    pub test: Option<Clean>,
    /// The error, in one line.
    pub error: Clean,
    /// The package, crate or file around the test, if its name does not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Clean>,
    /// The file in which it failed.
    pub file: Option<Clean>,
    /// True if the code did not compile.
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
    /// Time of the first run that must have executed the test and did not have the failure any more, though other tests
    /// failed.
    pub gone: Option<Time>,
    /// The end of the episode, once it has ended.
    pub ending: Option<EpisodeEnding>,
}

impl Episode {
    /// Ends the episode as left, at the time of its last failure.
    pub(crate) fn end_as_left(mut self) -> Self {
        let at = self.seen;
        self.ending = Some(EpisodeEnding {
            how: EpisodeEndingKind::Left,
            at,
            outcome: None,
            fix: Vec::new(),
        });
        self
    }

    /// Returns true if a failure is the one of this episode: it has the same shape, or it is of the same test with the
    /// same error text, allowing for a shortened text.
    pub fn is_about(&self, fault: &RunFault) -> bool {
        if !same_scope(self.scope.as_deref(), fault.scope.as_deref()) || !self.is_in_file_of(fault)
        {
            return false;
        }
        let shape = fault.signature.as_deref();
        if shape.is_some_and(|shape| signature::is_same_failure(shape, &self.signature)) {
            return true;
        }
        self.is_of_test(fault) && is_same_error(&self.error, &fault.error)
    }

    /// Returns true if a failure is of the same test.
    pub(crate) fn is_of_test(&self, fault: &RunFault) -> bool {
        self.test.is_some()
            && self.test == fault.test
            && same_scope(self.scope.as_deref(), fault.scope.as_deref())
    }

    /// Returns false if both are about no test, and about two different files: a shape contains only the name of its
    /// file.
    fn is_in_file_of(&self, fault: &RunFault) -> bool {
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

    /// Returns the parts of the failure that decide if a run executed it.
    pub(crate) fn failed_test(&self) -> FailedTest<'_> {
        FailedTest {
            test: self.test.as_deref(),
            scope: self.scope.as_deref(),
            file: self.file.as_deref(),
            is_compile_error: self.is_compile_error,
        }
    }
}

/// Returns true if two errors are equal except for numbers and the like. A runner may shorten one with dots.
fn is_same_error(one: &str, other: &str) -> bool {
    let (one, other) = (signature::mask_message(one), signature::mask_message(other));
    let shortened = |short: &str, long: &str| {
        let start =
            short.strip_suffix("...").or_else(|| short.strip_suffix('…')).map(str::trim_end);
        start.is_some_and(|start| start.len() >= MIN_SHORTENED_BYTES && long.starts_with(start))
    };
    one == other || shortened(&one, &other) || shortened(&other, &one)
}

/// The end of an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeEnding {
    /// The way it ended.
    pub how: EpisodeEndingKind,
    /// Time of the end.
    pub at: Time,
    /// The run that passed.
    pub outcome: Option<Id>,
    /// The changes that fixed it, the most important first; at most [`MAX_FIX_BYTES`] bytes together.
    pub fix: Vec<Change>,
}
