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

use self::top::TopScores;
use super::cache::{self, CacheDraft, CacheHeader, HEADER_BYTES, SearchScope, make_seal, mix_hash};
use crate::embed::{EMBEDDING_HASH, VECTOR_DIMS, Vector, VectorComparer};

const VECTORS_MAGIC: [u8; 8] = *b"RUTVECTS";
const RECORD_BYTES: usize = VECTOR_DIMS + 8 + 8 + 4 + 4 + 4;

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
pub struct VectorEntry {
    /// Row id of the document.
    pub row: i64,
    /// Number of the axis.
    pub axis: u8,
    /// Number of the document's kind.
    pub kind: u8,
    /// Row id of the project, or [`cache::EVERYWHERE_PROJECT`].
    pub project: i64,
}

fn new_header(table: u64) -> CacheHeader {
    CacheHeader {
        magic: VECTORS_MAGIC,
        record: RECORD_BYTES,
        table,
        edition: 0,
        high_water: 0,
        counts: [0; 3],
    }
}

impl VectorFile {
    /// Opens the file at a path. Returns None if it is invalid, not one of these editions, or made with another table
    /// ([`EMBEDDING_HASH`], except in tests). Then it has to be rebuilt, and searches work without vectors until then.
    pub fn open(path: &Path, table: u64, editions: &[i64]) -> Option<Self> {
        let (map, header) = cache::open_cache(path, new_header(table), editions)?;
        let [count, ..] = header.counts;
        let size =
            usize::try_from(count).ok()?.checked_mul(RECORD_BYTES)?.checked_add(HEADER_BYTES)?;
        let count = (size - HEADER_BYTES) / RECORD_BYTES;
        (map.len() == size).then_some(Self {
            map,
            count,
            high_water: header.high_water,
            key: header.seal_key(),
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
        scope: SearchScope,
        mut filter: impl FnMut(i64) -> bool,
    ) -> Option<Vec<(i64, f32)>> {
        let near = VectorComparer::new_for(query, self.count);
        let mut top = TopScores::new(most);
        self.for_each_record(|numbers, scale, entry| {
            if entry.axis == scope.axis && scope.includes(entry.project, entry.kind) {
                top.offer(entry.row, near.cosine_with(numbers, scale), &mut filter);
            }
        })?;
        Some(top.into_sorted())
    }

    /// Returns true if no part of the file is damaged.
    pub fn is_whole(&self) -> bool {
        self.for_each_record(|_, _, _| {}).is_some()
    }

    fn for_each_record(
        &self,
        mut look: impl FnMut(&[u8; VECTOR_DIMS], f32, VectorEntry),
    ) -> Option<()> {
        for record in self.map[HEADER_BYTES..].as_chunks::<RECORD_BYTES>().0 {
            let (numbers, rest) = record.split_first_chunk::<VECTOR_DIMS>()?;
            let (row, rest) = rest.split_first_chunk()?;
            let (project, rest) = rest.split_first_chunk()?;
            let (scale, rest) = rest.split_first_chunk()?;
            let (&[axis, kind, _, _], seal) = rest.split_first_chunk()?;
            let scale = f32::from_le_bytes(*scale);
            let entry = VectorEntry {
                row: i64::from_le_bytes(*row),
                axis,
                kind,
                project: i64::from_le_bytes(*project),
            };
            if *seal != record_seal(self.key, scale, entry) || !(scale > 0.0 && scale <= 1.0) {
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
    draft: CacheDraft,
    header: CacheHeader,
}

impl VectorDraft {
    /// Creates the draft. Only one process may do this at a time: the caller holds the maintenance lock.
    pub fn create(path: &Path, edition: i64) -> io::Result<Self> {
        Ok(Self {
            draft: CacheDraft::create(path)?,
            header: CacheHeader { edition, ..new_header(EMBEDDING_HASH) },
        })
    }

    /// Adds a vector. Each row may be added once.
    pub fn add(&mut self, vector: &Vector, entry: VectorEntry) -> io::Result<()> {
        self.draft.write(vector.as_bytes())?;
        self.draft.write(&entry.row.to_le_bytes())?;
        self.draft.write(&entry.project.to_le_bytes())?;
        self.draft.write(&vector.scale().to_le_bytes())?;
        self.draft.write(&[entry.axis, entry.kind, 0, 0])?;
        self.draft.write(&record_seal(self.header.seal_key(), vector.scale(), entry))?;
        self.header.counts[0] += 1;
        Ok(())
    }

    /// Writes the header and replaces the current file. The file covers rows up to `high_water`.
    pub fn finish(self, high_water: i64) -> io::Result<()> {
        self.draft.finish(&CacheHeader { high_water, ..self.header })
    }
}

fn record_seal(key: u64, scale: f32, entry: VectorEntry) -> [u8; 4] {
    let about = mix_hash(key ^ u64::from(scale.to_bits()), entry.row.cast_unsigned());
    make_seal(mix_hash(
        about,
        entry.project.cast_unsigned()
            ^ (u64::from(entry.axis) << 48)
            ^ (u64::from(entry.kind) << 56),
    ))
}

#[cfg(test)]
mod tests;
