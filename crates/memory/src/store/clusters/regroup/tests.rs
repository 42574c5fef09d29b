//! Checks that an incremental update gives the same result as reading everything, at a cost that follows the new texts.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::params;
use rutter_testkit::dice::SeededRandom;
use rutter_testkit::lessons::{GeneratedLesson, generate_lessons};

use super::{
    AxisState, IncrementalHalt, RegroupDraft, StoredClusters, TextReader, group_everything,
    group_incrementally, is_due, write_regrouping,
};
use crate::ghap::{GhapResolve, GhapStart};
use crate::project::ProjectKey;
use crate::store::clusters::{RegroupReport, load_mean};
use crate::store::entry::ProjectPlace;
use crate::store::{ForgettableKind, ForgettableRow, GhapOwner, Store, ValueFilter, values};
use crate::{Clean, Id, Time};
use rutter_search::cluster::{Axis, Group, MIN_CLUSTER_SIZE, MeanDirection};

/// A store in a temporary folder that learns lessons.
struct LearningStore {
    store: Store,
    ghaps: Vec<Id>,
    clock: i64,
    _folder: tempfile::TempDir,
}

impl LearningStore {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Time::from_millis(0)).unwrap();
        store.connection.pragma_update(None, "synchronous", "OFF").unwrap();
        Self { store, ghaps: Vec::new(), clock: 1_763_200_000_000, _folder: folder }
    }

    fn with_lessons(lessons: &[GeneratedLesson]) -> Self {
        let mut memory = Self::new();
        memory.learn_all(lessons);
        memory.regroup();
        memory
    }

    fn now(&mut self) -> Time {
        self.clock += 60_000;
        Time::from_millis(self.clock)
    }

    fn learn(&mut self, lesson: &GeneratedLesson) {
        let now = self.now();
        let place = ProjectPlace {
            key: ProjectKey::new(if lesson.session.is_multiple_of(7) { "boat" } else { "ship" }),
            aliases: Vec::new(),
            root: Clean::new("/ship"),
            name: Clean::new("ship"),
        };
        let client = Some(Clean::new(&format!("session-{}", self.clock)));
        let owner = GhapOwner { client, agent: None, place };
        let start = GhapStart {
            domain: lesson.domain.parse().unwrap(),
            strategy: lesson.strategy.parse().unwrap(),
            goal: &lesson.goal,
            hypothesis: &lesson.hypothesis,
            action: &lesson.action,
            prediction: &lesson.prediction,
            expects: None,
            target: None,
            confidence: None,
        };
        self.store.start_ghap(&owner, &start, now).unwrap();
        let cause = lesson.cause.as_ref();
        let resolve = GhapResolve {
            status: lesson.status.parse().unwrap(),
            result: &lesson.result,
            surprise: lesson.surprise.as_deref(),
            root_cause: cause.map(|(category, text)| (category.parse().unwrap(), text.as_str())),
            what_worked: lesson.what_worked.as_deref(),
            takeaway: lesson.takeaway.as_deref(),
            outcome: None,
            ignores_other_runs: false,
        };
        let ghap = self.store.resolve_ghap(&owner, &resolve, now).unwrap().ghap;
        self.ghaps.push(ghap.id);
    }

    fn learn_all(&mut self, lessons: &[GeneratedLesson]) {
        for lesson in lessons {
            self.learn(lesson);
        }
    }

    fn regroup(&mut self) -> RegroupReport {
        let now = self.now();
        self.store.update_clusters(now).unwrap()
    }

    fn known(&self, axis: Axis) -> AxisState {
        AxisState::load(&self.store.connection, axis).unwrap().unwrap()
    }

    /// Returns the draft of an incremental update, or None if everything has to be read.
    fn onward(&self, axis: Axis) -> Option<RegroupDraft> {
        match group_incrementally(&self.store.connection, axis, &self.known(axis)) {
            Ok(draft) => Some(draft),
            Err(IncrementalHalt::ReadEverything) => None,
            Err(IncrementalHalt::Store(error)) => panic!("{error}"),
        }
    }

    /// Returns the group of each experience after a draft is written.
    fn groups_after(&self, draft: &RegroupDraft) -> BTreeMap<Id, Option<u32>> {
        let connection = &self.store.connection;
        let clusters = StoredClusters::load(connection, draft.axis).unwrap();
        let mut select =
            connection.prepare("SELECT row, cluster FROM grouped WHERE axis = ?1").unwrap();
        let mut of: BTreeMap<Id, Option<u32>> = select
            .query_map([draft.axis], |row| Ok((row.get(0)?, clusters.number(row.get(1)?))))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let parts: BTreeMap<u32, u32> = draft.parts.iter().copied().collect();
        for number in of.values_mut().flatten() {
            *number = parts.get(number).copied().unwrap_or(*number);
        }
        of.extend(draft.placed.iter().map(|text| text.row).zip(draft.of.iter().copied()));
        of.retain(|row, _| !draft.gone.contains(row));
        of
    }

    /// Returns true if an incremental update is possible, and asserts that it gives the same result as reading
    /// everything.
    fn compare_with_full_read(&self, axis: Axis) -> bool {
        let Some(kept) = self.onward(axis) else { return false };
        let frozen = MeanDirection::from_bytes(&self.known(axis).mean);
        let full = group_everything(&self.store.connection, axis, None, frozen).unwrap();
        assert_eq!(self.groups_after(&kept), self.groups_after(&full), "{axis}");
        assert_eq!(kept.alive, full.alive, "{axis}");
        assert_eq!(kept.merged, full.merged, "{axis}");
        assert_eq!(kept.changed, full.changed, "{axis}");
        for (number, left) in &kept.left {
            let other = &full.left[number];
            assert_eq!((left.group.size, left.unrest), (other.group.size, other.unrest), "{axis}");
            assert_alike(&left.group, &other.group);
        }
        for (number, shape) in &kept.shapes {
            let other = full.shapes[number];
            assert_eq!(kept.placed[shape.medoid].row, full.placed[other.medoid].row, "{axis}");
            assert!((shape.cohesion - other.cohesion).abs() < 1e-3, "{axis}");
        }
        true
    }

    /// Asserts that every text is grouped and that the stored sums are those of the members.
    fn check_invariants(&self) {
        let connection = &self.store.connection;
        for &axis in Axis::ALL {
            assert!(!is_due(connection, axis).unwrap(), "{axis}");
            let rows = |query: &str| -> BTreeSet<(Id, i64)> {
                let mut select = connection.prepare(query).unwrap();
                let rows = select.query_map([axis], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
                rows.map(Result::unwrap).collect()
            };
            assert_eq!(
                rows("SELECT row, document FROM grouped WHERE axis = ?1"),
                rows(
                    "SELECT row, id FROM document WHERE axis = ?1 AND kind = 'experience' AND vector IS NOT NULL"
                ),
                "{axis}"
            );
            let common = load_mean(connection, axis).unwrap();
            let clusters = StoredClusters::load(connection, axis).unwrap();
            for (id, kept) in clusters.ids.iter().zip(&clusters.kept) {
                let members = TextReader { common: &common }.read_members(connection, *id).unwrap();
                let (sum, size, _) = kept.sum.as_ref().unwrap();
                assert_eq!((kept.size, *size), (members.len(), members.len()), "{axis}");
                assert!(members.len() >= MIN_CLUSTER_SIZE, "{axis}");
                let points: Vec<_> = members.iter().map(|(_, point)| *point).collect();
                assert_alike(
                    &Group::from_bytes(sum, *size).unwrap(),
                    &Group::from_members(&points),
                );
                let medoid: Id = connection
                    .query_row("SELECT medoid FROM cluster WHERE id = ?1", [id], |row| row.get(0))
                    .unwrap();
                assert!(members.iter().any(|(text, _)| text.row == medoid), "{axis}");
            }
        }
    }

    fn forget(&mut self, ghap: Id) {
        let row = ForgettableRow { kind: ForgettableKind::Ghap, id: ghap, text: Clean::default() };
        self.store.forget(&[row], None).unwrap();
    }

    fn edit(&mut self, ghap: Id, takeaway: &str) {
        let now = self.now();
        self.store.edit_lesson(ghap, None, Some(takeaway), now).unwrap();
    }

    /// Removes the surprise of a GHAP.
    fn clear_surprise(&mut self, ghap: Id) {
        self.store
            .write(|transaction| {
                Ok(transaction.execute("UPDATE ghap SET surprise = NULL WHERE uid = ?1", [ghap])?)
            })
            .unwrap();
    }
}

