//! The silent loop: a failure, what was tried, and what turned it green. Needs no word from the agent.

use serde::{Deserialize, Serialize};

use crate::project::ProjectKey;
use crate::{Clean, Id, Time};

/// How much of what changed is kept.
pub const PATCH: usize = 2 * 1024;

/// One failure, from its first sight to the run that no longer has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Episode {
    /// Its identity.
    pub id: Id,
    /// Where it happened.
    pub project: ProjectKey,
    /// The normalised shape of the failure.
    pub signature: Clean,
    /// The run that failed first.
    pub first: Id,
    /// How many runs failed the same way.
    pub attempts: u32,
    /// What was changed before the run that was green, at most [`PATCH`] bytes.
    pub patches: Vec<Clean>,
    /// The run that was green.
    pub closed: Option<Id>,
    /// When it was first seen.
    pub opened: Time,
    /// How often it came back.
    pub returns: u32,
    /// When it was last seen.
    pub seen: Time,
}
