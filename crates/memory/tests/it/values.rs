use std::fs;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use rutter_memory::ghap::LessonEdit;
use rutter_memory::injection::{Injection, ShownEffect};
use rutter_memory::project::LocatedProject;
use rutter_memory::store::doctor::repair_store;
use rutter_memory::store::entry::{EntryKind, ProjectPlace};
use rutter_memory::store::hook_store::HookStore;
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::{
    ClusterFilter, ExportRecord, ForgettableKind, ForgettableRow, GhapOwner, NewValue, ValueEdit,
    ValueFilter,
};
use rutter_memory::value::{Value, ValueError, ValueStanding};
use rutter_memory::{Clean, Id, Store, StoreError};
use rutter_search::cluster::Axis;

use rutter_testkit::lessons::GeneratedLesson;

use rutter_testkit::world::{ImportText as _, TestWorld, all_records, time_at};
use rutter_testkit::world::{record_lesson, record_repeatedly, repeated_lesson};

/// A user's wording of the repeated lesson.
pub(crate) const USER_WORDING: &str = "give connections back to the pool, whatever happens";
pub(crate) const LATER_SECONDS: i64 = 90_000_000;

/// Returns the cluster of the repeated lesson.
pub(crate) fn repeated_cluster(store: &Store) -> Id {
    let filter = ClusterFilter { axis: Some(Axis::RootCause), ..ClusterFilter::default() };
    store.clusters(&filter).unwrap()[0].id
}

pub(crate) fn accepted_value(cluster: Id, text: &str) -> NewValue<'_> {
    NewValue { place: None, cluster, text, standing: ValueStanding::Accepted, revives: false }
}

/// Adds the user's wording as a value for all projects.
fn add_user_value(store: &mut Store) -> Value {
    store
        .add_value(&accepted_value(repeated_cluster(store), USER_WORDING), time_at(LATER_SECONDS))
        .unwrap()
        .value
}

pub(crate) fn all_values(store: &Store) -> Vec<Value> {
    let filter = ValueFilter { retired: true, ..ValueFilter::default() };
    store.values(&filter).unwrap().into_iter().map(|held| held.value).collect()
}

#[test]
fn three_sessions_propose_a_value() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 2);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    assert_eq!(all_values(&store), []);
    let third = record_lesson(&mut store, &world.other_session("third"), &repeated_lesson(2));
    let done = store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    assert_eq!(done.proposed, 1, "one, though it is a cluster on four axes");
    let [value] = all_values(&store).try_into().unwrap();
    assert_eq!(value.text.as_str(), "release the connection in a finally block");
    assert_eq!((value.standing, value.support), (ValueStanding::Proposed, 3));
    assert_eq!(value.project, Some(world.place().key), "all of them were made there");
    assert!(value.source.is_some() && value.distance <= value.threshold);
    assert_eq!(store.cluster(value.cluster.unwrap()).unwrap().values, [value.id]);
    assert_eq!(store.update_clusters(time_at(LATER_SECONDS)).unwrap().proposed, 0);
    assert!(third.resolution.is_some());
}

#[test]
fn one_session_proposes_no_value() {
    let world = TestWorld::new();
    let mut store = world.store();
    for number in 0..5 {
        let lesson = rutter_testkit::lessons::GeneratedLesson { at: number, ..repeated_lesson(0) };
        record_lesson(&mut store, &world.owner(), &lesson);
    }
    let done = store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    assert_eq!((done.born, done.proposed), (4, 0), "a cluster of five all the same");
}

