//! Premortem of a failure: statistics and lessons from earlier hypotheses of a project, if there is anything to act on.

use std::cmp::Reverse;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::documents::{DocumentQuery, MAX_UNINDEXED_IN_HOOK, find_documents};
use super::entry::ProjectPlace;
use super::hook_store::HookStore;
use super::{StoreResult, effects, injections, origins, projects, relevant_values};
use crate::document::Axis;
use crate::ghap::{CauseCategory, GhapStatus, Strategy};
use crate::value::{self, Value};
use crate::{Clean, Id, Time};
use rutter_search::score::MIN_CONFIDENCE;

/// Minimum number of resolved hypotheses for any statistics, and of uses of a strategy for judging it.
pub const MIN_CASES: u32 = 5;
/// Maximum number of hypotheses that are counted, the newest.
const MAX_COUNTED_GHAPS: u32 = 200;
/// Minimum number of times that a root cause was found before it is shown.
const MIN_CAUSE_COUNT: u32 = 3;
/// Minimum difference of two hit rates for showing one strategy as better than another.
const MIN_RATE_DIFFERENCE: f64 = 0.3;
/// Maximum numbers of lessons from similar failures, and of values, that are shown.
const MAX_LESSONS: usize = 2;
const MAX_PRINCIPLES: usize = 2;

/// A lesson with the row that has it.
type RowLesson = (Id, Clean);

/// Statistics and lessons from earlier hypotheses that are relevant to a failure.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Premortem {
    /// Number of resolved hypotheses, of the last two hundred.
    pub resolved: u32,
    /// Number of falsified ones among them.
    pub falsified: u32,
    /// Strategies with different hit rates, the best first: how often each was right and wrong.
    pub strategies: Vec<(Strategy, u32, u32)>,
    /// The root cause of at least half of the falsified hypotheses, its count, and the newest lesson from it with its
    /// row.
    pub cause: Option<(CauseCategory, u32, RowLesson)>,
    /// Lessons from hypotheses about similar failures: row, confidence, and text.
    pub lessons: Vec<(Id, f64, Clean)>,
    /// Values that are relevant to the failure, with their confidence.
    pub principles: Vec<(Value, f64)>,
}

impl Premortem {
    /// Returns the rows with a text that is shown.
    pub fn rows(&self) -> impl Iterator<Item = Id> {
        let cause = self.cause.iter().map(|(_, _, (row, _))| *row);
        let lessons = self.lessons.iter().map(|(row, ..)| *row);
        cause.chain(lessons).chain(self.principles.iter().map(|(value, _)| value.id))
    }

    /// Returns true if there is nothing to act on.
    fn is_empty(&self) -> bool {
        self.strategies.is_empty()
            && self.cause.is_none()
            && self.lessons.is_empty()
            && self.principles.is_empty()
    }
}

impl HookStore {
    /// Returns the premortem of a failure with this text. None if the session was already shown one, or if there is
    /// nothing to act on.
    pub fn premortem(
        &self,
        place: &ProjectPlace,
        client: &str,
        failure: &str,
        now: Time,
    ) -> StoreResult<Option<Premortem>> {
        let connection = &self.connection;
        let warned: bool = connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM session WHERE client = ?1 AND warned)")?
            .query_row([client], |row| row.get(0))?;
        if warned {
            return Ok(None);
        }
        let mut premortem = Premortem::default();
        if let Some(project) = projects::find_project(connection, place)? {
            let counted = count_hypotheses(connection, project)?;
            if counted.resolved >= MIN_CASES {
                premortem = counted;
                premortem.lessons = self.similar_lessons(project, failure)?;
            }
        }
        for near in relevant_values::relevant_values(connection, place, false, failure)? {
            if premortem.principles.len() < MAX_PRINCIPLES
                && near.is_above_floor()
                // A value that would be truncated is not shown.
                && value::is_sentence(&near.value.text)
                // Only the main agent is shown a premortem.
                && !injections::is_in_context(connection, client, None, near.value.id, now)?
            {
                premortem.principles.push((near.value, near.confidence));
            }
        }
        Ok((!premortem.is_empty()).then_some(premortem))
    }

    /// Returns lessons from falsified hypotheses with a similar surprise.
    fn similar_lessons(&self, project: i64, failure: &str) -> StoreResult<Vec<(Id, f64, Clean)>> {
        let query = DocumentQuery {
            axis: Axis::Surprise,
            project: Some(project),
            max_unindexed: MAX_UNINDEXED_IN_HOOK,
            ..DocumentQuery::new(failure)
        };
        let moment = self.connection.unchecked_transaction()?;
        let hits = find_documents(&moment, &self.files, &query)?;
        let mut lessons: Vec<(Id, f64, Clean)> = Vec::new();
        for hit in hits.into_iter().filter(|hit| hit.confidence >= MIN_CONFIDENCE).take(MAX_LESSONS)
        {
            if effects::total_effects(&moment, hit.row)?.is_harmful() {
                continue;
            }
            let learnt: Option<Option<Clean>> = moment
                .prepare_cached(&format!(
                    "SELECT coalesce(takeaway, surprise) FROM ghap WHERE uid = ?1 AND status = 'falsified' AND {}",
                    origins::own_row_condition("ghap.uid")
                ))?
                .query_row([hit.row], |row| row.get(0))
                .optional()?;
            if let Some(learnt) = learnt.flatten()
                && lessons.iter().all(|(_, _, known)| *known != learnt)
            {
                lessons.push((hit.row, hit.confidence, learnt));
            }
        }
        Ok(lessons)
    }
}

