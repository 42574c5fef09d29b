//! Phrases that say when a lesson applies: stored, found, edited, exported and forgotten with it.

use rutter_memory::document::DocumentKind;
use rutter_memory::ghap::{GhapResolve, LessonEdit};
use rutter_memory::store::{DocumentQuery, MemoryEdit, NewMemory};
use rutter_memory::{Clean, Id, Store};

use crate::exchange::export_lines;
use rutter_testkit::world::{
    FACT, ImportText as _, TestWorld, falsify_fields, start_fields, time_at,
};

const LESSON: &str = "export GPG_TTY before signing";
const SYMPTOM: &str = "committing fails without a terminal";

fn phrases(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn clean(texts: &[&str]) -> Vec<Clean> {
    texts.iter().map(|text| Clean::new(text)).collect()
}

/// Remembers the lesson with phrases and returns its id.
fn remember_with(store: &mut Store, texts: &[&str], second: i64) -> Id {
    let new = NewMemory { text: LESSON, applies_when: &phrases(texts), ..FACT };
    store.remember(&new, time_at(second)).unwrap().memory.id
}

/// Returns how well the rows fit the symptom, by row.
fn find_symptom(store: &mut Store) -> Vec<(Id, f64)> {
    let hits = store.search_documents(&DocumentQuery::new(SYMPTOM)).unwrap();
    hits.iter().map(|hit| (hit.row, hit.confidence)).collect()
}

#[test]
fn phrases_find_lesson() {
    let world = TestWorld::new();
    let mut store = world.store();
    let memory = remember_with(&mut store, &[], 1);
    let before = find_symptom(&mut store);
    let edit = MemoryEdit { applies_when: Some(&phrases(&[SYMPTOM])), ..MemoryEdit::default() };
    store.edit_memory(memory, &edit, time_at(2)).unwrap();
    let after = find_symptom(&mut store);
    assert!(before.iter().all(|(_, confidence)| *confidence < 0.3), "{before:?}");
    assert!(
        matches!(after[..], [(row, confidence)] if row == memory && confidence > 0.6),
        "{after:?}"
    );
    // An edit without phrases keeps them; an empty phrase removes them.
    let edit = MemoryEdit { importance: Some(0.9), ..MemoryEdit::default() };
    assert_eq!(
        store.edit_memory(memory, &edit, time_at(3)).unwrap().applies_when,
        clean(&[SYMPTOM])
    );
    let edit = MemoryEdit { applies_when: Some(&phrases(&[""])), ..MemoryEdit::default() };
    assert_eq!(store.edit_memory(memory, &edit, time_at(4)).unwrap().applies_when, []);
    assert_eq!(find_symptom(&mut store), before);
}

#[test]
fn phrases_find_experience() {
    let world = TestWorld::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    let given = phrases(&[SYMPTOM]);
    let resolve = GhapResolve { applies_when: &given, ..falsify_fields() };
    let ghap = store.resolve_ghap(&world.owner(), &resolve, time_at(2)).unwrap().ghap;
    assert_eq!(find_symptom(&mut store)[0].0, ghap.id);
    let edit = LessonEdit { takeaway: Some("another one"), ..LessonEdit::default() };
    let (kept, _) = store.edit_lesson(ghap.id, &edit, time_at(3)).unwrap();
    assert_eq!(kept.resolution.unwrap().applies_when, clean(&[SYMPTOM]));
    let other = phrases(&["the parser crashes"]);
    let edit = LessonEdit { applies_when: Some(&other), ..LessonEdit::default() };
    store.edit_lesson(ghap.id, &edit, time_at(4)).unwrap();
    assert!(find_symptom(&mut store).iter().all(|(_, confidence)| *confidence < 0.3));
    let memory = remember_with(&mut store, &["a", "b"], 5);
    let rows = [
        (DocumentKind::Memory, memory),
        (DocumentKind::Experience, ghap.id),
        (DocumentKind::Episode, ghap.id),
        (DocumentKind::Memory, Id::new(time_at(6))),
    ];
    let found = store.reader().written_phrases(&rows).unwrap();
    assert_eq!(found, [clean(&["a", "b"]), clean(&["the parser crashes"]), vec![], vec![]]);
}

#[test]
fn same_memory_unites_phrases() {
    let world = TestWorld::new();
    let mut store = world.store();
    let first = remember_with(&mut store, &["the push hangs"], 1);
    let given = phrases(&["The push hangs!", SYMPTOM]);
    let again = NewMemory { text: LESSON, applies_when: &given, ..FACT };
    let result = store.remember(&again, time_at(2)).unwrap();
    assert!(result.is_known && result.has_new_phrases);
    assert_eq!(result.memory.id, first);
    assert_eq!(result.memory.applies_when, clean(&["the push hangs", SYMPTOM]));
    assert!(!store.remember(&again, time_at(3)).unwrap().has_new_phrases);
    assert_eq!(find_symptom(&mut store)[0].0, first);
}

#[test]
fn older_export_keeps_phrases() {
    let world = TestWorld::new();
    let mut store = world.store();
    let memory = remember_with(&mut store, &[SYMPTOM], 1);
    let exported = export_lines(&mut store);
    assert!(exported.contains(SYMPTOM));
    let other = TestWorld::new();
    let mut there = other.store();
    there.import_own(exported.as_bytes()).unwrap();
    assert_eq!(there.memory(memory).unwrap().applies_when, clean(&[SYMPTOM]));
    // A program without phrases edited the memory later.
    let line = format!(
        "{{\"memory\":{}}}",
        serde_json::json!({
            "id": memory, "project": null, "category": "fact", "text": "edited", "importance": 0.5, "tags": [],
            "created": time_at(1), "changed": time_at(9),
        })
    );
    there
        .import_own(format!("{{\"rutter-export\":{{\"schema\":8}}}}\n{line}\n").as_bytes())
        .unwrap();
    let memory = there.memory(memory).unwrap();
    assert_eq!((memory.text.as_str(), memory.applies_when), ("edited", clean(&[SYMPTOM])));
}

#[test]
fn words_of_phrases_are_forgotten() {
    let world = TestWorld::new();
    let mut store = world.store();
    remember_with(&mut store, &[SYMPTOM], 1);
    let found = store.find_rows_with_words("terminal").unwrap();
    assert_eq!(found.len(), 1);
    store.forget(&found, None).unwrap();
    assert!(!export_lines(&mut store).contains(SYMPTOM));
}
