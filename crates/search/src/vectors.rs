//! The vectors of everything that can be found, in one flat file beside the database: a [`cache`].
//!
//! ```text
//! header   72 bytes   RUTVECTS, form, size of a record, hash of the table, edition, high-water mark, count, check of these
//! records 284 bytes   256 numbers, row (i64), project (i64), scale (f32), axis (u8), kind (u8), 0 (u16), seal (u32)
//! ```
//!
//! All of it is little-endian.

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

/// What there is to say of a vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The row of its document.
    pub row: i64,
    /// On which axis.
    pub axis: u8,
    /// Of which kind of rows.
    pub kind: u8,
    /// Of which project, or [`cache::EVERYWHERE`].
    pub project: i64,
}

fn header(table: u64) -> Header {
    Header { magic: MAGIC, record: RECORD, table, edition: 0, high_water: 0, counts: [0; 3] }
}

impl VectorFile {
    /// The file at a path, if it is whole, one of these editions, and its vectors are of this table ([`HASH`], but for
    /// tests). Nothing otherwise: then it is to be made again, and until then as if there were no vectors.
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

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Rows up to here are in the file, as far as they have a vector. Later ones are to be looked for elsewhere.
    pub fn high_water(&self) -> i64 {
        self.high_water
    }

    /// The rows that are nearest to a query, are in the scope and are let through by the filter, at most `most`, nearest
    /// first, with their cosines; rows that are equally near in their order. Nothing if a part of the file turns out to be
    /// lost.
    ///
    /// The filter is asked only about rows that would be among the nearest.
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

    /// Whether no part of it is lost.
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

/// A file that is being written, in place of the one that is there.
#[derive(Debug)]
pub struct VectorDraft {
    draft: Draft,
    header: Header,
}

impl VectorDraft {
    /// Begins one. Only one process may be at it: the caller holds the lock of whoever tends the memory.
    pub fn begin(path: &Path, edition: i64) -> io::Result<Self> {
        Ok(Self { draft: Draft::begin(path)?, header: Header { edition, ..header(HASH) } })
    }

    /// Adds a vector; each row comes once.
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

    /// Puts it in its place, and says up to which row it reaches.
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
