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
pub use common::{Common, lesson};
pub use group::Group;
pub use group::Point;
pub use grow::Left;
pub use grow::{FEWEST, Grouping, Shape};
pub use rule::Rule;

/// Returns the mean direction of weighted texts.
pub fn middle(points: &[Point]) -> Option<crate::embed::Vector> {
    Group::of(points).direction().copied()
}
