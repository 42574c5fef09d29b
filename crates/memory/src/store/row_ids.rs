//! Rows that a user or an agent names by the end of their id, and their positions for paging.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::entry::ProjectPlace;
use super::tables::{find_by_suffix, require_one};
use super::{Store, StoreResult, projects};
use crate::{Id, IdSuffix};

/// Returns every row with this end of its id that belongs to the project of a place or, with `or_none`, to no project.
pub(crate) fn project_ids_with_suffix(
    connection: &Connection,
    table: &str,
    id: &IdSuffix,
    place: &ProjectPlace,
    or_none: bool,
) -> StoreResult<Vec<Id>> {
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
fn row_position(connection: &Connection, table: &'static str, id: Id) -> StoreResult<Option<i64>> {
    let query = format!("SELECT id FROM {table} WHERE uid = ?1");
    Ok(connection.prepare_cached(&query)?.query_row([id], |row| row.get(0)).optional()?)
}

impl Store {
    /// Returns the position of a GHAP, for paging.
    pub fn ghap_position(&self, id: Id) -> StoreResult<Option<i64>> {
        row_position(&self.connection, "ghap", id)
    }

    /// Returns the position of a memory, for paging.
    pub fn memory_position(&self, id: Id) -> StoreResult<Option<i64>> {
        row_position(&self.connection, "memory", id)
    }

    /// Returns the GHAP that a user names by the end of its id.
    pub fn ghap_id(&self, id: &IdSuffix) -> StoreResult<Id> {
        find_by_suffix(&self.connection, "ghap", "GHAP", id)
    }

    /// Returns the GHAP that an agent names by the end of its id. GHAPs of other projects are not found.
    pub fn ghap_id_in(&self, id: &IdSuffix, place: &ProjectPlace) -> StoreResult<Id> {
        self.find_in_project("ghap", "GHAP", id, place, false)
    }

    /// Returns the captured run that an agent names by the end of its id. Runs of other projects are not found.
    pub fn outcome_id_in(&self, id: &IdSuffix, place: &ProjectPlace) -> StoreResult<Id> {
        self.find_in_project("outcome", "outcome", id, place, false)
    }

    /// Returns the memory that an agent names by the end of its id, of its project or for every project.
    pub fn memory_id_in(&self, id: &IdSuffix, place: &ProjectPlace) -> StoreResult<Id> {
        self.find_in_project("memory", "memory", id, place, true)
    }

    fn find_in_project(
        &self,
        table: &'static str,
        what: &'static str,
        id: &IdSuffix,
        place: &ProjectPlace,
        or_none: bool,
    ) -> StoreResult<Id> {
        require_one(
            &project_ids_with_suffix(&self.connection, table, id, place, or_none)?,
            what,
            id,
        )
    }

    /// Returns the memory that a user names by the end of its id.
    pub fn memory_id(&self, id: &IdSuffix) -> StoreResult<Id> {
        find_by_suffix(&self.connection, "memory", "memory", id)
    }

    /// Returns the captured run that a user names by the end of its id.
    pub fn outcome_id(&self, id: &IdSuffix) -> StoreResult<Id> {
        find_by_suffix(&self.connection, "outcome", "outcome", id)
    }
}
