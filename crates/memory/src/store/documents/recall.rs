//! Recall: search results ranked by fit and prior, without duplicates.

use std::cmp::Ordering;

use rusqlite::{Connection, OptionalExtension as _};

use super::find::{Hit, Query, find};
use crate::document::{Axis, Kind};
use crate::ghap::{Domain, Status, Tier};
use crate::injection::Effects;
use crate::rank::prior;
use crate::store::entry::Place;
use crate::store::{Files, Store, StoreError, effects, origins, projects};
use crate::{Clean, Id, Time};
use rutter_search::score::FLOOR;

/// Limit up to which the default number of candidates is searched, and the number of candidates for a higher limit or a
/// filter.
const FEW: usize = 20;
const MANY: usize = 400;

/// Minimum cosine of two texts that count as duplicates.
const SAME: f32 = 0.97;

/// A recall request.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The text.
    pub text: &'a str,
    /// The axis.
    pub axis: Axis,
    /// The project to search, together with documents for every project, or None for all documents.
    pub place: Option<&'a Place>,
    /// True to include other projects, ranked lower.
    pub all: bool,
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Only experiences of this domain.
    pub domain: Option<Domain>,
    /// Only experiences with this status.
    pub outcome: Option<Status>,
    /// Maximum number of results.
    pub limit: usize,
}

/// A recalled row.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// The document and its fit.
    pub hit: Hit,
    /// The factor for everything but the fit: project, tier, age and effects.
    pub prior: f64,
    /// Score times prior. Results are sorted by it.
    pub rank: f64,
    /// Counts of the times that the row helped and hurt when it was shown.
    pub effects: Effects,
    /// True if the row may be shown unasked: it fits well enough and has not done more harm than good.
    pub above_floor: bool,
    /// Number of duplicates that were left out.
    pub others: usize,
    /// The short text of the row.
    pub text: Clean,
    /// The status of an experience.
    pub outcome: Option<Status>,
}

impl Store {
    /// Returns the rows that fit a request, best first.
    pub fn recall(&mut self, ask: &Ask<'_>, now: Time) -> Result<Vec<Recall>, StoreError> {
        self.bring_up_to_date()?;
        recall(&self.connection, &self.files, ask, u32::MAX, now)
    }
}

/// Returns the indexed rows that fit a request, best first. Reads at most `unfiled` documents outside the search files.
pub(crate) fn recall(
    connection: &Connection,
    files: &Files,
    ask: &Ask<'_>,
    unfiled: u32,
    now: Time,
) -> Result<Vec<Recall>, StoreError> {
    // One transaction for all statements: each alone would lock and unlock the database, which takes longer than the
    // statement.
    let moment = connection.unchecked_transaction()?;
    let own = match ask.place {
        Some(place) => projects::find(&moment, place)?,
        None => None,
    };
    // A place without a project row only has documents for every project.
    let project = if ask.place.is_some() && !ask.all { Some(own.unwrap_or(-1)) } else { None };
    let (axis, kind) = (ask.axis, ask.kind);
    let mut query = Query { axis, kind, project, unfiled, ..Query::new(ask.text) };
    // The wanted rows may have low scores.
    if ask.limit > FEW || ask.domain.is_some() || ask.outcome.is_some() {
        query.kept = MANY;
    }
    let mut hits = find(&moment, files, &query)?.into_iter().peekable();
    let mut ranked: Vec<Recall> = Vec::new();
    let mut kept = Kept::new(ask.limit);
    loop {
        // A rank is at most the score. So a row with a rank above the next score is the next result, and the rest is
        // not read.
        let best = (0..ranked.len()).min_by(|one, other| ranked[*one].order(&ranked[*other]));
        let next = hits.peek().map_or(f64::NEG_INFINITY, |hit| hit.score);
        match best {
            Some(best) if ranked[best].rank > next => {
                if !kept.take(ranked.swap_remove(best)) {
                    break;
                }
                continue;
            }
            _ => {}
        }
        let Some(hit) = hits.next() else { break };
        if hit.score <= 0.0 {
            continue;
        }
        let Some(row) = described(&moment, hit.kind, hit.row)? else { continue };
        let wanted = ask.domain.is_none_or(|domain| row.domain == Some(domain))
            && ask.outcome.is_none_or(|outcome| row.status == Some(outcome));
        if !wanted {
            continue;
        }
        let elsewhere = hit.project.is_some() && own.is_some() && hit.project != own;
        let effects = effects::ever(&moment, hit.row)?;
        // The tier that an imported row claims does not improve its rank.
        let tier = match row.tier {
            Some(_) if origins::is_unconfirmed_import(&moment, hit.row)? => Some(Tier::Bronze),
            tier => tier,
        };
        let prior = prior(elsewhere, tier, now.since(hit.at), effects);
        let rank = hit.score * prior;
        let above_floor = hit.confidence >= FLOOR && !effects.is_harmful();
        let Described { text, status: outcome, .. } = row;
        ranked.push(Recall { hit, prior, rank, effects, above_floor, others: 0, text, outcome });
    }
    Ok(kept.all)
}

impl Recall {
    /// Compares by rank, best first; ties by id.
    fn order(&self, other: &Self) -> Ordering {
        other.rank.total_cmp(&self.rank).then(self.hit.row.cmp(&other.hit.row))
    }
}

/// Returns the short text and the properties of the row behind a document.
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

/// The results so far, without duplicates.
struct Kept {
    all: Vec<Recall>,
    limit: usize,
}

impl Kept {
    fn new(limit: usize) -> Self {
        Self { all: Vec::new(), limit }
    }

    /// Adds the next best row, or counts it as a duplicate. Returns false if the limit is reached.
    fn take(&mut self, recall: Recall) -> bool {
        // The same attempt with two different outcomes is not a duplicate.
        let same = |other: &Recall| {
            recall.outcome == other.outcome
                && match (&recall.hit.vector, &other.hit.vector) {
                    (Some(one), Some(other)) => one.cosine(other) >= SAME,
                    _ => recall.text == other.text,
                }
        };
        if let Some(first) = self.all.iter_mut().find(|kept| same(kept)) {
            first.others += 1;
            return true;
        }
        let is_free = self.all.len() < self.limit;
        if is_free {
            self.all.push(recall);
        }
        is_free
    }
}
