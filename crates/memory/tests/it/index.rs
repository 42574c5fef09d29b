//! Search index files: in every state of these files, a search finds exactly the rows of the database.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use rutter_memory::memory::Category;
use rutter_memory::project::Located;
use rutter_memory::store::doctor;
use rutter_memory::store::entry::Place;
use rutter_memory::store::tend::{Bounds, tend};
use rutter_memory::store::{Hit, MemoryEdit, NewMemory, Query};
use rutter_memory::{Id, Store};
use rutter_search::embed::embed;
use serde_json::json;

use rutter_testkit::world::{ImportText as _, World, at, confirm, falsify, start};

const LOCK: &str = "the queue waits for ever because two workers take the lock in another order";

fn remember(world: &World, project: &str, text: &str) -> Id {
    let place = Place::from(&Located::find(&world.project(project)));
    let new = NewMemory {
        place: Some(&place),
        category: Category::Fact,
        text,
        importance: 0.5,
        tags: &[],
    };
    world.store().remember(&new, at(1)).unwrap().memory.id
}

/// Runs maintenance and returns true if it rebuilt the index files.
fn file(world: &World) -> bool {
    tend(&world.memory(), &Bounds::default(), at(90)).unwrap().unwrap().filed
}

fn found(world: &World, query: &Query<'_>) -> Vec<Hit> {
    world.store().find(query).unwrap()
}

fn rows(world: &World, text: &str) -> Vec<Id> {
    found(world, &Query::new(text)).iter().map(|hit| hit.row).collect()
}

fn files(world: &World) -> [std::path::PathBuf; 2] {
    [world.files().vectors(), world.files().terms()]
}

/// Runs a query with the index files moved away, and puts them back.
fn without_files(world: &World, query: &Query<'_>) -> Vec<Hit> {
    let aside = world.memory().join("aside");
    fs::create_dir(&aside).unwrap();
    let moved: Vec<_> = files(world)
        .into_iter()
        .filter(|path| path.exists())
        .map(|path| (aside.join(path.file_name().unwrap()), path))
        .collect();
    for (to, from) in &moved {
        fs::rename(from, to).unwrap();
    }
    let found = found(world, query);
    for (from, to) in &moved {
        fs::rename(from, to).unwrap();
    }
    fs::remove_dir(&aside).unwrap();
    found
}

#[test]
fn they_are_made_when_something_changed_and_not_otherwise() {
    let world = World::new();
    drop(world.store());
    assert!(!file(&world), "there is nothing to find");
    assert!(files(&world).iter().all(|path| !path.exists()));
    let lock = remember(&world, "ship", LOCK);
    assert!(file(&world));
    assert!(files(&world).iter().all(|path| path.exists()));
    assert!(!file(&world), "nothing has changed");
    let edit = MemoryEdit { text: Some("the queue is empty"), ..MemoryEdit::default() };
    world.store().edit_memory(lock, &edit, at(2)).unwrap();
    assert!(file(&world));
    for path in files(&world) {
        fs::remove_file(&path).unwrap();
        assert!(file(&world), "{}", path.display());
        let length = path.metadata().unwrap().len();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 1).unwrap();
        assert!(file(&world), "{}", path.display());
        // The last byte of a record: opening the file does not detect this damage.
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(file(&world), "{}", path.display());
        assert!(!file(&world));
    }
}

/// A few documents in a thousand are read from the database; rebuilding the files for each would cost more.
#[test]
fn in_a_large_memory_a_few_wait() {
    let world = World::new();
    many(&world, 400);
    assert!(file(&world));
    for number in 0..8 {
        remember(&world, "ship", &format!("{LOCK} {number}"));
    }
    assert!(!file(&world));
    assert_eq!(
        found(&world, &Query::new(LOCK)).iter().filter(|hit| hit.fit.lexical > 0.0).count(),
        8
    );
    remember(&world, "ship", LOCK);
    assert!(file(&world));
}

