//! Imports of whole files: the summary for the user's decision, the import itself, and its removal.

use std::io::BufRead;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use serde::Serialize;

use super::accept::accept_batch;
use super::foreign::import_foreign;
use super::import::{
    ImportError, ImportReport, RowImport, RowRefusal, import_record, read_records,
};
use super::{ExportRecord, RowOrigin};
use crate::origin::{ImportBatch, Origin};
use crate::project::ProjectKey;
use crate::store::{
    ForgetResult, Store, StoreError, StoreResult, clusters, documents, forget, origins, projects,
    proposals, tables, values,
};
use crate::value::ValueStanding;
use crate::{Clean, Id, IdSuffix, Time};

/// The rows of a file before its import.
#[derive(Debug)]
pub struct ImportFile {
    records: Vec<(usize, ExportRecord)>,
}

/// The owner of the rows in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhoseRows {
    /// The user, on another machine or in a backup: the rows count as if they were written here.
    Own,
    /// Another person: the rows are marked as imported until the user accepts them.
    Foreign,
}

/// The content of a file, for the user who decides about it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ImportSummary {
    /// Number of rows for each project.
    pub projects: Vec<ImportedProject>,
    /// Texts that would hold in every project.
    pub everywhere: Vec<Clean>,
    /// Values that are marked as accepted in the file.
    pub accepted_values: Vec<Clean>,
    /// Additional keys of its projects, which decide the folders that read the rows: the key and its project.
    pub aliases: Vec<(ProjectKey, ProjectKey)>,
}

/// The rows of one project in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportedProject {
    /// The key of the project.
    pub key: ProjectKey,
    /// The name of the project.
    pub name: Clean,
    /// True if the project exists here: its sessions will read the rows.
    pub is_known: bool,
    /// Number of captured runs.
    pub runs: usize,
    /// Number of GHAPs.
    pub ghaps: usize,
    /// Number of memories.
    pub memories: usize,
    /// Number of values.
    pub values: usize,
    /// Number of failures.
    pub episodes: usize,
}

/// An import and the number of its rows that still exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BatchSummary {
    /// The import.
    #[serde(flatten)]
    pub batch: ImportBatch,
    /// Number of its rows.
    pub rows: usize,
    /// Number of its rows that wait for the user.
    pub waiting: usize,
}

impl ImportSummary {
    /// Counts a row of a project, even if the file has no line for that project.
    fn count_row(
        &mut self,
        store: &Store,
        key: &ProjectKey,
        add: impl FnMut(&mut ImportedProject),
    ) -> StoreResult {
        if !self.projects.iter().any(|project| project.key == *key) {
            self.add_project(store, key, &Clean::new(key.as_str()))?;
        }
        self.projects.iter_mut().filter(|project| project.key == *key).take(1).for_each(add);
        Ok(())
    }

    fn add_project(&mut self, store: &Store, key: &ProjectKey, name: &Clean) -> StoreResult {
        self.projects.push(ImportedProject {
            key: key.clone(),
            name: name.clone(),
            is_known: projects::find_by_key(&store.connection, key)?.is_some(),
            runs: 0,
            ghaps: 0,
            memories: 0,
            values: 0,
            episodes: 0,
        });
        Ok(())
    }
}

impl ImportFile {
    /// Reads a whole file. Calls `progress` with the number of bytes of each line.
    pub fn read(input: impl BufRead, progress: impl FnMut(u64)) -> Result<Self, ImportError> {
        Ok(Self { records: read_records(input, progress)? })
    }
}

