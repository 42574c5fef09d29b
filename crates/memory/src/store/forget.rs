//! Forgetting: the rows, and every byte they were written with.
//!
//! `secure_delete` overwrites what a statement deletes, but pages that were split long ago may still hold copies of
//! rows that moved. So the database is built anew, and the log of changes emptied; the files that are searched are removed
//! and made again of what is left. The spool is drained first, so
//! that what waits there is found; log files and damaged databases put aside go as a whole, because nobody can say
//! what is in them. That something is to be erased is written down with the deletion: a forgetting that was
//! interrupted is finished by the next one, or by `tend`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction};
use serde::Serialize;

use super::documents::index;
use super::entry::Place;
use super::{
    EpisodeFilter, Store, StoreError, at, clusters, episodes, ghaps, memories, outcomes, review,
    spool, tables, values,
};
use crate::data_dir;
use crate::data_dir::Lock;
use crate::episode::Episode;
use crate::project::ProjectKey;
use crate::{Clean, Id, IdSuffix, Time};

mod matching;

use matching::{episode_texts, ghap_texts, holds, memory_texts, outcome_texts, words};

/// What kind of row can be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forgettable {
    /// A GHAP, with what it left.
    Ghap,
    /// A memory.
    Memory,
    /// A captured run.
    Outcome,
    /// A failure that is or was followed, with what turned it green.
    Episode,
    /// What was changed while one was open.
    Change,
    /// What many experiences say together.
    Value,
    /// What waits for a person.
    Proposal,
}

impl Forgettable {
    const ALL: [Self; 7] = [
        Self::Ghap,
        Self::Memory,
        Self::Outcome,
        Self::Episode,
        Self::Change,
        Self::Value,
        Self::Proposal,
    ];

    /// Those whose rows belong to a project.
    const OF_PROJECT: [Self; 6] =
        [Self::Ghap, Self::Memory, Self::Outcome, Self::Episode, Self::Change, Self::Value];

    const fn table(self) -> &'static str {
        match self {
            Self::Ghap => "ghap",
            Self::Memory => "memory",
            Self::Outcome => "outcome",
            Self::Episode => "episode",
            Self::Change => "change",
            Self::Value => "value",
            Self::Proposal => "proposal",
        }
    }
}

impl std::fmt::Display for Forgettable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.table())
    }
}

/// A row to be forgotten, as a person is shown it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What it is.
    pub kind: Forgettable,
    /// Which.
    pub id: Id,
    /// What it says, in short.
    pub text: Clean,
}

/// What was forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Forgotten {
    /// Rows, with all that belonged to them.
    pub rows: usize,
    /// Damaged databases that were put aside and are gone.
    pub files: Vec<PathBuf>,
    /// Whether the log of changes could be emptied. If not, somebody was reading all the time.
    pub erased: bool,
}

impl Store {
    /// Takes in what waits in the spool, so that it can be found, and finishes what an earlier forgetting began.
    ///
    /// Does nothing on a memory that cannot be written: what is stored can still be read.
    pub fn gather(&mut self, now: Time) -> Result<(), StoreError> {
        if self.is_read_only {
            return Ok(());
        }
        let lock = self.tending_soon()?;
        let drained = spool::drain(self, &lock, now)?;
        self.finish_erasing(&lock)?;
        if drained.left { Err(StoreError::SpoolInUse) } else { Ok(()) }
    }

    /// Takes in what waits in the spool, unless somebody else is at it. Says whether all of it is in now.
    pub fn gather_if_free(&mut self, now: Time) -> Result<bool, StoreError> {
        if self.is_read_only {
            return Ok(true);
        }
        let Some(lock) = self.tending()? else { return Ok(false) };
        Ok(!spool::drain(self, &lock, now)?.left)
    }

    /// The row that a person means.
    pub fn row(&self, id: &IdSuffix) -> Result<Row, StoreError> {
        self.one_row(id, &Forgettable::ALL, |table| tables::matching(&self.connection, table, id))
    }

