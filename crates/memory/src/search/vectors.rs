//! The vectors of everything that can be found, in one flat file beside the database.
//!
//! A cache: whatever is wrong with it, it is as if it were not there, and is made again from the texts. It is written
//! beside and renamed, so a reader has the old one or the new one, whole, for as long as it looks.
//!
//! ```text
//! header   64 bytes   RUTVECTS, form, size of a record, hash of the table, count, high-water mark, check of these
//! records 272 bytes   256 numbers, row (i64), scale (f32), seal (u32)
//! ```
//!
//! All of it is little-endian. Reading everything for a checksum would cost as much as the search. Instead a record
//! carries a seal of its row and scale, which is looked at on the way: what a disk loses it loses in sectors, a sector is
//! longer than a record, so there is no hole without a broken seal.

mod map;
mod top;

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::path::Path;

use memmap2::Mmap;

use self::top::Top;
use crate::embed::{DIMS, HASH, Near, Vector};
use crate::store::files;

const MAGIC: &[u8; 8] = b"RUTVECTS";
const FORM: u32 = 1;
const HEADER: usize = 64;
const RECORD: usize = DIMS + 8 + 4 + 4;

/// The file, open for searching.
#[derive(Debug)]
pub struct VectorFile {
    map: Mmap,
    count: usize,
    high_water: i64,
    key: u64,
}

impl VectorFile {
    /// The file at a path, if it is whole and its vectors are of this table ([`HASH`], but for tests). Nothing otherwise:
    /// then it is to be made again, and until then as if there were no vectors.
    pub fn open(path: &Path, table: u64) -> Option<Self> {
        let map = map::open(path)?;
        let header = Header::read(map.first_chunk()?)?;
        let size = usize::try_from(header.count).ok()?.checked_mul(RECORD)?.checked_add(HEADER)?;
        if header.table != table || map.len() != size {
            return None;
        }
        let count = (size - HEADER) / RECORD;
        Some(Self { map, count, high_water: header.high_water, key: header.key() })
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

    /// The rows that are nearest to a query and that the filter lets through, at most `most`, nearest first, with their
    /// cosines; rows that are equally near in their order. Nothing if a part of the file turns out to be lost.
    ///
    /// The filter is asked only about rows that would be among the nearest.
    pub fn scan(
        &self,
        query: &Vector,
        most: usize,
        mut filter: impl FnMut(i64) -> bool,
    ) -> Option<Vec<(i64, f32)>> {
        let near = Near::to(query, self.count);
        let mut top = Top::new(most);
        for record in self.map[HEADER..].as_chunks::<RECORD>().0 {
            let (numbers, rest) = record.split_first_chunk::<DIMS>()?;
            let (row, rest) = rest.split_first_chunk()?;
            let (scale, seal) = rest.split_first_chunk()?;
            let (row, scale) = (i64::from_le_bytes(*row), f32::from_le_bytes(*scale));
            if *seal != seal_of(self.key, row, scale) || !(scale > 0.0 && scale <= 1.0) {
                return None;
            }
            top.offer(row, near.at(numbers, scale), &mut filter);
        }
        Some(top.into_sorted())
    }

    /// Puts vectors in the place of those that are there, each row once, and says up to which row they reach. Only one
    /// process may be at it: the caller holds the lock of whoever tends the memory.
    pub fn write(
        path: &Path,
        vectors: impl IntoIterator<Item = (i64, Vector)>,
        high_water: i64,
    ) -> io::Result<()> {
        let beside = files::with_end(path, ".new");
        // Left by a process that was killed in the middle.
        files::remove_if_there(&beside)?;
        let written = files::private()
            .write(true)
            .create_new(true)
            .open(&beside)
            .and_then(|file| fill(file, vectors, high_water))
            .and_then(|()| fs::rename(&beside, path));
        if written.is_err() {
            drop(files::remove_if_there(&beside));
        }
        written
    }
}

/// The header comes last, when the count is known; a file without is none.
fn fill(
    file: File,
    vectors: impl IntoIterator<Item = (i64, Vector)>,
    high_water: i64,
) -> io::Result<()> {
    let mut header = Header { table: HASH, count: 0, high_water };
    let key = header.key();
    let mut out = BufWriter::with_capacity(256 * 1024, file);
    out.write_all(&[0; HEADER])?;
    for (row, vector) in vectors {
        out.write_all(vector.bytes())?;
        out.write_all(&row.to_le_bytes())?;
        out.write_all(&vector.scale().to_le_bytes())?;
        out.write_all(&seal_of(key, row, vector.scale()))?;
        header.count += 1;
    }
    out.rewind()?;
    out.write_all(&header.bytes())?;
    // After a power cut the name must not be there without what it names.
    out.into_inner()?.sync_all()
}

struct Header {
    table: u64,
    count: u64,
    high_water: i64,
}

impl Header {
    fn read(bytes: &[u8; HEADER]) -> Option<Self> {
        let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let found =
            Self { table: number(16)?, count: number(24)?, high_water: number(32)?.cast_signed() };
        (found.bytes() == *bytes).then_some(found)
    }

    fn bytes(&self) -> [u8; HEADER] {
        let record = u32::try_from(RECORD).unwrap_or_default();
        let mut bytes = [0; HEADER];
        let (fields, check) = bytes.split_at_mut(HEADER - 8);
        let said = MAGIC
            .iter()
            .copied()
            .chain(FORM.to_le_bytes())
            .chain(record.to_le_bytes())
            .chain(self.table.to_le_bytes())
            .chain(self.count.to_le_bytes())
            .chain(self.high_water.to_le_bytes());
        fields.iter_mut().zip(said).for_each(|(field, byte)| *field = byte);
        check.copy_from_slice(&fnv(fields).to_le_bytes());
        bytes
    }

    /// What the seals of this file's records are made with: a sector of an older file breaks them too.
    fn key(&self) -> u64 {
        fnv(&[self.table.to_le_bytes(), self.high_water.to_le_bytes()].concat())
    }
}

/// FNV-1a: against accidents, not against people, who could as well write a whole file.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn seal_of(key: u64, row: i64, scale: f32) -> [u8; 4] {
    let mixed = (row.cast_unsigned() ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ u64::from(scale.to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let [_, _, _, _, seal @ ..] = mixed.to_le_bytes();
    seal
}

#[cfg(test)]
mod tests;
