//! Quality of clusters, and stability of their ids.

use std::collections::{HashMap, HashSet};

use rutter_search::cluster::{Axis, Grouping};

use super::corpus::LessonPoint;
use super::methods::{ClusterIds, ClusteringMethod, product_texts};

/// Quality of a clustering.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ClusterQuality {
    /// The adjusted Rand index. Each text without a cluster counts as a separate cluster.
    pub(crate) ari: f64,
    /// Share of the texts with a cause that are in no cluster.
    pub(crate) noise: f64,
    /// Share of the members that have the most frequent label of their cluster.
    pub(crate) purity: f64,
    pub(crate) clusters: usize,
}

pub(crate) fn measure_quality(labels: &[Option<usize>], of: &ClusterIds) -> ClusterQuality {
    let alone = |number: usize| usize::MAX - number;
    let mut cells: HashMap<(usize, usize), f64> = HashMap::new();
    let (mut rows, mut columns) = (HashMap::new(), HashMap::new());
    for (number, (label, group)) in labels.iter().zip(of).enumerate() {
        let (label, group) = (label.unwrap_or(alone(number)), group.unwrap_or(alone(number)));
        *cells.entry((label, group)).or_default() += 1.0;
        *rows.entry(label).or_insert(0.0) += 1.0;
        *columns.entry(group).or_insert(0.0) += 1.0;
    }
    let pairs = |count: f64| count * (count - 1.0) / 2.0;
    let sum =
        |counts: &HashMap<usize, f64>| counts.values().map(|count| pairs(*count)).sum::<f64>();
    let together: f64 = cells.values().map(|count| pairs(*count)).sum();
    let (rows, columns) = (sum(&rows), sum(&columns));
    let chance = rows * columns / pairs(as_f64(labels.len())).max(1.0);
    let most = f64::midpoint(rows, columns);
    let mut groups: HashMap<usize, f64> = HashMap::new();
    let mut members = 0.0;
    for ((_, group), count) in cells.iter().filter(|((_, group), _)| *group < usize::MAX / 2) {
        let best = groups.entry(*group).or_default();
        *best = best.max(*count);
        members += count;
    }
    let caused = labels.iter().flatten().count();
    let lost = labels.iter().zip(of).filter(|(label, group)| label.is_some() && group.is_none());
    ClusterQuality {
        ari: if most > chance { (together - chance) / (most - chance) } else { 0.0 },
        noise: as_f64(lost.count()) / as_f64(caused).max(1.0),
        purity: groups.values().sum::<f64>() / members.max(1.0),
        clusters: groups.len(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of texts")]
pub(crate) fn as_f64(number: usize) -> f64 {
    number as f64
}

/// Stability of cluster ids while texts are added one by one.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClusterStability {
    /// Number of times that a text lost its cluster or got another one after a text was added.
    pub(crate) changes: usize,
    /// Percentage of texts that changed at least once.
    pub(crate) changed_percent: f64,
    /// Number of ids that were ever assigned.
    pub(crate) born: usize,
    /// Number of these ids that no longer exist.
    pub(crate) lost_ids: usize,
    /// The final clusters.
    pub(crate) of: ClusterIds,
}

/// Adds texts one by one and measures the stability.
pub(crate) fn measure_growth(
    method: ClusteringMethod,
    axis: Axis,
    points: &[LessonPoint],
) -> ClusterStability {
    let mut names: ClusterIds = Vec::new();
    let (mut next, mut done) = (0, ClusterStability::default());
    let mut changed: HashSet<usize> = HashSet::new();
    let mut born: HashSet<usize> = HashSet::new();
    for end in 1..=points.len() {
        let after = match method {
            ClusteringMethod::Kept(rule) => grow_by_one(rule, axis, &points[..end], &names),
            _ => match_cluster_ids(&names, method.group(axis, &points[..end]), &mut next),
        };
        for (number, (before, after)) in names.iter().zip(&after).enumerate() {
            if before.is_some() && before != after {
                done.changes += 1;
                changed.insert(number);
            }
        }
        born.extend(after.iter().flatten());
        names = after;
    }
    let alive: HashSet<usize> = names.iter().flatten().copied().collect();
    done.changed_percent = 100.0 * as_f64(changed.len()) / as_f64(points.len()).max(1.0);
    done.born = born.len();
    done.lost_ids = born.difference(&alive).count();
    done.of = names;
    done
}

/// Groups the texts as a store does: starting from the clusters of all texts but the last.
fn grow_by_one(
    rule: rutter_search::cluster::GroupingRule,
    axis: Axis,
    points: &[LessonPoint],
    names: &ClusterIds,
) -> ClusterIds {
    let texts = product_texts(axis, points);
    let mut of: Vec<Option<u32>> =
        names.iter().map(|name| name.map(|name| u32::try_from(name).expect("few"))).collect();
    of.push(None);
    let mut grouping = Grouping::new(rule, &texts, of);
    grouping.grow(&[points.len() - 1]);
    grouping.group_numbers().iter().map(|name| name.map(|name| name as usize)).collect()
}

/// Gives each cluster the id of the earlier cluster that it shares most members with; larger overlaps choose first.
fn match_cluster_ids(before: &ClusterIds, now: ClusterIds, next: &mut usize) -> ClusterIds {
    let mut shared: HashMap<(usize, usize), usize> = HashMap::new();
    for (before, now) in before.iter().zip(&now) {
        if let (Some(before), Some(now)) = (before, now) {
            *shared.entry((*now, *before)).or_default() += 1;
        }
    }
    let mut shared: Vec<((usize, usize), usize)> = shared.into_iter().collect();
    shared.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
    let (mut names, mut taken) = (HashMap::new(), HashSet::new());
    for ((cluster, name), _) in shared {
        if !names.contains_key(&cluster) && taken.insert(name) {
            names.insert(cluster, name);
        }
    }
    now.into_iter()
        .map(|cluster| {
            cluster.map(|cluster| {
                *names.entry(cluster).or_insert_with(|| {
                    *next += 1;
                    *next - 1
                })
            })
        })
        .collect()
}
