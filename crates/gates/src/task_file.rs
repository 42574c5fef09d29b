//! The file of a task index: read, created and changed so that writers lose no change of each other and a crash leaves the
//! old file or the new one.
//!
//! A writer holds a lock on `task-index.json.lock`, the lock of claude-code-sub-agent-collective (`flock`). Programs that
//! write without the lock are noticed if they write while a change is computed; the change is then computed again.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::task_index::{IndexError, TaskError, TaskIndex};

/// Place of the index in a checkout.
pub const TASK_INDEX_PATH: &str = ".claude/memory/task-index.json";
/// Place of the file with the id of the task that was started last.
const CURRENT_TASK_PATH: &str = ".claude/memory/markers/.current-task";
/// Largest index that is read.
const MAX_INDEX_BYTES: u64 = 16 * 1024 * 1024;
/// Largest marker that is read.
const MAX_MARKER_BYTES: u64 = 1024;
/// Time between two attempts to take the lock.
const LOCK_POLL: Duration = Duration::from_millis(2);
/// Number of times that a change is computed if a program without the lock keeps writing.
const MAX_ATTEMPTS: usize = 5;

/// The reason why an index is not read or written.
#[derive(Debug, Error)]
pub enum TaskFileError {
    /// The file does not exist.
    #[error("does not exist")]
    Missing,
    /// The file exists and must not be replaced.
    #[error("exists already")]
    Exists,
    /// The path leads to a folder, a pipe or a symbolic link.
    #[error("is no regular file")]
    NotAFile,
    /// The file is too large.
    #[error("has more than {} MiB", MAX_INDEX_BYTES / 1024 / 1024)]
    TooLarge,
    /// Another program holds the lock.
    #[error("is locked by another program for more than {} s", .0.as_secs_f32())]
    Locked(Duration),
    /// Another program writes without the lock.
    #[error("is being written by another program that does not take the lock")]
    Contended,
    /// The content is no index.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The change was refused.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The disk refused.
    #[error("cannot be read or written: {0}")]
    Io(#[from] io::Error),
}

/// The file of a task index.
#[derive(Debug, Clone)]
pub struct TaskFile {
    path: PathBuf,
}

impl TaskFile {
    /// Returns the index of a checkout.
    pub fn in_checkout(root: &Path) -> Self {
        Self { path: root.join(TASK_INDEX_PATH) }
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the index. Needs no lock, because the file is replaced as a whole.
    pub fn load(&self) -> Result<TaskIndex, TaskFileError> {
        Ok(TaskIndex::parse(&self.read()?)?)
    }

    /// Changes the index under the lock. Waits for the lock at most for `wait`. The change may be computed several times, on
    /// newer content. If it fails or changes nothing, the file stays as it is.
    pub fn update<T>(
        &self,
        wait: Duration,
        mut change: impl FnMut(&mut TaskIndex) -> Result<T, TaskError>,
    ) -> Result<T, TaskFileError> {
        // Before the lock, which would be created.
        check_regular(&self.path)?;
        let _lock = self.lock(wait)?;
        for _ in 0..MAX_ATTEMPTS {
            let before = self.read()?;
            let mut index = TaskIndex::parse(&before)?;
            let result = change(&mut index)?;
            if !index.is_changed() {
                return Ok(result);
            }
            let permissions = fs::metadata(&self.path)?.permissions();
            let is_written = self.replace(&index.render(), Some(permissions), &mut |step| {
                let is_current = step != WriteStep::Rename || self.read()? == before;
                if is_current { Ok(()) } else { Err(TaskFileError::Contended) }
            });
            match is_written {
                Err(TaskFileError::Contended) => {}
                written => return written.map(|()| result),
            }
        }
        Err(TaskFileError::Contended)
    }

    /// Creates the file and its folder. Fails if the file exists.
    pub fn create(&self, index: &TaskIndex, wait: Duration) -> Result<(), TaskFileError> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let _lock = self.lock(wait)?;
        self.replace(&index.render(), None, &mut |step| {
            let is_free = step != WriteStep::Rename || self.path.symlink_metadata().is_err();
            if is_free { Ok(()) } else { Err(TaskFileError::Exists) }
        })
    }

