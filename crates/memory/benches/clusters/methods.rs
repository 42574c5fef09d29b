//! The clustering methods that were compared. All get the same vectors; one of them is the product's.

use std::collections::HashMap;

use rutter_search::cluster::{
    Axis, Grouping, GroupingRule, MIN_CLUSTER_SIZE, MeanDirection, TextPoint as Text,
};
use rutter_search::embed::VECTOR_DIMS;

use super::corpus::LessonPoint;
use super::hdbscan::hdbscan;

pub(crate) type VectorRow = [f32; VECTOR_DIMS];
/// Cluster of each text, if it has one.
pub(crate) type ClusterIds = Vec<Option<usize>>;

/// A clustering method and its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ClusteringMethod {
    /// The product's method.
    Kept(GroupingRule),
    /// The nearest centroid if it is near enough, otherwise a new cluster. Texts never move.
    Leader(f32),
    /// Average link, recomputed from scratch, cut at this height.
    Average(f32),
    /// HDBSCAN, recomputed from scratch: minimum cluster size, and number of neighbours of a core point.
    Hdbscan(usize, usize),
    /// Mutual neighbours among this many, with a minimum similarity, then the majority cluster of these neighbours.
    Neighbours(usize, f32),
}

impl ClusteringMethod {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kept(_) => "average link, kept up",
            Self::Leader(_) => "leader",
            Self::Average(_) => "average link, anew",
            Self::Hdbscan(..) => "HDBSCAN",
            Self::Neighbours(..) => "mutual neighbours",
        }
    }

    /// Groups all texts at once, without earlier clusters.
    pub(crate) fn group(self, axis: Axis, points: &[LessonPoint]) -> ClusterIds {
        match self {
            Self::Kept(rule) => {
                let texts = product_texts(axis, points);
                let mut grouping = Grouping::new(rule, &texts, vec![None; texts.len()]);
                grouping.grow(&(0..texts.len()).collect::<Vec<_>>());
                grouping
                    .group_numbers()
                    .iter()
                    .map(|group| group.map(|group| group as usize))
                    .collect()
            }
            Self::Leader(cut) => group_by_leader(&vector_rows(axis, points), cut),
            Self::Average(cut) => group_by_average_link(&vector_rows(axis, points), cut),
            Self::Hdbscan(fewest, samples) => hdbscan(&vector_rows(axis, points), fewest, samples),
            Self::Neighbours(count, cut) => {
                group_by_mutual_neighbours(&vector_rows(axis, points), count, cut)
            }
        }
    }
}

/// Returns the texts in the product's form, without their common part.
pub(crate) fn product_texts(axis: Axis, points: &[LessonPoint]) -> Vec<Text> {
    let common = MeanDirection::from_texts(axis, points.iter().map(|point| &point.vector));
    points
        .iter()
        .map(|point| Text {
            vector: common.subtract_from(&point.vector).unwrap_or(point.vector),
            weight: point.weight,
        })
        .collect()
}

fn vector_rows(axis: Axis, points: &[LessonPoint]) -> Vec<VectorRow> {
    product_texts(axis, points)
        .iter()
        .map(|text| text.vector.numbers().map(|number| f32::from(number) * text.vector.scale()))
        .collect()
}

pub(crate) fn dot_product(one: &VectorRow, other: &VectorRow) -> f32 {
    let mut lanes = [0.0; 8];
    for (one, other) in one.as_chunks::<8>().0.iter().zip(other.as_chunks::<8>().0) {
        for lane in 0..8 {
            lanes[lane] += one[lane] * other[lane];
        }
    }
    lanes.iter().sum()
}

/// Removes groups below the minimum size.
fn drop_small_groups(of: Vec<usize>) -> ClusterIds {
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    for group in &of {
        *sizes.entry(*group).or_default() += 1;
    }
    of.into_iter().map(|group| (sizes[&group] >= MIN_CLUSTER_SIZE).then_some(group)).collect()
}

