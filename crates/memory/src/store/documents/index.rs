//! The files that documents are searched in: opened by whoever asks, made by whoever tends.
//!
//! A file is made of one moment of the database, under a number that the database is told before the file has its name, and
//! is asked for afterwards. The numbers of older files are taken back, together with the list of what went since them, once the
//! new ones are in place. So whoever looks into the database first and opens the files then has, of each, one that the database
//! knows, and knows of everything in it that is gone; or, in the moment of a change, none, and does without.

use std::time::Instant;

use rusqlite::{Connection, Transaction};

use crate::data_dir::Lock;
use crate::document::{Axis, Kind};
use crate::store::{Files, Store, StoreError, at};
use rutter_search::cache::{self, EVERYWHERE};
use rutter_search::embed::{HASH, Vector};
use rutter_search::postings::{Document, PostingDraft, PostingFile};
use rutter_search::vectors::{Entry, VectorDraft, VectorFile};

/// Making the files costs as much as they are long. So they wait until so many documents of a hundred came or went, or so many
/// in all; a search reads those from the database.
const PERCENT: i64 = 2;
const MANY: i64 = 1_000;
/// More than these are too many for a search that anybody waits for: so many of a hundred, but within bounds. To make the files
/// of a large memory takes longer than to read a few more documents beside them; those of a small one are made in a moment.
const TOO_MANY_PERCENT: i64 = 5;
const TOO_MANY: std::ops::RangeInclusive<i64> = 500..=2_000;

/// The files, for one search.
pub(super) struct Index {
    files: Files,
    editions: Vec<i64>,
    /// Documents that went and may still be in a file, in their order.
    gone: Vec<i64>,
}

impl Index {
    /// What the database knows of its files, in a transaction that goes on while they are open.
    pub(super) fn of(moment: &Transaction<'_>, files: &Files) -> Result<Self, StoreError> {
        Ok(Self {
            files: files.clone(),
            editions: numbers(moment, "SELECT number FROM edition")?,
            gone: numbers(moment, "SELECT document FROM gone ORDER BY document")?,
        })
    }

    pub(super) fn vectors(&self) -> Option<VectorFile> {
        // Before anything was filed there is nothing to open.
        if self.editions.is_empty() {
            return None;
        }
        VectorFile::open(&self.files.vectors(), HASH, &self.editions)
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

    /// The places in a file of what is gone; nothing if a part of it is lost.
    pub(super) fn gone_from(&self, file: &PostingFile) -> Option<Vec<u32>> {
        let mut places = Vec::new();
        for document in self.gone.iter().filter(|document| **document <= file.high_water()) {
            places.extend(file.place(*document)?);
        }
        Some(places)
    }

    /// How many documents came or went since the files were made; none if they have to be made again whatever that is.
    fn waiting(&self, moment: &Transaction<'_>) -> Result<Option<i64>, StoreError> {
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
            newer_than(moment, high_water)? + i64::try_from(self.gone.len()).unwrap_or(i64::MAX),
        ))
    }
}

