//! What many experiences say together.

use serde::{Deserialize, Serialize};

use crate::choice::choice;
use crate::project::ProjectKey;
use crate::{Clean, Id, Time};

choice! {
    /// The side of an experience that it is compared by.
    Axis, "axis" {
        /// All of it.
        Full = "full",
        /// How it was gone about.
        Strategy = "strategy",
        /// What was not expected.
        Surprise = "surprise",
        /// Why it came otherwise.
        RootCause = "root-cause",
    }
}

/// A sentence to work by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// Its identity.
    pub id: Id,
    /// Where it holds; none is everywhere.
    pub project: Option<ProjectKey>,
    /// What it says.
    pub text: Clean,
    /// What its experiences have in common.
    pub axis: Axis,
    /// Which of the groups along that axis it stands for.
    pub cluster: Clean,
    /// How many experiences are behind it.
    pub support: u32,
    /// How near it is to their middle, from 0 to 1.
    pub validation: f64,
    /// When it was formed.
    pub created: Time,
}
