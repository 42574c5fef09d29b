//! Clusters in the stores of the first weeks: few lessons, where a senseless cluster is noticed at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rutter_search::cluster::{Axis, MIN_CLUSTER_SIZE};
use rutter_testkit::lessons::GeneratedLesson;

use super::corpus::{LessonPoint, lesson_points};
use super::draw_lessons;
use super::measure::{ClusterIds, as_f64, measure_growth};

/// Seeds that no number was chosen on; the numbers of the rules were chosen on 101 to 140, with the other causes.
const DRAW_SEEDS: std::ops::RangeInclusive<u64> = 201..=260;
const STORE_SIZES: [usize; 5] = [4, 8, 15, 30, 60];
/// Number of lessons to draw, so that enough of them have text on each axis.
const DRAWN_LESSON_COUNT: usize = 800;

/// Result of all draws of one size.
#[derive(Default)]
struct SmallStoreResult {
    /// Pairs of members of one cluster, and the number of pairs with one cause.
    pairs: usize,
    same: usize,
    /// Texts of causes that occur three times or more, and the number of these texts in a cluster.
    often: usize,
    grouped: usize,
    clusters: usize,
    changes: usize,
}

impl SmallStoreResult {
    fn add(&mut self, labels: &[Option<usize>], of: &ClusterIds) {
        let mut groups: BTreeMap<usize, Vec<Option<usize>>> = BTreeMap::new();
        let mut times: HashMap<usize, usize> = HashMap::new();
        for (label, group) in labels.iter().zip(of) {
            if let Some(group) = group {
                groups.entry(*group).or_default().push(*label);
            }
            *times.entry(label.unwrap_or(usize::MAX)).or_default() += 1;
        }
        for members in groups.values() {
            for (at, one) in members.iter().enumerate() {
                self.pairs += members.len() - at - 1;
                let same = |other: &&Option<usize>| one.is_some() && one == *other;
                self.same += members[at + 1..].iter().filter(same).count();
            }
        }
        self.clusters += groups.len();
        for (label, group) in labels.iter().zip(of) {
            if label.is_some_and(|label| times[&label] >= MIN_CLUSTER_SIZE) {
                self.often += 1;
                self.grouped += usize::from(group.is_some());
            }
        }
    }
}

pub(crate) fn measure_small_stores() {
    let draws = DRAW_SEEDS.count();
    println!(
        "\nsmall memories, one by one, {draws} draws of each: pairs with one cause, of causes"
    );
    println!("that came three times so many in a cluster, clusters, changes");
    let goals = numbered_goals();
    for axis in [Axis::Full, Axis::Strategy, Axis::Surprise, Axis::RootCause] {
        print!("{axis:<10}");
        for size in STORE_SIZES {
            let mut found = SmallStoreResult::default();
            for seed in DRAW_SEEDS {
                let (texts, labels) = first_texts(
                    &draw_lessons(seed, DRAWN_LESSON_COUNT, Some(1)),
                    axis,
                    size,
                    &goals,
                );
                let growth = measure_growth(axis, &texts);
                found.add(&labels, &growth.of);
                found.changes += growth.changes;
            }
            let share = |part: usize, of: usize| 100.0 * as_f64(part) / as_f64(of).max(1.0);
            print!(
                "  {size:>2}: {:>3.0}% {:>3.0}% {:>3} {:>2}",
                share(found.same, found.pairs),
                share(found.grouped, found.often),
                found.clusters,
                found.changes,
            );
        }
        println!();
    }
    measure_twins();
}

/// Returns the goals of all lessons, numbered.
fn numbered_goals() -> BTreeMap<String, usize> {
    let all: BTreeSet<String> =
        draw_lessons(1, DRAWN_LESSON_COUNT, None).into_iter().map(|lesson| lesson.goal).collect();
    all.into_iter().zip(0..).collect()
}

/// Returns the first texts on an axis with their labels: the goal on the strategy axis, the cause on the others.
fn first_texts(
    drawn: &[GeneratedLesson],
    axis: Axis,
    size: usize,
    goals: &BTreeMap<String, usize>,
) -> (Vec<LessonPoint>, Vec<Option<usize>>) {
    let says =
        |lesson: &&GeneratedLesson| !lesson_points(std::slice::from_ref(*lesson), axis).is_empty();
    let first: Vec<GeneratedLesson> = drawn.iter().filter(says).take(size).cloned().collect();
    let label = |lesson: &GeneratedLesson| match axis {
        Axis::Strategy => goals.get(&lesson.goal).copied(),
        _ => lesson.label,
    };
    (lesson_points(&first, axis), first.iter().map(label).collect())
}

/// Measures three or five identical lessons among lessons that are unrelated to them and to each other.
fn measure_twins() {
    println!(
        "\nthe same three or five times, and 1, 3, 6 and 12 others of other causes and other work:"
    );
    for axis in [Axis::Full, Axis::Strategy, Axis::Surprise, Axis::RootCause] {
        let (mut tried, mut whole, mut others, mut taken) = (0, 0, 0, 0);
        for seed in DRAW_SEEDS {
            let apart = unrelated_points(&draw_lessons(seed, DRAWN_LESSON_COUNT, Some(1)), axis);
            for times in [3, 5] {
                for beside in [1, 3, 6, 12] {
                    let mut texts = vec![apart[0].clone(); times];
                    texts.extend(apart[1..=beside].iter().cloned());
                    let of = measure_growth(axis, &texts).of;
                    tried += 1;
                    whole +=
                        usize::from(of[..times].iter().all(|one| one.is_some() && *one == of[0]));
                    others += beside;
                    taken += of[times..].iter().filter(|one| one.is_some()).count();
                }
            }
        }
        println!("{axis:<10} one cluster in {whole} of {tried}; {taken} of {others} others in one");
    }
}

/// Returns texts of which no two share a cause or a goal.
fn unrelated_points(drawn: &[GeneratedLesson], axis: Axis) -> Vec<LessonPoint> {
    let mut known: Vec<&GeneratedLesson> = Vec::new();
    for lesson in drawn {
        let other = |one: &&GeneratedLesson| one.goal != lesson.goal && one.label != lesson.label;
        let says = !lesson_points(std::slice::from_ref(lesson), axis).is_empty();
        if lesson.label.is_some() && says && known.iter().all(other) {
            known.push(lesson);
        }
    }
    known.iter().flat_map(|lesson| lesson_points(std::slice::from_ref(*lesson), axis)).collect()
}
