//! The data directory: names and modes of its files, and locks that leave no file behind.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::Time;
pub use rutter_search::file::{DRAFT_SUFFIX, private_options, remove_if_exists, with_suffix};

pub(crate) mod guard;

pub use guard::UnsafePath;
pub use guard::{check_path, open_own, read_own, read_own_text};

/// Maximum wait of a command for another process. Hooks have a shorter limit.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataDir {
    folder: PathBuf,
}

impl DataDir {
    /// Refers to a data directory without touching it.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.folder.join("rutter.db")
    }

    /// The write-ahead log of the database.
    pub fn wal(&self) -> PathBuf {
        self.folder.join("rutter.db-wal")
    }

    /// The cache of vectors.
    pub fn vectors(&self) -> PathBuf {
        self.folder.join("vectors")
    }

    /// The list of hooks that the user agreed to run for a test.
    pub fn tested_hooks(&self) -> PathBuf {
        self.folder.join("tested-hooks")
    }

    /// The list of checkouts with trusted settings.
    pub fn trusted(&self) -> PathBuf {
        self.folder.join("trusted")
    }

    /// The list of paused sessions.
    pub fn paused(&self) -> PathBuf {
        self.folder.join("paused")
    }

    /// The cache of terms and the documents that contain them.
    pub fn terms(&self) -> PathBuf {
        self.folder.join("terms")
    }

    /// The fingerprints of what concerns a tool call.
    pub fn fingerprints(&self) -> PathBuf {
        self.folder.join("fingerprints")
    }

    /// The event counts.
    pub fn event_counts(&self) -> PathBuf {
        self.folder.join("tally")
    }

    /// The token that HTTP clients have to present.
    pub fn http_token(&self) -> PathBuf {
        self.folder.join("http-token")
    }

    /// The recorded calls of hooks, a folder for each project.
    pub fn recordings(&self) -> PathBuf {
        self.folder.join("recordings")
    }

    /// The queue of records that hooks could not write in time.
    pub fn spool(&self) -> PathBuf {
        self.folder.join("spool")
    }

    /// Copies of files that a running command may change.
    pub fn snapshots(&self) -> PathBuf {
        self.folder.join("snapshots")
    }

    /// The folder of the fault log.
    pub fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Returns the damaged databases that were moved aside, oldest first, with the files that belong to them.
    pub fn list_set_aside(&self) -> io::Result<Vec<PathBuf>> {
        self.list_with_prefix(DAMAGED_PREFIX)
    }

    /// Moves a damaged database aside with its write-ahead log, so that a new one can be created. The caller holds both
    /// locks, so no process creates one meanwhile, and none has this one open: its handle would continue in the old
    /// files or, worse, use the new log.
    pub fn move_database_aside(
        &self,
        _making: &FolderLock,
        _alone: &FolderLock,
        now: Time,
    ) -> io::Result<PathBuf> {
        let mut number = now.millis();
        let aside = loop {
            let path = self.folder.join(format!("{DAMAGED_PREFIX}{number}"));
            if !path.exists() {
                break path;
            }
            number += 1;
        };
        remove_if_exists(&self.fingerprints())?;
        fs::rename(self.database(), &aside)?;
        self.move_wal_aside(Some(&aside))?;
        Ok(aside)
    }

    /// Moves a write-ahead log without a database next to the database it belongs to: it may contain rows that can be
    /// recovered, and a new database must not use it.
    pub fn move_wal_aside(&self, aside: Option<&Path>) -> io::Result<()> {
        // The index of the log, which SQLite recreates.
        remove_if_exists(&self.folder.join("rutter.db-shm"))?;
        if !self.wal().exists() {
            return Ok(());
        }
        // No path means that a process was killed between the two renames: the log belongs to the last database moved
        // aside.
        let last = match aside {
            Some(aside) => Some(aside.to_owned()),
            None => self.list_damaged()?.pop(),
        };
        match last.map(|last| with_suffix(&last, WAL_SUFFIX)) {
            Some(wal) if !wal.exists() => fs::rename(self.wal(), wal),
            _ => {
                fs::rename(self.wal(), self.folder.join(format!("{DAMAGED_PREFIX}log{WAL_SUFFIX}")))
            }
        }
    }

    /// Returns the damaged databases that wait for recovery, oldest first.
    pub fn list_damaged(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = self.list_set_aside()?;
        found.retain(|path| {
            let name = path.to_string_lossy();
            path.is_file() && !name.ends_with(WAL_SUFFIX) && !name.ends_with(SALVAGED_SUFFIX)
        });
        Ok(found)
    }

    /// Returns the work folders of repairs. If no repair runs, a killed one left them.
    pub fn list_workshops(&self) -> io::Result<Vec<PathBuf>> {
        self.list_with_prefix(WORKSHOP_PREFIX)
    }

    /// Returns the unfinished files that will replace others. If none is being written, a killed process left them.
    pub fn list_drafts(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = self.list_with_prefix("")?;
        found.retain(|path| path.is_file() && path.to_string_lossy().ends_with(DRAFT_SUFFIX));
        Ok(found)
    }

    fn list_with_prefix(&self, start: &str) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)) {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }

    /// Creates the directory, accessible only to its owner.
    pub fn make_folder(&self) -> io::Result<()> {
        make_folder(&self.folder)
    }

    /// Locks out other processes that create, migrate, repair or move the database, until the lock is dropped.
    pub fn lock_for_changes(&self) -> io::Result<FolderLock> {
        FolderLock::take_within(&self.folder, LOCK_TIMEOUT)
    }

    /// Returns true if no process holds the lock of [`lock_for_changes`](Self::lock_for_changes).
    pub fn is_unlocked(&self) -> bool {
        matches!(FolderLock::take_with(&self.folder, File::try_lock_shared), Ok(Some(_)))
    }

    /// Takes a shared lock while this process has the database open. Fails after `patience` if another process moves
    /// the database.
    pub fn lock_in_use(&self, patience: Duration) -> io::Result<FolderLock> {
        make_subfolder(&self.log())?;
        FolderLock::share_within(&self.log(), patience)
    }

    /// Waits until no process has the database open.
    pub fn lock_unused(&self) -> io::Result<FolderLock> {
        make_subfolder(&self.log())?;
        FolderLock::take_within(&self.log(), LOCK_TIMEOUT)
    }
}