fn assert_alike(one: &Group, other: &Group) {
    let numbers = |group: &Group| -> Vec<f32> {
        let bytes = group.to_bytes();
        bytes.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect()
    };
    assert_eq!(one.size, other.size);
    for (one, other) in numbers(one).into_iter().zip(numbers(other)) {
        assert!((one - other).abs() < 1e-3, "{one} and {other}");
    }
}

/// Returns copies of one lesson, which form one cluster on each axis.
fn copies_of_lesson(count: usize) -> Vec<GeneratedLesson> {
    let falsified = |lesson: &&GeneratedLesson| lesson.cause.is_some() && lesson.takeaway.is_some();
    let one = generate_lessons(3, 100).iter().find(falsified).unwrap().clone();
    vec![one; count]
}

#[test]
fn incremental_equals_full_read() {
    for seed in [7, 8] {
        let mut dice = SeededRandom::new(seed);
        let all = generate_lessons(seed, 640);
        let mut memory = LearningStore::with_lessons(&all[..540]);
        memory.check_invariants();
        let (mut rest, mut compared, mut read) = (&all[540..], 0, 0);
        while !rest.is_empty() {
            let (batch, later) = rest.split_at((1 + dice.below(9)).min(rest.len()));
            rest = later;
            memory.learn_all(batch);
            if dice.below(3) == 0 {
                let (ghap, other) = (*dice.pick(&memory.ghaps), dice.pick(&all));
                memory.edit(ghap, other.takeaway.as_deref().unwrap_or(&other.goal));
            }
            for axis in [Axis::Full, Axis::Strategy] {
                compared += usize::from(memory.compare_with_full_read(axis));
                read += memory.onward(axis).map_or(0, |draft| draft.placed.len());
            }
            memory.regroup();
            memory.check_invariants();
        }
        assert!(compared >= 10, "{compared}");
        assert!(read < compared * 500, "{read} of {compared} times 600");
    }
}

