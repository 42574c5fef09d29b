//! Where the bench takes place: a git repository with a remote, and memories with a past.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};
use rusqlite::Connection;
use rutter_memory::episode::How;
use rutter_memory::project::Located;
use rutter_memory::store::{EpisodeFilter, Files};
use rutter_memory::{Store, Time};

use super::super::git;
use super::payloads::Payloads;
use super::rows::{Memory, Row, Starts};
use super::seed;

/// Beyond this a hook has the log of changes folded; here that is done between the rows, just before.
const FOLD: u64 = 1024 * 1024 - 128 * 1024;
/// How many tests fail in the red run that is told.
const FAILING: usize = 3;

pub(super) struct World {
    /// Everything lies here.
    place: PathBuf,
    /// A copy of the binary, so that what it starts is known by its file.
    pub(super) binary: PathBuf,
    pub(super) checkout: PathBuf,
    /// Writes in the locked memory, whenever it is asked to.
    writer: Connection,
    /// Behind the connection, so that its files are closed when they go.
    _folder: tempfile::TempDir,
}

impl World {
    pub(super) fn make(root: &Path) -> Result<Self> {
        ensure!(
            Path::new("/proc/self/status").exists(),
            "the bench needs Linux: it looks into /proc"
        );
        let built = crate::dist::build_release(root)?;
        let folder = tempfile::tempdir()?;
        let place = folder.path().canonicalize()?;
        let (binary, checkout) = (place.join("rutter"), place.join("ship"));
        std::fs::copy(built, &binary)?;
        git(&place, &["init", "--quiet", "ship"])?;
        git(&checkout, &["remote", "add", "origin", "https://github.com/ada/ship.git"])?;
        std::fs::write(
            checkout.join("shop.py"),
            "def discount(price, percent):\n    return price\n",
        )?;

        let rows = place.join("seed.jsonl");
        let mut out = BufWriter::new(File::create(&rows)?);
        seed::write(&Located::find(&checkout), now(), &mut out)?;
        out.flush()?;
        for memory in [Memory::Usual, Memory::Locked] {
            let import = rutter(
                &binary,
                &home(&place, memory),
                &["import", "jsonl", "--own", "--yes"],
                Some(&rows),
            )?;
            ensure!(import.contains(" added"), "{import}");
            rutter(&binary, &home(&place, memory), &["tend"], None)?;
        }
        let writer = Connection::open(Files::new(home(&place, Memory::Locked)).database())?;
        Ok(Self { place, binary, checkout, writer, _folder: folder })
    }

    pub(super) fn memory(&self, memory: Memory) -> PathBuf {
        home(&self.place, memory)
    }

    /// The failure that is known later: it fails, is edited, is green.
    pub(super) fn tell_the_first_time(&self, told: &Payloads) -> Result<()> {
        for payload in [told.failed_as_before(0), told.edited(), told.passed()] {
            let mut hook = Command::new(&self.binary)
                .arg("hook")
                .env("RUTTER_HOME", self.memory(Memory::Usual))
                .stdin(Stdio::piped())
                .spawn()?;
            hook.stdin.take().context("piped")?.write_all(&payload)?;
            ensure!(hook.wait()?.success(), "a hook failed");
        }
        let fixed = self.fixed()?;
        ensure!(fixed == seed::EPISODES as usize + FAILING, "{fixed} episodes are fixed");
        Ok(())
    }

    /// Whether the rows did what their names say: every round of the story fixed what failed in it.
    pub(super) fn ensure_learnt(&self, rounds: usize) -> Result<()> {
        let (fixed, expected) = (self.fixed()?, seed::EPISODES as usize + FAILING * (rounds + 1));
        ensure!(fixed == expected, "{fixed} episodes are fixed, not {expected}");
        Ok(())
    }

    fn fixed(&self) -> Result<usize> {
        let store = Store::open(&self.memory(Memory::Usual), now())?;
        let filter = EpisodeFilter { how: Some(How::Fixed), ..EpisodeFilter::default() };
        Ok(store.episodes(&filter)?.len())
    }

    /// Brings a row's memory to where the row begins.
    pub(super) fn prepare(&self, row: &Row) -> Result<()> {
        let Starts::Hook(memory) = row.starts else { return Ok(()) };
        let home = self.memory(memory);
        match memory {
            Memory::Usual => {
                let wal = Files::new(&home).wal();
                if wal.metadata().is_ok_and(|wal| wal.len() > FOLD) {
                    rutter(&self.binary, &home, &["tend"], None)?;
                }
            }
            Memory::Missing if home.exists() => std::fs::remove_dir_all(&home)?,
            Memory::Missing => {}
            Memory::Locked => self.writer.execute_batch("BEGIN IMMEDIATE")?,
        }
        Ok(())
    }

    /// Waits for what a row has started.
    pub(super) fn settle(&self, row: &Row) -> Result<()> {
        if matches!(row.starts, Starts::Hook(Memory::Locked)) {
            self.writer.execute_batch("ROLLBACK")?;
        }
        while runs(&self.binary)? {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// Whether a process runs this binary: a housekeeping that a hook has started, and that nobody waits for.
pub(super) fn runs(binary: &Path) -> Result<bool> {
    for process in std::fs::read_dir("/proc")? {
        let exe = process?.path().join("exe");
        if std::fs::read_link(exe).is_ok_and(|exe| exe == binary) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn home(place: &Path, memory: Memory) -> PathBuf {
    place.join(match memory {
        Memory::Usual => "usual",
        Memory::Missing => "missing",
        Memory::Locked => "locked",
    })
}

pub(super) fn now() -> Time {
    let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}

fn rutter(binary: &Path, home: &Path, arguments: &[&str], file: Option<&Path>) -> Result<String> {
    let output =
        Command::new(binary).args(arguments).args(file).env("RUTTER_HOME", home).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
