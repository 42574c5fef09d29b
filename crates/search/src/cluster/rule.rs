//! Similarity thresholds for groups, on each axis.

use super::Axis;
use super::group::Group;

/// Similarity thresholds. The threshold to leave a group is lower than the one to join, and a move must bring a gain;
/// otherwise a text between two groups would change sides with each new text.
///
/// Two kinds of groups require more than the minimum: a tight group requires a share of its members' similarity,
/// because three texts that say the same would otherwise accept an unrelated one; a small group has few members to
/// compare with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupingRule {
    /// Minimum average similarity of a text to the members to join.
    pub join: f32,
    /// Minimum average similarity of texts that found a group.
    pub found: f32,
    /// Addition to `found` while there are few texts.
    pub few: f32,
    /// A member leaves if its similarity is below this share of the threshold to join.
    pub stay: f32,
    /// Minimum gain in similarity of a member that moves to another group.
    pub gain: f32,
    /// Minimum average similarity between the members of two groups that are merged.
    pub merge: f32,
    /// Minimum similarity of a new member, as a share of the group's cohesion.
    pub tight: f32,
    /// Addition to the threshold to join, divided by the size of the group.
    pub small: f32,
}

/// Number of texts from which `few` no longer applies.
const MANY_TEXTS: f32 = 60.0;

impl GroupingRule {
    /// Returns the thresholds of an axis. Measured on the lessons of one half of the causes; the reports use the other
    /// half.
    pub const fn for_axis(axis: Axis) -> Self {
        let rule = Self {
            join: 0.24,
            found: 0.24,
            few: 0.08,
            stay: 0.6,
            gain: 0.1,
            merge: 0.34,
            tight: 0.4,
            small: 0.3,
        };
        match axis {
            Axis::Full => Self { join: 0.21, found: 0.25, merge: 0.26, ..rule },
            // Descriptions of the work use much the same words each time, so matches are clear.
            Axis::Strategy => Self { join: 0.25, found: 0.45, few: 0.0, merge: 0.28, ..rule },
            Axis::Surprise => rule,
            Axis::RootCause => Self { join: 0.26, found: 0.28, ..rule },
        }
    }

    /// Returns the minimum average similarity of a text to the members of a group to join it.
    pub fn join_threshold(&self, group: &Group) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a count of members")]
        let size = group.size.max(1) as f32;
        self.join.max(self.tight * group.cohesion()) + self.small / size
    }

    /// Returns the minimum similarity of a member to stay.
    pub fn stay_threshold(&self, group: &Group) -> f32 {
        self.stay * self.join_threshold(group)
    }

    /// Returns the minimum similarity of texts to found a group, among `texts` texts.
    pub fn found_threshold(&self, texts: usize) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a count of texts")]
        let texts = texts as f32;
        self.found + self.few * (1.0 - texts / MANY_TEXTS).max(0.0)
    }

    /// Returns the minimum average similarity between the members of two groups to merge the groups.
    pub fn merge_threshold(&self, one: &Group, other: &Group) -> f32 {
        self.merge.max(self.tight * one.cohesion().min(other.cohesion()))
    }
}
