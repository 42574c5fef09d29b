//! Recall: search results ranked by fit and prior, without duplicates.

use std::cmp::Ordering;

use rusqlite::{Connection, OptionalExtension as _};

use super::query::DocumentQuery;
use super::search::{DocumentHit, find_documents};
use crate::document::{Axis, DocumentKind};
use crate::ghap::{Domain, GhapStatus, Tier};
use crate::injection::EffectCounts;
use crate::rank::rank_factor;
use crate::store::entry::ProjectPlace;
use crate::store::{DataDir, Store, StoreResult, effects, origins, projects};
use crate::{Clean, Id, Time};
use rutter_search::score::MIN_CONFIDENCE;

/// Limit up to which the default number of candidates is searched, and the number of candidates for a higher limit or a
/// filter.
const MAX_DEFAULT_LIMIT: usize = 20;
const EXTENDED_CANDIDATES: usize = 400;

/// Minimum cosine of two texts that count as duplicates.
const MIN_DUPLICATE_COSINE: f32 = 0.97;

/// A recall request.
#[derive(Debug, Clone, Copy)]
pub struct RecallRequest<'a> {
    /// The text.
    pub text: &'a str,
    /// The axis.
    pub axis: Axis,
    /// The project to search, together with documents for every project, or None for all documents.
    pub place: Option<&'a ProjectPlace>,
    /// True to include other projects, ranked lower.
    pub all: bool,
    /// Only this kind.
    pub kind: Option<DocumentKind>,
    /// Only experiences of this domain.
    pub domain: Option<Domain>,
    /// Only experiences with this status.
    pub outcome: Option<GhapStatus>,
    /// Maximum number of results.
    pub limit: usize,
}

/// A recalled row.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledRow {
    /// The document and its fit.
    pub hit: DocumentHit,
    /// The factor for everything but the fit: project, tier, age and effects.
    pub prior: f64,
    /// Score times prior. Results are sorted by it.
    pub rank: f64,
    /// Counts of the times that the row helped and hurt when it was shown.
    pub effects: EffectCounts,
    /// True if the row may be shown unasked: it fits well enough and has not done more harm than good.
    pub above_floor: bool,
    /// Number of duplicates that were left out.
    pub others: usize,
    /// The short text of the row.
    pub text: Clean,
    /// The status of an experience.
    pub outcome: Option<GhapStatus>,
}

impl Store {
    /// Returns the rows that fit a request, best first.
    pub fn recall(&mut self, ask: &RecallRequest<'_>, now: Time) -> StoreResult<Vec<RecalledRow>> {
        self.update_index()?;
        recall_rows(&self.connection, &self.files, ask, u32::MAX, now)
    }
}

