//! Helpers for all tables: column conversions, and lookup of rows by the end of their id.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::entry::ProjectPlace;
use super::{Store, StoreError, projects};
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
pub(crate) const PROJECT_TABLES: [&str; 10] = [
    "project_alias",
    "session",
    "outcome",
    "ghap",
    "experience",
    "memory",
    "value",
    "episode",
    "change",
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
) -> Result<Id, StoreError> {
    require_one(&ids_with_suffix(connection, table, id)?, what, id)
}

fn require_one(found: &[Id], what: &'static str, id: &IdSuffix) -> Result<Id, StoreError> {
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
) -> Result<Vec<Id>, StoreError> {
    let mut rows =
        connection.prepare(&format!("SELECT uid FROM {table} WHERE lower(hex(uid)) LIKE ?1"))?;
    // An id suffix has only hexadecimal digits, so it contains no wildcard.
    Ok(rows
        .query_map(params![format!("%{}", id.hex())], |row| row.get(0))?
        .collect::<Result<_, _>>()?)
}

/// Returns every row with this end of its id that belongs to the project of a place or, with `or_none`, to no project.
pub(crate) fn project_ids_with_suffix(
    connection: &Connection,
    table: &str,
    id: &IdSuffix,
    place: &ProjectPlace,
    or_none: bool,
) -> Result<Vec<Id>, StoreError> {
    let project = projects::find_project(connection, place)?;
    let mut rows = connection.prepare(&format!(
        "SELECT uid FROM {table} WHERE lower(hex(uid)) LIKE ?1 AND (project = ?2 OR (?3 AND project IS NULL))"
    ))?;
    Ok(rows
        .query_map(params![format!("%{}", id.hex()), project, or_none], |row| row.get(0))?
        .collect::<Result<_, _>>()?)
}

/// Returns the position of a row in the insertion order of its table, or None if it is gone. A position stays valid for
/// paging after its row is gone.
fn row_position(
    connection: &Connection,
    table: &'static str,
    id: Id,
) -> Result<Option<i64>, StoreError> {
    let query = format!("SELECT id FROM {table} WHERE uid = ?1");
    Ok(connection.prepare_cached(&query)?.query_row([id], |row| row.get(0)).optional()?)
}

impl Store {
    /// Returns the position of a GHAP, for paging.
    pub fn ghap_position(&self, id: Id) -> Result<Option<i64>, StoreError> {
        row_position(&self.connection, "ghap", id)
    }

    /// Returns the position of a memory, for paging.
    pub fn memory_position(&self, id: Id) -> Result<Option<i64>, StoreError> {
        row_position(&self.connection, "memory", id)
    }

    /// Returns the GHAP that a user names by the end of its id.
    pub fn ghap_id(&self, id: &IdSuffix) -> Result<Id, StoreError> {
        find_by_suffix(&self.connection, "ghap", "GHAP", id)
    }

    /// Returns the GHAP that an agent names by the end of its id. GHAPs of other projects are not found.
    pub fn ghap_id_in(&self, id: &IdSuffix, place: &ProjectPlace) -> Result<Id, StoreError> {
        self.find_in_project("ghap", "GHAP", id, place, false)
    }

    /// Returns the captured run that an agent names by the end of its id. Runs of other projects are not found.
    pub fn outcome_id_in(&self, id: &IdSuffix, place: &ProjectPlace) -> Result<Id, StoreError> {
        self.find_in_project("outcome", "outcome", id, place, false)
    }

    /// Returns the memory that an agent names by the end of its id, of its project or for every project.
    pub fn memory_id_in(&self, id: &IdSuffix, place: &ProjectPlace) -> Result<Id, StoreError> {
        self.find_in_project("memory", "memory", id, place, true)
    }

    fn find_in_project(
        &self,
        table: &'static str,
        what: &'static str,
        id: &IdSuffix,
        place: &ProjectPlace,
        or_none: bool,
    ) -> Result<Id, StoreError> {
        require_one(
            &project_ids_with_suffix(&self.connection, table, id, place, or_none)?,
            what,
            id,
        )
    }

    /// Returns the memory that a user names by the end of its id.
    pub fn memory_id(&self, id: &IdSuffix) -> Result<Id, StoreError> {
        find_by_suffix(&self.connection, "memory", "memory", id)
    }

    /// Returns the captured run that a user names by the end of its id.
    pub fn outcome_id(&self, id: &IdSuffix) -> Result<Id, StoreError> {
        find_by_suffix(&self.connection, "outcome", "outcome", id)
    }
}
