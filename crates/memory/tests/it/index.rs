//! Search index files: in every state of these files, a search finds exactly the rows of the database.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use rutter_memory::store::doctor;
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::{DocumentHit, DocumentQuery, MemoryEdit};
use rutter_memory::{Id, Store};
use rutter_search::embed::embed;
use serde_json::json;

use rutter_testkit::world::{
    ImportText as _, TestWorld, confirm_fields, falsify_fields, remember_fact, start_fields,
    time_at,
};

const LOCK_ORDER_TEXT: &str =
    "the queue waits for ever because two workers take the lock in another order";

/// Runs maintenance and returns true if it rebuilt the index files.
fn rebuild_index(world: &TestWorld) -> bool {
    maintain(&world.memory(), &MaintenanceLimits::default(), time_at(90)).unwrap().unwrap().filed
}

fn find_hits(world: &TestWorld, query: &DocumentQuery<'_>) -> Vec<DocumentHit> {
    world.store().search_documents(query).unwrap()
}

fn find_rows(world: &TestWorld, text: &str) -> Vec<Id> {
    find_hits(world, &DocumentQuery::new(text)).iter().map(|hit| hit.row).collect()
}

fn index_files(world: &TestWorld) -> [std::path::PathBuf; 2] {
    [world.files().vectors(), world.files().terms()]
}

/// Runs a query with the index files moved away, and puts them back.
fn find_without_index(world: &TestWorld, query: &DocumentQuery<'_>) -> Vec<DocumentHit> {
    let aside = world.memory().join("aside");
    fs::create_dir(&aside).unwrap();
    let moved: Vec<_> = index_files(world)
        .into_iter()
        .filter(|path| path.exists())
        .map(|path| (aside.join(path.file_name().unwrap()), path))
        .collect();
    for (to, from) in &moved {
        fs::rename(from, to).unwrap();
    }
    let found = find_hits(world, query);
    for (from, to) in &moved {
        fs::rename(from, to).unwrap();
    }
    fs::remove_dir(&aside).unwrap();
    found
}

#[test]
fn rebuilds_files_only_after_change() {
    let world = TestWorld::new();
    drop(world.store());
    assert!(!rebuild_index(&world), "there is nothing to find");
    assert!(index_files(&world).iter().all(|path| !path.exists()));
    let lock = remember_fact(&mut world.store(), &world.place_of("ship"), LOCK_ORDER_TEXT);
    assert!(rebuild_index(&world));
    assert!(index_files(&world).iter().all(|path| path.exists()));
    assert!(!rebuild_index(&world), "nothing has changed");
    let edit = MemoryEdit { text: Some("the queue is empty"), ..MemoryEdit::default() };
    world.store().edit_memory(lock, &edit, time_at(2)).unwrap();
    assert!(rebuild_index(&world));
    for path in index_files(&world) {
        fs::remove_file(&path).unwrap();
        assert!(rebuild_index(&world), "{}", path.display());
        let length = path.metadata().unwrap().len();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 1).unwrap();
        assert!(rebuild_index(&world), "{}", path.display());
        // The last byte of a record: opening the file does not detect this damage.
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(rebuild_index(&world), "{}", path.display());
        assert!(!rebuild_index(&world));
    }
}

/// A few documents in a thousand are read from the database; rebuilding the files for each would cost more.
#[test]
fn large_store_defers_few_documents() {
    let world = TestWorld::new();
    import_memories(&world, 400);
    assert!(rebuild_index(&world));
    for number in 0..8 {
        remember_fact(
            &mut world.store(),
            &world.place_of("ship"),
            &format!("{LOCK_ORDER_TEXT} {number}"),
        );
    }
    assert!(!rebuild_index(&world));
    assert_eq!(
        find_hits(&world, &DocumentQuery::new(LOCK_ORDER_TEXT))
            .iter()
            .filter(|hit| hit.fit.lexical > 0.0)
            .count(),
        8
    );
    remember_fact(&mut world.store(), &world.place_of("ship"), LOCK_ORDER_TEXT);
    assert!(rebuild_index(&world));
}

