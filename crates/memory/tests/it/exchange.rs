use proptest::prelude::*;
use rutter_memory::ghap::{Status, Tier};
use rutter_memory::memory::Category;
use rutter_memory::outcome::Verdict;
use rutter_memory::store::entry::{Entry, Place, What};
use rutter_memory::store::{
    GhapFilter, ImportError, ImportFile, Imported, MemoryEdit, NewMemory, Owner, Record,
};
use rutter_memory::{Clean, Store};

use rutter_testkit::story::Story;
use rutter_testkit::world::{ImportText as _, World, all, at, confirm, falsify, start};

/// Returns a store with rows of every kind.
pub(crate) fn filled(world: &World) -> Store {
    let mut store = world.store();
    let owner = world.owner();
    store.start_ghap(&owner, &start(), at(1)).unwrap();
    let update = rutter_memory::ghap::Update {
        action: Some("try \"quotes\"\nand lines"),
        ..Default::default()
    };
    store.update_ghap(&owner, &update, at(2)).unwrap();
    store.note_ghap(&owner, "ünïcödé 🚢", at(3)).unwrap();
    let mut outcome = world.outcome(4, Verdict::Passed);
    outcome.counts = Some(rutter_memory::outcome::Counts { passed: 3, failed: 0, skipped: 1 });
    outcome.failing = vec![Clean::new("a::b"), Clean::new("c")];
    outcome.signature = Some(Clean::new("assertion"));
    (outcome.exit, outcome.duration) = (Some(-1), Some(u64::from(u32::MAX)));
    world.ran(&outcome);
    store.resolve_ghap(&owner, &confirm(), at(5)).unwrap();
    store.start_ghap(&owner, &start(), at(6)).unwrap();
    store.resolve_ghap(&owner, &falsify(), at(7)).unwrap();
    store.start_ghap(&world.other("session-2"), &start(), at(8)).unwrap();
    let tags = ["ci".to_owned(), "rust-1.95".to_owned()];
    for place in [Some(&world.place()), None] {
        let new = NewMemory {
            place,
            category: Category::Decision,
            text: "we use SQLite",
            importance: 0.1 + 0.2,
            tags: &tags,
        };
        store.remember(&new, at(9)).unwrap();
    }
    // A failure that was fixed and recurred, with later changes.
    let mut told = Story::new(world);
    told.red("cargo test -p a", &[("a::b", "left: 1")]);
    told.edit("a.rs", &["-a \"quoted\"", "+ünïcödé"]);
    told.green("cargo test -p a");
    told.session = "session-3";
    assert!(!told.red("cargo test -p a", &[("a::b", "left: 1")]).is_empty());
    told.bash("git stash");
    told.start("compact");
    store
}

fn lines(store: &mut Store) -> String {
    all(store).iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
}

#[test]
fn out_and_in_again_loses_nothing() {
    let (here, there) = (World::new(), World::new());
    let mut store = filled(&here);
    let text = lines(&mut store);
    assert_eq!(text.lines().count(), 24, "{text}");
    let mut other = there.store();
    let mut read = 0;
    ImportFile::read(text.as_bytes(), |bytes| read += bytes).unwrap();
    let imported = other.import_own(text.as_bytes()).unwrap();
    assert_eq!(imported, Imported { added: 19, ..Imported::default() });
    assert_eq!(read, text.len() as u64);
    assert_eq!(lines(&mut other), text);
    // Imported again, and into the store of origin: every row exists already.
    assert_eq!(
        other.import_own(text.as_bytes()).unwrap(),
        Imported { kept: 19, ..Imported::default() }
    );
    assert_eq!(
        store.import_own(text.as_bytes()).unwrap(),
        Imported { kept: 19, ..Imported::default() }
    );
    assert_eq!(lines(&mut store), text);
}

#[test]
fn of_two_versions_of_a_row_the_later_wins_in_either_order() {
    let here = World::new();
    let mut store = filled(&here);
    let old = lines(&mut store);
    let id = all(&mut store)
        .into_iter()
        .find_map(|record| if let Record::Memory(memory) = record { Some(memory.id) } else { None })
        .unwrap();
    store
        .edit_memory(
            id,
            &MemoryEdit { text: Some("we use Postgres"), ..MemoryEdit::default() },
            at(20),
        )
        .unwrap();
    store.note_ghap(&here.other("session-2"), "later", at(21)).unwrap();
    let new = lines(&mut store);
    for (first, second) in [(&old, &new), (&new, &old)] {
        let there = World::new();
        let mut other = there.store();
        other.import_own(first.as_bytes()).unwrap();
        other.import_own(second.as_bytes()).unwrap();
        let sorted = |text: &str| {
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&lines(&mut other)), sorted(&new));
    }
}

