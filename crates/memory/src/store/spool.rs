//! The spool: files for entries that a hook could not write to the database in time.
//!
//! Hooks append JSON lines to one file. Writers hold a shared lock during one `write`, so they never wait for each
//! other. A drain renames the file and takes the exclusive lock before reading it: after that, no writer is still
//! writing, and a later writer notices that its file was renamed and opens the new one. The transaction that inserts
//! the entries of a file also records the file's name, so a crash between the commit and the removal of the file does
//! not insert the entries twice.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Transaction;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::apply::apply_entry;
use super::entry::{EntryArrival, SessionEntry};
use super::{DataDir, Store, StoreError, StoreResult, io_error};
use crate::data_dir::{self, FolderLock};
use crate::{Clean, Id, Time};

/// Maximum size of a spool file. Beyond it, entries are refused so that the spool cannot fill the disk.
pub const MAX_SPOOL_BYTES: u64 = 16 * 1024 * 1024;

/// Version of the line format. Lines with a higher version are kept for a newer program.
const LINE_FORMAT_VERSION: u32 = 1;
/// Number of times that a writer may find its file renamed before it gives up. Once is usual, twice is rare.
const MAX_APPEND_ATTEMPTS: u32 = 16;
/// Time that a drain waits for a writer in the middle of a line.
const WRITER_TIMEOUT: Duration = Duration::from_millis(200);

const CURRENT_FILE: &str = "current.jsonl";
const HELD_FILE: &str = "held.jsonl";

/// The entries of one call, on one line. A writer may be killed in the middle, and half of a group of entries must not
/// be read as the whole group.
#[derive(Serialize)]
struct SpoolLineOut<'a> {
    form: u32,
    entries: &'a [SessionEntry],
}

#[derive(Deserialize)]
struct SpoolLineIn {
    form: u32,
    entries: serde_json::Value,
}

/// The reason that entries could not be appended.
#[derive(Debug, Error)]
pub enum SpoolError {
    /// The spool has reached its maximum size.
    #[error("the spool is full; run `rutter maintain`")]
    Full,
    /// The spool cannot be written.
    #[error("could not write to the spool: {0}")]
    Io(#[from] io::Error),
}

/// Appends entries. They survive this process once it returns.
pub fn append_entries(files: &DataDir, entries: &[SessionEntry]) -> Result<(), SpoolError> {
    // Start a new line, in case a killed writer left half a line.
    let mut line = b"\n".to_vec();
    serde_json::to_writer(&mut line, &SpoolLineOut { form: LINE_FORMAT_VERSION, entries })
        .map_err(io::Error::from)?;
    line.push(b'\n');
    let path = files.spool().join(CURRENT_FILE);
    data_dir::check_path(&files.spool())?;
    for _ in 0..MAX_APPEND_ATTEMPTS {
        let file = match data_dir::open_for_append(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                data_dir::make_subfolder(&files.spool())?;
                data_dir::open_for_append(&path)?
            }
            opened => opened?,
        };
        // A failed lock means that the file is being drained and was renamed: the next attempt opens another file.
        if file.try_lock_shared().is_err() || !is_current_file(&path, &file)? {
            continue;
        }
        if file.metadata()?.len() + line.len() as u64 > MAX_SPOOL_BYTES {
            return Err(SpoolError::Full);
        }
        // In one call, because lines of several writers must not mix. A short write leaves half a line, which readers
        // reject.
        let written = (&file).write(&line)?;
        return if written == line.len() {
            Ok(())
        } else {
            Err(io::Error::from(io::ErrorKind::StorageFull).into())
        };
    }
    Err(io::Error::from(io::ErrorKind::ResourceBusy).into())
}

