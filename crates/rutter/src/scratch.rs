//! A temporary folder that is removed when every process that uses it has ended, and process groups that end with their
//! owner.
//!
//! A killed process removes nothing, and hooks leave maintenance processes behind that would create the folder again.
//! So a second process, the keeper, owns the folder. The keeper is this program in another process group, so Ctrl-C
//! does not reach it. All other processes, including the maintenance of hooks, inherit the write end of the keeper's
//! stdin. When the last of them has ended in any way, the keeper's stdin closes, and the keeper removes the folder that
//! it created.
//!
//! Ctrl-C does not reach processes in a separate process group either. The keeper is notified of such a [`ProcessGroup`]
//! before a process joins it. It kills the group when its own stdout has lost its reader: no child inherits that end,
//! so a lost reader means that the process that opened the folder is gone.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process_group};
use rutter_memory::quote::PathLine as _;

use crate::ui::Ui;
use crate::{CommandError, environment};

/// Time that remaining processes, such as the maintenance of a hook, have to end after the opener has closed the
/// folder.
const MAINTENANCE_TIMEOUT: Duration = Duration::from_secs(15);
/// Attempts to remove a folder in which processes still create files, and the time between attempts.
const MAX_REMOVE_ATTEMPTS: usize = 50;
const REMOVE_RETRY_DELAY: Duration = Duration::from_millis(20);
/// Capacity of a pipe.
const PIPE_CAPACITY_BYTES: usize = 64 * 1024;

/// A temporary folder and its keeper process.
pub(crate) struct ScratchFolder {
    keeper: Child,
    /// Write end of the keeper's stdin. The folder stays while any process has it open. It also carries the messages
    /// about process groups that begin and end.
    hold: Option<ChildStdin>,
    /// Read end of the keeper's stdout. The keeper kills all process groups when it closes.
    keeper_stdout: Option<BufReader<ChildStdout>>,
    path: PathBuf,
}

/// A process group that does not outlive this process. The keeper knows the group before the first process joins it.
/// Otherwise this process could be killed between the start of a process and the message to the keeper.
pub(crate) struct ProcessGroup<'a> {
    /// Idle process that reserves the group id until the group is dropped.
    anchor: Child,
    hold: &'a ChildStdin,
}

impl ProcessGroup<'_> {
    pub(crate) fn id(&self) -> Pid {
        Pid::from_child(&self.anchor)
    }

    /// Kills all processes of the group.
    pub(crate) fn end(&self) {
        // An error means that the group has already ended.
        let _ = kill_process_group(self.id(), Signal::KILL);
    }

    /// Notifies the keeper that the group begins (`+`) or ends (`-`). An error is ignored: the keeper is gone then.
    fn notify_keeper(&self, sign: char) {
        let mut hold = self.hold;
        drop(hold.write_all(format!("{sign}{}\n", self.anchor.id()).as_bytes()));
    }
}

impl Drop for ProcessGroup<'_> {
    fn drop(&mut self) {
        self.end();
        // Before the wait for the anchor: until then the system cannot reuse the group id.
        self.notify_keeper('-');
        drop(self.anchor.wait());
    }
}

impl ScratchFolder {
    /// Starts the keeper, which creates the folder. `program` is this executable; `purpose` becomes part of the
    /// folder's name.
    pub(crate) fn open(program: &Path, purpose: &str) -> Result<Self, CommandError> {
        let failed = |error: io::Error| {
            CommandError::Refused(format!("cannot start {}: {error}", program.to_line()))
        };
        let mut keeper = Command::new(program)
            .arg("demo")
            .env(environment::SCRATCH_KEEPER_VARIABLE, purpose)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let hold = keeper.stdin.take();
        let mut listens = keeper.stdout.take().map(BufReader::new);
        let mut line = Vec::new();
        if let Some(out) = &mut listens {
            out.read_until(b'\n', &mut line).map_err(failed)?;
        }
        let path = PathBuf::from(OsStr::from_bytes(line.trim_ascii_end()));
        let scratch = Self { keeper, hold, keeper_stdout: listens, path };
        if !scratch.path.is_absolute() {
            // The line is an error message then. It is empty if the keeper was killed.
            let why = scratch.path.to_string_lossy();
            let why = if why.is_empty() {
                "the process that makes the temporary folder was killed"
            } else {
                &*why
            };
            return Err(CommandError::Refused(why.to_owned()));
        }
        if let Some(hold) = &scratch.hold {
            fcntl_setfd(hold, FdFlags::empty()).map_err(|error| failed(error.into()))?;
        }
        Ok(scratch)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a process group for child processes.
    pub(crate) fn create_group(&self) -> io::Result<ProcessGroup<'_>> {
        let Some(hold) = &self.hold else { return Err(io::ErrorKind::NotConnected.into()) };
        let anchor = Command::new("/bin/sh")
            .args(["-c", "read -r _"])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let group = ProcessGroup { anchor, hold };
        group.notify_keeper('+');
        Ok(group)
    }

