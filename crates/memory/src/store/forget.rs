//! Forgetting: deletes rows and every byte of their text.
//!
//! `secure_delete` overwrites deleted rows, but pages that were split long ago may still hold copies of rows that
//! moved. So the database is rebuilt with `VACUUM`, the WAL is truncated, and the search files are removed and rebuilt
//! from the remaining rows. The spool is drained first, so that its entries can be found. Log files and damaged
//! databases that were moved aside are deleted whole, because their content is unknown. The deletion also records that
//! an erasure is pending: if it is interrupted, the next `forget` or `maintain` finishes it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction};
use serde::Serialize;

use super::documents::search_files;
use super::entry::ProjectPlace;
use super::{
    EpisodeFilter, Store, StoreError, StoreResult, clusters, episodes, ghaps, io_error, memories,
    outcomes, proposals, row_ids, spool, tables, values,
};
use crate::data_dir;
use crate::data_dir::FolderLock;
use crate::episode::Episode;
use crate::project::ProjectKey;
use crate::{Clean, Id, IdSuffix, Time};

mod matching;

use matching::{
    command_texts, contains_words, episode_texts, ghap_texts, memory_texts, outcome_texts,
    query_words,
};

/// The kinds of rows that can be forgotten one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForgettableKind {
    /// A GHAP and its experience.
    Ghap,
    /// A memory.
    Memory,
    /// A captured test run.
    Outcome,
    /// An episode: a failure and its fix.
    Episode,
    /// A command that failed, and the variant that worked.
    Command,
    /// A change that was made while an episode was open.
    Change,
    /// A value: a sentence that summarizes several experiences.
    Value,
    /// A proposal that waits for the user's decision.
    Proposal,
}

impl ForgettableKind {
    const ALL: [Self; 8] = [
        Self::Ghap,
        Self::Memory,
        Self::Outcome,
        Self::Episode,
        Self::Command,
        Self::Change,
        Self::Value,
        Self::Proposal,
    ];

    /// The kinds with a project column.
    const WITH_PROJECT: [Self; 7] = [
        Self::Ghap,
        Self::Memory,
        Self::Outcome,
        Self::Episode,
        Self::Command,
        Self::Change,
        Self::Value,
    ];

    const fn table(self) -> &'static str {
        match self {
            Self::Ghap => "ghap",
            Self::Memory => "memory",
            Self::Outcome => "outcome",
            Self::Episode => "episode",
            Self::Command => "command_episode",
            Self::Change => "change",
            Self::Value => "value",
            Self::Proposal => "proposal",
        }
    }
}

impl std::fmt::Display for ForgettableKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(if *self == Self::Command { "command" } else { self.table() })
    }
}

/// A row to be forgotten, as it is shown to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgettableRow {
    /// The kind of the row.
    pub kind: ForgettableKind,
    /// The id of the row.
    pub id: Id,
    /// The short text of the row.
    pub text: Clean,
}

/// The result of forgetting rows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ForgetResult {
    /// Number of deleted rows, without the rows that depended on them.
    pub rows: usize,
    /// Damaged databases that had been moved aside and are deleted now.
    pub files: Vec<PathBuf>,
    /// True if the WAL was truncated. False if another process was reading all the time.
    pub erased: bool,
}

impl Store {
    /// Drains the spool, so that its entries can be found, and finishes an interrupted erasure.
    ///
    /// Does nothing if the store is read-only: its rows can still be read.
    pub fn drain_spool(&mut self, now: Time) -> StoreResult {
        if self.is_read_only {
            return Ok(());
        }
        let lock = self.wait_for_maintenance_lock()?;
        let drained = spool::drain(self, &lock, now)?;
        self.finish_erasing(&lock)?;
        if drained.left { Err(StoreError::SpoolInUse) } else { Ok(()) }
    }

    /// Drains the spool unless another process holds the maintenance lock. Returns true if nothing is left in the
    /// spool.
    pub fn try_drain_spool(&mut self, now: Time) -> StoreResult<bool> {
        if self.is_read_only {
            return Ok(true);
        }
        let Some(lock) = self.try_maintenance_lock()? else { return Ok(false) };
        Ok(!spool::drain(self, &lock, now)?.left)
    }

    /// Returns the row that a user names by the end of its id.
    pub fn find_row(&self, id: &IdSuffix) -> StoreResult<ForgettableRow> {
        self.find_unique_row(id, &ForgettableKind::ALL, |table| {
            tables::ids_with_suffix(&self.connection, table, id)
        })
    }

