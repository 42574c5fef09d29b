//! Project, lesson and machine that a value belongs to.

use std::time::Duration;

use rutter_memory::ghap::LessonEdit;
use rutter_memory::store::hook_store::HookStore;
use rutter_memory::store::{ExportRecord, ForgettableRow, GhapOwner, NewValue, ValueEdit};
use rutter_memory::value::{ValueError, ValueStanding};
use rutter_memory::{Clean, Store, StoreError};
use rutter_testkit::lessons::GeneratedLesson;

use crate::values::{LATER_SECONDS, USER_WORDING, accepted_value, all_values, repeated_cluster};
use rutter_testkit::world::{ImportText as _, TestWorld, all_records, time_at};
use rutter_testkit::world::{record_lesson, record_repeatedly, repeated_lesson};

/// Returns an owner in another project.
fn owner_in_project(world: &TestWorld, name: &str) -> GhapOwner {
    let place = (&rutter_memory::project::LocatedProject::find(&world.project(name))).into();
    GhapOwner { client: Some(Clean::new(name)), agent: None, place }
}

#[test]
fn values_stay_in_their_project() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 2);
    record_lesson(&mut store, &owner_in_project(&world, "gamma"), &repeated_lesson(2));
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let [value] = all_values(&store).try_into().unwrap();
    assert!(value.project.is_some(), "{value:?}");
    let (cluster, beta) = (repeated_cluster(&store), owner_in_project(&world, "beta").place);
    // Added in another project, it holds there too, and the value here stays unchanged.
    let there = NewValue { place: Some(&beta), ..accepted_value(cluster, &value.text) };
    let written = store.add_value(&there, time_at(LATER_SECONDS + 1)).unwrap();
    assert!(!written.merged && written.value.id != value.id, "{written:?}");
    assert_eq!(store.value(value.id).unwrap().value.standing, ValueStanding::Proposed);
    assert!(store.add_value(&there, time_at(LATER_SECONDS + 2)).unwrap().merged);
    // Added for all projects, it is a third value, and each project shows the text once.
    let written =
        store.add_value(&accepted_value(cluster, &value.text), time_at(LATER_SECONDS + 3)).unwrap();
    assert!(!written.merged && written.value.project.is_none(), "{written:?}");
    assert_eq!(store.value(value.id).unwrap().value.standing, ValueStanding::Proposed);
    let hot = HookStore::open(&world.files(), Duration::from_millis(500)).unwrap();
    for (place, expected) in [(&beta, 1), (&world.owner().place, 1)] {
        assert_eq!(hot.values(place, 5).unwrap().len(), expected);
    }
    // A project can neither revive nor retire a value for all projects.
    store.retire_value(written.value.id, time_at(LATER_SECONDS + 4)).unwrap();
    let delta = owner_in_project(&world, "delta").place;
    let there =
        NewValue { place: Some(&delta), revives: true, ..accepted_value(cluster, &value.text) };
    let own = store.add_value(&there, time_at(LATER_SECONDS + 5)).unwrap();
    assert!(!own.revived && own.value.project.is_some(), "{own:?}");
    assert_eq!(store.value(written.value.id).unwrap().value.standing, ValueStanding::Retired);
}

#[test]
fn opposite_action_is_no_contradiction() {
    let world = TestWorld::new();
    let mut store = world.store();
    let never = |number| GeneratedLesson {
        takeaway: Some("never hold the connection across a request".into()),
        cause: Some(("oversight", "the connection was held across a request".into())),
        ..repeated_lesson(number)
    };
    for number in 0..3 {
        record_lesson(
            &mut store,
            &world.other_session(&format!("learner-{number}")),
            &never(number),
        );
    }
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let [value] = all_values(&store).try_into().unwrap();
    for number in 0..3 {
        let lesson = GeneratedLesson {
            at: LATER_SECONDS + number * 100_000 + 1,
            hypothesis: "it is faster with one connection for all requests".into(),
            action: "hold the connection across a request".into(),
            surprise: Some("the night was too short".into()),
            cause: Some(("wrong-assumption", "the clock of the machine was wrong".into())),
            takeaway: Some("look at the clock first".into()),
            ..repeated_lesson(number)
        };
        record_lesson(&mut store, &world.other_session(&format!("against-{number}")), &lesson);
    }
    store.update_clusters(time_at(LATER_SECONDS + 900_000)).unwrap();
    assert_eq!(store.value(value.id).unwrap().value.contradicted, 0);
}

