//! What a resolved GHAP leaves behind.

use serde::{Deserialize, Serialize};

use crate::ghap::Tier;
use crate::project::ProjectKey;
use crate::{Id, Time};

/// What was learnt, by reference: the words stay where they were written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experience {
    /// Its identity.
    pub id: Id,
    /// Where it was made.
    pub project: ProjectKey,
    /// The GHAP it comes from.
    pub ghap: Id,
    /// How well it is founded.
    pub tier: Tier,
    /// When it was made.
    pub created: Time,
}
