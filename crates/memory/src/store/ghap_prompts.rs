//! The GHAP prompts of hooks in the database: the active GHAP of an agent, the time to ask about it, and verdicts of
//! runs on it.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::entry::{ParkedRows, ProjectPlace};
use super::hook_store::HookStore;
use super::{StoreResult, episodes, ghaps, origins, outcomes, projects, sessions};
use crate::episode::Episode;
use crate::ghap::{Ghap, PredictionVerdict};
use crate::outcome::Outcome;
use crate::{Clean, Id, Time};

/// Age at which recalled rows are dropped, because their subagent never started.
const MAX_PARKED_AGE: Duration = Duration::from_mins(2);

/// Counts a tool call for the session and for the agent's active GHAP.
pub(crate) fn count_tool_call(
    connection: &Connection,
    session: i64,
    agent: Option<&Clean>,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE session SET calls = calls + 1 WHERE id = ?1")?
        .execute([session])?;
    connection
        .prepare_cached(
            "UPDATE ghap SET calls = calls + 1 WHERE session = ?1 AND agent = ?2 AND status = 'active'",
        )?
        .execute(params![session, agent.map(Clean::as_str).unwrap_or_default()])?;
    Ok(())
}

/// Returns the number of tool calls since a GHAP was last changed or asked about, if it has reached `frequency`, and
/// resets it.
pub(crate) fn take_due_check_in(
    connection: &Connection,
    ghap: Id,
    frequency: u32,
) -> rusqlite::Result<Option<u32>> {
    let calls: u32 = connection
        .prepare_cached("SELECT calls FROM ghap WHERE uid = ?1")?
        .query_row([ghap], |row| row.get(0))?;
    if calls < frequency {
        return Ok(None);
    }
    connection.prepare_cached("UPDATE ghap SET calls = 0 WHERE uid = ?1")?.execute([ghap])?;
    Ok(Some(calls))
}

pub(crate) fn record_verdict(
    connection: &Connection,
    ghap: Id,
    told: PredictionVerdict,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE ghap SET told = ?2 WHERE uid = ?1 AND status = 'active'")?
        .execute(params![ghap, told])?;
    Ok(())
}

pub(crate) fn record_stop_prompt(connection: &Connection, ghap: Id) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE ghap SET stopped = 1 WHERE uid = ?1 AND status = 'active'")?
        .execute([ghap])?;
    Ok(())
}

pub(crate) fn record_control_cohort(connection: &Connection, session: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE session SET cohort = 'control' WHERE id = ?1")?
        .execute([session])?;
    Ok(())
}

pub(crate) fn record_ghap_offer(connection: &Connection, session: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE session SET offered = 1 WHERE id = ?1")?
        .execute([session])?;
    Ok(())
}

pub(crate) fn record_premortem(connection: &Connection, session: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE session SET warned = 1 WHERE id = ?1")?.execute([session])?;
    Ok(())
}

/// Removes parked rows. Returns false if they were removed before.
pub(crate) fn delete_parked_rows(connection: &Connection, parked: i64) -> rusqlite::Result<bool> {
    let deleted =
        connection.prepare_cached("DELETE FROM parked WHERE id = ?1")?.execute([parked])?;
    Ok(deleted > 0)
}

pub(crate) fn park_rows(
    connection: &Connection,
    session: i64,
    parked: &ParkedRows,
    at: Time,
) -> StoreResult {
    connection
        .prepare_cached("DELETE FROM parked WHERE session = ?1 AND at < ?2")?
        .execute(params![session, at.minus(MAX_PARKED_AGE)])?;
    connection
        .prepare_cached(
            "INSERT INTO parked (session, kind, prompt, rows, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            session,
            parked.kind,
            parked.prompt,
            serde_json::to_string(&parked.rows).unwrap_or_default(),
            at
        ])?;
    Ok(())
}

/// Abandons the open GHAPs of a session that has ended.
pub(crate) fn abandon_open_ghaps(connection: &Connection, session: i64, now: Time) -> StoreResult {
    let open = ghaps::select_ghaps(
        connection,
        // A GHAP that was started or changed later belongs to a session that was resumed.
        "WHERE ghap.session = ?1 AND status = 'active' AND ghap.changed <= ?2",
        &[&session, &now],
        |_| Ok(true),
        None,
    )?;
    for ghap in open {
        ghaps::abandon_ghap(connection, &ghap, "session ended", now)?;
    }
    Ok(())
}

/// The verdict of a run on an active GHAP, to be told to the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct RunVerdict {
    /// The GHAP.
    pub ghap: Ghap,
    /// The run.
    pub outcome: Outcome,
    /// The verdict.
    pub told: PredictionVerdict,
    /// The smallest number of failing tests, above zero, in the earlier runs that match the prediction's target.
    pub before: Option<usize>,
}