/// Imports memories of a few words each.
fn import_memories(world: &TestWorld, count: usize) {
    let mut lines = vec![json!({ "rutter-export": { "schema": 1 } }).to_string()];
    for number in 0..count {
        let memory = json!({
            "id": Id::new(time_at(1)), "project": null, "category": "fact",
            "text": format!("page {number} of chapter {}", number % 40), "importance": 0.5,
            "tags": [], "created": time_at(1), "changed": time_at(1),
        });
        lines.push(json!({ "memory": memory }).to_string());
    }
    world.store().import_own(lines.join("\n").as_bytes()).unwrap();
}

#[test]
fn query_after_import_builds_files() {
    let world = TestWorld::new();
    import_memories(&world, 2_100);
    let findings = || {
        let found = doctor::check_store(&world.memory()).unwrap().findings;
        let found = found.into_iter().map(|finding| (finding.ailment.as_str(), finding.advice));
        found.collect::<Vec<_>>()
    };
    assert_eq!(findings(), [("memory-unfiled", "rutter maintain".to_owned())]);
    let query = DocumentQuery::new("chapter 7");
    let first = find_hits(&world, &query);
    assert!(index_files(&world).iter().all(|path| path.exists()));
    assert_eq!(findings(), []);
    assert_eq!(find_hits(&world, &query), first);
    assert!(!rebuild_index(&world));
}

#[test]
fn damaged_files_change_no_result() {
    let world = TestWorld::new();
    import_memories(&world, 60);
    let lock = remember_fact(&mut world.store(), &world.place_of("ship"), LOCK_ORDER_TEXT);
    rebuild_index(&world);
    let query = DocumentQuery::new("which workers take the lock on page 12 of the queue");
    let expected = find_without_index(&world, &query);
    assert_eq!(expected[0].row, lock);
    assert_eq!(find_hits(&world, &query), expected);
    for path in index_files(&world) {
        let whole = fs::read(&path).unwrap();
        let put = |bytes: &[u8]| {
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
            assert_eq!(find_hits(&world, &query), expected, "{}", path.display());
        };
        put(b"");
        put(b"no such file");
        put(&whole[..whole.len() / 2]);
        for hole in (0..whole.len()).step_by(512) {
            let mut bytes = whole.clone();
            let end = bytes.len().min(hole + 512);
            bytes[hole..end].fill(0);
            put(&bytes);
        }
        put(&whole);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(find_hits(&world, &query), expected);
        fs::remove_dir(&path).unwrap();
        fs::write(&path, &whole).unwrap();
    }
}

/// The same row numbers belong to other rows in another database.
#[test]
fn ignores_files_of_another_database() {
    let (one, other) = (TestWorld::new(), TestWorld::new());
    for world in [&one, &other] {
        remember_fact(&mut world.store(), &world.place_of("ship"), LOCK_ORDER_TEXT);
        import_memories(world, 30);
    }
    remember_fact(&mut one.store(), &one.place_of("ship"), "the mast is made of oak");
    remember_fact(&mut other.store(), &other.place_of("ship"), "the sail is made of linen");
    rebuild_index(&one);
    rebuild_index(&other);
    let query = DocumentQuery::new("what is the sail made of");
    let expected = find_hits(&other, &query);
    for (from, to) in index_files(&one).iter().zip(index_files(&other)) {
        fs::copy(from, to).unwrap();
    }
    assert_eq!(find_hits(&other, &query), expected);
    assert!(rebuild_index(&other), "they are replaced");
    assert_eq!(find_hits(&other, &query), expected);
}

