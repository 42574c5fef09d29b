//! Which way of grouping lessons is best, how long its names last and how fast it is: `cargo xtask bench clusters [FILE]`.
//!
//! How near is near enough was chosen on lessons of every other cause. What is printed is of the causes between, and of all. A file
//! with a `text` on each line is grouped as it is, with what was chosen, and its groups are printed for a person to read.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::disallowed_methods, reason = "a bench has a clock of its own")]

mod corpus;
mod hdbscan;
mod measure;
mod methods;
mod real;
mod speed;

use std::collections::{BTreeSet, HashMap};

use rutter_memory::cluster::{Axis, Common, Point as Text, Rule, middle};
use rutter_memory::embed::embed;
use rutter_memory::value::{LEAST, threshold};
use rutter_testkit::lessons::{Lesson, learnt, lessons};

use corpus::{Point, points};
use measure::{Quality, count, grown, quality};
use methods::Method;

/// Draws that were looked at while the rules were chosen, and draws that were not.
const CHOSEN_ON: [u64; 3] = [1, 2, 3];
const REPORTED: [u64; 3] = [11, 12, 13];
/// As many as a busy year leaves.
const COUNT: usize = 1_000;
/// As many come one by one; all anew each time, more would take hours.
const GROWN: usize = 400;
/// No more may belong to none.
const NOISE: f64 = 0.35;
const AXES: [Axis; 3] = [Axis::Full, Axis::Surprise, Axis::RootCause];

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    match file.as_deref() {
        Some("speed") => speed::measure(),
        Some(file) => real::show(file),
        None => {
            compare();
            by_work();
            fits();
            speed::measure();
        }
    }
}

/// Lessons of all causes, or of every other one; what happened once is always among them.
fn drawn(seed: u64, count: usize, parity: Option<usize>) -> Vec<Lesson> {
    let mut all = lessons(seed, count);
    all.retain(|lesson| {
        lesson.label.is_none_or(|label| parity.is_none_or(|parity| label % 2 == parity))
    });
    all
}

fn labels(points: &[Point]) -> Vec<Option<usize>> {
    points.iter().map(|point| point.label).collect()
}

fn mean(all: &[Quality]) -> Quality {
    let of = |part: fn(&Quality) -> f64| all.iter().map(part).sum::<f64>() / count(all.len());
    Quality {
        ari: of(|one| one.ari),
        noise: of(|one| one.noise),
        purity: of(|one| one.purity),
        clusters: all.iter().map(|one| one.clusters).sum::<usize>() / all.len().max(1),
    }
}

fn on(method: Method, axis: Axis, seeds: &[u64], parity: Option<usize>) -> Quality {
    let each = seeds.iter().map(|seed| {
        let points = points(&drawn(*seed, COUNT, parity), axis);
        quality(&labels(&points), &method.group(axis, &points))
    });
    mean(&each.collect::<Vec<_>>())
}

/// Each method as it does best on what it is chosen on, with no more noise than may be; else with the least.
fn contestants(axis: Axis) -> Vec<Method> {
    let cuts = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5];
    let families: [Vec<Method>; 4] = [
        cuts.map(Method::Leader).to_vec(),
        cuts.map(Method::Average).to_vec(),
        [(3, 1), (3, 2), (4, 2), (5, 3)].map(|(few, core)| Method::Hdbscan(few, core)).to_vec(),
        cuts.iter()
            .flat_map(|cut| [5, 10].map(|neighbours| Method::Neighbours(neighbours, *cut)))
            .collect(),
    ];
    let mut best = vec![Method::Kept(Rule::of(axis))];
    for family in families {
        let scored =
            family.into_iter().map(|method| (method, on(method, axis, &CHOSEN_ON, Some(0))));
        let chosen = scored.max_by(|(_, one), (_, other)| {
            let rank = |quality: &Quality| (quality.noise <= NOISE, quality.ari, -quality.noise);
            rank(one).partial_cmp(&rank(other)).expect("numbers")
        });
        best.extend(chosen.map(|(method, _)| method));
    }
    // As CLAMS has it.
    best.push(Method::Hdbscan(5, 3));
    best.dedup();
    best
}

fn compare() {
    for axis in AXES {
        println!("\n{axis}: {} of {COUNT}", points(&drawn(11, COUNT, None), axis).len());
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
        for method in contestants(axis) {
            let other = on(method, axis, &REPORTED, Some(1));
            let all = on(method, axis, &REPORTED, None);
            let points = points(&drawn(11, GROWN, None), axis);
            let growth = grown(method, axis, &points);
            let end = quality(&labels(&points), &growth.of);
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
                growth.ever,
                growth.born,
                growth.lost,
                parameters(method),
            );
        }
    }
}

