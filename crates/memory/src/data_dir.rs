//! The files of the memory: their names, their modes, and the locks that leave no file behind.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::Time;
pub use rutter_search::file::{DRAFT, private, remove_if_there, with_end};

pub(crate) mod guard;

pub use guard::UnsafePath;
pub use guard::{check_path, open_own, read_own, read_own_text};

/// How long a command waits for another process. A hook has its own, shorter patience.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    folder: PathBuf,
}

impl Files {
    /// The memory that is kept in a folder. Nothing is touched yet.
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

    /// What was written and is not in the database file yet.
    pub fn wal(&self) -> PathBuf {
        self.folder.join("rutter.db-wal")
    }

    /// The vectors of what is in the database: a cache.
    pub fn vectors(&self) -> PathBuf {
        self.folder.join("vectors")
    }

    /// Which checkouts' own settings are trusted.
    pub fn trusted(&self) -> PathBuf {
        self.folder.join("trusted")
    }

    /// Which sessions are to be left alone.
    pub fn paused(&self) -> PathBuf {
        self.folder.join("paused")
    }

    /// Which documents have which terms: a cache.
    pub fn terms(&self) -> PathBuf {
        self.folder.join("terms")
    }

    /// How often which event came.
    pub fn tally(&self) -> PathBuf {
        self.folder.join("tally")
    }

    /// By which word clients are let in that come over HTTP.
    pub fn http_token(&self) -> PathBuf {
        self.folder.join("http-token")
    }

    /// What hooks could not write in time.
    pub fn spool(&self) -> PathBuf {
        self.folder.join("spool")
    }

    /// Copies of files that a command may change, while it runs.
    pub fn snapshots(&self) -> PathBuf {
        self.folder.join("snapshots")
    }

    /// Faults.
    pub fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Damaged databases that were put aside, oldest first, and what belongs to them.
    pub fn set_aside(&self) -> io::Result<Vec<PathBuf>> {
        self.named(DAMAGED)
    }

    /// Puts a damaged database aside with its log of changes, so that a new one can begin. The caller holds both
    /// locks: nobody creates one meanwhile, and nobody has this one open, whose handle would go on in the old files or,
    /// worse, take the new log for its own.
    pub fn put_aside(&self, _making: &Lock, _alone: &Lock, now: Time) -> io::Result<PathBuf> {
        let mut number = now.millis();
        let aside = loop {
            let path = self.folder.join(format!("{DAMAGED}{number}"));
            if !path.exists() {
                break path;
            }
            number += 1;
        };
        fs::rename(self.database(), &aside)?;
        self.put_log_aside(Some(&aside))?;
        Ok(aside)
    }

    /// Gives a log of changes that has lost its database to the one it belongs to: it may hold rows that can be saved,
    /// and a new database must not take it for its own.
    pub fn put_log_aside(&self, aside: Option<&Path>) -> io::Result<()> {
        // An index over the log, made again when it is missing.
        remove_if_there(&self.folder.join("rutter.db-shm"))?;
        if !self.wal().exists() {
            return Ok(());
        }
        // Without a name, a process was killed in between: the last one that was put aside lost its log.
        let last = match aside {
            Some(aside) => Some(aside.to_owned()),
            None => self.damaged()?.pop(),
        };
        match last.map(|last| with_end(&last, WAL)) {
            Some(wal) if !wal.exists() => fs::rename(self.wal(), wal),
            _ => fs::rename(self.wal(), self.folder.join(format!("{DAMAGED}log{WAL}"))),
        }
    }

    /// Damaged databases that wait to be salvaged, oldest first.
    pub fn damaged(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = self.set_aside()?;
        found.retain(|path| {
            let name = path.to_string_lossy();
            path.is_file() && !name.ends_with(WAL) && !name.ends_with(SALVAGED)
        });
        Ok(found)
    }

    /// Folders in which a repair works. Outside of one, a killed one left them.
    pub fn workshops(&self) -> io::Result<Vec<PathBuf>> {
        self.named(WORKSHOP)
    }

    /// What is being written beside the file whose place it will take. Outside of that, a killed process left it.
    pub fn drafts(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = self.named("")?;
        found.retain(|path| path.is_file() && path.to_string_lossy().ends_with(DRAFT));
        Ok(found)
    }