/// Returns the indexed rows that fit a request, best first. Reads at most `unfiled` documents outside the search files.
pub(crate) fn recall_rows(
    connection: &Connection,
    files: &DataDir,
    ask: &RecallRequest<'_>,
    unfiled: u32,
    now: Time,
) -> StoreResult<Vec<RecalledRow>> {
    // One transaction for all statements: each alone would lock and unlock the database, which takes longer than the
    // statement.
    let moment = connection.unchecked_transaction()?;
    let own = match ask.place {
        Some(place) => projects::find_project(&moment, place)?,
        None => None,
    };
    // A place without a project row only has documents for every project.
    let project = if ask.place.is_some() && !ask.all { Some(own.unwrap_or(-1)) } else { None };
    let (axis, kind) = (ask.axis, ask.kind);
    let mut query = DocumentQuery {
        axis,
        kind,
        project,
        max_unindexed: unfiled,
        ..DocumentQuery::new(ask.text)
    };
    // The wanted rows may have low scores.
    if ask.limit > MAX_DEFAULT_LIMIT || ask.domain.is_some() || ask.outcome.is_some() {
        query.max_candidates = EXTENDED_CANDIDATES;
    }
    let mut hits = find_documents(&moment, files, &query)?.into_iter().peekable();
    let mut ranked: Vec<RecalledRow> = Vec::new();
    let mut kept = RecallResults::new(ask.limit);
    loop {
        // A rank is at most the score. So a row with a rank above the next score is the next result, and the rest is
        // not read.
        let best =
            (0..ranked.len()).min_by(|one, other| ranked[*one].compare_rank(&ranked[*other]));
        let next = hits.peek().map_or(f64::NEG_INFINITY, |hit| hit.score);
        match best {
            Some(best) if ranked[best].rank > next => {
                if !kept.add(ranked.swap_remove(best)) {
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
        let Some(row) = load_summary(&moment, hit.kind, hit.row)? else { continue };
        let wanted = ask.domain.is_none_or(|domain| row.domain == Some(domain))
            && ask.outcome.is_none_or(|outcome| row.status == Some(outcome));
        if !wanted {
            continue;
        }
        let elsewhere = hit.project.is_some() && own.is_some() && hit.project != own;
        let effects = effects::total_effects(&moment, hit.row)?;
        // The tier that an imported row claims does not improve its rank.
        let tier = match row.tier {
            Some(_) if origins::is_unconfirmed_import(&moment, hit.row)? => Some(Tier::Bronze),
            tier => tier,
        };
        let prior = rank_factor(elsewhere, tier, now.since(hit.at), effects);
        let rank = hit.score * prior;
        let above_floor = hit.confidence >= MIN_CONFIDENCE && !effects.is_harmful();
        let RowSummary { text, status: outcome, .. } = row;
        ranked.push(RecalledRow {
            hit,
            prior,
            rank,
            effects,
            above_floor,
            others: 0,
            text,
            outcome,
        });
    }
    Ok(kept.all)
}

impl RecalledRow {
    /// Compares by rank, best first; ties by id.
    fn compare_rank(&self, other: &Self) -> Ordering {
        other.rank.total_cmp(&self.rank).then(self.hit.row.cmp(&other.hit.row))
    }
}

/// Returns the short text and the properties of the row that a document belongs to.
pub(super) fn load_summary(
    connection: &Connection,
    kind: DocumentKind,
    row: Id,
) -> StoreResult<Option<RowSummary>> {
    let query = match kind {
        DocumentKind::Memory => "SELECT text, NULL, NULL, NULL FROM memory WHERE uid = ?1",
        DocumentKind::Experience => {
            "SELECT coalesce(takeaway, what_worked, cause_text, surprise, goal), tier, domain, status
             FROM ghap WHERE uid = ?1"
        }
        DocumentKind::Episode => {
            "SELECT coalesce(test || ': ', '') || error, NULL, NULL, NULL FROM episode WHERE uid = ?1"
        }
    };
    Ok(connection
        .prepare_cached(query)?
        .query_row([row], |row| {
            Ok(RowSummary {
                text: row.get(0)?,
                tier: row.get(1)?,
                domain: row.get(2)?,
                status: row.get(3)?,
            })
        })
        .optional()?)
}

pub(super) struct RowSummary {
    pub(super) text: Clean,
    tier: Option<Tier>,
    domain: Option<Domain>,
    status: Option<GhapStatus>,
}

/// The results so far, without duplicates.
struct RecallResults {
    all: Vec<RecalledRow>,
    limit: usize,
}

impl RecallResults {
    fn new(limit: usize) -> Self {
        Self { all: Vec::new(), limit }
    }

    /// Adds the next best row, or counts it as a duplicate. Returns false if the limit is reached.
    fn add(&mut self, recall: RecalledRow) -> bool {
        // The same attempt with two different outcomes is not a duplicate.
        let same = |other: &RecalledRow| {
            recall.outcome == other.outcome
                && match (&recall.hit.vector, &other.hit.vector) {
                    (Some(one), Some(other)) => one.cosine(other) >= MIN_DUPLICATE_COSINE,
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