#[test]
fn one_project_can_be_taken_out() {
    let world = World::new();
    let mut store = filled(&world);
    let mut count = 0;
    let key = world.place().key;
    store
        .export::<rutter_memory::StoreError>(Some(&key), |record| {
            count += 1;
            assert!(!matches!(record, Record::Memory(memory) if memory.project.is_none()));
            Ok(())
        })
        .unwrap();
    assert_eq!(count, 23);
}

#[test]
fn a_wrong_line_is_named_and_nothing_is_taken() {
    let world = World::new();
    let mut store = filled(&world);
    let text = lines(&mut store);
    let with = |line: &str| format!("{text}{line}\n");
    let memory = text.lines().rfind(|line| line.starts_with("{\"memory\"")).unwrap();
    for (text, line, why) in [
        (String::new(), 1, "there is nothing in it"),
        ("{\"memory\":1}\n".to_owned(), 1, "expected struct Memory at column 11"),
        (memory.to_owned(), 1, "this is no export of rutter: the first line does not say so"),
        (
            "{\"rutter-export\":{\"schema\":99}}\n".to_owned(),
            1,
            "it was exported by a newer rutter (schema 99, this one knows 8); update this one",
        ),
        (with("{\"memory\":{\"id\":"), 25, "the line is cut off"),
        (with("nonsense"), 25, "no JSON from column 1 on"),
        (
            with(&memory.replace("decision", "dance")),
            25,
            "`dance` is no category; the values are: preference, fact, event, workflow, context, error, decision",
        ),
        (
            with(&memory.replace("\"tags\"", "\"rags\"")),
            25,
            "unknown field `rags`, expected one of `id`, `project`, `category`, `text`, `importance`, `tags`, `created`, `changed`",
        ),
        (
            with(&memory.replace("0.30000000000000004", "7")),
            25,
            "importance is a number from 0 to 1, not 7",
        ),
        (
            with(&memory.replace("\"project\":null", "\"project\":\"dir:/nowhere\"")),
            25,
            "its project is not in the file before it",
        ),
    ] {
        let there = World::new();
        let mut other = there.store();
        match other.import_own(text.as_bytes()) {
            Err(ImportError::Line { line: found, why: said }) => {
                assert_eq!((found, said.as_str()), (line, why));
            }
            wrong => panic!("{wrong:?}: {why}"),
        }
        assert_eq!(all(&mut other).len(), 1, "{why}");
    }
}

