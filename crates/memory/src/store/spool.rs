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

use super::entry::{self, Arrival, Entry};
use super::{Files, Store, StoreError, at};
use crate::data_dir::{self, Lock};
use crate::{Clean, Id, Time};

/// Maximum size of a spool file. Beyond it, entries are refused so that the spool cannot fill the disk.
pub const SIZE: u64 = 16 * 1024 * 1024;

/// Version of the line format. Lines with a higher version are kept for a newer program.
const FORM: u32 = 1;
/// Number of times that a writer may find its file renamed before it gives up. Once is usual, twice is rare.
const ATTEMPTS: u32 = 16;
/// Time that a drain waits for a writer in the middle of a line.
const WRITER: Duration = Duration::from_millis(200);

const CURRENT: &str = "current.jsonl";
const HELD: &str = "held.jsonl";

/// The entries of one call, on one line. A writer may be killed in the middle, and half of a group of entries must not
/// be read as the whole group.
#[derive(Serialize)]
struct LineOut<'a> {
    form: u32,
    entries: &'a [Entry],
}

#[derive(Deserialize)]
struct LineIn {
    form: u32,
    entries: serde_json::Value,
}

/// The reason that entries could not be appended.
#[derive(Debug, Error)]
pub enum SpoolError {
    /// The spool has reached its maximum size.
    #[error("the spool is full; run `rutter tend`")]
    Full,
    /// The spool cannot be written.
    #[error("the spool cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// Appends entries. They survive this process once it returns.
pub fn append(files: &Files, entries: &[Entry]) -> Result<(), SpoolError> {
    // Start a new line, in case a killed writer left half a line.
    let mut line = b"\n".to_vec();
    serde_json::to_writer(&mut line, &LineOut { form: FORM, entries }).map_err(io::Error::from)?;
    line.push(b'\n');
    let path = files.spool().join(CURRENT);
    data_dir::check_path(&files.spool())?;
    for _ in 0..ATTEMPTS {
        let file = match data_dir::append_to(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                data_dir::make_subfolder(&files.spool())?;
                data_dir::append_to(&path)?
            }
            opened => opened?,
        };
        // A failed lock means that the file is being drained and was renamed: the next attempt opens another file.
        if file.try_lock_shared().is_err() || !is_still(&path, &file)? {
            continue;
        }
        if file.metadata()?.len() + line.len() as u64 > SIZE {
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

fn is_still(path: &Path, file: &File) -> io::Result<bool> {
    let opened = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the number of bytes in the spool.
pub fn size(files: &Files) -> io::Result<u64> {
    let mut size = 0;
    for path in waiting(files)? {
        size += fs::metadata(path).map_or(0, |metadata| metadata.len());
    }
    Ok(size)
}

/// Returns true if the spool holds entries that this program can drain. Entries that depend on them must be spooled as
/// well.
pub fn waits(files: &Files) -> bool {
    waiting(files).is_ok_and(|found| {
        found.iter().any(|path| {
            path.file_name().is_some_and(|name| name != HELD)
                && fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
        })
    })
}

/// Returns the oldest file that this program can drain, and its modification time.
pub(crate) fn waiting_since(files: &Files) -> io::Result<Option<(PathBuf, Time)>> {
    let mut oldest: Option<(PathBuf, Time)> = None;
    for path in waiting(files)? {
        let held = path.file_name().is_some_and(|name| name == HELD);
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
fn waiting(files: &Files) -> io::Result<Vec<PathBuf>> {
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
        (name == CURRENT, name == HELD, name)
    });
    Ok(found)
}

/// The result of a drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drained {
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
pub(crate) fn drain(store: &mut Store, _lock: &Lock, now: Time) -> Result<Drained, StoreError> {
    let folder = store.files.spool();
    let mut done = Drained::default();
    // Drain renamed files first, and rename no more while one of them is left: files that cannot be drained would
    // otherwise pile up without bound. Drain held lines before the current file, because more lines may be added to
    // them.
    for path in waiting(&store.files).map_err(at("read", &folder))? {
        let shared = path.file_name().is_some_and(|name| name == CURRENT || name == HELD);
        if shared && done.left {
            continue;
        }
        let path = if shared {
            if fs::metadata(&path).is_ok_and(|metadata| metadata.len() == 0) {
                continue;
            }
            let moved = folder.join(format!("{}.jsonl", Id::new(now)));
            fs::rename(&path, &moved).map_err(at("move", &path))?;
            moved
        } else {
            path
        };
        match read_alone(&path).map_err(at("read", &path))? {
            Some(lines) => drain_file(store, &path, &lines, now, &mut done)?,
            None => done.left = true,
        }
    }
    Ok(done)
}

/// Reads a renamed file once no writer is using it. Returns None if a writer hangs; the next drain finds the file
/// again.
fn read_alone(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = data_dir::open_own(path, &data_dir::readable())?;
    let until = Instant::now() + WRITER;
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
    done: &mut Drained,
) -> Result<(), StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let files = store.files.clone();
    let mut faults = Vec::new();
    let mut held = Vec::new();
    let mut found = Drained::default();
    store.write(|transaction| {
        if transaction.execute("INSERT OR IGNORE INTO drained (file) VALUES (?1)", [&name])? == 0 {
            return Ok(());
        }
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            // Half a line is never valid JSON: its last brace is missing.
            let Ok(read) = serde_json::from_slice::<LineIn>(line) else {
                found.torn += 1;
                continue;
            };
            match serde_json::from_value::<Vec<Entry>>(read.entries) {
                Ok(entries) if read.form <= FORM => match apply_alone(transaction, &entries)? {
                    None => found.entries += entries.len(),
                    Some(fault) => {
                        found.refused += entries.len();
                        faults.push(fault);
                    }
                },
                _ => {
                    found.held += 1;
                    held.extend_from_slice(line);
                    held.push(b'\n');
                }
            }
        }
        // Before the commit: keeping a line twice is better than losing it.
        if !held.is_empty() {
            let path = files.spool().join(HELD);
            let file = data_dir::append_to(&path).map_err(at("write", &path))?;
            (&file).write_all(&held).map_err(at("write", &path))?;
        }
        Ok(())
    })?;
    fs::remove_file(path).map_err(at("remove", path))?;
    store.connection.execute("DELETE FROM drained WHERE file = ?1", [&name])?;
    for fault in faults {
        drop(crate::log::append(
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
fn is_about_the_row(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(code) => code == rusqlite::ErrorCode::ConstraintViolation,
        None => true,
    }
}

/// Applies the entries of one call, all or none, and returns the error if they are invalid. Invalid entries must not
/// block the others for ever; a disk error must keep all of them in the spool.
fn apply_alone(
    transaction: &Transaction<'_>,
    entries: &[Entry],
) -> Result<Option<String>, StoreError> {
    transaction.execute_batch("SAVEPOINT entries")?;
    match entries.iter().try_for_each(|entry| entry::apply(transaction, entry, Arrival::Late)) {
        Ok(()) => {
            transaction.execute_batch("RELEASE entries")?;
            Ok(None)
        }
        Err(StoreError::Sql(error)) if is_about_the_row(&error) => {
            transaction.execute_batch("ROLLBACK TO entries; RELEASE entries")?;
            Ok(Some(error.to_string()))
        }
        Err(error) => Err(error),
    }
}

/// Removes all files of the spool unread.
pub(crate) fn clear(files: &Files, _lock: &Lock) -> io::Result<()> {
    for entry in fs::read_dir(files.spool())? {
        data_dir::remove_if_there(&entry?.path())?;
    }
    Ok(())
}

/// Removes held lines that contain a text for which `forget` returns true.
pub(crate) fn drop_held(
    files: &Files,
    _lock: &Lock,
    forget: impl Fn(&str) -> bool,
) -> io::Result<()> {
    let path = files.spool().join(HELD);
    let beside = path.with_extension("new");
    // Left by a process that was killed in the middle.
    data_dir::remove_if_there(&beside)?;
    let text = match data_dir::read_own(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read?,
    };
    let text = String::from_utf8_lossy(&text);
    let kept: String = text.split_inclusive('\n').filter(|line| !any_text(line, &forget)).collect();
    if kept.len() == text.len() {
        return Ok(());
    }
    let mut file = data_dir::private().write(true).create_new(true).open(&beside)?;
    file.write_all(kept.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, &path)
}

/// Returns true if a predicate holds for any string or key in a JSON line. A line that is not JSON counts as one
/// string.
fn any_text(line: &str, is: &impl Fn(&str) -> bool) -> bool {
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
    use crate::project::Located;
    use crate::store::entry::{Place, What};

    fn now() -> Time {
        Time::from_millis(1_763_200_000_000)
    }

    fn world() -> (tempfile::TempDir, Files, Entry) {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(folder.path().join("memory"));
        let place = Place::from(&Located::find(folder.path()));
        let entry = Entry {
            client: "session".into(),
            place,
            process: None,
            at: now(),
            what: What::Called(None),
        };
        (folder, files, entry)
    }

    fn calls(store: &Store) -> u64 {
        store.session("session").unwrap().map_or(0, |session| session.calls)
    }

    fn drained(store: &mut Store) -> Drained {
        // Another test of this process may be spawning a child, which holds this lock between fork and exec.
        let lock = store.tending_soon().unwrap();
        drain(store, &lock, now()).unwrap()
    }

    #[test]
    fn a_writer_in_the_middle_of_its_line_is_waited_for_or_left_for_later() {
        let (_folder, files, entry) = world();
        append(&files, std::slice::from_ref(&entry)).unwrap();
        // The writer has checked that the file is the current one, and is stopped before it writes.
        let writer = data_dir::append_to(&files.spool().join(CURRENT)).unwrap();
        writer.lock_shared().unwrap();
        let mut store = Store::open(files.folder(), now()).unwrap();
        assert_eq!(drained(&mut store), Drained { left: true, ..Drained::default() });
        // Meanwhile other writers are not blocked.
        append(&files, std::slice::from_ref(&entry)).unwrap();
        (&writer).write_all(&fs::read(files.spool().join(CURRENT)).unwrap()).unwrap();
        drop(writer);
        assert_eq!(drained(&mut store).entries, 3);
        assert_eq!(calls(&store), 3);
    }

    #[test]
    fn a_writer_that_opened_a_file_before_it_was_moved_writes_to_the_new_one() {
        let (_folder, files, entry) = world();
        append(&files, std::slice::from_ref(&entry)).unwrap();
        let path = files.spool().join(CURRENT);
        let old = data_dir::append_to(&path).unwrap();
        assert!(is_still(&path, &old).unwrap());
        fs::rename(&path, files.spool().join("moved.jsonl")).unwrap();
        assert!(!is_still(&path, &old).unwrap());
        append(&files, std::slice::from_ref(&entry)).unwrap();
        assert!(!is_still(&path, &old).unwrap());
    }

    #[test]
    fn a_file_that_a_crash_left_behind_is_not_drained_again() {
        let (_folder, files, entry) = world();
        append(&files, std::slice::from_ref(&entry)).unwrap();
        let path = files.spool().join("left.jsonl");
        fs::rename(files.spool().join(CURRENT), &path).unwrap();
        let lines = fs::read(&path).unwrap();
        let mut store = Store::open(files.folder(), now()).unwrap();
        assert_eq!(drained(&mut store).entries, 1);
        // As if the process had been killed after the commit and before the removal.
        fs::write(&path, &lines).unwrap();
        store.connection.execute("INSERT INTO drained (file) VALUES ('left.jsonl')", []).unwrap();
        assert_eq!(drained(&mut store).entries, 0);
        assert_eq!(calls(&store), 1);
        assert!(!path.exists());
    }

    #[test]
    fn what_was_left_together_is_taken_together_or_not_at_all() {
        let (_folder, files, entry) = world();
        append(&files, &[entry.clone(), entry]).unwrap();
        let path = files.spool().join(CURRENT);
        let whole = fs::read(&path).unwrap();
        let mut store = Store::open(files.folder(), now()).unwrap();
        // Killed after any byte, up to the last brace.
        for length in 0..whole.len() - 1 {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(drained(&mut store).entries, 0, "{length} of {}", whole.len());
        }
        assert_eq!(calls(&store), 0);
        fs::write(&path, &whole).unwrap();
        assert_eq!(drained(&mut store).entries, 2);
        assert_eq!(calls(&store), 2);
    }

    #[test]
    fn an_entry_that_the_database_refuses_does_not_hold_up_the_others() {
        let (_folder, files, entry) = world();
        for _ in 0..2 {
            append(&files, std::slice::from_ref(&entry)).unwrap();
        }
        let mut store = Store::open(files.folder(), now()).unwrap();
        store
            .connection
            .execute_batch(
                "CREATE TRIGGER second BEFORE UPDATE OF calls ON session WHEN NEW.calls = 2
                 BEGIN SELECT raise(ABORT, 'not this one'); END",
            )
            .unwrap();
        append(&files, &[entry]).unwrap();
        let done = drained(&mut store);
        assert_eq!((done.entries, done.refused), (1, 2));
        let log = fs::read_to_string(files.log().join("rutter.log")).unwrap();
        assert!(log.contains("not this one"), "{log}");
    }
}
