//! Clusters: groups of lessons about the same subject, along each axis.
//!
//! Works on the vectors that recall searches, minus the mean direction of all texts. `docs/measurements/clusters.md` has
//! the alternatives that this was compared with, and the reasons. This module does not touch the database;
//! `store::clusters` stores the groups and names them.

mod common;
mod group;
mod grow;
mod rule;

pub use crate::document::Axis;
pub use common::{MeanDirection, subtract_work};
pub use group::Group;
pub use group::TextPoint;
pub use grow::{GroupShape, Grouping, MIN_CLUSTER_SIZE};
pub use rule::GroupingRule;

/// Returns the mean direction of weighted texts.
pub fn mean_direction(points: &[TextPoint]) -> Option<crate::embed::Vector> {
    Group::from_members(points).direction().copied()
}
