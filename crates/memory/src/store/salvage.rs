//! What can still be read of a damaged database.
//!
//! Works on a copy. Tables are read row by row from both ends towards the damage, and the rows between are asked for
//! one by one. What comes out goes into an empty store of the same shape, and from there through the import, which
//! holds every row to what a command would hold it to. Where the first page is gone, that of an empty store takes its
//! place: tables begin on the same pages in every store that was never built anew, and on the same other pages in
//! every one that was.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use serde::Serialize;

use super::exchange::{Became, Refused, import};
use super::files::{Lock, SALVAGED, WORKSHOP, with_end};
use super::{Files, Store, StoreError, at, create, files, look, tables};
use crate::{Id, Time};

/// Rows between the two ends of the damage that are asked for one by one; more would take too long.
const PROBES: i64 = 1_000_000;
const PAGE: usize = 4096;
/// Every table that holds something of the user's, parents first.
const TABLES: [&str; 13] = [
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
];

/// What was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Salvaged {
    /// Rows that could be read.
    pub read: usize,
    /// Rows that are in the store now and were not before.
    pub saved: usize,
    /// Rows that were there and made no sense.
    pub refused: usize,
}

impl Store {
    /// Takes over what can be read of a database that was put aside. The file is kept, under a name that says that it
    /// was read, unless nothing could be.
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
        let mut best: Option<(Salvaged, PathBuf)> = None;
        for way in [Way::AsItIs, Way::WithAFirstPage, Way::WithARebuiltFirstPage] {
            let (read, fresh) = workshop.read(damaged, way, making, now)?;
            if best.as_ref().is_none_or(|(so_far, _)| read.read > so_far.read) {
                best = Some((read, fresh));
            }
            // Only where the file's own first page leads nowhere is another worth a try.
            if best.as_ref().is_some_and(|(so_far, _)| so_far.read > 0) && way == Way::AsItIs {
                break;
            }
        }
        let Some((mut done, fresh)) = best else { return Ok(Salvaged::default()) };
        let mut fresh = Store::open(&fresh, now)?;
        let mut records = Vec::new();
        done.refused += fresh.export_readable(&mut records)?;
        self.write(|transaction| {
            for record in &records {
                transaction.execute_batch("SAVEPOINT record")?;
                match import(transaction, record) {
                    Ok(Became::Added) => done.saved += 1,
                    Ok(Became::Updated | Became::Kept) => {}
                    Err(Refused::Row(_)) => {
                        done.refused += 1;
                        transaction.execute_batch("ROLLBACK TO record")?;
                    }
                    Err(Refused::Store(error)) => return Err(error),
                }
                transaction.execute_batch("RELEASE record")?;
            }
            Ok(())
        })?;
        Ok(done)
    }
}

/// How to get past a broken first page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    AsItIs,
    WithAFirstPage,
    WithARebuiltFirstPage,
}

/// A folder to work in, beside the database, that goes away again.
struct Workshop {
    folder: PathBuf,
}

impl Workshop {
    fn open(files: &Files, now: Time) -> Result<Self, StoreError> {
        let folder = files.folder().join(format!("{WORKSHOP}{}", Id::new(now)));
        files::make_folder(&folder).map_err(at("make", &folder))?;
        Ok(Self { folder })
    }