    fn named(&self, start: &str) -> io::Result<Vec<PathBuf>> {
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

    /// Makes the folder, for its owner alone.
    pub fn make_folder(&self) -> io::Result<()> {
        make_folder(&self.folder)
    }

    /// Keeps other processes from creating, migrating, repairing or putting aside, until it is dropped.
    pub fn making(&self) -> io::Result<Lock> {
        Lock::wait(&self.folder, PATIENCE)
    }

    /// Whether nobody keeps others from making something here.
    pub fn is_unclaimed(&self) -> bool {
        matches!(Lock::take(&self.folder, File::try_lock_shared), Ok(Some(_)))
    }

    /// Says that this process has the database open. Whoever waits is told that somebody puts it aside.
    pub fn using(&self, patience: Duration) -> io::Result<Lock> {
        make_subfolder(&self.log())?;
        Lock::share(&self.log(), patience)
    }

    /// Waits until no process has the database open.
    pub fn alone(&self) -> io::Result<Lock> {
        make_subfolder(&self.log())?;
        Lock::wait(&self.log(), PATIENCE)
    }
}

const DAMAGED: &str = "rutter.db.damaged-";
const WAL: &str = "-wal";
/// What a database is called that was salvaged.
pub(crate) const SALVAGED: &str = ".salvaged";
pub(crate) const WORKSHOP: &str = "salvage-";

/// A lock on a folder. It is the kernel's, so it ends with its process and leaves no file behind.
#[derive(Debug)]
pub struct Lock {
    _folder: File,
}

impl Lock {
    /// Takes the lock, or gives up when somebody has it.
    pub fn attempt(folder: &Path) -> io::Result<Option<Self>> {
        Self::take(folder, File::try_lock)
    }

    /// Takes the lock within some time. A holder that was stopped must not stop everybody else for good.
    pub fn wait(folder: &Path, patience: Duration) -> io::Result<Self> {
        Self::take_soon(folder, patience, File::try_lock)
    }

    /// Takes it together with others who do not need it alone.
    pub fn share(folder: &Path, patience: Duration) -> io::Result<Self> {
        Self::take_soon(folder, patience, File::try_lock_shared)
    }

    fn take(
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

    fn take_soon(
        folder: &Path,
        patience: Duration,
        lock: impl Fn(&File) -> Result<(), fs::TryLockError>,
    ) -> io::Result<Self> {
        let until = Instant::now() + patience;
        loop {
            if let Some(lock) = Self::take(folder, &lock)? {
                return Ok(lock);
            }
            if Instant::now() >= until {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another process has it open or works on it",
                ));
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Makes a folder and what leads to it, for its owner alone.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        // A file, or a link that leads nowhere: "exists" would not say what is wrong.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(io::Error::new(io::ErrorKind::NotADirectory, "something else is in its place"))
        }
        done => done,
    }
}

/// Makes a folder inside the data folder, for its owner alone. Fails if a symbolic link or a folder of another user is in its
/// place.
pub fn make_subfolder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_folder(folder),
        // A read-only disk answers so even where the folder is there.
        Err(error) => match check_path(folder)? {
            Some(found) if found.is_dir() => Ok(()),
            Some(_) => {
                Err(io::Error::new(io::ErrorKind::NotADirectory, "something else is in its place"))
            }
            None => Err(error),
        },
        Ok(()) => Ok(()),
    }
}

/// Returns the options to read a file inside the data folder. No symbolic link is followed.
pub fn readable() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(PLAIN_ONLY);
    options
}

/// Flags by which no link is followed, and no pipe waited for.
const PLAIN_ONLY: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();

/// Puts a small file in the place of another, whole; an empty one goes. Only one process may be at it: the caller holds the lock
/// of whoever makes something in the folder.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return remove_if_there(path);
    }
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let beside = with_end(path, DRAFT);
    // Left by one that was killed in the middle.
    remove_if_there(&beside)?;
    let written = private()
        .write(true)
        .create_new(true)
        .open(&beside)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        drop(remove_if_there(&beside));
    }
    written
}

/// Writes a file that is not there yet, for its owner alone. It is not synced: what is lost with the machine is not missed.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        make_subfolder(folder)?;
    }
    private().write(true).create_new(true).open(path)?.write_all(bytes)
}

/// Opens a file to add to it, for its owner alone.
pub fn append_to(path: &Path) -> io::Result<File> {
    open_own(path, private().append(true).create(true))
}
