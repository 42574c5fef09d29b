use proptest::prelude::*;
use rutter_memory::ghap::{GhapResolve, GhapStatus, Tier};
use rutter_memory::memory::MemoryCategory;
use rutter_memory::outcome::Verdict;
use rutter_memory::store::entry::{EntryKind, ProjectPlace, SessionEntry};
use rutter_memory::store::{
    ExportRecord, GhapFilter, GhapOwner, ImportError, ImportFile, ImportReport, MemoryEdit,
    NewMemory,
};
use rutter_memory::{Clean, Store};

use rutter_testkit::story::HookStory;
use rutter_testkit::world::{
    FACT, ImportText as _, TestWorld, all_records, confirm_fields, falsify_fields, start_fields,
    time_at,
};

/// Returns a store with rows of every kind.
pub(crate) fn filled_store(world: &TestWorld) -> Store {
    let mut store = world.store();
    let owner = world.owner();
    store.start_ghap(&owner, &start_fields(), time_at(1)).unwrap();
    let update = rutter_memory::ghap::GhapUpdate {
        action: Some("try \"quotes\"\nand lines"),
        ..Default::default()
    };
    store.update_ghap(&owner, &update, time_at(2)).unwrap();
    store.note_ghap(&owner, "ünïcödé 🚢", time_at(3)).unwrap();
    let mut outcome = world.outcome(4, Verdict::Passed);
    outcome.counts = Some(rutter_memory::outcome::TestCounts { passed: 3, failed: 0, skipped: 1 });
    outcome.failing = vec![Clean::new("a::b"), Clean::new("c")];
    outcome.signature = Some(Clean::new("assertion"));
    (outcome.exit, outcome.duration) = (Some(-1), Some(u64::from(u32::MAX)));
    world.record_run(&outcome);
    store.resolve_ghap(&owner, &confirm_fields(), time_at(5)).unwrap();
    store.start_ghap(&owner, &start_fields(), time_at(6)).unwrap();
    let phrases = ["the port is taken".to_owned(), "wrong \"quotes\"".to_owned()];
    let resolve = GhapResolve { applies_when: &phrases, ..falsify_fields() };
    store.resolve_ghap(&owner, &resolve, time_at(7)).unwrap();
    store.start_ghap(&world.other_session("session-2"), &start_fields(), time_at(8)).unwrap();
    let tags = ["ci".to_owned(), "rust-1.95".to_owned()];
    for place in [Some(&world.place()), None] {
        let new = NewMemory {
            place,
            category: MemoryCategory::Decision,
            text: "we use SQLite",
            importance: 0.1 + 0.2,
            tags: &tags,
            applies_when: &phrases,
        };
        store.remember(&new, time_at(9)).unwrap();
    }
    // A failure that was fixed and recurred, with later changes.
    let mut told = HookStory::new(world);
    told.red("cargo test -p a", &[("a::b", "left: 1")]);
    told.edit("a.rs", &["-a \"quoted\"", "+ünïcödé"]);
    told.green("cargo test -p a");
    told.session = "session-3";
    assert!(!told.red("cargo test -p a", &[("a::b", "left: 1")]).is_empty());
    told.bash("git stash");
    // A command that failed and a variant that worked, and one that nobody tried again.
    told.run_failing_command("git commit -m a", 128, "error: gpg failed to sign the data");
    told.bash("git commit --no-gpg-sign -m a");
    told.run_failing_command("deploy --fast", 2, "unknown flag: --fast");
    told.start("compact");
    store
}

pub(crate) fn export_lines(store: &mut Store) -> String {
    all_records(store).iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
}

