//! The search files: vectors and terms of all documents. Searches open them; maintenance builds them.
//!
//! Both files of one build have the same edition number and the content of one read transaction. The number is
//! committed to the database before the files get their names. Once the new files are in place, the older numbers are
//! deleted, together with the list of documents deleted since the older files. So a search that first reads the
//! database and then opens the files gets files with an edition that the database has, and a complete list of the
//! deleted documents in them. During a change it may get no file; it then searches the database.

use std::time::Instant;

use rusqlite::{Connection, Transaction};

use crate::data_dir::FolderLock;
use crate::document::{Axis, DocumentKind};
use crate::store::{DataDir, Store, StoreResult, io_error};
use rutter_search::cache::{self, EVERYWHERE_PROJECT};
use rutter_search::embed::{EMBEDDING_HASH, Vector};
use rutter_search::postings::{IndexedDocument, PostingDraft, PostingFile};
use rutter_search::vectors::{VectorDraft, VectorEntry, VectorFile};

/// Minimum number of added and deleted documents for a rebuild, as a percentage and in all. A rebuild takes time in
/// proportion to the files; until then, a search reads the new documents from the database.
const REBUILD_PERCENT: i64 = 2;
const REBUILD_DOCUMENTS: i64 = 1_000;
/// Number of documents outside the files above which a search would take too long: a percentage, clamped to a range.
/// Rebuilding the files of a large store takes longer than reading some more documents; those of a small store are
/// rebuilt in a moment.
const BEHIND_PERCENT: i64 = 5;
const BEHIND_DOCUMENTS: std::ops::RangeInclusive<i64> = 500..=2_000;

/// The search files, for one search.
pub(super) struct SearchFiles {
    files: DataDir,
    editions: Vec<i64>,
    /// Deleted documents that may still be in a file, sorted.
    gone: Vec<i64>,
}

impl SearchFiles {
    /// Reads the state of the files from the database, in a transaction that stays open as long as the files.
    pub(super) fn load(moment: &Transaction<'_>, files: &DataDir) -> StoreResult<Self> {
        Ok(Self {
            files: files.clone(),
            editions: select_numbers(moment, "SELECT number FROM edition")?,
            gone: select_numbers(moment, "SELECT document FROM gone ORDER BY document")?,
        })
    }

    pub(super) fn vectors(&self) -> Option<VectorFile> {
        // No files exist before the first build.
        if self.editions.is_empty() {
            return None;
        }
        VectorFile::open(&self.files.vectors(), EMBEDDING_HASH, &self.editions)
    }

    pub(super) fn terms(&self) -> Option<PostingFile> {
        if self.editions.is_empty() {
            return None;
        }
        PostingFile::open(&self.files.terms(), &self.editions)
    }

    pub(super) fn is_gone(&self, document: i64) -> bool {
        self.gone.binary_search(&document).is_ok()
    }

    /// Returns the positions of deleted documents in a file, or None if a part of the file is lost.
    pub(super) fn gone_from(&self, file: &PostingFile) -> Option<Vec<u32>> {
        let mut places = Vec::new();
        for document in self.gone.iter().filter(|document| **document <= file.high_water()) {
            places.extend(file.place_of_row(*document)?);
        }
        Some(places)
    }

    /// Returns the number of documents added or deleted since the last build, or None if the files must be rebuilt in
    /// any case.
    fn count_pending(&self, moment: &Transaction<'_>) -> StoreResult<Option<i64>> {
        let high_water = match (self.vectors(), self.terms()) {
            (Some(vectors), Some(terms)) if vectors.is_whole() && terms.is_whole() => {
                vectors.high_water().min(terms.high_water())
            }
            (None, None) if !self.files.vectors().exists() && !self.files.terms().exists() => {
                i64::MIN
            }
            _ => return Ok(None),
        };
        Ok(Some(
            count_newer(moment, high_water)? + i64::try_from(self.gone.len()).unwrap_or(i64::MAX),
        ))
    }
}

