//! Grouping of texts, starting from their present groups.
//!
//! Average linkage. A text joins the group with the highest average similarity to its members, if that is high enough.
//! Three similar texts without a group found one. A member that no longer fits leaves. Groups that have become similar
//! are merged, and the larger one keeps its name. Without new texts nothing moves, so names last.
//!
//! A text is compared with the sums of groups, never with their members.

use std::collections::{BTreeMap, BTreeSet};

use super::group::{Group, TextPoint};
use super::rule::GroupingRule;
use crate::embed::VectorComparer;

mod shape;

pub use shape::GroupShape;

/// Minimum number of members of a group.
pub const MIN_CLUSTER_SIZE: usize = 3;
/// Maximum number of rounds per update. Texts that still move continue in the next update.
const MAX_ROUNDS: usize = 8;

/// Texts and their groups. Groups are identified by numbers.
#[derive(Debug)]
pub struct Grouping<'a> {
    rule: GroupingRule,
    points: &'a [TextPoint],
    of: Vec<Option<u32>>,
    groups: BTreeMap<u32, Group>,
    next: u32,
    /// Groups that lost or gained a member since they were last processed.
    touched: BTreeSet<u32>,
    /// Groups that changed.
    changed: BTreeSet<u32>,
    /// Merges as (from, into).
    merged: Vec<(u32, u32)>,
}

impl<'a> Grouping<'a> {
    /// Restores a grouping from the group number of each text.
    ///
    /// # Panics
    /// If `points` and `of` differ in length.
    pub fn new(rule: GroupingRule, points: &'a [TextPoint], of: Vec<Option<u32>>) -> Self {
        assert_eq!(points.len(), of.len(), "one for each");
        let mut members: BTreeMap<u32, Vec<&TextPoint>> = BTreeMap::new();
        for (point, group) in points.iter().zip(&of) {
            if let Some(group) = group {
                members.entry(*group).or_default().push(point);
            }
        }
        let groups: BTreeMap<u32, Group> = members
            .into_iter()
            .map(|(number, members)| (number, Group::from_members(members)))
            .collect();
        let small = groups.iter().filter(|(_, group)| group.size < MIN_CLUSTER_SIZE);
        Self {
            rule,
            points,
            of,
            next: groups.keys().next_back().map_or(0, |last| last + 1),
            touched: small.map(|(number, _)| *number).collect(),
            groups,
            changed: BTreeSet::new(),
            merged: Vec::new(),
        }
    }

    /// Reserves the numbers below `next` for groups that exist elsewhere, with or without a member here.
    #[must_use]
    pub fn numbered_from(mut self, next: u32) -> Self {
        self.next = self.next.max(next);
        self
    }

    /// Groups new texts, given by their places, and updates all groups that this affects.
    pub fn grow(&mut self, new: &[usize]) {
        let fresh: BTreeSet<usize> = new.iter().copied().collect();
        let loose = (0..self.of.len()).filter(|at| self.of[*at].is_none() && !fresh.contains(at));
        let mut loose: Vec<usize> = loose.collect();
        for &at in new {
            if let Some(before) = self.of[at] {
                // Its text changed, so its group has to check its members.
                self.mark_for_check(before);
                continue;
            }
            if !self.try_join(at) {
                self.found_group(at, &mut loose);
            }
        }
        for _ in 0..MAX_ROUNDS {
            let merged = self.merge();
            let moved = self.check_members(&mut loose);
            if !merged && !moved {
                break;
            }
        }
        self.dissolve(&mut loose);
    }

    /// Marks a group that gained, lost or exchanged a member: all its members are checked again.
    pub fn mark_for_check(&mut self, number: u32) {
        self.touched.insert(number);
        self.changed.insert(number);
    }

    /// Returns the group number of each text.
    pub fn group_numbers(&self) -> &[Option<u32>] {
        &self.of
    }

    /// Returns the merges as (from, into), in order.
    pub fn merged(&self) -> &[(u32, u32)] {
        &self.merged
    }

    /// Returns the groups that gained, lost or exchanged a member and still exist.
    pub fn changed(&self) -> impl Iterator<Item = u32> {
        self.changed.iter().copied().filter(|number| self.groups.contains_key(number))
    }

    /// Returns the number of members of every group.
    pub fn sizes(&self) -> impl Iterator<Item = (u32, usize)> {
        self.groups.iter().map(|(number, group)| (*number, group.size))
    }

    /// Returns the places of the members of some groups, in order.
    fn members(&self, of: impl Fn(u32) -> bool) -> Vec<usize> {
        (0..self.of.len()).filter(|at| self.of[*at].is_some_and(&of)).collect()
    }

    /// Returns the nearest group that a text may join.
    fn nearest_group(&self, near: &VectorComparer<'_>, but: Option<u32>) -> Option<(u32, f32)> {
        let mut best: Option<(u32, f32)> = None;
        for (number, group) in &self.groups {
            if Some(*number) == but {
                continue;
            }
            let link = group.similarity(near);
            if best.is_none_or(|(_, so_far)| link > so_far)
                && link >= self.rule.join_threshold(group)
            {
                best = Some((*number, link));
            }
        }
        best
    }

