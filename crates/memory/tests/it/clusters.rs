use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use rutter_memory::Id;
use rutter_memory::ghap::{Ghap, LessonEdit};
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::{
    ClusterFilter, ForgettableKind, ForgettableRow, GhapOwner, RegroupReport,
};
use rutter_search::cluster::{
    Axis, Grouping, GroupingRule, MIN_CLUSTER_SIZE, MeanDirection, TextPoint,
};
use rutter_search::embed::{Vector, embed};
use rutter_testkit::lessons::{GeneratedLesson, generate_lessons};

use rutter_testkit::world::{
    TestWorld, all_records, record_lesson, record_repeatedly, repeated_lesson, time_at,
};

#[test]
fn five_same_lessons_form_one_cluster() {
    let world = TestWorld::new();
    let mut store = world.store();
    let ghaps = record_repeatedly(&world, &mut store, 5);
    let done = store.update_clusters(time_at(900_000)).unwrap();
    assert_eq!((done.placed, done.born, done.gone), (4 * 5, 4, 0), "{done:?}");
    for axis in Axis::ALL {
        let filter = ClusterFilter { axis: Some(*axis), ..ClusterFilter::default() };
        let clusters = store.clusters(&filter).unwrap();
        assert_eq!(clusters.len(), 1, "{axis}");
        assert_eq!(clusters[0].size, 5, "{axis}");
        assert!(clusters[0].cohesion > 0.99, "{axis}: {}", clusters[0].cohesion);
        assert!(ghaps.iter().any(|ghap| Some(ghap.id) == clusters[0].medoid), "{axis}");
        let members = store.members(clusters[0].id).unwrap();
        assert_eq!(members.len(), 5, "{axis}");
        assert!(members.iter().all(|member| member.distance < 0.01), "{members:?}");
        assert_eq!(store.count_grouped(*axis).unwrap(), (5, 5));
    }
}

#[test]
fn cluster_needs_three_lessons() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 2);
    store.update_clusters(time_at(900_000)).unwrap();
    assert_eq!(store.clusters(&ClusterFilter::default()).unwrap(), []);
    assert_eq!(store.count_grouped(Axis::Full).unwrap(), (2, 0));
    record_lesson(&mut store, &world.other_session("another"), &repeated_lesson(7));
    store.update_clusters(time_at(900_000)).unwrap();
    assert_eq!(store.count_grouped(Axis::Full).unwrap(), (3, 3));
}

/// Returns lessons of which no two share a cause or a goal.
fn unrelated_lessons(seed: u64, count: usize) -> Vec<GeneratedLesson> {
    let mut known: Vec<GeneratedLesson> = Vec::new();
    // Only falsified lessons have text on every axis.
    let failed =
        generate_lessons(seed, 600).into_iter().filter(|lesson| lesson.status == "falsified");
    for lesson in failed.filter(|lesson| lesson.label.is_some()) {
        if known.iter().all(|one| one.goal != lesson.goal && one.label != lesson.label) {
            known.push(lesson);
        }
    }
    assert!(known.len() >= count, "{}", known.len());
    known.truncate(count);
    known
}

/// By proximity alone, three identical lessons would absorb every lesson that is not far away.
#[test]
fn tight_cluster_rejects_unrelated_lessons() {
    for seed in 0..6 {
        let world = TestWorld::new();
        let mut store = world.store();
        let apart = unrelated_lessons(seed, 5);
        let learner = |number: usize| world.other_session(&format!("learner-{number}"));
        let same: Vec<Id> = (0..3)
            .map(|number| record_lesson(&mut store, &learner(number), &apart[0]).id)
            .collect();
        let others: Vec<Id> = (1..5)
            .map(|number| record_lesson(&mut store, &learner(number + 3), &apart[number]).id)
            .collect();
        store.update_clusters(time_at(900_000_000)).unwrap();
        for axis in Axis::ALL {
            let cluster = store.cluster_of(same[0], *axis).unwrap();
            assert!(cluster.is_some(), "{seed}, {axis}");
            for one in &same {
                assert_eq!(store.cluster_of(*one, *axis).unwrap(), cluster, "{seed}, {axis}");
            }
            for other in &others {
                assert_eq!(store.cluster_of(*other, *axis).unwrap(), None, "{seed}, {axis}");
            }
        }
    }
}