    fn read(&self) -> Result<Vec<u8>, TaskFileError> {
        check_regular(&self.path)?;
        let mut bytes = Vec::new();
        File::open(&self.path)?.take(MAX_INDEX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_INDEX_BYTES {
            return Err(TaskFileError::TooLarge);
        }
        Ok(bytes)
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        name.into()
    }

    /// Takes the lock. It ends with the file that is returned.
    fn lock(&self, wait: Duration) -> Result<File, TaskFileError> {
        let path = self.beside(".lock");
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return Err(TaskFileError::NotAFile);
        }
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if start.elapsed() >= wait => {
                    return Err(TaskFileError::Locked(wait));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL),
            }
        }
    }

    /// Writes a file beside the index and renames it. Needs the lock: the name of the new file is fixed, so a crash leaves at
    /// most one. `check` runs before each step and can stop the replacement.
    fn replace(
        &self,
        bytes: &[u8],
        permissions: Option<Permissions>,
        check: &mut dyn FnMut(WriteStep) -> Result<(), TaskFileError>,
    ) -> Result<(), TaskFileError> {
        let new = self.beside(".new");
        check(WriteStep::Create)?;
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(&new)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        let mut write = || {
            let (first, second) = bytes.split_at(bytes.len() / 2);
            check(WriteStep::FirstHalf)?;
            file.write_all(first)?;
            check(WriteStep::SecondHalf)?;
            file.write_all(second)?;
            check(WriteStep::Sync)?;
            file.sync_all()?;
            check(WriteStep::Rename)?;
            fs::rename(&new, &self.path)?;
            Ok(())
        };
        if let Err(error) = write() {
            // What remains is removed by the next writer at the latest.
            fs::remove_file(&new).ok();
            return Err(error);
        }
        check(WriteStep::SyncFolder)?;
        if let Some(folder) = self.path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }
}

/// A step of the replacement of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteStep {
    Create,
    FirstHalf,
    SecondHalf,
    Sync,
    Rename,
    SyncFolder,
}

fn check_regular(path: &Path) -> Result<(), TaskFileError> {
    match path.symlink_metadata() {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => Err(TaskFileError::NotAFile),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(TaskFileError::Missing),
        Err(error) => Err(error.into()),
    }
}