const DAMAGED_PREFIX: &str = "rutter.db.damaged-";
const WAL_SUFFIX: &str = "-wal";
/// Suffix of a database that was salvaged.
pub(crate) const SALVAGED_SUFFIX: &str = ".salvaged";
pub(crate) const WORKSHOP_PREFIX: &str = "salvage-";

/// A lock on a folder. The kernel holds it, so it ends with its process and leaves no file behind.
#[derive(Debug)]
pub struct FolderLock {
    _folder: File,
}

impl FolderLock {
    /// Takes the lock, or returns None if another process has it.
    pub fn try_take(folder: &Path) -> io::Result<Option<Self>> {
        Self::take_with(folder, File::try_lock)
    }

    /// Takes the lock within `patience`. A suspended holder must not block all others for good.
    pub fn take_within(folder: &Path, patience: Duration) -> io::Result<Self> {
        Self::take_with_timeout(folder, patience, File::try_lock)
    }

    /// Takes the lock in shared mode, together with other processes that do not need it alone.
    pub fn share_within(folder: &Path, patience: Duration) -> io::Result<Self> {
        Self::take_with_timeout(folder, patience, File::try_lock_shared)
    }

    fn take_with(
        folder: &Path,
        lock: impl Fn(&File) -> Result<(), fs::TryLockError>,
    ) -> io::Result<Option<Self>> {
        let folder = File::open(folder)?;
        match lock(&folder) {
            Ok(()) => Ok(Some(Self { _folder: folder })),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn take_with_timeout(
        folder: &Path,
        patience: Duration,
        lock: impl Fn(&File) -> Result<(), fs::TryLockError>,
    ) -> io::Result<Self> {
        let until = Instant::now() + patience;
        loop {
            if let Some(lock) = Self::take_with(folder, &lock)? {
                return Ok(lock);
            }
            if Instant::now() >= until {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process uses it"));
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Creates a folder and its parents, accessible only to the owner.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        // A file, or a dangling link: "exists" would not explain the problem.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(io::Error::new(io::ErrorKind::NotADirectory, "it exists and is not a folder"))
        }
        done => done,
    }
}

/// Creates a folder inside the data directory, accessible only to the owner. Fails if a symbolic link or a folder of
/// another user is in its place.
pub fn make_subfolder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_folder(folder),
        // A read-only disk gives this error even if the folder exists.
        Err(error) => match check_path(folder)? {
            Some(found) if found.is_dir() => Ok(()),
            Some(_) => {
                Err(io::Error::new(io::ErrorKind::NotADirectory, "it exists and is not a folder"))
            }
            None => Err(error),
        },
        Ok(()) => Ok(()),
    }
}

/// Returns the options to read a file inside the data directory. No symbolic link is followed.
pub fn read_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(PLAIN_ONLY);
    options
}

/// Flags that refuse symbolic links and do not wait for pipes.
const PLAIN_ONLY: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();

/// Replaces a small file atomically; removes it if `bytes` is empty. Only one process may do this at a time: the caller
/// holds the lock of [`DataDir::lock_for_changes`].
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return remove_if_exists(path);
    }
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let beside = with_suffix(path, DRAFT_SUFFIX);
    // A process that was killed while writing left this file.
    remove_if_exists(&beside)?;
    let written = private_options()
        .write(true)
        .create_new(true)
        .open(&beside)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        drop(remove_if_exists(&beside));
    }
    written
}

/// Writes a new file, accessible only to its owner. It is not synced, because its loss in a crash does no harm.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        make_subfolder(folder)?;
    }
    private_options().write(true).create_new(true).open(path)?.write_all(bytes)
}

/// Opens a file for appending, accessible only to its owner.
pub fn open_for_append(path: &Path) -> io::Result<File> {
    open_own(path, private_options().append(true).create(true))
}
