//! What many lessons have in common: groups of texts that are about the same, along each axis.
//!
//! Over the vectors that recall searches, without what all of them have in common. `docs/reference/clusters.md` has what this
//! was compared with, and why it is the way that it is. Nothing here knows a database; `store::clusters` keeps what comes
//! of it, and names.

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

/// Where texts point together, by how much each counts.
pub fn middle(points: &[Point]) -> Option<crate::embed::Vector> {
    Group::of(points).direction().copied()
}
