//! The outcome of one captured run, as it is stored.

use serde::{Deserialize, Serialize};

use crate::project::ProjectKey;
use crate::{Clean, Id, Time};
pub use rutter_runs::{Counts, Kind, Verdict};

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