#[test]
fn gold_cannot_be_imported_without_what_makes_it() {
    let (here, there) = (World::new(), World::new());
    let text = lines(&mut filled(&here));
    let forged = text.replace("\"tier\":\"silver\"", "\"tier\":\"gold\"");
    assert_ne!(forged, text);
    let error = there.store().import_own(forged.as_bytes()).unwrap_err();
    assert!(
        error.to_string().contains("it is called gold, and its evidence does not make it so"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_text_comes_out_as_it_went_in(text in ".{0,400}", importance in 0.0..=1.0) {
        let (here, there) = (World::new(), World::new());
        let (mut store, mut other) = (here.store(), there.store());
        let new = NewMemory { place: Some(&here.place()), category: Category::Fact, text: &text, importance, tags: &[] };
        let kept = store.remember(&new, at(1));
        prop_assert_eq!(kept.is_ok(), !Clean::new(text.trim()).is_empty());
        if kept.is_ok() {
            let start = rutter_memory::ghap::Start { goal: &text, hypothesis: &text, action: &text, prediction: &text, ..start() };
            store.start_ghap(&here.owner(), &start, at(2)).unwrap();
        }
        let text = lines(&mut store);
        other.import_own(text.as_bytes()).unwrap();
        prop_assert_eq!(lines(&mut other), text);
    }
}

/// Imports `base` into a new store, applies a change, and returns the export.
fn lines_after(base: &str, change: impl FnOnce(&mut Store)) -> String {
    let world = World::new();
    let mut store = world.store();
    store.import_own(base.as_bytes()).unwrap();
    change(&mut store);
    lines(&mut store)
}

/// Imports two files in both orders, asserts that the results are equal, and returns the records.
fn joined(one: &str, two: &str) -> Vec<Record> {
    let [mut first, mut second] = [(one, two), (two, one)].map(|(first, second)| {
        let world = World::new();
        let mut store = world.store();
        store.import_own(first.as_bytes()).unwrap();
        store.import_own(second.as_bytes()).unwrap();
        all(&mut store)
    });
    for records in [&mut first, &mut second] {
        // Sessions and experiences created on both sides keep the id of the file imported first.
        records.retain(|record| !matches!(record, Record::Experience(_)));
        for record in records.iter_mut() {
            if let Record::Session(session) = record {
                session.id = rutter_memory::Id::new(at(0));
            }
        }
    }
    let ids = |records: &[Record]| {
        records
            .iter()
            .filter(|record| !matches!(record, Record::Session(_)))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&first), ids(&second));
    first
}

#[test]
fn two_sights_of_a_session_are_joined_in_either_order() {
    let sight = |calls: usize, seen: i64| {
        let world = World::new();
        let mut store = world.store();
        for _ in 0..calls {
            world.record(&Entry {
                place: elsewhere(),
                ..world.entry("session-1", seen, What::Called(None))
            });
        }
        if calls == 3 {
            let compacted = What::Began(rutter_memory::session::Source::Compact);
            let entry = world.entry("session-1", seen, compacted);
            world.record(&Entry { place: elsewhere(), ..entry });
        }
        let text = lines(&mut store);
        text.lines().filter(|line| !line.contains("\"project\":{")).collect::<Vec<_>>().join("\n")
    };
    let project = {
        let world = World::new();
        let mut store = world.store();
        world.record(&Entry { place: elsewhere(), ..world.entry("session-0", 0, What::Seen) });
        lines(&mut store)
    };
    let (one, two) = (sight(5, 10), sight(3, 20));
    for (first, second) in [(&one, &two), (&two, &one)] {
        let world = World::new();
        let mut store = world.store();
        for text in [&project, first, second] {
            store.import_own(text.as_bytes()).unwrap();
        }
        let session = store.session("session-1").unwrap().unwrap();
        assert_eq!((session.calls, session.started, session.seen), (5, at(10), at(20)));
        assert_eq!(session.refreshed, Some(at(20)));
    }
}

fn elsewhere() -> Place {
    Place {
        key: rutter_testkit::world::key("github.com/ada/ship"),
        aliases: Vec::new(),
        root: Clean::new("/ship"),
        name: Clean::new("ship"),
    }
}

#[test]
fn what_was_resolved_on_two_machines_ends_one_way() {
    let world = World::new();
    let owner = Owner { place: elsewhere(), ..world.owner() };
    let mut store = world.store();
    store.start_ghap(&owner, &start(), at(1)).unwrap();
    let base = lines(&mut store);
    let one =
        lines_after(&base, |store| drop(store.resolve_ghap(&owner, &confirm(), at(5)).unwrap()));
    let two = lines_after(&base, |store| {
        drop(store.abandon_ghap(&owner, None, "enough", at(9)).unwrap());
    });
    let left = joined(&one, &two);
    assert!(
        left.iter()
            .any(|record| matches!(record, Record::Ghap(ghap) if ghap.status == Status::Abandoned))
    );
    let world = World::new();
    let mut store = world.store();
    store.import_own(one.as_bytes()).unwrap();
    store.import_own(two.as_bytes()).unwrap();
    let tiers: Vec<_> = all(&mut store)
        .into_iter()
        .filter_map(|record| {
            if let Record::Experience(experience) = record { Some(experience.tier) } else { None }
        })
        .collect();
    assert_eq!(tiers, [Tier::Abandoned], "what it left follows it");
}

#[test]
fn two_machines_that_each_have_an_active_ghap_in_one_place_keep_the_younger() {
    let world = World::new();
    let owner = Owner { client: None, place: elsewhere(), ..world.owner() };
    let base = lines_after("{\"rutter-export\":{\"schema\":1}}\n", |store| {
        store.start_ghap(&owner, &start(), at(1)).unwrap();
        store.resolve_ghap(&owner, &confirm(), at(2)).unwrap();
    });
    let one = lines_after(&base, |store| drop(store.start_ghap(&owner, &start(), at(5)).unwrap()));
    let two = lines_after(&base, |store| drop(store.start_ghap(&owner, &start(), at(9)).unwrap()));
    let world = World::new();
    let mut store = world.store();
    store.import_own(one.as_bytes()).unwrap();
    store.import_own(two.as_bytes()).unwrap();
    assert_eq!(store.active_ghap(&owner).unwrap().unwrap().created, at(9));
    assert_eq!(store.ghaps(&GhapFilter::default(), at(10)).unwrap().len(), 3);
}

#[test]
fn two_machines_that_each_follow_one_failure_in_one_place_follow_the_later() {
    let sight = |second: i64| {
        let world = World::new();
        let mut store = world.store();
        let run = serde_json::json!({
            "outcome": { "id": rutter_memory::Id::new(at(second)), "project": elsewhere().key, "session": "session-1",
                "agent": null, "command": "pytest", "kind": "test", "runner": "pytest", "verdict": "failed", "counts": null,
                "failing": ["a"], "signature": "s", "exit": 1, "duration": null, "at": at(second) },
            "selection": { "program": "pytest", "folder": "", "arguments": [], "stops": false },
            "faults": [{ "test": "a", "error": "e", "file": null, "signature": "s" }],
            "whole": true,
        });
        let run = serde_json::from_value(run).unwrap();
        world.record(&Entry {
            place: elsewhere(),
            ..world.entry("session-1", second, What::Ran(Box::new(run)))
        });
        lines(&mut store)
    };
    let (one, two) = (sight(10), sight(20));
    for (first, second) in [(&one, &two), (&two, &one)] {
        let world = World::new();
        let mut store = world.store();
        for text in [first, second, first] {
            store.import_own(text.as_bytes()).unwrap();
        }
        let mut episodes = store.episodes(&rutter_memory::store::EpisodeFilter::default()).unwrap();
        episodes.sort_by_key(|episode| episode.seen);
        let ended: Vec<_> = episodes
            .iter()
            .map(|episode| (episode.seen, episode.ending.as_ref().map(|ending| ending.how)))
            .collect();
        assert_eq!(ended, [(at(10), Some(rutter_memory::episode::How::Left)), (at(20), None)]);
    }
}

#[test]
fn a_project_that_got_a_remote_is_imported_where_it_was_known_without() {
    let world = World::new();
    let mut store = world.store();
    let before = Place { key: rutter_testkit::world::key("git:/ship/.git"), ..elsewhere() };
    let new = |place| NewMemory {
        place: Some(place),
        category: Category::Fact,
        text: "x",
        importance: 0.5,
        tags: &[],
    };
    store.remember(&new(&before), at(1)).unwrap();
    let there = World::new();
    let mut other = there.store();
    other.import_own(lines(&mut store).as_bytes()).unwrap();
    let after = Place { aliases: vec![before.key.clone()], ..elsewhere() };
    store.remember(&new(&after), at(2)).unwrap();
    other.import_own(lines(&mut store).as_bytes()).unwrap();
    assert_eq!(lines(&mut other), lines(&mut store));
}

#[test]
fn a_project_taken_out_alone_can_be_taken_in_alone() {
    let world = World::new();
    let mut store = world.store();
    // The session started in another project.
    store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    let owner = Owner { place: elsewhere(), ..world.owner() };
    store.start_ghap(&owner, &start(), at(2)).unwrap();
    let mut text = String::new();
    store
        .export::<rutter_memory::StoreError>(Some(&elsewhere().key), |record| {
            text += &(serde_json::to_string(record).unwrap() + "\n");
            Ok(())
        })
        .unwrap();
    assert!(!text.contains(world.place().key.as_str()), "{text}");
    let there = World::new();
    let mut other = there.store();
    other.import_own(text.as_bytes()).unwrap();
    assert!(other.active_ghap(&owner).unwrap().is_some());
}

#[test]
fn an_edit_after_the_clock_was_set_back_travels() {
    let world = World::new();
    let mut store = world.store();
    let new = NewMemory {
        place: None,
        category: Category::Fact,
        text: "old",
        importance: 0.5,
        tags: &[],
    };
    let memory = store.remember(&new, at(100)).unwrap().memory;
    let there = World::new();
    let mut other = there.store();
    other.import_own(lines(&mut store).as_bytes()).unwrap();
    store
        .edit_memory(memory.id, &MemoryEdit { text: Some("new"), ..MemoryEdit::default() }, at(50))
        .unwrap();
    other.import_own(lines(&mut store).as_bytes()).unwrap();
    assert_eq!(other.memory(memory.id).unwrap().text.as_str(), "new");
}

#[test]
fn a_run_with_very_many_failures_travels() {
    let world = World::new();
    let mut store = world.store();
    let mut outcome = world.outcome(2, Verdict::Failed);
    outcome.failing =
        (0..100_000).map(|n| Clean::new(&format!("tests::of_a_long_name::number_{n}"))).collect();
    world.ran(&outcome);
    let there = World::new();
    there.store().import_own(lines(&mut store).as_bytes()).unwrap();
}

#[test]
fn numbers_that_no_database_holds_are_a_wrong_line() {
    let world = World::new();
    let mut store = world.store();
    world.record(&world.entry("session-1", 1, What::Called(None)));
    let text = lines(&mut store).replace("\"calls\":1", "\"calls\":18446744073709551615");
    let there = World::new();
    let error = there.store().import_own(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "line 3: a number in it is out of range; nothing was imported");
}

#[test]
fn an_error_never_quotes_the_file() {
    let world = World::new();
    let mut store = world.store();
    let line = "{\"memory\":{\"id\":\"my secret\"}}";
    let error = store
        .import_own(format!("{{\"rutter-export\":{{\"schema\":1}}}}\n{line}").as_bytes())
        .unwrap_err();
    assert!(!error.to_string().contains("my secret"), "{error}");
}