impl Store {
    /// Summarises the content of a file.
    pub fn summarize_import(&self, file: &ImportFile) -> StoreResult<ImportSummary> {
        let mut summary = ImportSummary::default();
        for (_, record) in &file.records {
            match record {
                ExportRecord::Project(project) => {
                    summary.add_project(self, &project.key, &project.name)?;
                    for alias in &project.aliases {
                        if projects::find_by_key(&self.connection, alias)?.is_none() {
                            summary.aliases.push((alias.clone(), project.key.clone()));
                        }
                    }
                }
                ExportRecord::Alias(alias) => {
                    summary.aliases.push((alias.key.clone(), alias.project.clone()));
                }
                ExportRecord::Outcome(outcome) => {
                    summary.count_row(self, &outcome.project, |project| project.runs += 1)?;
                }
                ExportRecord::Ghap(ghap) => {
                    summary.count_row(self, &ghap.project, |project| project.ghaps += 1)?;
                }
                ExportRecord::Episode(episode) => {
                    summary.count_row(self, &episode.project, |project| project.episodes += 1)?;
                }
                ExportRecord::Memory(memory) => match &memory.project {
                    Some(project) => {
                        summary.count_row(self, project, |project| project.memories += 1)?;
                    }
                    None => summary.everywhere.push(memory.text.clone()),
                },
                ExportRecord::Value(value) => {
                    match &value.project {
                        Some(project) => {
                            summary.count_row(self, project, |project| project.values += 1)?;
                        }
                        None => summary.everywhere.push(value.text.clone()),
                    }
                    if value.standing == ValueStanding::Accepted {
                        summary.accepted_values.push(value.text.clone());
                    }
                }
                ExportRecord::RutterExport { .. }
                | ExportRecord::Session(_)
                | ExportRecord::Experience(_)
                | ExportRecord::CommandEpisode(_)
                | ExportRecord::Change(_)
                | ExportRecord::Injection(_)
                | ExportRecord::Origin(_) => {}
            }
        }
        Ok(summary)
    }

    /// Imports a file, all of it or nothing. `name` identifies the import in lists.
    pub fn import(
        &mut self,
        file: &ImportFile,
        name: &str,
        whose: WhoseRows,
        now: Time,
    ) -> Result<ImportReport, ImportError> {
        let mut done = ImportReport::default();
        self.changed.clear();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(StoreError::from)?;
        let batch = begin_batch(&transaction, name, whose, now).map_err(StoreError::from)?;
        let known_alias: i64 = transaction
            .query_row("SELECT coalesce(max(id), 0) FROM project_alias", [], |row| row.get(0))
            .map_err(StoreError::from)?;
        for (line, record) in &file.records {
            if let ExportRecord::Origin(origin) = record {
                note_claimed_origin(&transaction, origin, batch).map_err(StoreError::from)?;
                continue;
            }
            let became = match whose {
                WhoseRows::Own => import_record(&transaction, record),
                WhoseRows::Foreign => import_foreign(&transaction, record, batch, now),
            };
            match became {
                Ok(RowImport::Added) => {
                    done.added += 1;
                    note_import(&transaction, record, batch).map_err(StoreError::from)?;
                }
                Ok(RowImport::Updated) => {
                    done.updated += 1;
                    // The row now has the content of the file's row.
                    note_update(&transaction, record, batch).map_err(StoreError::from)?;
                }
                Ok(RowImport::Kept) => done.kept += 1,
                Ok(RowImport::Waiting) => done.waiting += 1,
                Ok(RowImport::LeftOut) => done.left_out += 1,
                Err(RowRefusal::Row(why)) => return Err(ImportError::Line { line: *line, why }),
                Err(RowRefusal::Store(error)) => return Err(error.into()),
            }
        }
        mark_new_aliases(&transaction, known_alias, batch).map_err(StoreError::from)?;
        // Values of another person are not united with the user's own.
        let has_values =
            || file.records.iter().any(|(_, record)| matches!(record, ExportRecord::Value(_)));
        if whose == WhoseRows::Own && has_values() {
            values::unite_duplicates(&transaction)?;
        }
        done.waiting = proposals::count_waiting(&transaction, batch).map_err(StoreError::from)?;
        if done.waiting == 0 {
            // Keep the batch if it has rows, so that the import can be undone.
            transaction
                .execute(
                    "DELETE FROM import_batch WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM origin WHERE batch = ?1)",
                    [batch],
                )
                .map_err(StoreError::from)?;
        }
        documents::update_documents(&transaction)?;
        self.changed.add_fingerprints(&transaction, &self.files)?;
        transaction.commit().map_err(StoreError::from)?;
        Ok(done)
    }

