//! After any sequence of commands, the store has the same content as a simple model.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::{GhapFilter, MemoryEdit, MemoryFilter, NewMemory};
use rutter_memory::{Id, Store};

use rutter_testkit::world::{
    FACT, TestWorld, confirm_fields, falsify_fields, start_fields, time_at,
};

#[derive(Debug, Clone)]
enum ModelStep {
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

fn arbitrary_step() -> impl Strategy<Value = ModelStep> {
    let text = "[a-zäß \n\"']{1,40}".prop_filter("not blank", |text| !text.trim().is_empty());
    prop_oneof![
        4 => text.clone().prop_map(ModelStep::Remember),
        2 => (any::<usize>(), text.clone()).prop_map(|(which, text)| ModelStep::Edit(which, text)),
        1 => any::<usize>().prop_map(ModelStep::Forget),
        3 => (0..3_u8).prop_map(ModelStep::Start),
        2 => (0..3_u8, text).prop_map(|(who, text)| ModelStep::Note(who, text)),
        2 => (0..3_u8).prop_map(ModelStep::Confirm),
        1 => (0..3_u8).prop_map(ModelStep::Falsify),
        1 => (0..3_u8).prop_map(ModelStep::Abandon),
        1 => Just(ModelStep::Reopen),
        1 => Just(ModelStep::Tend),
    ]
}

/// Expected content of the store.
#[derive(Debug, Default)]
struct StoreModel {
    memories: BTreeMap<Id, String>,
    /// Notes of the active GHAP, by session.
    active: BTreeMap<u8, Vec<String>>,
    ended: usize,
}

fn pick_memory(model: &StoreModel, which: usize) -> Option<Id> {
    let count = model.memories.len();
    (count > 0).then(|| *model.memories.keys().nth(which % count).unwrap())
}

fn apply_step(
    world: &TestWorld,
    store: &mut Store,
    model: &mut StoreModel,
    number: i64,
    step: &ModelStep,
) {
    let now = time_at(number);
    let owner = |who: &u8| world.other_session(&format!("session-{who}"));
    match step {
        ModelStep::Remember(text) => {
            let new = NewMemory { text, ..FACT };
            let memory = store.remember(&new, now).unwrap().memory;
            model.memories.insert(memory.id, memory.text.to_string());
        }
        ModelStep::Edit(which, text) => {
            if let Some(id) = pick_memory(model, *which) {
                let memory = store
                    .edit_memory(id, &MemoryEdit { text: Some(text), ..MemoryEdit::default() }, now)
                    .unwrap();
                model.memories.insert(id, memory.text.to_string());
            }
        }
        ModelStep::Forget(which) => {
            if let Some(id) = pick_memory(model, *which) {
                let row = store.find_row(&id.to_string().parse().unwrap()).unwrap();
                assert_eq!(store.forget(&[row], None).unwrap().rows, 1);
                model.memories.remove(&id);
            }
        }
        ModelStep::Start(who) => {
            let started = store.start_ghap(&owner(who), &start_fields(), now);
            assert_eq!(started.is_ok(), !model.active.contains_key(who));
            model.active.entry(*who).or_default();
        }
        ModelStep::Note(who, text) => {
            let noted = store.note_ghap(&owner(who), text, now);
            assert_eq!(noted.is_ok(), model.active.contains_key(who));
            if let (Ok(ghap), Some(notes)) = (noted, model.active.get_mut(who)) {
                notes.push(ghap.notes.last().unwrap().text.to_string());
            }
        }
        ModelStep::Confirm(who) | ModelStep::Falsify(who) | ModelStep::Abandon(who) => {
            let ended = match step {
                ModelStep::Confirm(_) => store
                    .resolve_ghap(&owner(who), &confirm_fields(), now)
                    .map(|resolved| resolved.ghap),
                ModelStep::Falsify(_) => store
                    .resolve_ghap(&owner(who), &falsify_fields(), now)
                    .map(|resolved| resolved.ghap),
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
        ModelStep::Reopen => *store = world.store(),
        ModelStep::Tend => {
            maintain(&world.memory(), &MaintenanceLimits::default(), now).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn store_matches_model(steps in proptest::collection::vec(arbitrary_step(), 1..40)) {
        let world = TestWorld::new();
        let mut store = world.store();
        let mut model = StoreModel::default();
        for (number, step) in steps.iter().enumerate() {
            apply_step(&world, &mut store, &mut model, i64::try_from(number).unwrap(), step);
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
        let ghaps = store.ghaps(&GhapFilter::default(), time_at(100)).unwrap();
        prop_assert_eq!(ghaps.len(), model.active.len() + model.ended);
        for ghap in &ghaps {
            ghap.validate().unwrap();
        }
    }
}
