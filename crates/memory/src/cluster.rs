//! What many lessons have in common: groups of texts that are about the same, along each axis.
//!
//! Over the vectors that recall searches, without what all of them have in common. `docs/reference/clusters.md` has what this
//! was compared with, and why it is the way that it is. Nothing here knows a database; `store::clusters` keeps what comes
//! of it, and names.

mod common;
mod group;
mod grow;

pub use crate::search::document::Axis;
pub use common::Common;
pub(crate) use group::Group;
pub use group::Point;
pub(crate) use grow::Left;
pub use grow::{FEWEST, Grouping, Rule, Shape};

/// Where texts point together, by how much each counts.
pub fn middle(points: &[Point]) -> Option<crate::embed::Vector> {
    Group::of(points).direction().copied()
}

impl Rule {
    /// How near is near enough on an axis. Measured, on lessons of one half of the causes; the other half is what is reported.
    pub const fn of(axis: Axis) -> Self {
        match axis {
            // Long texts, of which a part is about something else: three have to be much alike to found anything.
            Axis::Full => Self { join: 0.18, found: 0.38, stay: 0.1, gain: 0.1, merge: 0.2 },
            Axis::Strategy => Self { join: 0.25, found: 0.45, stay: 0.17, gain: 0.1, merge: 0.28 },
            Axis::Surprise | Axis::RootCause => {
                Self { join: 0.22, found: 0.27, stay: 0.14, gain: 0.1, merge: 0.24 }
            }
        }
    }
}