fn group_by_leader(rows: &[VectorRow], cut: f32) -> ClusterIds {
    let mut middles: Vec<(VectorRow, f32)> = Vec::new();
    let mut of = Vec::with_capacity(rows.len());
    for row in rows {
        let best = middles
            .iter()
            .enumerate()
            .map(|(number, (sum, _))| {
                (number, dot_product(row, sum) / dot_product(sum, sum).sqrt())
            })
            .max_by(|one, other| one.1.total_cmp(&other.1));
        match best {
            Some((number, link)) if link >= cut => {
                middles[number].0.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
                of.push(number);
            }
            _ => {
                middles.push((*row, 1.0));
                of.push(middles.len() - 1);
            }
        }
    }
    drop_small_groups(of)
}

fn group_by_average_link(rows: &[VectorRow], cut: f32) -> ClusterIds {
    const NO_LINK: f32 = -9.0;
    let count = rows.len();
    let mut link: Vec<Vec<f32>> = (0..count)
        .map(|one| {
            (0..count)
                .map(
                    |other| {
                        if one == other { NO_LINK } else { dot_product(&rows[one], &rows[other]) }
                    },
                )
                .collect()
        })
        .collect();
    let best_of = |row: &[f32]| {
        row.iter().enumerate().fold((NO_LINK, 0), |best, (number, link)| {
            if *link > best.0 { (*link, number) } else { best }
        })
    };
    let mut size = vec![1.0_f32; count];
    let mut of: Vec<usize> = (0..count).collect();
    let mut alive = vec![true; count];
    let mut best: Vec<(f32, usize)> = link.iter().map(|row| best_of(row)).collect();
    loop {
        let next = (0..count)
            .filter(|number| alive[*number])
            .max_by(|one, other| best[*one].0.total_cmp(&best[*other].0));
        let Some(one) = next.filter(|number| best[*number].0 >= cut) else {
            return drop_small_groups(of);
        };
        let other = best[one].1;
        for third in (0..count).filter(|third| alive[*third] && *third != one && *third != other) {
            let mean = (link[one][third] * size[one] + link[other][third] * size[other])
                / (size[one] + size[other]);
            link[one][third] = mean;
            link[third][one] = mean;
        }
        size[one] += size[other];
        alive[other] = false;
        of.iter_mut().filter(|group| **group == other).for_each(|group| *group = one);
        for row in &mut link {
            row[other] = NO_LINK;
        }
        for third in (0..count).filter(|third| alive[*third]) {
            if third == one || best[third].1 == one || best[third].1 == other {
                best[third] = best_of(&link[third]);
            }
        }
    }
}

fn group_by_mutual_neighbours(rows: &[VectorRow], count: usize, cut: f32) -> ClusterIds {
    let nearest: Vec<Vec<(usize, f32)>> = (0..rows.len())
        .map(|one| {
            let mut all: Vec<(usize, f32)> = (0..rows.len())
                .filter(|other| *other != one)
                .map(|other| (other, dot_product(&rows[one], &rows[other])))
                .filter(|(_, link)| *link >= cut)
                .collect();
            all.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
            all.truncate(count);
            all
        })
        .collect();
    let mutual: Vec<Vec<(usize, f32)>> = (0..rows.len())
        .map(|one| {
            let of = |other: &usize| nearest[*other].iter().any(|(back, _)| *back == one);
            nearest[one].iter().filter(|(other, _)| of(other)).copied().collect()
        })
        .collect();
    let mut of: Vec<usize> = (0..rows.len()).collect();
    for _ in 0..20 {
        let mut moved = false;
        for one in 0..rows.len() {
            let mut votes: HashMap<usize, f32> = HashMap::new();
            for (other, link) in &mutual[one] {
                *votes.entry(of[*other]).or_default() += link;
            }
            let most = votes
                .into_iter()
                .max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)));
            if let Some((label, _)) = most.filter(|(label, _)| *label != of[one]) {
                of[one] = label;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    drop_small_groups(of)
}
