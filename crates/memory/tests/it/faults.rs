use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::PathBuf;

use rutter_memory::outcome::Verdict;
use rutter_memory::store::doctor::{check_store, repair_store};
use rutter_memory::store::entry::EntryKind;
use rutter_memory::store::hook_store::HookStore;
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::{ExportRecord, GhapFilter, MemoryFilter, spool};
use rutter_memory::{Store, StoreError};

use crate::exchange::filled_store;
use rutter_testkit::world::{TestWorld, all_records, start_fields, time_at};

#[test]
fn files_are_private_to_owner() {
    let world = TestWorld::new();
    drop(filled_store(&world));
    // Before the spool has entries: a run would queue behind them.
    world.record_run(&world.outcome(1, Verdict::Failed));
    spool::append_entries(&world.files(), &[world.entry("session-1", 1, EntryKind::Called(None))])
        .unwrap();
    rutter_memory::log::append_line(&world.files(), time_at(1), &"x".into()).unwrap();
    let mut seen = Vec::new();
    let mut folders = vec![world.memory()];
    while let Some(folder) = folders.pop() {
        let mode = fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert_eq!(
                    fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                    0o600,
                    "{}",
                    path.display()
                );
                seen.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    seen.sort();
    assert_eq!(
        seen,
        [
            "command-1688575dcf4914e7",
            "current.jsonl",
            "rutter.db",
            "rutter.db-shm",
            "rutter.db-wal",
            "rutter.log"
        ]
    );
}

#[test]
fn file_in_place_of_folder_fails() {
    let world = TestWorld::new();
    fs::write(world.memory(), "in the way").unwrap();
    let error = Store::open(&world.memory(), time_at(1)).unwrap_err().to_string();
    assert!(error.contains(&world.memory().display().to_string()), "{error}");
    assert!(HookStore::open(&world.files(), std::time::Duration::from_millis(50)).is_err());
    assert!(
        spool::append_entries(
            &world.files(),
            &[world.entry("session-1", 1, EntryKind::Called(None))]
        )
        .is_err()
    );
    assert_eq!(fs::read(world.memory()).unwrap(), b"in the way");
}

#[test]
fn foreign_database_is_left_alone() {
    let world = TestWorld::new();
    fs::create_dir(world.memory()).unwrap();
    let other = rusqlite::Connection::open(world.files().database()).unwrap();
    other
        .execute_batch("CREATE TABLE recipe (name TEXT); INSERT INTO recipe VALUES ('soup')")
        .unwrap();
    drop(other);
    let before = fs::read(world.files().database()).unwrap();
    assert!(matches!(Store::open(&world.memory(), time_at(1)), Err(StoreError::Foreign { .. })));
    assert!(HookStore::open(&world.files(), std::time::Duration::from_millis(50)).is_err());
    assert_eq!(fs::read(world.files().database()).unwrap(), before);
    let found: Vec<_> = check_store(&world.memory())
        .unwrap()
        .findings
        .into_iter()
        .map(|finding| finding.what)
        .collect();
    assert!(found.iter().any(|what| what.contains("a database of another program")), "{found:?}");
}

#[test]
fn empty_file_becomes_store() {
    let world = TestWorld::new();
    fs::create_dir(world.memory()).unwrap();
    fs::write(world.files().database(), "").unwrap();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    assert_eq!(store.set_aside(), None);
}

#[test]
fn leftovers_of_killed_creation_are_removed() {
    let world = TestWorld::new();
    fs::create_dir(world.memory()).unwrap();
    for end in ["", "-wal", "-journal"] {
        fs::write(world.memory().join(format!("rutter.db.new{end}")), "half a database").unwrap();
    }
    world.store().start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    assert!(!world.file_contents().iter().any(|(path, _)| path.to_string_lossy().contains(".new")));
}

#[test]
fn truncated_wal_keeps_whole_transactions() {
    let world = TestWorld::new();
    drop(world.store());
    let outcomes: Vec<_> = (0..40).map(|second| world.outcome(second, Verdict::Failed)).collect();
    for outcome in &outcomes {
        world.record_run(outcome);
    }
    let wal = fs::read(world.files().wal()).unwrap();
    let mut last = usize::MAX;
    for keep in (0..=10).rev() {
        let other = TestWorld::new();
        fs::create_dir(other.memory()).unwrap();
        fs::copy(world.files().database(), other.files().database()).unwrap();
        fs::write(other.files().wal(), &wal[..wal.len() * keep / 10]).unwrap();
        let mut store = other.store();
        assert_eq!(store.set_aside(), None);
        // A call and a run are never split, and the rows that are left are the first ones written.
        let there: Vec<_> = all_records(&mut store)
            .into_iter()
            .filter_map(|record| {
                if let ExportRecord::Outcome(outcome) = record { Some(outcome.id) } else { None }
            })
            .collect();
        let expected: Vec<_> =
            outcomes.iter().map(|outcome| outcome.id).take(there.len()).collect();
        assert_eq!(there, expected);
        assert!(there.len() <= last);
        last = there.len();
        drop(store);
        assert_eq!(
            check_store(&other.memory())
                .unwrap()
                .findings
                .iter()
                .filter(|finding| finding.what.contains("damaged"))
                .count(),
            0
        );
    }
    assert_eq!(last, 0);
}

/// Fills a store with many pages, closes it, and damages its file. Returns the records from before the damage.
fn damaged_store(damage: impl FnOnce(&fs::File, u64)) -> (TestWorld, Vec<ExportRecord>) {
    let world = TestWorld::new();
    let mut store = filled_store(&world);
    for second in 0..400 {
        world.record_run(&world.outcome(second, Verdict::Failed));
    }
    store.drain_spool(time_at(998)).unwrap();
    let before = all_records(&mut store);
    drop(store);
    // Checkpoints the WAL, so that the damage hits the database file.
    maintain(&world.memory(), &MaintenanceLimits::default(), time_at(999)).unwrap();
    let file =
        fs::OpenOptions::new().read(true).write(true).open(world.files().database()).unwrap();
    damage(&file, file.metadata().unwrap().len());
    (world, before)
}

/// Overwrites the middle one of the pages that hold runs.
fn damage_run_page(file: &fs::File, length: u64) {
    let mut page = [0; 4096];
    let mut holds_runs = |at: &u64| {
        file.read_exact_at(&mut page, *at).unwrap();
        // 13 is a leaf page of a table.
        page[0] == 13 && page.windows(10).any(|text| text == b"cargo test")
    };
    let runs: Vec<u64> = (0..length).step_by(4096).filter(&mut holds_runs).collect();
    assert!(runs.len() > 3, "{runs:?}");
    file.write_all_at(&[0xAA; 4096], runs[runs.len() / 2]).unwrap();
}

fn files_set_aside(world: &TestWorld) -> Vec<PathBuf> {
    world.files().list_set_aside().unwrap()
}

#[test]
fn broken_header_sets_database_aside() {
    let (world, before) = damaged_store(|file, _| file.write_all_at(&[0x55; 4096], 0).unwrap());
    let damaged = fs::read(world.files().database()).unwrap();
    // Hooks do not touch the damaged file.
    assert!(HookStore::open(&world.files(), std::time::Duration::from_millis(50)).is_err());
    assert_eq!(fs::read(world.files().database()).unwrap(), damaged);
    let mut store = world.store();
    assert_eq!(store.set_aside(), Some(files_set_aside(&world)[0].as_path()));
    assert_eq!(fs::read(&files_set_aside(&world)[0]).unwrap(), damaged);
    assert_eq!(all_records(&mut store).len(), 1);
    store.start_ghap(&world.other_session("session-9"), &start_fields(), time_at(1)).unwrap();
    drop(store);

    assert_eq!(check_store(&world.memory()).unwrap().findings.len(), 1);
    let repaired = repair_store(&world.memory(), time_at(1_000)).unwrap();
    assert_eq!(repaired.salvaged.len(), 1);
    // The first page held only the schema, no rows.
    let mut store = world.store();
    let after = all_records(&mut store);
    // The new store has the project under a new id.
    for record in before.iter().filter(|record| !matches!(record, ExportRecord::Project(_))) {
        assert!(after.contains(record), "{record:?}");
    }
    assert!(check_store(&world.memory()).unwrap().findings.is_empty());
    assert_eq!(
        repair_store(&world.memory(), time_at(1_001)).unwrap().salvaged.len(),
        0,
        "once is enough"
    );
}

#[test]
fn rebuilt_database_is_salvaged() {
    let world = TestWorld::new();
    let mut store = filled_store(&world);
    let gone = store
        .find_row(&store.memories(&MemoryFilter::default()).unwrap()[0].id.short().parse().unwrap())
        .unwrap();
    store.forget(&[gone], None).unwrap();
    let before = all_records(&mut store);
    drop(store);
    maintain(&world.memory(), &MaintenanceLimits::default(), time_at(999)).unwrap();
    fs::OpenOptions::new()
        .write(true)
        .open(world.files().database())
        .unwrap()
        .write_all_at(&[0x55; 4096], 0)
        .unwrap();
    let repaired = repair_store(&world.memory(), time_at(1_000)).unwrap();
    assert!(repaired.salvaged[0].1.saved > 5, "{repaired:?}");
    let mut store = world.store();
    assert!(all_records(&mut store) == before);
}

#[test]
fn damaged_headers_are_repaired() {
    /// Offsets of `user_version` and `application_id` in a SQLite file.
    const FIELD_OFFSETS: [u64; 2] = [60, 68];
    for (field, bit) in [(0, 0), (0, 1), (0, 3), (0, 4), (0, 31), (1, 0), (1, 14), (1, 30)] {
        let world = TestWorld::new();
        let mut store = filled_store(&world);
        let before = all_records(&mut store);
        drop(store);
        let file =
            OpenOptions::new().read(true).write(true).open(world.files().database()).unwrap();
        let offset = FIELD_OFFSETS[field] + 3 - bit / 8;
        let mut byte = [0];
        file.read_exact_at(&mut byte, offset).unwrap();
        file.write_all_at(&[byte[0] ^ (1 << (bit % 8))], offset).unwrap();
        drop(file);
        let case = format!("field {field}, bit {bit}");
        let health = check_store(&world.memory()).unwrap();
        assert_eq!(health.findings.len(), 1, "{case}: {health:?}");
        assert!(health.findings[0].what.contains("its header names"), "{case}: {health:?}");
        let repaired = repair_store(&world.memory(), time_at(1_000)).unwrap();
        assert_eq!(repaired.salvaged.len(), 1, "{case}: {repaired:?}");
        assert_eq!(all_records(&mut world.store()), before, "{case}");
        assert!(check_store(&world.memory()).unwrap().findings.is_empty(), "{case}");
    }
    // With other tables the header may be right, so the database is refused.
    for (pragma, is_newer) in [("user_version = 11", true), ("application_id = 7", false)] {
        let world = TestWorld::new();
        drop(filled_store(&world));
        let other = rusqlite::Connection::open(world.files().database()).unwrap();
        other.execute_batch(&format!("CREATE TABLE news (text TEXT); PRAGMA {pragma}")).unwrap();
        drop(other);
        let before = fs::read(world.files().database()).unwrap();
        match repair_store(&world.memory(), time_at(1_000)) {
            Err(StoreError::Newer { found: 11, .. }) => assert!(is_newer),
            Err(StoreError::Foreign { .. }) => assert!(!is_newer),
            done => panic!("{pragma}: {done:?}"),
        }
        assert_eq!(fs::read(world.files().database()).unwrap(), before, "{pragma}");
        assert!(files_set_aside(&world).is_empty(), "{pragma}");
    }
}

#[test]
fn invalid_column_loses_one_row() {
    let (world, before) = damaged_store(|_, _| {});
    let other = rusqlite::Connection::open(world.files().database()).unwrap();
    other.execute_batch("UPDATE memory SET category = 'dancing' WHERE id = 1").unwrap();
    drop(other);
    let health = check_store(&world.memory()).unwrap();
    assert!(health.findings[0].what.contains("1 rows are invalid"), "{health:?}");
    let repaired = repair_store(&world.memory(), time_at(1_000)).unwrap();
    assert_eq!(repaired.salvaged[0].1.refused, 1);
    let mut store = world.store();
    assert_eq!(all_records(&mut store).len(), before.len() - 1);
}

#[test]
fn unreadable_file_stays_a_finding() {
    let world = TestWorld::new();
    fs::create_dir(world.memory()).unwrap();
    fs::write(world.memory().join("rutter.db.damaged-5"), "nothing of ours").unwrap();
    assert_eq!(repair_store(&world.memory(), time_at(1)).unwrap().salvaged[0].1.read, 0);
    assert!(!check_store(&world.memory()).unwrap().findings.is_empty());
}

#[test]
fn open_database_is_not_set_aside() {
    let (world, _) = damaged_store(damage_run_page);
    let open = world.store();
    let error = repair_store(&world.memory(), time_at(1_000)).unwrap_err().to_string();
    assert!(error.contains("another process uses it"), "{error}");
    assert!(files_set_aside(&world).is_empty());
    drop(open);
    repair_store(&world.memory(), time_at(1_001)).unwrap();
    assert!(!files_set_aside(&world).is_empty());
}

#[test]
fn wal_moves_with_its_database() {
    let world = TestWorld::new();
    drop(filled_store(&world));
    let outcome = world.outcome(50, Verdict::Failed);
    world.record_run(&outcome);
    assert!(world.files().wal().metadata().unwrap().len() > 0);
    // A file that was set aside while the clock was far ahead.
    fs::write(world.memory().join("rutter.db.damaged-9999999999999.salvaged"), "").unwrap();
    fs::OpenOptions::new()
        .write(true)
        .open(world.files().database())
        .unwrap()
        .write_all_at(&[0x55; 100], 0)
        .unwrap();
    // The WAL still has the first page, so the header is only found broken once the WAL is gone.
    repair_store(&world.memory(), time_at(1_000)).unwrap();
    assert!(world.store().outcome(outcome.id).unwrap().is_some());
}

#[test]
fn damaged_page_loses_only_its_rows() {
    let (world, before) = damaged_store(damage_run_page);
    let health = check_store(&world.memory()).unwrap();
    assert!(health.findings.iter().any(|finding| finding.what.contains("damaged")), "{health:?}");
    assert_eq!(health.findings[0].advice, "rutter doctor --repair");
    let repaired = repair_store(&world.memory(), time_at(1_000)).unwrap();
    let (_, salvaged) = &repaired.salvaged[0];
    assert!(salvaged.read > 350, "{salvaged:?}");
    let mut store = world.store();
    let after = all_records(&mut store);
    let missing = before.iter().filter(|record| !after.contains(record)).count();
    // One page holds a few dozen runs.
    assert!(missing < 60, "{missing} of {} rows are missing", before.len());
    assert!(check_store(&world.memory()).unwrap().findings.is_empty());
    let left: Vec<_> =
        fs::read_dir(world.memory()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("salvage-")), "{left:?}");
}

