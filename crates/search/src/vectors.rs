//! The vectors of all documents, in one flat [`cache`] file next to the database.
//!
//! ```text
//! header   72 bytes   RUTVECTS, form, size of a record, hash of the table, edition, high-water mark, count, check of these
//! records 284 bytes   256 numbers, row (i64), project (i64), scale (f32), axis (u8), kind (u8), 0 (u16), seal (u32)
//! ```
//!
//! All numbers are little-endian.

mod top;

use std::io;
use std::path::Path;

use memmap2::Mmap;

use self::top::Top;
use super::cache::{self, Draft, HEADER, Header, Scope, mix, seal};
use crate::embed::{DIMS, HASH, Near, Vector};

const MAGIC: [u8; 8] = *b"RUTVECTS";
const RECORD: usize = DIMS + 8 + 8 + 4 + 4 + 4;

/// The file, open for searching.
#[derive(Debug)]
pub struct VectorFile {
    map: Mmap,
    count: usize,
    high_water: i64,
    key: u64,
}

/// The document that a vector belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Row id of the document.
    pub row: i64,
    /// Number of the axis.
    pub axis: u8,
    /// Number of the document's kind.
    pub kind: u8,
    /// Row id of the project, or [`cache::EVERYWHERE`].
    pub project: i64,
}

fn header(table: u64) -> Header {
    Header { magic: MAGIC, record: RECORD, table, edition: 0, high_water: 0, counts: [0; 3] }
}

impl VectorFile {
    /// Opens the file at a path. Returns None if it is invalid, not one of these editions, or made with another table
    /// ([`HASH`], except in tests). Then it has to be rebuilt, and searches work without vectors until then.
    pub fn open(path: &Path, table: u64, editions: &[i64]) -> Option<Self> {
        let (map, header) = cache::open(path, header(table), editions)?;
        let [count, ..] = header.counts;
        let size = usize::try_from(count).ok()?.checked_mul(RECORD)?.checked_add(HEADER)?;
        let count = (size - HEADER) / RECORD;
        (map.len() == size).then_some(Self {
            map,
            count,
            high_water: header.high_water,
            key: header.key(),
        })
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if the file has no vectors.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the last row that the file covers. Rows without a vector are missing; later rows must be searched
    /// elsewhere.
    pub fn high_water(&self) -> i64 {
        self.high_water
    }

    /// Returns up to `most` rows with their cosines: the nearest to the query that are in the scope and pass the
    /// filter, nearest first, rows with equal cosines by row id. Returns None if a part of the file is damaged.
    ///
    /// The filter is called only for rows that would be among the nearest.
    pub fn scan(
        &self,
        query: &Vector,
        most: usize,
        scope: Scope,
        mut filter: impl FnMut(i64) -> bool,
    ) -> Option<Vec<(i64, f32)>> {
        let near = Near::to(query, self.count);
        let mut top = Top::new(most);
        self.each(|numbers, scale, entry| {
            if entry.axis == scope.axis && scope.has(entry.project, entry.kind) {
                top.offer(entry.row, near.at(numbers, scale), &mut filter);
            }
        })?;
        Some(top.into_sorted())
    }

    /// Returns true if no part of the file is damaged.
    pub fn is_whole(&self) -> bool {
        self.each(|_, _, _| {}).is_some()
    }

    fn each(&self, mut look: impl FnMut(&[u8; DIMS], f32, Entry)) -> Option<()> {
        for record in self.map[HEADER..].as_chunks::<RECORD>().0 {
            let (numbers, rest) = record.split_first_chunk::<DIMS>()?;
            let (row, rest) = rest.split_first_chunk()?;
            let (project, rest) = rest.split_first_chunk()?;
            let (scale, rest) = rest.split_first_chunk()?;
            let (&[axis, kind, _, _], seal) = rest.split_first_chunk()?;
            let scale = f32::from_le_bytes(*scale);
            let entry = Entry {
                row: i64::from_le_bytes(*row),
                axis,
                kind,
                project: i64::from_le_bytes(*project),
            };
            if *seal != seal_of(self.key, scale, entry) || !(scale > 0.0 && scale <= 1.0) {
                return None;
            }
            look(numbers, scale, entry);
        }
        Some(())
    }
}

/// A file that is being written to replace the current one.
#[derive(Debug)]
pub struct VectorDraft {
    draft: Draft,
    header: Header,
}

impl VectorDraft {
    /// Creates the draft. Only one process may do this at a time: the caller holds the maintenance lock.
    pub fn begin(path: &Path, edition: i64) -> io::Result<Self> {
        Ok(Self { draft: Draft::begin(path)?, header: Header { edition, ..header(HASH) } })
    }

    /// Adds a vector. Each row may be added once.
    pub fn put(&mut self, vector: &Vector, entry: Entry) -> io::Result<()> {
        self.draft.put(vector.bytes())?;
        self.draft.put(&entry.row.to_le_bytes())?;
        self.draft.put(&entry.project.to_le_bytes())?;
        self.draft.put(&vector.scale().to_le_bytes())?;
        self.draft.put(&[entry.axis, entry.kind, 0, 0])?;
        self.draft.put(&seal_of(self.header.key(), vector.scale(), entry))?;
        self.header.counts[0] += 1;
        Ok(())
    }

    /// Writes the header and replaces the current file. The file covers rows up to `high_water`.
    pub fn finish(self, high_water: i64) -> io::Result<()> {
        self.draft.finish(&Header { high_water, ..self.header })
    }
}

fn seal_of(key: u64, scale: f32, entry: Entry) -> [u8; 4] {
    let about = mix(key ^ u64::from(scale.to_bits()), entry.row.cast_unsigned());
    seal(mix(
        about,
        entry.project.cast_unsigned()
            ^ (u64::from(entry.axis) << 48)
            ^ (u64::from(entry.kind) << 56),
    ))
}

#[cfg(test)]
mod tests;