#[test]
fn handles_additions_edits_and_removals() {
    let mut dice = SeededRandom::new(11);
    let all = generate_lessons(11, 640);
    let mut memory = LearningStore::with_lessons(&all[..520]);
    for batch in all[520..].chunks(10) {
        memory.learn_all(batch);
        for _ in 0..dice.below(4) {
            let ghap = *dice.pick(&memory.ghaps);
            match dice.below(6) {
                0 => memory.forget(ghap),
                1 | 2 => memory.clear_surprise(ghap),
                _ => memory.edit(ghap, &dice.pick(&all).goal),
            }
            let there = |id: &Id| memory.store.ghap(*id).is_ok();
            let ghaps = memory.ghaps.iter().copied().filter(there).collect();
            memory.ghaps = ghaps;
        }
        if dice.below(4) > 0 {
            memory.regroup();
            memory.check_invariants();
        }
    }
    let project = |key: &str| -> Id {
        let query = "SELECT uid FROM project WHERE key = ?1";
        memory.store.connection.query_row(query, [key], |row| row.get(0)).unwrap()
    };
    let (from, into) = (project("boat"), project("ship"));
    memory.store.merge_projects(from, into).unwrap();
    memory.regroup();
    memory.check_invariants();
    // No update is due, and none happens.
    assert_eq!(memory.regroup(), RegroupReport::default());
}

/// Returns the number of contradictions of each value that is not retired.
fn count_contradictions(memory: &LearningStore) -> Vec<(Id, u32)> {
    let all = memory.store.values(&ValueFilter::default()).unwrap();
    all.iter().map(|held| (held.value.id, held.value.contradicted)).collect()
}

#[test]
fn contradictions_are_counted_once() {
    let mut dice = SeededRandom::new(4);
    let all = generate_lessons(4, 240);
    let mut memory = LearningStore::new();
    for batch in all.chunks(12) {
        memory.learn_all(batch);
        let (ghap, other) = (*dice.pick(&memory.ghaps), dice.pick(&all));
        memory.edit(ghap, &other.goal);
        memory.regroup();
    }
    let kept = count_contradictions(&memory);
    assert!(kept.iter().any(|(_, times)| *times > 0), "{kept:?}");
    let now = memory.now();
    memory
        .store
        .write(|transaction| {
            transaction.execute_batch("DELETE FROM against; UPDATE value SET weighed = 0")?;
            values::weigh_values(transaction, now, &mut RegroupReport::default())
        })
        .unwrap();
    assert_eq!(count_contradictions(&memory), kept);
}

#[test]
fn cost_follows_new_texts() {
    let mut memory = LearningStore::with_lessons(&copies_of_lesson(600));
    for more in [10, 1] {
        memory.learn_all(&copies_of_lesson(more));
        let draft = memory.onward(Axis::Full).unwrap();
        assert_eq!((draft.placed.len(), draft.left.len(), draft.shapes.len()), (more, 1, 0));
        memory.regroup();
        memory.check_invariants();
    }
    // One in fifty is new by now, so all members are checked.
    memory.learn_all(&copies_of_lesson(2));
    let draft = memory.onward(Axis::Full).unwrap();
    assert_eq!((draft.placed.len(), draft.shapes.len()), (613, 1));
    memory.regroup();
    memory.check_invariants();
    // A tenth is new, so the mean is computed again.
    memory.learn_all(&copies_of_lesson(47));
    assert!(memory.onward(Axis::Full).is_none());
    memory.regroup();
    memory.check_invariants();
    assert_eq!((memory.known(Axis::Full).texts, memory.known(Axis::Full).came), (660, 0));
}

