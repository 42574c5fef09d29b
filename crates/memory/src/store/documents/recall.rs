//! What is recalled for a query: what fits, ordered by what counts beside the fit, each thing once.

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

/// Whoever wants more than these, or only those of some kind of work or end, has more looked at.
const FEW: usize = 20;
const MANY: usize = 400;

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
    /// What came of it when it was shown.
    pub effects: Effects,
    /// Whether it fits well enough to be put before somebody who did not ask, and has not done more harm than good.
    pub above_floor: bool,
    /// How many others say the same.
    pub others: usize,
    /// What it says, in short.
    pub text: Clean,
    /// How it ended, where it is an experience.
    pub outcome: Option<Status>,
}

impl Store {
    /// What fits a query, best first.
    pub fn recall(&mut self, ask: &Ask<'_>, now: Time) -> Result<Vec<Recall>, StoreError> {
        self.bring_up_to_date()?;
        recall(&self.connection, &self.files, ask, u32::MAX, now)
    }
}

/// What fits a query, best first, of what is indexed: in the files, and of what is in none yet so much.
pub(crate) fn recall(
    connection: &Connection,
    files: &Files,
    ask: &Ask<'_>,
    unfiled: u32,
    now: Time,
) -> Result<Vec<Recall>, StoreError> {
    // One moment for everything: a statement by itself would lock and unlock the database, which takes longer than it.
    let moment = connection.unchecked_transaction()?;
    let own = match ask.place {
        Some(place) => projects::find(&moment, place)?,
        None => None,
    };
    // A place that nothing was ever written about has only what holds everywhere.
    let project = if ask.place.is_some() && !ask.all { Some(own.unwrap_or(-1)) } else { None };
    let (axis, kind) = (ask.axis, ask.kind);
    let mut query = Query { axis, kind, project, unfiled, ..Query::new(ask.text) };
    // What is asked for may be far behind.
    if ask.limit > FEW || ask.domain.is_some() || ask.outcome.is_some() {
        query.kept = MANY;
    }
    let mut hits = find(&moment, files, &query)?.into_iter().peekable();
    let mut ranked: Vec<Recall> = Vec::new();
    let mut kept = Kept::new(ask.limit);
    loop {
        // A rank is at most the score, so what is ahead of every score to come is the next; the rest is not even read.
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
        // What an imported row says of its evidence does not rank it.
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
    /// Best first; ties by identity.
    fn order(&self, other: &Self) -> Ordering {
        other.rank.total_cmp(&self.rank).then(self.hit.row.cmp(&other.hit.row))
    }
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
struct Kept {
    all: Vec<Recall>,
    limit: usize,
}

impl Kept {
    fn new(limit: usize) -> Self {
        Self { all: Vec::new(), limit }
    }

    /// Takes the next best; says whether there may be more to take.
    fn take(&mut self, recall: Recall) -> bool {
        // What was tried twice in the same words and ended otherwise is two things to know.
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