#[test]
fn export_and_import_lose_nothing() {
    let (here, there) = (TestWorld::new(), TestWorld::new());
    let mut store = filled_store(&here);
    let text = export_lines(&mut store);
    assert_eq!(text.lines().count(), 28, "{text}");
    let mut other = there.store();
    let mut read = 0;
    ImportFile::read(text.as_bytes(), |bytes| read += bytes).unwrap();
    let imported = other.import_own(text.as_bytes()).unwrap();
    assert_eq!(imported, ImportReport { added: 21, ..ImportReport::default() });
    assert_eq!(read, text.len() as u64);
    assert_eq!(export_lines(&mut other), text);
    // Imported again, and into the store of origin: every row exists already.
    assert_eq!(
        other.import_own(text.as_bytes()).unwrap(),
        ImportReport { kept: 21, ..ImportReport::default() }
    );
    assert_eq!(
        store.import_own(text.as_bytes()).unwrap(),
        ImportReport { kept: 21, ..ImportReport::default() }
    );
    assert_eq!(export_lines(&mut store), text);
}

#[test]
fn later_row_version_wins() {
    let here = TestWorld::new();
    let mut store = filled_store(&here);
    let old = export_lines(&mut store);
    let id = all_records(&mut store)
        .into_iter()
        .find_map(
            |record| if let ExportRecord::Memory(memory) = record { Some(memory.id) } else { None },
        )
        .unwrap();
    store
        .edit_memory(
            id,
            &MemoryEdit { text: Some("we use Postgres"), ..MemoryEdit::default() },
            time_at(20),
        )
        .unwrap();
    store.note_ghap(&here.other_session("session-2"), "later", time_at(21)).unwrap();
    let new = export_lines(&mut store);
    for (first, second) in [(&old, &new), (&new, &old)] {
        let there = TestWorld::new();
        let mut other = there.store();
        other.import_own(first.as_bytes()).unwrap();
        other.import_own(second.as_bytes()).unwrap();
        let sorted = |text: &str| {
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&export_lines(&mut other)), sorted(&new));
    }
}

#[test]
fn exports_one_project() {
    let world = TestWorld::new();
    let mut store = filled_store(&world);
    let mut count = 0;
    let key = world.place().key;
    store
        .export::<rutter_memory::StoreError>(Some(&key), |record| {
            count += 1;
            assert!(!matches!(record, ExportRecord::Memory(memory) if memory.project.is_none()));
            Ok(())
        })
        .unwrap();
    assert_eq!(count, 27);
}

#[test]
fn invalid_line_rejects_whole_file() {
    let world = TestWorld::new();
    let mut store = filled_store(&world);
    let text = export_lines(&mut store);
    let with = |line: &str| format!("{text}{line}\n");
    let memory = text.lines().rfind(|line| line.starts_with("{\"memory\"")).unwrap();
    for (text, line, why) in [
        (String::new(), 1, "it is empty"),
        ("{\"memory\":1}\n".to_owned(), 1, "expected struct Memory at column 11"),
        (memory.to_owned(), 1, "this is not an export of rutter: the first line is not its header"),
        (
            "{\"rutter-export\":{\"schema\":99}}\n".to_owned(),
            1,
            "a newer rutter exported it (schema 99, this version supports 10); update rutter",
        ),
        (with("{\"memory\":{\"id\":"), 29, "the line is cut off"),
        (with("nonsense"), 29, "not JSON from column 1"),
        (
            with(&memory.replace("decision", "dance")),
            29,
            "`dance` is no category; the values are: preference, fact, event, workflow, context, error, decision",
        ),
        (
            with(&memory.replace("\"tags\"", "\"rags\"")),
            29,
            "unknown field `rags`, expected one of `id`, `project`, `category`, `text`, `importance`, `tags`, `applies_when`, `created`, `changed`",
        ),
        (
            with(&memory.replace("0.30000000000000004", "7")),
            29,
            "importance must be a number from 0 to 1, not 7",
        ),
        (
            with(&memory.replace("\"project\":null", "\"project\":\"dir:/nowhere\"")),
            29,
            "its project does not come before it in the file",
        ),
    ] {
        let there = TestWorld::new();
        let mut other = there.store();
        match other.import_own(text.as_bytes()) {
            Err(ImportError::Line { line: found, why: said }) => {
                assert_eq!((found, said.as_str()), (line, why));
            }
            wrong => panic!("{wrong:?}: {why}"),
        }
        assert_eq!(all_records(&mut other).len(), 1, "{why}");
    }
}