fn parameters(method: Method) -> String {
    match method {
        Method::Kept(rule) => format!("join {:.2}", rule.join),
        Method::Leader(cut) | Method::Average(cut) => format!("cut {cut:.2}"),
        Method::Hdbscan(fewest, samples) => format!("{fewest}/{samples}"),
        Method::Neighbours(neighbours, cut) => format!("{neighbours}, cut {cut:.2}"),
    }
}

/// Along the strategy it is what the work was about that is grouped, and along all of it both.
fn by_work() {
    println!("\nby what the work was about, one by one");
    for axis in [Axis::Full, Axis::Strategy] {
        let drawn = drawn(11, COUNT, None);
        let goals: BTreeSet<&str> = drawn.iter().map(|lesson| lesson.goal.as_str()).collect();
        let number = |goal: &str| goals.iter().position(|other| *other == goal);
        let labels: Vec<Option<usize>> = drawn.iter().map(|lesson| number(&lesson.goal)).collect();
        let points = points(&drawn, axis);
        let growth = grown(Method::Kept(Rule::of(axis)), axis, &points);
        let (work, cause) = (
            quality(&labels, &growth.of),
            quality(&points.iter().map(|point| point.label).collect::<Vec<_>>(), &growth.of),
        );
        println!(
            "{axis:<10} ARI {:.3} (by cause {:.3}), noise {:.0}%, purity {:.0}%, {} clusters, {} changes, {:.1}% ever",
            work.ari,
            cause.ari,
            work.noise * 100.0,
            work.purity * 100.0,
            work.clusters,
            growth.changes,
            growth.ever,
        );
    }
}

/// How often a lesson of the cause that most members have fits a cluster, and one of a cause that none has.
fn fits() {
    println!("\na value fits, at least {LEAST} (and by the members' own spread alone)");
    for axis in AXES {
        let mut tried: Vec<(bool, f64, f64)> = Vec::new();
        for seed in REPORTED {
            try_values(&drawn(seed, COUNT, Some(1)), axis, &mut tried);
        }
        let share = |right: bool, least: f64| {
            let all: Vec<_> = tried.iter().filter(|(own, ..)| *own == right).collect();
            let fit = all.iter().filter(|(_, distance, own)| *distance <= own.max(least)).count();
            100.0 * count(fit) / count(all.len()).max(1.0)
        };
        println!(
            "{axis:<10} of the cause {:.1}% ({:.1}%), of others {:.1}% ({:.1}%), {} tried",
            share(true, LEAST),
            share(true, 0.0),
            share(false, LEAST),
            share(false, 0.0),
            tried.len(),
        );
    }
}

fn try_values(drawn: &[Lesson], axis: Axis, tried: &mut Vec<(bool, f64, f64)>) {
    let every = points(drawn, Axis::Full);
    let common = Common::of(Axis::Full, every.iter().map(|point| &point.vector));
    let says = |lesson: &&Lesson| !points(std::slice::from_ref(*lesson), axis).is_empty();
    let sayers: Vec<Lesson> = drawn.iter().filter(says).cloned().collect();
    let texts: Vec<Text> = points(&sayers, Axis::Full)
        .iter()
        .map(|point| Text {
            vector: common.without(&point.vector).unwrap_or(point.vector),
            weight: point.weight,
        })
        .collect();
    let growth = grown(Method::Kept(Rule::of(axis)), axis, &points(&sayers, axis));
    for name in growth.of.iter().flatten().collect::<BTreeSet<_>>() {
        let members: Vec<usize> =
            (0..texts.len()).filter(|at| growth.of[*at] == Some(*name)).collect();
        let mut causes: HashMap<Option<usize>, usize> = HashMap::new();
        for at in &members {
            *causes.entry(sayers[*at].label).or_default() += 1;
        }
        let most = causes.iter().max_by_key(|(_, times)| **times);
        let Some((&Some(own), _)) = most.filter(|(_, times)| **times * 2 >= members.len()) else {
            continue;
        };
        let group: Vec<Text> = members.iter().map(|at| texts[*at]).collect();
        let Some(middle) = middle(&group) else { continue };
        let far: Vec<f64> =
            group.iter().map(|text| 1.0 - f64::from(text.vector.cosine(&middle))).collect();
        for cause in (1..40).step_by(2) {
            if cause != own && causes.contains_key(&Some(cause)) {
                continue;
            }
            for text in learnt(cause) {
                let vector = embed(text).and_then(|vector| common.without(&vector));
                let distance = vector.map_or(1.0, |vector| 1.0 - f64::from(vector.cosine(&middle)));
                tried.push((cause == own, distance, threshold(&far, 0.0)));
            }
        }
    }
}