    /// The row that an agent means, of its own project. Others are unknown to it.
    pub fn row_in(&self, id: &IdSuffix, place: &Place) -> Result<Row, StoreError> {
        self.one_row(id, &Forgettable::OF_PROJECT, |table| {
            tables::own_matching(&self.connection, table, id, place, false)
        })
    }

    fn one_row(
        &self,
        id: &IdSuffix,
        kinds: &[Forgettable],
        matching: impl Fn(&str) -> Result<Vec<Id>, StoreError>,
    ) -> Result<Row, StoreError> {
        let mut found = Vec::new();
        for kind in kinds {
            found.extend(matching(kind.table())?.into_iter().map(|id| (*kind, id)));
        }
        match found.as_slice() {
            [(kind, id)] => self.shown(*kind, *id),
            [] => Err(StoreError::NotFound { what: "row", id: id.clone() }),
            several => Err(StoreError::Ambiguous { id: id.clone(), count: several.len() }),
        }
    }

    fn shown(&self, kind: Forgettable, id: Id) -> Result<Row, StoreError> {
        let text = match kind {
            Forgettable::Ghap => self.ghap(id)?.goal,
            Forgettable::Memory => self.memory(id)?.text,
            Forgettable::Outcome => match self.outcome(id)? {
                Some(outcome) => outcome.command,
                None => return Err(StoreError::NotFound { what: "outcome", id: id.into() }),
            },
            Forgettable::Episode => named(&self.episode(id)?),
            Forgettable::Value => self.value(id)?.value.text,
            Forgettable::Proposal => review::find(&self.connection, id)?.what.text(),
            Forgettable::Change => self.connection.query_row(
                "SELECT name FROM change WHERE uid = ?1",
                [id],
                |row| row.get(0),
            )?,
        };
        Ok(Row { kind, id, text })
    }

    /// Every row that holds all words, each whole, whatever their case: a plain match, without rank.
    pub fn rows_with(&self, query: &str) -> Result<Vec<Row>, StoreError> {
        let words = words(query);
        let mut found = Vec::new();
        if words.is_empty() {
            return Ok(found);
        }
        let mut all = ghaps::many(&self.connection, "ORDER BY ghap.id", &[], |_| Ok(true), None)?;
        ghaps::children(&self.connection, &mut all)?;
        for ghap in all {
            if holds(&ghap_texts(&ghap), &words) {
                found.push(Row { kind: Forgettable::Ghap, id: ghap.id, text: ghap.goal });
            }
        }
        for memory in self.memories(&memories::MemoryFilter::default())? {
            if holds(&memory_texts(&memory), &words) {
                found.push(Row { kind: Forgettable::Memory, id: memory.id, text: memory.text });
            }
        }
        for outcome in outcomes::select(&self.connection, "ORDER BY outcome.id", [])? {
            if holds(&outcome_texts(&outcome), &words) {
                found.push(Row {
                    kind: Forgettable::Outcome,
                    id: outcome.id,
                    text: outcome.command,
                });
            }
        }
        for episode in self.episodes(&EpisodeFilter::default())? {
            // What an open failure names is kept beside it.
            let clues: String = self.connection.query_row(
                "SELECT clues FROM episode WHERE uid = ?1",
                [episode.id],
                |row| row.get(0),
            )?;
            let mut texts = episode_texts(&episode);
            texts.push(&clues);
            if holds(&texts, &words) {
                let text = named(&episode);
                found.push(Row { kind: Forgettable::Episode, id: episode.id, text });
            }
        }
        for value in values::every(&self.connection)? {
            if holds(&values::texts(&value), &words) {
                found.push(Row { kind: Forgettable::Value, id: value.id, text: value.text });
            }
        }
        for proposal in review::every(&self.connection)? {
            let text = proposal.what.text();
            if holds(&[&text], &words) {
                found.push(Row { kind: Forgettable::Proposal, id: proposal.id, text });
            }
        }
        let mut changes = self.connection.prepare("SELECT * FROM change ORDER BY id")?;
        let changes = changes
            .query_map([], |row| Ok((row.get::<_, Id>("uid")?, episodes::read_change(row)?)))?;
        for change in changes {
            let (id, change) = change?;
            let made_by = change.made_by.as_deref().unwrap_or_default();
            if holds(&[&change.name, &change.patch, made_by], &words) {
                found.push(Row { kind: Forgettable::Change, id, text: change.name });
            }
        }
        Ok(found)
    }