fn is_current_file(path: &Path, file: &File) -> io::Result<bool> {
    let opened = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the number of bytes in the spool.
pub fn total_bytes(files: &DataDir) -> io::Result<u64> {
    let mut size = 0;
    for path in list_spool_files(files)? {
        size += fs::metadata(path).map_or(0, |metadata| metadata.len());
    }
    Ok(size)
}

/// Returns true if the spool holds entries that this program can drain. Entries that depend on them must be spooled as
/// well.
pub fn has_drainable_entries(files: &DataDir) -> bool {
    list_spool_files(files).is_ok_and(|found| {
        found.iter().any(|path| {
            path.file_name().is_some_and(|name| name != HELD_FILE)
                && fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
        })
    })
}

/// Returns the oldest file that this program can drain, and its modification time.
pub(crate) fn oldest_drainable_file(files: &DataDir) -> io::Result<Option<(PathBuf, Time)>> {
    let mut oldest: Option<(PathBuf, Time)> = None;
    for path in list_spool_files(files)? {
        let held = path.file_name().is_some_and(|name| name == HELD_FILE);
        // A file that is gone was drained in the meantime.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if held || metadata.len() == 0 {
            continue;
        }
        let since = Time::from(metadata.modified()?);
        if oldest.as_ref().is_none_or(|(_, oldest)| since < *oldest) {
            oldest = Some((path, since));
        }
    }
    Ok(oldest)
}

/// Returns every file that may hold entries, oldest first.
fn list_spool_files(files: &DataDir) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    match fs::read_dir(files.spool()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => {
            for entry in entries? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    found.push(path);
                }
            }
        }
    }
    // Renamed files have an id as their name and come before `held` and `current`.
    found.sort_by_key(|path| {
        let name = path.file_name().unwrap_or_default().to_owned();
        (name == CURRENT_FILE, name == HELD_FILE, name)
    });
    Ok(found)
}

/// The result of a drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DrainReport {
    /// Entries that were inserted into the database.
    pub entries: usize,
    /// Incomplete lines. They were never acknowledged and are dropped.
    pub torn: usize,
    /// Lines in a newer format, kept for a newer program.
    pub held: usize,
    /// Entries that the database rejected for good; the log has the reason.
    pub refused: usize,
    /// True if a file was left because a writer is in the middle of it.
    pub left: bool,
}

/// Inserts all spooled entries into the database, each exactly once. The caller holds the maintenance lock.
pub(crate) fn drain(store: &mut Store, _lock: &FolderLock, now: Time) -> StoreResult<DrainReport> {
    let folder = store.files.spool();
    let mut done = DrainReport::default();
    // Drain renamed files first, and rename no more while one of them is left: files that cannot be drained would
    // otherwise pile up without bound. Drain held lines before the current file, because more lines may be added to
    // them.
    for path in list_spool_files(&store.files).map_err(io_error("read", &folder))? {
        let shared = path.file_name().is_some_and(|name| name == CURRENT_FILE || name == HELD_FILE);
        if shared && done.left {
            continue;
        }
        let path = if shared {
            if fs::metadata(&path).is_ok_and(|metadata| metadata.len() == 0) {
                continue;
            }
            let moved = folder.join(format!("{}.jsonl", Id::new(now)));
            fs::rename(&path, &moved).map_err(io_error("move", &path))?;
            moved
        } else {
            path
        };
        match read_exclusively(&path).map_err(io_error("read", &path))? {
            Some(lines) => drain_file(store, &path, &lines, now, &mut done)?,
            None => done.left = true,
        }
    }
    Ok(done)
}

