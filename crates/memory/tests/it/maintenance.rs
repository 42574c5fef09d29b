use std::time::Duration;

use rutter_memory::change::Change;
use rutter_memory::ghap::Tier;
use rutter_memory::outcome::Verdict;
use rutter_memory::store::entry::EntryKind;
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::spool;
use rutter_memory::{Clean, Id};

use rutter_testkit::world::{TestWorld, all_records, confirm_fields, start_fields, time_at};

#[test]
fn retires_outcomes_except_evidence() {
    let world = TestWorld::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(0)).unwrap();
    let evidence = world.outcome(1, Verdict::Passed);
    world.record_run(&evidence);
    let resolved = store.resolve_ghap(&world.owner(), &confirm_fields(), time_at(2)).unwrap();
    assert_eq!(resolved.ghap.resolution.unwrap().tier, Tier::Gold);
    let many: Vec<_> = (0..10).map(|second| world.outcome(10 + second, Verdict::Failed)).collect();
    for outcome in &many {
        world.record_run(outcome);
    }

    let bounds = MaintenanceLimits { outcomes: 4, ..MaintenanceLimits::default() };
    assert_eq!(maintain(&world.memory(), &bounds, time_at(30)).unwrap().unwrap().retired, 6);
    assert!(store.outcome(many[5].id).unwrap().is_none());
    assert!(store.outcome(many[6].id).unwrap().is_some());
    assert!(store.outcome(evidence.id).unwrap().is_some());

    let bounds =
        MaintenanceLimits { outcome_age: Duration::from_secs(100), ..MaintenanceLimits::default() };
    // A clock that is far ahead makes nothing old: age is counted from the newest run.
    assert_eq!(maintain(&world.memory(), &bounds, time_at(1_000_000)).unwrap().unwrap().retired, 0);
    world.record_run(&world.outcome(1_000, Verdict::Failed));
    assert_eq!(maintain(&world.memory(), &bounds, time_at(1_000)).unwrap().unwrap().retired, 4);
    assert!(store.outcome(evidence.id).unwrap().is_some());
    // A clock that was set back makes nothing old.
    world.record_run(&world.outcome(10, Verdict::Failed));
    assert_eq!(maintain(&world.memory(), &bounds, time_at(0)).unwrap().unwrap().retired, 0);
}

#[test]
fn maintenance_checkpoints_wal() {
    let world = TestWorld::new();
    drop(world.store());
    for second in 0..50 {
        world.record_run(&world.outcome(second, Verdict::Failed));
    }
    assert!(world.files().wal().metadata().unwrap().len() > 0);
    assert!(
        maintain(&world.memory(), &MaintenanceLimits::default(), time_at(60))
            .unwrap()
            .unwrap()
            .folded
    );
    assert!(!world.files().wal().exists(), "the last to leave removes what is empty");
    assert_eq!(
        all_records(&mut world.store()).len(),
        1 + 1 + 1 + 2 * 50,
        "each run with its origin"
    );
}

#[test]
fn maintenance_runs_exclusively() {
    let world = TestWorld::new();
    drop(world.store());
    maintain(&world.memory(), &MaintenanceLimits::default(), time_at(1)).unwrap().unwrap();
    let spool = std::fs::File::open(world.files().spool()).unwrap();
    spool.lock().unwrap();
    assert_eq!(maintain(&world.memory(), &MaintenanceLimits::default(), time_at(1)).unwrap(), None);
    drop(spool);
    assert!(
        maintain(&world.memory(), &MaintenanceLimits::default(), time_at(1)).unwrap().is_some()
    );
}

#[test]
fn spool_size_is_bounded() {
    let world = TestWorld::new();
    let mut entry = world.entry(
        "session-1",
        1,
        EntryKind::Ran(Box::new(world.outcome(1, Verdict::Failed).into())),
    );
    if let EntryKind::Ran(run) = &mut entry.kind {
        run.outcome.failing = vec!["a test ".repeat(150_000).as_str().into()];
    }
    let full = (0..100)
        .find_map(|_| spool::append_entries(&world.files(), std::slice::from_ref(&entry)).err());
    assert!(matches!(full, Some(spool::SpoolError::Full)), "{full:?}");
    let size = spool::total_bytes(&world.files()).unwrap();
    assert!(size <= spool::MAX_SPOOL_BYTES && size > spool::MAX_SPOOL_BYTES / 2, "{size}");
}

