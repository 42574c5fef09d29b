//! Lists injections with the current texts of their rows.

use rusqlite::{Connection, params};
use serde::Serialize;

use super::injections::{SELECT, read_injection};
use super::{Store, StoreError, StoreResult, command_episodes, documents, io_error, values};
use crate::injection::{Injection, InjectionSource};
use crate::log::{NearMiss, near_misses};
use crate::{Clean, Id, IdSuffix};

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
fn describe_row(connection: &Connection, row: Id) -> StoreResult<Option<(InjectionSource, Clean)>> {
    if let Some((kind, text)) = documents::describe_row(connection, row)? {
        return Ok(Some((kind.into(), text)));
    }
    if let Some(text) = command_episodes::describe_command_episode(connection, row)? {
        return Ok(Some((InjectionSource::Episode, text)));
    }
    let value = documents::none_if_missing(values::find_value(connection, row))?;
    Ok(value.map(|value| (InjectionSource::Value, value.text)))
}

impl Store {
    /// Returns injections, the newest first.
    pub fn injections(&self, filter: &InjectionFilter) -> StoreResult<Vec<InjectionWithText>> {
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

    /// Returns the rows that stayed just below the floor, oldest first.
    pub fn near_misses(&self) -> StoreResult<Vec<NearMiss>> {
        near_misses(&self.files).map_err(io_error("read", &self.files.log()))
    }

    /// Returns the kind and the short text of a row, or None if the row is gone.
    pub fn row_description(&self, row: Id) -> StoreResult<Option<(InjectionSource, Clean)>> {
        describe_row(&self.connection, row)
    }

    /// Returns the shown row that a user names by the end of its id. The row itself may be gone.
    pub fn find_shown_row(&self, id: &IdSuffix) -> StoreResult<Id> {
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
