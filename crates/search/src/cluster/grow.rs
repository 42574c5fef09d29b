//! Which texts belong together, as they come.
//!
//! Average link, kept up instead of computed anew: a text joins the group to whose members it is nearest on average, if it
//! is near enough; three that belong to none and are near each other found one; whoever has become a stranger leaves; groups
//! that have become one are joined, and the larger keeps its name. Where nothing comes nothing moves, so names last.
//!
//! What it costs follows what is new. A text is compared with what groups come to, never with their members; and members are
//! asked whether they still belong only once enough of them came or went that it could matter, so that whoever comes pays for
//! a few dozen looks at most, however large groups are. Until then nobody has to read them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use super::group::{Group, Point};
use super::rule::Rule;
use crate::embed::Near;

mod shape;
#[cfg(test)]
mod tests;

pub use shape::Shape;

/// As few make a group.
pub const FEWEST: usize = 3;
/// After so many rounds it is left as it is; what is still moving moves on the next time.
const ROUNDS: usize = 8;
/// Members are asked once one in so many came or went. By then they point elsewhere on average by .04 at most and mostly by
/// half of it, which is less than what parts joining from leaving.
const ONE_IN: usize = 50;

/// A group as it was left: what its members come to, and how many came or went since they were asked.
#[derive(Debug, Clone)]
pub struct Left {
    pub group: Group,
    pub unrest: usize,
}

/// Texts and their groups, known by numbers.
#[derive(Debug)]
pub struct Grouping<'a> {
    rule: Rule,
    points: Cow<'a, [Point]>,
    /// What comes first, where members of several groups are asked. Texts have it of their own, whenever they are read.
    order: Vec<i64>,
    of: Vec<Option<u32>>,
    groups: BTreeMap<u32, Group>,
    next: u32,
    /// Groups that lost or won a member since they were looked at.
    touched: BTreeSet<u32>,
    /// How many came to a group or went since its members were asked.
    unrest: BTreeMap<u32, usize>,
    /// Whose members are not all among the texts: a group, and those that became one with it.
    unread: BTreeMap<u32, Vec<u32>>,
    /// Groups that are not what they were.
    changed: BTreeSet<u32>,
    /// Groups whose members were asked.
    asked: BTreeSet<u32>,
    /// What became one with what.
    merged: Vec<(u32, u32)>,
}

impl<'a> Grouping<'a> {
    /// As they were left: for each text the number of its group, if it has one.
    ///
    /// # Panics
    /// Where there is not one for each.
    pub fn new(rule: Rule, points: &'a [Point], of: Vec<Option<u32>>) -> Self {
        assert_eq!(points.len(), of.len(), "one for each");
        let mut members: BTreeMap<u32, Vec<&Point>> = BTreeMap::new();
        for (point, group) in points.iter().zip(&of) {
            if let Some(group) = group {
                members.entry(*group).or_default().push(point);
            }
        }
        let left = members
            .into_iter()
            .map(|(number, members)| (number, Left { group: Group::of(members), unrest: 0 }));
        let mut grouping = Self::begin(rule, left);
        grouping.order = (0..).take(points.len()).collect();
        grouping.points = Cow::Borrowed(points);
        grouping.of = of;
        grouping
    }

    /// Of groups whose members nobody has read; texts that belong to none are still to be [added](Self::add).
    pub fn unread(rule: Rule, left: BTreeMap<u32, Left>) -> Self {
        let unread = left.keys().map(|number| (*number, vec![*number])).collect();
        Self { unread, ..Self::begin(rule, left) }
    }

    fn begin(rule: Rule, left: impl IntoIterator<Item = (u32, Left)>) -> Self {
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
        for (number, Left { group, unrest }) in left {
            grouping.next = grouping.next.max(number + 1);
            grouping.unrest.insert(number, unrest);
            if group.size < FEWEST {
                grouping.touched.insert(number);
            }
            grouping.groups.insert(number, group);
        }
        grouping
    }

    /// How many came to each group or went since its members were asked: whoever goes on later begins with it.
    pub fn unrest(&self) -> &BTreeMap<u32, usize> {
        &self.unrest
    }

    /// Goes on with what was so before.
    #[must_use]
    pub fn with_unrest(mut self, unrest: &BTreeMap<u32, usize>) -> Self {
        for (number, own) in &mut self.unrest {
            *own = unrest.get(number).copied().unwrap_or_default();
        }
        self
    }

    /// One more text, in the order that it has among all; its place.
    pub fn add(&mut self, order: i64, point: &Point, group: Option<u32>) -> usize {
        self.points.to_mut().push(*point);
        self.order.push(order);
        self.of.push(group);
        self.of.len() - 1
    }

    /// Takes in what is new, by its place among the texts, and lets everything find its place that this moves.
    pub fn grow(&mut self, new: &[usize]) {
        let Ok(()) = self.grow_reading(new, &mut |_| Ok::<_, Infallible>(Vec::new()));
    }