#[test]
fn value_follows_source_lesson() {
    let world = TestWorld::new();
    let mut store = world.store();
    let ghaps = record_repeatedly(&world, &mut store, 4);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let [value] = all_values(&store).try_into().unwrap();
    let place = world.owner().place;
    let own =
        NewValue { place: Some(&place), ..accepted_value(repeated_cluster(&store), USER_WORDING) };
    let own = store.add_value(&own, time_at(LATER_SECONDS)).unwrap().value;
    let edit = |text| ValueEdit { text: Some(text), ..ValueEdit::default() };
    let refused = store.edit_value(own.id, &edit(&value.text), time_at(LATER_SECONDS)).unwrap_err();
    assert!(matches!(refused, StoreError::Value(ValueError::Duplicate { .. })), "{refused}");
    // The same words again, and the lesson's words typed by hand, still belong to the lesson.
    let louder = value.text.to_uppercase();
    store.edit_value(value.id, &edit(&louder), time_at(LATER_SECONDS)).unwrap();
    assert_eq!(store.value(value.id).unwrap().value.source, value.source);
    store
        .edit_value(
            value.id,
            &edit("close every connection in a finally block"),
            time_at(LATER_SECONDS),
        )
        .unwrap();
    let typed =
        store.edit_value(value.id, &edit(&value.text), time_at(LATER_SECONDS)).unwrap().value;
    assert!(typed.source.is_some(), "{typed:?}");
    // An edit of the lesson changes the value too.
    let source = typed.source.unwrap();
    let takeaway = "release what was taken in a finally block";
    let edit = LessonEdit { takeaway: Some(takeaway), ..LessonEdit::default() };
    store.edit_lesson(source, &edit, time_at(LATER_SECONDS + 1)).unwrap();
    assert_eq!(store.value(value.id).unwrap().value.text.as_str(), takeaway);
    store.update_clusters(time_at(LATER_SECONDS + 2)).unwrap();
    let others: Vec<ForgettableRow> = ghaps
        .iter()
        .filter(|ghap| ghap.id != source)
        .map(|ghap| store.find_row(&ghap.id.short().parse().unwrap()).unwrap())
        .collect();
    store.forget(&others[..2], None).unwrap();
    store.update_clusters(time_at(LATER_SECONDS + 3)).unwrap();
    let left = store.value(value.id).unwrap().value;
    assert!(left.support < 3, "two of four are gone: {left:?}");
    let hot = HookStore::open(&world.files(), Duration::from_millis(500)).unwrap();
    let said = hot.values(&world.owner().place, 5).unwrap();
    assert!(said.iter().all(|held| held.value.id != value.id), "too few say it: {said:?}");
}

#[test]
fn merged_proposal_keeps_user_decision() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    let lessons = all_records(&mut store);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let [here] = all_values(&store).try_into().unwrap();
    let other = TestWorld::new();
    let mut theirs = other.store();
    import_records(&mut theirs, &lessons);
    theirs.update_clusters(time_at(LATER_SECONDS + 5)).unwrap();
    let [there] = all_values(&theirs).try_into().unwrap();
    assert_ne!(here.id, there.id);
    store.retire_value(here.id, time_at(LATER_SECONDS + 1)).unwrap();
    import_records(&mut theirs, &all_records(&mut store));
    let [united] = all_values(&theirs).try_into().unwrap();
    assert_eq!(united.standing, ValueStanding::Retired, "a person has said so");
}

fn import_records(store: &mut Store, records: &[ExportRecord]) {
    let lines: Vec<String> =
        records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    store.import_own(lines.join("\n").as_bytes()).unwrap();
}

#[test]
fn lesson_edit_changes_own_value_only() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let [value] = all_values(&store).try_into().unwrap();
    let accept = ValueEdit { standing: Some(ValueStanding::Accepted), ..ValueEdit::default() };
    store.edit_value(value.id, &accept, time_at(LATER_SECONDS)).unwrap();
    let beta = owner_in_project(&world, "beta").place;
    let there =
        NewValue { place: Some(&beta), ..accepted_value(repeated_cluster(&store), &value.text) };
    let there = store.add_value(&there, time_at(LATER_SECONDS)).unwrap().value;
    assert_eq!(there.source, None, "its words are somebody's own there");
    let source = value.source.unwrap();
    let mut say = |takeaway: &str, second| {
        let edit = LessonEdit { takeaway: Some(takeaway), ..LessonEdit::default() };
        let (_, followed) =
            store.edit_lesson(source, &edit, time_at(LATER_SECONDS + second)).unwrap();
        assert_eq!(store.value(there.id).unwrap().value.text, there.text, "{takeaway}");
        let own = store.value(value.id).ok().map(|held| (held.value.text, held.value.standing));
        (followed.into_iter().map(|one| one.standing).collect::<Vec<_>>(), own)
    };
    let near = "release the connection of the pool in a finally block";
    let (followed, own) = say(near, 1);
    assert_eq!(followed, [Some(ValueStanding::Accepted)]);
    assert_eq!(own, Some((Clean::new(near), ValueStanding::Accepted)));
    let (followed, own) = say("buy more coffee and look at the weather", 2);
    assert_eq!(followed, [Some(ValueStanding::Proposed)], "somebody has to accept that anew");
    assert!(own.is_some());
    let (followed, own) = say(&"a story that has no end, ".repeat(20), 3);
    assert_eq!((followed, own), (vec![None], None));
}

#[test]
fn projects_propose_separate_values() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    assert_eq!(all_values(&store).len(), 1);
    let beta = owner_in_project(&world, "beta");
    for number in 0..3 {
        let owner =
            GhapOwner { client: Some(Clean::new(&format!("beta-{number}"))), ..beta.clone() };
        record_lesson(&mut store, &owner, &repeated_lesson(20 + number));
        store.update_clusters(time_at(LATER_SECONDS + number)).unwrap();
        assert_eq!(all_values(&store).len(), if number < 2 { 1 } else { 2 }, "{number}");
    }
    let projects: Vec<_> = all_values(&store).into_iter().map(|value| value.project).collect();
    assert!(projects[0].is_some() && projects[1].is_some() && projects[0] != projects[1]);
}
