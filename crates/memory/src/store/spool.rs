//! The spool: where a hook leaves what it could not write into the database in time.
//!
//! A file of JSON lines that everybody appends to. Writers hold a shared lock for the length of one `write`, so they
//! never wait for each other. Who drains moves the file away, and takes the lock alone before reading: then no writer
//! is still at it, and one that comes later sees that the file is another and opens the new one. A drained file is
//! named in the database by the transaction that took its entries, so a crash between that and the removal of the
//! file drains nothing twice.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Transaction;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::entry::{self, Arrival, Entry};
use super::files::{self, Lock};
use super::{Files, Store, StoreError, at};
use crate::{Clean, Id, Time};

/// How much may wait here. Beyond that, entries are refused rather than a disk filled.
pub const SIZE: u64 = 16 * 1024 * 1024;

/// The form of a line. A line of a newer form is kept for the newer program.
const FORM: u32 = 1;
/// How often a file may turn out to have been moved away before a writer gives up. Once is usual, twice is rare.
const ATTEMPTS: u32 = 16;
/// How long a drain waits for a writer that is in the middle of a line.
const WRITER: Duration = Duration::from_millis(200);

const CURRENT: &str = "current.jsonl";
const HELD: &str = "held.jsonl";

/// What one call leaves. It is one line: a writer may be killed in the middle, and half of what belongs together must
/// not be taken for all of it.
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

/// Why an entry could not be left.
#[derive(Debug, Error)]
pub enum SpoolError {
    /// It is at its bound.
    #[error("the spool is full; run `rutter tend`")]
    Full,
    /// It cannot be written.
    #[error("the spool cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// Leaves entries. When it returns, they outlive this process.
pub fn append(files: &Files, entries: &[Entry]) -> Result<(), SpoolError> {
    // A line of its own, whatever a killed writer left before it.
    let mut line = b"\n".to_vec();
    serde_json::to_writer(&mut line, &LineOut { form: FORM, entries }).map_err(io::Error::from)?;
    line.push(b'\n');
    let path = files.spool().join(CURRENT);
    files::check_path(&files.spool())?;
    for _ in 0..ATTEMPTS {
        let file = match files::append_to(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                files::make_subfolder(&files.spool())?;
                files::append_to(&path)?
            }
            opened => opened?,
        };
        // Somebody drains this file, so it has been moved: the next look finds another.
        if file.try_lock_shared().is_err() || !is_still(&path, &file)? {
            continue;
        }
        if file.metadata()?.len() + line.len() as u64 > SIZE {
            return Err(SpoolError::Full);
        }
        // In one call: lines of several writers must not mix. A short write leaves half a line, which no reader
        // takes for a whole one.
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

/// How many bytes wait.
pub fn size(files: &Files) -> io::Result<u64> {
    let mut size = 0;
    for path in waiting(files)? {
        size += fs::metadata(path).map_or(0, |metadata| metadata.len());
    }
    Ok(size)
}

/// Whether entries wait that this program will take in. As long as some do, what depends on them has to wait behind them.
pub fn waits(files: &Files) -> bool {
    waiting(files).is_ok_and(|found| {
        found.iter().any(|path| {
            path.file_name().is_some_and(|name| name != HELD)
                && fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
        })
    })
}

/// The file that waits longest of those that this program would take in, and since when.
pub(crate) fn waiting_since(files: &Files) -> io::Result<Option<(PathBuf, Time)>> {
    let mut oldest: Option<(PathBuf, Time)> = None;
    for path in waiting(files)? {
        let held = path.file_name().is_some_and(|name| name == HELD);
        // One that is gone by now was taken in meanwhile.
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

/// Every file that may hold entries, oldest first.
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
    // Moved files are named by an id and come before `held` and `current`.
    found.sort_by_key(|path| {
        let name = path.file_name().unwrap_or_default().to_owned();
        (name == CURRENT, name == HELD, name)
    });
    Ok(found)
}

/// What a drain did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drained {
    /// Entries that are in the database now.
    pub entries: usize,
    /// Lines that no writer had finished: never acknowledged, and dropped.
    pub torn: usize,
    /// Entries of a newer form, kept for the newer program.
    pub held: usize,
    /// Entries that the database refused for good; the log says why.
    pub refused: usize,
    /// Whether something is left, because a writer is in the middle of it.
    pub left: bool,
}

/// Takes everything that waits into the database, each entry exactly once. The caller holds the tending lock.
pub(crate) fn drain(store: &mut Store, _lock: &Lock, now: Time) -> Result<Drained, StoreError> {
    let folder = store.files.spool();
    let mut done = Drained::default();
    // What was moved before comes first; and nothing more is moved while some of that is left, or files that cannot
    // be drained would pile up without bound. Held lines come before those that may be added to them.
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

/// Reads a moved file once no writer is at it; `None` when one hangs there, and the next drain will find it.
fn read_alone(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = files::open_own(path, &files::readable())?;
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
            // Half a line is never JSON: it lacks its last brace.
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
        // Before the transaction ends: twice held is better than lost.
        if !held.is_empty() {
            let path = files.spool().join(HELD);
            let file = files::append_to(&path).map_err(at("write", &path))?;
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

/// Whether an error says that a row cannot be, rather than that the machine cannot.
fn is_about_the_row(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(code) => code == rusqlite::ErrorCode::ConstraintViolation,
        None => true,
    }
}

/// Applies what one call left, all or none. What is wrong with the entries themselves must not keep the others waiting
/// for ever; what is wrong with the disk must keep all of them.
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

/// Removes everything that waits, unread, and whatever else is there.
pub(crate) fn clear(files: &Files, _lock: &Lock) -> io::Result<()> {
    for entry in fs::read_dir(files.spool())? {
        files::remove_if_there(&entry?.path())?;
    }
    Ok(())
}

/// Removes entries of a newer form that hold something to be forgotten: any text in them that `forget` says yes to.
pub(crate) fn drop_held(
    files: &Files,
    _lock: &Lock,
    forget: impl Fn(&str) -> bool,
) -> io::Result<()> {
    let path = files.spool().join(HELD);
    let beside = path.with_extension("new");
    // Left by a process that was killed in the middle.
    files::remove_if_there(&beside)?;
    let text = match files::read_own(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read?,
    };
    let text = String::from_utf8_lossy(&text);
    let kept: String = text.split_inclusive('\n').filter(|line| !any_text(line, &forget)).collect();
    if kept.len() == text.len() {
        return Ok(());
    }
    let mut file = files::private().write(true).create_new(true).open(&beside)?;
    file.write_all(kept.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, &path)
}

/// Whether a line holds a text that something is true of. A line that is no JSON is one text.
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
        // Another test of the same process may be starting a child, which has this lock until it is another program.
        let lock = store.tending_soon().unwrap();
        drain(store, &lock, now()).unwrap()
    }

    #[test]
    fn a_writer_in_the_middle_of_its_line_is_waited_for_or_left_for_later() {
        let (_folder, files, entry) = world();
        append(&files, std::slice::from_ref(&entry)).unwrap();
        // It has found that the file is the right one, and is stopped before it writes.
        let writer = files::append_to(&files.spool().join(CURRENT)).unwrap();
        writer.lock_shared().unwrap();
        let mut store = Store::open(files.folder(), now()).unwrap();
        assert_eq!(drained(&mut store), Drained { left: true, ..Drained::default() });
        // Meanwhile others are not kept from writing.
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
        let old = files::append_to(&path).unwrap();
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
