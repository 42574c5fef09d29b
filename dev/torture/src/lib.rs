//! Crash tests of the store: kill processes during their work and check the remaining data.
//!
//! [`hooks`] kills the real `rutter hook`. The rest of this file kills writers that use the library, which is faster. A
//! writer records entries like a hook and prints the acknowledged ids to stdout. It is killed at a random moment,
//! together with the other writers and the maintenance process. Afterwards every acknowledged entry must exist exactly
//! once. Entries are written in pairs, a call and a run: equal numbers of calls and runs show that no pair was half
//! written and none drained twice.

#![allow(clippy::disallowed_methods, reason = "this is a program with a clock of its own")]

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, ensure};
use rutter_memory::outcome::{Outcome, RunKind, Verdict};
use rutter_memory::project::LocatedProject;
use rutter_memory::store::entry::{EntryKind, ProjectPlace, SessionEntry};
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::recorder::{EntryDestination, Recorder};
use rutter_memory::store::{DataDir, ExportRecord};
use rutter_memory::{Clean, Id, Store, Time};

/// Returns the current system time.
pub fn system_time() -> Time {
    let millis =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |age| age.as_millis());
    Time::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

pub mod hooks;

/// Longest time after which the processes of a round are killed.
const MAX_ROUND_MICROS: u64 = 40_000;

/// Returns true if the store is verified after a round. Verifying reads the whole growing store: often at first, then
/// rarely.
fn is_verified_after(round: u32, rounds: u32) -> bool {
    round < 50 || round.is_multiple_of(50) || round + 1 == rounds
}

/// Time limit of a write, like that of a hook on a tool call. Half of it may be spent waiting.
const WRITE_TIMEOUT: Duration = Duration::from_millis(50);

/// Number of pairs that a writer records before it only waits to be killed: enough for any moment of a kill, and few
/// enough to stay below the limits of WAL and spool.
const PAIRS_PER_WRITER: &str = "200";

