//! Recall finds what fits and is silent where nothing does: measured on our own sets, with stores of every size.

use std::collections::HashMap;

use rutter_memory::Store;
use rutter_memory::memory::Category;
use rutter_memory::search::score::FLOOR;
use rutter_memory::store::{NewMemory, Query};
use serde::Deserialize;

use crate::support::{World, at};

#[derive(Deserialize)]
struct Lesson {
    id: String,
    text: String,
}

#[derive(Deserialize)]
struct Prompt {
    #[serde(rename = "prompt")]
    text: String,
    related: bool,
    #[serde(default)]
    rel: Vec<String>,
    kind: String,
}

fn read<T: serde::de::DeserializeOwned>(name: &str) -> Vec<T> {
    let path = format!("{}/../../fixtures/recall/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What was shown, by the kind of prompt: how many prompts, and for how many something wrong, or the right thing, was.
#[derive(Debug, Default)]
struct Shown {
    prompts: usize,
    counted: usize,
}

fn share(shown: &Shown) -> f64 {
    f64::from(u32::try_from(shown.counted).unwrap())
        / f64::from(u32::try_from(shown.prompts).unwrap())
}

/// Asks a store of these lessons for each prompt; related ones only if what they are related to is there.
fn measure(lessons: &[Lesson], prompts: &[Prompt]) -> (Shown, HashMap<String, Shown>, Shown) {
    let world = World::new();
    let mut store: Store = world.store();
    let mut names = HashMap::new();
    for lesson in lessons {
        let new = NewMemory {
            place: None,
            category: Category::Fact,
            text: &lesson.text,
            importance: 0.5,
            tags: &[],
        };
        names.insert(store.remember(&new, at(1)).unwrap().id, lesson.id.as_str());
    }
    let (mut wrong, mut by_kind, mut right) =
        (Shown::default(), HashMap::<String, Shown>::new(), Shown::default());
    for prompt in prompts {
        if prompt.related && !prompt.rel.iter().any(|id| names.values().any(|name| name == id)) {
            continue;
        }
        let top: Vec<_> =
            store.find(&Query::new(&prompt.text)).unwrap().into_iter().take(3).collect();
        let mut over = top.iter().filter(|hit| hit.confidence >= FLOOR);
        if prompt.related {
            right.prompts += 1;
            let hit = over.any(|hit| prompt.rel.iter().any(|id| id == names[&hit.row]));
            right.counted += usize::from(hit);
        } else {
            let shown = usize::from(over.next().is_some());
            let kind = by_kind.entry(prompt.kind.clone()).or_default();
            kind.prompts += 1;
            kind.counted += shown;
            wrong.prompts += 1;
            wrong.counted += shown;
        }
    }
    (wrong, by_kind, right)
}

fn assert_restrained(lessons: &[Lesson], prompts: &[Prompt], hits: f64) {
    let (wrong, by_kind, right) = measure(lessons, prompts);
    let count = lessons.len();
    assert!(share(&wrong) <= 0.05, "{count} lessons: {wrong:?}");
    for (kind, shown) in by_kind {
        assert!(share(&shown) <= 0.10, "{count} lessons: {kind} {shown:?}");
    }
    assert!(share(&right) >= hits, "{count} lessons: {right:?}");
}

#[test]
fn a_store_of_sixty() {
    assert_restrained(&read("lessons-b"), &read("prompts-b"), 0.5);
}

#[test]
fn a_store_of_three() {
    assert_restrained(&read("lessons-tiny"), &read("prompts-tiny"), 0.5);
}

#[test]
fn a_store_of_twenty() {
    let lessons: Vec<Lesson> = read("lessons-b");
    // Every third, of all kinds.
    let some: Vec<Lesson> = lessons.into_iter().step_by(3).take(20).collect();
    assert_eq!(some.len(), 20);
    assert_restrained(&some, &read("prompts-b"), 0.4);
}

#[test]
fn a_store_of_one() {
    let lessons: Vec<Lesson> = read("lessons-b");
    let one: Vec<Lesson> =
        lessons.into_iter().filter(|lesson| lesson.id == "g-fsync-dir").collect();
    assert_restrained(&one, &read("prompts-b"), 0.3);
}
