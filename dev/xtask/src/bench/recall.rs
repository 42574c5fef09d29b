//! `cargo xtask bench recall`: measures the time of a search by a new process, in small and large stores.
//!
//! Every start is a new process, as for a hook; the files are in the page cache. The kinds of queries alternate with a
//! program that does nothing, so that other load affects all of them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rutter_memory::store::DataDir;

mod report;
pub(super) mod seed;

use super::figures::LatencyFigures;
use report::{QueryFigures, RecallBenchReport, StoreFigures};
use seed::{SeededCheckout, Vocabulary};

/// Number of timed starts for each query, and of additional starts for the memory use.
const STARTS_PER_QUERY: usize = 100;
const MEMORY_SAMPLES_PER_QUERY: usize = 10;

/// A store size and its limits.
struct StoreSize {
    documents: u32,
    /// Maximum time from the start of the process to the answer.
    cold: Duration,
    /// Maximum resident memory, in bytes.
    resident: u64,
}

const STORE_SIZES: [StoreSize; 3] = [
    StoreSize { documents: 1_000, cold: Duration::from_millis(3), resident: 25_000_000 },
    StoreSize { documents: 10_000, cold: Duration::from_millis(10), resident: 25_000_000 },
    StoreSize { documents: 100_000, cold: Duration::from_millis(25), resident: 60_000_000 },
];

/// Measures and prints the figures; returns an error if a limit is exceeded.
pub(crate) fn run(root: &Path, json: bool) -> Result<()> {
    ensure!(Path::new("/proc/self/status").exists(), "the bench needs Linux: it looks into /proc");
    let binary = crate::dist::build_release(root)?;
    let vocabulary = Vocabulary::load(root)?;
    let mut report = RecallBenchReport::new(std::fs::metadata(&binary)?.len());
    for size in &STORE_SIZES {
        let world = RecallBenchEnv::new(&binary, &vocabulary, size)?;
        let mut memory = world.measure(&vocabulary)?;
        // Other load may cause a failure: a limit counts as exceeded only if it is exceeded twice.
        if !memory.broken().is_empty() {
            memory = StoreFigures { again: true, ..world.measure(&vocabulary)? };
        }
        memory.added = world.measure_insert(root)?;
        report.memories.push(memory);
    }
    super::print_text(&if json { report.json()? } else { report.table() });
    let broken = report.broken();
    ensure!(broken.is_empty(), "{}", broken.join("\n"));
    Ok(())
}

struct RecallBenchEnv<'a> {
    binary: &'a Path,
    size: &'a StoreSize,
    checkout: PathBuf,
    home: PathBuf,
    /// Time to build the search files.
    folded: Duration,
    _folder: tempfile::TempDir,
}

impl<'a> RecallBenchEnv<'a> {
    fn new(binary: &'a Path, vocabulary: &Vocabulary, size: &'a StoreSize) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().canonicalize()?;
        let home = place.join("memory");
        let SeededCheckout { checkout, rows } = vocabulary.seed_checkout(&place, size.documents)?;
        let mut world =
            Self { binary, size, checkout, home, folded: Duration::ZERO, _folder: folder };
        let import =
            world.run_rutter(&["import", "jsonl", "--own", "--yes", &rows.to_string_lossy()])?;
        ensure!(import.contains(" added"), "{import}");
        let files = DataDir::new(&world.home);
        for path in [files.vectors(), files.terms()] {
            if path.exists() {
                std::fs::remove_file(path)?;
            }
        }
        let from = Instant::now();
        world.run_rutter(&["maintain"])?;
        world.folded = from.elapsed();
        Ok(world)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.binary);
        command.args(arguments).env("RUTTER_HOME", &self.home).current_dir(&self.checkout);
        command.stdin(Stdio::null());
        command
    }

    fn run_rutter(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command(arguments).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    fn measure(&self, vocabulary: &Vocabulary) -> Result<StoreFigures> {
        let queries = vocabulary.queries();
        let mut nothing = Vec::new();
        let mut asked: Vec<(Vec<Duration>, u64, u64)> = vec![Default::default(); queries.len()];
        for turn in 0..STARTS_PER_QUERY + MEMORY_SAMPLES_PER_QUERY {
            nothing.push(time_command(&mut Command::new("/bin/true"))?.0);
            for ((kind, query), seen) in queries.iter().zip(&mut asked) {
                let mut command = self.command(&["recall", query, "--json"]);
                if turn >= STARTS_PER_QUERY {
                    let (resident, own) = sample_memory(&mut command)?;
                    (seen.1, seen.2) = (seen.1.max(resident), seen.2.max(own));
                    continue;
                }
                let (took, answer) = time_command(&mut command)?;
                ensure!(answer.contains("\"rank\""), "nothing was found for {kind}");
                seen.0.push(took);
            }
        }
        let figures = queries.iter().zip(asked).map(|((kind, _), (times, resident, own))| {
            QueryFigures { kind, times: LatencyFigures::from_times(times), resident, own }
        });
        Ok(StoreFigures {
            documents: self.size.documents,
            cold: self.size.cold,
            most_resident: self.size.resident,
            nothing: LatencyFigures::from_times(nothing),
            figures: figures.collect(),
            folded: self.folded,
            added: Duration::ZERO,
            bytes: self.file_sizes()?,
            again: false,
        })
    }

    /// Returns the median time to add a row, measured in an optimised process.
    fn measure_insert(&self, root: &Path) -> Result<Duration> {
        let output = Command::new("cargo")
            .args(["bench", "--quiet", "-p", "rutter-memory", "--bench", "remember", "--"])
            .arg(&self.home)
            .current_dir(root)
            .stderr(Stdio::inherit())
            .output()?;
        ensure!(output.status.success(), "the bench failed");
        let text = String::from_utf8(output.stdout)?;
        let micros: f64 = text.trim().rsplit(' ').next().context("it printed nothing")?.parse()?;
        Ok(Duration::from_secs_f64(micros / 1e6))
    }

    /// Returns the sizes of the database and the search files.
    fn file_sizes(&self) -> Result<[u64; 3]> {
        let files = DataDir::new(&self.home);
        let length = |path: PathBuf| -> Result<u64> {
            Ok(path.metadata().with_context(|| path.display().to_string())?.len())
        };
        Ok([length(files.database())?, length(files.vectors())?, length(files.terms())?])
    }
}

/// Runs a program; returns its time and output.
fn time_command(command: &mut Command) -> Result<(Duration, String)> {
    let from = Instant::now();
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
    let took = from.elapsed();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok((took, String::from_utf8(output.stdout)?))
}

/// Runs a program and samples its memory use; returns the peaks of resident and of anonymous memory.
fn sample_memory(command: &mut Command) -> Result<(u64, u64)> {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let peaks = super::sample_memory(child.id());
    ensure!(child.wait()?.success(), "it failed");
    Ok(peaks)
}
