//! Which episode a failure brings back.

use rusqlite::{Connection, params};

use super::select;
use crate::episode::{Again, Episode, best_change, can_show};
use crate::origin::Unconfirmed;
use crate::run::Run;
use crate::store::entry::Place;
use crate::store::{StoreError, effects, injections, origins};
use crate::{Clean, Time};

/// How many earlier failures of a test, or of a shape, are compared with a new one.
const MAX_COMPARED: u32 = 20;

/// How many episodes one run brings back.
const MAX_RECALLED: usize = 3;

/// An episode that a failure brings back.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// Which.
    pub episode: Episode,
    /// Why.
    pub why: Again,
    /// How often it was fixed.
    pub times: u32,
    /// The output shows why the test failed, so that it is known to be the same failure.
    pub is_cause_seen: bool,
    /// The reason to mark it.
    pub unconfirmed: Option<Unconfirmed>,
}

/// The episodes that a run brings back, newest first: of the same failures, else of the same test. Not those that the agent has
/// before it: because they were shown, or because it fixed them itself.
pub(crate) fn recall(
    connection: &Connection,
    project: i64,
    place: &Place,
    client: &str,
    agent: Option<&Clean>,
    run: &Run,
) -> Result<Vec<Recalled>, StoreError> {
    let (mut same, mut other) = (Vec::new(), Vec::new());
    for fault in &run.faults {
        // The same shape may be that of another package's test.
        let known = match &fault.signature {
            Some(signature) => {
                let mut of_shape = newest(connection, project, "signature", signature)?;
                of_shape.retain(|episode| episode.is_about(fault));
                best(of_shape)
            }
            None => None,
        };
        let mut of_test = match (&known, &fault.test) {
            (None, Some(test)) => newest(connection, project, "test", test)?,
            _ => Vec::new(),
        };
        of_test.retain(|episode| episode.is_of_test(fault));
        // A failure that is known is not told as another one of its test.
        let known = known.or_else(|| {
            best(of_test.iter().filter(|episode| episode.is_about(fault)).cloned().collect())
        });
        match known {
            Some(episode) => same.push(episode),
            None => other.extend(best(of_test)),
        }
    }
    for (mut found, why) in [(same, Again::Failure), (other, Again::Test)] {
        let ended = |episode: &Episode| episode.ending.as_ref().map(|ending| ending.at);
        found.sort_by_key(|episode| (can_show(episode) == Some(true), ended(episode)));
        let mut recalled: Vec<Recalled> = Vec::new();
        for episode in found.into_iter().rev() {
            if recalled.len() == MAX_RECALLED {
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
                && !fixed_here(connection, client, agent, &episode, run.outcome.at)?
                && !effects::ever(connection, episode.id)?.is_harmful()
            {
                let times = match (why, &episode.test) {
                    (Again::Test, Some(test)) => count(connection, project, "test", test)?,
                    _ => count(connection, project, "signature", &episode.signature)?,
                };
                let of_it = run.faults.iter().find(|fault| episode.is_of_test(fault));
                let is_cause_seen =
                    episode.error.is_empty() || of_it.is_none_or(|fault| !fault.error.is_empty());
                let unconfirmed = origins::unconfirmed(connection, episode.id, place)?;
                recalled.push(Recalled { episode, why, times, is_cause_seen, unconfirmed });
            }
        }
        // The earlier cause of another failure is said of one alone.
        if why == Again::Test {
            recalled.truncate(1);
        }
        if !recalled.is_empty() {
            return Ok(recalled);
        }
    }
    Ok(Vec::new())
}

/// Returns true if the best change of both is the same.
fn has_same_fix(one: &Episode, other: &Episode) -> bool {
    let change = |episode: &Episode| {
        let best = best_change(episode.ending.as_ref()?)?;
        Some((best.name.clone(), best.patch.clone()))
    };
    change(one) == change(other)
}

/// Of episodes, newest first, the newest whose fix is certain, else the newest of which anything can be shown.
fn best(episodes: Vec<Episode>) -> Option<Episode> {
    let mut shown: Vec<Episode> =
        episodes.into_iter().filter(|episode| can_show(episode).is_some()).collect();
    let at = shown.iter().position(|episode| can_show(episode) == Some(true)).unwrap_or(0);
    (!shown.is_empty()).then(|| shown.swap_remove(at))
}

/// Whether this agent fixed it in this session, and nothing has emptied its context since.
fn fixed_here(
    connection: &Connection,
    client: &str,
    agent: Option<&Clean>,
    episode: &Episode,
    now: Time,
) -> Result<bool, StoreError> {
    let closing = episode.ending.as_ref().and_then(|ending| ending.outcome);
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM outcome JOIN session ON session.id = outcome.session
                            WHERE outcome.uid = ?1 AND session.client = ?2 AND outcome.agent IS ?3
                              AND (session.refreshed IS NULL OR outcome.at >= session.refreshed OR session.refreshed > ?4))",
        )?
        .query_row(params![closing, client, agent, now], |row| row.get(0))?)
}

fn newest(
    connection: &Connection,
    project: i64,
    column: &'static str,
    value: &Clean,
) -> Result<Vec<Episode>, StoreError> {
    let find = |condition: &str| {
        let rest = format!(
            "WHERE episode.project = ?1 AND episode.{column} = ?2 AND how = 'fixed' AND {condition}
             ORDER BY ended DESC, episode.id DESC LIMIT ?3"
        );
        select(connection, &rest, params![project, value, MAX_COMPARED])
    };
    let all = find("TRUE")?;
    if all.is_empty() {
        return Ok(all);
    }
    // What happened here goes before what a file says.
    let own = find(&origins::is_own("episode.uid"))?;
    Ok(if own.is_empty() { all } else { own })
}

fn count(
    connection: &Connection,
    project: i64,
    column: &'static str,
    value: &Clean,
) -> Result<u32, StoreError> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT count(*) FROM episode WHERE project = ?1 AND {column} = ?2 AND how = 'fixed'"
        ))?
        .query_row(params![project, value], |row| row.get(0))?)
}
