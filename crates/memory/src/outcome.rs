//! The stored outcome of a captured run.

use serde::{Deserialize, Serialize};

use crate::project::ProjectKey;
use crate::{Clean, Id, Time};
pub use rutter_runs::{RunKind, TestCounts, Verdict};

/// A captured run of tests, a build or a linter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Id of the row.
    pub id: Id,
    /// The project in which it ran.
    pub project: ProjectKey,
    /// The client's name for the session.
    pub session: Option<Clean>,
    /// The agent that ran it; None for the main agent.
    pub agent: Option<Clean>,
    /// The command line.
    pub command: Clean,
    /// The kind of run.
    pub kind: RunKind,
    /// The runner: `pytest`, `cargo test`, …
    pub runner: Clean,
    /// The result.
    pub verdict: Verdict,
    /// Numbers of tests, if the output contains them.
    pub counts: Option<TestCounts>,
    /// The failing tests, by the runner's names.
    pub failing: Vec<Clean>,
    /// The normalised shape of the failure.
    pub signature: Option<Clean>,
    /// The exit status, if it was not hidden.
    pub exit: Option<i32>,
    /// Duration in milliseconds.
    pub duration: Option<u64>,
    /// Time when it ended.
    pub at: Time,
}