/// A database restored from a copy reuses row numbers that the files assign to other rows.
#[test]
fn ignores_files_newer_than_database() {
    let world = TestWorld::new();
    import_memories(&world, 30);
    rebuild_index(&world);
    let copy = fs::read(world.files().database()).unwrap();
    let later =
        remember_fact(&mut world.store(), &world.place_of("ship"), "the mast is made of oak");
    rebuild_index(&world);
    assert!(!world.files().wal().exists());
    fs::write(world.files().database(), copy).unwrap();
    let sail =
        remember_fact(&mut world.store(), &world.place_of("ship"), "the sail is made of linen");
    let query = DocumentQuery::new("the mast is made of oak");
    let found = find_hits(&world, &query);
    assert!(found.iter().all(|hit| hit.row != later));
    assert_eq!(found[0].row, sail);
    assert_eq!(found, find_without_index(&world, &query));
}

/// The index files of a lost database are not valid for its replacement.
#[test]
fn new_database_ignores_old_files() {
    let world = TestWorld::new();
    import_memories(&world, 30);
    let lock = remember_fact(&mut world.store(), &world.place_of("ship"), LOCK_ORDER_TEXT);
    rebuild_index(&world);
    let mut bytes = fs::read(world.files().database()).unwrap();
    bytes[..100].fill(0);
    fs::write(world.files().database(), bytes).unwrap();
    remember_fact(&mut world.store(), &world.place_of("ship"), "the mast is made of oak");
    assert!(!find_rows(&world, LOCK_ORDER_TEXT).contains(&lock));
    doctor::repair_store(&world.memory(), time_at(5)).unwrap();
    assert_eq!(find_rows(&world, LOCK_ORDER_TEXT)[0], lock);
    let query = DocumentQuery::new(LOCK_ORDER_TEXT);
    assert_eq!(find_hits(&world, &query), find_without_index(&world, &query));
}

#[test]
fn deleted_row_number_is_not_reused() {
    let world = TestWorld::new();
    import_memories(&world, 60);
    let lock = remember_fact(&mut world.store(), &world.place_of("ship"), LOCK_ORDER_TEXT);
    rebuild_index(&world);
    let connection = rusqlite::Connection::open(world.files().database()).unwrap();
    let newest = |connection: &rusqlite::Connection| -> i64 {
        connection.query_row("SELECT max(id) FROM document", [], |row| row.get(0)).unwrap()
    };
    let before = newest(&connection);
    connection.execute("DELETE FROM memory WHERE uid = ?1", [lock]).unwrap();
    assert!(!find_rows(&world, LOCK_ORDER_TEXT).contains(&lock));
    let mast =
        remember_fact(&mut world.store(), &world.place_of("ship"), "the mast is made of oak");
    assert!(newest(&connection) > before);
    let query = DocumentQuery::new("the queue waits for ever because two workers take the oak");
    let found = find_hits(&world, &query);
    assert_eq!((found[0].row, found.iter().any(|hit| hit.row == lock)), (mast, false));
    assert_eq!(found, find_without_index(&world, &query));
}

/// Neither deleted documents nor those of other projects take the place of a match.
#[test]
fn deleted_rows_displace_no_match() {
    let world = TestWorld::new();
    for number in 0..230 {
        remember_fact(
            &mut world.store(),
            &world.place_of("boat"),
            &format!("{LOCK_ORDER_TEXT}, case {number}"),
        );
        if number % 20 == 0 {
            remember_fact(
                &mut world.store(),
                &world.place_of("ship"),
                &format!("a queue and its lock, {number}"),
            );
        }
    }
    let own: i64 = rusqlite::Connection::open(world.files().database())
        .unwrap()
        .query_row("SELECT project FROM memory WHERE text LIKE 'a queue%'", [], |row| row.get(0))
        .unwrap();
    let query = DocumentQuery { project: Some(own), ..DocumentQuery::new(LOCK_ORDER_TEXT) };
    for filed in [false, true] {
        assert_eq!(rebuild_index(&world), !filed);
        assert_eq!(find_hits(&world, &query).len(), 12, "{filed}");
    }
    let connection = rusqlite::Connection::open(world.files().database()).unwrap();
    connection.execute("DELETE FROM memory WHERE text LIKE '%case%'", []).unwrap();
    let all = find_hits(&world, &DocumentQuery::new(LOCK_ORDER_TEXT));
    assert_eq!(all.len(), 12);
    assert_eq!(all, find_without_index(&world, &DocumentQuery::new(LOCK_ORDER_TEXT)));
}