/// Counts the resolved hypotheses of a project and keeps the statistics that can be acted on.
fn count_hypotheses(connection: &Connection, project: i64) -> StoreResult<Premortem> {
    let mut premortem = Premortem::default();
    let mut strategies: Vec<(Strategy, u32, u32)> = Vec::new();
    // With the newest lesson from each cause.
    let mut causes: Vec<(CauseCategory, u32, Option<RowLesson>)> = Vec::new();
    let mut rows = connection.prepare_cached(&format!(
        "SELECT status, strategy, cause, takeaway, uid FROM ghap
         WHERE project = ?1 AND status IN ('confirmed', 'falsified') AND {}
         ORDER BY resolved DESC LIMIT ?2",
        origins::own_row_condition("ghap.uid")
    ))?;
    let mut rows = rows.query(params![project, MAX_COUNTED_GHAPS])?;
    while let Some(row) = rows.next()? {
        let (status, strategy): (GhapStatus, Strategy) = (row.get(0)?, row.get(1)?);
        let wrong = status == GhapStatus::Falsified;
        premortem.resolved += 1;
        premortem.falsified += u32::from(wrong);
        let at = strategies.iter().position(|known| known.0 == strategy).unwrap_or_else(|| {
            strategies.push((strategy, 0, 0));
            strategies.len() - 1
        });
        strategies[at].1 += u32::from(!wrong);
        strategies[at].2 += u32::from(wrong);
        if let Some(cause) = row.get::<_, Option<CauseCategory>>(2)?.filter(|_| wrong) {
            let id = row.get(4)?;
            let lesson = row.get::<_, Option<Clean>>(3)?.map(|lesson| (id, lesson));
            match causes.iter_mut().find(|known| known.0 == cause) {
                Some((_, times, newest)) => {
                    *times += 1;
                    *newest = newest.take().or(lesson);
                }
                None => causes.push((cause, 1, lesson)),
            }
        }
    }
    premortem.strategies = distinguishing_strategies(strategies);
    causes.sort_by_key(|(cause, times, _)| (Reverse(*times), cause.as_str()));
    premortem.cause = causes.into_iter().next().and_then(|(cause, times, lesson)| {
        let is_frequent = times >= MIN_CAUSE_COUNT && times * 2 >= premortem.falsified;
        lesson.filter(|_| is_frequent).map(|lesson| (cause, times, lesson))
    });
    Ok(premortem)
}

/// Returns the best and the worst of the strategies that were used often enough, if they differ, or a single one that
/// is mostly wrong.
fn distinguishing_strategies(
    mut strategies: Vec<(Strategy, u32, u32)>,
) -> Vec<(Strategy, u32, u32)> {
    let rate =
        |(_, right, wrong): &(Strategy, u32, u32)| f64::from(*right) / f64::from(right + wrong);
    strategies.retain(|(_, right, wrong)| right + wrong >= MIN_CASES);
    strategies.sort_by(|one, other| {
        rate(other).total_cmp(&rate(one)).then_with(|| one.0.as_str().cmp(other.0.as_str()))
    });
    match strategies.as_slice() {
        [only] if only.2 > only.1 => vec![*only],
        [best, .., worst] if rate(best) - rate(worst) >= MIN_RATE_DIFFERENCE => vec![*best, *worst],
        _ => Vec::new(),
    }
}