#[test]
fn torn_spool_line_is_dropped() {
    let world = TestWorld::new();
    let (first, second) = (world.outcome(1, Verdict::Failed), world.outcome(2, Verdict::Failed));
    world.record_run(&first);
    // A writer was killed in the middle of its line.
    let current = world.files().spool().join("current.jsonl");
    let mut text = std::fs::read(&current).unwrap();
    let half = text[..text.len() / 2].to_vec();
    text.extend(half);
    std::fs::write(&current, text).unwrap();
    world.record_run(&second);
    let tended =
        maintain(&world.memory(), &MaintenanceLimits::default(), time_at(3)).unwrap().unwrap();
    assert_eq!((tended.drained, tended.refused, tended.held), (2, 0, 0));
    let store = world.store();
    assert!(
        store.outcome(first.id).unwrap().is_some() && store.outcome(second.id).unwrap().is_some()
    );
}

/// The names in a spool line stay, because a line may be drained by a later version.
#[test]
fn earlier_spool_line_is_drained() {
    let world = TestWorld::new();
    drop(world.store());
    let id = Id::new(time_at(2));
    let change = Change::from_command(&Clean::new("npm install"), time_at(2));
    let entries = [EntryKind::Called(None), EntryKind::Changed(id, change)];
    let place = serde_json::to_string(&world.place()).unwrap();
    let at = serde_json::to_string(&time_at(2)).unwrap();
    let line = |what: &str| {
        format!(
            r#"{{"client":"session-1","place":{place},"process":null,"at":{at},"what":{what}}}"#
        )
    };
    let lines = [
        line(r#"{"called":null}"#),
        line(&format!(
            r#"{{"changed":["{id}",{{"sort":"command","name":"npm install","patch":"","at":{at}}}]}}"#
        )),
    ];
    for (line, kind) in lines.iter().zip(entries) {
        let earlier: serde_json::Value = serde_json::from_str(line).unwrap();
        let written = serde_json::to_value(world.entry("session-1", 2, kind)).unwrap();
        assert_eq!(written, earlier);
    }
    std::fs::create_dir_all(world.files().spool()).unwrap();
    let text = format!("{{\"form\":1,\"entries\":[{}]}}\n", lines.join(","));
    std::fs::write(world.files().spool().join("current.jsonl"), text).unwrap();
    let maintained =
        maintain(&world.memory(), &MaintenanceLimits::default(), time_at(3)).unwrap().unwrap();
    assert_eq!((maintained.drained, maintained.refused, maintained.held), (2, 0, 0));
    assert_eq!(world.store().session("session-1").unwrap().unwrap().calls, 1);
}

#[test]
fn newer_spool_line_is_held() {
    let world = TestWorld::new();
    world.record_run(&world.outcome(1, Verdict::Failed));
    let current = world.files().spool().join("current.jsonl");
    let newer = "{\"form\":2,\"entries\":[{\"dance\":true}]}\n";
    std::fs::write(&current, [std::fs::read_to_string(&current).unwrap().as_str(), newer].concat())
        .unwrap();
    for _ in 0..3 {
        let tended =
            maintain(&world.memory(), &MaintenanceLimits::default(), time_at(3)).unwrap().unwrap();
        assert_eq!(tended.held, 1);
        assert_eq!(
            std::fs::read_to_string(world.files().spool().join("held.jsonl")).unwrap(),
            newer
        );
    }
}

#[test]
fn held_lines_are_counted_once() {
    let world = TestWorld::new();
    drop(world.store());
    std::fs::create_dir_all(world.files().spool()).unwrap();
    for (file, number) in [("held.jsonl", 1), ("current.jsonl", 2)] {
        let line = format!("{{\"form\":2,\"entries\":[{number}]}}\n");
        std::fs::write(world.files().spool().join(file), line).unwrap();
    }
    assert_eq!(
        maintain(&world.memory(), &MaintenanceLimits::default(), time_at(1)).unwrap().unwrap().held,
        2
    );
}

#[test]
fn locked_spool_files_stay_few() {
    let world = TestWorld::new();
    drop(world.store());
    for round in 0..5 {
        spool_call(&world, round);
        // A writer holds a lock on every existing file.
        let hanging: Vec<_> = std::fs::read_dir(world.files().spool())
            .unwrap()
            .map(|entry| std::fs::File::open(entry.unwrap().path()).unwrap())
            .collect();
        for file in &hanging {
            file.lock_shared().unwrap();
        }
        maintain(&world.memory(), &MaintenanceLimits::default(), time_at(round)).unwrap().unwrap();
    }
    assert!(std::fs::read_dir(world.files().spool()).unwrap().count() <= 2);
    assert_eq!(
        maintain(&world.memory(), &MaintenanceLimits::default(), time_at(9))
            .unwrap()
            .unwrap()
            .drained,
        5
    );
}

fn spool_call(world: &TestWorld, second: i64) {
    spool::append_entries(
        &world.files(),
        &[world.entry("session-1", second, EntryKind::Called(None))],
    )
    .unwrap();
}
