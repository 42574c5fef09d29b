//! Sentences that fit a cluster as its value, and sentences that are proposed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rutter_memory::store::ValueFilter;
use rutter_memory::value::{cluster_distance, max_cluster_distance};
use rutter_memory::{Id, Time};
use rutter_search::cluster::{Axis, MeanDirection, TextPoint as Text, mean_direction};
use rutter_search::embed::{Vector, embed};
use rutter_testkit::lessons::{GeneratedLesson, lessons_of_cause};

use super::corpus::lesson_points;
use super::measure::{as_f64, measure_growth};
use super::{AXES, LESSON_COUNT, REPORTED_SEEDS, draw_lessons, speed};

/// A sentence that was compared with a cluster.
struct TriedSentence {
    /// True for a lesson of the cause that most members have, false for one of a cause that no member has.
    own: bool,
    /// True if a member has the same words.
    said: bool,
    distance: f64,
}

/// Measures how often a cluster accepts a lesson of the cause that most members have, and one of a cause that none has.
pub(crate) fn measure_fits() {
    println!("\na value fits");
    for axis in AXES {
        let mut tried: Vec<TriedSentence> = Vec::new();
        for seed in REPORTED_SEEDS {
            try_values(&draw_lessons(seed, LESSON_COUNT, Some(1)), axis, &mut tried);
        }
        let share = |of: &dyn Fn(&&TriedSentence) -> bool| {
            let all: Vec<&TriedSentence> = tried.iter().filter(of).collect();
            let fit = all.iter().filter(|one| one.distance <= max_cluster_distance(axis)).count();
            format!("{:.1}% of {}", 100.0 * as_f64(fit) / as_f64(all.len()).max(1.0), all.len())
        };
        println!(
            "{axis:<10} at most {:.2}: of the cause {}, in words of no member {}, of others {}",
            max_cluster_distance(axis),
            share(&|one| one.own),
            share(&|one| one.own && !one.said),
            share(&|one| !one.own),
        );
        // The rates with other thresholds.
        for most in (60..=90).step_by(2).map(|hundredth| f64::from(hundredth) / 100.0) {
            let share = |of: &dyn Fn(&&TriedSentence) -> bool| {
                let all: Vec<&TriedSentence> = tried.iter().filter(of).collect();
                let fit = all.iter().filter(|one| one.distance <= most).count();
                100.0 * as_f64(fit) / as_f64(all.len()).max(1.0)
            };
            println!(
                "    {most:.2}: {:>5.1}% {:>5.1}% {:>5.1}%",
                share(&|one| one.own),
                share(&|one| one.own && !one.said),
                share(&|one| !one.own),
            );
        }
    }
}

fn try_values(drawn: &[GeneratedLesson], axis: Axis, tried: &mut Vec<TriedSentence>) {
    let every = lesson_points(drawn, Axis::Full);
    let common = MeanDirection::from_texts(Axis::Full, every.iter().map(|point| &point.vector));
    let plain = MeanDirection::from_texts(Axis::Surprise, []);
    let pointing = |common: &MeanDirection, text: &str| {
        embed(text).and_then(|text| common.subtract_from(&text))
    };
    let says =
        |lesson: &&GeneratedLesson| !lesson_points(std::slice::from_ref(*lesson), axis).is_empty();
    let sayers: Vec<GeneratedLesson> = drawn.iter().filter(says).cloned().collect();
    let texts: Vec<Text> = lesson_points(&sayers, Axis::Full)
        .iter()
        .map(|point| Text {
            vector: common.subtract_from(&point.vector).unwrap_or(point.vector),
            weight: point.weight,
        })
        .collect();
    let growth = measure_growth(axis, &lesson_points(&sayers, axis));
    for name in growth.of.iter().flatten().collect::<BTreeSet<_>>() {
        let members: Vec<usize> =
            (0..texts.len()).filter(|at| growth.of[*at] == Some(*name)).collect();
        let mut causes: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        for at in &members {
            *causes.entry(sayers[*at].label).or_default() += 1;
        }
        let most = causes.iter().max_by_key(|(_, times)| **times);
        let Some((&Some(own), _)) = most.filter(|(_, times)| **times * 2 >= members.len()) else {
            continue;
        };
        let Some(middle) = mean_direction(&members.iter().map(|at| texts[*at]).collect::<Vec<_>>())
        else {
            continue;
        };
        let lessons: Vec<&str> = members
            .iter()
            .flat_map(|at| [&sayers[*at].takeaway, &sayers[*at].what_worked])
            .filter_map(|text| text.as_deref())
            .collect();
        let drew: Vec<Vector> = lessons.iter().filter_map(|text| pointing(&plain, text)).collect();
        for cause in (1..40).step_by(2) {
            if cause != own && causes.contains_key(&Some(cause)) {
                continue;
            }
            for text in lessons_of_cause(cause) {
                let near = |other: &Vector, vector: Option<Vector>| {
                    vector.map_or(0.0, |vector| f64::from(vector.cosine(other)))
                };
                let sentence = pointing(&plain, text);
                let nearest = drew.iter().map(|lesson| near(lesson, sentence)).reduce(f64::max);
                tried.push(TriedSentence {
                    own: cause == own,
                    said: lessons.iter().any(|lesson| lesson.contains(text)),
                    distance: cluster_distance(near(&middle, pointing(&common, text)), nearest),
                });
            }
        }
    }
}

/// Measures how many values proposed in a store have the cause that most members of their cluster have.
pub(crate) fn measure_proposals() {
    println!(
        "\nproposed: of the cause that most members of the cluster have, and how many members have it"
    );
    for (name, parity) in [("other causes", Some(1)), ("all causes", None)] {
        let mut by: HashMap<Axis, (usize, usize, f64)> = HashMap::new();
        for seed in REPORTED_SEEDS {
            let drawn = draw_lessons(seed, LESSON_COUNT, parity);
            speed::with_store(&drawn, |store| {
                store.update_clusters(speed::after_all_lessons()).expect("groups");
                for held in store.values(&ValueFilter::default()).expect("values") {
                    let (Some(cluster), Some(source)) = (held.value.cluster, held.value.source)
                    else {
                        continue;
                    };
                    let members: Vec<(Id, Option<usize>)> = store
                        .members(cluster)
                        .expect("members")
                        .iter()
                        .map(|member| (member.ghap, label_at(&drawn, member.at)))
                        .collect();
                    let own =
                        members.iter().find(|(id, _)| *id == source).and_then(|(_, own)| *own);
                    let same = members.iter().filter(|(_, label)| own.is_some() && *label == own);
                    let share = as_f64(same.count()) / as_f64(members.len()).max(1.0);
                    let sums = by.entry(held.value.axis).or_default();
                    sums.0 += 1;
                    sums.1 += usize::from(share >= 0.5);
                    sums.2 += share;
                }
            });
        }
        for axis in AXES {
            let (all, right, shares) = by.get(&axis).copied().unwrap_or_default();
            println!(
                "{name:<12} {axis:<10} {right} of {all} ({:.0}%), {:.0}% of the members",
                100.0 * as_f64(right) / as_f64(all).max(1.0),
                100.0 * shares / as_f64(all).max(1.0),
            );
        }
    }
}

fn label_at(drawn: &[GeneratedLesson], at: Time) -> Option<usize> {
    let resolved = |lesson: &&GeneratedLesson| super::corpus::lesson_time(lesson) == at;
    drawn.iter().find(resolved).and_then(|lesson| lesson.label)
}
