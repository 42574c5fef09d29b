//! Recall of earlier episodes that match the failures of a run.

use rusqlite::{Connection, params};

use super::select_episodes;
use crate::episode::{Episode, RecurrenceKind, best_change, can_show};
use crate::origin::UnconfirmedReason;
use crate::run::CapturedRun;
use crate::store::entry::ProjectPlace;
use crate::store::{StoreResult, effects, injections, origins};
use crate::{Clean, Time};

/// Maximum number of earlier episodes, per test or signature, that a failure is compared with.
const MAX_COMPARED_EPISODES: u32 = 20;

/// Maximum number of episodes recalled for one run.
const MAX_RECALLED_EPISODES: usize = 3;

/// An episode that matches a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledEpisode {
    /// The episode.
    pub episode: Episode,
    /// The reason for recalling it.
    pub why: RecurrenceKind,
    /// Number of times the failure or test was fixed.
    pub times: u32,
    /// True if the output shows the cause of the failure, so that it is known to be the same one.
    pub is_cause_seen: bool,
    /// The reason to mark it as unconfirmed.
    pub unconfirmed: Option<UnconfirmedReason>,
}

/// Returns the episodes that match a run, newest first: those of the same failures, or else those of the same tests.
/// Leaves out episodes in the agent's context, because they were shown to it or because it fixed them itself.
pub(crate) fn recall_episodes(
    connection: &Connection,
    project: i64,
    place: &ProjectPlace,
    client: &str,
    agent: Option<&Clean>,
    run: &CapturedRun,
) -> StoreResult<Vec<RecalledEpisode>> {
    let (mut same, mut other) = (Vec::new(), Vec::new());
    for fault in &run.faults {
        // The test of another package may have the same signature.
        let known = match &fault.signature {
            Some(signature) => {
                let mut of_shape = newest_fixed(connection, project, "signature", signature)?;
                of_shape.retain(|episode| episode.is_about(fault));
                choose_best(of_shape)
            }
            None => None,
        };
        let mut of_test = match (&known, &fault.test) {
            (None, Some(test)) => newest_fixed(connection, project, "test", test)?,
            _ => Vec::new(),
        };
        of_test.retain(|episode| episode.is_of_test(fault));
        // A known failure must not be shown as a different failure of its test.
        let known = known.or_else(|| {
            choose_best(of_test.iter().filter(|episode| episode.is_about(fault)).cloned().collect())
        });
        match known {
            Some(episode) => same.push(episode),
            None => other.extend(choose_best(of_test)),
        }
    }
    for (mut found, why) in [(same, RecurrenceKind::Failure), (other, RecurrenceKind::Test)] {
        let ended = |episode: &Episode| episode.ending.as_ref().map(|ending| ending.at);
        found.sort_by_key(|episode| (can_show(episode) == Some(true), ended(episode)));
        let mut recalled: Vec<RecalledEpisode> = Vec::new();
        for episode in found.into_iter().rev() {
            if recalled.len() == MAX_RECALLED_EPISODES {
                break;
            }
            // One change may have fixed several tests.
            let is_repeated = recalled.iter().any(|one| has_same_fix(&one.episode, &episode));
            if !is_repeated
                && !injections::is_in_context(
                    connection,
                    client,
                    agent,
                    episode.id,
                    run.outcome.at,
                )?
                && !was_fixed_by_agent(connection, client, agent, &episode, run.outcome.at)?
                && !effects::total_effects(connection, episode.id)?.is_harmful()
            {
                let times = match (why, &episode.test) {
                    (RecurrenceKind::Test, Some(test)) => {
                        count_fixed(connection, project, "test", test)?
                    }
                    _ => count_fixed(connection, project, "signature", &episode.signature)?,
                };
                let of_it = run.faults.iter().find(|fault| episode.is_of_test(fault));
                let is_cause_seen =
                    episode.error.is_empty() || of_it.is_none_or(|fault| !fault.error.is_empty());
                let unconfirmed = origins::unconfirmed_reason(connection, episode.id, place)?;
                recalled.push(RecalledEpisode { episode, why, times, is_cause_seen, unconfirmed });
            }
        }
        // Only one episode is shown for a test that failed differently before.
        if why == RecurrenceKind::Test {
            recalled.truncate(1);
        }
        if !recalled.is_empty() {
            return Ok(recalled);
        }
    }
    Ok(Vec::new())
}

/// Returns true if the best changes of two episodes are the same.
fn has_same_fix(one: &Episode, other: &Episode) -> bool {
    let change = |episode: &Episode| {
        let best = best_change(episode.ending.as_ref()?)?;
        Some((best.name.clone(), best.patch.clone()))
    };
    change(one) == change(other)
}

/// Returns the newest episode with a certain fix, or else the newest that can be shown. `episodes` are sorted newest
/// first.
fn choose_best(episodes: Vec<Episode>) -> Option<Episode> {
    let mut shown: Vec<Episode> =
        episodes.into_iter().filter(|episode| can_show(episode).is_some()).collect();
    let at = shown.iter().position(|episode| can_show(episode) == Some(true)).unwrap_or(0);
    (!shown.is_empty()).then(|| shown.swap_remove(at))
}

/// Returns true if this agent fixed an episode in this session, and its context was not cleared since.
pub(crate) fn was_fixed_by_agent(
    connection: &Connection,
    client: &str,
    agent: Option<&Clean>,
    episode: &Episode,
    now: Time,
) -> StoreResult<bool> {
    let closing = episode.ending.as_ref().and_then(|ending| ending.outcome);
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM outcome JOIN session ON session.id = outcome.session
                            WHERE outcome.uid = ?1 AND session.client = ?2 AND outcome.agent IS ?3
                              AND (session.refreshed IS NULL OR outcome.at >= session.refreshed OR session.refreshed > ?4))",
        )?
        .query_row(params![closing, client, agent, now], |row| row.get(0))?)
}

fn newest_fixed(
    connection: &Connection,
    project: i64,
    column: &'static str,
    value: &Clean,
) -> StoreResult<Vec<Episode>> {
    let find = |condition: &str| {
        let rest = format!(
            "WHERE episode.project = ?1 AND episode.{column} = ?2 AND how = 'fixed' AND {condition}
             ORDER BY ended DESC, episode.id DESC LIMIT ?3"
        );
        select_episodes(connection, &rest, params![project, value, MAX_COMPARED_EPISODES])
    };
    let all = find("TRUE")?;
    if all.is_empty() {
        return Ok(all);
    }
    // Episodes that happened here take precedence over imported ones.
    let own = find(&origins::own_row_condition("episode.uid"))?;
    Ok(if own.is_empty() { all } else { own })
}

fn count_fixed(
    connection: &Connection,
    project: i64,
    column: &'static str,
    value: &Clean,
) -> StoreResult<u32> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT count(*) FROM episode WHERE project = ?1 AND {column} = ?2 AND how = 'fixed'"
        ))?
        .query_row(params![project, value], |row| row.get(0))?)
}
