//! Compares a sentence with a cluster.

use rusqlite::Connection;

use super::sentence::{SENTENCE_MEAN, centered_vector};
use crate::store::StoreResult;
use crate::store::clusters::{ClusterCenter, load_mean};
use crate::value::{self, ValueError};
use crate::{Clean, Id};
use rutter_search::cluster::{Axis, MeanDirection};
use rutter_search::embed::Vector;

/// The distance of a text from a cluster, and its maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClusterFit {
    pub(super) distance: f64,
    pub(super) threshold: f64,
}

/// A sentence to compare with clusters.
pub(super) struct SentenceCandidate {
    /// Vector without the mean of lessons.
    vector: Vector,
    /// Vector without the mean of plain sentences.
    sentence: Option<Vector>,
}

impl SentenceCandidate {
    pub(super) fn new(common: &MeanDirection, text: &str) -> Option<Self> {
        let vector = centered_vector(common, text)?;
        Some(Self { vector, sentence: centered_vector(&SENTENCE_MEAN, text) })
    }

    /// Compares the sentence with the full texts of a cluster's members, on any axis of the cluster, because a rule
    /// shares few words with the surprise it was learnt from; and with the lesson of each member.
    pub(super) fn compare(
        &self,
        connection: &Connection,
        (cluster, axis): (Id, Axis),
        common: &MeanDirection,
    ) -> StoreResult<ClusterFit> {
        let middle = ClusterCenter::load(connection, cluster, Axis::Full, common)?;
        let (together, threshold) =
            (middle.nearness(&self.vector), value::max_cluster_distance(axis));
        // Lessons are read only if one of them could be near enough.
        let nearest = if value::cluster_distance(together, Some(1.0)) > threshold {
            None
        } else {
            self.nearest_lesson(connection, &middle)?
        };
        Ok(ClusterFit { distance: value::cluster_distance(together, nearest), threshold })
    }

    /// Returns the similarity to the nearest lesson of a member.
    fn nearest_lesson(
        &self,
        connection: &Connection,
        middle: &ClusterCenter,
    ) -> StoreResult<Option<f64>> {
        let Some(sentence) = &self.sentence else { return Ok(None) };
        let mut nearest: Option<f64> = None;
        let mut select =
            connection.prepare_cached("SELECT takeaway, what_worked FROM ghap WHERE uid = ?1")?;
        for (row, _) in &middle.members {
            let lessons: [Option<Clean>; 2] =
                select.query_row([row], |row| Ok([row.get(0)?, row.get(1)?]))?;
            for lesson in lessons.into_iter().flatten() {
                if let Some(vector) = centered_vector(&SENTENCE_MEAN, &lesson) {
                    let near = f64::from(vector.cosine(sentence));
                    nearest = Some(nearest.map_or(near, |so_far: f64| so_far.max(near)));
                }
            }
        }
        Ok(nearest)
    }
}

/// Compares a text with a cluster. Returns an error that names the nearest cluster if the text is too far away.
pub(super) fn check_cluster_fit(
    connection: &Connection,
    cluster: Id,
    axis: Axis,
    text: &str,
) -> StoreResult<ClusterFit> {
    let common = load_mean(connection, Axis::Full)?;
    let candidate = SentenceCandidate::new(&common, text).ok_or(ValueError::NoWords)?;
    let judged = candidate.compare(connection, (cluster, axis), &common)?;
    if judged.distance <= judged.threshold {
        return Ok(judged);
    }
    let mut nearest: Option<(Id, f64)> = None;
    for other in clusters_of_axis(connection, axis)? {
        let distance = candidate.compare(connection, (other, axis), &common)?.distance;
        if nearest.is_none_or(|(_, so_far)| distance < so_far) {
            nearest = Some((other, distance));
        }
    }
    Err(ValueError::TooFar {
        cluster: cluster.short(),
        distance: judged.distance,
        threshold: judged.threshold,
        nearest: nearest.map(|(id, distance)| (id.short(), distance)),
    }
    .into())
}

/// Returns the clusters of an axis, the oldest first.
pub(super) fn clusters_of_axis(connection: &Connection, axis: Axis) -> StoreResult<Vec<Id>> {
    let mut clusters =
        connection.prepare_cached("SELECT uid FROM cluster WHERE axis = ?1 ORDER BY id")?;
    Ok(clusters.query_map([axis], |row| row.get(0))?.collect::<Result<_, _>>()?)
}
