//! Project, lesson and machine that a value belongs to.

use std::time::Duration;

use rutter_memory::store::hot::HotStore;
use rutter_memory::store::{NewValue, Owner, Record, Row, ValueEdit};
use rutter_memory::value::{Standing, ValueError};
use rutter_memory::{Clean, Store, StoreError};
use rutter_testkit::lessons::Lesson;

use crate::values::{LATER, OWN, cluster, new, values};
use rutter_testkit::world::{ImportText as _, World, all, at};
use rutter_testkit::world::{again, learn, repeated};

/// Returns an owner in another project.
fn elsewhere(world: &World, name: &str) -> Owner {
    let place = (&rutter_memory::project::Located::find(&world.project(name))).into();
    Owner { client: Some(Clean::new(name)), agent: None, place }
}

#[test]
fn what_one_project_learnt_is_said_in_no_other_unless_somebody_says_so() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 2);
    learn(&mut store, &elsewhere(&world, "gamma"), &again(2));
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let [value] = values(&store).try_into().unwrap();
    assert!(value.project.is_some(), "{value:?}");
    let (cluster, beta) = (cluster(&store), elsewhere(&world, "beta").place);
    // Added in another project, it holds there too, and the value here stays unchanged.
    let there = NewValue { place: Some(&beta), ..new(cluster, &value.text) };
    let written = store.add_value(&there, at(LATER + 1)).unwrap();
    assert!(!written.merged && written.value.id != value.id, "{written:?}");
    assert_eq!(store.value(value.id).unwrap().value.standing, Standing::Proposed);
    assert!(store.add_value(&there, at(LATER + 2)).unwrap().merged);
    // Added for all projects, it is a third value, and each project shows the text once.
    let written = store.add_value(&new(cluster, &value.text), at(LATER + 3)).unwrap();
    assert!(!written.merged && written.value.project.is_none(), "{written:?}");
    assert_eq!(store.value(value.id).unwrap().value.standing, Standing::Proposed);
    let hot = HotStore::open(&world.files(), Duration::from_millis(500)).unwrap();
    for (place, expected) in [(&beta, 1), (&world.owner().place, 1)] {
        assert_eq!(hot.values(place, 5).unwrap().len(), expected);
    }
    // A project can neither revive nor retire a value for all projects.
    store.retire_value(written.value.id, at(LATER + 4)).unwrap();
    let delta = elsewhere(&world, "delta").place;
    let there = NewValue { place: Some(&delta), revives: true, ..new(cluster, &value.text) };
    let own = store.add_value(&there, at(LATER + 5)).unwrap();
    assert!(!own.revived && own.value.project.is_some(), "{own:?}");
    assert_eq!(store.value(written.value.id).unwrap().value.standing, Standing::Retired);
}

#[test]
fn who_did_the_opposite_and_failed_does_not_speak_against_it() {
    let world = World::new();
    let mut store = world.store();
    let never = |number| Lesson {
        takeaway: Some("never hold the connection across a request".into()),
        cause: Some(("oversight", "the connection was held across a request".into())),
        ..again(number)
    };
    for number in 0..3 {
        learn(&mut store, &world.other(&format!("learner-{number}")), &never(number));
    }
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let [value] = values(&store).try_into().unwrap();
    for number in 0..3 {
        let lesson = Lesson {
            at: LATER + number * 100_000 + 1,
            hypothesis: "it is faster with one connection for all requests".into(),
            action: "hold the connection across a request".into(),
            surprise: Some("the night was too short".into()),
            cause: Some(("wrong-assumption", "the clock of the machine was wrong".into())),
            takeaway: Some("look at the clock first".into()),
            ..again(number)
        };
        learn(&mut store, &world.other(&format!("against-{number}")), &lesson);
    }
    store.bring_clusters_up_to_date(at(LATER + 900_000)).unwrap();
    assert_eq!(store.value(value.id).unwrap().value.contradicted, 0);
}

