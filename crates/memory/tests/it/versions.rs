use std::fs;
use std::path::{Path, PathBuf};

use rutter_memory::Store;
use rutter_memory::store::doctor::{StoreProblem, check_store};
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::{ClusterFilter, SCHEMA_VERSION, ValueFilter};

use crate::exchange::filled_store;
use rutter_testkit::world::record_repeatedly;
use rutter_testkit::world::{TestWorld, all_records, start_fields, time_at};

fn fixture_path(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/store/{version}.db"))
}

/// A database of each version opens, migrates, and has the rows of its recorded export. `RUTTER_WRITE_FIXTURE=1` writes
/// the fixture of a new version, once, before it is released.
#[test]
fn every_schema_version_opens() {
    if std::env::var_os("RUTTER_WRITE_FIXTURE").is_some() {
        write_fixture();
    }
    for version in 1..=SCHEMA_VERSION {
        let path = fixture_path(version);
        assert!(
            path.exists(),
            "{} is missing: run this with RUTTER_WRITE_FIXTURE=1",
            path.display()
        );
        let world = TestWorld::new();
        fs::create_dir(world.memory()).unwrap();
        fs::copy(&path, world.files().database()).unwrap();
        // The header and the tables agree.
        let health = check_store(&world.memory()).unwrap();
        let is_damaged =
            health.findings.iter().any(|finding| finding.ailment == StoreProblem::Damaged);
        assert!(!is_damaged, "version {version}: {health:?}");
        let mut store = world.store();
        let said = fs::read_to_string(path.with_extension("jsonl")).unwrap();
        assert_eq!(rows_as_lines(&mut store), said, "version {version}");
        store.start_ghap(&world.other_session("session-9"), &start_fields(), time_at(99)).unwrap();
        // Clusters keep their ids and gain one member. Those of version 5 were built in another way.
        let clusters = store.clusters(&ClusterFilter::default()).unwrap();
        assert_eq!(clusters.is_empty(), version < 6, "version {version}");
        record_repeatedly(&world, &mut store, 1);
        store.update_clusters(time_at(999_999)).unwrap();
        let values = store.values(&ValueFilter::default()).unwrap();
        assert_eq!(values.is_empty(), version < 5, "version {version}");
        for held in values {
            let cluster = store.cluster(held.value.cluster.unwrap()).unwrap();
            assert!(cluster.size > 3 && held.value.support >= 3, "version {version}: {held:?}");
        }
        for before in clusters {
            let cluster = store.cluster(before.id).unwrap();
            assert_eq!(cluster.size, before.size + 1, "version {version}, {}", before.axis);
        }
    }
}

/// Returns every row except the header line with the version.
fn rows_as_lines(store: &mut Store) -> String {
    all_records(store)
        .iter()
        .skip(1)
        .map(|record| serde_json::to_string(record).unwrap() + "\n")
        .collect()
}

fn write_fixture() {
    let world = TestWorld::new();
    let mut store = filled_store(&world);
    record_repeatedly(&world, &mut store, 3);
    store.update_clusters(time_at(900_000)).unwrap();
    drop(store);
    maintain(&world.memory(), &MaintenanceLimits::default(), time_at(99)).unwrap();
    let lines = rows_as_lines(&mut world.store());
    let path = fixture_path(SCHEMA_VERSION);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(world.files().database(), &path).unwrap();
    fs::write(path.with_extension("jsonl"), lines).unwrap();
}
