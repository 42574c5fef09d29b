use std::fs;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use rutter_memory::injection::{Effect, Injection};
use rutter_memory::project::Located;
use rutter_memory::store::doctor::repair;
use rutter_memory::store::entry::{Place, What};
use rutter_memory::store::hot::HotStore;
use rutter_memory::store::tend::{Bounds, tend};
use rutter_memory::store::{
    ClusterFilter, Forgettable, NewValue, Owner, Record, Row, ValueEdit, ValueFilter,
};
use rutter_memory::value::{Standing, Value, ValueError};
use rutter_memory::{Clean, Id, Store, StoreError};
use rutter_search::cluster::Axis;

use rutter_testkit::lessons::Lesson;

use rutter_testkit::world::{ImportText as _, World, all, at};
use rutter_testkit::world::{again, learn, repeated};

/// A user's wording of the repeated lesson.
pub(crate) const OWN: &str = "give connections back to the pool, whatever happens";
pub(crate) const LATER: i64 = 90_000_000;

/// Returns the cluster of the repeated lesson.
pub(crate) fn cluster(store: &Store) -> Id {
    let filter = ClusterFilter { axis: Some(Axis::RootCause), ..ClusterFilter::default() };
    store.clusters(&filter).unwrap()[0].id
}

pub(crate) fn new(cluster: Id, text: &str) -> NewValue<'_> {
    NewValue { place: None, cluster, text, standing: Standing::Accepted, revives: false }
}

/// Adds the user's wording as a value for all projects.
fn say(store: &mut Store) -> Value {
    store.add_value(&new(cluster(store), OWN), at(LATER)).unwrap().value
}

pub(crate) fn values(store: &Store) -> Vec<Value> {
    let filter = ValueFilter { retired: true, ..ValueFilter::default() };
    store.values(&filter).unwrap().into_iter().map(|held| held.value).collect()
}

#[test]
fn what_three_sessions_learnt_is_proposed_in_their_own_words() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 2);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    assert_eq!(values(&store), []);
    let third = learn(&mut store, &world.other("third"), &again(2));
    let done = store.bring_clusters_up_to_date(at(LATER)).unwrap();
    assert_eq!(done.proposed, 1, "one, though it is a cluster on four axes");
    let [value] = values(&store).try_into().unwrap();
    assert_eq!(value.text.as_str(), "release the connection in a finally block");
    assert_eq!((value.standing, value.support), (Standing::Proposed, 3));
    assert_eq!(value.project, Some(world.place().key), "all of them were made there");
    assert!(value.source.is_some() && value.distance <= value.threshold);
    assert_eq!(store.cluster(value.cluster.unwrap()).unwrap().values, [value.id]);
    assert_eq!(store.bring_clusters_up_to_date(at(LATER)).unwrap().proposed, 0);
    assert!(third.resolution.is_some());
}

#[test]
fn one_session_of_one_day_confirms_nothing_three_times() {
    let world = World::new();
    let mut store = world.store();
    for number in 0..5 {
        let lesson = rutter_testkit::lessons::Lesson { at: number, ..again(0) };
        learn(&mut store, &world.owner(), &lesson);
    }
    let done = store.bring_clusters_up_to_date(at(LATER)).unwrap();
    assert_eq!((done.born, done.proposed), (4, 0), "a cluster of five all the same");
}

#[test]
fn what_does_not_fit_its_cluster_is_refused_with_the_distance() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 5);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let cluster = cluster(&store);
    // The cluster is as tight as possible: five times the same lesson. Another wording still fits.
    let fits = "give connections back to the pool, whatever happens, also on an early return";
    let written = store.add_value(&new(cluster, fits), at(LATER)).unwrap();
    assert!(!written.merged, "{written:?}");
    assert!(written.value.distance > 0.1 && written.value.distance <= written.value.threshold);
    assert_eq!((written.value.support, written.value.standing), (5, Standing::Accepted));

    let strange = "choose icons for the weather by the height of the sun";
    let error = store.add_value(&new(cluster, strange), at(LATER)).unwrap_err();
    let StoreError::Value(ValueError::Far { distance, threshold, .. }) = &error else {
        panic!("{error}")
    };
    assert!(distance > threshold, "{error}");
    assert!(error.to_string().contains(&format!("its distance is {distance:.2}")), "{error}");
    assert!(error.to_string().contains(&format!("at most {threshold:.2} would do")), "{error}");
    assert_eq!(values(&store).len(), 2, "the proposed one and the one that fits");

    for (text, why) in [("  ", "the value is empty"), ("☃☃☃", "no word of it is known")] {
        let error = store.add_value(&new(cluster, text), at(LATER)).unwrap_err();
        assert!(error.to_string().starts_with(why), "{error}");
    }
    let nobody = Id::new(at(0));
    let error = store.add_value(&new(nobody, fits), at(LATER)).unwrap_err();
    assert!(matches!(error, StoreError::NotFound { what: "cluster", .. }), "{error}");
}

