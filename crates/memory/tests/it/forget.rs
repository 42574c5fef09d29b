use rutter_memory::outcome::Verdict;
use rutter_memory::store::entry::EntryKind;
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::{ExportRecord, ForgettableKind};
use rutter_memory::{Clean, Store, log};

use rutter_testkit::world::{
    TestWorld, all_records, confirm_fields, remember_fact, start_fields, time_at,
};

/// A marker that no redaction rule matches and no text of the product contains.
const MARK: &str = "quokka";

/// Puts the marker into every text of every kind of row, with so many changes that pages split and rows move.
fn marked_store(world: &TestWorld) -> Store {
    let mut store = world.store();
    let owner = world.owner();
    let filler = "lorem ipsum ".repeat(40);
    for number in 0..300 {
        remember_fact(&mut store, &world.place(), &format!("{MARK} {number} {filler}"));
        remember_fact(&mut store, &world.place(), &format!("plain {number} {filler}"));
    }
    let text = format!("a {MARK} here");
    let marked = rutter_memory::ghap::GhapStart {
        goal: &text,
        hypothesis: &text,
        action: &text,
        prediction: &text,
        ..start_fields()
    };
    for round in 0..20 {
        let now = time_at(10 + round);
        store.start_ghap(&owner, &marked, now).unwrap();
        let changed = format!("another {MARK} {round}");
        let update =
            rutter_memory::ghap::GhapUpdate { hypothesis: Some(&changed), ..Default::default() };
        store.update_ghap(&owner, &update, now).unwrap();
        store.note_ghap(&owner, &text, now).unwrap();
        let mut outcome = world.outcome(10 + round, Verdict::Passed);
        outcome.failing = vec![Clean::new(&text)];
        world.record_run(&outcome);
        let resolve = rutter_memory::ghap::GhapResolve {
            result: &text,
            takeaway: Some(&text),
            applies_when: std::slice::from_ref(&text),
            ..confirm_fields()
        };
        store.resolve_ghap(&owner, &resolve, now).unwrap();
    }
    // On a busy machine some runs went to the spool. Rows deleted directly in the database must not return from it.
    store.drain_spool(time_at(40)).unwrap();
    log::append_line(&world.files(), time_at(5), &Clean::new(&text)).unwrap();
    std::fs::write(world.memory().join("rutter.db.damaged-1"), format!("junk {MARK} junk"))
        .unwrap();
    store
}

