//! The silent loop: a failure, what was tried, and what turned it green. Needs no word from the agent.
//!
//! An episode opens when a run fails in a way that no open one stands for, and it is about one failure: a run that fails in
//! three places opens three. It goes on while that failure, or that test, fails. A run that must have met it and does not
//! have it any more ends it, and the changes in between are what turned it green: unless there were none, or they took
//! the test away. Only what was fixed is ever told again.

use serde::{Deserialize, Serialize};

use crate::change::{self, Change};
use crate::choice::choice;
use crate::project::ProjectKey;
use crate::runs::run::Fault;
use crate::runs::selection::Selection;
use crate::runs::signature;
use crate::{Clean, Id, Time};

mod judge;
mod said;

pub use crate::quote::tokens;
pub(crate) use judge::{judge, own_name};
pub use said::{Again, said};

/// What is left of a shortened error must be so long to say anything.
const SHORTEST: usize = 12;

/// How much of what changed is kept.
pub const PATCH: usize = change::SIZE;

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
    /// Where it happened.
    pub project: ProjectKey,
    /// In which checkout.
    pub root: Clean,
    /// What was run, when it last failed.
    pub selection: Selection,
    /// The normalised shape of the failure.
    pub signature: Clean,
    /// The test, by the runner's name.
    pub test: Option<Clean>,
    /// What it said, in one line.
    pub error: Clean,
    /// The file it points at.
    pub file: Option<Clean>,
    /// The run that failed first.
    pub first: Option<Id>,
    /// The run that failed last.
    pub last: Option<Id>,
    /// How many runs failed.
    pub attempts: u32,
    /// When it was first seen.
    pub opened: Time,
    /// When it was last seen.
    pub seen: Time,
    /// When a run that must have met it first did not have it any more, though other things failed.
    pub gone: Option<Time>,
    /// How it ended.
    pub ending: Option<Ending>,
}

impl Episode {
    /// The same, followed no longer since it was last seen.
    pub(crate) fn left(mut self) -> Self {
        let at = self.seen;
        self.ending = Some(Ending { how: How::Left, at, outcome: None, fix: Vec::new() });
        self
    }

    /// Whether a failure is the one this is about: the same shape; or the same test with the same words, where a text that
    /// was trimmed does not show more.
    pub(crate) fn is_about(&self, fault: &Fault) -> bool {
        let shape = fault.signature.as_deref();
        if shape.is_some_and(|shape| signature::alike(shape, &self.signature)) {
            return true;
        }
        self.test.is_some() && self.test == fault.test && same_words(&self.error, &fault.error)
    }
}

/// Whether two errors say the same, numbers and the like aside. A runner may shorten one with dots.
fn same_words(one: &str, other: &str) -> bool {
    let (one, other) = (signature::masked(one), signature::masked(other));
    let shortened = |short: &str, long: &str| {
        let start =
            short.strip_suffix("...").or_else(|| short.strip_suffix('…')).map(str::trim_end);
        start.is_some_and(|start| start.len() >= SHORTEST && long.starts_with(start))
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
    /// What turned it green, what matters most first; at most [`PATCH`] bytes together.
    pub fix: Vec<Change>,
}
