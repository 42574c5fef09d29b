//! The environment of the bench: a git repository with a remote, and seeded stores.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};
use rusqlite::Connection;
use rutter_memory::episode::EpisodeEndingKind;
use rutter_memory::project::LocatedProject;
use rutter_memory::store::{DataDir, EpisodeFilter};
use rutter_memory::{Store, Time};

use super::super::run_git;
use super::payloads::BenchPayloads;
use super::rows::{BenchStore, HookRow, StartedProgram};
use super::seed;

/// WAL size above which the bench checkpoints between rows: just below the size at which a hook starts one.
const CHECKPOINT_WAL_BYTES: u64 = 1024 * 1024 - 128 * 1024;
/// Number of failing tests in the red run.
const FAILING_TESTS: usize = 3;

pub(super) struct HookBenchEnv {
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

impl HookBenchEnv {
    pub(super) fn new(root: &Path) -> Result<Self> {
        ensure!(
            Path::new("/proc/self/status").exists(),
            "the bench needs Linux: it looks into /proc"
        );
        let built = crate::dist::build_release(root)?;
        let folder = tempfile::tempdir()?;
        let place = folder.path().canonicalize()?;
        let (binary, checkout) = (place.join("rutter"), place.join("ship"));
        std::fs::copy(built, &binary)?;
        run_git(&place, &["init", "--quiet", "ship"])?;
        run_git(&checkout, &["remote", "add", "origin", "https://github.com/ada/ship.git"])?;
        std::fs::write(
            checkout.join("shop.py"),
            "def discount(price, percent):\n    return price\n",
        )?;

        let rows = place.join("seed.jsonl");
        let mut out = BufWriter::new(File::create(&rows)?);
        seed::write_seed(&LocatedProject::find(&checkout), system_time(), &mut out)?;
        out.flush()?;
        for memory in [BenchStore::Usual, BenchStore::Locked] {
            let import = run_rutter(
                &binary,
                &store_folder(&place, memory),
                &["import", "jsonl", "--own", "--yes"],
                Some(&rows),
            )?;
            ensure!(import.contains(" added"), "{import}");
            run_rutter(&binary, &store_folder(&place, memory), &["maintain"], None)?;
        }
        let writer =
            Connection::open(DataDir::new(store_folder(&place, BenchStore::Locked)).database())?;
        Ok(Self { place, binary, checkout, writer, _folder: folder })
    }

    pub(super) fn store_folder_of(&self, memory: BenchStore) -> PathBuf {
        store_folder(&self.place, memory)
    }

    /// Records the first occurrence of the known failure: a red run, an edit, a green run.
    pub(super) fn record_first_failure(&self, told: &BenchPayloads) -> Result<()> {
        for payload in [told.failed_as_before(0), told.edited(), told.passed_as_before()] {
            let mut hook = Command::new(&self.binary)
                .arg("hook")
                .env("RUTTER_HOME", self.store_folder_of(BenchStore::Usual))
                .stdin(Stdio::piped())
                .spawn()?;
            hook.stdin.take().context("piped")?.write_all(&payload)?;
            ensure!(hook.wait()?.success(), "a hook failed");
        }
        let fixed = self.count_fixed_episodes()?;
        ensure!(
            fixed == seed::EPISODE_COUNT as usize + FAILING_TESTS,
            "{fixed} episodes are fixed"
        );
        Ok(())
    }

    /// Checks that the rows did their work: every round fixed its failures.
    pub(super) fn ensure_fixes_recorded(&self, rounds: usize) -> Result<()> {
        let (fixed, expected) = (
            self.count_fixed_episodes()?,
            seed::EPISODE_COUNT as usize + FAILING_TESTS * (rounds + 1),
        );
        ensure!(fixed == expected, "{fixed} episodes are fixed, not {expected}");
        Ok(())
    }

    fn count_fixed_episodes(&self) -> Result<usize> {
        let store = Store::open(&self.store_folder_of(BenchStore::Usual), system_time())?;
        let filter =
            EpisodeFilter { how: Some(EpisodeEndingKind::Fixed), ..EpisodeFilter::default() };
        Ok(store.episodes(&filter)?.len())
    }

    /// Prepares the store of a row.
    pub(super) fn prepare(&self, row: &HookRow) -> Result<()> {
        let StartedProgram::Hook(memory) = row.starts else { return Ok(()) };
        let home = self.store_folder_of(memory);
        match memory {
            BenchStore::Usual => {
                let wal = DataDir::new(&home).wal();
                if wal.metadata().is_ok_and(|wal| wal.len() > CHECKPOINT_WAL_BYTES) {
                    run_rutter(&self.binary, &home, &["maintain"], None)?;
                }
            }
            BenchStore::Missing if home.exists() => std::fs::remove_dir_all(&home)?,
            BenchStore::Missing => {}
            BenchStore::Locked => self.writer.execute_batch("BEGIN IMMEDIATE")?,
        }
        Ok(())
    }

    /// Unlocks the store and waits for background processes of a row.
    pub(super) fn wait_for_children(&self, row: &HookRow) -> Result<()> {
        if matches!(row.starts, StartedProgram::Hook(BenchStore::Locked)) {
            self.writer.execute_batch("ROLLBACK")?;
        }
        while is_running(&self.binary)? {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// Returns true if a process runs this binary, such as background maintenance that a hook has started.
pub(super) fn is_running(binary: &Path) -> Result<bool> {
    for process in std::fs::read_dir("/proc")? {
        let exe = process?.path().join("exe");
        if std::fs::read_link(exe).is_ok_and(|exe| exe == binary) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn store_folder(place: &Path, memory: BenchStore) -> PathBuf {
    place.join(match memory {
        BenchStore::Usual => "usual",
        BenchStore::Missing => "missing",
        BenchStore::Locked => "locked",
    })
}

pub(super) fn system_time() -> Time {
    let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}

fn run_rutter(
    binary: &Path,
    home: &Path,
    arguments: &[&str],
    file: Option<&Path>,
) -> Result<String> {
    let output =
        Command::new(binary).args(arguments).args(file).env("RUTTER_HOME", home).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
