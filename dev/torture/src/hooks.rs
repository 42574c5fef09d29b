//! Crash test of the real hook: starts `rutter hook` processes, kills them, and checks the rows that are left.
//!
//! Several sessions report failing test runs at the same time, each one call after the other, while a maintenance
//! process runs. In every fourth round the database is locked, so that hooks use the spool. At a random moment all
//! processes are killed, including workers and maintenance that the hooks have started. A call is acknowledged if its
//! process ended by itself with exit code 0. Every acknowledged call must be in the store exactly once, and the calls of
//! a session in their order.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use rusqlite::Connection;
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process, kill_process_group, set_child_subreaper, waitpid,
};
use rutter_memory::Store;
use rutter_memory::store::maintain::maintain;
use rutter_memory::store::{DataDir, ExportRecord, doctor, spool};

use crate::{KillTimer, is_verified_after, system_time, unlimited_bounds};

/// Longest time after which the processes of a round are killed. Long enough for a few calls of each session.
const MAX_ROUND_MICROS: u64 = 100_000;

/// Number of rounds of which one runs with a locked database.
const ROUNDS_PER_LOCK: u32 = 4;

/// Longest duration of a round with a locked database: a hook waits for the lock before it uses the spool.
const MAX_LOCKED_ROUND_MICROS: u64 = 400_000;

/// Interval at which a process is checked for its end.
const WAIT_INTERVAL: Duration = Duration::from_micros(200);

/// Retention that deletes nothing: a missing run must be a lost one.
const CONFIGURATION: &str = "[retention]\noutcome_days = 36500\noutcomes = 10000000\n";

/// The parameters of a crash test of hooks.
#[derive(Debug, Clone)]
pub struct HookTorturePlan {
    /// The `rutter` binary.
    pub rutter: PathBuf,
    /// An empty folder for the store and the project.
    pub folder: PathBuf,
    /// Number of rounds; each round kills all processes.
    pub rounds: u32,
    /// Number of concurrent sessions.
    pub sessions: u32,
    /// The seed of the random kill times.
    pub seed: u64,
}

/// The counts of a crash test of hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HookTortureCounts {
    /// Number of killed hooks.
    pub hook_kills: u64,
    /// Number of other killed processes: maintenance, and what the hooks had started.
    pub other_kills: u64,
    /// Number of acknowledged calls.
    pub acknowledged: u64,
    /// Number of stored calls without acknowledgement: their process was killed before it could end.
    pub unacknowledged: u64,
    /// Number of rounds after which entries waited in the spool.
    pub rounds_with_spool: u64,
}

impl HookTorturePlan {
    fn memory(&self) -> PathBuf {
        self.folder.join("memory")
    }

    fn project(&self) -> PathBuf {
        self.folder.join("ship")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.rutter);
        command
            .args(arguments)
            .env_clear()
            .env("RUTTER_HOME", self.memory())
            .env("HOME", &self.folder)
            .env("PATH", "/usr/bin:/bin")
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A hook forks a worker, which must be killed with it.
            .process_group(0);
        command
    }
}

