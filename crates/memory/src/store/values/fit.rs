//! How a sentence stands to a cluster.

use rusqlite::Connection;

use super::sentence::PLAIN;
use super::weigh;
use crate::store::StoreError;
use crate::store::clusters::{Middle, common};
use crate::value::{self, ValueError};
use crate::{Clean, Id};
use rutter_search::cluster::{Axis, Common};
use rutter_search::embed::{Vector, embed};

/// How a text stands to a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    pub(super) distance: f64,
    pub(super) threshold: f64,
}

/// A sentence to be held against clusters.
pub(super) struct Candidate {
    /// Where it points among lessons.
    vector: Vector,
    /// Where it points among sentences.
    sentence: Option<Vector>,
}

impl Candidate {
    pub(super) fn of(common: &Common, text: &str) -> Option<Self> {
        let vector = pointing(common, text)?;
        Some(Self { vector, sentence: pointing(&PLAIN, text) })
    }

    /// Holds it against all that the members of a cluster say, along whichever axis they were found to belong together, for it has
    /// few words in common with the surprise that it was learnt from; and against each lesson that one of them drew.
    pub(super) fn judge(
        &self,
        connection: &Connection,
        (cluster, axis): (Id, Axis),
        common: &Common,
    ) -> Result<Judged, StoreError> {
        let middle = Middle::of(connection, cluster, Axis::Full, common)?;
        let (together, threshold) = (middle.nearness(&self.vector), value::threshold(axis));
        // Lessons are read only where one of them could be near enough.
        let nearest = if value::distance(together, Some(1.0)) > threshold {
            None
        } else {
            self.nearest_lesson(connection, &middle)?
        };
        Ok(Judged { distance: value::distance(together, nearest), threshold })
    }

    /// How near it is to the lesson of a member that is nearest to it.
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

/// Where a text points, beside what all texts have in common.
pub(super) fn pointing(common: &Common, text: &str) -> Option<Vector> {
    common.without(&embed(text)?)
}

/// Holds a text against a cluster.
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
