//! The fingerprint file: checksums of everything that a hook before a tool call may have to act on.
//!
//! Most tool calls concern nothing in the memory. A hook computes the fingerprints of its call and looks for them in this file; if
//! none is there, it ends without the database. So the file may contain too much, but never too little: a fingerprint is
//! in the file before the database has its row, and is removed later. If the file is missing, torn or of another
//! version, the hook asks the database.
//!
//! Projects are not part of a fingerprint, because finding a project takes longer than the hook may. The database
//! decides which project a row belongs to.

use std::fs::FileTimes;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, UNIX_EPOCH};

use crate::Time;
use crate::cached_file::{CachedFile, read_cached};
use crate::checksum::fnv1a;
use crate::data_dir::{
    DRAFT_SUFFIX, DataDir, open_own, private_options, read_options, read_own, remove_if_exists,
    with_suffix,
};

/// The first bytes of the file.
const FILE_MAGIC: [u8; 4] = *b"rfpr";
/// Version of the format and of the way in which fingerprints are computed.
const FORMAT_VERSION: u32 = 1;
/// Size of the header: magic, version, count, checksum.
const HEADER_BYTES: usize = 4 + 4 + 8 + 8;
/// Size above which a file is not used. Many times what rebuilding it can produce.
const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;
/// Interval after which a call is handled in full even if it concerns nothing, so that the event is counted.
const COUNT_INTERVAL: Duration = Duration::from_mins(10);

/// The reason for which a call concerns the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FingerprintKind {
    /// The session has an active GHAP. The key is the client's session id.
    ActiveGhap,
    /// A checkout has an open failure. The key is its root.
    OpenEpisode,
    /// A file has lines that fixed a failure. The key is the name of the file, without its folder.
    FixedFile,
    /// A command that failed before and has a variant that works. The key is the shape of the command.
    FailingCommand,
}

/// Returns the fingerprint that is in the file if there is any other of this kind. Most files have few kinds, and computing a key
/// takes longer than asking for its kind.
pub fn kind_fingerprint(kind: FingerprintKind) -> u64 {
    fingerprint(kind, "")
}

