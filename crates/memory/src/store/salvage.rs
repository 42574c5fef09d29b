//! Recovers the readable rows of a damaged database.
//!
//! Reads its pages one by one ([`pages`]), with the write-ahead log applied. The rows go into an empty store, and from
//! there through the import, which validates each row like a command does.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params_from_iter};
use serde::Serialize;

use super::exchange::{RowImport, RowRefusal, carry_imports_over, import_record};
use super::{
    DataDir, Store, StoreResult, create_database, io_error, open_database, tables, wal_image,
};
use crate::data_dir;
use crate::data_dir::{FolderLock, SALVAGED_SUFFIX, WORKSHOP_PREFIX, with_suffix};
use crate::{Id, Time};

mod pages;
mod record;
#[cfg(test)]
mod tests;

use pages::{FoundTable, PageScan, TableShape};

/// All tables with data of the user, parents first.
const SALVAGED_TABLES: [&str; 17] = [
    "project",
    "project_alias",
    "session",
    "outcome",
    "ghap",
    "ghap_revision",
    "ghap_note",
    "experience",
    "memory",
    "value",
    "episode",
    "change",
    "command_episode",
    "injection",
    "import_batch",
    "origin",
    "proposal",
];

/// The result of a recovery.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SalvageReport {
    /// Rows that could be read.
    pub read: usize,
    /// Rows that were added to the store.
    pub saved: usize,
    /// Rows that were invalid.
    pub refused: usize,
    /// Results by table.
    pub tables: Vec<SalvagedTable>,
    /// Pages with content that could not be determined.
    pub unreadable_pages: usize,
}

/// The result for one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SalvagedTable {
    /// Name of the table.
    pub table: &'static str,
    /// Rows that could be read.
    pub read: usize,
    /// Damaged rows in pages that were otherwise readable.
    pub damaged: usize,
}

impl Store {
    /// Imports the readable rows of a database that was moved aside. The file is kept and renamed to mark it as
    /// salvaged, unless no row could be read.
    pub(crate) fn salvage(
        &mut self,
        damaged: &Path,
        making: &FolderLock,
        now: Time,
    ) -> StoreResult<SalvageReport> {
        let workshop = SalvageFolder::create(&self.files, now)?;
        let saved = self.salvage_in(&workshop, damaged, making, now)?;
        drop(workshop);
        if saved.read > 0 {
            let name = with_suffix(damaged, SALVAGED_SUFFIX);
            for end in ["", "-wal"] {
                let (from, to) = (with_suffix(damaged, end), with_suffix(&name, end));
                if from.exists() {
                    fs::rename(&from, to).map_err(io_error("move", &from))?;
                }
            }
        }
        Ok(saved)
    }

    fn salvage_in(
        &mut self,
        workshop: &SalvageFolder,
        damaged: &Path,
        making: &FolderLock,
        now: Time,
    ) -> StoreResult<SalvageReport> {
        let (mut done, fresh) = workshop.read_damaged(damaged, making, now)?;
        let mut fresh = Store::open(&fresh, now)?;
        let mut records = Vec::new();
        done.refused += fresh.export_readable(&mut records)?;
        self.write(|transaction| {
            for record in &records {
                transaction.execute_batch("SAVEPOINT record")?;
                match import_record(transaction, record) {
                    Ok(RowImport::Added) => done.saved += 1,
                    Ok(_) => {}
                    Err(RowRefusal::Row(_)) => {
                        done.refused += 1;
                        transaction.execute_batch("ROLLBACK TO record")?;
                    }
                    Err(RowRefusal::Store(error)) => return Err(error),
                }
                transaction.execute_batch("RELEASE record")?;
            }
            // Otherwise imported rows would count as written here.
            carry_imports_over(&fresh.connection, transaction)
        })?;
        Ok(done)
    }
}

/// A temporary folder next to the database, removed on drop.
struct SalvageFolder {
    folder: PathBuf,
}

impl SalvageFolder {
    fn create(files: &DataDir, now: Time) -> StoreResult<Self> {
        let folder = files.folder().join(format!("{WORKSHOP_PREFIX}{}", Id::new(now)));
        data_dir::make_folder(&folder).map_err(io_error("make", &folder))?;
        Ok(Self { folder })
    }