#[test]
fn rejects_gold_without_evidence() {
    let (here, there) = (TestWorld::new(), TestWorld::new());
    let text = export_lines(&mut filled_store(&here));
    let forged = text.replace("\"tier\":\"silver\"", "\"tier\":\"gold\"");
    assert_ne!(forged, text);
    let error = there.store().import_own(forged.as_bytes()).unwrap_err();
    assert!(
        error.to_string().contains("its tier is gold, but its evidence does not support that"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_text_survives_round_trip(text in ".{0,400}", importance in 0.0..=1.0) {
        let (here, there) = (TestWorld::new(), TestWorld::new());
        let (mut store, mut other) = (here.store(), there.store());
        let new = NewMemory { place: Some(&here.place()), text: &text, importance, ..FACT };
        let kept = store.remember(&new, time_at(1));
        prop_assert_eq!(kept.is_ok(), !Clean::new(text.trim()).is_empty());
        if kept.is_ok() {
            let start = rutter_memory::ghap::GhapStart { goal: &text, hypothesis: &text, action: &text, prediction: &text, ..start_fields() };
            store.start_ghap(&here.owner(), &start, time_at(2)).unwrap();
        }
        let text = export_lines(&mut store);
        other.import_own(text.as_bytes()).unwrap();
        prop_assert_eq!(export_lines(&mut other), text);
    }
}

/// Imports `base` into a new store, applies a change, and returns the export.
fn export_after(base: &str, change: impl FnOnce(&mut Store)) -> String {
    let world = TestWorld::new();
    let mut store = world.store();
    store.import_own(base.as_bytes()).unwrap();
    change(&mut store);
    export_lines(&mut store)
}

/// Imports two files in both orders, asserts that the results are equal, and returns the records.
fn import_in_both_orders(one: &str, two: &str) -> Vec<ExportRecord> {
    let [mut first, mut second] = [(one, two), (two, one)].map(|(first, second)| {
        let world = TestWorld::new();
        let mut store = world.store();
        store.import_own(first.as_bytes()).unwrap();
        store.import_own(second.as_bytes()).unwrap();
        all_records(&mut store)
    });
    for records in [&mut first, &mut second] {
        // Sessions and experiences created on both sides keep the id of the file imported first.
        records.retain(|record| !matches!(record, ExportRecord::Experience(_)));
        for record in records.iter_mut() {
            if let ExportRecord::Session(session) = record {
                session.id = rutter_memory::Id::new(time_at(0));
            }
        }
    }
    let ids = |records: &[ExportRecord]| {
        records
            .iter()
            .filter(|record| !matches!(record, ExportRecord::Session(_)))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&first), ids(&second));
    first
}

#[test]
fn merges_sessions_in_either_order() {
    let sight = |calls: usize, seen: i64| {
        let world = TestWorld::new();
        let mut store = world.store();
        for _ in 0..calls {
            world.record(&SessionEntry {
                place: other_place(),
                ..world.entry("session-1", seen, EntryKind::Called(None))
            });
        }
        if calls == 3 {
            let compacted = EntryKind::Began(rutter_memory::session::StoredSessionSource::Compact);
            let entry = world.entry("session-1", seen, compacted);
            world.record(&SessionEntry { place: other_place(), ..entry });
        }
        let text = export_lines(&mut store);
        text.lines().filter(|line| !line.contains("\"project\":{")).collect::<Vec<_>>().join("\n")
    };
    let project = {
        let world = TestWorld::new();
        let mut store = world.store();
        world.record(&SessionEntry {
            place: other_place(),
            ..world.entry("session-0", 0, EntryKind::Seen)
        });
        export_lines(&mut store)
    };
    let (one, two) = (sight(5, 10), sight(3, 20));
    for (first, second) in [(&one, &two), (&two, &one)] {
        let world = TestWorld::new();
        let mut store = world.store();
        for text in [&project, first, second] {
            store.import_own(text.as_bytes()).unwrap();
        }
        let session = store.session("session-1").unwrap().unwrap();
        assert_eq!((session.calls, session.started, session.seen), (5, time_at(10), time_at(20)));
        assert_eq!(session.refreshed, Some(time_at(20)));
    }
}

fn other_place() -> ProjectPlace {
    ProjectPlace {
        key: rutter_testkit::world::project_key("github.com/ada/ship"),
        aliases: Vec::new(),
        root: Clean::new("/ship"),
        name: Clean::new("ship"),
    }
}

#[test]
fn conflicting_resolutions_converge() {
    let world = TestWorld::new();
    let owner = GhapOwner { place: other_place(), ..world.owner() };
    let mut store = world.store();
    store.start_ghap(&owner, &start_fields(), time_at(1)).unwrap();
    let base = export_lines(&mut store);
    let one = export_after(&base, |store| {
        drop(store.resolve_ghap(&owner, &confirm_fields(), time_at(5)).unwrap());
    });
    let two = export_after(&base, |store| {
        drop(store.abandon_ghap(&owner, None, "enough", time_at(9)).unwrap());
    });
    let left = import_in_both_orders(&one, &two);
    assert!(left.iter().any(
        |record| matches!(record, ExportRecord::Ghap(ghap) if ghap.status == GhapStatus::Abandoned)
    ));
    let world = TestWorld::new();
    let mut store = world.store();
    store.import_own(one.as_bytes()).unwrap();
    store.import_own(two.as_bytes()).unwrap();
    let tiers: Vec<_> = all_records(&mut store)
        .into_iter()
        .filter_map(|record| {
            if let ExportRecord::Experience(experience) = record {
                Some(experience.tier)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(tiers, [Tier::Abandoned], "what it left follows it");
}

#[test]
fn younger_active_ghap_wins() {
    let world = TestWorld::new();
    let owner = GhapOwner { client: None, place: other_place(), ..world.owner() };
    let base = export_after("{\"rutter-export\":{\"schema\":1}}\n", |store| {
        store.start_ghap(&owner, &start_fields(), time_at(1)).unwrap();
        store.resolve_ghap(&owner, &confirm_fields(), time_at(2)).unwrap();
    });
    let one = export_after(&base, |store| {
        drop(store.start_ghap(&owner, &start_fields(), time_at(5)).unwrap());
    });
    let two = export_after(&base, |store| {
        drop(store.start_ghap(&owner, &start_fields(), time_at(9)).unwrap());
    });
    let world = TestWorld::new();
    let mut store = world.store();
    store.import_own(one.as_bytes()).unwrap();
    store.import_own(two.as_bytes()).unwrap();
    assert_eq!(store.active_ghap(&owner).unwrap().unwrap().created, time_at(9));
    assert_eq!(store.ghaps(&GhapFilter::default(), time_at(10)).unwrap().len(), 3);
}

#[test]
fn later_open_episode_wins() {
    let sight = |second: i64| {
        let world = TestWorld::new();
        let mut store = world.store();
        let run = serde_json::json!({
            "outcome": { "id": rutter_memory::Id::new(time_at(second)), "project": other_place().key, "session": "session-1",
                "agent": null, "command": "pytest", "kind": "test", "runner": "pytest", "verdict": "failed", "counts": null,
                "failing": ["a"], "signature": "s", "exit": 1, "duration": null, "at": time_at(second) },
            "selection": { "program": "pytest", "folder": "", "arguments": [], "stops": false },
            "faults": [{ "test": "a", "error": "e", "file": null, "signature": "s" }],
            "whole": true,
        });
        let run = serde_json::from_value(run).unwrap();
        world.record(&SessionEntry {
            place: other_place(),
            ..world.entry("session-1", second, EntryKind::Ran(Box::new(run)))
        });
        export_lines(&mut store)
    };
    let (one, two) = (sight(10), sight(20));
    for (first, second) in [(&one, &two), (&two, &one)] {
        let world = TestWorld::new();
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
        assert_eq!(
            ended,
            [
                (time_at(10), Some(rutter_memory::episode::EpisodeEndingKind::Left)),
                (time_at(20), None)
            ]
        );
    }
}

#[test]
fn imports_project_with_new_remote() {
    let world = TestWorld::new();
    let mut store = world.store();
    let before =
        ProjectPlace { key: rutter_testkit::world::project_key("git:/ship/.git"), ..other_place() };
    let new = |place| NewMemory { place: Some(place), text: "x", ..FACT };
    store.remember(&new(&before), time_at(1)).unwrap();
    let there = TestWorld::new();
    let mut other = there.store();
    other.import_own(export_lines(&mut store).as_bytes()).unwrap();
    let after = ProjectPlace { aliases: vec![before.key.clone()], ..other_place() };
    store.remember(&new(&after), time_at(2)).unwrap();
    other.import_own(export_lines(&mut store).as_bytes()).unwrap();
    assert_eq!(export_lines(&mut other), export_lines(&mut store));
}

#[test]
fn imports_single_project_export() {
    let world = TestWorld::new();
    let mut store = world.store();
    // The session started in another project.
    store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    let owner = GhapOwner { place: other_place(), ..world.owner() };
    store.start_ghap(&owner, &start_fields(), time_at(2)).unwrap();
    let mut text = String::new();
    store
        .export::<rutter_memory::StoreError>(Some(&other_place().key), |record| {
            text += &(serde_json::to_string(record).unwrap() + "\n");
            Ok(())
        })
        .unwrap();
    assert!(!text.contains(world.place().key.as_str()), "{text}");
    let there = TestWorld::new();
    let mut other = there.store();
    other.import_own(text.as_bytes()).unwrap();
    assert!(other.active_ghap(&owner).unwrap().is_some());
}

#[test]
fn imports_edit_after_clock_reset() {
    let world = TestWorld::new();
    let mut store = world.store();
    let new = NewMemory { text: "old", ..FACT };
    let memory = store.remember(&new, time_at(100)).unwrap().memory;
    let there = TestWorld::new();
    let mut other = there.store();
    other.import_own(export_lines(&mut store).as_bytes()).unwrap();
    store
        .edit_memory(
            memory.id,
            &MemoryEdit { text: Some("new"), ..MemoryEdit::default() },
            time_at(50),
        )
        .unwrap();
    other.import_own(export_lines(&mut store).as_bytes()).unwrap();
    assert_eq!(other.memory(memory.id).unwrap().text.as_str(), "new");
}

#[test]
fn imports_run_with_many_failures() {
    let world = TestWorld::new();
    let mut store = world.store();
    let mut outcome = world.outcome(2, Verdict::Failed);
    outcome.failing =
        (0..100_000).map(|n| Clean::new(&format!("tests::of_a_long_name::number_{n}"))).collect();
    world.record_run(&outcome);
    let there = TestWorld::new();
    there.store().import_own(export_lines(&mut store).as_bytes()).unwrap();
}

#[test]
fn rejects_out_of_range_number() {
    let world = TestWorld::new();
    let mut store = world.store();
    world.record(&world.entry("session-1", 1, EntryKind::Called(None)));
    let text = export_lines(&mut store).replace("\"calls\":1", "\"calls\":18446744073709551615");
    let there = TestWorld::new();
    let error = there.store().import_own(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "line 3: a number in it is out of range; nothing was imported");
}

#[test]
fn import_error_hides_file_content() {
    let world = TestWorld::new();
    let mut store = world.store();
    let line = "{\"memory\":{\"id\":\"my secret\"}}";
    let error = store
        .import_own(format!("{{\"rutter-export\":{{\"schema\":1}}}}\n{line}").as_bytes())
        .unwrap_err();
    assert!(!error.to_string().contains("my secret"), "{error}");
}
