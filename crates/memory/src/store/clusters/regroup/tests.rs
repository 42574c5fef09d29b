//! Checks clusters while lessons come, change and are forgotten.

use std::collections::BTreeSet;

use rusqlite::params;
use rutter_testkit::dice::SeededRandom;
use rutter_testkit::lessons::{GeneratedLesson, generate_lessons};

use super::{RegroupDraft, draft_regrouping, is_due, write_regrouping};
use crate::ghap::{GhapResolve, GhapStart, LessonEdit};
use crate::project::ProjectKey;
use crate::store::clusters::RegroupReport;
use crate::store::entry::ProjectPlace;
use crate::store::{ForgettableKind, ForgettableRow, GhapOwner, Store, ValueFilter, values};
use crate::{Clean, Id, Time};
use rutter_search::cluster::{Axis, MIN_CLUSTER_SIZE};

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
            applies_when: &[],
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

    /// Asserts that every text is grouped and that each cluster has its size and a member as its medoid.
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
            let mut select =
                connection.prepare("SELECT id, size, medoid FROM cluster WHERE axis = ?1").unwrap();
            let clusters = select
                .query_map([axis], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .unwrap();
            for cluster in clusters {
                let (id, size, medoid): (i64, usize, Id) = cluster.unwrap();
                let mut select =
                    connection.prepare("SELECT row FROM grouped WHERE cluster = ?1").unwrap();
                let members: Vec<Id> =
                    select.query_map([id], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
                assert_eq!(size, members.len(), "{axis}");
                assert!(size >= MIN_CLUSTER_SIZE, "{axis}");
                assert!(members.contains(&medoid), "{axis}");
            }
        }
    }

    fn forget(&mut self, ghap: Id) {
        let row = ForgettableRow { kind: ForgettableKind::Ghap, id: ghap, text: Clean::default() };
        self.store.forget(&[row], None).unwrap();
    }

    fn edit(&mut self, ghap: Id, takeaway: &str) {
        let now = self.now();
        let edit = LessonEdit { takeaway: Some(takeaway), ..LessonEdit::default() };
        self.store.edit_lesson(ghap, &edit, now).unwrap();
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

#[test]
fn handles_additions_edits_and_removals() {
    let mut dice = SeededRandom::new(11);
    let all = generate_lessons(11, 240);
    let mut memory = LearningStore::with_lessons(&all[..120]);
    for batch in all[120..].chunks(10) {
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

/// Values refer to clusters by id, so a new cluster must not take the id of one that ends in the same update.
#[test]
fn new_cluster_gets_new_id() {
    let falsified = |lesson: &&GeneratedLesson| lesson.surprise.is_some();
    let all = generate_lessons(3, 300);
    let one = all.iter().find(falsified).unwrap();
    let other = all.iter().filter(falsified).find(|other| other.label != one.label).unwrap();
    let mut memory = LearningStore::with_lessons(&vec![one.clone(); 3]);
    let cluster_of = |memory: &LearningStore, ghap: Id| {
        memory.store.cluster_of(ghap, Axis::Surprise).unwrap().unwrap()
    };
    let before = cluster_of(&memory, memory.ghaps[0]);
    for ghap in memory.ghaps.clone() {
        memory.clear_surprise(ghap);
    }
    memory.learn_all(&vec![other.clone(); 3]);
    memory.regroup();
    memory.check_invariants();
    assert_ne!(cluster_of(&memory, memory.ghaps[3]), before);
}

#[test]
fn concurrent_changes_are_regrouped() {
    let all = generate_lessons(9, 160);
    let mut memory = LearningStore::with_lessons(&all[..120]);
    for (number, lesson) in all[120..].iter().enumerate() {
        memory.learn(lesson);
        let (new, old) = (*memory.ghaps.last().unwrap(), memory.ghaps[number * 2]);
        let drafts: Vec<RegroupDraft> = Axis::ALL
            .iter()
            .filter(|axis| is_due(&memory.store.connection, **axis).unwrap())
            .map(|axis| draft_regrouping(&memory.store.connection, *axis).unwrap())
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