/// Returns one of three lessons about how a parser splits lines.
fn lines_of_a_parser(number: i64) -> rutter_testkit::lessons::Lesson {
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
    rutter_testkit::lessons::Lesson {
        surprise: Some(surprise.into()),
        cause: Some(("oversight", cause.into())),
        takeaway: Some(takeaway.into()),
        goal: "the importer takes files of the partner".into(),
        hypothesis: "the parser splits the lines in the wrong place".into(),
        action: "extend the reader of partner files".into(),
        ..again(number)
    }
}

#[test]
fn a_sentence_about_something_else_does_not_get_in_because_it_is_about_software_too() {
    let world = World::new();
    let mut store = world.store();
    for number in 0..3 {
        let owner = world.other(&format!("learner-{number}"));
        learn(&mut store, &owner, &lines_of_a_parser(number));
    }
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let filter = ClusterFilter { axis: Some(Axis::Full), ..ClusterFilter::default() };
    let [cluster] = store.clusters(&filter).unwrap().try_into().unwrap();
    for strange in [
        "Pin the version of the compiler",
        "Run the linter before every commit",
        "Check the exit status of every command in a script",
        "Give the build more memory",
    ] {
        let error = store.add_value(&new(cluster.id, strange), at(LATER)).unwrap_err();
        let StoreError::Value(ValueError::Far { distance, threshold, .. }) = &error else {
            panic!("{strange}: {error}")
        };
        assert!(distance > threshold, "{strange}: {error}");
    }
    for fitting in [
        "Split lines at every kind of line ending",
        "Leave it to the parser to split lines, because of quoted fields",
    ] {
        let written = store.add_value(&new(cluster.id, fitting), at(LATER)).unwrap();
        assert!(written.value.distance <= written.value.threshold, "{fitting}");
    }
}

/// Three failures with one cause and different takeaways.
#[test]
fn what_one_member_says_and_the_others_do_not_is_not_proposed() {
    let world = World::new();
    let mut store = world.store();
    let learnt = [
        ("the invoice was sent twice", "ask the accountants before the end of the quarter"),
        ("a picture was upside down", "look at the camera's orientation before scaling"),
        ("the train was shown as late", "timetables of holidays are kept in another table"),
    ];
    for (number, (surprise, takeaway)) in (0..).zip(learnt) {
        let lesson = rutter_testkit::lessons::Lesson {
            surprise: Some(surprise.into()),
            takeaway: Some(takeaway.into()),
            goal: surprise.into(),
            hypothesis: takeaway.into(),
            ..again(number)
        };
        learn(&mut store, &world.other(&format!("learner-{number}")), &lesson);
    }
    let done = store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let cause = ClusterFilter { axis: Some(Axis::RootCause), ..ClusterFilter::default() };
    assert_eq!(store.clusters(&cause).unwrap().len(), 1, "one cause, in the same words");
    assert_eq!(done.proposed, 0, "{:?}", values(&store));
}

#[test]
fn what_was_said_before_is_not_said_twice_and_the_opposite_is_pointed_at() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let cluster = cluster(&store);
    let [proposed] = values(&store).try_into().unwrap();
    let place = world.owner().place;
    let here = |text| NewValue { place: Some(&place), ..new(cluster, text) };
    let same = here("Release the connection in a `finally` block!");
    let written = store.add_value(&same, at(LATER + 1)).unwrap();
    assert!(written.merged);
    assert_eq!((written.value.id, written.value.standing), (proposed.id, Standing::Accepted));
    assert_eq!(written.conflicts, []);
    let opposite = here("never release the connection in a finally block");
    let written = store.add_value(&opposite, at(LATER + 2)).unwrap();
    assert!(!written.merged);
    assert_eq!(written.conflicts.iter().map(|value| value.id).collect::<Vec<_>>(), [proposed.id]);
}