#[test]
fn words_that_somebody_said_are_kept_once_and_go_with_the_lesson_that_they_are_of() {
    let world = World::new();
    let mut store = world.store();
    let ghaps = repeated(&world, &mut store, 4);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let [value] = values(&store).try_into().unwrap();
    let place = world.owner().place;
    let own = NewValue { place: Some(&place), ..new(cluster(&store), OWN) };
    let own = store.add_value(&own, at(LATER)).unwrap().value;
    let edit = |text| ValueEdit { text: Some(text), ..ValueEdit::default() };
    let refused = store.edit_value(own.id, &edit(&value.text), at(LATER)).unwrap_err();
    assert!(matches!(refused, StoreError::Value(ValueError::Said { .. })), "{refused}");
    // The same words again, and the lesson's words typed by hand, still belong to the lesson.
    let louder = value.text.to_uppercase();
    store.edit_value(value.id, &edit(&louder), at(LATER)).unwrap();
    assert_eq!(store.value(value.id).unwrap().value.source, value.source);
    store
        .edit_value(value.id, &edit("close every connection in a finally block"), at(LATER))
        .unwrap();
    let typed = store.edit_value(value.id, &edit(&value.text), at(LATER)).unwrap().value;
    assert!(typed.source.is_some(), "{typed:?}");
    // An edit of the lesson changes the value too.
    let source = typed.source.unwrap();
    let takeaway = "release what was taken in a finally block";
    store.edit_lesson(source, None, Some(takeaway), at(LATER + 1)).unwrap();
    assert_eq!(store.value(value.id).unwrap().value.text.as_str(), takeaway);
    store.bring_clusters_up_to_date(at(LATER + 2)).unwrap();
    let others: Vec<Row> = ghaps
        .iter()
        .filter(|ghap| ghap.id != source)
        .map(|ghap| store.row(&ghap.id.short().parse().unwrap()).unwrap())
        .collect();
    store.forget(&others[..2], None).unwrap();
    store.bring_clusters_up_to_date(at(LATER + 3)).unwrap();
    let left = store.value(value.id).unwrap().value;
    assert!(left.support < 3, "two of four are gone: {left:?}");
    let hot = HotStore::open(&world.files(), Duration::from_millis(500)).unwrap();
    let said = hot.values(&world.owner().place, 5).unwrap();
    assert!(said.iter().all(|held| held.value.id != value.id), "too few say it: {said:?}");
}

#[test]
fn what_two_machines_proposed_is_one_and_what_somebody_decided_counts() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    let lessons = all(&mut store);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let [here] = values(&store).try_into().unwrap();
    let other = World::new();
    let mut theirs = other.store();
    import(&mut theirs, &lessons);
    theirs.bring_clusters_up_to_date(at(LATER + 5)).unwrap();
    let [there] = values(&theirs).try_into().unwrap();
    assert_ne!(here.id, there.id);
    store.retire_value(here.id, at(LATER + 1)).unwrap();
    import(&mut theirs, &all(&mut store));
    let [united] = values(&theirs).try_into().unwrap();
    assert_eq!(united.standing, Standing::Retired, "a person has said so");
}

fn import(store: &mut Store, records: &[Record]) {
    let lines: Vec<String> =
        records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    store.import_own(lines.join("\n").as_bytes()).unwrap();
}

#[test]
fn a_lesson_that_says_something_else_takes_its_value_along_and_nobody_elses() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let [value] = values(&store).try_into().unwrap();
    let accept = ValueEdit { standing: Some(Standing::Accepted), ..ValueEdit::default() };
    store.edit_value(value.id, &accept, at(LATER)).unwrap();
    let beta = elsewhere(&world, "beta").place;
    let there = NewValue { place: Some(&beta), ..new(cluster(&store), &value.text) };
    let there = store.add_value(&there, at(LATER)).unwrap().value;
    assert_eq!(there.source, None, "its words are somebody's own there");
    let source = value.source.unwrap();
    let mut say = |takeaway: &str, second| {
        let (_, followed) =
            store.edit_lesson(source, None, Some(takeaway), at(LATER + second)).unwrap();
        assert_eq!(store.value(there.id).unwrap().value.text, there.text, "{takeaway}");
        let own = store.value(value.id).ok().map(|held| (held.value.text, held.value.standing));
        (followed.into_iter().map(|one| one.standing).collect::<Vec<_>>(), own)
    };
    let near = "release the connection of the pool in a finally block";
    let (followed, own) = say(near, 1);
    assert_eq!(followed, [Some(Standing::Accepted)]);
    assert_eq!(own, Some((Clean::new(near), Standing::Accepted)));
    let (followed, own) = say("buy more coffee and look at the weather", 2);
    assert_eq!(followed, [Some(Standing::Proposed)], "somebody has to accept that anew");
    assert!(own.is_some());
    let (followed, own) = say(&"a story that has no end, ".repeat(20), 3);
    assert_eq!((followed, own), (vec![None], None));
}

#[test]
fn another_project_that_learns_it_by_itself_has_its_own() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    assert_eq!(values(&store).len(), 1);
    let beta = elsewhere(&world, "beta");
    for number in 0..3 {
        let owner = Owner { client: Some(Clean::new(&format!("beta-{number}"))), ..beta.clone() };
        learn(&mut store, &owner, &again(20 + number));
        store.bring_clusters_up_to_date(at(LATER + number)).unwrap();
        assert_eq!(values(&store).len(), if number < 2 { 1 } else { 2 }, "{number}");
    }
    let projects: Vec<_> = values(&store).into_iter().map(|value| value.project).collect();
    assert!(projects[0].is_some() && projects[1].is_some() && projects[0] != projects[1]);
}