fn failing_count(outcome: &Outcome) -> usize {
    let counted = outcome.counts.map_or(0, |counts| counts.failed as usize);
    counted.max(outcome.failing.len())
}

/// Returns the active GHAPs of a project in sessions that are over, the newest first.
pub(crate) fn orphaned_ghaps(
    connection: &Connection,
    place: &ProjectPlace,
    client: &str,
    now: Time,
) -> StoreResult<Vec<Ghap>> {
    let Some(project) = projects::find_project(connection, place)? else {
        return Ok(Vec::new());
    };
    ghaps::select_ghaps(
        connection,
        "WHERE ghap.project = ?1 AND status = 'active' AND session.client != ?2 ORDER BY ghap.id DESC",
        &[&project, &client],
        |ghap| {
            let session = sessions::find_session(connection, &ghap.session)?;
            Ok(session.is_none_or(|session| session.is_over(now)))
        },
        Some(3),
    )
}

/// Returns the last run of each of the most recent commands.
pub(crate) fn last_runs(
    connection: &Connection,
    place: &ProjectPlace,
    most: usize,
) -> StoreResult<Vec<Outcome>> {
    let Some(project) = projects::find_project(connection, place)? else {
        return Ok(Vec::new());
    };
    let recent = outcomes::select_outcomes(
        connection,
        &format!(
            "WHERE outcome.project = ?1 AND {} ORDER BY outcome.at DESC, outcome.id DESC LIMIT 20",
            origins::own_row_condition("outcome.uid")
        ),
        [project],
    )?;
    let mut last: Vec<Outcome> = Vec::new();
    for outcome in recent {
        if last.len() < most && last.iter().all(|known| known.command != outcome.command) {
            last.push(outcome);
        }
    }
    Ok(last)
}

impl HookStore {
    /// Returns the active GHAP of an agent in a project.
    pub fn active_ghap(
        &self,
        place: &ProjectPlace,
        client: &str,
        agent: Option<&Clean>,
    ) -> StoreResult<Option<Ghap>> {
        let Some(project) = projects::find_project(&self.connection, place)? else {
            return Ok(None);
        };
        ghaps::find_ghap(
            &self.connection,
            "WHERE ghap.project = ?1 AND session.client = ?2 AND ghap.agent = ?3 AND status = 'active'",
            &[&project, &client, &agent.map(Clean::as_str).unwrap_or_default()],
        )
    }