#[test]
fn refuses_value_far_from_cluster() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 5);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let cluster = repeated_cluster(&store);
    // The cluster is as tight as possible: five times the same lesson. Another wording still fits.
    let fits = "give connections back to the pool, whatever happens, also on an early return";
    let written = store.add_value(&accepted_value(cluster, fits), time_at(LATER_SECONDS)).unwrap();
    assert!(!written.merged, "{written:?}");
    assert!(written.value.distance > 0.1 && written.value.distance <= written.value.threshold);
    assert_eq!((written.value.support, written.value.standing), (5, ValueStanding::Accepted));

    let strange = "choose icons for the weather by the height of the sun";
    let error =
        store.add_value(&accepted_value(cluster, strange), time_at(LATER_SECONDS)).unwrap_err();
    let StoreError::Value(ValueError::TooFar { distance, threshold, .. }) = &error else {
        panic!("{error}")
    };
    assert!(distance > threshold, "{error}");
    assert!(error.to_string().contains(&format!("its distance is {distance:.2}")), "{error}");
    assert!(error.to_string().contains(&format!("the maximum is {threshold:.2}")), "{error}");
    assert_eq!(all_values(&store).len(), 2, "the proposed one and the one that fits");

    for (text, why) in [("  ", "the value is empty"), ("☃☃☃", "the value has no known words")]
    {
        let error =
            store.add_value(&accepted_value(cluster, text), time_at(LATER_SECONDS)).unwrap_err();
        assert!(error.to_string().starts_with(why), "{error}");
    }
    let nobody = Id::new(time_at(0));
    let error = store.add_value(&accepted_value(nobody, fits), time_at(LATER_SECONDS)).unwrap_err();
    assert!(matches!(error, StoreError::NotFound { what: "cluster", .. }), "{error}");
}

/// Returns one of three lessons about how a parser splits lines.
fn parser_lesson(number: i64) -> rutter_testkit::lessons::GeneratedLesson {
    let said = [
        (
            "the last field of every row ended in a carriage return",
            "the parser splits lines at the line feed only",
            "split lines with a function that knows every line ending",
        ),
        (
            "the parser found an empty line after each real one",
            "lines are split at the carriage return and again at the line feed",
            "split lines once, and treat a carriage return with a line feed as one ending",
        ),
        (
            "a row was cut in two inside of a quoted field",
            "the parser splits lines before it looks at quotes",
            "let the parser split lines itself; a quoted field may hold a line feed",
        ),
    ];
    let (surprise, cause, takeaway) = said[usize::try_from(number).unwrap()];
    rutter_testkit::lessons::GeneratedLesson {
        surprise: Some(surprise.into()),
        cause: Some(("oversight", cause.into())),
        takeaway: Some(takeaway.into()),
        goal: "the importer takes files of the partner".into(),
        hypothesis: "the parser splits the lines in the wrong place".into(),
        action: "extend the reader of partner files".into(),
        ..repeated_lesson(number)
    }
}

#[test]
fn refuses_unrelated_software_advice() {
    let world = TestWorld::new();
    let mut store = world.store();
    for number in 0..3 {
        let owner = world.other_session(&format!("learner-{number}"));
        record_lesson(&mut store, &owner, &parser_lesson(number));
    }
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let filter = ClusterFilter { axis: Some(Axis::Full), ..ClusterFilter::default() };
    let [cluster] = store.clusters(&filter).unwrap().try_into().unwrap();
    for strange in [
        "Pin the version of the compiler",
        "Run the linter before every commit",
        "Check the exit status of every command in a script",
        "Give the build more memory",
    ] {
        let error = store
            .add_value(&accepted_value(cluster.id, strange), time_at(LATER_SECONDS))
            .unwrap_err();
        let StoreError::Value(ValueError::TooFar { distance, threshold, .. }) = &error else {
            panic!("{strange}: {error}")
        };
        assert!(distance > threshold, "{strange}: {error}");
    }
    for fitting in [
        "Split lines at every kind of line ending",
        "Leave it to the parser to split lines, because of quoted fields",
    ] {
        let written =
            store.add_value(&accepted_value(cluster.id, fitting), time_at(LATER_SECONDS)).unwrap();
        assert!(written.value.distance <= written.value.threshold, "{fitting}");
    }
}

/// Three failures with one cause and different takeaways.
#[test]
fn different_takeaways_propose_nothing() {
    let world = TestWorld::new();
    let mut store = world.store();
    let learnt = [
        ("the invoice was sent twice", "ask the accountants before the end of the quarter"),
        ("a picture was upside down", "look at the camera's orientation before scaling"),
        ("the train was shown as late", "timetables of holidays are kept in another table"),
    ];
    for (number, (surprise, takeaway)) in (0..).zip(learnt) {
        let lesson = rutter_testkit::lessons::GeneratedLesson {
            surprise: Some(surprise.into()),
            takeaway: Some(takeaway.into()),
            goal: surprise.into(),
            hypothesis: takeaway.into(),
            ..repeated_lesson(number)
        };
        record_lesson(&mut store, &world.other_session(&format!("learner-{number}")), &lesson);
    }
    let done = store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let cause = ClusterFilter { axis: Some(Axis::RootCause), ..ClusterFilter::default() };
    assert_eq!(store.clusters(&cause).unwrap().len(), 1, "one cause, in the same words");
    assert_eq!(done.proposed, 0, "{:?}", all_values(&store));
}