/// Records a number of pairs of entries, and prints each acknowledged id with its destination: `stored` or `spooled`.
pub fn write_entries(folder: &Path, client: &str, count: u64) -> anyhow::Result<()> {
    let files = rutter_memory::store::DataDir::new(folder);
    let place = ProjectPlace::from(&LocatedProject::find(folder));
    let mut out = std::io::stdout().lock();
    for _ in 0..count {
        let (now, client) = (system_time(), Clean::new(client));
        let outcome = test_outcome(&place, &client, now);
        let id = outcome.id;
        let entry = |kind| SessionEntry {
            client: client.clone(),
            place: place.clone(),
            process: None,
            at: now,
            kind,
        };
        let entries =
            [entry(EntryKind::Called(None)), entry(EntryKind::Ran(Box::new(outcome.into())))];
        let recorded = Recorder::new(&files, WRITE_TIMEOUT)
            .record(&entries)
            .context("an entry was refused")?;
        let place = if matches!(recorded, EntryDestination::Stored) { "stored" } else { "spooled" };
        // A single write, so that a kill cannot leave half a line.
        out.write_all(format!("{id} {place}\n").as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

fn test_outcome(place: &ProjectPlace, client: &Clean, now: Time) -> Outcome {
    Outcome {
        id: Id::new(now),
        project: place.key.clone(),
        session: Some(client.clone()),
        agent: None,
        command: Clean::new("cargo test"),
        kind: RunKind::Test,
        runner: Clean::new("cargo test"),
        verdict: Verdict::Failed,
        counts: None,
        // Long enough to span several pages, so that a kill can hit between them.
        failing: (0..64)
            .map(|n| Clean::new(&format!("a::test::number_{n}::of_a_rather_long_name")))
            .collect(),
        signature: None,
        exit: Some(101),
        duration: Some(12),
        at: now,
    }
}

/// Returns bounds without retirement: a missing run must be a lost one.
fn unlimited_bounds() -> MaintenanceLimits {
    MaintenanceLimits {
        outcomes: u32::MAX,
        outcome_age: Duration::MAX,
        ..MaintenanceLimits::default()
    }
}

/// Maintains the store until it is killed.
pub fn maintain_until_killed(folder: &Path) -> anyhow::Result<()> {
    loop {
        maintain(folder, &unlimited_bounds(), system_time())?;
    }
}

/// The parameters of a crash test.
#[derive(Debug, Clone)]
pub struct TorturePlan {
    /// This program, to start the writers and the maintenance process.
    pub program: PathBuf,
    /// The data directory of the store.
    pub folder: PathBuf,
    /// Number of rounds; each round kills all processes.
    pub rounds: u32,
    /// Number of concurrent writers.
    pub writers: u32,
    /// The seed of the random kill times.
    pub seed: u64,
}

/// The counts of a crash test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TortureCounts {
    /// Number of killed processes.
    pub kills: u64,
    /// Number of acknowledged entries in the database.
    pub stored: u64,
    /// Number of acknowledged entries in the spool.
    pub spooled: u64,
    /// Number of existing entries without acknowledgement: their writer was killed before it could print the id.
    pub unacknowledged: u64,
}

/// Runs the rounds; returns an error if an acknowledged entry is missing.
pub fn run_rounds(
    plan: &TorturePlan,
    mut progress: impl FnMut(u32),
) -> anyhow::Result<TortureCounts> {
    let mut random = KillTimer(plan.seed);
    let mut toll = TortureCounts::default();
    let mut acknowledged = HashSet::new();
    for round in 0..plan.rounds {
        let start = |arguments: &[&str]| {
            Command::new(&plan.program)
                .args(arguments)
                .arg(&plan.folder)
                .stdout(Stdio::piped())
                .spawn()
                .context("start")
        };
        let mut children = vec![start(&["tend"])?];
        for writer in 0..plan.writers {
            children.push(start(&["write", PAIRS_PER_WRITER, &format!("writer-{writer}")])?);
        }
        // Not a wait for a race: the test tries out random kill times.
        std::thread::sleep(Duration::from_micros(random.below(MAX_ROUND_MICROS)));
        for child in &mut children {
            child.kill()?;
        }
        for child in children {
            toll.kills += 1;
            collect_acknowledged(child, &mut acknowledged, &mut toll)?;
        }
        // A maintenance process that is always killed never checkpoints the WAL; this one runs to its end.
        maintain(&plan.folder, &unlimited_bounds(), system_time())?;
        if is_verified_after(round, plan.rounds) {
            verify_store(&plan.folder, &acknowledged, &mut toll)
                .with_context(|| format!("after round {round}"))?;
        }
        progress(round);
    }
    Ok(toll)
}

/// Reads the entries that a process acknowledged before its death.
fn collect_acknowledged(
    mut child: Child,
    acknowledged: &mut HashSet<Id>,
    toll: &mut TortureCounts,
) -> anyhow::Result<()> {
    let out = child.stdout.take().context("piped")?;
    let status = child.wait()?;
    ensure!(status.code().is_none(), "a process ended by itself: {status}");
    for line in BufReader::new(out).lines() {
        let line = line?;
        let (id, place) = line.split_once(' ').context("half a line")?;
        acknowledged.insert(id.parse().map_err(|_| anyhow::anyhow!("no id: {id}"))?);
        match place {
            "stored" => toll.stored += 1,
            _ => toll.spooled += 1,
        }
    }
    Ok(())
}

/// Checks that the fingerprint file has every row that hooks look for. Runs before maintenance, which rebuilds the file.
pub(crate) fn ensure_fingerprinted(folder: &Path) -> anyhow::Result<()> {
    let files = DataDir::new(folder);
    let health = rutter_memory::store::doctor::check_store(folder)?;
    let lacking = health.findings.iter().any(|one| one.file == Some(files.fingerprints()));
    ensure!(!lacking, "the fingerprint file lacks a row");
    Ok(())
}

/// Checks that every acknowledged entry exists once and complete.
#[expect(clippy::implicit_hasher, reason = "only this crate calls it")]
pub fn verify_store(
    folder: &Path,
    acknowledged: &HashSet<Id>,
    toll: &mut TortureCounts,
) -> anyhow::Result<()> {
    ensure_fingerprinted(folder)?;
    maintain(folder, &unlimited_bounds(), system_time())?
        .context("somebody else tends the store")?;
    let health = rutter_memory::store::doctor::check_store(folder)?;
    ensure!(health.findings.is_empty(), "{:?}", health.findings);
    ensure!(health.spool == 0, "the spool was not drained");
    let mut runs: HashMap<Clean, u64> = HashMap::new();
    let mut calls: HashMap<Clean, u64> = HashMap::new();
    let mut there = HashSet::new();
    Store::open(folder, system_time())?.export::<anyhow::Error>(None, |record| {
        match record {
            ExportRecord::Session(session) => {
                calls.insert(session.client.clone(), session.calls);
            }
            ExportRecord::Outcome(outcome) => {
                ensure!(there.insert(outcome.id), "a run is there twice");
                *runs
                    .entry(outcome.session.clone().context("a run without session")?)
                    .or_default() += 1;
            }
            _ => {}
        }
        Ok(())
    })?;
    let missing = acknowledged.difference(&there).count();
    ensure!(missing == 0, "{missing} of {} acknowledged entries are missing", acknowledged.len());
    ensure!(calls == runs, "calls and runs differ: {calls:?} {runs:?}");
    toll.unacknowledged = (there.len() - acknowledged.len()) as u64;
    Ok(())
}

/// SplitMix64: the same seed gives the same kill times.
struct KillTimer(u64);

impl KillTimer {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}