/// Computes a fingerprint of a key that is not empty.
pub fn fingerprint(kind: FingerprintKind, key: &str) -> u64 {
    let kind = (kind as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // FNV alone barely mixes the last bytes into the high bits.
    let sum = fnv1a(key.as_bytes());
    (sum ^ (sum >> 32) ^ kind).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The fingerprints in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprints {
    /// The content of the file, header included.
    bytes: Vec<u8>,
    /// The time of the last call that was counted; the epoch if none was since the file was written.
    counted_at: Time,
}

impl Fingerprints {
    /// Reads the file without waiting for a disk. Returns None if the file is not in the kernel's caches, cannot be used, or
    /// is on a system that cannot read without waiting.
    pub fn read_cached(files: &DataDir) -> Option<Self> {
        let CachedFile::Found(found) = read_cached(&files.fingerprints(), MAX_FILE_BYTES, false)
        else {
            return None;
        };
        let is_ours = found.owner == 0 || found.owner == rustix::process::geteuid().as_raw();
        is_ours.then(|| Self::decode(found.bytes, found.modified_seconds)).flatten()
    }

    /// Reads the file. Returns None if it cannot be used.
    pub fn read(files: &DataDir) -> Option<Self> {
        let file = open_own(&files.fingerprints(), &read_options()).ok()?;
        let found = file.metadata().ok()?;
        if usize::try_from(found.len()).ok()? > MAX_FILE_BYTES {
            return None;
        }
        // The file is replaced and never changed, so both reads see the same file or the later one.
        Self::decode(read_own(&files.fingerprints()).ok()?, found.mtime())
    }

    fn decode(bytes: Vec<u8>, modified_seconds: i64) -> Option<Self> {
        let (header, body) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        (*header == encode_header(body)).then(|| Self {
            counted_at: Time::from_millis(modified_seconds.saturating_mul(1_000)),
            bytes,
        })
    }

    fn body(&self) -> &[[u8; 8]] {
        self.bytes.get(HEADER_BYTES..).unwrap_or_default().as_chunks().0
    }

    /// Returns true if the file has a fingerprint.
    pub fn contains(&self, fingerprint: u64) -> bool {
        self.body().binary_search_by_key(&fingerprint, |bytes| u64::from_le_bytes(*bytes)).is_ok()
    }

    /// Returns all fingerprints, sorted.
    pub fn all(&self) -> impl Iterator<Item = u64> {
        self.body().iter().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Returns true if the next call must be counted. A file that was just written asks for that too.
    pub fn must_count(&self, now: Time) -> bool {
        // A later time means that the clock was set back.
        self.counted_at > now || self.counted_at < now.minus(COUNT_INTERVAL)
    }
}

/// Returns the header of a file with these fingerprints.
fn encode_header(body: &[u8]) -> [u8; HEADER_BYTES] {
    let (words, rest) = body.as_chunks::<8>();
    // One step for each word: a hook computes it on every call. Any bytes beyond the last word make the count wrong.
    let count = if rest.is_empty() { words.len() as u64 } else { u64::MAX };
    let sum = words.iter().fold(count ^ u64::from(FORMAT_VERSION), |sum, word| {
        (sum.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&FILE_MAGIC);
    header[4..8].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    header[8..16].copy_from_slice(&count.to_le_bytes());
    header[16..].copy_from_slice(&sum.to_le_bytes());
    header
}

/// Replaces the file. The caller holds the write lock of the database, so only one process does this at a time.
///
/// Does not sync. After a power cut the file is the old one, the new one, or is refused by its checksum.
pub(crate) fn write_file(files: &DataDir, mut fingerprints: Vec<u64>) -> io::Result<()> {
    fingerprints.sort_unstable();
    fingerprints.dedup();
    let body: Vec<u8> = fingerprints.iter().flat_map(|one| one.to_le_bytes()).collect();
    let path = files.fingerprints();
    let draft = with_suffix(&path, DRAFT_SUFFIX);
    // A process that was killed while writing left this file.
    remove_if_exists(&draft)?;
    let mut file = private_options().write(true).create_new(true).open(&draft)?;
    file.write_all(&encode_header(&body))?;
    file.write_all(&body)?;
    file.set_times(FileTimes::new().set_modified(UNIX_EPOCH))?;
    std::fs::rename(&draft, &path)
}

/// Adds fingerprints to the file. A file that is missing or cannot be used stays so until maintenance rebuilds it: one with
/// only these fingerprints would hide all others.
pub(crate) fn add_to_file(files: &DataDir, new: &[u64]) -> io::Result<()> {
    let Some(known) = Fingerprints::read(files) else { return remove_file(files) };
    if new.iter().all(|one| known.contains(*one)) {
        return Ok(());
    }
    write_file(files, known.all().chain(new.iter().copied()).collect())
}

/// Removes the file, so that hooks ask the database.
pub(crate) fn remove_file(files: &DataDir) -> io::Result<()> {
    remove_if_exists(&files.fingerprints())
}

/// Notes in the file that a call was counted. Does nothing if there is no file.
pub fn note_counted(files: &DataDir, now: Time) -> io::Result<()> {
    let millis = u64::try_from(now.millis()).unwrap_or_default();
    let time = UNIX_EPOCH + Duration::from_millis(millis);
    match open_own(&files.fingerprints(), &read_options()) {
        Ok(file) => file.set_times(FileTimes::new().set_modified(time)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn data_dir() -> (tempfile::TempDir, DataDir) {
        let folder = tempfile::tempdir().unwrap();
        let files = DataDir::new(folder.path());
        (folder, files)
    }

    fn file_bytes(files: &DataDir) -> Vec<u8> {
        read_own(&files.fingerprints()).unwrap()
    }

    proptest! {
        #[test]
        fn contains_what_was_written(written: Vec<u64>, added: Vec<u64>, other: Vec<u64>) {
            let (_folder, files) = data_dir();
            write_file(&files, written.clone()).unwrap();
            add_to_file(&files, &added).unwrap();
            let known = Fingerprints::read(&files).unwrap();
            for one in written.iter().chain(&added) {
                prop_assert!(known.contains(*one));
            }
            for one in other {
                let is_known = written.contains(&one) || added.contains(&one);
                prop_assert_eq!(known.contains(one), is_known);
            }
        }

        /// A prefix, another bit, more bytes: none is taken for a file with fewer fingerprints.
        #[test]
        fn damaged_file_is_refused(written: Vec<u64>, at: prop::sample::Index, bit in 0..8_u8, more: Vec<u8>) {
            let (_folder, files) = data_dir();
            write_file(&files, written).unwrap();
            let whole = file_bytes(&files);
            prop_assert!(Fingerprints::decode(whole.clone(), 0).is_some());
            prop_assert_eq!(Fingerprints::decode(whole[..at.index(whole.len())].to_vec(), 0), None);
            let mut flipped = whole.clone();
            flipped[at.index(whole.len())] ^= 1 << bit;
            prop_assert_eq!(Fingerprints::decode(flipped, 0), None);
            if !more.is_empty() {
                prop_assert_eq!(Fingerprints::decode([whole, more].concat(), 0), None);
            }
        }
    }

    #[test]
    fn other_version_is_refused() {
        let (_folder, files) = data_dir();
        write_file(&files, vec![1, 2, 3]).unwrap();
        let mut bytes = file_bytes(&files);
        bytes[4..8].copy_from_slice(&(FORMAT_VERSION + 1).to_le_bytes());
        assert_eq!(Fingerprints::decode(bytes, 0), None);
    }

    #[test]
    fn unusable_file_is_not_continued() {
        let (_folder, files) = data_dir();
        add_to_file(&files, &[1]).unwrap();
        assert_eq!(Fingerprints::read(&files), None);
        write_file(&files, vec![1]).unwrap();
        let mut file = private_options().append(true).open(files.fingerprints()).unwrap();
        file.write_all(b"x").unwrap();
        add_to_file(&files, &[2]).unwrap();
        assert_eq!(Fingerprints::read(&files), None);
    }

    #[test]
    fn link_is_refused() {
        let (_folder, files) = data_dir();
        write_file(&files, vec![1]).unwrap();
        let moved = files.folder().join("elsewhere");
        std::fs::rename(files.fingerprints(), &moved).unwrap();
        std::os::unix::fs::symlink(&moved, files.fingerprints()).unwrap();
        assert_eq!(Fingerprints::read(&files), None);
        assert_eq!(Fingerprints::read_cached(&files), None);
    }

    #[test]
    fn calls_are_counted_at_intervals() {
        let (_folder, files) = data_dir();
        let now = Time::from_millis(1_763_200_000_000);
        let must_count = |at: Time| Fingerprints::read(&files).unwrap().must_count(at);
        write_file(&files, Vec::new()).unwrap();
        assert!(must_count(now));
        note_counted(&files, now).unwrap();
        assert!(!must_count(now) && !must_count(Time::from_millis(now.millis() + 599_000)));
        assert!(must_count(Time::from_millis(now.millis() + 601_000)));
        assert!(must_count(Time::from_millis(now.millis() - 60_000)));
    }

    #[test]
    fn fingerprints_differ() {
        use FingerprintKind::{ActiveGhap, FailingCommand, FixedFile, OpenEpisode};
        let all = [ActiveGhap, OpenEpisode, FixedFile, FailingCommand]
            .into_iter()
            .flat_map(|kind| ["", "a", "b", "ab"].map(|key| fingerprint(kind, key)));
        let distinct: std::collections::BTreeSet<u64> = all.collect();
        assert_eq!(distinct.len(), 16);
    }
}
