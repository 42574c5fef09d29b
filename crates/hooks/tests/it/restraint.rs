//! Recall finds lessons that fit and stays silent where none does: measured on our own sets, with stores of several
//! sizes.

use std::collections::HashMap;

use rutter_hooks::context::Depth;
use rutter_hooks::recall_context::{Audience, Wanted, recall_context};
use rutter_memory::document::Axis;
use rutter_memory::memory::Category;
use rutter_memory::store::{NewMemory, Query};
use rutter_memory::value::{Standing, Value};
use rutter_memory::{Clean, Id, Store};
use rutter_search::score::FLOOR;
use rutter_testkit::lessons::learnt;
use serde::Deserialize;
use serde_json::json;

use rutter_testkit::world::{ImportText as _, World, at};

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

/// Number of prompts, and of those with a result that counts: any result if unrelated, the right result if related.
#[derive(Debug, Default)]
struct Shown {
    prompts: usize,
    counted: usize,
}

fn share(shown: &Shown) -> f64 {
    f64::from(u32::try_from(shown.counted).unwrap())
        / f64::from(u32::try_from(shown.prompts).unwrap())
}

/// Queries a store of these lessons with each prompt. A related prompt is skipped if its lesson is not in the store.
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
        names.insert(store.remember(&new, at(1)).unwrap().memory.id, lesson.id.as_str());
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
    // Every third lesson, of all kinds.
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

/// Counts the prompts that bring up a value from a store with only these values: wrongly, and rightly.
fn measure_values(values: &[(String, String)], prompts: &[Prompt]) -> (Shown, Shown) {
    let world = World::new();
    let mut store = world.store();
    let now = at(1);
    let header = json!({ "rutter-export": { "schema": rutter_memory::store::VERSION } });
    let mut lines = vec![header.to_string()];
    let mut names = HashMap::new();
    for (name, text) in values {
        let value = Value {
            id: Id::new(now),
            project: None,
            text: Clean::new(text),
            axis: Axis::RootCause,
            cluster: None,
            standing: Standing::Accepted,
            source: None,
            distance: 0.3,
            threshold: 0.8,
            support: 3,
            contradicted: 0,
            since: now,
            doubted: None,
            created: now,
            changed: now,
        };
        names.insert(value.id, name.as_str());
        lines.push(json!({ "value": value }).to_string());
    }
    store.import_own(lines.join("\n").as_bytes()).unwrap();
    let place = world.owner().place;
    let (mut wrong, mut right) = (Shown::default(), Shown::default());
    for prompt in prompts {
        let wanted = Wanted {
            text: &prompt.text,
            place: &place,
            everywhere: false,
            kinds: &[],
            depth: Depth::Light,
            limit: 3,
            tokens: 300,
            audience: Audience::Prompt,
            to: None,
        };
        let shown = recall_context(store.indexed_reader().unwrap(), &wanted, at(2)).unwrap().rows();
        let fits = |name: &str| prompt.rel.iter().any(|id| id == name);
        if values.iter().any(|(name, _)| fits(name)) {
            right.prompts += 1;
            right.counted += usize::from(shown.iter().any(|(row, _)| fits(names[row])));
        } else {
            wrong.prompts += 1;
            wrong.counted += usize::from(!shown.is_empty());
        }
    }
    (wrong, right)
}

#[test]
fn values_keep_silent_as_lessons_do() {
    let causes: Vec<(String, String)> =
        (0..40).map(|label| (format!("cause-{label}"), learnt(label)[0].to_owned())).collect();
    let prompts: Vec<Prompt> = read("prompts-b");
    // The figures are those of docs/reference/recall.md.
    let (wrong, _) = measure_values(&causes, &prompts);
    assert_eq!((wrong.prompts, wrong.counted), (289, 0));
    let lessons: Vec<Lesson> = read("lessons-b");
    let own: Vec<_> = lessons.into_iter().map(|lesson| (lesson.id, lesson.text)).collect();
    let (wrong, right) = measure_values(&own, &prompts);
    assert_eq!((wrong.prompts, wrong.counted), (181, 3));
    // Three of the lessons are too long for a value.
    assert_eq!((right.prompts, right.counted), (108, 57));
}