    /// Reads a damaged database into an empty one, which it leaves in a folder of its own.
    fn read(
        &self,
        damaged: &Path,
        way: Way,
        making: &Lock,
        now: Time,
    ) -> Result<(Salvaged, PathBuf), StoreError> {
        let mut done = Salvaged::default();
        let folder = self.folder.join(format!("{way:?}"));
        files::make_folder(&folder).map_err(at("make", &folder))?;
        let copy = folder.join("copy.db");
        for end in ["", "-wal"] {
            let (from, to) = (with_end(damaged, end), with_end(&copy, end));
            if from.exists() {
                copy_private(&from, &to).map_err(at("copy", &from))?;
            }
        }
        let fresh = Files::new(folder.join("fresh"));
        fresh.make_folder().map_err(at("make", fresh.folder()))?;
        create(&fresh, making)?;
        if way != Way::AsItIs {
            if way == Way::WithARebuiltFirstPage {
                look(&fresh.database(), files::PATIENCE)?
                    .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
            }
            graft(&copy, &fresh.database()).map_err(at("mend", &copy))?;
        }
        let into = look(&fresh.database(), files::PATIENCE)?;
        into.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN")?;
        let from = look(&copy, files::PATIENCE)?;
        // SQLite otherwise refuses a database that is shorter than it says it is.
        if from.execute_batch("PRAGMA writable_schema = ON").is_ok() {
            for table in TABLES {
                copy_table(&from, &into, table, &mut done)?;
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

fn copy_private(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut source = files::open_own(from, &files::readable())?;
    let mut target = files::private().write(true).create_new(true).open(to)?;
    std::io::copy(&mut source, &mut target)?;
    Ok(())
}

/// Puts the first page of an empty store in place of a broken one.
fn graft(copy: &Path, fresh: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::FileExt as _;

    let mut page = vec![0; PAGE];
    fs::File::open(fresh)?.read_exact_at(&mut page, 0)?;
    let file = fs::OpenOptions::new().write(true).open(copy)?;
    let pages = u32::try_from(file.metadata()?.len() / PAGE as u64).unwrap_or(u32::MAX);
    // The size in pages; and no list of free pages, which would lead anywhere.
    page[28..32].copy_from_slice(&pages.to_be_bytes());
    page[32..40].fill(0);
    // The size counts only if these two agree.
    page.copy_within(24..28, 92);
    file.write_all_at(&page, 0)
}

fn copy_table(
    from: &Connection,
    into: &Connection,
    table: &str,
    done: &mut Salvaged,
) -> Result<(), StoreError> {
    let names_in = |connection: &Connection| -> rusqlite::Result<Vec<String>> {
        connection
            .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?
            .query_map([], |row| row.get(0))?
            .collect()
    };
    let mut columns = names_in(into)?;
    // It may be older and lack some.
    if let Ok(there) = names_in(from)
        && !there.is_empty()
    {
        columns.retain(|name| there.contains(name));
    }
    let names = columns.join(", ");
    let marks = vec!["?"; columns.len()].join(", ");
    let mut insert =
        into.prepare(&format!("INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"))?;
    let mut keep = |row: &rusqlite::Row<'_>| -> i64 {
        let number = row.get(0).unwrap_or_default();
        let values: Result<Vec<Value>, _> =
            (1..=columns.len()).map(|column| row.get(column)).collect();
        match values.and_then(|values| insert.execute(params_from_iter(values))) {
            Ok(count) => done.read += count,
            Err(_) => done.refused += 1,
        }
        number
    };
    // An error ends each walk: that is where the damage is.
    let mut walk = |order: &str, stop: i64| -> Option<i64> {
        let mut last = None;
        // Not through an index, which may be broken elsewhere.
        let query = format!(
            "SELECT rowid, {names} FROM {table} NOT INDEXED WHERE rowid > ?1 ORDER BY rowid {order}"
        );
        if let Ok(mut rows) = from.prepare(&query)
            && let Ok(mut rows) = rows.query([stop])
        {
            while let Ok(Some(row)) = rows.next() {
                last = Some(keep(row));
            }
        }
        last
    };
    let low = walk("ASC", i64::MIN).unwrap_or(0);
    let high = walk("DESC", low).unwrap_or(low);
    if let Ok(mut probe) =
        from.prepare(&format!("SELECT rowid, {names} FROM {table} NOT INDEXED WHERE rowid = ?1"))
    {
        let end = high.min(low.saturating_add(PROBES));
        for number in low.saturating_add(1)..end {
            if let Ok(mut rows) = probe.query([number])
                && let Ok(Some(row)) = rows.next()
            {
                keep(row);
            }
        }
    }
    Ok(())
}

/// Gives rows that lost their project or session a stand-in: what can be read is not thrown away for its parent's sake.
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
    // The keys of a project are what rows are imported by.
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