#[test]
fn merges_duplicates_and_reports_conflicts() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let cluster = repeated_cluster(&store);
    let [proposed] = all_values(&store).try_into().unwrap();
    let place = world.owner().place;
    let here = |text| NewValue { place: Some(&place), ..accepted_value(cluster, text) };
    let same = here("Release the connection in a `finally` block!");
    let written = store.add_value(&same, time_at(LATER_SECONDS + 1)).unwrap();
    assert!(written.merged);
    assert_eq!((written.value.id, written.value.standing), (proposed.id, ValueStanding::Accepted));
    assert_eq!(written.conflicts, []);
    let opposite = here("never release the connection in a finally block");
    let written = store.add_value(&opposite, time_at(LATER_SECONDS + 2)).unwrap();
    assert!(!written.merged);
    assert_eq!(written.conflicts.iter().map(|value| value.id).collect::<Vec<_>>(), [proposed.id]);
}

#[test]
fn readers_do_not_wait_for_writer() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    let known = |store: &Store| store.values(&ValueFilter::default()).unwrap().len();
    let writer = rusqlite::Connection::open(world.files().database()).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(!store.refresh_values(time_at(LATER_SECONDS)).unwrap());
    assert_eq!((known(&store), store.clusters(&ClusterFilter::default()).unwrap()), (0, vec![]));
    writer.execute_batch("COMMIT").unwrap();
    assert!(store.refresh_values(time_at(LATER_SECONDS)).unwrap());
    assert_eq!(known(&store), 1);
    // A writer does not block readers without pending work.
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(
        store.refresh_values(time_at(LATER_SECONDS)).unwrap()
            && store.refresh_effects(time_at(LATER_SECONDS)).unwrap()
    );
}

#[test]
fn retired_value_is_not_proposed_again() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let [value] = all_values(&store).try_into().unwrap();
    assert_eq!(
        store.retire_value(value.id, time_at(LATER_SECONDS)).unwrap().standing,
        ValueStanding::Retired
    );
    assert_eq!(store.values(&ValueFilter::default()).unwrap(), []);
    record_lesson(&mut store, &world.other_session("one more"), &repeated_lesson(8));
    let done = store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    assert_eq!((done.placed, done.proposed), (4, 0));
    // An agent cannot revive it either. A person can.
    let place = world.owner().place;
    let said = NewValue {
        place: Some(&place),
        revives: true,
        ..accepted_value(repeated_cluster(&store), &value.text)
    };
    let refused = store
        .add_value(&NewValue { revives: false, ..said }, time_at(LATER_SECONDS + 5))
        .unwrap_err();
    let advice = format!("rutter values edit {} --standing accepted", value.id.short());
    assert!(refused.to_string().contains(&advice), "{refused}");
    let written = store.add_value(&said, time_at(LATER_SECONDS + 5)).unwrap();
    assert_eq!((written.value.id, written.value.standing), (value.id, ValueStanding::Accepted));
    assert!(written.merged && written.revived);
}

#[test]
fn edited_value_must_fit_cluster() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let [value] = all_values(&store).try_into().unwrap();
    let edit = |text| ValueEdit { text: Some(text), ..ValueEdit::default() };
    let error = store.edit_value(
        value.id,
        &edit("ski lifts are free for children"),
        time_at(LATER_SECONDS),
    );
    assert!(matches!(error, Err(StoreError::Value(ValueError::TooFar { .. }))), "{error:?}");
    let text = "close every connection in a finally block";
    let written = store.edit_value(value.id, &edit(text), time_at(LATER_SECONDS)).unwrap();
    assert_eq!((written.value.text.as_str(), written.value.source), (text, None));
    assert!(written.value.changed > value.changed);
    let error =
        store.edit_value(value.id, &ValueEdit::default(), time_at(LATER_SECONDS)).unwrap_err();
    assert!(matches!(error, StoreError::Value(ValueError::NothingToChange)), "{error}");
    let held = store.value(store.value_id(&value.id.short().parse().unwrap()).unwrap()).unwrap();
    assert_eq!((held.effects.helped, held.effects.hurt), (0, 0));
    let everywhere = ValueEdit { place: Some(None), ..ValueEdit::default() };
    assert_eq!(
        store.edit_value(value.id, &everywhere, time_at(LATER_SECONDS)).unwrap().value.project,
        None
    );
}

