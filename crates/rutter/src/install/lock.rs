//! The client's own lock on its file, which it takes to read, change and write it: a folder beside the file.
//!
//! Without it, a client that has read the file already would write over what was put in meanwhile. Measured on 2.1.325
//! and 2.1.197: both take it for every change, take over one of 15 seconds but not one of 5, and write without it when they
//! cannot have it. So it makes a collision unlikely, and what is written is still held against what was read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rutter_memory::Time;

/// When a lock is one that a dead process left.
const STALE_MILLIS: i64 = 10_000;

/// Who waits longer has met something else than a client that writes a file.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// The lock. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    /// None where there can be no such folder: then there is no file of the client either.
    folder: Option<PathBuf>,
}

impl Lock {
    /// Where the lock on a file is.
    pub(super) fn path(file: &Path) -> PathBuf {
        let mut name = file.as_os_str().to_owned();
        name.push(".lock");
        name.into()
    }

    /// Takes the lock on a file, or says that somebody else has had it all the time.
    pub(super) fn take(file: &Path, now: Time) -> io::Result<Self> {
        Self::try_take(file, now, ATTEMPTS)
    }

    fn try_take(file: &Path, now: Time, attempts: u32) -> io::Result<Self> {
        let folder = Self::path(file);
        for _ in 0..attempts {
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Self { folder: Some(folder) }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // What keeps a folder from being made there keeps the file from being written, and that tells better.
                Err(_) => return Ok(Self { folder: None }),
            }
            if is_stale(&folder, now) {
                // If it cannot be removed, or another process has been faster, the next attempt tells.
                drop(fs::remove_dir(&folder));
            } else {
                std::thread::sleep(PAUSE);
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }
}

fn is_stale(folder: &Path, now: Time) -> bool {
    let modified = folder.metadata().and_then(|metadata| metadata.modified());
    let age = modified.ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let millis = age.and_then(|age| i64::try_from(age.as_millis()).ok());
    millis.is_some_and(|modified| now.millis().saturating_sub(modified) > STALE_MILLIS)
}

impl Drop for Lock {
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
    fn one_at_a_time_and_a_dead_one_is_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".claude.json");
        let lock = Lock::take(&file, Time::from_millis(0)).unwrap();
        assert!(folder.path().join(".claude.json.lock").is_dir());
        assert!(Lock::try_take(&file, Time::from_millis(0), 1).is_err());
        // As it looks long after.
        let later = Lock::take(&file, Time::from_millis(i64::MAX)).unwrap();
        drop(later);
        drop(lock);
        assert!(!folder.path().join(".claude.json.lock").exists());
        drop(Lock::take(&folder.path().join("no/such/folder"), Time::from_millis(0)).unwrap());
    }
}