    /// Returns true if any agent of a session has an active GHAP. Hooks ask this first because it is cheap and nearly
    /// always false.
    pub fn has_active_ghap(&self, client: &str) -> StoreResult<bool> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM session JOIN ghap ON ghap.session = session.id
                                WHERE session.client = ?1 AND ghap.status = 'active')",
            )?
            .query_row([client], |row| row.get(0))?)
    }

    /// Returns the verdict on a GHAP of the given run, or of the newest run that has one. None if the agent was already
    /// told.
    pub fn run_verdict(&self, ghap: Ghap, run: Option<Id>) -> StoreResult<Option<RunVerdict>> {
        let connection = &self.connection;
        let found = match run {
            Some(id) => outcomes::select_outcomes(connection, "WHERE outcome.uid = ?1", [id])?
                .pop()
                .and_then(|outcome| ghap.compare(&outcome).ok().map(|right| (outcome, right))),
            None => ghaps::newest_matching_run(connection, &ghap, true)?,
        };
        let Some((outcome, right)) = found else { return Ok(None) };
        let earlier = outcomes::select_outcomes(
            connection,
            "WHERE project.key = ?1 AND outcome.at >= ?2 AND outcome.at <= ?3 AND session.client = ?4
               AND outcome.uid != ?5 AND outcome.agent IS ?6
             ORDER BY outcome.at DESC, outcome.id DESC LIMIT 50",
            params![ghap.project, ghap.predicted, outcome.at, ghap.session, outcome.id, ghap.agent],
        )?;
        let earlier = earlier.iter().filter(|earlier| ghap.compare(earlier).is_ok());
        let before = earlier.map(failing_count).filter(|failing| *failing > 0).min();
        let now = failing_count(&outcome);
        let told = match right {
            true => PredictionVerdict::Matches,
            false if now > 0 && before.is_some_and(|before| now < before) => {
                PredictionVerdict::Partial
            }
            false => PredictionVerdict::Contradicts,
        };
        let last: Option<PredictionVerdict> = connection
            .prepare_cached("SELECT told FROM ghap WHERE uid = ?1")?
            .query_row([ghap.id], |row| row.get(0))
            .optional()?
            .flatten();
        // After "contradicts", "partial" is told once; "contradicts" is not told again after that.
        let news = match (last, told) {
            (Some(last), told) if last == told => false,
            (Some(PredictionVerdict::Partial), PredictionVerdict::Contradicts) => false,
            _ => true,
        };
        Ok(news.then_some(RunVerdict { ghap, outcome, told, before }))
    }

    /// Returns true if a session may be invited to start a GHAP: it was not invited before, it never had one, and it
    /// was shown nothing from memory for a failure.
    pub fn may_offer_ghap(&self, client: &str) -> StoreResult<bool> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM session WHERE client = ?1 AND NOT offered AND NOT warned
                     AND NOT EXISTS (SELECT 1 FROM ghap WHERE ghap.session = session.id)
                     AND NOT EXISTS (SELECT 1 FROM injection WHERE injection.session = session.id
                                     AND injection.agent IS NULL
                                     AND injection.event IN ('PostToolUse', 'PostToolUseFailure')))",
            )?
            .query_row([client], |row| row.get(0))?)
    }

    /// Returns true if the agent was already asked about a GHAP at the end of a turn.
    pub fn was_asked_at_stop(&self, ghap: Id) -> StoreResult<bool> {
        Ok(self
            .connection
            .prepare_cached("SELECT stopped FROM ghap WHERE uid = ?1")?
            .query_row([ghap], |row| row.get(0))?)
    }

    /// Returns the active GHAPs of a project in sessions that are over, the newest first.
    pub fn orphaned_ghaps(
        &self,
        place: &ProjectPlace,
        client: &str,
        now: Time,
    ) -> StoreResult<Vec<Ghap>> {
        orphaned_ghaps(&self.connection, place, client, now)
    }

    /// Returns the open episodes of a checkout, the last seen first.
    pub fn open_episodes(&self, place: &ProjectPlace, most: u32) -> StoreResult<Vec<Episode>> {
        let Some(project) = projects::find_project(&self.connection, place)? else {
            return Ok(Vec::new());
        };
        episodes::select_episodes(
            &self.connection,
            "WHERE episode.project = ?1 AND episode.root = ?2 AND how IS NULL
             ORDER BY episode.seen DESC, episode.id DESC LIMIT ?3",
            params![project, place.root, most],
        )
    }

    /// Returns a one-line summary of a session for the log.
    pub fn session_log_line(&self, client: &str) -> StoreResult<Option<Clean>> {
        let counted = self
            .connection
            .prepare_cached(
                "SELECT calls, (SELECT count(*) FROM outcome WHERE outcome.session = session.id),
                        (SELECT count(*) FROM ghap WHERE ghap.session = session.id),
                        (SELECT count(*) FROM injection WHERE injection.session = session.id)
                 FROM session WHERE client = ?1",
            )?
            .query_row([client], |row| {
                let (calls, runs): (i64, i64) = (row.get(0)?, row.get(1)?);
                let (ghaps, shown): (i64, i64) = (row.get(2)?, row.get(3)?);
                Ok(format!("session {client} ended: {calls} calls while a GHAP was open, {runs} runs, {ghaps} GHAPs, {shown} lessons shown"))
            })
            .optional()?;
        Ok(counted.map(|line| Clean::new(&line)))
    }

    /// Returns the last run of each of the most recent commands.
    pub fn last_runs(&self, place: &ProjectPlace, most: usize) -> StoreResult<Vec<Outcome>> {
        last_runs(&self.connection, place, most)
    }

    /// Returns the oldest rows that were recalled for a subagent of this type, with their key for
    /// [`Recorder::take_parked_rows`](super::recorder::Recorder::take_parked_rows).
    pub fn parked_rows(
        &self,
        client: &str,
        kind: &str,
        now: Time,
    ) -> StoreResult<Option<(i64, ParkedRows)>> {
        let parked = self
            .connection
            .prepare_cached(
                "SELECT parked.id, kind, prompt, rows
                 FROM parked JOIN session ON session.id = parked.session
                 WHERE session.client = ?1 AND kind = ?2 AND at >= ?3 ORDER BY parked.id LIMIT 1",
            )?
            .query_row(params![client, kind, now.minus(MAX_PARKED_AGE)], |row| {
                let rows: String = row.get(3)?;
                // Rows that cannot be read are taken like others, or the next subagent would find them again.
                let rows = serde_json::from_str(&rows).unwrap_or_default();
                let parked = ParkedRows { kind: row.get(1)?, prompt: row.get(2)?, rows };
                Ok((row.get(0)?, parked))
            })
            .optional()?;
        Ok(parked)
    }
}