    /// Returns the row that an agent names by the end of its id. Rows of other projects are not found.
    pub fn find_row_in_project(
        &self,
        id: &IdSuffix,
        place: &ProjectPlace,
    ) -> StoreResult<ForgettableRow> {
        self.find_unique_row(id, &ForgettableKind::WITH_PROJECT, |table| {
            row_ids::project_ids_with_suffix(&self.connection, table, id, place, false)
        })
    }

    fn find_unique_row(
        &self,
        id: &IdSuffix,
        kinds: &[ForgettableKind],
        matching: impl Fn(&str) -> StoreResult<Vec<Id>>,
    ) -> StoreResult<ForgettableRow> {
        let mut found = Vec::new();
        for kind in kinds {
            found.extend(matching(kind.table())?.into_iter().map(|id| (*kind, id)));
        }
        match found.as_slice() {
            [(kind, id)] => self.describe_row(*kind, *id),
            [] => Err(StoreError::NotFound { what: "row", id: id.clone() }),
            several => Err(StoreError::Ambiguous { id: id.clone(), count: several.len() }),
        }
    }

    fn describe_row(&self, kind: ForgettableKind, id: Id) -> StoreResult<ForgettableRow> {
        let text = match kind {
            ForgettableKind::Ghap => self.ghap(id)?.goal,
            ForgettableKind::Memory => self.memory(id)?.text,
            ForgettableKind::Outcome => match self.outcome(id)? {
                Some(outcome) => outcome.command,
                None => return Err(StoreError::NotFound { what: "outcome", id: id.into() }),
            },
            ForgettableKind::Episode => episode_label(&self.episode(id)?),
            ForgettableKind::Command => self.command_episode(id)?.command,
            ForgettableKind::Value => self.value(id)?.value.text,
            ForgettableKind::Proposal => {
                proposals::load_proposal(&self.connection, id)?.what.text()
            }
            ForgettableKind::Change => self.connection.query_row(
                "SELECT name FROM change WHERE uid = ?1",
                [id],
                |row| row.get(0),
            )?,
        };
        Ok(ForgettableRow { kind, id, text })
    }

    /// Returns every row that contains all words of a query as whole words, ignoring case. The order is not a ranking.
    pub fn find_rows_with_words(&self, query: &str) -> StoreResult<Vec<ForgettableRow>> {
        let words = query_words(query);
        let mut found = Vec::new();
        if words.is_empty() {
            return Ok(found);
        }
        let mut all =
            ghaps::select_ghaps(&self.connection, "ORDER BY ghap.id", &[], |_| Ok(true), None)?;
        ghaps::load_revisions_and_notes(&self.connection, &mut all)?;
        for ghap in all {
            if contains_words(&ghap_texts(&ghap), &words) {
                found.push(ForgettableRow {
                    kind: ForgettableKind::Ghap,
                    id: ghap.id,
                    text: ghap.goal,
                });
            }
        }
        for memory in self.memories(&memories::MemoryFilter::default())? {
            if contains_words(&memory_texts(&memory), &words) {
                found.push(ForgettableRow {
                    kind: ForgettableKind::Memory,
                    id: memory.id,
                    text: memory.text,
                });
            }
        }
        for outcome in outcomes::select_outcomes(&self.connection, "ORDER BY outcome.id", [])? {
            if contains_words(&outcome_texts(&outcome), &words) {
                found.push(ForgettableRow {
                    kind: ForgettableKind::Outcome,
                    id: outcome.id,
                    text: outcome.command,
                });
            }
        }
        for episode in self.episodes(&EpisodeFilter::default())? {
            // The clues of an open failure are not part of the episode.
            let clues: String = self.connection.query_row(
                "SELECT clues FROM episode WHERE uid = ?1",
                [episode.id],
                |row| row.get(0),
            )?;
            let mut texts = episode_texts(&episode);
            texts.push(&clues);
            if contains_words(&texts, &words) {
                let text = episode_label(&episode);
                found.push(ForgettableRow { kind: ForgettableKind::Episode, id: episode.id, text });
            }
        }
        for episode in self.command_episodes(None, None)? {
            // Facts about an open episode are not part of it.
            let more: String = self.connection.query_row(
                "SELECT output || ' ' || form || ' ' || meanwhile FROM command_episode WHERE uid = ?1",
                [episode.id],
                |row| row.get(0),
            )?;
            let mut texts = command_texts(&episode);
            texts.push(&more);
            if contains_words(&texts, &words) {
                let text = episode.command.clone();
                found.push(ForgettableRow { kind: ForgettableKind::Command, id: episode.id, text });
            }
        }
        for value in values::all_values(&self.connection)? {
            if contains_words(&values::value_texts(&value), &words) {
                found.push(ForgettableRow {
                    kind: ForgettableKind::Value,
                    id: value.id,
                    text: value.text,
                });
            }
        }
        for proposal in proposals::all_proposals(&self.connection)? {
            let text = proposal.what.text();
            if contains_words(&[&text], &words) {
                found.push(ForgettableRow {
                    kind: ForgettableKind::Proposal,
                    id: proposal.id,
                    text,
                });
            }
        }
        let mut changes = self.connection.prepare("SELECT * FROM change ORDER BY id")?;
        let changes = changes
            .query_map([], |row| Ok((row.get::<_, Id>("uid")?, episodes::read_change(row)?)))?;
        for change in changes {
            let (id, change) = change?;
            let made_by = change.made_by.as_deref().unwrap_or_default();
            if contains_words(&[&change.name, &change.patch, made_by], &words) {
                found.push(ForgettableRow { kind: ForgettableKind::Change, id, text: change.name });
            }
        }
        Ok(found)
    }