/// The full text of a lesson contains the goal too, but the goal is not the thing learned.
#[test]
fn full_axis_groups_by_lesson() {
    let world = TestWorld::new();
    let mut store = world.store();
    let apart = unrelated_lessons(3, 3);
    let mut ghaps: Vec<Vec<Id>> = Vec::new();
    for (number, learnt) in apart.iter().enumerate() {
        ghaps.push(Vec::new());
        for (turn, work) in apart.iter().enumerate() {
            let lesson = GeneratedLesson {
                at: i64::try_from(number * 10 + turn).unwrap() * 100_000,
                goal: work.goal.clone(),
                action: work.action.clone(),
                strategy: work.strategy,
                ..learnt.clone()
            };
            let owner = world.other_session(&format!("learner-{number}-{turn}"));
            ghaps[number].push(record_lesson(&mut store, &owner, &lesson).id);
        }
    }
    store.update_clusters(time_at(900_000_000)).unwrap();
    for (axis, by_work) in [(Axis::Full, false), (Axis::Strategy, true)] {
        let mut names = BTreeSet::new();
        for number in 0..3 {
            let of = |turn: usize| if by_work { (turn, number) } else { (number, turn) };
            let members: BTreeSet<Option<Id>> = (0..3)
                .map(|turn| store.cluster_of(ghaps[of(turn).0][of(turn).1], axis).unwrap())
                .collect();
            assert_eq!(members.len(), 1, "{axis}: {members:?}");
            names.extend(members.into_iter().flatten());
        }
        assert_eq!(names.len(), 3, "{axis}");
    }
}

/// Simulates the first weeks of a store with twenty seeds: lessons in one group must share a cause.
#[test]
fn small_store_groups_share_cause() {
    let (mut pairs, mut same) = (0, 0);
    for seed in 300..320 {
        let texts: Vec<(Option<usize>, Vector)> = generate_lessons(seed, 200)
            .iter()
            .filter_map(|lesson| Some((lesson.label, embed(&lesson.cause.as_ref()?.1)?)))
            .collect();
        let common =
            MeanDirection::from_texts(Axis::RootCause, texts.iter().map(|(_, vector)| vector));
        let points: Vec<TextPoint> = texts
            .iter()
            .map(|(_, vector)| TextPoint {
                vector: common.subtract_from(vector).unwrap(),
                weight: 1.0,
            })
            .collect();
        let mut grouping = Grouping::new(
            GroupingRule::for_axis(Axis::RootCause),
            &points,
            vec![None; points.len()],
        );
        grouping.grow(&(0..points.len()).collect::<Vec<_>>());
        for (at, one) in texts.iter().enumerate() {
            for (other, another) in texts.iter().enumerate().skip(at + 1) {
                if grouping.group_numbers()[at].is_some()
                    && grouping.group_numbers()[at] == grouping.group_numbers()[other]
                {
                    pairs += 1;
                    same += usize::from(one.0.is_some() && one.0 == another.0);
                }
            }
        }
    }
    assert!(pairs >= 20, "{pairs}");
    assert!(same * 3 >= pairs * 2, "{same} of {pairs}");
}

