//! Any bytes as an import file are accepted or refused, never a panic; exported records import again unchanged.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use rutter_memory::store::{ExportRecord, ImportError, ImportFile, WhoseRows};
use rutter_memory::{Store, StoreError, Time};

/// Returns the folder of all runs; each run empties the store in it.
fn folder() -> &'static std::path::Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder")).path()
}

/// Imports a file as the user's own rows.
fn import_file(store: &mut Store, bytes: &[u8], now: Time) -> Result<(), ImportError> {
    let file = ImportFile::read(bytes, |_| {})?;
    store.import(&file, "export.jsonl", WhoseRows::Own, now).map(drop)
}

fn lines(store: &mut Store) -> Vec<u8> {
    let mut out = Vec::new();
    store
        .export::<StoreError>(None, |record: &ExportRecord| {
            serde_json::to_writer(&mut out, record).expect("written");
            out.push(b'\n');
            Ok(())
        })
        .expect("what was taken can be written");
    out
}

fuzz_target!(|bytes: &[u8]| {
    let now = Time::from_millis(1_763_200_000_000);
    let path = folder().join("memory");
    drop(std::fs::remove_dir_all(&path));
    let mut store = Store::open(&path, now).expect("a store");
    let mut file = b"{\"rutter-export\":{\"schema\":1}}\n".to_vec();
    file.extend_from_slice(bytes);
    if import_file(&mut store, &file, now).is_err() {
        return;
    }
    let once = lines(&mut store);
    drop(store);
    drop(std::fs::remove_dir_all(&path));
    let mut store = Store::open(&path, now).expect("a store");
    import_file(&mut store, &once, now).expect("what came out can go in");
    assert!(lines(&mut store) == once, "it is not what went in");
});
