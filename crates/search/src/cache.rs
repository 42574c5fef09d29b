//! The format and life cycle that all cache files next to the database share.
//!
//! A damaged file is treated as missing and rebuilt from the database. A file is written under another name and then
//! renamed, so a reader sees either the complete old file or the complete new one for as long as it has it open.
//!
//! The *edition* of a file, a random number that is also in the database, identifies the database and the state that
//! the file belongs to. A database that was restored from a copy or created anew does not contain it.
//!
//! Reading everything for a checksum would cost as much as the search. Instead each record carries a seal that is
//! checked when the record is read. A disk loses whole sectors, and a sector is longer than a record, so each hole
//! breaks a seal.

mod map;

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::file;

// The checksum protects against accidents, not against attackers, who could write a whole valid file.
pub(super) use rutter_redact::checksum::fnv1a as fnv_hash;

const FORMAT_VERSION: u32 = 2;
pub(super) const HEADER_BYTES: usize = 72;

/// The documents that a search covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchScope {
    /// The axis, see [`Axis::file_number`](crate::document::Axis::file_number).
    pub axis: u8,
    /// The kind of documents; all kinds if None.
    pub kind: Option<u8>,
    /// The project; documents that hold everywhere are always included. All projects if None.
    pub project: Option<i64>,
}

/// The project number of a document that holds in every project. Row ids begin at 1.
pub const EVERYWHERE_PROJECT: i64 = 0;

impl SearchScope {
    /// Returns true if documents of this project and kind are in the scope.
    pub fn includes(&self, project: i64, kind: u8) -> bool {
        (project == EVERYWHERE_PROJECT || self.project.is_none_or(|asked| asked == project))
            && self.kind.is_none_or(|asked| asked == kind)
    }
}

/// The header of a cache file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CacheHeader {
    /// Identifies the type of the file.
    pub(super) magic: [u8; 8],
    /// Size of a record in bytes.
    pub(super) record: usize,
    /// Hash of the table that the vectors were computed with; 0 in files without vectors.
    pub(super) table: u64,
    pub(super) edition: i64,
    /// The file contains documents up to this row.
    pub(super) high_water: i64,
    /// Number of entries in each section of the file.
    pub(super) counts: [u64; 3],
}

impl CacheHeader {
    fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let record = u32::try_from(self.record).unwrap_or_default();
        let mut bytes = [0; HEADER_BYTES];
        let (fields, check) = bytes.split_at_mut(HEADER_BYTES - 8);
        let said = self
            .magic
            .iter()
            .copied()
            .chain(FORMAT_VERSION.to_le_bytes())
            .chain(record.to_le_bytes())
            .chain(self.table.to_le_bytes())
            .chain(self.edition.to_le_bytes())
            .chain(self.high_water.to_le_bytes())
            .chain(self.counts.iter().flat_map(|count| count.to_le_bytes()));
        fields.iter_mut().zip(said).for_each(|(field, byte)| *field = byte);
        check.copy_from_slice(&fnv_hash(fields).to_le_bytes());
        bytes
    }

    /// Returns the key of the seals of this file's records. A sector of an older file breaks the seals too.
    pub(super) fn seal_key(&self) -> u64 {
        mix_hash(fnv_hash(&self.magic) ^ self.table, self.edition.cast_unsigned())
    }
}

/// Maps a file into memory and returns it with its header, or None unless the header is as expected. Edition,
/// high-water mark and counts come from the file; the edition has to be one of `editions`. The caller checks the length
/// of the file.
pub(super) fn open_cache(
    path: &Path,
    expected: CacheHeader,
    editions: &[i64],
) -> Option<(Mmap, CacheHeader)> {
    let map = map::map_file(path)?;
    let bytes: &[u8; HEADER_BYTES] = map.first_chunk()?;
    let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let header = CacheHeader {
        edition: number(24)?.cast_signed(),
        high_water: number(32)?.cast_signed(),
        counts: [number(40)?, number(48)?, number(56)?],
        ..expected
    };
    let belongs = header.to_bytes() == *bytes && editions.contains(&header.edition);
    belongs.then_some((map, header))
}

/// A file that is being written under another name and will replace the current one. Only one process may do this at a
/// time: the caller holds the maintenance lock.
#[derive(Debug)]
pub(super) struct CacheDraft {
    out: Option<BufWriter<File>>,
    beside: PathBuf,
    path: PathBuf,
}

impl CacheDraft {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let beside = draft_path(path);
        // A process that was killed while writing left this file.
        file::remove_if_exists(&beside)?;
        let file = file::private_options().write(true).create_new(true).open(&beside)?;
        let mut out = BufWriter::with_capacity(256 * 1024, file);
        out.write_all(&[0; HEADER_BYTES])?;
        Ok(Self { out: Some(out), beside, path: path.to_owned() })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.write_all(bytes))
    }

    /// Writes the header, syncs the file and renames it. The header comes last because the counts are known only now; a
    /// file without a header is invalid.
    pub(super) fn finish(mut self, header: &CacheHeader) -> io::Result<()> {
        if let Some(mut out) = self.out.take() {
            out.rewind()?;
            out.write_all(&header.to_bytes())?;
            // After a power cut the name must not exist without the content.
            out.into_inner()?.sync_all()?;
        }
        fs::rename(&self.beside, &self.path)
    }
}

impl Drop for CacheDraft {
    fn drop(&mut self) {
        // After the rename this file does not exist.
        drop(file::remove_if_exists(&self.beside));
    }
}

/// Returns the path where a file is written until it is complete.
fn draft_path(path: &Path) -> PathBuf {
    file::with_suffix(path, file::DRAFT_SUFFIX)
}

/// Removes a file, and the unfinished draft of it that a killed process left.
pub fn remove_cache(path: &Path) -> io::Result<()> {
    file::remove_if_exists(path)?;
    file::remove_if_exists(&draft_path(path))
}

/// Mixes two numbers into one.
pub(super) fn mix_hash(one: u64, other: u64) -> u64 {
    let mixed = (one ^ other).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

/// Returns the upper half of the mixed number, which depends on all lower bits.
pub(super) fn make_seal(mixed: u64) -> [u8; 4] {
    let [_, _, _, _, seal @ ..] = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    seal
}