#[test]
fn who_looks_while_another_writes_sees_what_there_was_a_moment_ago() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    let known = |store: &Store| store.values(&ValueFilter::default()).unwrap().len();
    let writer = rusqlite::Connection::open(world.files().database()).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(!store.freshen_values(at(LATER)).unwrap());
    assert_eq!((known(&store), store.clusters(&ClusterFilter::default()).unwrap()), (0, vec![]));
    writer.execute_batch("COMMIT").unwrap();
    assert!(store.freshen_values(at(LATER)).unwrap());
    assert_eq!(known(&store), 1);
    // A writer does not block readers without pending work.
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(store.freshen_values(at(LATER)).unwrap() && store.freshen_shown(at(LATER)).unwrap());
}

#[test]
fn a_retired_value_is_not_proposed_again() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let [value] = values(&store).try_into().unwrap();
    assert_eq!(store.retire_value(value.id, at(LATER)).unwrap().standing, Standing::Retired);
    assert_eq!(store.values(&ValueFilter::default()).unwrap(), []);
    learn(&mut store, &world.other("one more"), &again(8));
    let done = store.bring_clusters_up_to_date(at(LATER)).unwrap();
    assert_eq!((done.placed, done.proposed), (4, 0));
    // An agent cannot revive it either. A person can.
    let place = world.owner().place;
    let said = NewValue { place: Some(&place), revives: true, ..new(cluster(&store), &value.text) };
    let refused = store.add_value(&NewValue { revives: false, ..said }, at(LATER + 5)).unwrap_err();
    let advice = format!("rutter values edit {} --standing accepted", value.id.short());
    assert!(refused.to_string().contains(&advice), "{refused}");
    let written = store.add_value(&said, at(LATER + 5)).unwrap();
    assert_eq!((written.value.id, written.value.standing), (value.id, Standing::Accepted));
    assert!(written.merged && written.revived);
}

#[test]
fn other_words_are_held_against_the_cluster_too() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let [value] = values(&store).try_into().unwrap();
    let edit = |text| ValueEdit { text: Some(text), ..ValueEdit::default() };
    let error = store.edit_value(value.id, &edit("ski lifts are free for children"), at(LATER));
    assert!(matches!(error, Err(StoreError::Value(ValueError::Far { .. }))), "{error:?}");
    let text = "close every connection in a finally block";
    let written = store.edit_value(value.id, &edit(text), at(LATER)).unwrap();
    assert_eq!((written.value.text.as_str(), written.value.source), (text, None));
    assert!(written.value.changed > value.changed);
    let error = store.edit_value(value.id, &ValueEdit::default(), at(LATER)).unwrap_err();
    assert!(matches!(error, StoreError::Value(ValueError::NothingToChange)), "{error}");
    let held = store.value(store.value_id(&value.id.short().parse().unwrap()).unwrap()).unwrap();
    assert_eq!((held.effects.helped, held.effects.hurt), (0, 0));
    let everywhere = ValueEdit { place: Some(None), ..ValueEdit::default() };
    assert_eq!(store.edit_value(value.id, &everywhere, at(LATER)).unwrap().value.project, None);
}

/// Returns a lesson that acts on the value and fails.
fn contradicted(number: i64) -> rutter_testkit::lessons::Lesson {
    rutter_testkit::lessons::Lesson {
        hypothesis: "releasing the connection in a finally block helps".into(),
        action: "release the connection in a finally block".into(),
        surprise: Some("the icons of the weather page are too small".into()),
        cause: Some(("wrong-assumption", "the stylesheet scales pictures twice".into())),
        takeaway: Some("measure pictures in the browser".into()),
        at: LATER + number * 100_000,
        ..again(0)
    }
}