/// Returns a lesson that acts on the value and fails.
fn contradicting_lesson(number: i64) -> rutter_testkit::lessons::GeneratedLesson {
    rutter_testkit::lessons::GeneratedLesson {
        hypothesis: "releasing the connection in a finally block helps".into(),
        action: "release the connection in a finally block".into(),
        surprise: Some("the icons of the weather page are too small".into()),
        cause: Some(("wrong-assumption", "the stylesheet scales pictures twice".into())),
        takeaway: Some("measure pictures in the browser".into()),
        at: LATER_SECONDS + number * 100_000,
        ..repeated_lesson(0)
    }
}

#[test]
fn contradicted_value_loses_standing() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let [value] = all_values(&store).try_into().unwrap();
    let accept = ValueEdit { standing: Some(ValueStanding::Accepted), ..ValueEdit::default() };
    store.edit_value(value.id, &accept, time_at(LATER_SECONDS)).unwrap();
    let standing = |store: &mut Store, number: i64| {
        let owner = world.other_session(&format!("against-{number}"));
        record_lesson(store, &owner, &contradicting_lesson(number));
        store.update_clusters(time_at(LATER_SECONDS + number * 100_000 + 1)).unwrap();
        let value = store.value(value.id).unwrap().value;
        (value.standing, value.contradicted)
    };
    assert_eq!(standing(&mut store, 1), (ValueStanding::Accepted, 1), "once is chance");
    // The contradictions that lowered the standing do not count again.
    assert_eq!(standing(&mut store, 2), (ValueStanding::Proposed, 0));
    assert!(store.value(value.id).unwrap().value.doubted.is_some());
    for number in 3..6 {
        let count = u32::try_from(number - 2).unwrap();
        assert_eq!(standing(&mut store, number), (ValueStanding::Proposed, count), "{number}");
    }
    assert_eq!(store.value(value.id).unwrap().value.support, 3, "nobody speaks for both");
    assert_eq!(standing(&mut store, 6), (ValueStanding::Retired, 0));
    // Accepting the value again clears contradictions and doubt.
    let written = store.edit_value(value.id, &accept, time_at(LATER_SECONDS + 900_000)).unwrap();
    assert_eq!((written.value.standing, written.value.doubted), (ValueStanding::Accepted, None));
    assert_eq!(standing(&mut store, 10), (ValueStanding::Accepted, 1));
    // So does accepting a doubted value.
    standing(&mut store, 11);
    assert_eq!(standing(&mut store, 12), (ValueStanding::Proposed, 1));
    let written = store.edit_value(value.id, &accept, time_at(LATER_SECONDS + 1_300_000)).unwrap();
    assert_eq!((written.value.contradicted, written.value.doubted), (0, None));
}

#[test]
fn other_projects_cannot_contradict_value() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let [value] = all_values(&store).try_into().unwrap();
    let accept = ValueEdit { standing: Some(ValueStanding::Accepted), ..ValueEdit::default() };
    store.edit_value(value.id, &accept, time_at(LATER_SECONDS)).unwrap();
    let boat = ProjectPlace::from(&LocatedProject::find(&world.project("boat")));
    for number in 1..8 {
        let owner =
            GhapOwner { place: boat.clone(), ..world.other_session(&format!("stranger-{number}")) };
        record_lesson(&mut store, &owner, &contradicting_lesson(number));
        store.update_clusters(time_at(LATER_SECONDS + number * 100_000 + 1)).unwrap();
    }
    let after = store.value(value.id).unwrap().value;
    assert_eq!((after.standing, after.contradicted), (ValueStanding::Accepted, 0), "{after:?}");
}