    /// The same where members are read once somebody has to ask them, by the number of their group.
    pub fn grow_reading<E>(
        &mut self,
        new: &[usize],
        read: &mut impl FnMut(u32) -> Result<Vec<(i64, Point)>, E>,
    ) -> Result<(), E> {
        let fresh: BTreeSet<usize> = new.iter().copied().collect();
        let loose = (0..self.of.len()).filter(|at| self.of[*at].is_none() && !fresh.contains(at));
        let mut loose: Vec<usize> = loose.collect();
        loose.sort_by_key(|at| self.order[*at]);
        for &at in new {
            if let Some(before) = self.of[at] {
                // It says something else, and has to be asked itself.
                self.disturb(before);
                continue;
            }
            if !self.place(at) {
                self.found(at, &mut loose);
            }
        }
        for _ in 0..ROUNDS {
            let merged = self.merge();
            let moved = self.settle(&mut loose, read)?;
            if !merged && !moved {
                break;
            }
        }
        self.dissolve(&mut loose, read)
    }

    /// Reads the members of a group, unless that was done.
    pub fn read<E>(
        &mut self,
        number: u32,
        read: &mut impl FnMut(u32) -> Result<Vec<(i64, Point)>, E>,
    ) -> Result<(), E> {
        for part in self.unread.remove(&number).unwrap_or_default() {
            for (order, point) in read(part)? {
                self.add(order, &point, Some(number));
            }
        }
        Ok(())
    }

    /// Says that the members of a group were read by somebody else, and are all among the texts.
    pub fn is_read(&mut self, number: u32) {
        self.unread.remove(&number);
    }

    /// Has all members of a group asked: one of them went, and nobody knows what it said.
    pub fn disturb(&mut self, number: u32) {
        if let Some(group) = self.groups.get(&number) {
            self.stir(number, group.size);
        }
    }

    /// Whether there is such a group.
    pub fn has(&self, number: u32) -> bool {
        self.groups.contains_key(&number)
    }

    /// Says that a group is not what it was, by so many of its members.
    fn stir(&mut self, number: u32, by: usize) {
        *self.unrest.entry(number).or_default() += by;
        self.touched.insert(number);
        self.changed.insert(number);
    }

    /// For each text the number of its group.
    pub fn of(&self) -> &[Option<u32>] {
        &self.of
    }

    /// Which groups became part of which, in the order in which they did.
    pub fn merged(&self) -> &[(u32, u32)] {
        &self.merged
    }

    /// Groups that won, lost or exchanged a member and are still there.
    pub fn changed(&self) -> impl Iterator<Item = u32> {
        self.changed.iter().copied().filter(|number| self.groups.contains_key(number))
    }

    /// Groups whose members were asked and that are still there.
    pub fn asked(&self) -> impl Iterator<Item = u32> {
        self.asked.iter().copied().filter(|number| self.groups.contains_key(number))
    }

    /// Every group, as it is now.
    pub fn left(&self) -> impl Iterator<Item = (u32, Left)> {
        self.groups.iter().map(|(number, group)| {
            let unrest = self.unrest.get(number).copied().unwrap_or_default();
            (*number, Left { group: group.clone(), unrest })
        })
    }

    /// Groups whose members were not read, by what they were: who is of which now.
    pub fn parts(&self) -> impl Iterator<Item = (u32, u32)> {
        self.unread.iter().flat_map(|(into, parts)| parts.iter().map(|from| (*from, *into)))
    }

    /// The places of the members of some groups, in the order of all texts.
    fn in_order(&self, of: impl Fn(u32) -> bool) -> Vec<usize> {
        let mut members: Vec<usize> =
            (0..self.of.len()).filter(|at| self.of[*at].is_some_and(&of)).collect();
        members.sort_by_key(|at| self.order[*at]);
        members
    }

    /// The nearest of the groups that a text may join.
    fn nearest(&self, near: &Near<'_>, but: Option<u32>) -> Option<(u32, f32)> {
        let mut best: Option<(u32, f32)> = None;
        for (number, group) in &self.groups {
            if Some(*number) == but {
                continue;
            }
            let link = group.link(near);
            if best.is_none_or(|(_, so_far)| link > so_far) && link >= self.rule.joins(group) {
                best = Some((*number, link));
            }
        }
        best
    }

    /// Finds a group for one that has none.
    fn place(&mut self, at: usize) -> bool {
        let near = Near::to(&self.points[at].vector, MANY);
        match self.nearest(&near, None) {
            Some((number, _)) => {
                self.enter(at, number);
                true
            }
            None => false,
        }
    }

    fn enter(&mut self, at: usize, number: u32) {
        self.of[at] = Some(number);
        self.groups.entry(number).or_insert_with(Group::new).join(&self.points[at]);
        self.stir(number, 1);
    }

