//! Carries out proposals that the user accepts.

use rusqlite::Connection;

use super::ExportRecord;
use super::import::{RowImport, RowRefusal, import_record};
use crate::Id;
use crate::origin::Origin;
use crate::store::proposals::{ProposedChange, load_proposal};
use crate::store::{Store, StoreError, StoreResult, origins};

/// Accepts all proposals of an import and returns their number.
pub(crate) fn accept_batch(connection: &Connection, batch: i64) -> StoreResult<usize> {
    let mut ids = connection.prepare("SELECT uid FROM proposal WHERE batch = ?1 ORDER BY id")?;
    let ids: Vec<Id> = ids.query_map([batch], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for id in &ids {
        carry_out(connection, *id, Some(batch))?;
    }
    Ok(ids.len())
}

/// Carries out a proposal. `batch` is the import, if the user has accepted it as a whole.
fn carry_out(connection: &Connection, id: Id, batch: Option<i64>) -> StoreResult {
    match load_proposal(connection, id)?.what {
        ProposedChange::Everywhere(memory) => {
            connection.execute(
                "UPDATE memory SET project = NULL, changed = changed + 1 WHERE uid = ?1",
                [memory.id],
            )?;
        }
        ProposedChange::Row(record) => {
            let row = match record.as_ref() {
                ExportRecord::Memory(memory) => Some(memory.id),
                ExportRecord::Value(value) => Some(value.id),
                _ => None,
            };
            let became = import_record(connection, &record).map_err(|refused| match refused {
                RowRefusal::Row(why) => StoreError::NotAccepted(why),
                RowRefusal::Store(error) => error,
            })?;
            if matches!(became, RowImport::Kept) {
                let why = "a row with the same id or key already exists, with another content";
                return Err(StoreError::NotAccepted(why.to_owned()));
            }
            if let ExportRecord::Alias(alias) = record.as_ref() {
                // The alias goes with its import, even if it was accepted individually.
                let import: Option<i64> = connection.query_row(
                    "SELECT batch FROM proposal WHERE uid = ?1",
                    [id],
                    |row| row.get(0),
                )?;
                if let Some(import) = import {
                    origins::mark_imported_alias(connection, &alias.key, import)?;
                }
            }
            if let Some(row) = row {
                origins::insert_origin(connection, row, &Origin::person(None), batch)?;
            }
        }
    }
    connection.execute("DELETE FROM proposal WHERE uid = ?1", [id])?;
    Ok(())
}

impl Store {
    /// Carries out a proposal.
    pub fn accept_proposal(&mut self, id: Id) -> StoreResult {
        self.write(|transaction| carry_out(transaction, id, None))
    }
}