fn vector_bytes(text: &str) -> Vec<u8> {
    embed(text).unwrap().numbers().map(i8::cast_unsigned).to_vec()
}

fn files_with_bytes(world: &TestWorld, bytes: &[u8]) -> Vec<std::path::PathBuf> {
    let holds = |all: &[u8]| all.windows(bytes.len()).any(|window| window == bytes);
    world.file_contents().into_iter().filter(|(_, all)| holds(all)).map(|(path, _)| path).collect()
}

#[test]
fn forgotten_rows_leave_index_files() {
    let world = TestWorld::new();
    import_memories(&world, 60);
    remember_fact(&mut world.store(), &world.place_of("ship"), LOCK_ORDER_TEXT);
    let oak = "the mast is made of oak";
    remember_fact(&mut world.store(), &world.place_of("ship"), oak);
    rebuild_index(&world);
    let vector = vector_bytes(LOCK_ORDER_TEXT);
    assert!(files_with_bytes(&world, &vector).iter().any(|path| path.ends_with("vectors")));
    // An unfinished file of a killed process.
    fs::write(world.memory().join("vectors.new"), &vector).unwrap();
    let mut store = world.store();
    let rows = store.find_rows_with_words("workers").unwrap();
    assert!(store.forget(&rows, None).unwrap().erased);
    drop(store);
    assert_eq!(files_with_bytes(&world, &vector), Vec::<std::path::PathBuf>::new());
    // All other rows are found as before, in files that were rebuilt at once.
    assert!(
        files_with_bytes(&world, &vector_bytes(oak)).iter().any(|path| path.ends_with("vectors"))
    );
    assert!(!rebuild_index(&world));
    let query = DocumentQuery::new("the mast and its lock");
    assert_eq!(find_hits(&world, &query), find_without_index(&world, &query));

    let mut store = world.store();
    assert!(store.forget_all().unwrap().erased);
    drop(store);
    assert_eq!(files_with_bytes(&world, &vector_bytes(oak)), Vec::<std::path::PathBuf>::new());
    assert_eq!(count_hits(&world), 0);
}

