//! `cargo xtask bench mcp`: measures an agent's wait for a tool call, and the cost of an idle server.
//!
//! Clients are threads with sequential calls: first at a pace above that of several agents together, to which the
//! limits apply, then without a pause, to measure the machine's capacity. Over pipes each client has its own server,
//! over HTTP they share one. Afterwards every acknowledged row must exist.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result, ensure};
use rutter_memory::store::{GhapFilter, MemoryFilter};
use rutter_memory::{Store, Time};
use serde_json::{Value, json};

use super::recall::seed::{SeededCheckout, Vocabulary};

mod report;
mod talk;

use super::figures::LatencyFigures;
use report::{McpBenchReport, TransportFigures};
use talk::{McpConnection, McpTransport};

const STORE_ROWS: u32 = 10_000;
const CLIENT_COUNT: usize = 8;
/// Number of calls of each client.
const CALLS_PER_CLIENT: usize = 1_000;
/// Interval between two calls of a client in the paced measurement.
const CALL_INTERVAL: Duration = Duration::from_millis(25);
/// Number of server starts to measure.
const SERVER_STARTS: usize = 100;

/// The tools that a client calls, in a loop. Four of ten write.
const CALL_SEQUENCE: [&str; 10] = [
    "start_ghap",
    "recall_memories",
    "remember",
    "search_experiences",
    "get_ghap",
    "recall_memories",
    "assemble_context",
    "update_ghap",
    "status",
    "resolve_ghap",
];

/// Measures and prints the figures; returns an error if a limit is exceeded.
pub(crate) fn run(root: &Path, json: bool) -> Result<()> {
    ensure!(Path::new("/proc/self/status").exists(), "the bench needs Linux: it looks into /proc");
    let binary = crate::dist::build_release(root)?;
    let vocabulary = Vocabulary::load(root)?;
    let world = McpBenchEnv::new(&binary, &vocabulary)?;
    let (nothing, first) = world.measure_starts()?;
    let mut report = McpBenchReport::new(nothing, first);
    for pace in [Some(CALL_INTERVAL), None] {
        for through in [McpTransport::Pipes, McpTransport::Http] {
            report.transports.push(world.measure(&vocabulary, through, pace)?);
        }
    }
    super::print_text(&if json { report.json()? } else { report.table() });
    let broken = report.exceeded_limits();
    ensure!(broken.is_empty(), "{}", broken.join("\n"));
    Ok(())
}

/// A checkout and a seeded store.
pub(super) struct McpBenchEnv<'a> {
    binary: &'a Path,
    checkout: PathBuf,
    home: PathBuf,
    _folder: tempfile::TempDir,
}

impl<'a> McpBenchEnv<'a> {
    fn new(binary: &'a Path, vocabulary: &Vocabulary) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().canonicalize()?;
        let home = place.join("memory");
        let SeededCheckout { checkout, rows } = vocabulary.seed_checkout(&place, STORE_ROWS)?;
        let world = Self { binary, checkout, home, _folder: folder };
        for arguments in
            [&["import", "jsonl", "--own", "--yes", &rows.to_string_lossy()][..], &["maintain"]]
        {
            let output = world.command(arguments).output()?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(world)
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.binary);
        command.args(arguments).env("RUTTER_HOME", &self.home).current_dir(&self.checkout);
        command.stdin(Stdio::null());
        command
    }

    /// Measures the time from the start of a server to its first answer, and a program that does nothing.
    fn measure_starts(&self) -> Result<(LatencyFigures, LatencyFigures)> {
        let (mut nothing, mut first) = (Vec::new(), Vec::new());
        for _ in 0..SERVER_STARTS {
            let from = Instant::now();
            ensure!(Command::new("/bin/true").status()?.success(), "/bin/true failed");
            nothing.push(from.elapsed());
            let from = Instant::now();
            let mut talk = McpConnection::over_pipes(self)?;
            let (_, answer) = talk.request(&initialize_request())?;
            first.push(from.elapsed());
            ensure!(answer.contains("serverInfo"), "{answer}");
        }
        Ok((LatencyFigures::from_times(nothing), LatencyFigures::from_times(first)))
    }

