//! Origins of rows in the database.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::entry::ProjectPlace;
use super::{Store, StoreResult};
use crate::origin::{ImportBatch, Origin, UnconfirmedReason, Writer};
use crate::project::ProjectKey;
use crate::{Clean, Id};

const SELECT: &str = "SELECT origin.writer, origin.checkout, origin.session, origin.agent,
        import_batch.uid, import_batch.file, import_batch.at, import_batch.accepted IS NOT NULL
    FROM origin LEFT JOIN import_batch ON import_batch.id = origin.batch";

fn read_origin(row: &Row<'_>) -> rusqlite::Result<Origin> {
    let import = match row.get::<_, Option<Id>>(4)? {
        Some(id) => {
            Some(ImportBatch { id, file: row.get(5)?, at: row.get(6)?, is_accepted: row.get(7)? })
        }
        None => None,
    };
    Ok(Origin {
        writer: row.get(0)?,
        checkout: row.get(1)?,
        session: row.get(2)?,
        agent: row.get(3)?,
        import,
    })
}

/// Records the origin of a row. An origin that is already recorded stays.
pub(crate) fn insert_origin(
    connection: &Connection,
    row: Id,
    origin: &Origin,
    batch: Option<i64>,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO origin (row, writer, checkout, session, agent, batch) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            row,
            origin.writer,
            origin.checkout,
            origin.session,
            origin.agent,
            batch
        ])?;
    Ok(())
}

/// Records the origin of a row, if it is known.
pub(crate) fn insert_origin_if_known(
    connection: &Connection,
    row: Id,
    origin: Option<&Origin>,
) -> rusqlite::Result<()> {
    origin.map_or(Ok(()), |origin| insert_origin(connection, row, origin, None))
}

/// Records the import that a project alias came from.
pub(crate) fn mark_imported_alias(
    connection: &Connection,
    key: &ProjectKey,
    batch: i64,
) -> rusqlite::Result<()> {
    insert_origin(connection, alias_row(key), &Origin::default(), Some(batch))
}

/// Deletes the project aliases that came from an import, except for those that are the main key of a project by now.
/// Returns their number.
pub(crate) fn delete_imported_aliases(connection: &Connection, batch: i64) -> StoreResult<usize> {
    let keys = connection
        .prepare("SELECT key FROM project_alias WHERE key NOT IN (SELECT key FROM project)")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<Vec<ProjectKey>, _>>()?;
    let mut count = 0;
    for key in keys {
        let marked = connection
            .prepare_cached("DELETE FROM origin WHERE row = ?1 AND batch = ?2")?
            .execute(params![alias_row(&key), batch])?;
        if marked > 0 {
            count += connection.execute("DELETE FROM project_alias WHERE key = ?1", [key])?;
        }
    }
    Ok(count)
}

/// Returns the id under which the origin of an alias is recorded, because an alias has no id of its own.
fn alias_row(key: &ProjectKey) -> Id {
    Id::for_text(&format!("project alias {key}"))
}

/// Turns an imported row into a row of the user, because the user has edited it.
pub(crate) fn claim_imported_row(connection: &Connection, row: Id) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE origin SET batch = NULL, writer = ?2 WHERE row = ?1 AND batch IS NOT NULL",
        )?
        .execute(params![row, Writer::Person])?;
    Ok(())
}

/// Returns the origin of a captured run.
pub(crate) fn run_origin(place: &ProjectPlace, client: &Clean, agent: Option<&Clean>) -> Origin {
    Origin {
        writer: Some(Writer::Run),
        checkout: Some(place.checkout()),
        session: Some(client.clone()),
        agent: agent.cloned(),
        import: None,
    }
}

/// Returns the recorded origin of a row.
pub(crate) fn recorded_origin(
    connection: &Connection,
    row: Id,
) -> rusqlite::Result<Option<Origin>> {
    connection
        .prepare_cached(&format!("{SELECT} WHERE origin.row = ?1"))?
        .query_row([row], read_origin)
        .optional()
}

/// Returns the origin of a row. An episode without a recorded origin has that of its first run.
pub(crate) fn find_origin(connection: &Connection, row: Id) -> StoreResult<Option<Origin>> {
    if let Some(origin) = recorded_origin(connection, row)? {
        return Ok(Some(origin));
    }
    let first: Option<Id> = connection
        .prepare_cached(
            "SELECT outcome.uid FROM episode JOIN outcome ON outcome.id = episode.first WHERE episode.uid = ?1",
        )?
        .query_row([row], |row| row.get(0))
        .optional()?;
    Ok(match first {
        Some(outcome) => recorded_origin(connection, outcome)?,
        None => None,
    })
}

/// Returns the SQL condition that the row with the id in `column` was not imported, or that its import was accepted.
pub(crate) fn own_row_condition(column: &str) -> String {
    format!(
        "NOT EXISTS (SELECT 1 FROM origin JOIN import_batch ON import_batch.id = origin.batch
                     WHERE origin.row = {column} AND import_batch.accepted IS NULL)"
    )
}

/// Returns true if a row was imported and its import was not accepted.
pub(crate) fn is_unconfirmed_import(connection: &Connection, row: Id) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(&format!("SELECT NOT {}", own_row_condition("?1")))?
        .query_row([row], |row| row.get(0))
}

/// Returns the reason to mark a row that is shown in a checkout. A run in this checkout that passed after the row was
/// shown confirms it.
pub(crate) fn unconfirmed_reason(
    connection: &Connection,
    row: Id,
    place: &ProjectPlace,
) -> StoreResult<Option<UnconfirmedReason>> {
    let Some(origin) = find_origin(connection, row)? else { return Ok(None) };
    if origin.is_unconfirmed_import() {
        return Ok(Some(UnconfirmedReason::Imported));
    }
    let here = place.checkout();
    if origin.import.is_some() || origin.checkout.is_none_or(|checkout| checkout == here) {
        return Ok(None);
    }
    let is_confirmed: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM injection JOIN outcome ON outcome.session = injection.session
                                JOIN origin ON origin.row = outcome.uid
                            WHERE injection.row = ?1 AND injection.effect = 'helped' AND origin.checkout = ?2)",
        )?
        .query_row(params![row, here], |row| row.get(0))?;
    Ok((!is_confirmed).then_some(UnconfirmedReason::OtherCheckout))
}

impl Store {
    /// Sets the origin of the rows that this handle writes from now on.
    pub fn set_author(&mut self, origin: Origin) {
        self.author = Some(origin);
    }

    /// Returns the origin of a row, or None if the row was written before origins were recorded.
    pub fn origin(&self, row: Id) -> StoreResult<Option<Origin>> {
        find_origin(&self.connection, row)
    }
}
