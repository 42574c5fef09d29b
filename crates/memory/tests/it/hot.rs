use std::time::{Duration, Instant};

use rutter_memory::outcome::Verdict;
use rutter_memory::store::entry::What;
use rutter_memory::store::hot::{HotStore, Recorded, Unready, record};
use rutter_memory::store::tend::{Bounds, tend};
use rutter_memory::{Store, StoreError};

use rutter_testkit::world::{World, all, at};

const BUDGET: Duration = Duration::from_millis(500);

#[test]
fn what_it_writes_others_see_at_once() {
    let world = World::new();
    let store = world.store();
    let outcome = world.outcome(1, Verdict::Failed);
    let entry = world.entry("session-1", 1, What::Ran(Box::new(outcome.clone().into())));
    HotStore::open(&world.files(), BUDGET).unwrap().write(&[entry]).unwrap();
    assert_eq!(store.outcome(outcome.id).unwrap(), Some(outcome));
    assert_eq!(store.session("session-1").unwrap().unwrap().seen, at(1));
}

#[test]
fn it_neither_creates_nor_migrates() {
    let world = World::new();
    assert!(matches!(HotStore::open(&world.files(), BUDGET), Err(Unready::Missing)));
    assert!(!world.memory().exists());
    drop(world.store());
    for version in [0, 99] {
        set_version(&world, version);
        assert!(
            matches!(HotStore::open(&world.files(), BUDGET), Err(Unready::OtherVersion)),
            "{version}"
        );
        assert_eq!(version_of(&world), version);
    }
}

fn set_version(world: &World, version: u32) {
    rusqlite(world).pragma_update(None, "user_version", version).unwrap();
}

fn version_of(world: &World) -> u32 {
    rusqlite(world).query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

fn rusqlite(world: &World) -> rusqlite::Connection {
    rusqlite::Connection::open(world.files().database()).unwrap()
}

#[test]
fn it_never_checkpoints() {
    let world = World::new();
    drop(world.store());
    let before = std::fs::read(world.files().database()).unwrap();
    // More than SQLite's automatic checkpoint limit, and this is the last connection to close.
    let many: Vec<_> = (0..10_000)
        .map(|second| {
            let mut outcome = world.outcome(second, Verdict::Failed);
            outcome.failing = vec!["a test of a rather long name ".repeat(30).as_str().into()];
            world.entry("session-1", second, What::Ran(Box::new(outcome.into())))
        })
        .collect();
    HotStore::open(&world.files(), BUDGET).unwrap().write(&many).unwrap();
    assert!(world.files().wal().metadata().unwrap().len() > 5 * 1024 * 1024);
    assert!(std::fs::read(world.files().database()).unwrap() == before);
    // A hook does not read a WAL of this size; maintenance checkpoints it first.
    assert!(matches!(HotStore::open(&world.files(), BUDGET), Err(Unready::LongLog)));
    assert!(tend(&world.memory(), &Bounds::default(), at(1)).unwrap().unwrap().folded);
    assert!(HotStore::open(&world.files(), BUDGET).is_ok());
}

#[test]
fn while_another_writes_it_waits_at_most_half_its_time_and_spools() {
    let world = World::new();
    drop(world.store());
    let other = rusqlite(&world);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let entry = world.entry("session-1", 1, What::Called(None));
    let begun = Instant::now();
    // Two transactions in one hook share half of the budget.
    let mut hot = HotStore::open(&world.files(), BUDGET).unwrap();
    assert!(matches!(hot.write(std::slice::from_ref(&entry)), Err(StoreError::Busy)));
    assert!(matches!(hot.write(std::slice::from_ref(&entry)), Err(StoreError::Busy)));
    let waited = begun.elapsed();
    assert!(waited >= BUDGET / 4, "{waited:?}: it did not try");
    assert!(waited < BUDGET, "{waited:?}");
    assert!(matches!(
        record(&world.files(), &[entry], BUDGET).unwrap(),
        Recorded::Spooled(Unready::Store(StoreError::Busy))
    ));
    other.execute_batch("COMMIT").unwrap();
    tend(&world.memory(), &Bounds::default(), at(2)).unwrap().unwrap();
    assert_eq!(world.store().session("session-1").unwrap().unwrap().calls, 1);
}

#[test]
fn entries_that_arrive_late_do_not_undo_what_came_after() {
    let world = World::new();
    drop(world.store());
    for (seconds, what) in [
        (5, What::Called(None)),
        (3, What::Ended { abandon: false }),
        (1, What::Began(rutter_memory::session::Source::Resume)),
        (4, What::Called(None)),
    ] {
        world.record(&world.entry("session-1", seconds, what));
    }
    let session = world.store().session("session-1").unwrap().unwrap();
    assert_eq!((session.seen, session.ended, session.calls), (at(5), None, 2));
    world.record(&world.entry("session-1", 6, What::Ended { abandon: false }));
    // Happened before the end, recorded after it.
    world.record(&world.entry("session-1", 4, What::Seen));
    assert_eq!(world.store().session("session-1").unwrap().unwrap().ended, Some(at(6)));
    world.record(&world.entry("session-1", 7, What::Seen));
    assert_eq!(world.store().session("session-1").unwrap().unwrap().ended, None);
}

#[test]
fn a_beginning_that_is_told_late_revives_nobody() {
    let world = World::new();
    let store = world.store();
    let began = world.entry("session-1", 1, What::Began(rutter_memory::session::Source::Fork));
    rutter_memory::store::spool::append(&world.files(), &[began]).unwrap();
    world.record(&world.entry("session-1", 2, What::Called(None)));
    world.record(&world.entry("session-1", 10, What::Ended { abandon: false }));
    tend(&world.memory(), &Bounds::default(), at(12)).unwrap().unwrap();
    let session = store.session("session-1").unwrap().unwrap();
    assert_eq!(
        (session.ended, session.source),
        (Some(at(10)), rutter_memory::session::Source::Startup)
    );
}

#[test]
fn before_there_is_a_store_everything_waits_in_the_spool() {
    let world = World::new();
    let outcome = world.outcome(1, Verdict::Passed);
    world.ran(&outcome);
    assert!(!world.files().database().exists());
    let tended = tend(&world.memory(), &Bounds::default(), at(2)).unwrap().unwrap();
    assert_eq!(tended.drained, 1);
    assert_eq!(world.store().outcome(outcome.id).unwrap(), Some(outcome));
    assert_eq!(all(&mut world.store()).len(), 5, "header, project, session, outcome, origin");
}

#[test]
fn a_newer_database_is_never_written() {
    let world = World::new();
    drop(world.store());
    set_version(&world, 99);
    // The WAL may be checkpointed by the newer program only.
    let newer = rusqlite(&world);
    newer.execute_batch("PRAGMA wal_autocheckpoint = 0; CREATE TABLE news (text TEXT)").unwrap();
    let read = || {
        (
            std::fs::read(world.files().database()).unwrap(),
            std::fs::read(world.files().wal()).unwrap(),
        )
    };
    let before = read();
    drop(rusqlite(&world));
    assert!(matches!(
        Store::open(&world.memory(), at(1)),
        Err(StoreError::Newer { found: 99, .. })
    ));
    assert!(matches!(
        tend(&world.memory(), &Bounds::default(), at(1)),
        Err(StoreError::Newer { .. })
    ));
    assert_eq!(rutter_memory::store::doctor::examine(&world.memory()).unwrap().findings.len(), 1);
    assert!(read() == before && !before.1.is_empty());
    world.record(&world.entry("session-1", 1, What::Called(None)));
    assert!(world.files().spool().join("current.jsonl").exists());
}
