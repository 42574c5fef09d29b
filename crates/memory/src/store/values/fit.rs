//! Compares a sentence with a cluster.

use rusqlite::Connection;

use super::sentence::PLAIN;
use super::weigh;
use crate::store::StoreError;
use crate::store::clusters::{Middle, common};
use crate::value::{self, ValueError};
use crate::{Clean, Id};
use rutter_search::cluster::{Axis, Common};
use rutter_search::embed::{Vector, embed};

/// The distance of a text from a cluster, and its maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    pub(super) distance: f64,
    pub(super) threshold: f64,
}

/// A sentence to compare with clusters.
pub(super) struct Candidate {
    /// Vector without the mean of lessons.
    vector: Vector,
    /// Vector without the mean of plain sentences.
    sentence: Option<Vector>,
}

impl Candidate {
    pub(super) fn of(common: &Common, text: &str) -> Option<Self> {
        let vector = pointing(common, text)?;
        Some(Self { vector, sentence: pointing(&PLAIN, text) })
    }

    /// Compares the sentence with the full texts of a cluster's members, on any axis of the cluster, because a rule
    /// shares few words with the surprise it was learnt from; and with the lesson of each member.
    pub(super) fn judge(
        &self,
        connection: &Connection,
        (cluster, axis): (Id, Axis),
        common: &Common,
    ) -> Result<Judged, StoreError> {
        let middle = Middle::of(connection, cluster, Axis::Full, common)?;
        let (together, threshold) = (middle.nearness(&self.vector), value::threshold(axis));
        // Lessons are read only if one of them could be near enough.
        let nearest = if value::distance(together, Some(1.0)) > threshold {
            None
        } else {
            self.nearest_lesson(connection, &middle)?
        };
        Ok(Judged { distance: value::distance(together, nearest), threshold })
    }

    /// Returns the similarity to the nearest lesson of a member.
    fn nearest_lesson(
        &self,
        connection: &Connection,
        middle: &Middle,
    ) -> Result<Option<f64>, StoreError> {
        let Some(sentence) = &self.sentence else { return Ok(None) };
        let mut nearest: Option<f64> = None;
        let mut select =
            connection.prepare_cached("SELECT takeaway, what_worked FROM ghap WHERE uid = ?1")?;
        for (row, _) in &middle.members {
            let lessons: [Option<Clean>; 2] =
                select.query_row([row], |row| Ok([row.get(0)?, row.get(1)?]))?;
            for lesson in lessons.into_iter().flatten() {
                if let Some(vector) = pointing(&PLAIN, &lesson) {
                    let near = f64::from(vector.cosine(sentence));
                    nearest = Some(nearest.map_or(near, |so_far: f64| so_far.max(near)));
                }
            }
        }
        Ok(nearest)
    }
}

/// Returns the vector of a text without the mean of all texts.
pub(super) fn pointing(common: &Common, text: &str) -> Option<Vector> {
    common.without(&embed(text)?)
}

/// Compares a text with a cluster. Returns an error that names the nearest cluster if the text is too far away.
pub(super) fn fit(
    connection: &Connection,
    cluster: Id,
    axis: Axis,
    text: &str,
) -> Result<Judged, StoreError> {
    let common = common(connection, Axis::Full)?;
    let candidate = Candidate::of(&common, text).ok_or(ValueError::NoWords)?;
    let judged = candidate.judge(connection, (cluster, axis), &common)?;
    if judged.distance <= judged.threshold {
        return Ok(judged);
    }
    let mut nearest: Option<(Id, f64)> = None;
    for other in weigh::of_axis(connection, axis)? {
        let distance = candidate.judge(connection, (other, axis), &common)?.distance;
        if nearest.is_none_or(|(_, so_far)| distance < so_far) {
            nearest = Some((other, distance));
        }
    }
    Err(ValueError::Far {
        cluster: cluster.short(),
        distance: judged.distance,
        threshold: judged.threshold,
        nearest: nearest.map(|(id, distance)| (id.short(), distance)),
    }
    .into())
}