/// A store grows by one experience at a time; cluster ids shown earlier must stay valid.
#[test]
fn cluster_ids_survive_growth() {
    const LESSON_COUNT: usize = 160;
    let world = TestWorld::new();
    let mut store = world.store();
    let mut names: HashMap<(Id, Axis), Id> = HashMap::new();
    let mut ghaps = Vec::new();
    let (mut changes, mut born) = (0, BTreeSet::new());
    let mut caused = Vec::new();
    for lesson in generate_lessons(5, LESSON_COUNT) {
        let owner = world.other_session(&format!("session-{}", lesson.session));
        ghaps.push(record_lesson(&mut store, &owner, &lesson).id);
        caused.extend(lesson.label.and(ghaps.last().copied()));
        let done = store.update_clusters(time_at(lesson.at + 1)).unwrap();
        assert!(done.placed >= 2, "{done:?}");
        for axis in Axis::ALL {
            for ghap in &ghaps {
                let now = store.cluster_of(*ghap, *axis).unwrap();
                let before = names.get(&(*ghap, *axis));
                changes += usize::from(before.is_some() && before != now.as_ref());
                born.extend(now);
                match now {
                    Some(now) => drop(names.insert((*ghap, *axis), now)),
                    None => drop(names.remove(&(*ghap, *axis))),
                }
            }
        }
    }
    let alive: BTreeSet<Id> =
        store.clusters(&ClusterFilter::default()).unwrap().iter().map(|one| one.id).collect();
    let (placed, _) = store.count_grouped(Axis::Full).unwrap();
    assert_eq!(placed, u64::try_from(LESSON_COUNT).unwrap());
    // Only experiences with a cause count: a single occurrence belongs to no cluster.
    let grouped = caused.iter().filter(|ghap| names.contains_key(&(**ghap, Axis::Full))).count();
    assert!(grouped * 100 >= caused.len() * 65, "{grouped} of {}", caused.len());
    // Hardly any assigned cluster changes or disappears.
    assert!(names.len() > LESSON_COUNT, "{}", names.len());
    assert!(changes * 12 <= names.len(), "{changes} changes of {} names", names.len());
    let lost = born.difference(&alive).count();
    assert!(lost * 10 <= born.len(), "{lost} of {} are gone", born.len());

    // A second regrouping and maintenance move nothing.
    let before = store.clusters(&ClusterFilter::default()).unwrap();
    assert_eq!(store.update_clusters(time_at(99_999_999)).unwrap(), RegroupReport::default());
    drop(store);
    let tended = maintain(&world.memory(), &MaintenanceLimits::default(), time_at(99_999_999))
        .unwrap()
        .unwrap();
    assert_eq!(tended.grouped, 0);
    assert_eq!(world.store().clusters(&ClusterFilter::default()).unwrap(), before);
}

#[test]
fn maintenance_groups_new_experiences() {
    let world = TestWorld::new();
    let mut store = world.store();
    record_repeatedly(&world, &mut store, 4);
    drop(store);
    let tended = maintain(&world.memory(), &MaintenanceLimits::default(), time_at(900_000))
        .unwrap()
        .unwrap();
    assert_eq!(tended.grouped, 16);
    assert_eq!(world.store().clusters(&ClusterFilter::default()).unwrap().len(), 4);
}

#[test]
fn edits_and_merges_keep_cluster() {
    let world = TestWorld::new();
    let mut store = world.store();
    let ghaps = record_repeatedly(&world, &mut store, 4);
    store.update_clusters(time_at(900_000)).unwrap();
    let before = store.cluster_of(ghaps[0].id, Axis::Full).unwrap().unwrap();
    // The edit rebuilds every document of the GHAP.
    let edit =
        LessonEdit { takeaway: Some("close connections in finally"), ..LessonEdit::default() };
    store.edit_lesson(ghaps[0].id, &edit, time_at(900_001)).unwrap();
    let done = store.update_clusters(time_at(900_002)).unwrap();
    assert_eq!((done.placed, done.moved, done.born, done.gone), (0, 0, 0, 0), "{done:?}");
    assert_eq!(store.cluster_of(ghaps[0].id, Axis::Full).unwrap(), Some(before));

    let elsewhere = rutter_memory::store::entry::ProjectPlace::from(
        &rutter_memory::project::LocatedProject::find(&world.project("boat")),
    );
    let owner = GhapOwner { place: elsewhere.clone(), ..world.other_session("at-sea") };
    record_lesson(&mut store, &owner, &repeated_lesson(10));
    store.update_clusters(time_at(2_000_000)).unwrap();
    assert_eq!(store.cluster(before).unwrap().projects.len(), 2);
    let (from, into) = (store.project(&elsewhere).unwrap(), store.project(&world.place()).unwrap());
    store.merge_projects(from.unwrap().id, into.unwrap().id).unwrap();
    let done = store.update_clusters(time_at(2_000_001)).unwrap();
    assert_eq!((done.moved, done.born, done.gone), (0, 0, 0), "{done:?}");
    let cluster = store.cluster(before).unwrap();
    assert_eq!((cluster.size, cluster.projects.len()), (5, 1));
}