fn count_hits(world: &TestWorld) -> usize {
    find_hits(world, &DocumentQuery::new("mast page chapter")).len()
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Readers get the complete old files or the complete new ones, and no row after its deletion.
#[test]
fn readers_survive_concurrent_rebuilds() {
    const REBUILD_ROUNDS: usize = 25;
    let world = TestWorld::new();
    import_memories(&world, 40);
    let stays = remember_fact(&mut world.store(), &world.place_of("ship"), LOCK_ORDER_TEXT);
    rebuild_index(&world);
    let done = AtomicBool::new(false);
    let read = |world: &TestWorld| {
        let mut times = 0;
        while !done.load(Ordering::Relaxed) || times < 3 {
            let mut store = Store::open(&world.memory(), time_at(0)).unwrap();
            let found = store.search_documents(&DocumentQuery::new(LOCK_ORDER_TEXT)).unwrap();
            assert_eq!(found[0].row, stays);
            times += 1;
        }
    };
    std::thread::scope(|scope| {
        let readers = [scope.spawn(|| read(&world)), scope.spawn(|| read(&world))];
        // A panic below must end the readers as well.
        let end = SetOnDrop(&done);
        let query = DocumentQuery::new("another lock of the workers");
        for round in 0..REBUILD_ROUNDS {
            let passing = remember_fact(
                &mut world.store(),
                &world.place_of("ship"),
                &format!("another lock, {round}"),
            );
            assert!(find_hits(&world, &query).iter().any(|hit| hit.row == passing));
            assert!(rebuild_index(&world));
            let connection = rusqlite::Connection::open(world.files().database()).unwrap();
            connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
            connection.execute("DELETE FROM memory WHERE uid = ?1", [passing]).unwrap();
            assert!(find_hits(&world, &query).iter().all(|hit| hit.row != passing));
        }
        drop(end);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

/// A change to a store. Search results must not depend on when the index files are rebuilt.
#[derive(Debug, Clone)]
enum IndexStep {
    Remember(bool, String),
    Edit(prop::sample::Index, String),
    Delete(prop::sample::Index),
    Resolve(bool),
    File,
}

fn arbitrary_steps() -> impl Strategy<Value = Vec<IndexStep>> {
    let word = || {
        prop::sample::select(vec![
            "lock",
            "queue",
            "worker",
            "parse_header",
            "page",
            "CRLF",
            "日本語",
        ])
    };
    let text = || prop::collection::vec(word(), 1..12).prop_map(|words| words.join(" "));
    let step = prop_oneof![
        6 => (any::<bool>(), text()).prop_map(|(own, text)| IndexStep::Remember(own, text)),
        1 => (any::<prop::sample::Index>(), text()).prop_map(|(which, text)| IndexStep::Edit(which, text)),
        1 => any::<prop::sample::Index>().prop_map(IndexStep::Delete),
        1 => any::<bool>().prop_map(IndexStep::Resolve),
        1 => Just(IndexStep::File),
    ];
    prop::collection::vec(step, 1..25)
}

fn apply_step(world: &TestWorld, step: &IndexStep, ids: &mut Vec<Id>) {
    match step {
        IndexStep::Remember(own, text) => {
            // Remembering a known text returns its existing row.
            let id = remember_fact(
                &mut world.store(),
                &world.place_of(if *own { "ship" } else { "boat" }),
                text,
            );
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        IndexStep::Edit(which, text) if !ids.is_empty() => {
            let edit = MemoryEdit { text: Some(text), ..MemoryEdit::default() };
            world.store().edit_memory(*which.get(ids), &edit, time_at(3)).unwrap();
        }
        IndexStep::Delete(which) if !ids.is_empty() => {
            let id = ids.remove(which.index(ids.len()));
            delete_memory(&world.files().database(), id);
        }
        IndexStep::Resolve(confirmed) => {
            let mut store = world.store();
            store.start_ghap(&world.owner(), &start_fields(), time_at(4)).unwrap();
            let resolve = if *confirmed { confirm_fields() } else { falsify_fields() };
            store.resolve_ghap(&world.owner(), &resolve, time_at(5)).unwrap();
        }
        IndexStep::File => drop(rebuild_index(world)),
        IndexStep::Edit(..) | IndexStep::Delete(_) => {}
    }
}

fn delete_memory(database: &Path, id: Id) {
    let connection = rusqlite::Connection::open(database).unwrap();
    assert_eq!(connection.execute("DELETE FROM memory WHERE uid = ?1", [id]).unwrap(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn files_do_not_change_results(steps in arbitrary_steps()) {
        use rutter_memory::document::Axis;
        let world = TestWorld::new();
        drop(world.store());
        let mut ids = Vec::new();
        for step in &steps {
            apply_step(&world, step, &mut ids);
        }
        for text in ["lock queue", "the parser takes CRLF in parse_header", "日本語 page worker lock"] {
            for axis in [Axis::Full, Axis::Strategy, Axis::RootCause] {
                for project in [None, Some(1), Some(2)] {
                    let query = DocumentQuery { axis, project, ..DocumentQuery::new(text) };
                    prop_assert_eq!(find_hits(&world, &query), find_without_index(&world, &query));
                }
            }
        }
    }
}