#[test]
fn effects_change_value_order() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let [first] = all_values(&store).try_into().unwrap();
    let accept =
        ValueEdit { standing: Some(ValueStanding::Accepted), place: Some(None), text: None };
    store.edit_value(first.id, &accept, time_at(LATER_SECONDS)).unwrap();
    let second = add_user_value(&mut store);
    let shown = |row: Id, seconds: i64, effect: ShownEffect| {
        let injection = Injection {
            id: Id::new(time_at(seconds)),
            session: Clean::new("session-1"),
            agent: None,
            event: Clean::new("SessionStart"),
            row,
            score: 1.0,
            prompt: Clean::new("-"),
            at: time_at(seconds),
            effect: Some(effect),
            brief: false,
        };
        world.record(&world.entry("session-1", seconds, EntryKind::Shown(Box::new(injection))));
    };
    shown(second.id, LATER_SECONDS + 1, ShownEffect::Helped);
    let listed = store.values(&ValueFilter::default()).unwrap();
    assert_eq!((listed[0].value.id, listed[0].effects.helped), (second.id, 1));
    for seconds in 2..5 {
        shown(second.id, LATER_SECONDS + seconds, ShownEffect::Hurt);
    }
    let done = store.update_clusters(time_at(LATER_SECONDS + 9)).unwrap();
    assert_eq!(done.doubted, 1, "{done:?}");
    let listed = store.values(&ValueFilter::default()).unwrap();
    assert_eq!(listed[0].value.id, first.id);
    assert_eq!((listed[1].value.standing, listed[1].effects.hurt), (ValueStanding::Proposed, 0));
    assert!(listed[1].value.doubted.is_some());
}

#[test]
fn values_survive_export_and_import() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 4);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    add_user_value(&mut store);
    let records = all_records(&mut store);
    assert_eq!(records.iter().filter(|record| matches!(record, ExportRecord::Value(_))).count(), 2);
    let lines: String =
        records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
    let other = TestWorld::new();
    let mut copy = other.store();
    copy.import_own(lines.as_bytes()).unwrap();
    assert_eq!(all_records(&mut copy), records);
    let origins = records.iter().filter(|record| matches!(record, ExportRecord::Origin(_))).count();
    assert_eq!(copy.import_own(lines.as_bytes()).unwrap().kept, records.len() - 1 - origins);
    // Clusters are rebuilt there with other ids, and values find theirs.
    let done = copy.update_clusters(time_at(LATER_SECONDS)).unwrap();
    assert_eq!((done.born, done.proposed), (4, 0), "{done:?}");
    for value in all_values(&copy) {
        assert_eq!(copy.cluster(value.cluster.unwrap()).unwrap().size, 4);
    }
    let wrong = lines.replace("\"threshold\":0.", "\"threshold\":9.");
    let error = TestWorld::new().store().import_own(wrong.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("the distance of a value must be a number from 0 to 2"), "{error}");
}

#[test]
fn forgotten_lessons_leave_no_value() {
    let world = TestWorld::new();
    let mut store = world.store();
    let ghaps = record_repeatedly(&world, &mut store, 3);
    let words = "a wholly distinctive takeaway about connections";
    for ghap in &ghaps {
        let edit = LessonEdit { takeaway: Some(words), ..LessonEdit::default() };
        store.edit_lesson(ghap.id, &edit, time_at(LATER_SECONDS)).unwrap();
    }
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    assert_eq!(all_values(&store).len(), 1);
    let found = store.find_rows_with_words("distinctive takeaway").unwrap();
    assert_eq!(found.iter().filter(|row| row.kind == ForgettableKind::Value).count(), 1);
    let rows: Vec<ForgettableRow> = ghaps
        .iter()
        .map(|ghap| ForgettableRow {
            kind: ForgettableKind::Ghap,
            id: ghap.id,
            text: ghap.goal.clone(),
        })
        .collect();
    assert!(!world.files_with(words).is_empty());
    store.forget(&rows, None).unwrap();
    drop(store);
    assert_eq!(world.files_with(words), Vec::<std::path::PathBuf>::new());
    assert_eq!(all_values(&world.store()), []);
}