    /// Adds a text without a group to the nearest group. Returns false if no group is near enough.
    fn try_join(&mut self, at: usize) -> bool {
        let near = VectorComparer::new_for(&self.points[at].vector, ALWAYS_DETECT_CPU);
        match self.nearest_group(&near, None) {
            Some((number, _)) => {
                self.join_group(at, number);
                true
            }
            None => false,
        }
    }

    fn join_group(&mut self, at: usize, number: u32) {
        self.of[at] = Some(number);
        self.groups.entry(number).or_insert_with(Group::new).add_member(&self.points[at]);
        self.mark_for_check(number);
    }

    fn leave_group(&mut self, at: usize) {
        if let Some(number) = self.of[at].take() {
            if let Some(group) = self.groups.get_mut(&number) {
                group.remove_member(&self.points[at]);
            }
            self.mark_for_check(number);
        }
    }

    /// Founds a group from a text and others without a group, if enough of them are near. Otherwise the text stays
    /// loose.
    fn found_group(&mut self, at: usize, loose: &mut Vec<usize>) {
        let near = VectorComparer::new_for(&self.points[at].vector, ALWAYS_DETECT_CPU);
        let enough = self.rule.found_threshold(self.points.len());
        let mut beside: Vec<(f32, usize)> = loose
            .iter()
            .map(|other| {
                let vector = &self.points[*other].vector;
                (near.cosine_with(vector.as_bytes(), vector.scale()), *other)
            })
            .filter(|(link, _)| *link >= enough)
            .collect();
        if beside.len() + 1 >= MIN_CLUSTER_SIZE {
            beside.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
            let mut group = Group::from_members([&self.points[at]]);
            let mut members = vec![at];
            for (_, other) in beside {
                let near = VectorComparer::new_for(&self.points[other].vector, 1);
                if group.similarity(&near) >= enough {
                    group.add_member(&self.points[other]);
                    members.push(other);
                }
            }
            if members.len() >= MIN_CLUSTER_SIZE {
                loose.retain(|other| !members.contains(other));
                let number = self.next;
                self.next += 1;
                self.groups.insert(number, group);
                self.mark_for_check(number);
                for member in members {
                    self.of[member] = Some(number);
                }
                return;
            }
        }
        loose.push(at);
    }

    /// Merges groups that have become similar. The larger one remains; of two equally large ones, the older.
    fn merge(&mut self) -> bool {
        let mut any = false;
        loop {
            let mut best: Option<(f32, u32, u32)> = None;
            for number in &self.touched {
                let Some(group) = self.groups.get(number) else { continue };
                for (other, another) in self.groups.iter().filter(|(other, _)| *other != number) {
                    let link = group.group_similarity(another);
                    if best.is_none_or(|(so_far, ..)| link > so_far)
                        && link >= self.rule.merge_threshold(group, another)
                    {
                        best = Some((link, *number, *other));
                    }
                }
            }
            let Some((_, one, other)) = best else { return any };
            let (size, another) = (self.groups[&one].size, self.groups[&other].size);
            let (into, from) = match size.cmp(&another) {
                std::cmp::Ordering::Greater => (one, other),
                std::cmp::Ordering::Less => (other, one),
                std::cmp::Ordering::Equal => (one.min(other), one.max(other)),
            };
            if let Some(gone) = self.groups.remove(&from)
                && let Some(group) = self.groups.get_mut(&into)
            {
                group.absorb(&gone);
            }
            for number in self.of.iter_mut().filter(|number| **number == Some(from)) {
                *number = Some(into);
            }
            self.touched.remove(&from);
            self.mark_for_check(into);
            self.merged.push((from, into));
            any = true;
        }
    }

    /// Checks the members of groups that changed, and all texts without a group. Returns true if a text moved.
    fn check_members(&mut self, loose: &mut Vec<usize>) -> bool {
        let touched = std::mem::take(&mut self.touched);
        if touched.is_empty() {
            return false;
        }
        let mut moved = false;
        for at in self.members(|number| touched.contains(&number)) {
            let Some(own) = self.of[at] else { continue };
            let point = &self.points[at];
            let near = VectorComparer::new_for(&point.vector, ALWAYS_DETECT_CPU);
            let link = self.groups[&own].member_similarity(&near, point.weight);
            let other = self.nearest_group(&near, Some(own));
            match other {
                Some((number, better)) if better > link + self.rule.gain => {
                    self.leave_group(at);
                    self.join_group(at, number);
                    moved = true;
                }
                _ if link < self.rule.stay_threshold(&self.groups[&own]) => {
                    self.leave_group(at);
                    loose.push(at);
                    moved = true;
                }
                _ => {}
            }
        }
        self.dissolve(loose);
        for at in std::mem::take(loose) {
            if self.try_join(at) {
                moved = true;
            } else {
                loose.push(at);
            }
        }
        moved
    }

    /// Dissolves groups that have become too small.
    fn dissolve(&mut self, loose: &mut Vec<usize>) {
        let small: BTreeSet<u32> = self
            .groups
            .iter()
            .filter(|(_, group)| group.size < MIN_CLUSTER_SIZE)
            .map(|(number, _)| *number)
            .collect();
        if !small.is_empty() {
            let let_go = self.members(|number| small.contains(&number));
            for &at in &let_go {
                self.of[at] = None;
            }
            loose.extend(let_go);
            self.groups.retain(|number, _| !small.contains(number));
        }
    }
}

/// Number of comparisons that always justifies CPU detection.
const ALWAYS_DETECT_CPU: usize = usize::MAX;
