//! A temporary folder that is removed when all processes that use it have ended.
//!
//! A killed process removes nothing, and hooks start maintenance processes that outlive them. So a shell, the guard,
//! waits for the end of its stdin and then removes the folder. All programs that this process starts inherit the write
//! end, so it closes when the last of them has ended in any way. The guard has its own process group, so Ctrl-C does
//! not reach it.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use rutter_memory::quote::PathLine as _;
use tempfile::TempDir;

use crate::process::wait_for_exit;
use crate::{CommandError, CommandResult};

/// Time that remaining processes, such as the maintenance of a hook, have to end after the folder was closed.
const MAINTENANCE_TIMEOUT: Duration = Duration::from_secs(15);

/// Removes the folder `$0` at the end of stdin. Tries again if a process that was just killed still created a file.
const GUARD_SCRIPT: &str = "\
    while read -r _; do :; done; \
    for _ in 1 2 3; do rm -rf -- \"$0\" 2>/dev/null && exit; sleep 1; done";

/// A temporary folder and its guard.
pub(crate) struct ScratchFolder {
    folder: TempDir,
    /// Its stdin stays open while any process uses the folder.
    guard: Child,
}

impl ScratchFolder {
    /// Creates a folder with `purpose` in its name.
    pub(crate) fn open(purpose: &str) -> CommandResult<Self> {
        let refused = |what: &str, error: io::Error, advice: &str| {
            CommandError::Refused(format!("cannot {what}: {error}{advice}"))
        };
        let folder = tempfile::Builder::new()
            .prefix(&format!("rutter-{purpose}-"))
            .tempdir()
            .map_err(|error| {
                let advice = "; set TMPDIR to a folder that you may write to";
                refused("make a temporary folder", error, advice)
            })?;
        let guard = Command::new("/bin/sh")
            .args(["-c", GUARD_SCRIPT])
            .arg(folder.path())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| refused("start /bin/sh", error, ""))?;
        if let Some(stdin) = &guard.stdin {
            // Programs that start from here on inherit it.
            fcntl_setfd(stdin, FdFlags::empty())
                .map_err(|error| refused("share a pipe", error.into(), ""))?;
        }
        Ok(Self { folder, guard })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Waits until no process uses the folder, and removes it.
    pub(crate) fn close(mut self) -> CommandResult {
        self.end_guard();
        match std::fs::remove_dir_all(self.path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let path = self.path().to_line();
                Err(CommandError::Refused(format!(
                    "could not remove {path}: {error}; remove it with `rm -r`"
                )))
            }
            _ => Ok(()),
        }
    }

    fn end_guard(&mut self) {
        drop(self.guard.stdin.take());
        if !wait_for_exit(&mut self.guard, MAINTENANCE_TIMEOUT).is_ok_and(|ended| ended) {
            drop(self.guard.kill());
            drop(self.guard.wait());
        }
    }
}

/// Also runs on early returns. If the guard could not remove the folder, `TempDir` tries it afterwards.
impl Drop for ScratchFolder {
    fn drop(&mut self) {
        self.end_guard();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_waits_for_users() {
        let outside = tempfile::tempdir().unwrap();
        let ended = outside.path().join("ended");
        let scratch = ScratchFolder::open("test").unwrap();
        let path = scratch.path().to_owned();
        assert!(path.is_absolute() && path.is_dir());
        // As the maintenance of a hook: another process group, and files that it creates late.
        let mut user = Command::new("/bin/sh")
            .args(["-c", "read -r _; mkdir -p \"$0/late/memory\"; : >\"$1\""])
            .args([&path, &ended])
            .process_group(0)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        drop(user.stdin.take());
        scratch.close().unwrap();
        assert!(ended.exists(), "the process had ended when the folder was removed");
        assert!(!path.exists());
        assert!(user.wait().unwrap().success());
    }
}
