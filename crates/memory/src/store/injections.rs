//! What was shown to whom.

use rusqlite::{Connection, Row, params};

use super::StoreError;
use crate::injection::Injection;
use crate::{Clean, Id, Time};

pub(crate) const SELECT: &str = "SELECT injection.*, session.client AS session_client
     FROM injection JOIN session ON session.id = injection.session JOIN project ON project.id = session.project";

/// Writes down that a row was shown. The same one again changes nothing.
pub(crate) fn insert(
    connection: &Connection,
    session: i64,
    injection: &Injection,
) -> Result<bool, StoreError> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO injection (uid, session, agent, event, row, score, prompt, effect, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (uid) DO NOTHING",
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
        ])?;
    Ok(inserted == 1)
}

/// Whether an agent has been shown a row, and nothing has emptied its context since. Where that is said to have happened
/// later than now, the clock was set back: nobody can tell, and silence is better than to repeat oneself.
pub(crate) fn is_in_context(
    connection: &Connection,
    client: &str,
    agent: Option<&Clean>,
    row: Id,
    now: Time,
) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM injection JOIN session ON session.id = injection.session
                            WHERE session.client = ?1 AND injection.agent IS ?2 AND injection.row = ?3
                              AND (session.refreshed IS NULL OR injection.at >= session.refreshed OR session.refreshed > ?4))",
        )?
        .query_row(params![client, agent, row, now], |row| row.get(0))?)
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Injection> {
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
    })
}
