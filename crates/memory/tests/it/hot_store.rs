use std::time::{Duration, Instant};

use rutter_memory::outcome::Verdict;
use rutter_memory::store::entry::EntryKind;
use rutter_memory::store::hook_store::{HookStore, StoreNotReady};
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::recorder::{EntryDestination, Recorder};
use rutter_memory::{Store, StoreError};

use rutter_testkit::world::{TestWorld, all_records, time_at};

const WRITE_BUDGET: Duration = Duration::from_millis(500);

#[test]
fn writes_are_visible_at_once() {
    let world = TestWorld::new();
    let store = world.store();
    let outcome = world.outcome(1, Verdict::Failed);
    let entry = world.entry("session-1", 1, EntryKind::Ran(Box::new(outcome.clone().into())));
    HookStore::open(&world.files(), WRITE_BUDGET).unwrap().write_entries(&[entry]).unwrap();
    assert_eq!(store.outcome(outcome.id).unwrap(), Some(outcome));
    assert_eq!(store.session("session-1").unwrap().unwrap().seen, time_at(1));
}

#[test]
fn hot_store_never_creates_or_migrates() {
    let world = TestWorld::new();
    assert!(matches!(HookStore::open(&world.files(), WRITE_BUDGET), Err(StoreNotReady::Missing)));
    assert!(!world.memory().exists());
    drop(world.store());
    for version in [0, 99] {
        set_version(&world, version);
        assert!(
            matches!(
                HookStore::open(&world.files(), WRITE_BUDGET),
                Err(StoreNotReady::OtherVersion)
            ),
            "{version}"
        );
        assert_eq!(read_version(&world), version);
    }
}

fn set_version(world: &TestWorld, version: u32) {
    open_connection(world).pragma_update(None, "user_version", version).unwrap();
}

