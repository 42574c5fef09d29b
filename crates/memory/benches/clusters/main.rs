//! Measures clusters of lessons: quality, stability of their ids and speed: `cargo xtask bench clusters
//! [speed | small | values | FILE]`.
//!
//! The similarity thresholds were chosen on lessons of every other cause. The printed figures are of the remaining
//! causes, and of all. A file with a `text` on each line is grouped with the chosen thresholds, and its groups are
//! printed for a person to read.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::disallowed_methods, reason = "a bench has a clock of its own")]

mod corpus;
mod measure;
mod real;
mod sentences;
mod small;
mod speed;

use std::collections::BTreeSet;

use rutter_search::cluster::Axis;
use rutter_testkit::lessons::{GeneratedLesson, generate_lessons};

use corpus::{LessonPoint, lesson_points};
use measure::{ClusterQuality, as_f64, group_points, measure_growth, measure_quality};

/// Seeds that were not used to choose the rules.
const REPORTED_SEEDS: [u64; 3] = [11, 12, 13];
/// Number of lessons that a busy year leaves.
const LESSON_COUNT: usize = 1_000;
/// Number of lessons that are added one by one.
const GROWN_LESSON_COUNT: usize = 400;
const AXES: [Axis; 3] = [Axis::Full, Axis::Surprise, Axis::RootCause];

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    match file.as_deref() {
        Some("speed") => speed::measure_speed(),
        Some("small") => small::measure_small_stores(),
        Some("values") => {
            sentences::measure_fits();
            sentences::measure_proposals();
        }
        Some(file) => real::show_groups(file),
        None => {
            measure_by_cause();
            measure_by_goal();
            small::measure_small_stores();
            sentences::measure_fits();
            sentences::measure_proposals();
            speed::measure_speed();
        }
    }
}

/// Returns lessons of all causes, or of every other cause; lessons without a cause are always included.
fn draw_lessons(seed: u64, count: usize, parity: Option<usize>) -> Vec<GeneratedLesson> {
    let mut all = generate_lessons(seed, count);
    all.retain(|lesson| {
        lesson.label.is_none_or(|label| parity.is_none_or(|parity| label % 2 == parity))
    });
    all
}

fn point_labels(points: &[LessonPoint]) -> Vec<Option<usize>> {
    points.iter().map(|point| point.label).collect()
}

fn mean_quality(all: &[ClusterQuality]) -> ClusterQuality {
    let of =
        |part: fn(&ClusterQuality) -> f64| all.iter().map(part).sum::<f64>() / as_f64(all.len());
    ClusterQuality {
        ari: of(|one| one.ari),
        noise: of(|one| one.noise),
        purity: of(|one| one.purity),
        clusters: all.iter().map(|one| one.clusters).sum::<usize>() / all.len().max(1),
    }
}

fn quality_on_reported_seeds(axis: Axis, parity: Option<usize>) -> ClusterQuality {
    let each = REPORTED_SEEDS.map(|seed| {
        let points = lesson_points(&draw_lessons(seed, LESSON_COUNT, parity), axis);
        measure_quality(&point_labels(&points), &group_points(axis, &points, &Vec::new()))
    });
    mean_quality(&each)
}

/// Measures clusters by cause: grouped at once, and grown one by one.
fn measure_by_cause() {
    println!("{:<10} {:>22} {:>28} {:>34}", "", "other causes", "all causes", "one by one");
    println!(
        "{:<10} {:>6} {:>7} {:>7} {:>6} {:>7} {:>7} {:>5} {:>6} {:>8} {:>6} {:>5} {:>5}",
        "axis",
        "ARI",
        "noise",
        "purity",
        "ARI",
        "noise",
        "purity",
        "n",
        "ARI",
        "changes",
        "ever",
        "born",
        "lost"
    );
    for axis in AXES {
        let other = quality_on_reported_seeds(axis, Some(1));
        let all = quality_on_reported_seeds(axis, None);
        let points = lesson_points(&draw_lessons(11, GROWN_LESSON_COUNT, None), axis);
        let growth = measure_growth(axis, &points);
        let end = measure_quality(&point_labels(&points), &growth.of);
        println!(
            "{axis:<10} {:>6.3} {:>6.0}% {:>6.0}% {:>6.3} {:>6.0}% {:>6.0}% {:>5} {:>6.3} {:>8} {:>5.1}% {:>5} {:>5}",
            other.ari,
            other.noise * 100.0,
            other.purity * 100.0,
            all.ari,
            all.noise * 100.0,
            all.purity * 100.0,
            all.clusters,
            end.ari,
            growth.changes,
            growth.changed_percent,
            growth.born,
            growth.lost_ids,
        );
    }
}

/// Measures clusters by goal: the strategy axis groups by the goal of the work, the full axis by goal and cause.
fn measure_by_goal() {
    println!("\nby what the work was about, one by one");
    for axis in [Axis::Full, Axis::Strategy] {
        let drawn = draw_lessons(11, LESSON_COUNT, None);
        let goals: BTreeSet<&str> = drawn.iter().map(|lesson| lesson.goal.as_str()).collect();
        let number = |goal: &str| goals.iter().position(|other| *other == goal);
        let labels: Vec<Option<usize>> = drawn.iter().map(|lesson| number(&lesson.goal)).collect();
        let points = lesson_points(&drawn, axis);
        let growth = measure_growth(axis, &points);
        let (work, cause) = (
            measure_quality(&labels, &growth.of),
            measure_quality(&point_labels(&points), &growth.of),
        );
        println!(
            "{axis:<10} ARI {:.3} (by cause {:.3}), noise {:.0}%, purity {:.0}%, {} clusters, {} changes, {:.1}% ever",
            work.ari,
            cause.ari,
            work.noise * 100.0,
            work.purity * 100.0,
            work.clusters,
            growth.changes,
            growth.changed_percent,
        );
    }
}