/// A small group merges into a large one without reading either.
#[test]
fn merges_unread_groups() {
    let all = generate_lessons(6, 541);
    let mut memory = LearningStore::with_lessons(&all[..540]);
    memory.learn(&all[540]);
    let mut draft = memory.onward(Axis::Full).unwrap();
    let clusters = StoredClusters::load(&memory.store.connection, Axis::Full).unwrap();
    let untouched: Vec<(u32, rutter_search::cluster::GroupState)> = clusters
        .group_states()
        .ok()
        .unwrap()
        .into_iter()
        .filter(|(one, _)| !draft.changed.contains(one))
        .collect();
    let [(from, gone), (into, left), ..] = untouched.as_slice() else { panic!("too few") };
    let mut left = left.clone();
    left.group.absorb(&gone.group);
    draft.alive.remove(from);
    draft.merged.push((*from, *into));
    draft.parts.push((*from, *into));
    draft.changed.insert(*into);
    draft.left.insert(*into, left);
    let mut done = RegroupReport::default();
    let now = memory.now();
    memory
        .store
        .write(|transaction| write_regrouping(transaction, &draft, now, &mut done))
        .unwrap();
    assert_eq!((done.gone, done.moved), (1, gone.group.size));
    memory.regroup();
    memory.check_invariants();
}

#[test]
fn rebuilds_inconsistent_sums() {
    let all = generate_lessons(5, 540);
    let mut memory = LearningStore::with_lessons(&all[..520]);
    memory.learn(&all[520]);
    memory.regroup();
    assert_eq!(memory.known(Axis::Full).came, 1, "nothing is wrong with it");
    for (damage, lesson) in [
        "DELETE FROM summed WHERE cluster = (SELECT min(id) FROM cluster WHERE axis = 'full')",
        "UPDATE summed SET size = size + 1 WHERE cluster IN (SELECT id FROM cluster WHERE axis = 'full')",
        "UPDATE cluster SET size = size + 1 WHERE axis = 'full'",
        "UPDATE summed SET sum = substr(sum, 5) WHERE cluster IN (SELECT id FROM cluster WHERE axis = 'full')",
        // The tables agree here, so the mismatch is found only by checking the members.
        "UPDATE cluster SET size = size + 1 WHERE axis = 'full';
         UPDATE summed SET size = size + 1, unrest = size WHERE cluster IN (SELECT id FROM cluster WHERE axis = 'full')",
        "UPDATE common SET mean = x'00' WHERE axis = 'full'",
    ]
    .into_iter()
    .zip(&all[521..])
    {
        memory.learn(lesson);
        memory.store.connection.execute_batch(damage).unwrap();
        memory.regroup();
        assert_eq!(memory.known(Axis::Full).came, 0, "{damage}");
        memory.check_invariants();
    }
}

#[test]
fn concurrent_changes_are_regrouped() {
    let all = generate_lessons(9, 560);
    let mut memory = LearningStore::with_lessons(&all[..520]);
    for (number, lesson) in all[520..].iter().enumerate() {
        memory.learn(lesson);
        let (new, old) = (*memory.ghaps.last().unwrap(), memory.ghaps[number * 7]);
        let drafts: Vec<RegroupDraft> = Axis::ALL
            .iter()
            .filter(|axis| is_due(&memory.store.connection, **axis).unwrap())
            .map(|axis| super::draft_regrouping(&memory.store.connection, *axis).unwrap())
            .collect();
        let ghap = if number % 2 == 0 { new } else { old };
        match number % 3 {
            0 => memory.edit(ghap, "the disk was full"),
            1 => memory.clear_surprise(ghap),
            _ => {
                let connection = &memory.store.connection;
                connection.execute("DELETE FROM ghap WHERE uid = ?1", params![ghap]).unwrap();
                memory.ghaps.retain(|other| *other != ghap);
            }
        }
        let now = memory.now();
        for draft in &drafts {
            let mut done = RegroupReport::default();
            memory
                .store
                .write(|transaction| write_regrouping(transaction, draft, now, &mut done))
                .unwrap();
        }
        memory.regroup();
        memory.check_invariants();
    }
}
