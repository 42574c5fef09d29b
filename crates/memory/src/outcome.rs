//! What a run of tests or a build really said.

use serde::{Deserialize, Serialize};

use crate::choice::choice;
use crate::project::ProjectKey;
use crate::{Clean, Id, Time};

pub mod call;
#[cfg(test)]
mod cases;
pub(crate) mod line;
mod persisted;
pub mod read;
pub mod report;
pub mod run;
pub mod runners;
mod scan;
pub mod script;
pub mod selection;
pub mod signature;
mod tells;
pub mod text;

choice! {
    /// What was run.
    Kind, "kind of run" {
        /// Tests.
        Test = "test",
        /// A build.
        Build = "build",
        /// A linter.
        Lint = "lint",
        /// A type checker.
        Typecheck = "typecheck",
    }
}

choice! {
    /// How a run went. On doubt it is unknown, never passed.
    Verdict, "verdict" {
        /// Everything that ran was fine.
        Passed = "passed",
        /// Something was not.
        Failed = "failed",
        /// Nobody can say.
        Unknown = "unknown",
    }
}

/// How many tests went which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Were fine.
    pub passed: u32,
    /// Were not, errors included.
    pub failed: u32,
    /// Did not run.
    pub skipped: u32,
}

/// One captured run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Its identity.
    pub id: Id,
    /// Where it ran.
    pub project: ProjectKey,
    /// In which session, by the client's name for it.
    pub session: Option<Clean>,
    /// For which agent; none is the main one.
    pub agent: Option<Clean>,
    /// The command line.
    pub command: Clean,
    /// What was run.
    pub kind: Kind,
    /// With what: `pytest`, `cargo test`, …
    pub runner: Clean,
    /// How it went.
    pub verdict: Verdict,
    /// How many, where the run said so.
    pub counts: Option<Counts>,
    /// What failed, by the runner's names.
    pub failing: Vec<Clean>,
    /// The normalised shape of the failure.
    pub signature: Option<Clean>,
    /// The exit status, where it was not hidden.
    pub exit: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration: Option<u64>,
    /// When it ended.
    pub at: Time,
}
