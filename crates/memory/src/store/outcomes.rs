//! Captured test runs in the database.

use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::{Store, StoreResult};
use crate::outcome::{Outcome, TestCounts};
use crate::{Clean, Id, Time};

pub(crate) const SELECT: &str = "SELECT outcome.*, project.key AS project_key, session.client AS session_client
     FROM outcome JOIN project ON project.id = outcome.project LEFT JOIN session ON session.id = outcome.session";

/// Inserts a run and returns true, or returns false if it is already there.
pub(crate) fn insert_outcome(
    connection: &Connection,
    project: i64,
    session: Option<i64>,
    outcome: &Outcome,
) -> StoreResult<bool> {
    let failing = super::tables::list_to_json(&outcome.failing);
    let counts = outcome.counts;
    let inserted = connection
        .prepare_cached(
            "INSERT INTO outcome (uid, project, session, agent, command, kind, runner, verdict, passed, failed, skipped,
                                  failing, signature, exit, duration, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT (uid) DO NOTHING",
        )?
        .execute(params![
            outcome.id,
            project,
            session,
            outcome.agent,
            outcome.command,
            outcome.kind,
            outcome.runner,
            outcome.verdict,
            counts.map(|counts| counts.passed),
            counts.map(|counts| counts.failed),
            counts.map(|counts| counts.skipped),
            failing,
            outcome.signature,
            outcome.exit,
            outcome.duration.map(|millis| i64::try_from(millis).unwrap_or(i64::MAX)),
            outcome.at,
        ])?;
    Ok(inserted == 1)
}

/// Counts a command that looks like a test run but is not recognized as one.
pub(crate) fn count_unrecognized_command(
    connection: &Connection,
    project: i64,
    command: &Clean,
    at: Time,
) -> StoreResult {
    connection
        .prepare_cached(
            "INSERT INTO unfollowed (project, command, times, at) VALUES (?1, ?2, 1, ?3)
             ON CONFLICT (project, command) DO UPDATE SET times = times + 1, at = max(at, excluded.at)",
        )?
        .execute(params![project, command, at])?;
    Ok(())
}

pub(crate) fn read_outcome(row: &Row<'_>) -> rusqlite::Result<Outcome> {
    let passed: Option<u32> = row.get("passed")?;
    let (failed, skipped): (Option<u32>, Option<u32>) = (row.get("failed")?, row.get("skipped")?);
    Ok(Outcome {
        id: row.get("uid")?,
        project: row.get("project_key")?,
        session: row.get("session_client")?,
        agent: row.get("agent")?,
        command: row.get("command")?,
        kind: row.get("kind")?,
        runner: row.get("runner")?,
        verdict: row.get("verdict")?,
        counts: passed.map(|passed| TestCounts {
            passed,
            failed: failed.unwrap_or_default(),
            skipped: skipped.unwrap_or_default(),
        }),
        failing: super::tables::read_list(row, "failing")?,
        signature: row.get("signature")?,
        exit: row.get("exit")?,
        duration: row.get("duration")?,
        at: row.get("at")?,
    })
}

/// Returns the runs of a query; `rest` follows [`SELECT`].
pub(crate) fn select_outcomes(
    connection: &Connection,
    rest: &str,
    params: impl Params,
) -> StoreResult<Vec<Outcome>> {
    let mut outcomes = connection.prepare_cached(&format!("{SELECT} {rest}"))?;
    Ok(outcomes.query_map(params, read_outcome)?.collect::<Result<_, _>>()?)
}

impl Store {
    /// Returns commands of a project that look like test runs but are not recognized, with their counts, the most
    /// frequent first.
    pub fn unrecognized_commands(
        &self,
        project: Id,
        most: usize,
    ) -> StoreResult<Vec<(Clean, u32)>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut rows = self.connection.prepare_cached(
            "SELECT command, times FROM unfollowed WHERE project = (SELECT id FROM project WHERE uid = ?1)
             ORDER BY times DESC, at DESC LIMIT ?2",
        )?;
        let found = rows.query_map(params![project, most], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Returns a captured run, or None if it is gone.
    pub fn outcome(&self, id: Id) -> StoreResult<Option<Outcome>> {
        let query = format!("{SELECT} WHERE outcome.uid = ?1");
        Ok(self.connection.query_row(&query, [id], read_outcome).optional()?)
    }
}
