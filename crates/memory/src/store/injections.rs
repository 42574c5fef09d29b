//! Injections: rows that were shown to agents.

use rusqlite::{Connection, Row, params};

use super::StoreResult;
use crate::injection::Injection;
use crate::{Clean, Id, Time};

pub(crate) const SELECT: &str = "SELECT injection.*, session.client AS session_client
     FROM injection JOIN session ON session.id = injection.session JOIN project ON project.id = session.project";

/// Inserts an injection and returns true. An existing one is changed only if it has no effect yet and the new one has.
pub(crate) fn insert_injection(
    connection: &Connection,
    session: i64,
    injection: &Injection,
) -> StoreResult<bool> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO injection (uid, session, agent, event, row, score, prompt, effect, at, brief)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (uid) DO UPDATE SET effect = excluded.effect WHERE effect IS NULL AND excluded.effect IS NOT NULL",
        )?
        .execute(params![
            injection.id,
            session,
            injection.agent,
            injection.event,
            injection.row,
            injection.score,
            injection.prompt,
            injection.effect,
            injection.at,
            injection.brief,
        ])?;
    Ok(inserted == 1)
}

/// Returns true if an agent has been shown a row in full and nothing has emptied its context since. A time later than
/// now means that the clock was set back; then the row counts as shown.
pub(crate) fn is_in_context(
    connection: &Connection,
    client: &str,
    agent: Option<&Clean>,
    row: Id,
    now: Time,
) -> StoreResult<bool> {
    was_shown(connection, client, agent, row, now, false)
}

/// Returns true if an agent has been shown a row, in full or as a one-line reference, and nothing has emptied its
/// context since.
pub(crate) fn is_referred_to(
    connection: &Connection,
    client: &str,
    agent: Option<&Clean>,
    row: Id,
    now: Time,
) -> StoreResult<bool> {
    was_shown(connection, client, agent, row, now, true)
}

/// Returns true if an agent was shown a row before a tool call, and nothing has emptied its context since.
pub(crate) fn was_shown_before_call(
    connection: &Connection,
    client: &str,
    agent: Option<&Clean>,
    row: Id,
    now: Time,
) -> StoreResult<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM injection JOIN session ON session.id = injection.session
                            WHERE session.client = ?1 AND injection.agent IS ?2 AND injection.row = ?3
                              AND injection.event = 'PreToolUse'
                              AND (session.refreshed IS NULL OR injection.at >= session.refreshed OR session.refreshed > ?4))",
        )?
        .query_row(params![client, agent, row, now], |row| row.get(0))?)
}

fn was_shown(
    connection: &Connection,
    client: &str,
    agent: Option<&Clean>,
    row: Id,
    now: Time,
    brief: bool,
) -> StoreResult<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM injection JOIN session ON session.id = injection.session
                            WHERE session.client = ?1 AND injection.agent IS ?2 AND injection.row = ?3
                              AND (?5 OR NOT injection.brief)
                              AND (session.refreshed IS NULL OR injection.at >= session.refreshed OR session.refreshed > ?4))",
        )?
        .query_row(params![client, agent, row, now, brief], |row| row.get(0))?)
}

pub(crate) fn read_injection(row: &Row<'_>) -> rusqlite::Result<Injection> {
    Ok(Injection {
        id: row.get("uid")?,
        session: row.get("session_client")?,
        agent: row.get("agent")?,
        event: row.get("event")?,
        row: row.get("row")?,
        score: row.get("score")?,
        prompt: row.get("prompt")?,
        at: row.get("at")?,
        effect: row.get("effect")?,
        brief: row.get("brief")?,
    })
}