#[test]
fn a_value_loses_standing_when_what_follows_contradicts_it() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let [value] = values(&store).try_into().unwrap();
    let accept = ValueEdit { standing: Some(Standing::Accepted), ..ValueEdit::default() };
    store.edit_value(value.id, &accept, at(LATER)).unwrap();
    let standing = |store: &mut Store, number: i64| {
        let owner = world.other(&format!("against-{number}"));
        learn(store, &owner, &contradicted(number));
        store.bring_clusters_up_to_date(at(LATER + number * 100_000 + 1)).unwrap();
        let value = store.value(value.id).unwrap().value;
        (value.standing, value.contradicted)
    };
    assert_eq!(standing(&mut store, 1), (Standing::Accepted, 1), "once is chance");
    // The contradictions that lowered the standing do not count again.
    assert_eq!(standing(&mut store, 2), (Standing::Proposed, 0));
    assert!(store.value(value.id).unwrap().value.doubted.is_some());
    for number in 3..6 {
        let count = u32::try_from(number - 2).unwrap();
        assert_eq!(standing(&mut store, number), (Standing::Proposed, count), "{number}");
    }
    assert_eq!(store.value(value.id).unwrap().value.support, 3, "nobody speaks for both");
    assert_eq!(standing(&mut store, 6), (Standing::Retired, 0));
    // Accepting the value again clears contradictions and doubt.
    let written = store.edit_value(value.id, &accept, at(LATER + 900_000)).unwrap();
    assert_eq!((written.value.standing, written.value.doubted), (Standing::Accepted, None));
    assert_eq!(standing(&mut store, 10), (Standing::Accepted, 1));
    // So does accepting a doubted value.
    standing(&mut store, 11);
    assert_eq!(standing(&mut store, 12), (Standing::Proposed, 1));
    let written = store.edit_value(value.id, &accept, at(LATER + 1_300_000)).unwrap();
    assert_eq!((written.value.contradicted, written.value.doubted), (0, None));
}

#[test]
fn other_projects_cost_a_value_nothing() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let [value] = values(&store).try_into().unwrap();
    let accept = ValueEdit { standing: Some(Standing::Accepted), ..ValueEdit::default() };
    store.edit_value(value.id, &accept, at(LATER)).unwrap();
    let boat = Place::from(&Located::find(&world.project("boat")));
    for number in 1..8 {
        let owner = Owner { place: boat.clone(), ..world.other(&format!("stranger-{number}")) };
        learn(&mut store, &owner, &contradicted(number));
        store.bring_clusters_up_to_date(at(LATER + number * 100_000 + 1)).unwrap();
    }
    let after = store.value(value.id).unwrap().value;
    assert_eq!((after.standing, after.contradicted), (Standing::Accepted, 0), "{after:?}");
}

#[test]
fn a_value_that_hurts_loses_standing_and_one_that_helps_comes_first() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let [first] = values(&store).try_into().unwrap();
    let accept = ValueEdit { standing: Some(Standing::Accepted), place: Some(None), text: None };
    store.edit_value(first.id, &accept, at(LATER)).unwrap();
    let second = say(&mut store);
    let shown = |row: Id, seconds: i64, effect: Effect| {
        let injection = Injection {
            id: Id::new(at(seconds)),
            session: Clean::new("session-1"),
            agent: None,
            event: Clean::new("SessionStart"),
            row,
            score: 1.0,
            prompt: Clean::new("-"),
            at: at(seconds),
            effect: Some(effect),
            brief: false,
        };
        world.record(&world.entry("session-1", seconds, What::Shown(Box::new(injection))));
    };
    shown(second.id, LATER + 1, Effect::Helped);
    let listed = store.values(&ValueFilter::default()).unwrap();
    assert_eq!((listed[0].value.id, listed[0].effects.helped), (second.id, 1));
    for seconds in 2..5 {
        shown(second.id, LATER + seconds, Effect::Hurt);
    }
    let done = store.bring_clusters_up_to_date(at(LATER + 9)).unwrap();
    assert_eq!(done.doubted, 1, "{done:?}");
    let listed = store.values(&ValueFilter::default()).unwrap();
    assert_eq!(listed[0].value.id, first.id);
    assert_eq!((listed[1].value.standing, listed[1].effects.hurt), (Standing::Proposed, 0));
    assert!(listed[1].value.doubted.is_some());
}

#[test]
fn values_go_out_and_come_in_as_they_are() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 4);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    say(&mut store);
    let records = all(&mut store);
    assert_eq!(records.iter().filter(|record| matches!(record, Record::Value(_))).count(), 2);
    let lines: String =
        records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
    let other = World::new();
    let mut copy = other.store();
    copy.import_own(lines.as_bytes()).unwrap();
    assert_eq!(all(&mut copy), records);
    let origins = records.iter().filter(|record| matches!(record, Record::Origin(_))).count();
    assert_eq!(copy.import_own(lines.as_bytes()).unwrap().kept, records.len() - 1 - origins);
    // Clusters are rebuilt there with other ids, and values find theirs.
    let done = copy.bring_clusters_up_to_date(at(LATER)).unwrap();
    assert_eq!((done.born, done.proposed), (4, 0), "{done:?}");
    for value in values(&copy) {
        assert_eq!(copy.cluster(value.cluster.unwrap()).unwrap().size, 4);
    }
    let wrong = lines.replace("\"threshold\":0.", "\"threshold\":9.");
    let error = World::new().store().import_own(wrong.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("a distance of a value is a number from 0 to 2"), "{error}");
}