    /// Lists imports that still have rows, the newest first.
    pub fn imports(&self) -> StoreResult<Vec<BatchSummary>> {
        let mut rows = self.connection.prepare_cached(
            "SELECT uid, file, at, accepted IS NOT NULL,
                    (SELECT count(*) FROM origin WHERE origin.batch = import_batch.id),
                    (SELECT count(*) FROM proposal WHERE proposal.batch = import_batch.id)
             FROM import_batch ORDER BY id DESC",
        )?;
        let found = rows.query_map([], |row| {
            Ok(BatchSummary {
                batch: ImportBatch {
                    id: row.get(0)?,
                    file: row.get(1)?,
                    at: row.get(2)?,
                    is_accepted: row.get(3)?,
                },
                rows: row.get(4)?,
                waiting: row.get(5)?,
            })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Finds an import by the id or id suffix that a user typed.
    pub fn import_id(&self, id: &IdSuffix) -> StoreResult<Id> {
        tables::find_by_suffix(&self.connection, "import_batch", "import", id)
    }

    /// Marks the rows of an import as the user's own, including those that wait. Returns their number.
    pub fn accept_import(&mut self, id: Id, now: Time) -> StoreResult<usize> {
        self.write(|transaction| {
            let batch = batch_row(transaction, id)?;
            transaction.execute(
                "UPDATE import_batch SET accepted = ?2 WHERE id = ?1",
                params![batch, now],
            )?;
            let rows: usize = transaction.query_row(
                "SELECT count(*) FROM origin WHERE batch = ?1",
                [batch],
                |row| row.get(0),
            )?;
            Ok(rows + accept_batch(transaction, batch)?)
        })
    }

    /// Removes every row that an import added, and its waiting rows. Rows that it changed stay as they are.
    pub fn undo_import(&mut self, id: Id) -> StoreResult<ForgetResult> {
        let lock = self.wait_for_maintenance_lock()?;
        let count = self.write(|transaction| {
            let batch = batch_row(transaction, id)?;
            let mut count = 0;
            for table in ["change", "command_episode", "episode", "value", "memory", "ghap", "outcome"] {
                let own = format!("SELECT uid FROM {table} JOIN origin ON origin.row = {table}.uid WHERE batch = ?1");
                transaction
                    .execute(&format!("DELETE FROM injection WHERE row IN ({own})"), [batch])?;
                count += transaction
                    .execute(&format!("DELETE FROM {table} WHERE uid IN ({own})"), [batch])?;
            }
            count += origins::delete_imported_aliases(transaction, batch)?;
            count += remove_unused(transaction, batch)?;
            transaction.execute("UPDATE origin SET batch = NULL WHERE batch = ?1", [batch])?;
            count += transaction.execute("DELETE FROM proposal WHERE batch = ?1", [batch])?;
            transaction.execute("DELETE FROM import_batch WHERE id = ?1", [batch])?;
            clusters::forget_derived(transaction)?;
            forget::mark_erasing(transaction)?;
            Ok(count)
        })?;
        self.erase_deleted_bytes(&lock, count)
    }
}

/// Copies the imports of another database: the marks of imported rows, and the waiting rows.
pub(crate) fn carry_imports_over(from: &Connection, to: &Connection) -> StoreResult {
    let mut batches = from.prepare("SELECT id, uid, file, at, accepted FROM import_batch")?;
    let mut batches = batches.query([])?;
    while let Some(row) = batches.next()? {
        let (number, id): (i64, Id) = (row.get(0)?, row.get(1)?);
        let (file, at): (Clean, Time) = (row.get(2)?, row.get(3)?);
        to.execute(
            "INSERT OR IGNORE INTO import_batch (uid, file, at, accepted) VALUES (?1, ?2, ?3, ?4)",
            params![id, file, at, row.get::<_, Option<Time>>(4)?],
        )?;
        let batch = batch_row(to, id)?;
        let mut rows = from.prepare_cached("SELECT row FROM origin WHERE batch = ?1")?;
        for row in rows.query_map([number], |row| row.get::<_, Id>(0))? {
            let row = row?;
            origins::insert_origin(to, row, &Origin::default(), Some(batch))?;
            to.prepare_cached("UPDATE origin SET batch = ?2 WHERE row = ?1 AND batch IS NULL")?
                .execute(params![row, batch])?;
        }
        let mut records =
            from.prepare_cached("SELECT record, at FROM proposal WHERE batch = ?1 ORDER BY id")?;
        let mut records = records.query([number])?;
        while let Some(row) = records.next()? {
            if let Ok(record) = serde_json::from_str(&row.get::<_, String>(0)?) {
                proposals::propose_record(to, &record, batch, row.get(1)?)?;
            }
        }
    }
    Ok(())
}

/// Removes sessions and projects that an import added and that no other row uses.
fn remove_unused(connection: &Connection, batch: i64) -> rusqlite::Result<usize> {
    let sessions = connection.execute(
        "DELETE FROM session WHERE uid IN (SELECT row FROM origin WHERE batch = ?1)
             AND NOT EXISTS (SELECT 1 FROM ghap WHERE ghap.session = session.id)
             AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.session = session.id)",
        [batch],
    )?;
    let used: Vec<String> = tables::PROJECT_TABLES
        .iter()
        .filter(|table| **table != "project_alias")
        .map(|table| {
            format!("AND NOT EXISTS (SELECT 1 FROM {table} WHERE {table}.project = project.id)")
        })
        .collect();
    let projects = connection.execute(
        &format!(
            "DELETE FROM project WHERE uid IN (SELECT row FROM origin WHERE batch = ?1) {}",
            used.join(" ")
        ),
        [batch],
    )?;
    Ok(sessions + projects)
}

fn begin_batch(
    connection: &Connection,
    name: &str,
    whose: WhoseRows,
    now: Time,
) -> rusqlite::Result<i64> {
    let accepted = (whose == WhoseRows::Own).then_some(now);
    connection.execute(
        "INSERT INTO import_batch (uid, file, at, accepted) VALUES (?1, ?2, ?3, ?4)",
        params![Id::new(now), Clean::new(name), now, accepted],
    )?;
    Ok(connection.last_insert_rowid())
}

fn batch_row(connection: &Connection, id: Id) -> StoreResult<i64> {
    let found = connection
        .query_row("SELECT id FROM import_batch WHERE uid = ?1", [id], |row| row.get(0))
        .optional()?;
    found.ok_or_else(|| StoreError::NotFound { what: "import", id: id.into() })
}

/// Marks the aliases that an import added. The main key of a project goes with the project.
fn mark_new_aliases(connection: &Connection, known: i64, batch: i64) -> rusqlite::Result<()> {
    let mut added = connection.prepare(
        "SELECT key FROM project_alias WHERE id > ?1 AND key NOT IN (SELECT key FROM project)",
    )?;
    for key in added.query_map([known], |row| row.get(0))? {
        origins::mark_imported_alias(connection, &key?, batch)?;
    }
    Ok(())
}

/// Marks a row as added by an import.
fn note_import(connection: &Connection, record: &ExportRecord, batch: i64) -> rusqlite::Result<()> {
    row_with_origin(record).map_or(Ok(()), |row| {
        origins::insert_origin(connection, row, &Origin::default(), Some(batch))
    })
}

/// Moves a row of an earlier import to the import that changed it.
fn note_update(connection: &Connection, record: &ExportRecord, batch: i64) -> rusqlite::Result<()> {
    if let Some(row) = row_with_origin(record) {
        connection
            .prepare_cached("UPDATE origin SET batch = ?2 WHERE row = ?1 AND batch IS NOT NULL")?
            .execute(params![row, batch])?;
    }
    Ok(())
}

/// Returns the row of a record that can have an origin. An experience shares the origin of its GHAP, an injection that
/// of its session.
const fn row_with_origin(record: &ExportRecord) -> Option<Id> {
    match record {
        ExportRecord::Experience(_) | ExportRecord::Injection(_) => None,
        _ => record.row_id(),
    }
}

/// Stores the origin that a file claims for a row, if this import added the row.
fn note_claimed_origin(
    connection: &Connection,
    RowOrigin { row, origin }: &RowOrigin,
    batch: i64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE origin SET writer = ?3, checkout = ?4, session = ?5, agent = ?6 WHERE row = ?1 AND batch = ?2",
        )?
        .execute(params![row, batch, origin.writer, origin.checkout, origin.session, origin.agent])?;
    Ok(())
}
