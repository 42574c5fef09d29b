//! Recovers the readable rows of a damaged database.
//!
//! Reads its pages one by one ([`pages`]), with the write-ahead log applied. The rows go into an empty store, and from
//! there through the import, which validates each row like a command does.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params_from_iter};
use serde::Serialize;

use super::exchange::{Became, Refused, carry_imports_over, import};
use super::{Files, Store, StoreError, at, create, image, look, tables};
use crate::data_dir;
use crate::data_dir::{Lock, SALVAGED, WORKSHOP, with_end};
use crate::{Id, Time};

mod pages;
mod record;
#[cfg(test)]
mod tests;

use pages::{Found, Scan, Shape};

/// All tables with data of the user, parents first.
const TABLES: [&str; 16] = [
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
    "injection",
    "import_batch",
    "origin",
    "proposal",
];

/// The result of a recovery.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Salvaged {
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
        making: &Lock,
        now: Time,
    ) -> Result<Salvaged, StoreError> {
        let workshop = Workshop::open(&self.files, now)?;
        let saved = self.salvage_in(&workshop, damaged, making, now)?;
        drop(workshop);
        if saved.read > 0 {
            let name = with_end(damaged, SALVAGED);
            for end in ["", "-wal"] {
                let (from, to) = (with_end(damaged, end), with_end(&name, end));
                if from.exists() {
                    fs::rename(&from, to).map_err(at("move", &from))?;
                }
            }
        }
        Ok(saved)
    }

    fn salvage_in(
        &mut self,
        workshop: &Workshop,
        damaged: &Path,
        making: &Lock,
        now: Time,
    ) -> Result<Salvaged, StoreError> {
        let (mut done, fresh) = workshop.read(damaged, making, now)?;
        let mut fresh = Store::open(&fresh, now)?;
        let mut records = Vec::new();
        done.refused += fresh.export_readable(&mut records)?;
        self.write(|transaction| {
            for record in &records {
                transaction.execute_batch("SAVEPOINT record")?;
                match import(transaction, record) {
                    Ok(Became::Added) => done.saved += 1,
                    Ok(_) => {}
                    Err(Refused::Row(_)) => {
                        done.refused += 1;
                        transaction.execute_batch("ROLLBACK TO record")?;
                    }
                    Err(Refused::Store(error)) => return Err(error),
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
struct Workshop {
    folder: PathBuf,
}

impl Workshop {
    fn open(files: &Files, now: Time) -> Result<Self, StoreError> {
        let folder = files.folder().join(format!("{WORKSHOP}{}", Id::new(now)));
        data_dir::make_folder(&folder).map_err(at("make", &folder))?;
        Ok(Self { folder })
    }

    /// Reads a damaged database into a new one in a separate folder, and returns that folder.
    fn read(
        &self,
        damaged: &Path,
        making: &Lock,
        now: Time,
    ) -> Result<(Salvaged, PathBuf), StoreError> {
        let fresh = Files::new(self.folder.join("fresh"));
        fresh.make_folder().map_err(at("make", fresh.folder()))?;
        create(&fresh, making)?;
        let into = look(&fresh.database(), data_dir::PATIENCE)?;
        into.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN")?;
        let image =
            image::read(damaged, &with_end(damaged, "-wal")).map_err(at("read", damaged))?;
        let Scan { tables: mut found, unreadable_pages } =
            pages::scan(&image, Shape::read_all(&into, &TABLES)?);
        let mut done = Salvaged { unreadable_pages, ..Salvaged::default() };
        for table in TABLES {
            if let Some(at) = found.iter().position(|found| found.shape.table == table) {
                copy_table(&into, table, found.swap_remove(at), &mut done)?;
            }
        }
        adopt_rows(&into, now)?;
        into.execute_batch("COMMIT")?;
        Ok((done, fresh.folder().to_owned()))
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Inserts the rows that were found for a table into the new store.
fn copy_table(
    into: &Connection,
    table: &'static str,
    found: Found,
    done: &mut Salvaged,
) -> Result<(), StoreError> {
    let Found { shape, rows, unreadable } = found;
    let mut copied = SalvagedTable { table, read: 0, damaged: unreadable };
    for row in rows {
        let values = shape.complete(row);
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
fn adopt_rows(into: &Connection, now: Time) -> Result<(), StoreError> {
    let lost = |child: &str, column: &str, parent: &str| -> Result<Vec<i64>, StoreError> {
        let mut lost = into.prepare(&format!(
            "SELECT DISTINCT {column} FROM {child} WHERE {column} IS NOT NULL AND {column} NOT IN (SELECT id FROM {parent})"
        ))?;
        Ok(lost.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    };
    for child in tables::OF_PROJECT {
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
