//! What is recalled for a query: what fits, ordered by what counts beside the fit, each thing once.

use rusqlite::{Connection, OptionalExtension as _};

use super::find::{Hit, Query, find};
use crate::ghap::{Domain, Status, Tier};
use crate::search::document::{Axis, Kind};
use crate::search::rank::prior;
use crate::search::score::FLOOR;
use crate::store::entry::Place;
use crate::store::{Store, StoreError, projects};
use crate::{Clean, Id, Time};

/// Two texts so near each other say the same.
const SAME: f32 = 0.97;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// In words.
    pub text: &'a str,
    /// On which axis.
    pub axis: Axis,
    /// For which project: its own documents and those of everywhere; none is everybody's.
    pub place: Option<&'a Place>,
    /// Others' as well, behind.
    pub all: bool,
    /// Only of this kind.
    pub kind: Option<Kind>,
    /// Only experiences of this kind of work.
    pub domain: Option<Domain>,
    /// Only experiences that ended so.
    pub outcome: Option<Status>,
    /// At most so many.
    pub limit: usize,
}

/// One thing that was recalled.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// What fits, and how well.
    pub hit: Hit,
    /// What counts beside that.
    pub prior: f64,
    /// Both: what it is ordered by.
    pub rank: f64,
    /// Whether it fits well enough to be put before somebody who did not ask.
    pub above_floor: bool,
    /// How many others say the same.
    pub others: usize,
    /// What it says, in short.
    pub text: Clean,
}

impl Store {
    /// What fits a query, best first.
    pub fn recall(&mut self, ask: &Ask<'_>, now: Time) -> Result<Vec<Recall>, StoreError> {
        self.bring_up_to_date()?;
        recall(&self.connection, ask, now)
    }
}

/// What fits a query, best first, of what is indexed.
pub(crate) fn recall(
    connection: &Connection,
    ask: &Ask<'_>,
    now: Time,
) -> Result<Vec<Recall>, StoreError> {
    let own = match ask.place {
        Some(place) => projects::find(connection, place)?,
        None => None,
    };
    // A place that nothing was ever written about has only what holds everywhere.
    let project = if ask.place.is_some() && !ask.all { Some(own.unwrap_or(-1)) } else { None };
    let query = Query { axis: ask.axis, project, ..Query::new(ask.text) };
    let mut found = Vec::new();
    for hit in find(connection, &query)? {
        if ask.kind.is_some_and(|kind| kind != hit.kind) || hit.score <= 0.0 {
            continue;
        }
        let Some(row) = described(connection, hit.kind, hit.row)? else { continue };
        let wanted = ask.domain.is_none_or(|domain| row.domain == Some(domain))
            && ask.outcome.is_none_or(|outcome| row.status == Some(outcome));
        if !wanted {
            continue;
        }
        let elsewhere = hit.project.is_some() && own.is_some() && hit.project != own;
        let prior = prior(elsewhere, row.tier, now.since(hit.at));
        let (rank, above_floor) = (hit.score * prior, hit.confidence >= FLOOR);
        found.push(Recall { hit, prior, rank, above_floor, others: 0, text: row.text });
    }
    found.sort_by(|one, other| {
        other.rank.total_cmp(&one.rank).then(one.hit.row.cmp(&other.hit.row))
    });
    Ok(each_once(found, ask.limit))
}

/// What is known of the row behind a document.
pub(super) fn described(
    connection: &Connection,
    kind: Kind,
    row: Id,
) -> Result<Option<Described>, StoreError> {
    let query = match kind {
        Kind::Memory => "SELECT text, NULL, NULL, NULL FROM memory WHERE uid = ?1",
        Kind::Experience => {
            "SELECT coalesce(takeaway, what_worked, cause_text, surprise, goal), tier, domain, status
             FROM ghap WHERE uid = ?1"
        }
        Kind::Episode => {
            "SELECT coalesce(test || ': ', '') || error, NULL, NULL, NULL FROM episode WHERE uid = ?1"
        }
    };
    Ok(connection
        .prepare_cached(query)?
        .query_row([row], |row| {
            Ok(Described {
                text: row.get(0)?,
                tier: row.get(1)?,
                domain: row.get(2)?,
                status: row.get(3)?,
            })
        })
        .optional()?)
}

pub(super) struct Described {
    pub(super) text: Clean,
    tier: Option<Tier>,
    domain: Option<Domain>,
    status: Option<Status>,
}

/// Of those that say the same, the first.
fn each_once(found: Vec<Recall>, limit: usize) -> Vec<Recall> {
    let mut kept: Vec<Recall> = Vec::new();
    for recall in found {
        let same = |other: &Recall| match (&recall.hit.vector, &other.hit.vector) {
            (Some(one), Some(other)) => one.cosine(other) >= SAME,
            _ => recall.text == other.text,
        };
        if let Some(first) = kept.iter_mut().find(|kept| same(kept)) {
            first.others += 1;
        } else if kept.len() < limit {
            kept.push(recall);
        } else {
            break;
        }
    }
    kept
}