fn select_numbers(connection: &Connection, query: &str) -> StoreResult<Vec<i64>> {
    let mut rows = connection.prepare_cached(query)?;
    Ok(rows.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn count_newer(connection: &Connection, high_water: i64) -> StoreResult<i64> {
    Ok(connection.query_row(
        "SELECT count(*) FROM document WHERE id > ?1",
        [high_water],
        |row| row.get(0),
    )?)
}

/// Returns true if a search would have to read too many documents from the database. Does not verify the content of the
/// files.
pub(crate) fn is_behind(connection: &Connection, files: &DataDir) -> StoreResult<bool> {
    let moment = connection.unchecked_transaction()?;
    let all: i64 = moment
        .prepare_cached("SELECT coalesce(sum(documents), 0) FROM corpus")?
        .query_row([], |row| row.get(0))?;
    // A small store needs no files to be opened.
    let most =
        (all * BEHIND_PERCENT / 100).clamp(*BEHIND_DOCUMENTS.start(), *BEHIND_DOCUMENTS.end());
    if all <= *BEHIND_DOCUMENTS.end() {
        return Ok(false);
    }
    let index = SearchFiles::load(&moment, files)?;
    let high_water = match (index.vectors(), index.terms()) {
        (Some(vectors), Some(terms)) => vectors.high_water().min(terms.high_water()),
        _ => i64::MIN,
    };
    let mut newer =
        moment.prepare_cached("SELECT 1 FROM document WHERE id > ?1 LIMIT 1 OFFSET ?2")?;
    Ok(newer.exists([high_water, most])?)
}

/// Returns true if the files of this database must be rebuilt: they are torn, belong to another vector table, or one of
/// the two is missing. A database that never built any ignores existing files.
pub(crate) fn needs_rebuild(connection: &Connection, files: &DataDir) -> StoreResult<bool> {
    let moment = connection.unchecked_transaction()?;
    let index = SearchFiles::load(&moment, files)?;
    Ok(!index.editions.is_empty() && index.count_pending(&moment)?.is_none())
}

/// Deletes the files, because single documents cannot be erased from them.
pub(crate) fn remove_search_files(files: &DataDir) -> StoreResult {
    for path in [files.vectors(), files.terms()] {
        cache::remove_cache(&path).map_err(io_error("remove", &path))?;
    }
    Ok(())
}

impl Store {
    /// Rebuilds the files if enough has changed or they are damaged. Returns true if a rebuild was due.
    pub(crate) fn rebuild_search_files_if_due(
        &mut self,
        lock: &FolderLock,
        until: Instant,
    ) -> StoreResult<bool> {
        let moment = self.connection.unchecked_transaction()?;
        let waiting = SearchFiles::load(&moment, &self.files)?.count_pending(&moment)?;
        let documents = count_newer(&moment, i64::MIN)?;
        drop(moment);
        let due = waiting.is_none_or(|waiting| {
            waiting > 0
                && (waiting >= REBUILD_DOCUMENTS || waiting * 100 >= documents * REBUILD_PERCENT)
        });
        if due && Instant::now() < until {
            self.rebuild_search_files(lock)?;
        }
        Ok(due)
    }

    /// Builds the files. It always runs to the end, even for a large store, because a partial build would have to be
    /// repeated.
    pub(crate) fn rebuild_search_files(&mut self, _lock: &FolderLock) -> StoreResult {
        let edition: i64 = self.write(|transaction| {
            Ok(transaction.query_row(
                "INSERT INTO edition (number) VALUES (random()) RETURNING number",
                [],
                |row| row.get(0),
            )?)
        })?;
        let moment = self.connection.unchecked_transaction()?;
        let gone = select_numbers(&moment, "SELECT document FROM gone")?;
        write_search_files(&moment, &self.files, edition)?;
        drop(moment);
        self.write(|transaction| {
            transaction.execute("DELETE FROM edition WHERE number != ?1", [edition])?;
            let mut delete = transaction.prepare("DELETE FROM gone WHERE document = ?1")?;
            for document in gone {
                delete.execute([document])?;
            }
            Ok(())
        })
    }
}

fn write_search_files(moment: &Transaction<'_>, files: &DataDir, edition: i64) -> StoreResult {
    let (vectors, terms) = (files.vectors(), files.terms());
    let mut near = VectorDraft::create(&vectors, edition).map_err(io_error("write", &vectors))?;
    let mut words = PostingDraft::create(&terms, edition).map_err(io_error("write", &terms))?;
    // Also covers documents that were added and deleted since, so that they do not count as missing.
    let mut high_water = moment.query_row(
        "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'document'",
        [],
        |row| row.get(0),
    )?;
    let mut rows = moment.prepare(
        "SELECT id, axis, project, length, vector, terms, kind FROM document ORDER BY id",
    )?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let (id, axis): (i64, Axis) = (row.get(0)?, row.get(1)?);
        let kind = row.get::<_, DocumentKind>(6)?.file_number();
        let project = row.get::<_, Option<i64>>(2)?.unwrap_or(EVERYWHERE_PROJECT);
        high_water = id.max(high_water);
        let vector = row.get_ref(4)?.as_blob_or_null().unwrap_or_default();
        if let Some(vector) = vector.and_then(Vector::from_bytes) {
            let entry = VectorEntry { row: id, axis: axis.file_number(), kind, project };
            near.add(&vector, entry).map_err(io_error("write", &vectors))?;
        }
        let document = IndexedDocument { row: id, project, kind, length: row.get(3)? };
        let said = row.get_ref(5)?.as_str().unwrap_or_default();
        words
            .add_document(document, axis.term_prefix(), said.split(' '))
            .map_err(io_error("write", &terms))?;
    }
    near.finish(high_water).map_err(io_error("write", &vectors))?;
    words.finish(high_water).map_err(io_error("write", &terms))
}
