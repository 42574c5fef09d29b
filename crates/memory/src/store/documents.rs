//! Documents: the searchable texts of memories, experiences and episodes. Every commit updates them.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::tables::read_list;
use super::{Store, StoreError, StoreResult, episode_files, episodes, ghaps, memories, values};
use crate::document::{self, Axis, AxisTexts, DocumentKind};
use crate::{Clean, Id, Time};
use rutter_search::embed::{TokenSet, embed};
use rutter_search::terms::extract_terms;

mod lexical;
mod query;
mod recall;
mod search;
pub(crate) mod search_files;

pub use query::DocumentQuery;
pub(crate) use recall::recall_rows;
pub use recall::{RecallRequest, RecalledRow};
pub use search::DocumentHit;
pub(crate) use search::{compare_texts, find_documents};

/// Maximum number of documents outside the search files that a hook reads. More would take too long; `rutter maintain` adds them
/// to the files.
pub(crate) const MAX_UNINDEXED_IN_HOOK: u32 = 2_000;
/// Maximum number of rows that a hook indexes: more than any hook writes.
const MAX_INDEXED_PER_HOOK: usize = 20;

/// Updates the documents of every row written since the last call, and returns their number. Triggers note these rows.
pub(crate) fn update_documents(connection: &Connection) -> StoreResult<usize> {
    let mut done = 0;
    loop {
        let stale: Vec<(Id, DocumentKind)> = connection
            .prepare_cached("SELECT row, kind FROM stale LIMIT 500")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        if stale.is_empty() {
            return Ok(done);
        }
        done += stale.len();
        update_stale_rows(connection, stale)?;
    }
}

/// Updates the documents of a few rows, in a hook. Returns true if more are left for `rutter maintain`.
pub(crate) fn update_some_documents(connection: &Connection) -> StoreResult<bool> {
    let mut stale: Vec<(Id, DocumentKind)> = connection
        .prepare_cached("SELECT row, kind FROM stale LIMIT ?1")?
        .query_map([MAX_INDEXED_PER_HOOK + 1], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let more = stale.len() > MAX_INDEXED_PER_HOOK;
    stale.truncate(MAX_INDEXED_PER_HOOK);
    update_stale_rows(connection, stale)?;
    Ok(more)
}

fn update_stale_rows(connection: &Connection, stale: Vec<(Id, DocumentKind)>) -> StoreResult {
    for (row, kind) in stale {
        refresh_documents(connection, kind, row)?;
        connection.prepare_cached("DELETE FROM stale WHERE row = ?1")?.execute([row])?;
    }
    Ok(())
}

/// Replaces the documents of a row.
fn refresh_documents(connection: &Connection, kind: DocumentKind, row: Id) -> StoreResult {
    connection.prepare_cached("DELETE FROM document WHERE row = ?1")?.execute([row])?;
    if kind == DocumentKind::Episode {
        episode_files::refresh_episode_files(connection, row)?;
    }
    let Some((texts, at)) = read_texts(connection, kind, row)? else { return Ok(()) };
    let table = match kind {
        DocumentKind::Memory => "memory",
        DocumentKind::Experience => "ghap",
        DocumentKind::Episode => "episode",
    };
    let project: Option<i64> = connection
        .prepare_cached(&format!("SELECT project FROM {table} WHERE uid = ?1"))?
        .query_row([row], |row| row.get(0))?;
    for (axis, text) in texts {
        let words: Vec<String> = extract_terms(&text).into_iter().map(|term| term.text).collect();
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
                vector.as_ref().map(|vector| &vector.as_bytes()[..]),
                TokenSet::from_text(&text).to_bytes(),
                words.join(" "),
            ])?;
    }
    Ok(())
}

/// Returns the kind of a row that has documents.
pub(crate) fn row_kind(connection: &Connection, row: Id) -> StoreResult<Option<DocumentKind>> {
    Ok(connection
        .prepare_cached("SELECT kind FROM document WHERE row = ?1 LIMIT 1")?
        .query_row([row], |row| row.get(0))
        .optional()?)
}

/// Returns the kind and the short text of a row, or None if the row is gone.
pub(crate) fn describe_row(
    connection: &Connection,
    row: Id,
) -> StoreResult<Option<(DocumentKind, Clean)>> {
    // By table, not by document: a row may exist without being indexed.
    for &kind in DocumentKind::ALL {
        if let Some(row) = recall::load_summary(connection, kind, row)? {
            return Ok(Some((kind, row.text)));
        }
    }
    Ok(None)
}

