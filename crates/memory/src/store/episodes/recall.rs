//! Which episode a failure brings back.

use rusqlite::{Connection, params};

use super::select;
use crate::episode::{Again, Episode};
use crate::runs::run::Run;
use crate::store::{StoreError, effects, injections};
use crate::{Clean, Time};

/// How many of a test's failures are compared with a new one.
const OF_TEST: u32 = 20;

/// An episode that a failure brings back.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// Which.
    pub episode: Episode,
    /// Why.
    pub why: Again,
    /// How often it was fixed.
    pub times: u32,
}

/// The episode that a run brings back: the newest that was fixed, of the same failure, else of the same test. Not one that
/// the agent has before it: because it was shown, or because it fixed it itself.
pub(crate) fn recall(
    connection: &Connection,
    project: i64,
    client: &str,
    agent: Option<&Clean>,
    run: &Run,
) -> Result<Option<Recalled>, StoreError> {
    let (mut same, mut other) = (Vec::new(), Vec::new());
    for fault in &run.faults {
        let known = match &fault.signature {
            Some(signature) => newest(connection, project, "signature", signature, 1)?.pop(),
            None => None,
        };
        let of_test = match (&known, &fault.test) {
            (None, Some(test)) => newest(connection, project, "test", test, OF_TEST)?,
            _ => Vec::new(),
        };
        // A failure that is known is not told as another one of its test.
        let known =
            known.or_else(|| of_test.iter().find(|episode| episode.is_about(fault)).cloned());
        match known {
            Some(episode) => same.push(episode),
            None => other.extend(of_test.into_iter().next()),
        }
    }
    for (found, why) in [(same, Again::Failure), (other, Again::Test)] {
        let mut fit: Option<Episode> = None;
        for episode in found {
            let ended = |episode: &Episode| episode.ending.as_ref().map(|ending| ending.at);
            if fit.as_ref().is_none_or(|fit| ended(fit) < ended(&episode))
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
                fit = Some(episode);
            }
        }
        if let Some(episode) = fit {
            let times = match (why, &episode.test) {
                (Again::Test, Some(test)) => count(connection, project, "test", test)?,
                _ => count(connection, project, "signature", &episode.signature)?,
            };
            return Ok(Some(Recalled { episode, why, times }));
        }
    }
    Ok(None)
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
    most: u32,
) -> Result<Vec<Episode>, StoreError> {
    let rest = format!(
        "WHERE episode.project = ?1 AND episode.{column} = ?2 AND how = 'fixed'
         ORDER BY ended DESC, episode.id DESC LIMIT ?3"
    );
    select(connection, &rest, params![project, value, most])
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