fn read_version(world: &TestWorld) -> u32 {
    open_connection(world).query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

fn open_connection(world: &TestWorld) -> rusqlite::Connection {
    rusqlite::Connection::open(world.files().database()).unwrap()
}

#[test]
fn hot_store_never_checkpoints() {
    let world = TestWorld::new();
    drop(world.store());
    let before = std::fs::read(world.files().database()).unwrap();
    // More than SQLite's automatic checkpoint limit, and this is the last connection to close.
    let many: Vec<_> = (0..10_000)
        .map(|second| {
            let mut outcome = world.outcome(second, Verdict::Failed);
            outcome.failing = vec!["a test of a rather long name ".repeat(30).as_str().into()];
            world.entry("session-1", second, EntryKind::Ran(Box::new(outcome.into())))
        })
        .collect();
    HookStore::open(&world.files(), WRITE_BUDGET).unwrap().write_entries(&many).unwrap();
    assert!(world.files().wal().metadata().unwrap().len() > 5 * 1024 * 1024);
    assert!(std::fs::read(world.files().database()).unwrap() == before);
    // A hook does not read a WAL of this size; maintenance checkpoints it first.
    assert!(matches!(HookStore::open(&world.files(), WRITE_BUDGET), Err(StoreNotReady::LongWal)));
    assert!(
        maintain(&world.memory(), &MaintenanceLimits::default(), time_at(1))
            .unwrap()
            .unwrap()
            .folded
    );
    assert!(HookStore::open(&world.files(), WRITE_BUDGET).is_ok());
}

#[test]
fn busy_store_spools_after_half_budget() {
    let world = TestWorld::new();
    drop(world.store());
    let other = open_connection(&world);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let entry = world.entry("session-1", 1, EntryKind::Called(None));
    let begun = Instant::now();
    // Two transactions in one hook share half of the budget.
    let mut hot = HookStore::open(&world.files(), WRITE_BUDGET).unwrap();
    assert!(matches!(hot.write_entries(std::slice::from_ref(&entry)), Err(StoreError::Busy)));
    assert!(matches!(hot.write_entries(std::slice::from_ref(&entry)), Err(StoreError::Busy)));
    let waited = begun.elapsed();
    assert!(waited >= WRITE_BUDGET / 4, "{waited:?}: it did not try");
    assert!(waited < WRITE_BUDGET, "{waited:?}");
    assert!(matches!(
        Recorder::new(&world.files(), WRITE_BUDGET).record(&[entry]).unwrap(),
        EntryDestination::Spooled(reason)
            if matches!(*reason, StoreNotReady::Store(StoreError::Busy))
    ));
    other.execute_batch("COMMIT").unwrap();
    maintain(&world.memory(), &MaintenanceLimits::default(), time_at(2)).unwrap().unwrap();
    assert_eq!(world.store().session("session-1").unwrap().unwrap().calls, 1);
}

#[test]
fn runs_queue_behind_spool() {
    let world = TestWorld::new();
    let mut recorder = Recorder::new(&world.files(), WRITE_BUDGET);
    let run = |second, verdict| {
        let outcome = world.outcome(second, verdict);
        (outcome.id, world.entry("session-1", second, EntryKind::Ran(Box::new(outcome.into()))))
    };
    let (red, first) = run(1, Verdict::Failed);
    assert!(matches!(
        recorder.record(&[first]).unwrap(),
        EntryDestination::Spooled(reason) if matches!(*reason, StoreNotReady::Missing)
    ));
    // The database is ready now, but the green run must not overtake the red one.
    drop(world.store());
    let mut recorder = Recorder::new(&world.files(), WRITE_BUDGET);
    let (green, second) = run(2, Verdict::Passed);
    assert!(matches!(
        recorder.record(&[second]).unwrap(),
        EntryDestination::Spooled(reason) if matches!(*reason, StoreNotReady::SpoolNotEmpty)
    ));
    // A session that was seen does not depend on earlier entries.
    let seen = world.entry("session-1", 3, EntryKind::Seen);
    assert!(matches!(recorder.record(&[seen]).unwrap(), EntryDestination::Stored));
    maintain(&world.memory(), &MaintenanceLimits::default(), time_at(4)).unwrap().unwrap();
    let order: Vec<_> = all_records(&mut world.store())
        .into_iter()
        .filter_map(|record| match record {
            rutter_memory::store::ExportRecord::Outcome(outcome) => Some(outcome.id),
            _ => None,
        })
        .collect();
    assert_eq!(order, [red, green]);
}

#[test]
fn shown_entries_are_never_spooled() {
    let world = TestWorld::new();
    let mut recorder = Recorder::new(&world.files(), WRITE_BUDGET);
    let called = world.entry("session-1", 1, EntryKind::Called(None));
    let offered = world.entry("session-1", 1, EntryKind::Offered);
    assert!(recorder.record_shown(std::slice::from_ref(&offered)).is_err());
    assert!(matches!(
        recorder.record_with_shown(&[called], &[offered]).unwrap(),
        EntryDestination::Spooled(_)
    ));
    let spooled = std::fs::read_to_string(world.files().spool().join("current.jsonl")).unwrap();
    assert!(spooled.contains("called") && !spooled.contains("offered"), "{spooled}");
}

#[test]
fn late_entries_undo_nothing() {
    let world = TestWorld::new();
    drop(world.store());
    for (seconds, what) in [
        (5, EntryKind::Called(None)),
        (3, EntryKind::Ended { abandon: false }),
        (1, EntryKind::Began(rutter_memory::session::StoredSessionSource::Resume)),
        (4, EntryKind::Called(None)),
    ] {
        world.record(&world.entry("session-1", seconds, what));
    }
    let session = world.store().session("session-1").unwrap().unwrap();
    assert_eq!((session.seen, session.ended, session.calls), (time_at(5), None, 2));
    world.record(&world.entry("session-1", 6, EntryKind::Ended { abandon: false }));
    // Happened before the end, recorded after it.
    world.record(&world.entry("session-1", 4, EntryKind::Seen));
    assert_eq!(world.store().session("session-1").unwrap().unwrap().ended, Some(time_at(6)));
    world.record(&world.entry("session-1", 7, EntryKind::Seen));
    assert_eq!(world.store().session("session-1").unwrap().unwrap().ended, None);
}

#[test]
fn late_start_does_not_revive_session() {
    let world = TestWorld::new();
    let store = world.store();
    let began = world.entry(
        "session-1",
        1,
        EntryKind::Began(rutter_memory::session::StoredSessionSource::Fork),
    );
    rutter_memory::store::spool::append_entries(&world.files(), &[began]).unwrap();
    world.record(&world.entry("session-1", 2, EntryKind::Called(None)));
    world.record(&world.entry("session-1", 10, EntryKind::Ended { abandon: false }));
    maintain(&world.memory(), &MaintenanceLimits::default(), time_at(12)).unwrap().unwrap();
    let session = store.session("session-1").unwrap().unwrap();
    assert_eq!(
        (session.ended, session.source),
        (Some(time_at(10)), rutter_memory::session::StoredSessionSource::Startup)
    );
}

#[test]
fn spools_without_store() {
    let world = TestWorld::new();
    let outcome = world.outcome(1, Verdict::Passed);
    world.record_run(&outcome);
    assert!(!world.files().database().exists());
    let tended =
        maintain(&world.memory(), &MaintenanceLimits::default(), time_at(2)).unwrap().unwrap();
    assert_eq!(tended.drained, 1);
    assert_eq!(world.store().outcome(outcome.id).unwrap(), Some(outcome));
    assert_eq!(
        all_records(&mut world.store()).len(),
        5,
        "header, project, session, outcome, origin"
    );
}

#[test]
fn newer_database_is_never_written() {
    let world = TestWorld::new();
    drop(world.store());
    set_version(&world, 99);
    // The WAL may be checkpointed by the newer program only.
    let newer = open_connection(&world);
    newer.execute_batch("PRAGMA wal_autocheckpoint = 0; CREATE TABLE news (text TEXT)").unwrap();
    let read = || {
        (
            std::fs::read(world.files().database()).unwrap(),
            std::fs::read(world.files().wal()).unwrap(),
        )
    };
    let before = read();
    drop(open_connection(&world));
    assert!(matches!(
        Store::open(&world.memory(), time_at(1)),
        Err(StoreError::Newer { found: 99, .. })
    ));
    assert!(matches!(
        maintain(&world.memory(), &MaintenanceLimits::default(), time_at(1)),
        Err(StoreError::Newer { .. })
    ));
    assert_eq!(
        rutter_memory::store::doctor::check_store(&world.memory()).unwrap().findings.len(),
        1
    );
    assert!(read() == before && !before.1.is_empty());
    world.record(&world.entry("session-1", 1, EntryKind::Called(None)));
    assert!(world.files().spool().join("current.jsonl").exists());
}
