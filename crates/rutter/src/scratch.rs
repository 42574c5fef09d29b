//! A folder that is gone when everybody who works in it is.
//!
//! A process that is killed cleans nothing up, and hooks leave housekeeping behind that would make the folder again. So
//! a second process has it: the keeper, this program in another process group, which no Ctrl-C reaches. Everybody else
//! inherits the write end of its stdin, the housekeeping of hooks included. When the last of them has ended, in whichever
//! way, its stdin ends, and it removes what it made.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::io::{FdFlags, fcntl_setfd};

use crate::ui::Ui;
use crate::{Failure, environment};

/// The folder, and who removes it.
pub(super) struct Scratch {
    keeper: Child,
    /// As long as anybody has it open, the folder stays.
    hold: Option<ChildStdin>,
    path: PathBuf,
}

impl Scratch {
    pub(super) fn open(program: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::Refused(format!("cannot start {}: {error}", program.display()))
        };
        let mut keeper = Command::new(program)
            .arg("demo")
            .env(environment::KEEPER, "1")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let hold = keeper.stdin.take();
        let mut line = Vec::new();
        if let Some(out) = keeper.stdout.take() {
            BufReader::new(out).read_until(b'\n', &mut line).map_err(failed)?;
        }
        let path = PathBuf::from(OsStr::from_bytes(line.trim_ascii_end()));
        let scratch = Self { keeper, hold, path };
        // The keeper has said why.
        if scratch.path.as_os_str().is_empty() {
            return Err(Failure::Findings);
        }
        if let Some(hold) = &scratch.hold {
            fcntl_setfd(hold, FdFlags::empty()).map_err(|error| failed(error.into()))?;
        }
        Ok(scratch)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until nobody works in it any more and it is gone.
    pub(super) fn close(mut self) -> Result<(), Failure> {
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
        self.keeper.wait().is_ok_and(|status| status.success())
    }
}

/// Also where the story ends early.
impl Drop for Scratch {
    fn drop(&mut self) {
        if self.hold.is_some() {
            self.leave();
        }
    }
}

/// What the keeper does. It removes nothing but what it has made itself.
pub(crate) fn keep(ui: &mut Ui<'_>) -> Result<(), Failure> {
    let refused = |what: &str, error: &io::Error| {
        Failure::Refused(format!("cannot {what} a temporary folder: {error}; TMPDIR says where"))
    };
    let folder = tempfile::Builder::new()
        .prefix("rutter-demo-")
        .tempdir()
        .map_err(|error| refused("make", &error))?;
    ui.out.write_all(folder.path().as_os_str().as_bytes())?;
    ui.out.write_all(b"\n")?;
    ui.out.flush()?;
    io::copy(ui.input, &mut io::sink()).map_err(Failure::Input)?;
    folder.close().map_err(|error| refused("remove", &error))
}
