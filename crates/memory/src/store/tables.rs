//! Helpers for all tables: column conversions, and lookup of rows by the end of their id.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, Row, params};

use super::{StoreError, StoreResult};
use crate::project::ProjectKey;
use crate::{Clean, Id, IdSuffix};

impl ToSql for ProjectKey {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for ProjectKey {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(Self::new)
    }
}

/// Tables with a project column. `document` has one too, but its rows follow the rows they are made from.
pub(crate) const PROJECT_TABLES: [&str; 11] = [
    "project_alias",
    "session",
    "outcome",
    "ghap",
    "experience",
    "memory",
    "value",
    "episode",
    "change",
    "command_episode",
    "unfollowed",
];

/// Reads a column that holds a JSON list.
pub(crate) fn read_list(row: &Row<'_>, column: &str) -> rusqlite::Result<Vec<Clean>> {
    let text: String = row.get(column)?;
    // Text in the database was redacted when it was written.
    serde_json::from_str::<Vec<String>>(&text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))?
        .iter()
        .map(|text| {
            Clean::column_result(ValueRef::Text(text.as_bytes()))
                .map_err(|error: FromSqlError| error.into())
        })
        .collect()
}

/// Returns a list as the JSON that is stored.
pub(crate) fn list_to_json(list: &[Clean]) -> String {
    serde_json::to_string(list).unwrap_or_else(|_| "[]".to_owned())
}

/// Returns the only row of a table with this end of its id.
pub(crate) fn find_by_suffix(
    connection: &Connection,
    table: &'static str,
    what: &'static str,
    id: &IdSuffix,
) -> StoreResult<Id> {
    require_one(&ids_with_suffix(connection, table, id)?, what, id)
}

/// Returns the only one of the found rows.
pub(super) fn require_one(found: &[Id], what: &'static str, id: &IdSuffix) -> StoreResult<Id> {
    match found {
        [one] => Ok(*one),
        [] => Err(StoreError::NotFound { what, id: id.clone() }),
        several => Err(StoreError::Ambiguous { id: id.clone(), count: several.len() }),
    }
}

/// Returns every row of a table with this end of its id.
pub(crate) fn ids_with_suffix(
    connection: &Connection,
    table: &str,
    id: &IdSuffix,
) -> StoreResult<Vec<Id>> {
    let mut rows =
        connection.prepare(&format!("SELECT uid FROM {table} WHERE lower(hex(uid)) LIKE ?1"))?;
    // An id suffix has only hexadecimal digits, so it contains no wildcard.
    Ok(rows
        .query_map(params![format!("%{}", id.hex())], |row| row.get(0))?
        .collect::<Result<_, _>>()?)
}
