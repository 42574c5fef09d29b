//! Incremental grouping of texts.
//!
//! Average linkage, updated instead of recomputed. A text joins the group with the highest average similarity to its
//! members, if that is high enough. Three similar texts without a group found one. A member that no longer fits leaves.
//! Groups that have become similar are merged, and the larger one keeps its name. Without new texts nothing moves, so
//! names last.
//!
//! The cost depends on the number of new texts. A text is compared with the sums of groups, never with their members.
//! Members are checked again only after enough of them came or went to matter, so each new text costs a few dozen
//! comparisons at most, however large the groups are. Until then the members need not be read.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use super::group::{Group, TextPoint};
use super::rule::GroupingRule;
use crate::embed::VectorComparer;

mod shape;
#[cfg(test)]
mod tests;

pub use shape::GroupShape;

/// Minimum number of members of a group.
pub const MIN_CLUSTER_SIZE: usize = 3;
/// Maximum number of rounds per update. Texts that still move continue in the next update.
const MAX_ROUNDS: usize = 8;
/// Members are checked again once one in this many came or went. By then the group's mean has moved by .04 at most, and
/// mostly by half of that, which is less than the distance between the thresholds to join and to leave.
const MEMBER_CHECK_DIVISOR: usize = 50;

/// The saved state of a group: the sum of its members, and the number that came or went since they were checked.
#[derive(Debug, Clone)]
pub struct GroupState {
    pub group: Group,
    pub unrest: usize,
}