#[test]
fn truncated_database_is_salvaged() {
    let (world, before) =
        damaged_store(|file, length| file.set_len(length * 9 / 10 / 4096 * 4096).unwrap());
    repair_store(&world.memory(), time_at(1_000)).unwrap();
    let mut store = world.store();
    let after = all_records(&mut store);
    let saved = before.iter().filter(|record| after.contains(record)).count();
    assert!(saved > 200 && saved < before.len(), "{saved} of {}", before.len());
    assert!(check_store(&world.memory()).unwrap().findings.is_empty());
}

#[test]
fn healthy_store_is_not_repaired() {
    let world = TestWorld::new();
    drop(filled_store(&world));
    let before = all_records(&mut world.store());
    assert!(repair_store(&world.memory(), time_at(9)).unwrap().salvaged.is_empty());
    assert_eq!(all_records(&mut world.store()), before);
    assert!(check_store(&world.memory()).unwrap().findings.is_empty());
}

#[test]
fn backwards_clock_loses_nothing() {
    let world = TestWorld::new();
    let mut store = world.store();
    let owner = world.owner();
    let ghap = store.start_ghap(&owner, &start_fields(), time_at(1_000)).unwrap();
    let update =
        rutter_memory::ghap::GhapUpdate { hypothesis: Some("another"), ..Default::default() };
    let updated = store.update_ghap(&owner, &update, time_at(500)).unwrap();
    assert_eq!(
        updated.revisions[0].at, ghap.created,
        "a revision is not older than what it revises"
    );
    store.note_ghap(&owner, "note", time_at(400)).unwrap();
    let resolved = store
        .resolve_ghap(&owner, &rutter_testkit::world::confirm_fields(), time_at(300))
        .unwrap()
        .ghap;
    assert!(resolved.resolution.unwrap().at >= resolved.created);
    let session = store.session("session-1").unwrap().unwrap();
    assert_eq!(session.seen, time_at(1_000));
    assert!(!session.is_over(time_at(0)));
    // Lists keep the order of writing.
    store.start_ghap(&owner, &start_fields(), time_at(1)).unwrap();
    let newest = store.ghaps(&GhapFilter::default(), time_at(1)).unwrap();
    assert_eq!(newest[0].created, time_at(1));
    assert_eq!(newest.len(), 2);
}
