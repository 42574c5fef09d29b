//! The client's lock on its own file, a folder next to the file. The client takes it to read, change and write the
//! file.
//!
//! Without the lock, a client that has already read the file would overwrite our change. Measured on 2.1.325 and
//! 2.1.197: both take it for every change, take over a lock that is 15 seconds old but not one of 5, and write without
//! it if they cannot get it. So the lock makes a collision unlikely, and the writer still compares the file with the
//! bytes that were read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rutter_memory::Time;

/// Age after which a lock counts as left behind by a dead process.
const STALE_LOCK_MILLIS: i64 = 10_000;

/// Attempts to take the lock, and the time between attempts. A client that writes its file holds the lock for less
/// time.
const MAX_LOCK_ATTEMPTS: u32 = 100;
const LOCK_RETRY_DELAY: Duration = Duration::from_millis(20);

/// A lock that is released when it is dropped.
#[derive(Debug)]
pub(super) struct ClientFileLock {
    /// None if the lock folder cannot be created. The client has no file there either.
    folder: Option<PathBuf>,
}

impl ClientFileLock {
    /// Returns the path of the lock on a file.
    pub(super) fn lock_path(file: &Path) -> PathBuf {
        let mut name = file.as_os_str().to_owned();
        name.push(".lock");
        name.into()
    }

    /// Takes the lock on a file. Returns an error if another process holds it during all attempts.
    pub(super) fn acquire(file: &Path, now: Time) -> io::Result<Self> {
        Self::try_acquire(file, now, MAX_LOCK_ATTEMPTS)
    }

    fn try_acquire(file: &Path, now: Time, attempts: u32) -> io::Result<Self> {
        let folder = Self::lock_path(file);
        for _ in 0..attempts {
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Self { folder: Some(folder) }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // The same cause will fail the write of the file, with a better message.
                Err(_) => return Ok(Self { folder: None }),
            }
            if is_stale(&folder, now) {
                // The next attempt shows if the removal failed or another process was faster.
                drop(fs::remove_dir(&folder));
            } else {
                std::thread::sleep(LOCK_RETRY_DELAY);
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }
}

fn is_stale(folder: &Path, now: Time) -> bool {
    let modified = folder.metadata().and_then(|metadata| metadata.modified());
    let age = modified.ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let millis = age.and_then(|age| i64::try_from(age.as_millis()).ok());
    millis.is_some_and(|modified| now.millis().saturating_sub(modified) > STALE_LOCK_MILLIS)
}

impl Drop for ClientFileLock {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            drop(fs::remove_dir(folder));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_is_exclusive_until_stale() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".claude.json");
        let lock = ClientFileLock::acquire(&file, Time::from_millis(0)).unwrap();
        assert!(folder.path().join(".claude.json.lock").is_dir());
        assert!(ClientFileLock::try_acquire(&file, Time::from_millis(0), 1).is_err());
        // A much later time, at which the lock is stale.
        let later = ClientFileLock::acquire(&file, Time::from_millis(i64::MAX)).unwrap();
        drop(later);
        drop(lock);
        assert!(!folder.path().join(".claude.json.lock").exists());
        drop(
            ClientFileLock::acquire(&folder.path().join("no/such/folder"), Time::from_millis(0))
                .unwrap(),
        );
    }
}