/// Reads a renamed file once no writer is using it. Returns None if a writer hangs; the next drain finds the file
/// again.
fn read_exclusively(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = data_dir::open_own(path, &data_dir::read_options())?;
    let until = Instant::now() + WRITER_TIMEOUT;
    while file.try_lock().is_err() {
        if Instant::now() >= until {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn drain_file(
    store: &mut Store,
    path: &Path,
    bytes: &[u8],
    now: Time,
    done: &mut DrainReport,
) -> StoreResult {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let files = store.files.clone();
    let mut faults = Vec::new();
    let mut held = Vec::new();
    let mut found = DrainReport::default();
    store.write(|transaction| {
        if transaction.execute("INSERT OR IGNORE INTO drained (file) VALUES (?1)", [&name])? == 0 {
            return Ok(());
        }
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            // Half a line is never valid JSON: its last brace is missing.
            let Ok(read) = serde_json::from_slice::<SpoolLineIn>(line) else {
                found.torn += 1;
                continue;
            };
            match serde_json::from_value::<Vec<SessionEntry>>(read.entries) {
                Ok(entries) if read.form <= LINE_FORMAT_VERSION => {
                    match apply_in_savepoint(transaction, &entries)? {
                        None => found.entries += entries.len(),
                        Some(fault) => {
                            found.refused += entries.len();
                            faults.push(fault);
                        }
                    }
                }
                _ => {
                    found.held += 1;
                    held.extend_from_slice(line);
                    held.push(b'\n');
                }
            }
        }
        // Before the commit: keeping a line twice is better than losing it.
        if !held.is_empty() {
            let path = files.spool().join(HELD_FILE);
            let file = data_dir::open_for_append(&path).map_err(io_error("write", &path))?;
            (&file).write_all(&held).map_err(io_error("write", &path))?;
        }
        Ok(())
    })?;
    fs::remove_file(path).map_err(io_error("remove", path))?;
    store.connection.execute("DELETE FROM drained WHERE file = ?1", [&name])?;
    for fault in faults {
        drop(crate::log::append_line(
            &files,
            now,
            &Clean::new(&format!("spool: an entry was refused: {fault}")),
        ));
    }
    done.entries += found.entries;
    done.torn += found.torn;
    done.held += found.held;
    done.refused += found.refused;
    Ok(())
}

/// Returns true if an error is the fault of the row, not of the machine.
fn is_row_error(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(code) => code == rusqlite::ErrorCode::ConstraintViolation,
        None => true,
    }
}

/// Applies the entries of one call, all or none, and returns the error if they are invalid. Invalid entries must not
/// block the others for ever; a disk error must keep all of them in the spool.
fn apply_in_savepoint(
    transaction: &Transaction<'_>,
    entries: &[SessionEntry],
) -> StoreResult<Option<String>> {
    transaction.execute_batch("SAVEPOINT entries")?;
    match entries.iter().try_for_each(|entry| apply_entry(transaction, entry, EntryArrival::Late)) {
        Ok(()) => {
            transaction.execute_batch("RELEASE entries")?;
            Ok(None)
        }
        Err(StoreError::Sql(error)) if is_row_error(&error) => {
            transaction.execute_batch("ROLLBACK TO entries; RELEASE entries")?;
            Ok(Some(error.to_string()))
        }
        Err(error) => Err(error),
    }
}

/// Removes all files of the spool unread.
pub(crate) fn remove_all_files(files: &DataDir, _lock: &FolderLock) -> io::Result<()> {
    for entry in fs::read_dir(files.spool())? {
        data_dir::remove_if_exists(&entry?.path())?;
    }
    Ok(())
}

/// Removes held lines that contain a text for which `forget` returns true.
pub(crate) fn remove_held_lines(
    files: &DataDir,
    _lock: &FolderLock,
    forget: impl Fn(&str) -> bool,
) -> io::Result<()> {
    let path = files.spool().join(HELD_FILE);
    let beside = path.with_extension("new");
    // Left by a process that was killed in the middle.
    data_dir::remove_if_exists(&beside)?;
    let text = match data_dir::read_own(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read?,
    };
    let text = String::from_utf8_lossy(&text);
    let kept: String =
        text.split_inclusive('\n').filter(|line| !any_json_text(line, &forget)).collect();
    if kept.len() == text.len() {
        return Ok(());
    }
    let mut file = data_dir::private_options().write(true).create_new(true).open(&beside)?;
    file.write_all(kept.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, &path)
}

/// Returns true if a predicate holds for any string or key in a JSON line. A line that is not JSON counts as one
/// string.
fn any_json_text(line: &str, is: &impl Fn(&str) -> bool) -> bool {
    fn within(value: &serde_json::Value, is: &impl Fn(&str) -> bool) -> bool {
        match value {
            serde_json::Value::String(text) => is(text),
            serde_json::Value::Array(values) => values.iter().any(|value| within(value, is)),
            serde_json::Value::Object(fields) => {
                fields.iter().any(|(name, value)| is(name) || within(value, is))
            }
            _ => false,
        }
    }
    match serde_json::from_str(line) {
        Ok(value) => within(&value, is),
        Err(_) => is(line),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests {
    use super::*;
    use crate::project::LocatedProject;
    use crate::store::entry::{EntryKind, ProjectPlace};

    fn now() -> Time {
        Time::from_millis(1_763_200_000_000)
    }

    fn setup() -> (tempfile::TempDir, DataDir, SessionEntry) {
        let folder = tempfile::tempdir().unwrap();
        let files = DataDir::new(folder.path().join("memory"));
        let place = ProjectPlace::from(&LocatedProject::find(folder.path()));
        let entry = SessionEntry {
            client: "session".into(),
            place,
            process: None,
            at: now(),
            kind: EntryKind::Called(None),
        };
        (folder, files, entry)
    }

    fn call_count(store: &Store) -> u64 {
        store.session("session").unwrap().map_or(0, |session| session.calls)
    }

    fn drain_all(store: &mut Store) -> DrainReport {
        // Another test of this process may be spawning a child, which holds this lock between fork and exec.
        let lock = store.wait_for_maintenance_lock().unwrap();
        drain(store, &lock, now()).unwrap()
    }

    #[test]
    fn unfinished_writer_is_left_for_later() {
        let (_folder, files, entry) = setup();
        append_entries(&files, std::slice::from_ref(&entry)).unwrap();
        // The writer has checked that the file is the current one, and is stopped before it writes.
        let writer = data_dir::open_for_append(&files.spool().join(CURRENT_FILE)).unwrap();
        writer.lock_shared().unwrap();
        let mut store = Store::open(files.folder(), now()).unwrap();
        assert_eq!(drain_all(&mut store), DrainReport { left: true, ..DrainReport::default() });
        // Meanwhile other writers are not blocked.
        append_entries(&files, std::slice::from_ref(&entry)).unwrap();
        (&writer).write_all(&fs::read(files.spool().join(CURRENT_FILE)).unwrap()).unwrap();
        drop(writer);
        assert_eq!(drain_all(&mut store).entries, 3);
        assert_eq!(call_count(&store), 3);
    }

    #[test]
    fn writer_notices_renamed_file() {
        let (_folder, files, entry) = setup();
        append_entries(&files, std::slice::from_ref(&entry)).unwrap();
        let path = files.spool().join(CURRENT_FILE);
        let old = data_dir::open_for_append(&path).unwrap();
        assert!(is_current_file(&path, &old).unwrap());
        fs::rename(&path, files.spool().join("moved.jsonl")).unwrap();
        assert!(!is_current_file(&path, &old).unwrap());
        append_entries(&files, std::slice::from_ref(&entry)).unwrap();
        assert!(!is_current_file(&path, &old).unwrap());
    }

    #[test]
    fn drained_file_is_not_drained_twice() {
        let (_folder, files, entry) = setup();
        append_entries(&files, std::slice::from_ref(&entry)).unwrap();
        let path = files.spool().join("left.jsonl");
        fs::rename(files.spool().join(CURRENT_FILE), &path).unwrap();
        let lines = fs::read(&path).unwrap();
        let mut store = Store::open(files.folder(), now()).unwrap();
        assert_eq!(drain_all(&mut store).entries, 1);
        // As if the process had been killed after the commit and before the removal.
        fs::write(&path, &lines).unwrap();
        store.connection.execute("INSERT INTO drained (file) VALUES ('left.jsonl')", []).unwrap();
        assert_eq!(drain_all(&mut store).entries, 0);
        assert_eq!(call_count(&store), 1);
        assert!(!path.exists());
    }

    #[test]
    fn torn_line_drops_all_entries() {
        let (_folder, files, entry) = setup();
        append_entries(&files, &[entry.clone(), entry]).unwrap();
        let path = files.spool().join(CURRENT_FILE);
        let whole = fs::read(&path).unwrap();
        let mut store = Store::open(files.folder(), now()).unwrap();
        // Killed after any byte, up to the last brace.
        for length in 0..whole.len() - 1 {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(drain_all(&mut store).entries, 0, "{length} of {}", whole.len());
        }
        assert_eq!(call_count(&store), 0);
        fs::write(&path, &whole).unwrap();
        assert_eq!(drain_all(&mut store).entries, 2);
        assert_eq!(call_count(&store), 2);
    }

    #[test]
    fn refused_entry_does_not_block_others() {
        let (_folder, files, entry) = setup();
        for _ in 0..2 {
            append_entries(&files, std::slice::from_ref(&entry)).unwrap();
        }
        let mut store = Store::open(files.folder(), now()).unwrap();
        store
            .connection
            .execute_batch(
                "CREATE TRIGGER second BEFORE UPDATE OF calls ON session WHEN NEW.calls = 2
                 BEGIN SELECT raise(ABORT, 'not this one'); END",
            )
            .unwrap();
        append_entries(&files, &[entry]).unwrap();
        let done = drain_all(&mut store);
        assert_eq!((done.entries, done.refused), (1, 2));
        let log = fs::read_to_string(files.log().join("rutter.log")).unwrap();
        assert!(log.contains("not this one"), "{log}");
    }
}