    fn leave(&mut self, at: usize) {
        if let Some(number) = self.of[at].take() {
            if let Some(group) = self.groups.get_mut(&number) {
                group.leave(&self.points[at]);
            }
            self.stir(number, 1);
        }
    }

    /// How many texts there are, whether they were read or not.
    fn texts(&self) -> usize {
        let grouped: usize = self.groups.values().map(|group| group.size).sum();
        grouped + self.of.iter().filter(|number| number.is_none()).count()
    }

    /// Has one found a group with others that have none, if there are enough near it; else it is one of them.
    fn found(&mut self, at: usize, loose: &mut Vec<usize>) {
        let near = Near::to(&self.points[at].vector, MANY);
        let enough = self.rule.founds(self.texts());
        let mut beside: Vec<(f32, usize)> = loose
            .iter()
            .map(|other| {
                let vector = &self.points[*other].vector;
                (near.at(vector.bytes(), vector.scale()), *other)
            })
            .filter(|(link, _)| *link >= enough)
            .collect();
        if beside.len() + 1 >= FEWEST {
            beside.sort_by(|one, other| {
                let first = self.order[one.1].cmp(&self.order[other.1]);
                other.0.total_cmp(&one.0).then(first)
            });
            let mut group = Group::of([&self.points[at]]);
            let mut members = vec![at];
            for (_, other) in beside {
                let near = Near::to(&self.points[other].vector, 1);
                if group.link(&near) >= enough {
                    group.join(&self.points[other]);
                    members.push(other);
                }
            }
            if members.len() >= FEWEST {
                loose.retain(|other| !members.contains(other));
                let number = self.next;
                self.next += 1;
                self.groups.insert(number, group);
                self.stir(number, members.len());
                for member in members {
                    self.of[member] = Some(number);
                }
                return;
            }
        }
        loose.push(at);
    }

    /// Joins what has become one. The larger goes on; of two that are as large, the older.
    fn merge(&mut self) -> bool {
        let mut any = false;
        loop {
            let mut best: Option<(f32, u32, u32)> = None;
            for number in &self.touched {
                let Some(group) = self.groups.get(number) else { continue };
                for (other, another) in self.groups.iter().filter(|(other, _)| *other != number) {
                    let link = group.link_to(another);
                    if best.is_none_or(|(so_far, ..)| link > so_far)
                        && link >= self.rule.merges(group, another)
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
            self.stir(into, came);
            self.merged.push((from, into));
            any = true;
        }
    }

    /// Has whoever is concerned look again: members of groups that changed enough, and those without one.
    fn settle<E>(
        &mut self,
        loose: &mut Vec<usize>,
        read: &mut impl FnMut(u32) -> Result<Vec<(i64, Point)>, E>,
    ) -> Result<bool, E> {
        let mut touched = std::mem::take(&mut self.touched);
        if touched.is_empty() {
            return Ok(false);
        }
        touched.retain(|number| {
            let unrest = self.unrest.get(number).copied().unwrap_or_default();
            self.groups
                .get(number)
                .is_some_and(|group| group.size < FEWEST || unrest * ONE_IN >= group.size)
        });
        for &number in &touched {
            self.read(number, read)?;
            self.unrest.insert(number, 0);
        }
        let mut moved = false;
        for at in self.in_order(|number| touched.contains(&number)) {
            let Some(own) = self.of[at] else { continue };
            let point = &self.points[at];
            let near = Near::to(&point.vector, MANY);
            let link = self.groups[&own].link_of_member(&near, point.weight);
            let other = self.nearest(&near, Some(own));
            match other {
                Some((number, better)) if better > link + self.rule.gain => {
                    self.leave(at);
                    self.enter(at, number);
                    moved = true;
                }
                _ if link < self.rule.stays(&self.groups[&own]) => {
                    self.leave(at);
                    loose.push(at);
                    moved = true;
                }
                _ => {}
            }
        }
        self.asked.append(&mut touched);
        self.dissolve(loose, read)?;
        for at in std::mem::take(loose) {
            if self.place(at) {
                moved = true;
            } else {
                loose.push(at);
            }
        }
        Ok(moved)
    }

    /// Lets go of groups that have become too small.
    fn dissolve<E>(
        &mut self,
        loose: &mut Vec<usize>,
        read: &mut impl FnMut(u32) -> Result<Vec<(i64, Point)>, E>,
    ) -> Result<(), E> {
        let small: BTreeSet<u32> = self
            .groups
            .iter()
            .filter(|(_, group)| group.size < FEWEST)
            .map(|(number, _)| *number)
            .collect();
        for &number in &small {
            self.read(number, read)?;
            self.unrest.remove(&number);
        }
        if !small.is_empty() {
            let let_go = self.in_order(|number| small.contains(&number));
            for &at in &let_go {
                self.of[at] = None;
            }
            loose.extend(let_go);
            self.groups.retain(|number, _| !small.contains(number));
        }
        Ok(())
    }
}

/// More comparisons than it costs to ask what the processor can do.
const MANY: usize = usize::MAX;