    /// Waits until no process uses the folder and the keeper has removed it.
    pub(crate) fn close(mut self) -> Result<(), CommandError> {
        if self.release() {
            return Ok(());
        }
        Err(CommandError::Refused(format!(
            "could not remove {}; remove it with `rm -r`",
            self.path.to_line()
        )))
    }

    fn release(&mut self) -> bool {
        drop(self.hold.take());
        drop(self.keeper_stdout.take());
        self.keeper.wait().is_ok_and(|status| status.success())
    }
}

/// Closes the folder on early returns too.
impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if self.hold.is_some() {
            self.release();
        }
    }
}

/// Runs the keeper process. It removes only the folder that it created.
pub(crate) fn run_keeper(purpose: &str, ui: &mut Ui<'_>) -> Result<(), CommandError> {
    let made = tempfile::Builder::new().prefix(&format!("rutter-{purpose}-")).tempdir();
    let folder = match made.and_then(|folder| std::path::absolute(folder.keep())) {
        Ok(folder) => folder,
        Err(error) => {
            // The opener reads this line and reports it to the user.
            writeln!(
                ui.out,
                "cannot make a temporary folder: {error}; set TMPDIR to a folder \
                              that you may write to"
            )?;
            return Ok(());
        }
    };
    ui.out.write_all(folder.as_os_str().as_bytes())?;
    ui.out.write_all(b"\n")?;
    ui.out.flush()?;
    wait_for_users();
    remove_folder(&folder).map_err(|error| {
        CommandError::Refused(format!("cannot remove a temporary folder: {error}"))
    })
}

/// Returns when no process uses the folder any more, or when the time for ending has passed.
fn wait_for_users() {
    let (stdin, stdout) = (rustix::stdio::stdin(), rustix::stdio::stdout());
    let mut groups = ProcessGroups::default();
    let mut until: Option<Instant> = None;
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut ends =
            [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&stdout, PollFlags::empty())];
        // A closed stdout would wake every further poll.
        let asked = if until.is_some() { 1 } else { 2 };
        match poll(&mut ends[..asked], left.as_ref()) {
            Err(Errno::INTR) => continue,
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let [told, heard] = ends.map(|end| end.revents());
        if asked == 2 && !heard.is_empty() {
            until = Some(Instant::now() + MAINTENANCE_TIMEOUT);
        }
        if !told.is_empty() {
            let mut bytes = vec![0; PIPE_CAPACITY_BYTES];
            match rustix::io::read(stdin, &mut bytes) {
                Ok(0) => return,
                Ok(read) => groups.parse_messages(&bytes[..read]),
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
        if until.is_some() {
            groups.end();
        }
    }
}

/// The running process groups.
#[derive(Default)]
struct ProcessGroups {
    all: Vec<i32>,
    /// Bytes of an incomplete line.
    rest: Vec<u8>,
}

impl ProcessGroups {
    fn parse_messages(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let number = |digits: &[u8]| str::from_utf8(digits.trim_ascii()).ok()?.parse().ok();
            match line.split_first().map(|(sign, digits)| (sign, number(digits))) {
                Some((b'+', Some(group))) => self.all.push(group),
                Some((b'-', Some(group))) => self.all.retain(|one| *one != group),
                _ => {}
            }
        }
    }

    /// Kills all groups. An error means that a group has already ended.
    fn end(&mut self) {
        for group in self.all.drain(..).filter_map(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Removes a folder in which other processes may still create files.
fn remove_folder(folder: &Path) -> io::Result<()> {
    for _ in 1..MAX_REMOVE_ATTEMPTS {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                std::thread::sleep(REMOVE_RETRY_DELAY);
            }
            done => return done,
        }
    }
    std::fs::remove_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_split_group_messages() {
        let mut groups = ProcessGroups::default();
        for part in ["+1", "2\n+7\n-1", "2\n", "x\n+\n-9\n+30\n+4"] {
            groups.parse_messages(part.as_bytes());
        }
        assert_eq!((groups.all, groups.rest), (vec![7, 30], b"+4".to_vec()));
    }
}
