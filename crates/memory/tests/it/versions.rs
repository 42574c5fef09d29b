use std::fs;
use std::path::{Path, PathBuf};

use rutter_memory::store::VERSION;
use rutter_memory::store::tend::{Bounds, tend};

use crate::exchange::filled;
use crate::support::{World, all, start};

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/store/{version}.db"))
}

/// A database of each version opens, migrates, and still says what it said.
#[test]
fn every_version_there_ever_was_opens() {
    for version in 1..=VERSION {
        let path = fixture(version);
        assert!(
            path.exists(),
            "{} is missing: `cargo test -p rutter-memory write_the_fixture -- --ignored`",
            path.display()
        );
        let world = World::new();
        fs::create_dir(world.memory()).unwrap();
        fs::copy(&path, world.files().database()).unwrap();
        let mut store = world.store();
        let said = fs::read_to_string(path.with_extension("jsonl")).unwrap();
        let says: String = all(&mut store)
            .iter()
            .skip(1)
            .map(|record| serde_json::to_string(record).unwrap() + "\n")
            .collect();
        assert_eq!(says, said, "version {version}");
        store.start_ghap(&world.other("session-9"), &start(), crate::support::at(99)).unwrap();
    }
}

/// Run once for a new version, before it is released.
#[test]
#[ignore = "writes into the repository"]
fn write_the_fixture() {
    let world = World::new();
    let mut store = filled(&world);
    let lines: String = all(&mut store)
        .iter()
        .skip(1)
        .map(|record| serde_json::to_string(record).unwrap() + "\n")
        .collect();
    drop(store);
    tend(&world.memory(), &Bounds::default(), crate::support::at(99)).unwrap();
    let path = fixture(VERSION);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(world.files().database(), &path).unwrap();
    fs::write(path.with_extension("jsonl"), lines).unwrap();
}
