//! The support for a sentence: experiences of a cluster that say the same.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _};

use super::Sentence;
use super::witness::{count_independent, load_witness};
use crate::ghap::GhapStatus;
use crate::store::StoreResult;
use crate::store::clusters::ClusterCenter;
use crate::{Clean, Id, value};
use rutter_search::embed::Vector;

/// Minimum similarity of an experience that says the same as a sentence.
const MIN_SUPPORT_SIMILARITY: f64 = 0.3;

/// The support for a sentence in a cluster.
pub(super) struct SentenceSupport {
    /// Number of independent experiences that say it.
    pub(super) independent: u32,
    /// True if more than half of the members say it.
    pub(super) by_most: bool,
}

/// The members that count as support: those of one project or of all, with exceptions.
#[derive(Default)]
pub(super) struct SupportFilter {
    /// The project and its number of members; None for all projects.
    pub(super) project: Option<(i64, usize)>,
    /// Members that do not count.
    pub(super) but: BTreeSet<Id>,
}

/// Counts the members of a cluster that support a text.
pub(super) fn count_support(
    connection: &Connection,
    middle: &ClusterCenter,
    vector: &Vector,
    sentence: &Sentence,
    asked: &SupportFilter,
) -> StoreResult<SentenceSupport> {
    let mut witnesses = Vec::new();
    for (row, point) in &middle.members {
        if f64::from(point.vector.cosine(vector)) < MIN_SUPPORT_SIMILARITY
            || asked.but.contains(row)
        {
            continue;
        }
        let Some((witness, status, project)) = load_witness(connection, *row)? else { continue };
        if asked.project.is_some_and(|(asked, _)| asked != project) {
            continue;
        }
        // An abandoned GHAP has no valid lesson, and one with the opposite lesson is not support.
        if matches!(status, GhapStatus::Confirmed | GhapStatus::Falsified)
            && load_lesson(connection, *row)?
                .is_none_or(|lesson| !value::are_opposed(&lesson, &sentence.text))
        {
            witnesses.push(witness);
        }
    }
    let among = asked.project.map_or(middle.members.len(), |(_, count)| count);
    let by_most = witnesses.len() * 2 > among;
    Ok(SentenceSupport { independent: count_independent(witnesses), by_most })
}

/// Returns the lesson of a GHAP: its takeaway, or else the approach that worked.
pub(super) fn load_lesson(connection: &Connection, ghap: Id) -> StoreResult<Option<Clean>> {
    Ok(connection
        .prepare_cached(
            "SELECT coalesce(takeaway, what_worked) FROM ghap WHERE uid = ?1 AND status != 'abandoned'",
        )?
        .query_row([ghap], |row| row.get(0))
        .optional()?
        .flatten())
}
