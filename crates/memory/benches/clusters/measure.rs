//! Quality of clusters, and stability of their ids.

use std::collections::{HashMap, HashSet};

use rutter_search::cluster::{Axis, Grouping, GroupingRule, MeanDirection, TextPoint as Text};

use super::corpus::LessonPoint;

/// Cluster of each text, if it has one.
pub(crate) type ClusterIds = Vec<Option<usize>>;

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
pub(crate) fn measure_growth(axis: Axis, points: &[LessonPoint]) -> ClusterStability {
    let mut names: ClusterIds = Vec::new();
    let mut done = ClusterStability::default();
    let mut changed: HashSet<usize> = HashSet::new();
    let mut born: HashSet<usize> = HashSet::new();
    for end in 1..=points.len() {
        let after = group_points(axis, &points[..end], &names);
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

/// Groups texts as a store does: starting from the clusters of the first ones.
pub(crate) fn group_points(axis: Axis, points: &[LessonPoint], names: &ClusterIds) -> ClusterIds {
    let common = MeanDirection::from_texts(axis, points.iter().map(|point| &point.vector));
    let texts: Vec<Text> = points
        .iter()
        .map(|point| Text {
            vector: common.subtract_from(&point.vector).unwrap_or(point.vector),
            weight: point.weight,
        })
        .collect();
    let mut of: Vec<Option<u32>> =
        names.iter().map(|name| name.map(|name| u32::try_from(name).expect("few"))).collect();
    of.resize(points.len(), None);
    let mut grouping = Grouping::new(GroupingRule::for_axis(axis), &texts, of);
    grouping.grow(&(names.len()..points.len()).collect::<Vec<_>>());
    grouping.group_numbers().iter().map(|name| name.map(|name| name as usize)).collect()
}
