//! The environment of the bench: a git repository with a remote, and seeded stores.

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

/// WAL size above which the bench checkpoints between rows: just below the size at which a hook starts one.
const FOLD: u64 = 1024 * 1024 - 128 * 1024;
/// Number of failing tests in the red run.
const FAILING: usize = 3;

pub(super) struct World {
    /// The folder of all files.
    place: PathBuf,
    /// A copy of the binary, so that its processes can be recognized by their executable.
    pub(super) binary: PathBuf,
    pub(super) checkout: PathBuf,
    /// The connection that locks the locked store.
    writer: Connection,
    /// Declared after the connection, so that its files are closed before the folder is removed.
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

    /// Records the first occurrence of the known failure: a red run, an edit, a green run.
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

    /// Checks that the rows did their work: every round fixed its failures.
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

    /// Prepares the store of a row.
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

    /// Unlocks the store and waits for background processes of a row.
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

/// Returns true if a process runs this binary, such as background maintenance that a hook has started.
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
