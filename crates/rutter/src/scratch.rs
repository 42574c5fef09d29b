//! A folder that is gone when everybody who works in it is, and nobody who works in it outlives whoever made it.
//!
//! A process that is killed cleans nothing up, and hooks leave housekeeping behind that would make the folder again. So
//! a second process has it: the keeper, this program in another process group, which no Ctrl-C reaches. Everybody else
//! inherits the write end of its stdin, the housekeeping of hooks included. When the last of them has ended, in whichever
//! way, its stdin ends, and it removes what it made.
//!
//! What is started in a process group of its own hears no Ctrl-C either. The keeper is told of such a [`Group`] before
//! anybody is in it, and ends it when its own stdout has no reader any more: that end is inherited by nobody, so whoever
//! opened the folder is gone.

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

use crate::ui::Ui;
use crate::{Failure, environment};

/// How long those who are left may take to end, once whoever opened the folder is done with it: the housekeeping of a hook.
const TENDING: Duration = Duration::from_secs(15);
/// How often a folder is removed in which somebody still makes files, and the time between.
const TRIES: usize = 50;
const PAUSE: Duration = Duration::from_millis(20);
/// As much as a pipe holds.
const PIPE: usize = 64 * 1024;

/// The folder, and who removes it.
pub(crate) struct Scratch {
    keeper: Child,
    /// As long as anybody has it open, the folder stays. The keeper reads here of groups that begin and end.
    hold: Option<ChildStdin>,
    /// As long as we have it open, the groups live.
    listens: Option<BufReader<ChildStdout>>,
    path: PathBuf,
}

/// A process group that does not outlive us. It is there before the first process that joins it: between the start of a
/// process and a word to the keeper we could be killed, and nobody would know of it.
pub(crate) struct Group<'a> {
    /// Does nothing, until there is nobody to wait for.
    anchor: Child,
    hold: &'a ChildStdin,
}

impl Group<'_> {
    pub(crate) fn id(&self) -> Pid {
        Pid::from_child(&self.anchor)
    }

    /// Ends everybody in it.
    pub(crate) fn end(&self) {
        // One that has ended already is what we want.
        let _ = kill_process_group(self.id(), Signal::KILL);
    }

    /// Tells the keeper. One that is gone cannot be told, and there is nobody to tell that.
    fn tell(&self, sign: char) {
        let mut hold = self.hold;
        drop(hold.write_all(format!("{sign}{}\n", self.anchor.id()).as_bytes()));
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        self.end();
        // Before the anchor is waited for: until then the number is nobody else's.
        self.tell('-');
        drop(self.anchor.wait());
    }
}

impl Scratch {
    /// Makes the folder. `program` is this one; the folder is named after what it is for.
    pub(crate) fn open(program: &Path, purpose: &str) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::Refused(format!("cannot start {}: {error}", program.display()))
        };
        let mut keeper = Command::new(program)
            .arg("demo")
            .env(environment::KEEPER, purpose)
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
        let scratch = Self { keeper, hold, listens, path };
        if !scratch.path.is_absolute() {
            // Then it is why there is none; whoever has said nothing was ended.
            let why = scratch.path.to_string_lossy();
            let why = if why.is_empty() {
                "whoever was to make a temporary folder was ended"
            } else {
                &*why
            };
            return Err(Failure::Refused(why.to_owned()));
        }
        if let Some(hold) = &scratch.hold {
            fcntl_setfd(hold, FdFlags::empty()).map_err(|error| failed(error.into()))?;
        }
        Ok(scratch)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A process group for what is to be started.
    pub(crate) fn group(&self) -> io::Result<Group<'_>> {
        let Some(hold) = &self.hold else { return Err(io::ErrorKind::NotConnected.into()) };
        let anchor = Command::new("/bin/sh")
            .args(["-c", "read -r _"])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let group = Group { anchor, hold };
        group.tell('+');
        Ok(group)
    }

    /// Waits until nobody works in it any more and it is gone.
    pub(crate) fn close(mut self) -> Result<(), Failure> {
        if self.leave() {
            return Ok(());
        }
        Err(Failure::Refused(format!(
            "{} could not be removed; `rm -r` takes it away",
            self.path.display()
        )))
    }

    fn leave(&mut self) -> bool {
        drop(self.hold.take());
        drop(self.listens.take());
        self.keeper.wait().is_ok_and(|status| status.success())
    }
}

/// Also where the work ends early.
impl Drop for Scratch {
    fn drop(&mut self) {
        if self.hold.is_some() {
            self.leave();
        }
    }
}

/// What the keeper does. It removes nothing but what it has made itself.
pub(crate) fn keep(purpose: &str, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let made = tempfile::Builder::new().prefix(&format!("rutter-{purpose}-")).tempdir();
    let folder = match made.and_then(|folder| std::path::absolute(folder.keep())) {
        Ok(folder) => folder,
        Err(error) => {
            // To whoever asked for it, who has something to say to the user.
            writeln!(ui.out, "cannot make a temporary folder: {error}; TMPDIR says where")?;
            return Ok(());
        }
    };
    ui.out.write_all(folder.as_os_str().as_bytes())?;
    ui.out.write_all(b"\n")?;
    ui.out.flush()?;
    watch();
    remove(&folder)
        .map_err(|error| Failure::Refused(format!("cannot remove a temporary folder: {error}")))
}

/// Returns when nobody works in the folder any more, or has had the time to end.
fn watch() {
    let (stdin, stdout) = (rustix::stdio::stdin(), rustix::stdio::stdout());
    let mut groups = Groups::default();
    let mut until: Option<Instant> = None;
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut ends =
            [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&stdout, PollFlags::empty())];
        // That nobody listens would be told again and again.
        let asked = if until.is_some() { 1 } else { 2 };
        match poll(&mut ends[..asked], left.as_ref()) {
            Err(Errno::INTR) => continue,
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let [told, heard] = ends.map(|end| end.revents());
        if asked == 2 && !heard.is_empty() {
            until = Some(Instant::now() + TENDING);
        }
        if !told.is_empty() {
            let mut bytes = vec![0; PIPE];
            match rustix::io::read(stdin, &mut bytes) {
                Ok(0) => return,
                Ok(read) => groups.note(&bytes[..read]),
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
        if until.is_some() {
            groups.end();
        }
    }
}

/// The process groups that are at work.
#[derive(Default)]
struct Groups {
    all: Vec<i32>,
    /// Of a line that has not come whole.
    rest: Vec<u8>,
}

impl Groups {
    fn note(&mut self, bytes: &[u8]) {
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

    /// Ends them all. One that has ended already is what we want.
    fn end(&mut self) {
        for group in self.all.drain(..).filter_map(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Removes a folder in which somebody who was not waited for may still make files.
fn remove(folder: &Path) -> io::Result<()> {
    for _ in 1..TRIES {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                std::thread::sleep(PAUSE);
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
    fn groups_are_noted_however_the_lines_come() {
        let mut groups = Groups::default();
        for part in ["+1", "2\n+7\n-1", "2\n", "x\n+\n-9\n+30\n+4"] {
            groups.note(part.as_bytes());
        }
        assert_eq!((groups.all, groups.rest), (vec![7, 30], b"+4".to_vec()));
    }
}