/// Texts and their groups. Groups are identified by numbers.
#[derive(Debug)]
pub struct Grouping<'a> {
    rule: GroupingRule,
    points: Cow<'a, [TextPoint]>,
    /// Rank of each text, which decides the order in which members of several groups are checked. It does not depend on
    /// when a text is read.
    order: Vec<i64>,
    of: Vec<Option<u32>>,
    groups: BTreeMap<u32, Group>,
    next: u32,
    /// Groups that lost or gained a member since they were last processed.
    touched: BTreeSet<u32>,
    /// Number of members that came or went since the members of a group were checked.
    unrest: BTreeMap<u32, usize>,
    /// Groups with members that were not read, each with the stored groups that were merged into it.
    unread: BTreeMap<u32, Vec<u32>>,
    /// Groups that changed.
    changed: BTreeSet<u32>,
    /// Groups with members that were checked.
    asked: BTreeSet<u32>,
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
        let left = members.into_iter().map(|(number, members)| {
            (number, GroupState { group: Group::from_members(members), unrest: 0 })
        });
        let mut grouping = Self::restore(rule, left);
        grouping.order = (0..).take(points.len()).collect();
        grouping.points = Cow::Borrowed(points);
        grouping.of = of;
        grouping
    }

    /// Restores groups without reading their members. Texts without a group still have to be [added](Self::add).
    pub fn from_states(rule: GroupingRule, left: BTreeMap<u32, GroupState>) -> Self {
        let unread = left.keys().map(|number| (*number, vec![*number])).collect();
        Self { unread, ..Self::restore(rule, left) }
    }

    fn restore(rule: GroupingRule, left: impl IntoIterator<Item = (u32, GroupState)>) -> Self {
        let mut grouping = Self {
            rule,
            points: Cow::Borrowed(&[]),
            order: Vec::new(),
            of: Vec::new(),
            groups: BTreeMap::new(),
            next: 0,
            touched: BTreeSet::new(),
            unrest: BTreeMap::new(),
            unread: BTreeMap::new(),
            changed: BTreeSet::new(),
            asked: BTreeSet::new(),
            merged: Vec::new(),
        };
        for (number, GroupState { group, unrest }) in left {
            grouping.next = grouping.next.max(number + 1);
            grouping.unrest.insert(number, unrest);
            if group.size < MIN_CLUSTER_SIZE {
                grouping.touched.insert(number);
            }
            grouping.groups.insert(number, group);
        }
        grouping
    }

    /// Returns the number of members that came or went since the members of each group were checked, for the next
    /// update.
    pub fn unrest(&self) -> &BTreeMap<u32, usize> {
        &self.unrest
    }

    /// Restores the numbers that [`unrest`](Self::unrest) returned.
    #[must_use]
    pub fn with_unrest(mut self, unrest: &BTreeMap<u32, usize>) -> Self {
        for (number, own) in &mut self.unrest {
            *own = unrest.get(number).copied().unwrap_or_default();
        }
        self
    }

    /// Adds a text with its rank among all texts and returns its place.
    pub fn add(&mut self, order: i64, point: &TextPoint, group: Option<u32>) -> usize {
        self.points.to_mut().push(*point);
        self.order.push(order);
        self.of.push(group);
        self.of.len() - 1
    }

    /// Groups new texts, given by their places, and updates all groups that this affects.
    pub fn grow(&mut self, new: &[usize]) {
        let Ok(()) = self.grow_with(new, &mut |_| Ok::<_, Infallible>(Vec::new()));
    }

    /// Works like [`grow`](Self::grow), and calls `read` with a group number when the members of that group are needed.
    pub fn grow_with<E>(
        &mut self,
        new: &[usize],
        read: &mut impl FnMut(u32) -> Result<Vec<(i64, TextPoint)>, E>,
    ) -> Result<(), E> {
        let fresh: BTreeSet<usize> = new.iter().copied().collect();
        let loose = (0..self.of.len()).filter(|at| self.of[*at].is_none() && !fresh.contains(at));
        let mut loose: Vec<usize> = loose.collect();
        loose.sort_by_key(|at| self.order[*at]);
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
            let moved = self.check_members(&mut loose, read)?;
            if !merged && !moved {
                break;
            }
        }
        self.dissolve(&mut loose, read)
    }

    /// Reads the members of a group, if they were not read yet.
    pub fn read_members<E>(
        &mut self,
        number: u32,
        read: &mut impl FnMut(u32) -> Result<Vec<(i64, TextPoint)>, E>,
    ) -> Result<(), E> {
        for part in self.unread.remove(&number).unwrap_or_default() {
            for (order, point) in read(part)? {
                self.add(order, &point, Some(number));
            }
        }
        Ok(())
    }

    /// Marks a group as read: the caller has added all its members.
    pub fn mark_read(&mut self, number: u32) {
        self.unread.remove(&number);
    }

    /// Marks all members of a group for checking: a member with an unknown text was removed.
    pub fn mark_for_check(&mut self, number: u32) {
        if let Some(group) = self.groups.get(&number) {
            self.record_change(number, group.size);
        }
    }

    /// Returns true if the group exists.
    pub fn contains(&self, number: u32) -> bool {
        self.groups.contains_key(&number)
    }

    /// Records that `by` members of a group changed.
    fn record_change(&mut self, number: u32, by: usize) {
        *self.unrest.entry(number).or_default() += by;
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

    /// Returns the groups with checked members that still exist.
    pub fn checked(&self) -> impl Iterator<Item = u32> {
        self.asked.iter().copied().filter(|number| self.groups.contains_key(number))
    }

    /// Returns the current state of every group.
    pub fn states(&self) -> impl Iterator<Item = (u32, GroupState)> {
        self.groups.iter().map(|(number, group)| {
            let unrest = self.unrest.get(number).copied().unwrap_or_default();
            (*number, GroupState { group: group.clone(), unrest })
        })
    }

    /// Returns the stored groups that were not read, each with the group that now contains it.
    pub fn unread_parts(&self) -> impl Iterator<Item = (u32, u32)> {
        self.unread.iter().flat_map(|(into, parts)| parts.iter().map(|from| (*from, *into)))
    }

    /// Returns the places of the members of some groups, by rank.
    fn members_by_rank(&self, of: impl Fn(u32) -> bool) -> Vec<usize> {
        let mut members: Vec<usize> =
            (0..self.of.len()).filter(|at| self.of[*at].is_some_and(&of)).collect();
        members.sort_by_key(|at| self.order[*at]);
        members
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
        self.record_change(number, 1);
    }

    fn leave_group(&mut self, at: usize) {
        if let Some(number) = self.of[at].take() {
            if let Some(group) = self.groups.get_mut(&number) {
                group.remove_member(&self.points[at]);
            }
            self.record_change(number, 1);
        }
    }

    /// Returns the number of texts, read or not.
    fn count_texts(&self) -> usize {
        let grouped: usize = self.groups.values().map(|group| group.size).sum();
        grouped + self.of.iter().filter(|number| number.is_none()).count()
    }

    /// Founds a group from a text and others without a group, if enough of them are near. Otherwise the text stays
    /// loose.
    fn found_group(&mut self, at: usize, loose: &mut Vec<usize>) {
        let near = VectorComparer::new_for(&self.points[at].vector, ALWAYS_DETECT_CPU);
        let enough = self.rule.found_threshold(self.count_texts());
        let mut beside: Vec<(f32, usize)> = loose
            .iter()
            .map(|other| {
                let vector = &self.points[*other].vector;
                (near.cosine_with(vector.as_bytes(), vector.scale()), *other)
            })
            .filter(|(link, _)| *link >= enough)
            .collect();
        if beside.len() + 1 >= MIN_CLUSTER_SIZE {
            beside.sort_by(|one, other| {
                let first = self.order[one.1].cmp(&self.order[other.1]);
                other.0.total_cmp(&one.0).then(first)
            });
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
                self.record_change(number, members.len());
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
            let mut came = self.unrest.remove(&from).unwrap_or_default();
            if let Some(gone) = self.groups.remove(&from)
                && let Some(group) = self.groups.get_mut(&into)
            {
                group.absorb(&gone);
                came += gone.size;
            }
            if let Some(parts) = self.unread.remove(&from) {
                self.unread.entry(into).or_default().extend(parts);
            }
            for number in self.of.iter_mut().filter(|number| **number == Some(from)) {
                *number = Some(into);
            }
            self.touched.remove(&from);
            self.record_change(into, came);
            self.merged.push((from, into));
            any = true;
        }
    }

    /// Checks the members of groups that changed enough, and all texts without a group. Returns true if a text moved.
    fn check_members<E>(
        &mut self,
        loose: &mut Vec<usize>,
        read: &mut impl FnMut(u32) -> Result<Vec<(i64, TextPoint)>, E>,
    ) -> Result<bool, E> {
        let mut touched = std::mem::take(&mut self.touched);
        if touched.is_empty() {
            return Ok(false);
        }
        touched.retain(|number| {
            let unrest = self.unrest.get(number).copied().unwrap_or_default();
            self.groups.get(number).is_some_and(|group| {
                group.size < MIN_CLUSTER_SIZE || unrest * MEMBER_CHECK_DIVISOR >= group.size
            })
        });
        for &number in &touched {
            self.read_members(number, read)?;
            self.unrest.insert(number, 0);
        }
        let mut moved = false;
        for at in self.members_by_rank(|number| touched.contains(&number)) {
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
        self.asked.append(&mut touched);
        self.dissolve(loose, read)?;
        for at in std::mem::take(loose) {
            if self.try_join(at) {
                moved = true;
            } else {
                loose.push(at);
            }
        }
        Ok(moved)
    }

    /// Dissolves groups that have become too small.
    fn dissolve<E>(
        &mut self,
        loose: &mut Vec<usize>,
        read: &mut impl FnMut(u32) -> Result<Vec<(i64, TextPoint)>, E>,
    ) -> Result<(), E> {
        let small: BTreeSet<u32> = self
            .groups
            .iter()
            .filter(|(_, group)| group.size < MIN_CLUSTER_SIZE)
            .map(|(number, _)| *number)
            .collect();
        for &number in &small {
            self.read_members(number, read)?;
            self.unrest.remove(&number);
        }
        if !small.is_empty() {
            let let_go = self.members_by_rank(|number| small.contains(&number));
            for &at in &let_go {
                self.of[at] = None;
            }
            loose.extend(let_go);
            self.groups.retain(|number, _| !small.contains(number));
        }
        Ok(())
    }
}

/// Number of comparisons that always justifies CPU detection.
const ALWAYS_DETECT_CPU: usize = usize::MAX;