    /// Forgets rows. `query` is the text they were found by; it selects the lines in the spool that only a newer
    /// program can read.
    pub fn forget(
        &mut self,
        rows: &[ForgettableRow],
        query: Option<&str>,
    ) -> StoreResult<ForgetResult> {
        let lock = self.wait_for_maintenance_lock()?;
        let count = self.write(|transaction| {
            let mut count = 0;
            for ForgettableRow { kind, id, .. } in rows {
                count += transaction
                    .execute(&format!("DELETE FROM {} WHERE uid = ?1", kind.table()), [id])?;
                transaction.execute("DELETE FROM injection WHERE row = ?1", [id])?;
            }
            transaction.execute_batch("DELETE FROM parked; DELETE FROM caller;")?;
            forget_unrecognized_commands(transaction, &query_words(query.unwrap_or_default()))?;
            clusters::forget_derived(transaction)?;
            mark_erasing(transaction)?;
            Ok(count)
        })?;
        let ids: Vec<String> = rows.iter().map(|row| row.id.to_string()).collect();
        let words = query_words(query.unwrap_or_default());
        self.remove_held_lines(&lock, |text| {
            ids.iter().any(|id| id == text)
                || (!words.is_empty() && contains_words(&[text], &words))
        })?;
        self.erase_deleted_bytes(&lock, count)
    }

    /// Forgets a project and all of its rows.
    pub fn forget_project(&mut self, project: Id) -> StoreResult<ForgetResult> {
        let lock = self.wait_for_maintenance_lock()?;
        let (count, keys) = self.write(|transaction| {
            let number: i64 =
                transaction.query_row("SELECT id FROM project WHERE uid = ?1", [project], |row| row.get(0))?;
            let keys = transaction
                .prepare("SELECT key FROM project_alias WHERE project = ?1")?
                .query_map([number], |row| row.get::<_, ProjectKey>(0))?
                .collect::<Result<Vec<_>, _>>()?;
            // Also delete injections of these rows in sessions that remain.
            let mut count = 0;
            for table in ["ghap", "memory", "outcome", "episode", "command_episode", "change", "value"] {
                transaction.execute(
                    &format!("DELETE FROM injection WHERE row IN (SELECT uid FROM {table} WHERE project = ?1)"),
                    [number],
                )?;
                count += transaction.execute(&format!("DELETE FROM {table} WHERE project = ?1"), [number])?;
            }
            // A session that started here may have continued in another project; its rows there remain.
            for table in ["ghap", "outcome"] {
                transaction.execute(
                    &format!(
                        "UPDATE session SET project = (SELECT project FROM {table} WHERE session = session.id LIMIT 1)
                         WHERE project = ?1 AND EXISTS (SELECT 1 FROM {table} WHERE session = session.id)"
                    ),
                    [number],
                )?;
            }
            transaction.execute_batch("DELETE FROM parked; DELETE FROM caller;")?;
            clusters::forget_derived(transaction)?;
            for key in &keys {
                proposals::delete_alias_proposals(transaction, key)?;
            }
            transaction.execute("DELETE FROM project WHERE id = ?1", [number])?;
            mark_erasing(transaction)?;
            Ok((count, keys))
        })?;
        self.remove_held_lines(&lock, |text| keys.iter().any(|key| key.as_str() == text))?;
        self.erase_deleted_bytes(&lock, count)
    }