/// Reads the id in the marker of a checkout. Returns None if there is no marker or it is unreadable.
pub fn read_current_task(root: &Path) -> Option<String> {
    let path = root.join(CURRENT_TASK_PATH);
    check_regular(&path).ok()?;
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_MARKER_BYTES).read_to_string(&mut text).ok()?;
    let id = text.lines().next().unwrap_or_default().trim();
    (!id.is_empty()).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::task::TaskStatus;
    use crate::task_index::StartOptions;

    const WAIT: Duration = Duration::from_secs(30);
    const AT: &str = "2026-01-02T03:04:05Z";
    const STEPS: [WriteStep; 6] = [
        WriteStep::Create,
        WriteStep::FirstHalf,
        WriteStep::SecondHalf,
        WriteStep::Sync,
        WriteStep::Rename,
        WriteStep::SyncFolder,
    ];

    fn new_file(tasks: usize) -> (tempfile::TempDir, TaskFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = TaskFile::in_checkout(folder.path());
        let entry =
            |number| json!({ "id": format!("1.{number}"), "status": "pending", "parent": "1" });
        let mut entries = vec![json!({ "id": "1", "parent": null, "status": "pending" })];
        entries.extend((1..=tasks).map(entry));
        file.create(&TaskIndex::from_entries(entries).unwrap(), WAIT).unwrap();
        (folder, file)
    }

    fn start(file: &TaskFile, id: &str) -> Result<(), TaskFileError> {
        file.update(WAIT, |index| index.start(id, AT, StartOptions::default()).map(drop))
    }

    #[test]
    fn create_never_overwrites() {
        let (_folder, file) = new_file(1);
        start(&file, "1.1").unwrap();
        let before = fs::read(file.path()).unwrap();
        let other = TaskIndex::from_entries(Vec::new()).unwrap();
        assert!(matches!(file.create(&other, WAIT), Err(TaskFileError::Exists)));
        assert_eq!(fs::read(file.path()).unwrap(), before);
        assert!(!file.beside(".new").exists());
    }

    #[test]
    fn failure_at_any_step_keeps_whole_file() {
        for failing in STEPS {
            let (_folder, file) = new_file(3);
            let before = file.load().unwrap().render();
            let mut index = file.load().unwrap();
            index.start("1.2", AT, StartOptions::default()).unwrap();
            let after = index.render();
            let result = file.replace(&after, None, &mut |step| {
                if step == failing { Err(io::Error::other("full").into()) } else { Ok(()) }
            });
            assert!(result.is_err());
            let is_renamed = failing == WriteStep::SyncFolder;
            let expected = if is_renamed { &after } else { &before };
            assert_eq!(fs::read(file.path()).unwrap(), *expected, "{failing:?}");
            assert!(!file.beside(".new").exists());
            start(&file, "1.1").unwrap();
            assert_eq!(file.load().unwrap().find("1").unwrap().status, TaskStatus::InProgress);
        }
    }

    #[test]
    fn remains_of_a_crash_are_replaced() {
        let (folder, file) = new_file(2);
        // A link that a crash would not leave must not be written through.
        let target = folder.path().join("precious");
        File::create(&target).unwrap().write_all(b"mine").unwrap();
        std::os::unix::fs::symlink(&target, file.beside(".new")).unwrap();
        start(&file, "1.1").unwrap();
        assert_eq!(fs::read(target).unwrap(), b"mine");
        File::create(file.beside(".new")).unwrap().write_all(b"{\"tas").unwrap();
        start(&file, "1.2").unwrap();
        assert!(!file.beside(".new").exists());
    }

    #[test]
    fn eight_writers_lose_no_update() {
        let (_folder, file) = new_file(80);
        let file = &file;
        std::thread::scope(|scope| {
            for writer in 0..8 {
                scope.spawn(move || {
                    for task in 1..=10 {
                        start(file, &format!("1.{}", writer * 10 + task)).unwrap();
                    }
                });
            }
        });
        let index = file.load().unwrap();
        let started = index.tasks().iter().filter(|task| task.status == TaskStatus::InProgress);
        assert_eq!(started.count(), 81);
    }

    #[test]
    fn lock_of_others_is_honoured() {
        let (_folder, file) = new_file(1);
        let held = File::open(file.beside(".lock")).unwrap();
        held.lock().unwrap();
        let result = file.update(Duration::from_millis(20), |_| Ok(()));
        assert!(matches!(result, Err(TaskFileError::Locked(_))));
        drop(held);
        start(&file, "1.1").unwrap();
    }

    #[test]
    fn writer_without_lock_is_noticed() {
        let (_folder, file) = new_file(2);
        let mut attempts = 0;
        file.update(WAIT, |index| {
            attempts += 1;
            if attempts == 1 {
                // Another program marks the other task while this change is computed.
                let text = fs::read_to_string(file.path()).unwrap();
                let text = text.replacen("\"id\": \"1.1\"", "\"id\": \"1.1\", \"agent\": \"x\"", 1);
                File::create(file.path()).unwrap().write_all(text.as_bytes()).unwrap();
            }
            index.start("1.2", AT, StartOptions::default())
        })
        .unwrap();
        assert_eq!(attempts, 2);
        let index = file.load().unwrap();
        assert_eq!(index.find("1.1").unwrap().agent.as_deref(), Some("x"));
        assert_eq!(index.find("1.2").unwrap().status, TaskStatus::InProgress);
    }

    #[test]
    fn refused_change_writes_nothing() {
        let (_folder, file) = new_file(1);
        let inode = std::os::unix::fs::MetadataExt::ino(&fs::metadata(file.path()).unwrap());
        assert!(start(&file, "9").is_err());
        file.update(WAIT, |_| Ok(())).unwrap();
        let after = std::os::unix::fs::MetadataExt::ino(&fs::metadata(file.path()).unwrap());
        assert_eq!(inode, after);
    }

    #[test]
    fn odd_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let file = TaskFile::in_checkout(folder.path());
        assert!(matches!(file.load(), Err(TaskFileError::Missing)));
        assert!(matches!(start(&file, "1"), Err(TaskFileError::Missing)));
        fs::create_dir_all(file.path()).unwrap();
        assert!(matches!(file.load(), Err(TaskFileError::NotAFile)));
        fs::remove_dir(file.path()).unwrap();
        for text in ["", "null", "[]", "{\"tasks\": {}}", "{\"tasks\": [", "\u{fffd}", "[[[["] {
            File::create(file.path()).unwrap().write_all(text.as_bytes()).unwrap();
            assert!(matches!(file.load(), Err(TaskFileError::Index(_))), "{text}");
        }
    }

    #[test]
    fn marker_names_task() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_current_task(folder.path()), None);
        let path = folder.path().join(CURRENT_TASK_PATH);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(&path).unwrap().write_all(b" 1.2 \n").unwrap();
        assert_eq!(read_current_task(folder.path()).as_deref(), Some("1.2"));
    }
}