#[test]
fn of_a_forgotten_lesson_no_value_is_left() {
    let world = World::new();
    let mut store = world.store();
    let ghaps = repeated(&world, &mut store, 3);
    let words = "a wholly distinctive takeaway about connections";
    for ghap in &ghaps {
        store.edit_lesson(ghap.id, None, Some(words), at(LATER)).unwrap();
    }
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    assert_eq!(values(&store).len(), 1);
    let found = store.rows_with("distinctive takeaway").unwrap();
    assert_eq!(found.iter().filter(|row| row.kind == Forgettable::Value).count(), 1);
    let rows: Vec<Row> = ghaps
        .iter()
        .map(|ghap| Row { kind: Forgettable::Ghap, id: ghap.id, text: ghap.goal.clone() })
        .collect();
    assert!(!world.files_with(words).is_empty());
    store.forget(&rows, None).unwrap();
    drop(store);
    assert_eq!(world.files_with(words), Vec::<std::path::PathBuf>::new());
    assert_eq!(values(&world.store()), []);
}

#[test]
fn a_secret_in_a_value_is_not_written() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let text =
        format!("release the connection of {secret} in a finally block, on every early return");
    let written = store.add_value(&new(cluster(&store), &text), at(LATER)).unwrap();
    assert!(!written.value.text.contains(secret));
    assert_eq!(world.files_with(secret), Vec::<std::path::PathBuf>::new());
}

#[test]
fn values_survive_a_database_that_is_broken() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 4);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    say(&mut store);
    let before = values(&store);
    assert_eq!(before.len(), 2);
    drop(store);
    tend(&world.memory(), &Bounds::default(), at(LATER)).unwrap();
    let file = fs::OpenOptions::new().write(true).open(world.files().database()).unwrap();
    file.write_all_at(&[0x55; 4096], 0).unwrap();
    repair(&world.memory(), at(LATER)).unwrap();
    let mut store = world.store();
    assert_eq!(values(&store), before);
    // Clusters are rebuilt with other ids, and values find theirs.
    store.bring_clusters_up_to_date(at(LATER + 1)).unwrap();
    let after = values(&store);
    assert_eq!(after.len(), 2, "nothing is proposed again: {after:?}");
    for (value, was) in after.iter().zip(&before) {
        assert!(value.cluster.is_some() && value.support == was.support, "{value:?} {was:?}");
        assert!(store.cluster(value.cluster.unwrap()).is_ok());
    }
}

#[test]
fn a_hook_reads_those_of_its_place_and_makes_nothing_anew() {
    let world = World::new();
    let mut store = world.store();
    repeated(&world, &mut store, 3);
    store.bring_clusters_up_to_date(at(LATER)).unwrap();
    let everywhere = say(&mut store);
    // This experience is not in a cluster yet.
    learn(&mut store, &world.other("fourth"), &again(3));
    let hot = HotStore::open(&world.files(), Duration::from_millis(500)).unwrap();
    let read = |place: &rutter_memory::store::entry::Place, most| {
        let held = hot.values(place, most).unwrap();
        held.into_iter().map(|held| (held.value.id, held.value.support)).collect::<Vec<_>>()
    };
    let own = world.owner().place;
    assert_eq!(read(&own, 5).len(), 2);
    assert_eq!(read(&own, 1), [(everywhere.id, 3)], "accepted before proposed");
    let elsewhere = (&rutter_memory::project::Located::find(&world.project("elsewhere"))).into();
    assert_eq!(read(&elsewhere, 5), [(everywhere.id, 3)], "that of the project is the project's");
    assert_eq!(read(&own, 0), []);
}

#[test]
fn what_the_same_sessions_say_in_other_words_is_proposed_once() {
    let world = World::new();
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
        let lesson = Lesson {
            goal: goal.into(),
            hypothesis: hypothesis.into(),
            action: "change it and look".into(),
            surprise: Some(surprise.into()),
            cause: Some(("oversight", cause.into())),
            takeaway: Some(takeaway.into()),
            ..again(number)
        };
        learn(&mut store, &world.other(&format!("learner-{number}")), &lesson);
    }
    let done = store.bring_clusters_up_to_date(at(LATER)).unwrap();
    assert!(done.born >= 3, "a cluster along several axes: {done:?}");
    assert_eq!(values(&store).len(), 1, "{:?}", values(&store));
}