#[test]
fn forgotten_experience_leaves_its_cluster() {
    let world = TestWorld::new();
    let mut store = world.store();
    let ghaps = record_repeatedly(&world, &mut store, 4);
    store.update_clusters(time_at(900_000)).unwrap();
    let cluster = store.cluster_of(ghaps[3].id, Axis::Full).unwrap().unwrap();
    let row = |ghap: &Ghap| ForgettableRow {
        kind: ForgettableKind::Ghap,
        id: ghap.id,
        text: ghap.goal.clone(),
    };
    store.forget(&[row(&ghaps[0])], None).unwrap();
    assert_eq!(store.cluster(cluster).unwrap().size, 3);
    let done = store.update_clusters(time_at(900_001)).unwrap();
    assert_eq!(
        (done.changed, done.moved, done.gone),
        (4, 0, 0),
        "it is looked at on each axis: {done:?}"
    );
    assert_eq!(store.cluster(cluster).unwrap().changed, time_at(900_001));
    assert_eq!(store.cluster_of(ghaps[3].id, Axis::Full).unwrap(), Some(cluster));
    assert_eq!(store.members(cluster).unwrap().len(), 3);
    // Two experiences are below the minimum size.
    store.forget(&[row(&ghaps[1])], None).unwrap();
    store.update_clusters(time_at(900_002)).unwrap();
    assert_eq!(store.clusters(&ClusterFilter::default()).unwrap(), []);
    store.forget_all().unwrap();
    assert_eq!(all_records(&mut store).len(), 1);
}

fn embed_point(text: &str, weight: f32) -> TextPoint {
    let common = MeanDirection::from_texts(Axis::RootCause, []);
    TextPoint { vector: common.subtract_from(&embed(text).unwrap()).unwrap(), weight }
}

#[test]
fn medoid_has_highest_weight() {
    let text = "the cache key leaves out the version";
    let points = [embed_point(text, 0.2), embed_point(text, 0.8), embed_point(text, 1.0)];
    let mut grouping =
        Grouping::new(GroupingRule::for_axis(Axis::RootCause), &points, vec![None; 3]);
    grouping.grow(&[0, 1, 2]);
    let shape = grouping.shape(0).unwrap();
    assert_eq!((shape.size, shape.medoid), (3, 2));
}

fn arbitrary_points() -> impl Strategy<Value = Vec<TextPoint>> {
    // Only a few directions, so that groups form.
    let point = (0..6_usize, prop::array::uniform4(-20..20_i8), 0..4_usize).prop_map(
        |(direction, noise, weight)| {
            let mut numbers = [1_i8; rutter_search::embed::VECTOR_DIMS];
            numbers[direction * 10] = 100;
            for (place, noise) in noise.into_iter().enumerate() {
                numbers[100 + place] = noise;
            }
            let weight = [1.0, 0.8, 0.5, 0.2][weight];
            TextPoint { vector: Vector::new(numbers).unwrap(), weight }
        },
    );
    prop::collection::vec(point, 0..60)
}

proptest! {
    /// For any points and any split: no group is too small, shapes match, and regrouping without new points is a no-op.
    #[test]
    fn groups_meet_minimum_size(points in arbitrary_points(), cut in 0..60_usize) {
        let rule = GroupingRule::for_axis(Axis::RootCause);
        let cut = cut.min(points.len());
        let mut first = Grouping::new(rule, &points[..cut], vec![None; cut]);
        first.grow(&(0..cut).collect::<Vec<_>>());
        let mut of = first.group_numbers().to_vec();
        of.resize(points.len(), None);
        let mut second = Grouping::new(rule, &points, of);
        second.grow(&(cut..points.len()).collect::<Vec<_>>());
        let mut sizes: HashMap<u32, usize> = HashMap::new();
        for group in second.group_numbers().iter().flatten() {
            *sizes.entry(*group).or_default() += 1;
        }
        for (number, size) in &sizes {
            prop_assert!(*size >= MIN_CLUSTER_SIZE);
            prop_assert_eq!(second.shape(*number).unwrap().size, *size);
        }
        let mut third = Grouping::new(rule, &points, second.group_numbers().to_vec());
        third.grow(&[]);
        prop_assert_eq!(third.group_numbers(), second.group_numbers());
        prop_assert_eq!(third.merged().len(), 0);
    }
}
