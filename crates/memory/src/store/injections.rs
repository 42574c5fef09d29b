//! Injections: rows that were shown to agents.

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::{Store, StoreError, documents, values};
use crate::injection::{Injection, InjectionSource};
use crate::{Clean, Id, IdSuffix, Time};

pub(crate) const SELECT: &str = "SELECT injection.*, session.client AS session_client
     FROM injection JOIN session ON session.id = injection.session JOIN project ON project.id = session.project";

/// Inserts an injection and returns true. An existing one is changed only if it has no effect yet and the new one has.
pub(crate) fn insert_injection(
    connection: &Connection,
    session: i64,
    injection: &Injection,
) -> Result<bool, StoreError> {
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
) -> Result<bool, StoreError> {
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
) -> Result<bool, StoreError> {
    was_shown(connection, client, agent, row, now, true)
}

fn was_shown(
    connection: &Connection,
    client: &str,
    agent: Option<&Clean>,
    row: Id,
    now: Time,
    brief: bool,
) -> Result<bool, StoreError> {
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

/// A filter for injections.
#[derive(Debug, Clone, Default)]
pub struct InjectionFilter {
    /// Only those of this session, by the client's name for it.
    pub session: Option<Clean>,
    /// Only those of this row.
    pub row: Option<Id>,
    /// Only those of this project.
    pub project: Option<Id>,
    /// Maximum number, the newest.
    pub limit: Option<usize>,
}

/// An injection with the current text of its row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InjectionWithText {
    /// The injection.
    #[serde(flatten)]
    pub injection: Injection,
    /// The kind of the row, or None if the row is gone.
    pub kind: Option<InjectionSource>,
    /// The short text of the row, or None if the row is gone.
    pub text: Option<Clean>,
}

/// Returns the kind and the short text of a row, or None if the row is gone.
fn describe_row(
    connection: &Connection,
    row: Id,
) -> Result<Option<(InjectionSource, Clean)>, StoreError> {
    if let Some((kind, text)) = documents::describe_row(connection, row)? {
        return Ok(Some((kind.into(), text)));
    }
    let value = documents::none_if_missing(values::find_value(connection, row))?;
    Ok(value.map(|value| (InjectionSource::Value, value.text)))
}

impl Store {
    /// Returns injections, the newest first.
    pub fn injections(
        &self,
        filter: &InjectionFilter,
    ) -> Result<Vec<InjectionWithText>, StoreError> {
        let limit = filter.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let mut injections = self.connection.prepare(&format!(
            "{SELECT} WHERE (?1 IS NULL OR session.client = ?1) AND (?2 IS NULL OR injection.row = ?2)
                        AND (?3 IS NULL OR project.uid = ?3)
             ORDER BY injection.at DESC, injection.id DESC LIMIT ?4"
        ))?;
        let found = injections
            .query_map(params![filter.session, filter.row, filter.project, limit], read_injection)?
            .collect::<Result<Vec<_>, _>>()?;
        found
            .into_iter()
            .map(|injection| {
                let (kind, text) = describe_row(&self.connection, injection.row)?.unzip();
                Ok(InjectionWithText { injection, kind, text })
            })
            .collect()
    }

    /// Returns the shown row that a user names by the end of its id. The row itself may be gone.
    pub fn find_shown_row(&self, id: &IdSuffix) -> Result<Id, StoreError> {
        let mut rows = self
            .connection
            .prepare("SELECT DISTINCT row FROM injection WHERE lower(hex(row)) LIKE ?1")?;
        let found: Vec<Id> = rows
            .query_map([format!("%{}", id.hex())], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        match found.as_slice() {
            [one] => Ok(*one),
            [] => Err(StoreError::NotFound { what: "row that was shown", id: id.clone() }),
            several => Err(StoreError::Ambiguous { id: id.clone(), count: several.len() }),
        }
    }
}