/// Runs the rounds; returns an error if an acknowledged call is missing, stored twice, or out of order.
///
/// Kills every child of this process, so the process must have no others.
pub fn run_hook_rounds(
    plan: &HookTorturePlan,
    mut progress: impl FnMut(u32),
) -> anyhow::Result<HookTortureCounts> {
    // Processes that outlive their hook become children of this one, which can then find and kill them.
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let files = DataDir::new(plan.memory());
    files.make_folder()?;
    std::fs::create_dir_all(plan.project())?;
    std::fs::write(plan.memory().join("config.toml"), CONFIGURATION)?;
    let mut random = KillTimer(plan.seed);
    let mut counts = HookTortureCounts::default();
    let mut sessions: Vec<SessionCalls> = (0..plan.sessions).map(SessionCalls::new).collect();
    for round in 0..plan.rounds {
        let lock = if round % ROUNDS_PER_LOCK == ROUNDS_PER_LOCK - 1 {
            Some(lock_database(&plan.memory())?)
        } else {
            None
        };
        let longest = if lock.is_some() { MAX_LOCKED_ROUND_MICROS } else { MAX_ROUND_MICROS };
        let until = Instant::now() + Duration::from_micros(random.below(longest));
        let mut tending = plan.command(&["tend"]).spawn().context("start maintenance")?;
        std::thread::scope(|scope| {
            let running: Vec<_> = sessions
                .iter_mut()
                .map(|session| scope.spawn(|| session.call_until(plan, until)))
                .collect();
            running
                .into_iter()
                .try_for_each(|thread| thread.join().map_err(|_| anyhow::anyhow!("a panic"))?)
        })
        .with_context(|| format!("in round {round}"))?;
        counts.other_kills += u64::from(wait_or_kill(&mut tending, until)?.code().is_none());
        counts.other_kills += kill_children()?;
        drop(lock);
        crate::ensure_fingerprinted(&plan.memory()).with_context(|| format!("in round {round}"))?;
        counts.rounds_with_spool += u64::from(spool::total_bytes(&files)? > 0);
        // Maintenance that is always killed never checkpoints the WAL; this one runs to its end.
        let tended = plan.command(&["tend"]).status()?;
        ensure!(tended.success(), "maintenance failed after round {round}: {tended}");
        if is_verified_after(round, plan.rounds) {
            counts.unacknowledged =
                verify_calls(plan, &sessions).with_context(|| format!("after round {round}"))?;
        }
        progress(round);
    }
    for session in &sessions {
        counts.hook_kills += session.kills;
        counts.acknowledged += session.acknowledged.len() as u64;
    }
    ensure!(
        counts.acknowledged > 0,
        "every hook was killed before it ended, so nothing was tested"
    );
    Ok(counts)
}

/// Locks the database against writers until the connection is dropped.
fn lock_database(memory: &Path) -> anyhow::Result<Connection> {
    let connection = Connection::open(DataDir::new(memory).database())?;
    // A process of an earlier round has ended, but a reader may still be closing its file.
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    Ok(connection)
}

/// The calls of one session.
struct SessionCalls {
    client: String,
    /// The number of the next call.
    next: u64,
    acknowledged: BTreeSet<u64>,
    kills: u64,
}

impl SessionCalls {
    fn new(number: u32) -> Self {
        Self {
            client: format!("session-{number}"),
            next: 0,
            acknowledged: BTreeSet::new(),
            kills: 0,
        }
    }

    /// Starts one hook after the other, and kills the last one.
    fn call_until(&mut self, plan: &HookTorturePlan, until: Instant) -> anyhow::Result<()> {
        while Instant::now() < until {
            let number = self.next;
            self.next += 1;
            let mut hook = plan.command(&["hook"]).spawn().context("start a hook")?;
            let mut stdin = hook.stdin.take().context("piped")?;
            stdin.write_all(&payload(&self.client, &plan.project(), number))?;
            drop(stdin);
            match wait_or_kill(&mut hook, until)?.code() {
                Some(0) => {
                    self.acknowledged.insert(number);
                }
                Some(code) => bail!("a hook ended with exit code {code}"),
                None => self.kills += 1,
            }
        }
        Ok(())
    }
}

/// Waits for the end of a process, or kills its process group at the given time.
fn wait_or_kill(child: &mut Child, until: Instant) -> anyhow::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= until {
            // Not yet waited for, so the number is still its own.
            kill_process_group(pid(child.id())?, Signal::KILL)?;
            return Ok(child.wait()?);
        }
        std::thread::sleep(WAIT_INTERVAL);
    }
}

fn pid(number: u32) -> anyhow::Result<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw).context("no process id")
}

/// Kills all children of this process, which are what hooks have started, and returns the number of those that were
/// still running.
fn kill_children() -> anyhow::Result<u64> {
    let mut kills = 0;
    loop {
        let children = children()?;
        if children.is_empty() {
            return Ok(kills);
        }
        for child in children {
            kill_process(child, Signal::KILL)?;
            if let Some((_, status)) = waitpid(Some(child), WaitOptions::empty())? {
                kills += u64::from(status.signaled());
            }
        }
    }
}