/// Returns the full text of a row, or None if the row is gone.
pub(crate) fn full_text(connection: &Connection, row: Id) -> StoreResult<Option<String>> {
    let Some(kind) = row_kind(connection, row)? else {
        // A row without documents can only be a value.
        let value = none_if_missing(values::find_value(connection, row))?;
        return Ok(value.map(|value| value.text.to_string()));
    };
    let texts = read_texts(connection, kind, row)?.map(|(texts, _)| texts).unwrap_or_default();
    Ok(texts.into_iter().find(|(axis, _)| *axis == Axis::Full).map(|(_, text)| text))
}

/// Returns the phrases that somebody wrote to say when rows apply, in the order of the rows. An episode has none.
pub(crate) fn written_phrases(
    connection: &Connection,
    rows: &[(DocumentKind, Id)],
) -> StoreResult<Vec<Vec<Clean>>> {
    let phrases = |(kind, id): &(DocumentKind, Id)| match kind {
        DocumentKind::Memory => {
            select_phrases(connection, "SELECT applies_when FROM memory WHERE uid = ?1", *id)
        }
        DocumentKind::Experience => select_phrases(
            connection,
            "SELECT applies_when FROM ghap WHERE uid = ?1 AND NOT phrases_derived",
            *id,
        ),
        DocumentKind::Episode => Ok(Vec::new()),
    };
    rows.iter().map(phrases).collect()
}

fn select_phrases(connection: &Connection, query: &str, row: Id) -> StoreResult<Vec<Clean>> {
    let mut found = connection.prepare_cached(query)?;
    let found = found.query_row([row], |row| read_list(row, "applies_when")).optional()?;
    Ok(found.unwrap_or_default())
}

/// Returns the phrases of an indexed row as they end its full text, written or derived.
pub(crate) fn joined_phrases(connection: &Connection, row: Id) -> StoreResult<String> {
    let query = match row_kind(connection, row)? {
        Some(DocumentKind::Memory) => "SELECT applies_when FROM memory WHERE uid = ?1",
        Some(DocumentKind::Experience) => "SELECT applies_when FROM ghap WHERE uid = ?1",
        Some(DocumentKind::Episode) | None => return Ok(String::new()),
    };
    Ok(document::join_phrases(&select_phrases(connection, query, row)?))
}

/// Returns the sentence of a row that can be acted on. An episode has none.
pub(crate) fn lesson(connection: &Connection, row: Id) -> StoreResult<Option<Clean>> {
    Ok(match row_kind(connection, row)? {
        None => none_if_missing(values::find_value(connection, row))?.map(|value| value.text),
        Some(DocumentKind::Memory) => {
            none_if_missing(memories::load_memory(connection, row))?.map(|memory| memory.text)
        }
        Some(DocumentKind::Experience) => connection
            .prepare_cached("SELECT coalesce(takeaway, what_worked) FROM ghap WHERE uid = ?1")?
            .query_row([row], |row| row.get(0))
            .optional()?
            .flatten(),
        Some(DocumentKind::Episode) => None,
    })
}

/// Returns the texts of a row on each axis, and the time they are from.
fn read_texts(
    connection: &Connection,
    kind: DocumentKind,
    row: Id,
) -> StoreResult<Option<(AxisTexts, Time)>> {
    Ok(match kind {
        DocumentKind::Memory => {
            let memory = memories::load_memory(connection, row);
            none_if_missing(memory)?.map(|memory| (document::memory_texts(&memory), memory.changed))
        }
        DocumentKind::Experience => {
            let ghap = none_if_missing(ghaps::load_ghap(connection, row))?;
            ghap.map(|ghap| {
                let at = ghap.resolution.as_ref().map_or(ghap.changed, |resolution| resolution.at);
                (document::ghap_texts(&ghap), at)
            })
        }
        DocumentKind::Episode => {
            let episode =
                episodes::select_episodes(connection, "WHERE episode.uid = ?1", [row])?.pop();
            episode.map(|episode| {
                let at = episode.ending.as_ref().map_or(episode.seen, |ending| ending.at);
                (document::episode_texts(&episode), at)
            })
        }
    })
}

pub(crate) fn none_if_missing<T>(found: StoreResult<T>) -> StoreResult<Option<T>> {
    match found {
        Err(StoreError::NotFound { .. }) => Ok(None),
        found => found.map(Some),
    }
}

impl Store {
    /// Returns the documents that fit a query, best first, without a minimum score.
    pub fn search_documents(&mut self, query: &DocumentQuery<'_>) -> StoreResult<Vec<DocumentHit>> {
        self.update_index()?;
        find_documents(&self.connection.unchecked_transaction()?, &self.files, query)
    }

    /// Indexes rows that were written before the index existed, or by a program without it.
    pub(crate) fn update_index(&mut self) -> StoreResult {
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
        if search_files::is_behind(&self.connection, &self.files)?
            && let Ok(Some(lock)) = self.try_maintenance_lock()
        {
            drop(self.rebuild_search_files(&lock));
        }
        Ok(())
    }
}