    /// Forgets rows. `query` is what they were found by, for what waits in a form that only a newer program can read.
    pub fn forget(&mut self, rows: &[Row], query: Option<&str>) -> Result<Forgotten, StoreError> {
        let lock = self.tending_soon()?;
        let count = self.write(|transaction| {
            let mut count = 0;
            for Row { kind, id, .. } in rows {
                count += transaction
                    .execute(&format!("DELETE FROM {} WHERE uid = ?1", kind.table()), [id])?;
                transaction.execute("DELETE FROM injection WHERE row = ?1", [id])?;
            }
            transaction.execute_batch("DELETE FROM parked; DELETE FROM caller;")?;
            forget_unfollowed(transaction, &words(query.unwrap_or_default()))?;
            clusters::forget(transaction)?;
            begin_erasing(transaction)?;
            Ok(count)
        })?;
        let ids: Vec<String> = rows.iter().map(|row| row.id.to_string()).collect();
        let words = words(query.unwrap_or_default());
        self.drop_held(&lock, |text| {
            ids.iter().any(|id| id == text) || (!words.is_empty() && holds(&[text], &words))
        })?;
        self.erase(&lock, count)
    }

    /// Forgets a project and everything in it.
    pub fn forget_project(&mut self, project: Id) -> Result<Forgotten, StoreError> {
        let lock = self.tending_soon()?;
        let (count, keys) = self.write(|transaction| {
            let number: i64 =
                transaction.query_row("SELECT id FROM project WHERE uid = ?1", [project], |row| row.get(0))?;
            let keys = transaction
                .prepare("SELECT key FROM project_alias WHERE project = ?1")?
                .query_map([number], |row| row.get::<_, ProjectKey>(0))?
                .collect::<Result<Vec<_>, _>>()?;
            // Also where it was shown in a session that stays.
            let mut count = 0;
            for table in ["ghap", "memory", "outcome", "episode", "change", "value"] {
                transaction.execute(
                    &format!("DELETE FROM injection WHERE row IN (SELECT uid FROM {table} WHERE project = ?1)"),
                    [number],
                )?;
                count += transaction.execute(&format!("DELETE FROM {table} WHERE project = ?1"), [number])?;
            }
            // A session that began here may have gone on elsewhere; what it did there is not this project's.
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
            clusters::forget(transaction)?;
            for key in &keys {
                review::drop_aliases_of(transaction, key)?;
            }
            transaction.execute("DELETE FROM project WHERE id = ?1", [number])?;
            begin_erasing(transaction)?;
            Ok((count, keys))
        })?;
        self.drop_held(&lock, |text| keys.iter().any(|key| key.as_str() == text))?;
        self.erase(&lock, count)
    }

    /// Forgets everything.
    pub fn forget_all(&mut self) -> Result<Forgotten, StoreError> {
        let lock = self.tending_soon()?;
        let count = self.write(|transaction| {
            let mut count = 0;
            for table in ["ghap", "memory", "outcome", "episode", "change", "value"] {
                count += transaction.execute(&format!("DELETE FROM {table}"), [])?;
            }
            transaction.execute("DELETE FROM project", [])?;
            transaction.execute_batch(
                "DELETE FROM drained; DELETE FROM proposal; DELETE FROM origin; DELETE FROM import_batch;",
            )?;
            clusters::forget(transaction)?;
            begin_erasing(transaction)?;
            Ok(count)
        })?;
        spool::clear(&self.files, &lock)
            .and_then(|()| crate::pause::forget_sessions(&self.files))
            .and_then(|()| crate::data_dir::remove_if_there(&self.files.tally()))
            .map_err(|error| StoreError::NotErased(error.to_string()))?;
        self.erase(&lock, count)
    }