/// Returns the children of this process.
fn children() -> anyhow::Result<Vec<Pid>> {
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let entry = entry?;
        let Ok(number) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        // A process that has ended has no file.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name in parentheses may contain anything; state and parent follow it.
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        if parent == Some(&own) {
            found.push(pid(number)?);
        }
    }
    Ok(found)
}

/// Returns the payload for a failing test run, with the number of the call in its command.
fn payload(client: &str, project: &Path, number: u64) -> Vec<u8> {
    // Enough text to span several pages, so that a kill can hit between them.
    let tests: Vec<String> = (0..8)
        .map(|test| format!("sails::of_the_ship::number_{test}::of_a_rather_long_name"))
        .collect();
    let mut output = format!("Exit code 101\n\nrunning {} tests\n", tests.len());
    for test in &tests {
        let _ = writeln!(output, "test {test} ... FAILED");
    }
    output += "\nfailures:\n\n";
    for test in &tests {
        let _ = write!(
            output,
            "---- {test} stdout ----\nthread '{test}' panicked at src/sails.rs:7:5:\nthe mast is missing\n\n"
        );
    }
    let _ = write!(output, "\nfailures:\n    {}\n\n", tests.join("\n    "));
    let _ = writeln!(
        output,
        "test result: FAILED. 0 passed; {} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        tests.len()
    );
    let payload = serde_json::json!({
        "hook_event_name": "PostToolUseFailure",
        "session_id": client,
        "cwd": project,
        "tool_name": "Bash",
        "tool_use_id": format!("{client}-{number}"),
        "tool_input": { "command": format!("CALL={number} cargo test") },
        "error": output,
        "is_interrupt": false,
    });
    payload.to_string().into_bytes()
}

/// Returns the number of a call by its command.
fn call_number(command: &str) -> Option<u64> {
    command.strip_prefix("CALL=")?.split(' ').next()?.parse().ok()
}

/// Checks that every acknowledged call is stored once and in order, and returns the number of other stored calls.
fn verify_calls(plan: &HookTorturePlan, sessions: &[SessionCalls]) -> anyhow::Result<u64> {
    let memory = plan.memory();
    maintain(&memory, &unlimited_bounds(), system_time())?.context("maintenance is running")?;
    let health = doctor::check_store(&memory)?;
    ensure!(health.findings.is_empty(), "{:?}", health.findings);
    ensure!(health.spool == 0, "the spool was not drained");
    // The export has the runs in the order in which they were stored.
    let mut stored: HashMap<String, Vec<u64>> = HashMap::new();
    Store::open(&memory, system_time())?.export::<anyhow::Error>(None, |record| {
        if let ExportRecord::Outcome(outcome) = record {
            let client = outcome.session.as_ref().context("a run without session")?;
            let number = call_number(&outcome.command)
                .with_context(|| format!("a strange command: {}", outcome.command.as_str()))?;
            stored.entry(client.to_string()).or_default().push(number);
        }
        Ok(())
    })?;
    let mut unacknowledged = 0;
    for SessionCalls { client, acknowledged, .. } in sessions {
        let calls = stored.remove(client).unwrap_or_default();
        for pair in calls.windows(2) {
            ensure!(pair[0] != pair[1], "call {} of {client} is stored twice", pair[0]);
            ensure!(pair[0] < pair[1], "{client}: call {} is stored before {}", pair[0], pair[1]);
        }
        let calls: BTreeSet<u64> = calls.into_iter().collect();
        let missing: Vec<u64> = acknowledged.difference(&calls).copied().collect();
        ensure!(
            missing.is_empty(),
            "{} of {} acknowledged calls of {client} are missing: {missing:?}",
            missing.len(),
            acknowledged.len()
        );
        unacknowledged += (calls.len() - acknowledged.len()) as u64;
    }
    ensure!(stored.is_empty(), "runs of unknown sessions: {:?}", stored.keys());
    Ok(unacknowledged)
}