    /// Forgets everything.
    pub fn forget_all(&mut self) -> StoreResult<ForgetResult> {
        let lock = self.wait_for_maintenance_lock()?;
        let count = self.write(|transaction| {
            let mut count = 0;
            for table in ["ghap", "memory", "outcome", "episode", "command_episode", "change", "value"] {
                count += transaction.execute(&format!("DELETE FROM {table}"), [])?;
            }
            transaction.execute("DELETE FROM project", [])?;
            transaction.execute_batch(
                "DELETE FROM drained; DELETE FROM proposal; DELETE FROM origin; DELETE FROM import_batch;",
            )?;
            clusters::forget_derived(transaction)?;
            mark_erasing(transaction)?;
            Ok(count)
        })?;
        spool::remove_all_files(&self.files, &lock)
            .and_then(|()| crate::pause::forget_paused_sessions(&self.files))
            .and_then(|()| crate::data_dir::remove_if_exists(&self.files.event_counts()))
            .map_err(|error| StoreError::NotErased(error.to_string()))?;
        self.erase_deleted_bytes(&lock, count)
    }

    fn remove_held_lines(&self, lock: &FolderLock, forget: impl Fn(&str) -> bool) -> StoreResult {
        spool::remove_held_lines(&self.files, lock, forget)
            .map_err(|error| StoreError::NotErased(error.to_string()))
    }

    /// Finishes an interrupted erasure.
    pub(crate) fn finish_erasing(&mut self, lock: &FolderLock) -> StoreResult {
        let begun: bool =
            self.connection
                .query_row("SELECT EXISTS (SELECT 1 FROM erasing)", [], |row| row.get(0))?;
        if begun {
            self.erase_deleted_bytes(lock, 0)?;
        }
        Ok(())
    }

    /// Removes the bytes of deleted rows from the whole data directory. The rows are already deleted, so an error from
    /// here on must not claim that nothing was changed.
    pub(super) fn erase_deleted_bytes(
        &mut self,
        lock: &FolderLock,
        rows: usize,
    ) -> StoreResult<ForgetResult> {
        super::maintain::remove_snapshots(&self.files, None);
        let forgotten = self
            .erase_files()
            .and_then(|files| {
                self.connection.execute_batch("DELETE FROM edition; DELETE FROM gone; VACUUM")?;
                let until = Instant::now() + data_dir::LOCK_TIMEOUT;
                let mut erased = self.checkpoint_wal(Duration::from_millis(500))?;
                while !erased && Instant::now() < until {
                    erased = self.checkpoint_wal(Duration::from_millis(500))?;
                }
                if erased {
                    self.connection.execute("DELETE FROM erasing", [])?;
                }
                Ok(ForgetResult { rows, files, erased })
            })
            .map_err(|error| StoreError::NotErased(error.to_string()))?;
        // Rebuild the other files. If that fails, `rutter maintain` does it later.
        drop(self.rebuild_search_files(lock));
        drop(self.rebuild_fingerprints());
        Ok(forgotten)
    }

    /// Deletes whole files that may contain deleted rows.
    fn erase_files(&self) -> StoreResult<Vec<PathBuf>> {
        let folder = self.files.folder();
        // Prevents a concurrent repair.
        let _making = self.files.lock_for_changes().map_err(io_error("lock", folder))?;
        for path in self.files.list_workshops().map_err(io_error("read", folder))? {
            std::fs::remove_dir_all(&path).map_err(io_error("remove", &path))?;
        }
        search_files::remove_search_files(&self.files)?;
        let path = self.files.fingerprints();
        data_dir::remove_if_exists(&path).map_err(io_error("remove", &path))?;
        for name in crate::log::LOG_FILES {
            let path = self.files.log().join(name);
            data_dir::remove_if_exists(&path).map_err(io_error("remove", &path))?;
        }
        let aside = self.files.list_set_aside().map_err(io_error("read", folder))?;
        for path in &aside {
            data_dir::remove_if_exists(path).map_err(io_error("remove", path))?;
        }
        Ok(aside)
    }
}

/// Records, in the transaction of the deletion, that an erasure is pending.
pub(super) fn mark_erasing(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute("INSERT OR IGNORE INTO erasing (id) VALUES (1)", [])?;
    Ok(())
}

/// Returns the short text of an episode: its test, or else its error.
fn episode_label(episode: &Episode) -> Clean {
    episode.test.clone().unwrap_or_else(|| episode.error.clone())
}

/// Deletes unrecognized commands that contain all the words.
fn forget_unrecognized_commands(connection: &Connection, words: &[String]) -> StoreResult {
    if words.is_empty() {
        return Ok(());
    }
    let commands: Vec<String> = connection
        .prepare("SELECT DISTINCT command FROM unfollowed")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for command in commands.iter().filter(|command| contains_words(&[command], words)) {
        connection.execute("DELETE FROM unfollowed WHERE command = ?1", [command])?;
    }
    Ok(())
}
