//! How near is near enough, on each axis.

use super::Axis;
use super::group::Group;

/// How near is near enough. What leaves has to be farther away than what joins has to be near, and what moves must gain by it:
/// otherwise whatever stands between two groups would change sides with each text that comes.
///
/// A group asks for more than the least where that can be asked: a tight one for a part of what its members have in common, since
/// three that say the same would else take in a stranger; a small one because a few members are little to be near to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// A text joins that is at least so near to the members on average.
    pub join: f32,
    /// Texts found a group that are so near to each other on average.
    pub found: f32,
    /// While there are few texts, those that found a group have to be so much nearer.
    pub few: f32,
    /// A member leaves that is no longer as near as this part of what it would take to join.
    pub stay: f32,
    /// A member moves that gains so much.
    pub gain: f32,
    /// Groups are one whose members are at least so near on average.
    pub merge: f32,
    /// Whoever joins is as near to the members as this part of what they are to each other.
    pub tight: f32,
    /// What a group asks for besides, divided by its size.
    pub small: f32,
}

/// From so many texts on there are not few.
const MANY: f32 = 60.0;

impl Rule {
    /// What holds on an axis. Measured, on lessons of one half of the causes; the other half is what is reported.
    pub const fn of(axis: Axis) -> Self {
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
            // What the work was about is said in much the same words each time, and then there is no doubt.
            Axis::Strategy => Self { join: 0.25, found: 0.45, few: 0.0, merge: 0.28, ..rule },
            Axis::Surprise => rule,
            Axis::RootCause => Self { join: 0.26, found: 0.28, ..rule },
        }
    }

    /// How near a text has to be to the members of a group on average to join it.
    pub fn joins(&self, group: &Group) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a count of members")]
        let size = group.size.max(1) as f32;
        self.join.max(self.tight * group.cohesion()) + self.small / size
    }

    /// How near a member has to be to stay.
    pub fn stays(&self, group: &Group) -> f32 {
        self.stay * self.joins(group)
    }

    /// How near texts have to be to each other to found a group, where there are so many of them.
    pub fn founds(&self, texts: usize) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a count of texts")]
        let texts = texts as f32;
        self.found + self.few * (1.0 - texts / MANY).max(0.0)
    }

    /// How near the members of two groups have to be to each other for the groups to be one.
    pub fn merges(&self, one: &Group, other: &Group) -> f32 {
        self.merge.max(self.tight * one.cohesion().min(other.cohesion()))
    }
}
