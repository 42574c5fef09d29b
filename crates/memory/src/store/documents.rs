//! Documents: the searchable texts of memories, experiences and episodes. Every commit updates them.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Store, StoreError, episode_files, episodes, ghaps, memories, values};
use crate::document::{self, Axis, Kind, Texts};
use crate::{Clean, Id, Time};
use rutter_search::embed::{Tokens, embed};
use rutter_search::terms::terms;

mod find;
pub(crate) mod index;
mod recall;
mod words;

pub use find::{Hit, Query};
pub(crate) use find::{find, fits};
pub(crate) use recall::recall;
pub use recall::{Ask, Recall};

/// Maximum number of documents outside the search files that a hook reads. More would take too long; `tend` adds them
/// to the files.
pub(crate) const UNFILED: u32 = 2_000;
/// Maximum number of rows that a hook indexes: more than any hook writes.
const SOME: usize = 20;

/// Updates the documents of every row written since the last call, and returns their number. Triggers note these rows.
pub(crate) fn catch_up(connection: &Connection) -> Result<usize, StoreError> {
    let mut done = 0;
    loop {
        let stale: Vec<(Id, Kind)> = connection
            .prepare_cached("SELECT row, kind FROM stale LIMIT 500")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        if stale.is_empty() {
            return Ok(done);
        }
        done += stale.len();
        bring(connection, stale)?;
    }
}

/// Updates the documents of a few rows, in a hook. Returns true if more are left for `tend`.
pub(crate) fn catch_up_some(connection: &Connection) -> Result<bool, StoreError> {
    let mut stale: Vec<(Id, Kind)> = connection
        .prepare_cached("SELECT row, kind FROM stale LIMIT ?1")?
        .query_map([SOME + 1], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let more = stale.len() > SOME;
    stale.truncate(SOME);
    bring(connection, stale)?;
    Ok(more)
}

fn bring(connection: &Connection, stale: Vec<(Id, Kind)>) -> Result<(), StoreError> {
    for (row, kind) in stale {
        refresh(connection, kind, row)?;
        connection.prepare_cached("DELETE FROM stale WHERE row = ?1")?.execute([row])?;
    }
    Ok(())
}

/// Replaces the documents of a row.
fn refresh(connection: &Connection, kind: Kind, row: Id) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM document WHERE row = ?1")?.execute([row])?;
    if kind == Kind::Episode {
        episode_files::refresh(connection, row)?;
    }
    let Some((texts, at)) = read(connection, kind, row)? else { return Ok(()) };
    let table = match kind {
        Kind::Memory => "memory",
        Kind::Experience => "ghap",
        Kind::Episode => "episode",
    };
    let project: Option<i64> = connection
        .prepare_cached(&format!("SELECT project FROM {table} WHERE uid = ?1"))?
        .query_row([row], |row| row.get(0))?;
    for (axis, text) in texts {
        let words: Vec<String> = terms(&text).into_iter().map(|term| term.text).collect();
        if words.is_empty() {
            continue;
        }
        let vector = embed(&text);
        connection
            .prepare_cached(
                "INSERT INTO document (kind, row, axis, project, at, length, vector, tokens, terms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                kind,
                row,
                axis,
                project,
                at,
                words.len(),
                vector.as_ref().map(|vector| &vector.bytes()[..]),
                Tokens::of(&text).bytes(),
                words.join(" "),
            ])?;
    }
    Ok(())
}

/// Returns the kind of a row that has documents.
pub(crate) fn kind_of(connection: &Connection, row: Id) -> Result<Option<Kind>, StoreError> {
    Ok(connection
        .prepare_cached("SELECT kind FROM document WHERE row = ?1 LIMIT 1")?
        .query_row([row], |row| row.get(0))
        .optional()?)
}

/// Returns the kind and the short text of a row, or None if the row is gone.
pub(crate) fn described(
    connection: &Connection,
    row: Id,
) -> Result<Option<(Kind, Clean)>, StoreError> {
    // By table, not by document: a row may exist without being indexed.
    for &kind in Kind::ALL {
        if let Some(row) = recall::described(connection, kind, row)? {
            return Ok(Some((kind, row.text)));
        }
    }
    Ok(None)
}

/// Returns the full text of a row, or None if the row is gone.
pub(crate) fn said(connection: &Connection, row: Id) -> Result<Option<String>, StoreError> {
    let Some(kind) = kind_of(connection, row)? else {
        // A row without documents can only be a value.
        let value = missing_is_none(values::one(connection, row))?;
        return Ok(value.map(|value| value.text.to_string()));
    };
    let texts = read(connection, kind, row)?.map(|(texts, _)| texts).unwrap_or_default();
    Ok(texts.into_iter().find(|(axis, _)| *axis == Axis::Full).map(|(_, text)| text))
}

/// Returns the sentence of a row that can be acted on. An episode has none.
pub(crate) fn lesson(connection: &Connection, row: Id) -> Result<Option<Clean>, StoreError> {
    Ok(match kind_of(connection, row)? {
        None => missing_is_none(values::one(connection, row))?.map(|value| value.text),
        Some(Kind::Memory) => {
            missing_is_none(memories::one(connection, row))?.map(|memory| memory.text)
        }
        Some(Kind::Experience) => connection
            .prepare_cached("SELECT coalesce(takeaway, what_worked) FROM ghap WHERE uid = ?1")?
            .query_row([row], |row| row.get(0))
            .optional()?
            .flatten(),
        Some(Kind::Episode) => None,
    })
}

/// Returns the texts of a row on each axis, and the time they are from.
fn read(connection: &Connection, kind: Kind, row: Id) -> Result<Option<(Texts, Time)>, StoreError> {
    Ok(match kind {
        Kind::Memory => {
            let memory = memories::one(connection, row);
            missing_is_none(memory)?.map(|memory| (document::of_memory(&memory), memory.changed))
        }
        Kind::Experience => {
            let ghap = missing_is_none(ghaps::by_id(connection, row))?;
            ghap.map(|ghap| {
                let at = ghap.resolution.as_ref().map_or(ghap.changed, |resolution| resolution.at);
                (document::of_ghap(&ghap), at)
            })
        }
        Kind::Episode => {
            let episode = episodes::select(connection, "WHERE episode.uid = ?1", [row])?.pop();
            episode.map(|episode| {
                let at = episode.ending.as_ref().map_or(episode.seen, |ending| ending.at);
                (document::of_episode(&episode), at)
            })
        }
    })
}

pub(crate) fn missing_is_none<T>(found: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match found {
        Err(StoreError::NotFound { .. }) => Ok(None),
        found => found.map(Some),
    }
}

impl Store {
    /// Returns the documents that fit a query, best first, without a minimum score.
    pub fn find(&mut self, query: &Query<'_>) -> Result<Vec<Hit>, StoreError> {
        self.bring_up_to_date()?;
        find(&self.connection.unchecked_transaction()?, &self.files, query)
    }

    /// Indexes rows that were written before the index existed, or by a program without it.
    pub(crate) fn bring_up_to_date(&mut self) -> Result<(), StoreError> {
        if self.is_read_only {
            return Ok(());
        }
        let stale: bool =
            self.connection
                .query_row("SELECT EXISTS (SELECT 1 FROM stale)", [], |row| row.get(0))?;
        if stale {
            self.write(|_| Ok(()))?;
        }
        // For instance after an import. This search waits for the rebuild so that later ones are fast; without it, all
        // are slow.
        if index::is_behind(&self.connection, &self.files)?
            && let Ok(Some(lock)) = self.tending()
        {
            drop(self.make_files(&lock));
        }
        Ok(())
    }
}