/// Spools a run by locking the database.
fn spool_failed_run(world: &TestWorld) {
    let other = rusqlite::Connection::open(world.files().database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut outcome = world.outcome(50, Verdict::Failed);
    outcome.failing = vec![Clean::new(MARK)];
    let entry = world.entry("session-1", 50, EntryKind::Ran(Box::new(outcome.into())));
    let budget = std::time::Duration::from_millis(10);
    rutter_memory::store::recorder::Recorder::new(&world.files(), budget).record(&[entry]).unwrap();
}

#[test]
fn forgotten_query_leaves_no_bytes() {
    let world = TestWorld::new();
    let mut store = marked_store(&world);
    spool_failed_run(&world);
    let before = world.files_with(MARK);
    for name in ["rutter.db", "rutter.db-wal", "current.jsonl", "rutter.log", "rutter.db.damaged-1"]
    {
        assert!(
            before.iter().any(|path| path.ends_with(name)),
            "nothing to forget in {name}: {before:?}"
        );
    }
    store.drain_spool(time_at(60)).unwrap();
    let rows = store.find_rows_with_words(&MARK.to_uppercase()).unwrap();
    let count = |kind| rows.iter().filter(|row| row.kind == kind).count();
    assert_eq!(
        (
            count(ForgettableKind::Memory),
            count(ForgettableKind::Ghap),
            count(ForgettableKind::Outcome)
        ),
        (300, 20, 21)
    );
    let forgotten = store.forget(&rows, Some(MARK)).unwrap();
    assert_eq!((forgotten.rows, forgotten.erased, forgotten.files.len()), (341, true, 1));
    assert_eq!(world.files_with(MARK), Vec::<std::path::PathBuf>::new());
    // All other rows are untouched.
    assert_eq!(store.find_rows_with_words("plain").unwrap().len(), 300);
    drop(store);
    assert_eq!(world.files_with(MARK), Vec::<std::path::PathBuf>::new());
}

#[test]
fn forgets_only_the_given_row() {
    let world = TestWorld::new();
    let mut store = marked_store(&world);
    let rows = store.find_rows_with_words(&format!("{MARK} 7")).unwrap();
    let row = rows.iter().find(|row| row.kind == ForgettableKind::Memory).unwrap();
    let shown = store.find_row(&row.id.short().parse().unwrap()).unwrap();
    assert_eq!(&shown, row);
    assert_eq!(store.forget(&[shown], None).unwrap().rows, 1);
    assert!(store.memory(row.id).is_err());
    assert_eq!(store.find_rows_with_words(MARK).unwrap().len(), 299 + 40);
}

#[test]
fn forgets_project_with_all_rows() {
    let world = TestWorld::new();
    let mut store = marked_store(&world);
    remember_fact(&mut store, &world.place_of("other"), "stays");
    let project = store.project(&world.place()).unwrap().unwrap();
    store.forget_project(project.id).unwrap();
    assert_eq!(world.files_with(MARK), Vec::<std::path::PathBuf>::new());
    assert_eq!(world.files_with(project.key.as_str()), Vec::<std::path::PathBuf>::new());
    assert_eq!(all_records(&mut store).len(), 3, "header, the other project, its memory");
}

#[test]
fn forgetting_project_keeps_other_projects_ghap() {
    let world = TestWorld::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    let elsewhere = rutter_memory::store::GhapOwner {
        place: (&rutter_memory::project::LocatedProject::find(&world.project("other"))).into(),
        ..world.owner()
    };
    let kept = store.start_ghap(&elsewhere, &start_fields(), time_at(2)).unwrap();
    let project = store.project(&world.place()).unwrap().unwrap();
    assert_eq!(store.forget_project(project.id).unwrap().rows, 1);
    assert_eq!(store.active_ghap(&elsewhere).unwrap(), Some(kept));
    assert_eq!(world.files_with(project.key.as_str()), Vec::<std::path::PathBuf>::new());
}

#[test]
fn forget_all_leaves_nothing() {
    let world = TestWorld::new();
    let mut store = marked_store(&world);
    spool_failed_run(&world);
    store.forget_all().unwrap();
    assert_eq!(world.files_with(MARK), Vec::<std::path::PathBuf>::new());
    assert_eq!(all_records(&mut store).len(), 1);
    assert_eq!(world.files_with("session-1"), Vec::<std::path::PathBuf>::new());
}

#[test]
fn forgets_held_spool_lines() {
    let world = TestWorld::new();
    let mut store = marked_store(&world);
    let project = store.project(&world.place()).unwrap().unwrap();
    let held = world.files().spool().join("held.jsonl");
    std::fs::create_dir_all(world.files().spool()).unwrap();
    let line = |text: &str| {
        format!("{}\n", serde_json::json!({ "form": 2, "entries": [{ "text": text }] }))
    };
    let other = format!("{}-and-more", project.key);
    let lines = [format!("a {MARK} in it"), project.key.to_string(), other.clone()]
        .map(|text| line(&text))
        .concat();
    std::fs::write(&held, &lines).unwrap();
    // Left by a process that was killed during the same rewrite.
    std::fs::write(held.with_extension("new"), &lines).unwrap();
    let rows = store.find_rows_with_words(MARK).unwrap();
    store.forget(&rows, Some(MARK)).unwrap();
    assert_eq!(world.files_with(MARK), Vec::<std::path::PathBuf>::new());
    store.forget_project(project.id).unwrap();
    assert_eq!(std::fs::read_to_string(&held).unwrap(), line(&other));
}

#[test]
fn interrupted_forgetting_is_finished() {
    for finish_by_tending in [false, true] {
        let world = TestWorld::new();
        let mut store = marked_store(&world);
        // State after the interruption: the rows are deleted, their bytes are not overwritten.
        let other = rusqlite::Connection::open(world.files().database()).unwrap();
        other
            .execute_batch(
                "PRAGMA secure_delete = OFF; BEGIN; DELETE FROM ghap; DELETE FROM outcome;
                 DELETE FROM memory WHERE text LIKE '%quokka%'; INSERT INTO erasing VALUES (1); COMMIT",
            )
            .unwrap();
        drop(other);
        assert!(!world.files_with(MARK).is_empty());
        let health = rutter_memory::store::doctor::check_store(&world.memory()).unwrap();
        assert!(
            health.findings.iter().any(|finding| finding.ailment.as_str() == "memory-forgetting"),
            "{health:?}"
        );
        if finish_by_tending {
            maintain(&world.memory(), &MaintenanceLimits::default(), time_at(99)).unwrap().unwrap();
        } else {
            store.drain_spool(time_at(99)).unwrap();
        }
        assert_eq!(world.files_with(MARK), Vec::<std::path::PathBuf>::new());
        let health = rutter_memory::store::doctor::check_store(&world.memory()).unwrap();
        assert!(health.findings.is_empty(), "{health:?}");
    }
}

#[test]
fn forgets_leftovers_of_repair() {
    let world = TestWorld::new();
    let mut store = marked_store(&world);
    let workshop = world.memory().join("salvage-1");
    std::fs::create_dir(&workshop).unwrap();
    std::fs::write(workshop.join("copy.db"), MARK).unwrap();
    store.forget_all().unwrap();
    assert_eq!(world.files_with(MARK), Vec::<std::path::PathBuf>::new());
}

#[test]
fn locked_spool_refuses_forgetting() {
    let world = TestWorld::new();
    let mut store = marked_store(&world);
    spool_failed_run(&world);
    let hanging = std::fs::File::open(world.files().spool().join("current.jsonl")).unwrap();
    hanging.lock_shared().unwrap();
    assert!(matches!(store.drain_spool(time_at(99)), Err(rutter_memory::StoreError::SpoolInUse)));
    drop(hanging);
    store.drain_spool(time_at(99)).unwrap();
}

#[test]
fn open_reader_delays_erasure() {
    let world = TestWorld::new();
    let mut store = marked_store(&world);
    let reader = rusqlite::Connection::open(world.files().database()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM memory").unwrap();
    let forgotten = store.forget_all().unwrap();
    assert!(!forgotten.erased, "the log of changes is still being read");
    drop(reader);
    maintain(&world.memory(), &MaintenanceLimits::default(), time_at(99)).unwrap().unwrap();
    assert_eq!(world.files_with(MARK), Vec::<std::path::PathBuf>::new());
}

#[test]
fn forgets_injections_too() {
    let told = |world: &TestWorld| {
        let mut story = rutter_testkit::story::HookStory::new(world);
        let failing = [("cart::total", MARK)];
        story.red("cargo test", &failing);
        story.edit("a.rs", &["-a", "+b"]);
        story.green("cargo test");
        story.session = "session-2";
        assert!(!story.red("cargo test", &failing).is_empty());
    };
    let shown = |store: &mut Store| {
        let all = all_records(store);
        all.iter().filter(|record| matches!(record, ExportRecord::Injection(_))).count()
    };
    let world = TestWorld::new();
    told(&world);
    let mut store = world.store();
    assert_eq!(shown(&mut store), 1);
    let rows = store.find_rows_with_words(MARK).unwrap();
    store.forget(&rows, Some(MARK)).unwrap();
    assert_eq!(shown(&mut store), 0);
    // A session that continues in another project.
    let world = TestWorld::new();
    told(&world);
    let mut other = rutter_testkit::story::HookStory::at(&world, &world.project("other"));
    other.session = "session-2";
    other.green("cargo test");
    let mut store = world.store();
    let project = store.project(&world.place()).unwrap().unwrap();
    store.forget_project(project.id).unwrap();
    assert_eq!(shown(&mut store), 0);
}

#[test]
fn empty_query_forgets_nothing() {
    let world = TestWorld::new();
    let store = marked_store(&world);
    assert!(store.find_rows_with_words("  ").unwrap().is_empty());
}
