//! The shape of groups, computed from their members.

use std::collections::{BTreeMap, BTreeSet};

use super::{ALWAYS_DETECT_CPU, Grouping};
use crate::embed::VectorComparer;

/// The shape of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupShape {
    /// Place of the most central member.
    pub medoid: usize,
    /// Average similarity of the members, from 0 to 1.
    pub cohesion: f32,
    /// Number of members.
    pub size: usize,
}

impl Grouping<'_> {
    /// Returns the shape of a group.
    pub fn shape(&self, number: u32) -> Option<GroupShape> {
        self.shapes(&BTreeSet::from([number])).remove(&number)
    }

    /// Returns the shapes of several groups.
    pub fn shapes(&self, numbers: &BTreeSet<u32>) -> BTreeMap<u32, GroupShape> {
        let mut found: BTreeMap<u32, (usize, f32, f32)> = BTreeMap::new();
        for at in self.members(|number| numbers.contains(&number)) {
            let Some((number, group)) =
                self.of[at].and_then(|number| Some((number, self.groups.get(&number)?)))
            else {
                continue;
            };
            let point = &self.points[at];
            let near = VectorComparer::new_for(&point.vector, ALWAYS_DETECT_CPU);
            let link = group.member_similarity(&near, point.weight);
            let (medoid, best, sum) = found.entry(number).or_insert((at, f32::NEG_INFINITY, 0.0));
            *sum += link;
            // The weight keeps abandoned lessons from being the medoid.
            if link * point.weight > *best {
                (*medoid, *best) = (at, link * point.weight);
            }
        }
        let shape = |(number, (medoid, _, sum)): (u32, (usize, f32, f32))| {
            let size = self.groups.get(&number)?.size;
            #[expect(clippy::cast_precision_loss, reason = "a count of members")]
            let cohesion = (sum / size.max(1) as f32).clamp(0.0, 1.0);
            Some((number, GroupShape { medoid, cohesion, size }))
        };
        found.into_iter().filter_map(shape).collect()
    }
}
