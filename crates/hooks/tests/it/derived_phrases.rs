//! Phrases of a lesson that nobody wrote: the errors of its run.

use rutter_memory::document::DocumentKind;
use rutter_memory::ghap::{GhapResolve, LessonEdit, Resolution};
use rutter_memory::store::DocumentQuery;
use rutter_memory::{Clean, Id};
use rutter_testkit::story::{HookStory, cargo_test_output};
use rutter_testkit::world::{
    ImportText as _, TestWorld, all_ghaps, confirm_fields, falsify_fields, start_fields, time_at,
};

const POOL: (&str, &str) = ("pool::tests::drains", "max number of clients reached");
const POOL_ERROR: &str = "panicked: max number of clients reached";
const COUNT: (&str, &str) = ("pool::tests::counts", "assertion failed: 3 == 1");

fn resolve(story: &HookStory<'_>, resolve: &GhapResolve<'_>) -> (Id, Resolution) {
    let mut memory = story.world.store();
    let ghap = memory.resolve_ghap(&story.owner(), resolve, story.now()).unwrap().ghap;
    (ghap.id, ghap.resolution.unwrap())
}

fn start(story: &HookStory<'_>) {
    story.world.store().start_ghap(&story.owner(), &start_fields(), story.now()).unwrap();
}

/// Returns how likely the query finds each row.
fn likelihoods(world: &TestWorld, query: &str) -> Vec<(Id, f64)> {
    let hits = world.store().search_documents(&DocumentQuery::new(query)).unwrap();
    hits.iter()
        .filter(|hit| hit.kind == DocumentKind::Experience)
        .map(|hit| (hit.row, hit.confidence))
        .collect()
}

#[test]
fn error_of_run_becomes_phrase() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    start(&story);
    story.red("cargo test", &[POOL, COUNT]);
    let (id, resolution) = resolve(&story, &falsify_fields());
    assert!(resolution.has_derived_phrases);
    assert_eq!(resolution.applies_when, [Clean::new(POOL_ERROR)]);
    assert!(
        matches!(likelihoods(&world, POOL.1)[..], [(row, likely)] if row == id && likely > 0.1)
    );
    let rows = [(DocumentKind::Experience, id)];
    assert_eq!(world.store().reader().written_phrases(&rows).unwrap(), [vec![]]);
}

#[test]
fn error_that_run_ended_becomes_phrase() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.red("cargo test", &[POOL]);
    start(&story);
    story.edit("src/pool.rs", &["-let pool = open();", "+let pool = shared();"]);
    let said = story.run_with_hidden_status("cargo test", &cargo_test_output(5, &[]));
    assert!(said.contains("It came true"), "{said}");
    let (_, resolution) = resolve(&story, &confirm_fields());
    assert!(resolution.has_derived_phrases);
    assert_eq!(resolution.applies_when, [Clean::new(POOL_ERROR)]);
}

#[test]
fn error_without_news_is_no_phrase() {
    for (error, result) in [(COUNT, "still red"), (POOL, "the number of clients reached the max")] {
        let world = TestWorld::new();
        let story = HookStory::new(&world);
        start(&story);
        story.red("cargo test", &[error]);
        let (_, resolution) = resolve(&story, &GhapResolve { result, ..falsify_fields() });
        assert!(resolution.evidence.is_some());
        assert_eq!((resolution.applies_when, resolution.has_derived_phrases), (vec![], false));
    }
}

#[test]
fn written_phrases_replace_derived_ones() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    start(&story);
    story.red("cargo test", &[POOL]);
    let given = ["tests die halfway".to_owned()];
    let written = GhapResolve { applies_when: &given, ..falsify_fields() };
    assert!(!resolve(&story, &written).1.has_derived_phrases);
    start(&story);
    story.red("cargo test", &[POOL]);
    let (id, _) = resolve(&story, &falsify_fields());
    let mut memory = world.store();
    let edit = LessonEdit { takeaway: Some("share the client"), ..LessonEdit::default() };
    let (kept, _) = memory.edit_lesson(id, &edit, time_at(900)).unwrap();
    assert!(kept.resolution.unwrap().has_derived_phrases);
    let edit = LessonEdit { applies_when: Some(&given), ..LessonEdit::default() };
    let (edited, _) = memory.edit_lesson(id, &edit, time_at(901)).unwrap();
    let edited = edited.resolution.unwrap();
    assert_eq!(
        (edited.applies_when, edited.has_derived_phrases),
        (vec![Clean::new(&given[0])], false)
    );
}

/// Returns the store's rows as an export.
fn export(world: &TestWorld) -> String {
    let mut lines = String::new();
    world
        .store()
        .export::<rutter_memory::StoreError>(None, |record| {
            lines += &serde_json::to_string(record).unwrap();
            lines.push('\n');
            Ok(())
        })
        .unwrap();
    lines
}

#[test]
fn export_keeps_derived_phrases_apart() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    start(&story);
    story.red("cargo test", &[POOL]);
    let (id, _) = resolve(&story, &falsify_fields());
    let derived = export(&world);
    assert!(derived.contains("\"has_derived_phrases\":true"));
    let other = TestWorld::new();
    other.store().import_own(derived.as_bytes()).unwrap();
    assert!(all_ghaps(&mut other.store())[0].resolution.as_ref().unwrap().has_derived_phrases);
    let given = ["tests die halfway".to_owned()];
    let edit = LessonEdit { applies_when: Some(&given), ..LessonEdit::default() };
    other.store().edit_lesson(id, &edit, time_at(900)).unwrap();
    // A later change elsewhere, by somebody who has only the derived ones.
    let edit = LessonEdit { takeaway: Some("share the client"), ..LessonEdit::default() };
    world.store().edit_lesson(id, &edit, time_at(999_999)).unwrap();
    other.store().import_own(export(&world).as_bytes()).unwrap();
    let merged = other.store().ghap(id).unwrap().resolution.unwrap();
    assert_eq!(merged.lesson.unwrap().takeaway, Some(Clean::new("share the client")));
    assert_eq!(
        (merged.applies_when, merged.has_derived_phrases),
        (vec![Clean::new(&given[0])], false)
    );
}
