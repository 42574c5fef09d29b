//! Compares methods of clustering lessons by quality, stability of cluster ids and speed: `cargo xtask bench clusters
//! [speed | small | values | FILE]`.
//!
//! The similarity thresholds were chosen on lessons of every other cause. The printed figures are of the remaining
//! causes, and of all. A file with a `text` on each line is grouped with the chosen thresholds, and its groups are
//! printed for a person to read.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::disallowed_methods, reason = "a bench has a clock of its own")]

mod corpus;
mod hdbscan;
mod measure;
mod methods;
mod real;
mod sentences;
mod small;
mod speed;

use std::collections::BTreeSet;

use rutter_search::cluster::{Axis, GroupingRule};
use rutter_testkit::lessons::{GeneratedLesson, generate_lessons};

use corpus::{LessonPoint, lesson_points};
use measure::{ClusterQuality, as_f64, measure_growth, measure_quality};
use methods::ClusteringMethod;

/// Seeds that were used to choose the rules, and seeds that were not.
const TUNING_SEEDS: [u64; 3] = [1, 2, 3];
const REPORTED_SEEDS: [u64; 3] = [11, 12, 13];
/// Number of lessons that a busy year leaves.
const LESSON_COUNT: usize = 1_000;
/// Number of lessons that are added one by one. With recomputation from scratch each time, more would take hours.
const GROWN_LESSON_COUNT: usize = 400;
/// Maximum share of texts without a cluster.
const MAX_NOISE_SHARE: f64 = 0.35;
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
            compare_methods();
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

fn quality_on_seeds(
    method: ClusteringMethod,
    axis: Axis,
    seeds: &[u64],
    parity: Option<usize>,
) -> ClusterQuality {
    let each = seeds.iter().map(|seed| {
        let points = lesson_points(&draw_lessons(*seed, LESSON_COUNT, parity), axis);
        measure_quality(&point_labels(&points), &method.group(axis, &points))
    });
    mean_quality(&each.collect::<Vec<_>>())
}

/// Returns each method with the parameters of the best ARI on the chosen seeds, within the noise limit if any are.
fn best_methods(axis: Axis) -> Vec<ClusteringMethod> {
    let cuts = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5];
    let families: [Vec<ClusteringMethod>; 4] = [
        cuts.map(ClusteringMethod::Leader).to_vec(),
        cuts.map(ClusteringMethod::Average).to_vec(),
        [(3, 1), (3, 2), (4, 2), (5, 3)]
            .map(|(few, core)| ClusteringMethod::Hdbscan(few, core))
            .to_vec(),
        cuts.iter()
            .flat_map(|cut| {
                [5, 10].map(|neighbours| ClusteringMethod::Neighbours(neighbours, *cut))
            })
            .collect(),
    ];
    let mut best = vec![ClusteringMethod::Kept(GroupingRule::for_axis(axis))];
    for family in families {
        let scored = family
            .into_iter()
            .map(|method| (method, quality_on_seeds(method, axis, &TUNING_SEEDS, Some(0))));
        let chosen = scored.max_by(|(_, one), (_, other)| {
            let rank = |quality: &ClusterQuality| {
                (quality.noise <= MAX_NOISE_SHARE, quality.ari, -quality.noise)
            };
            rank(one).partial_cmp(&rank(other)).expect("numbers")
        });
        best.extend(chosen.map(|(method, _)| method));
    }
    // The parameters of CLAMS.
    best.push(ClusteringMethod::Hdbscan(5, 3));
    best.dedup();
    best
}

fn compare_methods() {
    for axis in AXES {
        println!(
            "\n{axis}: {} of {LESSON_COUNT}",
            lesson_points(&draw_lessons(11, LESSON_COUNT, None), axis).len()
        );
        println!("{:<24} {:>22} {:>28} {:>34}", "", "other causes", "all causes", "one by one");
        println!(
            "{:<24} {:>6} {:>7} {:>7} {:>6} {:>7} {:>7} {:>5} {:>6} {:>8} {:>6} {:>5} {:>5}",
            "method",
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
        for method in best_methods(axis) {
            let other = quality_on_seeds(method, axis, &REPORTED_SEEDS, Some(1));
            let all = quality_on_seeds(method, axis, &REPORTED_SEEDS, None);
            let points = lesson_points(&draw_lessons(11, GROWN_LESSON_COUNT, None), axis);
            let growth = measure_growth(method, axis, &points);
            let end = measure_quality(&point_labels(&points), &growth.of);
            println!(
                "{:<24} {:>6.3} {:>6.0}% {:>6.0}% {:>6.3} {:>6.0}% {:>6.0}% {:>5} {:>6.3} {:>8} {:>5.1}% {:>5} {:>5}   {}",
                method.name(),
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
                parameters(method),
            );
        }
    }
}

fn parameters(method: ClusteringMethod) -> String {
    match method {
        ClusteringMethod::Kept(rule) => format!("join {:.2}", rule.join),
        ClusteringMethod::Leader(cut) | ClusteringMethod::Average(cut) => format!("cut {cut:.2}"),
        ClusteringMethod::Hdbscan(fewest, samples) => format!("{fewest}/{samples}"),
        ClusteringMethod::Neighbours(neighbours, cut) => format!("{neighbours}, cut {cut:.2}"),
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
        let growth =
            measure_growth(ClusteringMethod::Kept(GroupingRule::for_axis(axis)), axis, &points);
        let (work, cause) = (
            measure_quality(&labels, &growth.of),
            measure_quality(
                &points.iter().map(|point| point.label).collect::<Vec<_>>(),
                &growth.of,
            ),
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
