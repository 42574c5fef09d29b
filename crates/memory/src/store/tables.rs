//! What all tables have in common.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::entry::Place;
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

/// Tables whose rows are of a project. Documents are too, and follow what they are made of.
pub(crate) const OF_PROJECT: [&str; 10] = [
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

/// A list that is kept as JSON.
pub(crate) fn list(row: &Row<'_>, column: &str) -> rusqlite::Result<Vec<Clean>> {
    let text: String = row.get(column)?;
    // As from any other column, what comes from the store was clean when it went in.
    serde_json::from_str::<Vec<String>>(&text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))?
        .iter()
        .map(|text| {
            Clean::column_result(ValueRef::Text(text.as_bytes()))
                .map_err(|error: FromSqlError| error.into())
        })
        .collect()
}

/// A list as it is kept.
pub(crate) fn to_json(list: &[Clean]) -> String {
    serde_json::to_string(list).unwrap_or_else(|_| "[]".to_owned())
}

/// The one row of a table whose id ends so.
pub(crate) fn by_suffix(
    connection: &Connection,
    table: &'static str,
    what: &'static str,
    id: &IdSuffix,
) -> Result<Id, StoreError> {
    one_of(&matching(connection, table, id)?, what, id)
}

fn one_of(found: &[Id], what: &'static str, id: &IdSuffix) -> Result<Id, StoreError> {
    match found {
        [one] => Ok(*one),
        [] => Err(StoreError::NotFound { what, id: id.clone() }),
        several => Err(StoreError::Ambiguous { id: id.clone(), count: several.len() }),
    }
}

/// Every row of a table whose id ends so.
pub(crate) fn matching(
    connection: &Connection,
    table: &str,
    id: &IdSuffix,
) -> Result<Vec<Id>, StoreError> {
    let mut rows =
        connection.prepare(&format!("SELECT uid FROM {table} WHERE lower(hex(uid)) LIKE ?1"))?;
    // Only hexadecimal letters get here, so nothing in it is a wildcard.
    Ok(rows
        .query_map(params![format!("%{}", id.hex())], |row| row.get(0))?
        .collect::<Result<_, _>>()?)
}

/// Every row of a table whose id ends so and which belongs to the project of a place, or to none where that is asked for.
pub(crate) fn own_matching(
    connection: &Connection,
    table: &str,
    id: &IdSuffix,
    place: &Place,
    or_none: bool,
) -> Result<Vec<Id>, StoreError> {
    let project = projects::find(connection, place)?;
    let mut rows = connection.prepare(&format!(
        "SELECT uid FROM {table} WHERE lower(hex(uid)) LIKE ?1 AND (project = ?2 OR (?3 AND project IS NULL))"
    ))?;
    Ok(rows
        .query_map(params![format!("%{}", id.hex()), project, or_none], |row| row.get(0))?
        .collect::<Result<_, _>>()?)
}

/// Where a row stands among those of its table, in the order in which they were written. None where it is gone; what stands
/// before it can be told by the number all the same.
fn position(
    connection: &Connection,
    table: &'static str,
    id: Id,
) -> Result<Option<i64>, StoreError> {
    let query = format!("SELECT id FROM {table} WHERE uid = ?1");
    Ok(connection.prepare_cached(&query)?.query_row([id], |row| row.get(0)).optional()?)
}

impl Store {
    /// Where a GHAP stands among all.
    pub fn ghap_position(&self, id: Id) -> Result<Option<i64>, StoreError> {
        position(&self.connection, "ghap", id)
    }

    /// Where a memory stands among all.
    pub fn memory_position(&self, id: Id) -> Result<Option<i64>, StoreError> {
        position(&self.connection, "memory", id)
    }

    /// The GHAP that a person means.
    pub fn ghap_id(&self, id: &IdSuffix) -> Result<Id, StoreError> {
        by_suffix(&self.connection, "ghap", "GHAP", id)
    }

    /// The GHAP that an agent means, of its own project. Others are unknown to it.
    pub fn ghap_id_in(&self, id: &IdSuffix, place: &Place) -> Result<Id, StoreError> {
        self.only_own("ghap", "GHAP", id, place, false)
    }

    /// The captured run that an agent means, of its own project.
    pub fn outcome_id_in(&self, id: &IdSuffix, place: &Place) -> Result<Id, StoreError> {
        self.only_own("outcome", "outcome", id, place, false)
    }

    /// The memory that an agent means, of its own project or of none.
    pub fn memory_id_in(&self, id: &IdSuffix, place: &Place) -> Result<Id, StoreError> {
        self.only_own("memory", "memory", id, place, true)
    }

    fn only_own(
        &self,
        table: &'static str,
        what: &'static str,
        id: &IdSuffix,
        place: &Place,
        or_none: bool,
    ) -> Result<Id, StoreError> {
        one_of(&own_matching(&self.connection, table, id, place, or_none)?, what, id)
    }

    /// The memory that a person means.
    pub fn memory_id(&self, id: &IdSuffix) -> Result<Id, StoreError> {
        by_suffix(&self.connection, "memory", "memory", id)
    }

    /// The captured run that a person means.
    pub fn outcome_id(&self, id: &IdSuffix) -> Result<Id, StoreError> {
        by_suffix(&self.connection, "outcome", "outcome", id)
    }
}