#[test]
fn values_store_no_secrets() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let text =
        format!("release the connection of {secret} in a finally block, on every early return");
    let written = store
        .add_value(&accepted_value(repeated_cluster(&store), &text), time_at(LATER_SECONDS))
        .unwrap();
    assert!(!written.value.text.contains(secret));
    assert_eq!(world.files_with(secret), Vec::<std::path::PathBuf>::new());
}

#[test]
fn values_survive_database_repair() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 4);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    add_user_value(&mut store);
    let before = all_values(&store);
    assert_eq!(before.len(), 2);
    drop(store);
    maintain(&world.memory(), &MaintenanceLimits::default(), time_at(LATER_SECONDS)).unwrap();
    let file = fs::OpenOptions::new().write(true).open(world.files().database()).unwrap();
    file.write_all_at(&[0x55; 4096], 0).unwrap();
    repair_store(&world.memory(), time_at(LATER_SECONDS)).unwrap();
    let mut store = world.store();
    assert_eq!(all_values(&store), before);
    // Clusters are rebuilt with other ids, and values find theirs.
    store.update_clusters(time_at(LATER_SECONDS + 1)).unwrap();
    let after = all_values(&store);
    assert_eq!(after.len(), 2, "nothing is proposed again: {after:?}");
    for (value, was) in after.iter().zip(&before) {
        assert!(value.cluster.is_some() && value.support == was.support, "{value:?} {was:?}");
        assert!(store.cluster(value.cluster.unwrap()).is_ok());
    }
}

#[test]
fn hook_reads_values_without_regrouping() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 3);
    store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    let everywhere = add_user_value(&mut store);
    // This experience is not in a cluster yet.
    record_lesson(&mut store, &world.other_session("fourth"), &repeated_lesson(3));
    let hot = HookStore::open(&world.files(), Duration::from_millis(500)).unwrap();
    let read = |place: &rutter_memory::store::entry::ProjectPlace, most| {
        let held = hot.values(place, most).unwrap();
        held.into_iter().map(|held| (held.value.id, held.value.support)).collect::<Vec<_>>()
    };
    let own = world.owner().place;
    assert_eq!(read(&own, 5).len(), 2);
    assert_eq!(read(&own, 1), [(everywhere.id, 3)], "accepted before proposed");
    let elsewhere =
        (&rutter_memory::project::LocatedProject::find(&world.project("elsewhere"))).into();
    assert_eq!(read(&elsewhere, 5), [(everywhere.id, 3)], "that of the project is the project's");
    assert_eq!(read(&own, 0), []);
}

#[test]
fn paraphrases_propose_one_value() {
    let world = TestWorld::new();
    let mut store = world.store();
    let learnt = [
        (
            ["the nightly export finishes", "the timeout of the export is too short"],
            "the connection pool was empty after an hour",
            "an early return skips the release of the connection",
            "release the connection in a finally block",
        ),
        (
            [
                "the import of the catalogue does not hang",
                "the catalogue is too large for one transaction",
            ],
            "all connections of the pool were taken, by nobody",
            "an exception in the loop skips the release of the connection",
            "release connections in a finally block, never behind the last statement",
        ),
        (
            ["the report page answers", "the query of the report lacks an index"],
            "the query was fast, and waited for a connection of the pool",
            "a retry takes a second connection and never releases the first",
            "a connection is released in the finally block of whoever took it",
        ),
    ];
    for (number, ([goal, hypothesis], surprise, cause, takeaway)) in (0..).zip(learnt) {
        let lesson = GeneratedLesson {
            goal: goal.into(),
            hypothesis: hypothesis.into(),
            action: "change it and look".into(),
            surprise: Some(surprise.into()),
            cause: Some(("oversight", cause.into())),
            takeaway: Some(takeaway.into()),
            ..repeated_lesson(number)
        };
        record_lesson(&mut store, &world.other_session(&format!("learner-{number}")), &lesson);
    }
    let done = store.update_clusters(time_at(LATER_SECONDS)).unwrap();
    assert!(done.born >= 3, "a cluster along several axes: {done:?}");
    assert_eq!(all_values(&store).len(), 1, "{:?}", all_values(&store));
}