fn numbers(connection: &Connection, query: &str) -> Result<Vec<i64>, StoreError> {
    let mut rows = connection.prepare_cached(query)?;
    Ok(rows.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn newer_than(connection: &Connection, high_water: i64) -> Result<i64, StoreError> {
    Ok(connection.query_row(
        "SELECT count(*) FROM document WHERE id > ?1",
        [high_water],
        |row| row.get(0),
    )?)
}

/// Whether a search would have to read too much from the database, as far as the files' own words go.
pub(crate) fn is_behind(connection: &Connection, files: &Files) -> Result<bool, StoreError> {
    let moment = connection.unchecked_transaction()?;
    let all: i64 = moment
        .prepare_cached("SELECT coalesce(sum(documents), 0) FROM corpus")?
        .query_row([], |row| row.get(0))?;
    // In a small memory there is nothing to open for it.
    let most = (all * TOO_MANY_PERCENT / 100).clamp(*TOO_MANY.start(), *TOO_MANY.end());
    if all <= *TOO_MANY.end() {
        return Ok(false);
    }
    let index = Index::of(&moment, files)?;
    let high_water = match (index.vectors(), index.terms()) {
        (Some(vectors), Some(terms)) => vectors.high_water().min(terms.high_water()),
        _ => i64::MIN,
    };
    let mut newer =
        moment.prepare_cached("SELECT 1 FROM document WHERE id > ?1 LIMIT 1 OFFSET ?2")?;
    Ok(newer.exists([high_water, most])?)
}

/// Whether the files that this database has made have to be made again: torn, of another table of vectors, or one without
/// the other. One that has made none does without, whatever lies there.
pub(crate) fn is_misfiled(connection: &Connection, files: &Files) -> Result<bool, StoreError> {
    let moment = connection.unchecked_transaction()?;
    let index = Index::of(&moment, files)?;
    Ok(!index.editions.is_empty() && index.waiting(&moment)?.is_none())
}

/// Removes the files, whole: nobody can say which bytes in them are of what.
pub(crate) fn remove(files: &Files) -> Result<(), StoreError> {
    for path in [files.vectors(), files.terms()] {
        cache::remove(&path).map_err(at("remove", &path))?;
    }
    Ok(())
}

impl Store {
    /// Makes the files anew where enough has changed, or something is wrong with them. Says whether.
    pub(crate) fn file_documents(
        &mut self,
        lock: &Lock,
        until: Instant,
    ) -> Result<bool, StoreError> {
        let moment = self.connection.unchecked_transaction()?;
        let waiting = Index::of(&moment, &self.files)?.waiting(&moment)?;
        let documents = newer_than(&moment, i64::MIN)?;
        drop(moment);
        let due = waiting.is_none_or(|waiting| {
            waiting > 0 && (waiting >= MANY || waiting * 100 >= documents * PERCENT)
        });
        if due && Instant::now() < until {
            self.make_files(lock)?;
        }
        Ok(due)
    }

    /// Makes the files. Once begun it goes on to its end, however large the memory is: half of it would be done again.
    pub(crate) fn make_files(&mut self, _lock: &Lock) -> Result<(), StoreError> {
        let edition: i64 = self.write(|transaction| {
            Ok(transaction.query_row(
                "INSERT INTO edition (number) VALUES (random()) RETURNING number",
                [],
                |row| row.get(0),
            )?)
        })?;
        let moment = self.connection.unchecked_transaction()?;
        let gone = numbers(&moment, "SELECT document FROM gone")?;
        write(&moment, &self.files, edition)?;
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

fn write(moment: &Transaction<'_>, files: &Files, edition: i64) -> Result<(), StoreError> {
    let (vectors, terms) = (files.vectors(), files.terms());
    let mut near = VectorDraft::begin(&vectors, edition).map_err(at("write", &vectors))?;
    let mut words = PostingDraft::begin(&terms, edition).map_err(at("write", &terms))?;
    // Of one that came and went there is nothing, and it is not waited for.
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
        let kind = row.get::<_, Kind>(6)?.number();
        let project = row.get::<_, Option<i64>>(2)?.unwrap_or(EVERYWHERE);
        high_water = id.max(high_water);
        let vector = row.get_ref(4)?.as_blob_or_null().unwrap_or_default();
        if let Some(vector) = vector.and_then(Vector::of_bytes) {
            let entry = Entry { row: id, axis: axis.number(), kind, project };
            near.put(&vector, entry).map_err(at("write", &vectors))?;
        }
        let document = Document { row: id, project, kind, length: row.get(3)? };
        let said = row.get_ref(5)?.as_str().unwrap_or_default();
        words.put(document, axis.mark(), said.split(' ')).map_err(at("write", &terms))?;
    }
    near.finish(high_water).map_err(at("write", &vectors))?;
    words.finish(high_water).map_err(at("write", &terms))
}
