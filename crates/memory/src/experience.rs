//! Experiences: the lessons of resolved GHAPs.

use serde::{Deserialize, Serialize};

use crate::ghap::Tier;
use crate::project::ProjectKey;
use crate::{Id, Time};

/// A reference to the GHAP that contains the lesson; the text is stored only there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experience {
    /// Id of the row.
    pub id: Id,
    /// The project in which it was learnt.
    pub project: ProjectKey,
    /// The GHAP it comes from.
    pub ghap: Id,
    /// Quality of its evidence.
    pub tier: Tier,
    /// Time when it was learnt.
    pub created: Time,
}