    /// Reads a damaged database into a new one in a separate folder, and returns that folder.
    fn read_damaged(
        &self,
        damaged: &Path,
        making: &FolderLock,
        now: Time,
    ) -> StoreResult<(SalvageReport, PathBuf)> {
        let fresh = DataDir::new(self.folder.join("fresh"));
        fresh.make_folder().map_err(io_error("make", fresh.folder()))?;
        create_database(&fresh, making)?;
        let into = open_database(&fresh.database(), data_dir::LOCK_TIMEOUT)?;
        into.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN")?;
        let image = wal_image::read_with_wal(damaged, &with_suffix(damaged, "-wal"))
            .map_err(io_error("read", damaged))?;
        let PageScan { tables: mut found, unreadable_pages } =
            pages::scan_pages(&image, TableShape::read_all(&into, &SALVAGED_TABLES)?);
        let mut done = SalvageReport { unreadable_pages, ..SalvageReport::default() };
        for table in SALVAGED_TABLES {
            if let Some(at) = found.iter().position(|found| found.shape.table == table) {
                copy_table(&into, table, found.swap_remove(at), &mut done)?;
            }
        }
        adopt_rows(&into, now)?;
        into.execute_batch("COMMIT")?;
        Ok((done, fresh.folder().to_owned()))
    }
}

impl Drop for SalvageFolder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Inserts the rows that were found for a table into the new store.
fn copy_table(
    into: &Connection,
    table: &'static str,
    found: FoundTable,
    done: &mut SalvageReport,
) -> StoreResult {
    let FoundTable { shape, rows, unreadable } = found;
    let mut copied = SalvagedTable { table, read: 0, damaged: unreadable };
    for row in rows {
        let values = shape.values_with_row_id(row);
        let names = shape.names(values.len()).join(", ");
        let marks = vec!["?"; values.len()].join(", ");
        let mut insert = into
            .prepare_cached(&format!("INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"))?;
        match insert.execute(params_from_iter(values)) {
            Ok(1) => copied.read += 1,
            // It conflicts with another row, or lacks a required column.
            _ => copied.damaged += 1,
        }
    }
    done.read += copied.read;
    done.refused += copied.damaged;
    done.tables.push(copied);
    Ok(())
}

/// Creates placeholder projects and sessions for rows that lost theirs, so that readable rows are not dropped.
fn adopt_rows(into: &Connection, now: Time) -> StoreResult {
    let lost = |child: &str, column: &str, parent: &str| -> StoreResult<Vec<i64>> {
        let mut lost = into.prepare(&format!(
            "SELECT DISTINCT {column} FROM {child} WHERE {column} IS NOT NULL AND {column} NOT IN (SELECT id FROM {parent})"
        ))?;
        Ok(lost.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    };
    for child in tables::PROJECT_TABLES {
        for number in lost(child, "project", "project")? {
            into.execute(
                "INSERT OR IGNORE INTO project (id, uid, key, name, root, created, changed)
                 VALUES (?1, ?2, ?3, 'salvaged', '', ?4, ?4)",
                rusqlite::params![
                    number,
                    Id::new(now),
                    format!("salvaged:{}:{number}", now.millis()),
                    now
                ],
            )?;
        }
    }
    // The import finds projects by their keys.
    into.execute(
        "INSERT OR IGNORE INTO project_alias (key, project) SELECT key, id FROM project",
        [],
    )?;
    for child in ["outcome", "ghap"] {
        for number in lost(child, "session", "session")? {
            into.execute(
                &format!(
                    "INSERT OR IGNORE INTO session (id, uid, client, project, source, started, seen, ended)
                     SELECT ?1, ?2, ?3, project, 'command-line', ?4, ?4, ?4 FROM {child} WHERE session = ?1 LIMIT 1"
                ),
                rusqlite::params![number, Id::new(now), format!("salvaged:{}:{number}", now.millis()), now],
            )?;
        }
    }
    Ok(())
}