/// Imports memories of a few words each.
fn many(world: &World, count: usize) {
    let mut lines = vec![json!({ "rutter-export": { "schema": 1 } }).to_string()];
    for number in 0..count {
        let memory = json!({
            "id": Id::new(at(1)), "project": null, "category": "fact",
            "text": format!("page {number} of chapter {}", number % 40), "importance": 0.5,
            "tags": [], "created": at(1), "changed": at(1),
        });
        lines.push(json!({ "memory": memory }).to_string());
    }
    world.store().import_own(lines.join("\n").as_bytes()).unwrap();
}

#[test]
fn who_asks_after_an_import_makes_them_and_doctor_says_that_they_are_missing() {
    let world = World::new();
    many(&world, 2_100);
    let findings = || {
        let found = doctor::examine(&world.memory()).unwrap().findings;
        let found = found.into_iter().map(|finding| (finding.ailment.as_str(), finding.advice));
        found.collect::<Vec<_>>()
    };
    assert_eq!(findings(), [("memory-unfiled", "rutter tend".to_owned())]);
    let query = Query::new("chapter 7");
    let first = found(&world, &query);
    assert!(files(&world).iter().all(|path| path.exists()));
    assert_eq!(findings(), []);
    assert_eq!(found(&world, &query), first);
    assert!(!file(&world));
}

