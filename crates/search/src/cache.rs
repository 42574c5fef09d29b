//! What the files beside the database have in common.
//!
//! Whatever is wrong with one, it is as if it were not there, and is made again from the database. It is written beside and
//! renamed, so a reader has the old one or the new one, whole, for as long as it looks.
//!
//! Which database a file belongs to, and which state of it, is said by its *edition*: a number that was drawn for it, and that
//! the database has as well. One that was put back from a copy, or begun anew, does not know it.
//!
//! Reading everything for a checksum would cost as much as the search. Instead each record carries a seal, which is looked at
//! on the way: what a disk loses it loses in sectors, a sector is longer than a record, so there is no hole without a broken
//! seal.

mod map;

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::file;

const FORM: u32 = 2;
pub(super) const HEADER: usize = 72;

/// Which documents are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// On which axis.
    pub axis: u8,
    /// Of which kind of rows; none is all of them.
    pub kind: Option<u8>,
    /// Of which project, and those of everywhere; none is all of them.
    pub project: Option<i64>,
}

/// What stands in place of the project of a document that holds everywhere: rows begin at 1.
pub const EVERYWHERE: i64 = 0;

impl Scope {
    /// Whether a project's documents of a kind are among them.
    pub fn has(&self, project: i64, kind: u8) -> bool {
        (project == EVERYWHERE || self.project.is_none_or(|asked| asked == project))
            && self.kind.is_none_or(|asked| asked == kind)
    }
}

/// What a file says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// What kind of file it is.
    pub(super) magic: [u8; 8],
    /// The size of its records.
    pub(super) record: usize,
    /// What its numbers are made with.
    pub(super) table: u64,
    pub(super) edition: i64,
    /// Documents up to here are in it.
    pub(super) high_water: i64,
    /// How many there are of what.
    pub(super) counts: [u64; 3],
}

impl Header {
    fn bytes(&self) -> [u8; HEADER] {
        let record = u32::try_from(self.record).unwrap_or_default();
        let mut bytes = [0; HEADER];
        let (fields, check) = bytes.split_at_mut(HEADER - 8);
        let said = self
            .magic
            .iter()
            .copied()
            .chain(FORM.to_le_bytes())
            .chain(record.to_le_bytes())
            .chain(self.table.to_le_bytes())
            .chain(self.edition.to_le_bytes())
            .chain(self.high_water.to_le_bytes())
            .chain(self.counts.iter().flat_map(|count| count.to_le_bytes()));
        fields.iter_mut().zip(said).for_each(|(field, byte)| *field = byte);
        check.copy_from_slice(&fnv(fields).to_le_bytes());
        bytes
    }

    /// What the seals of this file's records are made with: a sector of an older file breaks them too.
    pub(super) fn key(&self) -> u64 {
        mix(fnv(&self.magic) ^ self.table, self.edition.cast_unsigned())
    }
}

/// A file as memory, with what it says of itself, if that is what is expected but for what only the file knows: up to where it
/// goes, and how many there are of what. Its length is the caller's to check.
pub(super) fn open(path: &Path, expected: Header, editions: &[i64]) -> Option<(Mmap, Header)> {
    let map = map::open(path)?;
    let bytes: &[u8; HEADER] = map.first_chunk()?;
    let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let header = Header {
        edition: number(24)?.cast_signed(),
        high_water: number(32)?.cast_signed(),
        counts: [number(40)?, number(48)?, number(56)?],
        ..expected
    };
    let belongs = header.bytes() == *bytes && editions.contains(&header.edition);
    belongs.then_some((map, header))
}

/// A file that is being written, beside the one that it will replace. Only one process may be at it: the caller holds the
/// lock of whoever tends the memory.
#[derive(Debug)]
pub(super) struct Draft {
    out: Option<BufWriter<File>>,
    beside: PathBuf,
    path: PathBuf,
}

impl Draft {
    pub(super) fn begin(path: &Path) -> io::Result<Self> {
        let beside = beside(path);
        // Left by a process that was killed in the middle.
        file::remove_if_there(&beside)?;
        let file = file::private().write(true).create_new(true).open(&beside)?;
        let mut out = BufWriter::with_capacity(256 * 1024, file);
        out.write_all(&[0; HEADER])?;
        Ok(Self { out: Some(out), beside, path: path.to_owned() })
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.write_all(bytes))
    }

    /// The header comes last, when the counts are known; a file without is none.
    pub(super) fn finish(mut self, header: &Header) -> io::Result<()> {
        if let Some(mut out) = self.out.take() {
            out.rewind()?;
            out.write_all(&header.bytes())?;
            // After a power cut the name must not be there without what it names.
            out.into_inner()?.sync_all()?;
        }
        fs::rename(&self.beside, &self.path)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Once it was renamed it is not there.
        drop(file::remove_if_there(&self.beside));
    }
}

/// Where a file is written until it is whole.
fn beside(path: &Path) -> PathBuf {
    file::with_end(path, file::DRAFT)
}

/// Removes a file, and what a killed process left of the next one.
pub fn remove(path: &Path) -> io::Result<()> {
    file::remove_if_there(path)?;
    file::remove_if_there(&beside(path))
}

/// FNV-1a: against accidents, not against people, who could as well write a whole file.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Two numbers as one.
pub(super) fn mix(one: u64, other: u64) -> u64 {
    let mixed = (one ^ other).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

/// The upper half of a number, which hangs on all of its lower one.
pub(super) fn seal(mixed: u64) -> [u8; 4] {
    let [_, _, _, _, seal @ ..] = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    seal
}
