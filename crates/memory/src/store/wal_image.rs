//! A database read into memory, with its WAL applied.
//!
//! SQLite cannot read a database in WAL mode if it can neither write to its folder nor find the index of the WAL. A
//! store on a read-only disk, or with read-only files, is read this way. So is a damaged database that is being
//! repaired.

use std::io;
use std::ops::Range;
use std::path::Path;

use rusqlite::{Connection, MAIN_DB};

use super::{DataDir, StoreResult, io_error};
use crate::data_dir::read_own;

/// Sizes in bytes of the WAL header, and of the header of each frame in it.
const WAL_HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// Magic number of a WAL with little-endian checksums; one more means big-endian.
const WAL_MAGIC: u32 = 0x377f_0682;

/// Opens the store in a data directory for reading, without writing anything anywhere.
pub(super) fn open_image(files: &DataDir) -> StoreResult<Connection> {
    let database = files.database();
    let mut bytes = read_with_wal(&database, &files.wal()).map_err(io_error("read", &database))?;
    // An image in memory has no WAL, so its header must name the other journal mode.
    for byte in bytes.get_mut(18..20).unwrap_or_default() {
        *byte = 1;
    }
    let mut connection = Connection::open_in_memory()?;
    connection.deserialize_read_exact(MAIN_DB, &*bytes, bytes.len(), true)?;
    Ok(connection)
}

/// Reads a database file and applies its WAL.
pub(super) fn read_with_wal(database: &Path, wal: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = read_own(database)?;
    match read_own(wal) {
        Ok(wal) => apply_wal(&mut bytes, &wal),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(bytes)
}

/// Applies the committed transactions of a WAL, up to the first incomplete frame.
fn apply_wal(database: &mut Vec<u8>, wal: &[u8]) {
    let Some(log) = WalFrames::parse(wal) else { return };
    for (page, content) in log.committed() {
        let at = (page as usize - 1) * log.page_size;
        if database.len() < at + log.page_size {
            database.resize(at + log.page_size, 0);
        }
        database[at..at + log.page_size].copy_from_slice(&wal[content]);
    }
    if let Some(pages) = log.pages {
        database.truncate(pages as usize * log.page_size);
    }
}

/// The frames of a WAL.
struct WalFrames {
    page_size: usize,
    /// Page numbers and the byte ranges of their content.
    frames: Vec<(u32, Range<usize>)>,
    /// Number of frames that belong to committed transactions.
    committed: usize,
    /// Size of the database in pages after the last committed transaction.
    pages: Option<u32>,
}

impl WalFrames {
    /// Parses a WAL. Returns None if its header is invalid.
    fn parse(wal: &[u8]) -> Option<Self> {
        let magic = read_u32(wal, 0)?;
        let page_size = read_u32(wal, 8)? as usize;
        if magic & !1 != WAL_MAGIC || !page_size.is_power_of_two() || page_size < 512 {
            return None;
        }
        let sum = |sum, bytes| checksum(sum, bytes, magic & 1 == 1);
        let mut running = sum((0, 0), wal.get(..WAL_HEADER_BYTES - 8)?);
        if running != (read_u32(wal, 24)?, read_u32(wal, 28)?) {
            return None;
        }
        let mut log = Self { page_size, frames: Vec::new(), committed: 0, pages: None };
        for start in (WAL_HEADER_BYTES..).step_by(FRAME_HEADER_BYTES + page_size) {
            let content = start + FRAME_HEADER_BYTES..start + FRAME_HEADER_BYTES + page_size;
            let (Some(header), Some(bytes)) =
                (wal.get(start..start + FRAME_HEADER_BYTES), wal.get(content.clone()))
            else {
                break;
            };
            // Frames from before the last checkpoint have other salts.
            if header[8..16] != wal[16..24] {
                break;
            }
            running = sum(sum(running, &header[..8]), bytes);
            let (Some(page), Some(pages)) = (read_u32(header, 0), read_u32(header, 4)) else {
                break;
            };
            if Some(running) != read_u32(header, 16).zip(read_u32(header, 20)) || page == 0 {
                break;
            }
            log.frames.push((page, content));
            if pages > 0 {
                log.committed = log.frames.len();
                log.pages = Some(pages);
            }
        }
        Some(log)
    }

    fn committed(&self) -> impl Iterator<Item = (u32, Range<usize>)> {
        self.frames[..self.committed].iter().cloned()
    }
}

/// Reads a big-endian number.
fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Continues SQLite's checksum of a WAL over more bytes.
fn checksum((mut one, mut two): (u32, u32), bytes: &[u8], is_big_endian: bool) -> (u32, u32) {
    for pair in bytes.as_chunks::<8>().0 {
        let word = |at: usize| {
            let word = [pair[at], pair[at + 1], pair[at + 2], pair[at + 3]];
            if is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        one = one.wrapping_add(word(0)).wrapping_add(two);
        two = two.wrapping_add(word(4)).wrapping_add(one);
    }
    (one, two)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a database in WAL mode and returns the bytes of its two files before a checkpoint.
    fn create_with_wal(folder: &Path, change: &str) -> (Vec<u8>, Vec<u8>) {
        let path = folder.join("some.db");
        let connection = Connection::open(&path).unwrap();
        let setup = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x);";
        connection.execute_batch(setup).unwrap();
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        connection.execute_batch(change).unwrap();
        let read = |path: &Path| std::fs::read(path).unwrap();
        (read(&path), read(&folder.join("some.db-wal")))
    }

    #[test]
    fn wal_matches_sqlite_result() {
        let folder = tempfile::tempdir().unwrap();
        let many = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
                    INSERT INTO t SELECT printf('%0200d', i) FROM n;
                    DELETE FROM t WHERE rowid % 3 = 0; VACUUM;";
        let (mut bytes, wal) = create_with_wal(folder.path(), many);
        apply_wal(&mut bytes, &wal);
        bytes[18..20].fill(1);
        let mut image = Connection::open_in_memory().unwrap();
        image.deserialize_read_exact(MAIN_DB, &*bytes, bytes.len(), true).unwrap();
        let ask = |ask: &str| image.query_row(ask, [], |row| row.get::<_, String>(0)).unwrap();
        assert_eq!(ask("SELECT CAST(count(*) AS TEXT) FROM t"), "334");
        assert_eq!(ask("PRAGMA integrity_check"), "ok");
    }

    #[test]
    fn torn_wal_ends_at_commit() {
        let folder = tempfile::tempdir().unwrap();
        let (bytes, wal) =
            create_with_wal(folder.path(), "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)");
        for length in [0, 10, WAL_HEADER_BYTES, wal.len() - 1, wal.len() - 4096] {
            let mut image = bytes.clone();
            apply_wal(&mut image, &wal[..length]);
            assert_eq!(image.len(), bytes.len());
        }
        let log = WalFrames::parse(&wal[..wal.len() - 1]).unwrap();
        assert_eq!((log.frames.len(), log.committed), (1, 1));
    }
}
