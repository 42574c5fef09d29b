//! Which texts belong together, as they come.
//!
//! Average link, kept up instead of computed anew: a text joins the group to whose members it is nearest on average, if it
//! is near enough; three that belong to none and are near each other found one; whoever has become a stranger leaves; groups
//! that have become one are joined, and the larger keeps its name. Where nothing comes nothing moves, so names last.

use std::collections::{BTreeMap, BTreeSet};

use super::group::{Group, Point};
use super::rule::Rule;
use crate::embed::Near;

/// As few make a group.
pub const FEWEST: usize = 3;
/// After so many rounds it is left as it is; what is still moving moves on the next time.
const ROUNDS: usize = 8;

/// What a group looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// The place of the member in its middle.
    pub medoid: usize,
    /// How alike the members are on average, from 0 to 1.
    pub cohesion: f32,
    /// How many they are.
    pub size: usize,
}

/// Texts and their groups, known by numbers.
#[derive(Debug)]
pub struct Grouping<'a> {
    rule: Rule,
    points: &'a [Point],
    of: Vec<Option<u32>>,
    groups: BTreeMap<u32, Group>,
    next: u32,
    /// Groups that lost or won a member since they were looked at.
    touched: BTreeSet<u32>,
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
        let next = members.last_key_value().map_or(0, |(last, _)| last + 1);
        let groups: BTreeMap<u32, Group> =
            members.into_iter().map(|(number, members)| (number, Group::of(members))).collect();
        let touched = groups.iter().filter(|(_, group)| group.size < FEWEST);
        let touched = touched.map(|(number, _)| *number).collect();
        Self { rule, points, of, groups, next, touched, merged: Vec::new() }
    }

    /// Takes in what is new, by its place among the texts, and lets everything find its place that this moves.
    pub fn grow(&mut self, new: &[usize]) {
        let mut loose: Vec<usize> =
            (0..self.of.len()).filter(|at| self.of[*at].is_none()).collect();
        let fresh: BTreeSet<usize> = new.iter().copied().collect();
        loose.retain(|at| !fresh.contains(at));
        for &at in new {
            if let Some(before) = self.of[at] {
                self.touched.insert(before);
                continue;
            }
            if !self.place(at) {
                self.found(at, &mut loose);
            }
        }
        for _ in 0..ROUNDS {
            let merged = self.merge();
            let moved = self.settle(&mut loose);
            if !merged && !moved {
                break;
            }
        }
        self.dissolve();
    }

    /// For each text the number of its group.
    pub fn of(&self) -> &[Option<u32>] {
        &self.of
    }

    /// Which groups became part of which, in the order in which they did.
    pub fn merged(&self) -> &[(u32, u32)] {
        &self.merged
    }

    /// The member of a group in its middle, by its place, and how alike the members are on average.
    pub fn shape(&self, number: u32) -> Option<Shape> {
        let group = self.groups.get(&number)?;
        let (mut medoid, mut best, mut sum) = (None, f32::NEG_INFINITY, 0.0);
        for (at, point) in self.points.iter().enumerate() {
            if self.of[at] != Some(number) {
                continue;
            }
            let near = Near::to(&point.vector, MANY);
            let link = group.link_of_member(&near, point.weight);
            sum += link;
            // What was given up is in nobody's middle.
            if link * point.weight > best {
                (medoid, best) = (Some(at), link * point.weight);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a count of members")]
        let cohesion = (sum / group.size.max(1) as f32).clamp(0.0, 1.0);
        medoid.map(|medoid| Shape { medoid, cohesion, size: group.size })
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
        self.touched.insert(number);
    }

    fn leave(&mut self, at: usize) {
        if let Some(number) = self.of[at].take() {
            if let Some(group) = self.groups.get_mut(&number) {
                group.leave(&self.points[at]);
            }
            self.touched.insert(number);
        }
    }

    /// Has one found a group with others that have none, if there are enough near it; else it is one of them.
    fn found(&mut self, at: usize, loose: &mut Vec<usize>) {
        let near = Near::to(&self.points[at].vector, MANY);
        let enough = self.rule.founds(self.points.len());
        let mut beside: Vec<(f32, usize)> = loose
            .iter()
            .map(|other| {
                let vector = &self.points[*other].vector;
                (near.at(vector.bytes(), vector.scale()), *other)
            })
            .filter(|(link, _)| *link >= enough)
            .collect();
        if beside.len() + 1 >= FEWEST {
            beside.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
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
                self.touched.insert(number);
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
            if let Some(gone) = self.groups.remove(&from)
                && let Some(group) = self.groups.get_mut(&into)
            {
                group.absorb(&gone);
            }
            for number in self.of.iter_mut().filter(|number| **number == Some(from)) {
                *number = Some(into);
            }
            self.touched.remove(&from);
            self.touched.insert(into);
            self.merged.push((from, into));
            any = true;
        }
    }

    /// Has whoever is concerned look again: members of groups that changed, and those without one.
    fn settle(&mut self, loose: &mut Vec<usize>) -> bool {
        let touched = std::mem::take(&mut self.touched);
        if touched.is_empty() {
            return false;
        }
        let mut moved = false;
        for at in 0..self.points.len() {
            let Some(own) = self.of[at] else { continue };
            if !touched.contains(&own) {
                continue;
            }
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
        self.dissolve_into(loose);
        for at in std::mem::take(loose) {
            if self.place(at) {
                moved = true;
            } else {
                loose.push(at);
            }
        }
        moved
    }

    /// Lets go of groups that have become too small.
    fn dissolve_into(&mut self, loose: &mut Vec<usize>) {
        let small: BTreeSet<u32> = self
            .groups
            .iter()
            .filter(|(_, group)| group.size < FEWEST)
            .map(|(number, _)| *number)
            .collect();
        if small.is_empty() {
            return;
        }
        for (at, number) in self.of.iter_mut().enumerate() {
            if number.is_some_and(|number| small.contains(&number)) {
                *number = None;
                loose.push(at);
            }
        }
        self.groups.retain(|number, _| !small.contains(number));
    }

    fn dissolve(&mut self) {
        self.dissolve_into(&mut Vec::new());
    }
}

/// More comparisons than it costs to ask what the processor can do.
const MANY: usize = usize::MAX;
