use std::fs;
use std::path::{Path, PathBuf};

use rutter_memory::Store;
use rutter_memory::store::tend::{Bounds, tend};
use rutter_memory::store::{ClusterFilter, VERSION, ValueFilter};

use crate::exchange::filled;
use rutter_testkit::world::repeated;
use rutter_testkit::world::{World, all, at, start};

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/store/{version}.db"))
}

/// A database of each version opens, migrates, and has the rows of its recorded export. `RUTTER_WRITE_FIXTURE=1` writes
/// the fixture of a new version, once, before it is released.
#[test]
fn every_version_there_ever_was_opens() {
    if std::env::var_os("RUTTER_WRITE_FIXTURE").is_some() {
        write_the_fixture();
    }
    for version in 1..=VERSION {
        let path = fixture(version);
        assert!(
            path.exists(),
            "{} is missing: run this with RUTTER_WRITE_FIXTURE=1",
            path.display()
        );
        let world = World::new();
        fs::create_dir(world.memory()).unwrap();
        fs::copy(&path, world.files().database()).unwrap();
        let mut store = world.store();
        let said = fs::read_to_string(path.with_extension("jsonl")).unwrap();
        assert_eq!(lines(&mut store), said, "version {version}");
        store.start_ghap(&world.other("session-9"), &start(), at(99)).unwrap();
        // Clusters keep their ids and gain one member. Those of version 5 were built in another way.
        let clusters = store.clusters(&ClusterFilter::default()).unwrap();
        assert_eq!(clusters.is_empty(), version < 6, "version {version}");
        repeated(&world, &mut store, 1);
        store.bring_clusters_up_to_date(at(999_999)).unwrap();
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
fn lines(store: &mut Store) -> String {
    all(store).iter().skip(1).map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
}

fn write_the_fixture() {
    let world = World::new();
    let mut store = filled(&world);
    repeated(&world, &mut store, 3);
    store.bring_clusters_up_to_date(at(900_000)).unwrap();
    drop(store);
    tend(&world.memory(), &Bounds::default(), at(99)).unwrap();
    let lines = lines(&mut world.store());
    let path = fixture(VERSION);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(world.files().database(), &path).unwrap();
    fs::write(path.with_extension("jsonl"), lines).unwrap();
}