    fn measure(
        &self,
        vocabulary: &Vocabulary,
        through: McpTransport,
        pace: Option<Duration>,
    ) -> Result<TransportFigures> {
        // Checkpoint the WAL and build the search files, as hooks have it done.
        let tended = self.command(&["maintain"]).output()?;
        ensure!(tended.status.success(), "{}", String::from_utf8_lossy(&tended.stderr));
        let before = self.count_rows()?;
        let server = match through {
            McpTransport::Pipes => None,
            McpTransport::Http => Some(talk::HttpServerProcess::start(self)?),
        };
        let mut talks = Vec::new();
        for client in 0..CLIENT_COUNT {
            self.record_session(&client_name(through, client))?;
            let mut talk = match &server {
                None => McpConnection::over_pipes(self)?,
                Some(server) => McpConnection::over_http(server)?,
            };
            talk.request(&initialize_request())?;
            talk.notify(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
            // Use the server once, so that its resident memory is realistic.
            talk.request(&tool_call_request("status", &json!({}), &client_name(through, client)))?;
            talks.push(talk);
        }
        let process =
            server.as_ref().map_or_else(|| talks[0].process(), |server| Some(server.process()));
        let idle = resident_bytes(process.context("a server is a process")?)?;
        let load = std::fs::read_to_string("/proc/loadavg")?;
        let from = Instant::now();
        let all = std::thread::scope(|scope| {
            let running: Vec<_> = talks
                .iter_mut()
                .enumerate()
                .map(|(client, talk)| {
                    scope.spawn(move || make_calls(talk, vocabulary, through, client, pace))
                })
                .collect();
            let ended = running
                .into_iter()
                .map(|one| one.join().map_err(|_| anyhow::anyhow!("a client broke off"))?);
            ended.collect::<Result<Vec<_>>>()
        })?;
        let took = from.elapsed();
        drop(talks);
        drop(server);
        let after = self.count_rows()?;
        let rounds = CLIENT_COUNT * CALLS_PER_CLIENT / CALL_SEQUENCE.len();
        let gained = (after.0 - before.0, after.1 - before.1);
        ensure!(
            gained == (rounds, rounds),
            "{gained:?} memories and GHAPs are kept of {rounds} each"
        );
        let all: Vec<(&'static str, Duration)> = all.into_iter().flatten().collect();
        let mut names = CALL_SEQUENCE.to_vec();
        names.sort_unstable();
        names.dedup();
        let of = |name: &str| {
            let times = all.iter().filter(|(known, _)| *known == name).map(|(_, time)| *time);
            LatencyFigures::from_times(times.collect())
        };
        Ok(TransportFigures {
            through,
            pace,
            idle,
            took,
            load: load.split(' ').next().unwrap_or_default().to_owned(),
            all: LatencyFigures::from_times(all.iter().map(|(_, time)| *time).collect()),
            tools: names.into_iter().map(|name| (name, of(name))).collect(),
        })
    }

    /// Runs the hook that a client runs before a call; it records the session of the call.
    fn record_session(&self, name: &str) -> Result<()> {
        let payload = json!({
            "hook_event_name": "PreToolUse", "session_id": format!("session {name}"), "transcript_path": "/nowhere",
            "cwd": self.checkout, "permission_mode": "default", "tool_name": "mcp__rutter__status", "tool_input": {},
            "tool_use_id": name,
        });
        let mut hook = self.command(&["hook"]).stdin(Stdio::piped()).spawn()?;
        hook.stdin.take().context("piped")?.write_all(payload.to_string().as_bytes())?;
        ensure!(hook.wait()?.success(), "a hook failed");
        Ok(())
    }

    /// Counts the memories and the resolved GHAPs.
    fn count_rows(&self) -> Result<(usize, usize)> {
        let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let now = Time::from_millis(i64::try_from(age.as_millis())?);
        let store = Store::open(&self.home, now)?;
        let memories = store.memories(&MemoryFilter::default())?;
        let ghaps = store.ghaps(&GhapFilter::default(), now)?;
        Ok((memories.len(), ghaps.iter().filter(|ghap| ghap.resolution.is_some()).count()))
    }
}

/// Makes all calls of a client, one after another.
fn make_calls(
    talk: &mut McpConnection,
    vocabulary: &Vocabulary,
    through: McpTransport,
    client: usize,
    pace: Option<Duration>,
) -> Result<Vec<(&'static str, Duration)>> {
    let mut times = Vec::with_capacity(CALLS_PER_CLIENT);
    // Agents do not work in step: spread paced clients evenly over the interval.
    let share = u32::try_from(client)? * pace.unwrap_or_default() / u32::try_from(CLIENT_COUNT)?;
    let mut next = Instant::now() + share;
    for (number, tool) in (0..CALLS_PER_CLIENT).zip(CALL_SEQUENCE.iter().copied().cycle()) {
        let sentence = vocabulary.sentence((client * CALLS_PER_CLIENT + number) as u64);
        let message = tool_call_request(
            tool,
            &tool_arguments(tool, &sentence, client, number),
            &client_name(through, client),
        );
        if let Some(pace) = pace {
            // A late client does not catch up.
            next = (next + pace).max(Instant::now());
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        let (took, answer) = talk.request(&message)?;
        ensure!(answer.contains("\"isError\":false"), "{tool}: {answer}");
        times.push((tool, took));
    }
    Ok(times)
}

fn tool_arguments(tool: &str, sentence: &str, client: usize, number: usize) -> Value {
    match tool {
        "start_ghap" => json!({
            "domain": "debugging", "strategy": "read-the-error", "goal": sentence, "hypothesis": "the timeout is too short",
            "action": "raise it", "prediction": "`cargo test cache` passes",
        }),
        "update_ghap" => json!({ "note": sentence }),
        "resolve_ghap" => json!({
            "status": "falsified", "result": "it still fails", "surprise": sentence,
            "root_cause": { "category": "oversight", "description": "the size is counted before the eviction" },
            "lesson": { "takeaway": sentence },
        }),
        "remember" => {
            json!({ "content": format!("{client}/{number}: {sentence}"), "category": "fact" })
        }
        "status" | "get_ghap" => json!({}),
        _ => json!({ "query": sentence }),
    }
}

fn client_name(through: McpTransport, client: usize) -> String {
    format!("{through:?}-{client}")
}

fn initialize_request() -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" },
    }})
}

fn tool_call_request(tool: &str, arguments: &Value, tool_use: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments, "_meta": { "claudecode/toolUseId": tool_use },
    }})
}

/// Returns the resident memory of a process, in bytes.
fn resident_bytes(process: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024)
}
