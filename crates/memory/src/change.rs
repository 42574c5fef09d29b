//! Changes as they are stored: a change of `rutter-runs` with its id, project and checkout.

use serde::{Deserialize, Serialize};

use crate::project::ProjectKey;
use crate::{Clean, Id};

pub use rutter_runs::change::*;

/// A change, stored for the episodes that are open in its checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredChange {
    /// Id of the row.
    pub id: Id,
    /// The project in which it was made.
    pub project: ProjectKey,
    /// The checkout in which it was made.
    pub root: Clean,
    /// The change.
    pub change: Change,
}