#[test]
fn what_is_wrong_with_them_changes_nothing() {
    let world = World::new();
    many(&world, 60);
    let lock = remember(&world, "ship", LOCK);
    file(&world);
    let query = Query::new("which workers take the lock on page 12 of the queue");
    let expected = without_files(&world, &query);
    assert_eq!(expected[0].row, lock);
    assert_eq!(found(&world, &query), expected);
    for path in files(&world) {
        let whole = fs::read(&path).unwrap();
        let put = |bytes: &[u8]| {
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
            assert_eq!(found(&world, &query), expected, "{}", path.display());
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
        assert_eq!(found(&world, &query), expected);
        fs::remove_dir(&path).unwrap();
        fs::write(&path, &whole).unwrap();
    }
}

/// The same row numbers belong to other rows in another database.
#[test]
fn those_of_another_database_are_none_of_ours() {
    let (one, other) = (World::new(), World::new());
    for world in [&one, &other] {
        remember(world, "ship", LOCK);
        many(world, 30);
    }
    remember(&one, "ship", "the mast is made of oak");
    remember(&other, "ship", "the sail is made of linen");
    file(&one);
    file(&other);
    let query = Query::new("what is the sail made of");
    let expected = found(&other, &query);
    for (from, to) in files(&one).iter().zip(files(&other)) {
        fs::copy(from, to).unwrap();
    }
    assert_eq!(found(&other, &query), expected);
    assert!(file(&other), "they are replaced");
    assert_eq!(found(&other, &query), expected);
}

/// A database restored from a copy reuses row numbers that the files assign to other rows.
#[test]
fn those_of_a_later_life_are_none_of_ours() {
    let world = World::new();
    many(&world, 30);
    file(&world);
    let copy = fs::read(world.files().database()).unwrap();
    let later = remember(&world, "ship", "the mast is made of oak");
    file(&world);
    assert!(!world.files().wal().exists());
    fs::write(world.files().database(), copy).unwrap();
    let sail = remember(&world, "ship", "the sail is made of linen");
    let query = Query::new("the mast is made of oak");
    let found = found(&world, &query);
    assert!(found.iter().all(|hit| hit.row != later));
    assert_eq!(found[0].row, sail);
    assert_eq!(found, without_files(&world, &query));
}

/// The index files of a lost database are not valid for its replacement.
#[test]
fn a_database_that_was_begun_anew_has_none() {
    let world = World::new();
    many(&world, 30);
    let lock = remember(&world, "ship", LOCK);
    file(&world);
    let mut bytes = fs::read(world.files().database()).unwrap();
    bytes[..100].fill(0);
    fs::write(world.files().database(), bytes).unwrap();
    remember(&world, "ship", "the mast is made of oak");
    assert!(!rows(&world, LOCK).contains(&lock));
    doctor::repair(&world.memory(), at(5)).unwrap();
    assert_eq!(rows(&world, LOCK)[0], lock);
    let query = Query::new(LOCK);
    assert_eq!(found(&world, &query), without_files(&world, &query));
}

#[test]
fn what_went_is_not_found_and_its_number_is_not_given_again() {
    let world = World::new();
    many(&world, 60);
    let lock = remember(&world, "ship", LOCK);
    file(&world);
    let connection = rusqlite::Connection::open(world.files().database()).unwrap();
    let newest = |connection: &rusqlite::Connection| -> i64 {
        connection.query_row("SELECT max(id) FROM document", [], |row| row.get(0)).unwrap()
    };
    let before = newest(&connection);
    connection.execute("DELETE FROM memory WHERE uid = ?1", [lock]).unwrap();
    assert!(!rows(&world, LOCK).contains(&lock));
    let mast = remember(&world, "ship", "the mast is made of oak");
    assert!(newest(&connection) > before);
    let query = Query::new("the queue waits for ever because two workers take the oak");
    let found = found(&world, &query);
    assert_eq!((found[0].row, found.iter().any(|hit| hit.row == lock)), (mast, false));
    assert_eq!(found, without_files(&world, &query));
}

/// Neither deleted documents nor those of other projects take the place of a match.
#[test]
fn nothing_is_crowded_out() {
    let world = World::new();
    for number in 0..230 {
        remember(&world, "boat", &format!("{LOCK}, case {number}"));
        if number % 20 == 0 {
            remember(&world, "ship", &format!("a queue and its lock, {number}"));
        }
    }
    let own: i64 = rusqlite::Connection::open(world.files().database())
        .unwrap()
        .query_row("SELECT project FROM memory WHERE text LIKE 'a queue%'", [], |row| row.get(0))
        .unwrap();
    let query = Query { project: Some(own), ..Query::new(LOCK) };
    for filed in [false, true] {
        assert_eq!(file(&world), !filed);
        assert_eq!(found(&world, &query).len(), 12, "{filed}");
    }
    let connection = rusqlite::Connection::open(world.files().database()).unwrap();
    connection.execute("DELETE FROM memory WHERE text LIKE '%case%'", []).unwrap();
    let all = found(&world, &Query::new(LOCK));
    assert_eq!(all.len(), 12);
    assert_eq!(all, without_files(&world, &Query::new(LOCK)));
}

fn bytes_of(text: &str) -> Vec<u8> {
    embed(text).unwrap().numbers().map(i8::cast_unsigned).to_vec()
}

fn holders(world: &World, bytes: &[u8]) -> Vec<std::path::PathBuf> {
    let holds = |all: &[u8]| all.windows(bytes.len()).any(|window| window == bytes);
    world.bytes().into_iter().filter(|(_, all)| holds(all)).map(|(path, _)| path).collect()
}

#[test]
fn what_is_forgotten_is_in_none_of_them() {
    let world = World::new();
    many(&world, 60);
    remember(&world, "ship", LOCK);
    let oak = "the mast is made of oak";
    remember(&world, "ship", oak);
    file(&world);
    let vector = bytes_of(LOCK);
    assert!(holders(&world, &vector).iter().any(|path| path.ends_with("vectors")));
    // An unfinished file of a killed process.
    fs::write(world.memory().join("vectors.new"), &vector).unwrap();
    let mut store = world.store();
    let rows = store.rows_with("workers").unwrap();
    assert!(store.forget(&rows, None).unwrap().erased);
    drop(store);
    assert_eq!(holders(&world, &vector), Vec::<std::path::PathBuf>::new());
    // All other rows are found as before, in files that were rebuilt at once.
    assert!(holders(&world, &bytes_of(oak)).iter().any(|path| path.ends_with("vectors")));
    assert!(!file(&world));
    let query = Query::new("the mast and its lock");
    assert_eq!(found(&world, &query), without_files(&world, &query));

    let mut store = world.store();
    assert!(store.forget_all().unwrap().erased);
    drop(store);
    assert_eq!(holders(&world, &bytes_of(oak)), Vec::<std::path::PathBuf>::new());
    assert_eq!(rows_of(&world), 0);
}

fn rows_of(world: &World) -> usize {
    found(world, &Query::new("mast page chapter")).len()
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Readers get the complete old files or the complete new ones, and no row after its deletion.
#[test]
fn two_readers_while_they_are_made() {
    const ROUNDS: usize = 25;
    let world = World::new();
    many(&world, 40);
    let stays = remember(&world, "ship", LOCK);
    file(&world);
    let done = AtomicBool::new(false);
    let read = |world: &World| {
        let mut times = 0;
        while !done.load(Ordering::Relaxed) || times < 3 {
            let mut store = Store::open(&world.memory(), at(0)).unwrap();
            let found = store.find(&Query::new(LOCK)).unwrap();
            assert_eq!(found[0].row, stays);
            times += 1;
        }
    };
    std::thread::scope(|scope| {
        let readers = [scope.spawn(|| read(&world)), scope.spawn(|| read(&world))];
        // A panic below must end the readers as well.
        let end = End(&done);
        let query = Query::new("another lock of the workers");
        for round in 0..ROUNDS {
            let passing = remember(&world, "ship", &format!("another lock, {round}"));
            assert!(found(&world, &query).iter().any(|hit| hit.row == passing));
            assert!(file(&world));
            let connection = rusqlite::Connection::open(world.files().database()).unwrap();
            connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
            connection.execute("DELETE FROM memory WHERE uid = ?1", [passing]).unwrap();
            assert!(found(&world, &query).iter().all(|hit| hit.row != passing));
        }
        drop(end);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

/// A change to a store. Search results must not depend on when the index files are rebuilt.
#[derive(Debug, Clone)]
enum Step {
    Remember(bool, String),
    Edit(prop::sample::Index, String),
    Delete(prop::sample::Index),
    Resolve(bool),
    File,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
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
        6 => (any::<bool>(), text()).prop_map(|(own, text)| Step::Remember(own, text)),
        1 => (any::<prop::sample::Index>(), text()).prop_map(|(which, text)| Step::Edit(which, text)),
        1 => any::<prop::sample::Index>().prop_map(Step::Delete),
        1 => any::<bool>().prop_map(Step::Resolve),
        1 => Just(Step::File),
    ];
    prop::collection::vec(step, 1..25)
}

fn take(world: &World, step: &Step, ids: &mut Vec<Id>) {
    match step {
        Step::Remember(own, text) => {
            // Remembering a known text returns its existing row.
            let id = remember(world, if *own { "ship" } else { "boat" }, text);
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Step::Edit(which, text) if !ids.is_empty() => {
            let edit = MemoryEdit { text: Some(text), ..MemoryEdit::default() };
            world.store().edit_memory(*which.get(ids), &edit, at(3)).unwrap();
        }
        Step::Delete(which) if !ids.is_empty() => {
            let id = ids.remove(which.index(ids.len()));
            delete(&world.files().database(), id);
        }
        Step::Resolve(confirmed) => {
            let mut store = world.store();
            store.start_ghap(&world.owner(), &start(), at(4)).unwrap();
            let resolve = if *confirmed { confirm() } else { falsify() };
            store.resolve_ghap(&world.owner(), &resolve, at(5)).unwrap();
        }
        Step::File => drop(file(world)),
        Step::Edit(..) | Step::Delete(_) => {}
    }
}

fn delete(database: &Path, id: Id) {
    let connection = rusqlite::Connection::open(database).unwrap();
    assert_eq!(connection.execute("DELETE FROM memory WHERE uid = ?1", [id]).unwrap(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_same_is_found_with_them_and_without(steps in steps()) {
        use rutter_memory::document::Axis;
        let world = World::new();
        drop(world.store());
        let mut ids = Vec::new();
        for step in &steps {
            take(&world, step, &mut ids);
        }
        for text in ["lock queue", "the parser takes CRLF in parse_header", "日本語 page worker lock"] {
            for axis in [Axis::Full, Axis::Strategy, Axis::RootCause] {
                for project in [None, Some(1), Some(2)] {
                    let query = Query { axis, project, ..Query::new(text) };
                    prop_assert_eq!(found(&world, &query), without_files(&world, &query));
                }
            }
        }
    }
}
