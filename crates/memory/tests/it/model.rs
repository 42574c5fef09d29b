//! After any sequence of commands, the store has the same content as a simple model.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rutter_memory::memory::Category;
use rutter_memory::store::tend::{Bounds, tend};
use rutter_memory::store::{GhapFilter, MemoryEdit, MemoryFilter, NewMemory};
use rutter_memory::{Id, Store};

use rutter_testkit::world::{World, at, confirm, falsify, start};

#[derive(Debug, Clone)]
enum Step {
    Remember(String),
    Edit(usize, String),
    Forget(usize),
    Start(u8),
    Note(u8, String),
    Confirm(u8),
    Falsify(u8),
    Abandon(u8),
    Reopen,
    Tend,
}

fn step() -> impl Strategy<Value = Step> {
    let text = "[a-zäß \n\"']{1,40}".prop_filter("not blank", |text| !text.trim().is_empty());
    prop_oneof![
        4 => text.clone().prop_map(Step::Remember),
        2 => (any::<usize>(), text.clone()).prop_map(|(which, text)| Step::Edit(which, text)),
        1 => any::<usize>().prop_map(Step::Forget),
        3 => (0..3_u8).prop_map(Step::Start),
        2 => (0..3_u8, text).prop_map(|(who, text)| Step::Note(who, text)),
        2 => (0..3_u8).prop_map(Step::Confirm),
        1 => (0..3_u8).prop_map(Step::Falsify),
        1 => (0..3_u8).prop_map(Step::Abandon),
        1 => Just(Step::Reopen),
        1 => Just(Step::Tend),
    ]
}

/// Expected content of the store.
#[derive(Debug, Default)]
struct Model {
    memories: BTreeMap<Id, String>,
    /// Notes of the active GHAP, by session.
    active: BTreeMap<u8, Vec<String>>,
    ended: usize,
}

fn pick(model: &Model, which: usize) -> Option<Id> {
    let count = model.memories.len();
    (count > 0).then(|| *model.memories.keys().nth(which % count).unwrap())
}

fn take(world: &World, store: &mut Store, model: &mut Model, number: i64, step: &Step) {
    let now = at(number);
    let owner = |who: &u8| world.other(&format!("session-{who}"));
    match step {
        Step::Remember(text) => {
            let new = NewMemory {
                place: None,
                category: Category::Fact,
                text,
                importance: 0.5,
                tags: &[],
            };
            let memory = store.remember(&new, now).unwrap().memory;
            model.memories.insert(memory.id, memory.text.to_string());
        }
        Step::Edit(which, text) => {
            if let Some(id) = pick(model, *which) {
                let memory = store
                    .edit_memory(id, &MemoryEdit { text: Some(text), ..MemoryEdit::default() }, now)
                    .unwrap();
                model.memories.insert(id, memory.text.to_string());
            }
        }
        Step::Forget(which) => {
            if let Some(id) = pick(model, *which) {
                let row = store.row(&id.to_string().parse().unwrap()).unwrap();
                assert_eq!(store.forget(&[row], None).unwrap().rows, 1);
                model.memories.remove(&id);
            }
        }
        Step::Start(who) => {
            let started = store.start_ghap(&owner(who), &start(), now);
            assert_eq!(started.is_ok(), !model.active.contains_key(who));
            model.active.entry(*who).or_default();
        }
        Step::Note(who, text) => {
            let noted = store.note_ghap(&owner(who), text, now);
            assert_eq!(noted.is_ok(), model.active.contains_key(who));
            if let (Ok(ghap), Some(notes)) = (noted, model.active.get_mut(who)) {
                notes.push(ghap.notes.last().unwrap().text.to_string());
            }
        }
        Step::Confirm(who) | Step::Falsify(who) | Step::Abandon(who) => {
            let ended = match step {
                Step::Confirm(_) => {
                    store.resolve_ghap(&owner(who), &confirm(), now).map(|resolved| resolved.ghap)
                }
                Step::Falsify(_) => {
                    store.resolve_ghap(&owner(who), &falsify(), now).map(|resolved| resolved.ghap)
                }
                _ => store.abandon_ghap(&owner(who), None, "enough", now),
            };
            let expected = model.active.remove(who);
            assert_eq!(ended.is_ok(), expected.is_some());
            if let (Ok(ghap), Some(notes)) = (ended, expected) {
                assert_eq!(
                    ghap.notes.iter().map(|note| note.text.to_string()).collect::<Vec<_>>(),
                    notes
                );
                model.ended += 1;
            }
        }
        Step::Reopen => *store = world.store(),
        Step::Tend => {
            tend(&world.memory(), &Bounds::default(), now).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_commands_is_kept(steps in proptest::collection::vec(step(), 1..40)) {
        let world = World::new();
        let mut store = world.store();
        let mut model = Model::default();
        for (number, step) in steps.iter().enumerate() {
            take(&world, &mut store, &mut model, i64::try_from(number).unwrap(), step);
        }
        drop(store);
        let store = world.store();
        let memories: BTreeMap<Id, String> = store
            .memories(&MemoryFilter::default())
            .unwrap()
            .into_iter()
            .map(|memory| (memory.id, memory.text.to_string()))
            .collect();
        prop_assert_eq!(&memories, &model.memories);
        let ghaps = store.ghaps(&GhapFilter::default(), at(100)).unwrap();
        prop_assert_eq!(ghaps.len(), model.active.len() + model.ended);
        for ghap in &ghaps {
            ghap.check().unwrap();
        }
    }
}