    fn drop_held(&self, lock: &Lock, forget: impl Fn(&str) -> bool) -> Result<(), StoreError> {
        spool::drop_held(&self.files, lock, forget)
            .map_err(|error| StoreError::NotErased(error.to_string()))
    }

    /// Finishes what an earlier forgetting began and could not end.
    pub(crate) fn finish_erasing(&mut self, lock: &Lock) -> Result<(), StoreError> {
        let begun: bool =
            self.connection
                .query_row("SELECT EXISTS (SELECT 1 FROM erasing)", [], |row| row.get(0))?;
        if begun {
            self.erase(lock, 0)?;
        }
        Ok(())
    }

    /// Sees to it that what was deleted is nowhere in the folder. From here on an error is no excuse to say that
    /// nothing was changed.
    pub(super) fn erase(&mut self, lock: &Lock, rows: usize) -> Result<Forgotten, StoreError> {
        super::tend::remove_snapshots(&self.files, None);
        let forgotten = self
            .erase_files()
            .and_then(|files| {
                self.connection.execute_batch("DELETE FROM edition; DELETE FROM gone; VACUUM")?;
                let until = Instant::now() + data_dir::PATIENCE;
                let mut erased = self.fold(Duration::from_millis(500))?;
                while !erased && Instant::now() < until {
                    erased = self.fold(Duration::from_millis(500))?;
                }
                if erased {
                    self.connection.execute("DELETE FROM erasing", [])?;
                }
                Ok(Forgotten { rows, files, erased })
            })
            .map_err(|error| StoreError::NotErased(error.to_string()))?;
        // What is left can be searched as before. If not now, `tend` does it.
        drop(self.make_files(lock));
        Ok(forgotten)
    }

    /// Removes whole files of which nobody can say what is in them.
    fn erase_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let folder = self.files.folder();
        // Nobody repairs meanwhile.
        let _making = self.files.making().map_err(at("lock", folder))?;
        for path in self.files.workshops().map_err(at("read", folder))? {
            std::fs::remove_dir_all(&path).map_err(at("remove", &path))?;
        }
        index::remove(&self.files)?;
        for name in ["rutter.log", "rutter.log.1"] {
            let path = self.files.log().join(name);
            data_dir::remove_if_there(&path).map_err(at("remove", &path))?;
        }
        let aside = self.files.set_aside().map_err(at("read", folder))?;
        for path in &aside {
            data_dir::remove_if_there(path).map_err(at("remove", path))?;
        }
        Ok(aside)
    }
}

/// Writes down that bytes of deleted rows may be left, together with the deletion.
pub(super) fn begin_erasing(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute("INSERT OR IGNORE INTO erasing (id) VALUES (1)", [])?;
    Ok(())
}

/// An episode in short: its test, or what it said.
fn named(episode: &Episode) -> Clean {
    episode.test.clone().unwrap_or_else(|| episode.error.clone())
}

/// Forgets commands that are not followed and hold the words.
fn forget_unfollowed(connection: &Connection, words: &[String]) -> Result<(), StoreError> {
    if words.is_empty() {
        return Ok(());
    }
    let commands: Vec<String> = connection
        .prepare("SELECT DISTINCT command FROM unfollowed")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for command in commands.iter().filter(|command| holds(&[command], words)) {
        connection.execute("DELETE FROM unfollowed WHERE command = ?1", [command])?;
    }
    Ok(())
}
