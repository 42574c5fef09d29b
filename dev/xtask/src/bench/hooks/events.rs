//! A client's wait for a hook, from the start of the process to its end: every event that we answer, with stores of
//! several sizes.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rutter_contract::{EventName, payload};
use rutter_memory::Store;
use serde_json::{Value, json};

use super::world::system_time;
use crate::bench::figures::{LatencyFigures, micros};
use crate::bench::format_millis;
use crate::bench::recall::seed::{SeededCheckout, Vocabulary};

/// Sizes of the stores, in documents.
const STORE_SIZES: [u32; 4] = [0, 1_000, 10_000, 100_000];
/// Number of starts for each event.
const STARTS_PER_EVENT: usize = 60;
/// Number of concurrent hooks.
const CONCURRENT_HOOKS: usize = 32;
/// Maximum slowdown of concurrent hooks by the 95th percentile: compared with a single hook or, on a machine with too
/// few cores for that, with as many concurrent programs that do nothing.
const MAX_SLOWDOWN: u32 = 5;
/// Ids of a session with an open GHAP, and of one without.
const BUSY_SESSION: &str = "busy-session";
const IDLE_SESSION: &str = "idle-session";

/// An event and its limits for the 95th percentile.
#[derive(Clone, Copy)]
struct EventRow {
    name: &'static str,
    /// The limit in the original specification of the hooks.
    asked: &'static str,
    budget: Duration,
    /// The limit with the largest store.
    large_store_budget: Duration,
    payload: fn(&EventBenchEnv, usize) -> Value,
    /// Text that the output must contain, so that the row measures the named behaviour.
    expected_text: Option<&'static str>,
}

const fn event_row(
    name: &'static str,
    asked: &'static str,
    budget: u64,
    payload: fn(&EventBenchEnv, usize) -> Value,
) -> EventRow {
    let budget = Duration::from_millis(budget);
    EventRow { name, asked, budget, large_store_budget: budget, payload, expected_text: None }
}

const fn with_recall_limit(row: EventRow) -> EventRow {
    EventRow { large_store_budget: Duration::from_millis(25), ..row }
}

const fn with_expected_text(row: EventRow, what: &'static str) -> EventRow {
    EventRow { expected_text: Some(what), ..row }
}

const EVENT_ROWS: [EventRow; 12] = [
    with_expected_text(
        event_row("SessionStart, startup", "500 ms", 15, EventBenchEnv::session_start_payload),
        "ghap start",
    ),
    with_recall_limit(event_row("UserPromptSubmit, nothing fits", "200 ms", 10, |world, _| {
        world.prompt_payload(IDLE_SESSION, "thanks, that is all for today")
    })),
    with_recall_limit(event_row("UserPromptSubmit, recalls", "200 ms", 10, |world, round| {
        world.prompt_payload(&format!("guest-{round}"), &world.sentence)
    })),
    event_row("PreToolUse, no GHAP is active", "50 ms", 4, |world, _| {
        world.read_payload(IDLE_SESSION)
    }),
    with_expected_text(
        event_row("PreToolUse, counts and asks", "50 ms", 4, |world, _| {
            world.read_payload(BUSY_SESSION)
        }),
        "check-in",
    ),
    with_recall_limit(event_row("PreToolUse of `Agent`, recalls", "50 ms", 10, |world, _| {
        world.agent_payload()
    })),
    event_row(
        "PostToolUseFailure, compared with a prediction",
        "100 ms",
        10,
        EventBenchEnv::failed_run_payload,
    ),
    event_row("PostToolUse, an edit", "100 ms", 4, |world, _| world.edit_payload()),
    event_row("SubagentStart", "–", 10, |world, _| world.subagent_payload()),
    event_row("PreCompact", "–", 10, |world, _| {
        world.captured_payload(EventName::PreCompact, BUSY_SESSION)
    }),
    event_row("Stop", "–", 4, |world, _| world.captured_payload(EventName::Stop, BUSY_SESSION)),
    event_row("SessionEnd", "–", 10, |world, round| {
        world.captured_payload(EventName::SessionEnd, &format!("guest-{round}"))
    }),
];

/// The figures for one store.
struct EventFigures {
    documents: u32,
    nothing: Duration,
    /// The times of each row.
    rows: Vec<LatencyFigures>,
    at_once: ConcurrencyFigures,
}

/// The 95th percentiles of a single hook, of concurrent hooks, and of concurrent programs that do nothing.
#[derive(Clone, Copy)]
struct ConcurrencyFigures {
    alone: Duration,
    together: Duration,
    nothing: Duration,
}

/// The figures for all stores.
pub(super) struct EventBenchReport(Vec<EventFigures>);

/// Measures with stores of every size.
pub(super) fn measure(root: &Path, binary: &Path) -> Result<EventBenchReport> {
    let vocabulary = Vocabulary::load(root)?;
    let measured = STORE_SIZES.iter().map(|size| {
        let world = EventBenchEnv::new(binary, &vocabulary, *size)?;
        let figures = world.measure()?;
        // Other load may cause a failure: a limit counts as exceeded only if it is exceeded twice.
        if figures.broken().is_empty() { Ok(figures) } else { world.measure() }
    });
    Ok(EventBenchReport(measured.collect::<Result<_>>()?))
}

struct EventBenchEnv {
    binary: PathBuf,
    checkout: PathBuf,
    home: PathBuf,
    size: u32,
    sentence: String,
    _folder: tempfile::TempDir,
}

impl EventBenchEnv {
    fn new(binary: &Path, vocabulary: &Vocabulary, size: u32) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().canonicalize()?;
        let home = place.join("memory");
        let SeededCheckout { checkout, rows } = vocabulary.seed_checkout(&place, size)?;
        let [(_, sentence), ..] = vocabulary.queries();
        let world =
            Self { binary: place.join("rutter"), checkout, home, size, sentence, _folder: folder };
        std::fs::copy(binary, &world.binary)?;
        world.run_rutter(&["import", "jsonl", "--own", "--yes", &rows.to_string_lossy()], None)?;
        std::fs::write(world.home.join("config.toml"), "[hooks.ghap_checkin]\nfrequency = 1\n")?;
        let start = [
            "ghap",
            "start",
            "--domain",
            "debugging",
            "--strategy",
            "read-the-error",
            "--goal",
            "the suite is green",
            "--hypothesis",
            "the price is rounded twice",
            "--action",
            "round once",
            "--prediction",
            "`python -m pytest` passes",
        ];
        world.run_rutter(&start, Some(BUSY_SESSION))?;
        world.run_rutter(&["maintain"], None)?;
        Ok(world)
    }

    fn run_rutter(&self, arguments: &[&str], session: Option<&str>) -> Result<()> {
        let mut command = Command::new(&self.binary);
        command.args(arguments).env("RUTTER_HOME", &self.home).current_dir(&self.checkout);
        command.env_remove("CLAUDE_CODE_SESSION_ID");
        if let Some(session) = session {
            command.env("CLAUDE_CODE_SESSION_ID", session);
        }
        let output = command.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Returns a captured payload with the session and folder of the bench.
    fn captured_payload(&self, event: EventName, session: &str) -> Value {
        let mut told = payload::recorded_payloads(event).first().cloned().unwrap_or_default();
        told["session_id"] = session.into();
        told["cwd"] = self.checkout.to_string_lossy().into();
        told
    }

    fn session_start_payload(&self, round: usize) -> Value {
        let mut told = self.captured_payload(EventName::SessionStart, &format!("guest-{round}"));
        told["source"] = "startup".into();
        told
    }

    fn prompt_payload(&self, session: &str, text: &str) -> Value {
        let mut told = self.captured_payload(EventName::UserPromptSubmit, session);
        told["prompt"] = text.into();
        told
    }

    fn read_payload(&self, session: &str) -> Value {
        let mut told = self.captured_payload(EventName::PreToolUse, session);
        told["tool_name"] = "Read".into();
        told["tool_input"] = json!({ "file_path": self.checkout.join("shop.py") });
        told
    }

    fn agent_payload(&self) -> Value {
        let mut told = self.read_payload(IDLE_SESSION);
        told["tool_name"] = "Agent".into();
        told["tool_input"] = json!({ "description": "a look", "prompt": self.sentence, "subagent_type": "general-purpose" });
        told
    }

    fn failed_run_payload(&self, round: usize) -> Value {
        let mut told = self.captured_payload(EventName::PostToolUseFailure, BUSY_SESSION);
        told["tool_name"] = "Bash".into();
        told["tool_input"] = json!({ "command": "python -m pytest", "description": "the suite" });
        told["error"] = format!(
            "Exit code 1\n=========== FAILURES ===========\nFAILED tests/test_shop.py::test_price_{round} - assert 1 == 2\n1 failed, 4 passed in 0.03s\n"
        )
        .into();
        told
    }

    fn edit_payload(&self) -> Value {
        let mut told = self.captured_payload(EventName::PostToolUse, BUSY_SESSION);
        let file = self.checkout.join("shop.py");
        told["tool_name"] = "Edit".into();
        told["tool_input"] = json!({ "file_path": file, "old_string": "a", "new_string": "b" });
        told["tool_response"] =
            json!({ "filePath": file, "structuredPatch": [{ "lines": ["-a", "+b"] }] });
        told
    }

    fn subagent_payload(&self) -> Value {
        let mut told = self.captured_payload(EventName::SubagentStart, IDLE_SESSION);
        told["agent_id"] = "a0123456789abcdef".into();
        told["agent_type"] = "general-purpose".into();
        told
    }

    fn spawn(&self, payload: &Value) -> Result<Child> {
        let mut child = Command::new(&self.binary)
            .arg("hook")
            .env("RUTTER_HOME", &self.home)
            .current_dir(&self.checkout)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        child.stdin.take().context("piped")?.write_all(payload.to_string().as_bytes())?;
        Ok(child)
    }

    fn measure(&self) -> Result<EventFigures> {
        let mut nothing = Vec::new();
        let mut times: Vec<Vec<Duration>> = vec![Vec::new(); EVENT_ROWS.len()];
        for round in 0..STARTS_PER_EVENT {
            let from = Instant::now();
            Command::new("/bin/true").status()?;
            nothing.push(from.elapsed());
            for (row, times) in EVENT_ROWS.iter().zip(&mut times) {
                let payload = (row.payload)(self, round);
                let from = Instant::now();
                let output = self.spawn(&payload)?.wait_with_output()?;
                times.push(from.elapsed());
                let said = String::from_utf8_lossy(&output.stdout);
                ensure!(output.status.success(), "{} failed", row.name);
                ensure!(
                    row.expected_text.is_none_or(|what| said.contains(what)),
                    "{} did not say what it should: {said}",
                    row.name
                );
                self.wait_for_children()?;
            }
        }
        let rows = times.into_iter().map(LatencyFigures::from_times).collect();
        let at_once = self.measure_concurrency()?;
        Ok(EventFigures {
            documents: self.size,
            nothing: LatencyFigures::from_times(nothing).median,
            rows,
            at_once,
        })
    }

    /// Measures concurrent hooks that all count a call: none may fail, and no count may be lost.
    fn measure_concurrency(&self) -> Result<ConcurrencyFigures> {
        let calls = || -> Result<u64> {
            let session = Store::open(&self.home, system_time())?.session(BUSY_SESSION)?;
            Ok(session.context("the session is there")?.calls)
        };
        self.run_rutter(&["maintain"], None)?;
        let before = calls()?;
        let mut alone = Vec::new();
        for _ in 0..CONCURRENT_HOOKS {
            let from = Instant::now();
            ensure!(
                self.spawn(&self.read_payload(BUSY_SESSION))?.wait_with_output()?.status.success(),
                "a hook failed"
            );
            alone.push(from.elapsed());
        }
        let payload = self.read_payload(BUSY_SESSION);
        let together = time_concurrently(|| {
            let output = self.spawn(&payload)?.wait_with_output()?;
            ensure!(output.status.success(), "a hook failed");
            Ok(())
        })?;
        let nothing = time_concurrently(|| {
            Command::new("/bin/true").status()?;
            Ok(())
        })?;
        self.wait_for_children()?;
        self.run_rutter(&["maintain"], None)?;
        let counted = calls()? - before;
        ensure!(
            counted == 2 * CONCURRENT_HOOKS as u64,
            "{counted} of {} calls were counted",
            2 * CONCURRENT_HOOKS
        );
        Ok(ConcurrencyFigures {
            alone: LatencyFigures::from_times(alone).p95,
            together: LatencyFigures::from_times(together).p95,
            nothing: LatencyFigures::from_times(nothing).p95,
        })
    }

    /// Waits for background processes of a hook.
    fn wait_for_children(&self) -> Result<()> {
        while super::world::is_running(&self.binary)? {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// Runs a function in many threads at once; returns the time of each.
fn time_concurrently(once: impl Fn() -> Result<()> + Sync) -> Result<Vec<Duration>> {
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..CONCURRENT_HOOKS)
            .map(|_| {
                scope.spawn(|| -> Result<Duration> {
                    let from = Instant::now();
                    once()?;
                    Ok(from.elapsed())
                })
            })
            .collect();
        let joined = started.into_iter().map(|thread| match thread.join() {
            Ok(took) => took,
            Err(_) => anyhow::bail!("a thread panicked"),
        });
        joined.collect()
    })
}

impl EventFigures {
    fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for (row, times) in EVENT_ROWS.iter().zip(&self.rows) {
            let most = if self.documents >= 100_000 { row.large_store_budget } else { row.budget };
            if times.p95 > most {
                let (p95, most, documents) =
                    (format_millis(times.p95), most.as_millis(), self.documents);
                broken.push(format!(
                    "{}, {documents} documents: p95 {p95} ms, {most} ms are promised",
                    row.name
                ));
            }
        }
        let ConcurrencyFigures { alone, together, nothing } = self.at_once;
        if together > alone.max(nothing) * MAX_SLOWDOWN {
            let (together, alone, nothing) =
                (format_millis(together), format_millis(alone), format_millis(nothing));
            broken.push(format!(
                "{CONCURRENT_HOOKS} at once, {} documents: p95 {together} ms; alone {alone} ms, `/bin/true` at once {nothing} ms",
                self.documents
            ));
        }
        broken
    }
}

impl EventBenchReport {
    pub(super) fn broken(&self) -> Vec<String> {
        self.0.iter().flat_map(EventFigures::broken).collect()
    }

    pub(super) fn table(&self) -> String {
        let mut text = String::from("| p50 / p95 in ms, by documents |");
        for figures in &self.0 {
            let _ = write!(text, " {} |", figures.documents);
        }
        text.push_str(" promised | asked for |\n|---|");
        text.push_str(&"--:|".repeat(self.0.len()));
        text.push_str("--:|--:|\n");
        let mut line = |name: &str, cells: Vec<String>, promised: &str, asked: &str| {
            let _ = writeln!(text, "| {name} | {} | {promised} | {asked} |", cells.join(" | "));
        };
        line(
            "`/bin/true`, p50",
            self.0.iter().map(|figures| format_millis(figures.nothing)).collect(),
            "–",
            "–",
        );
        for (number, row) in EVENT_ROWS.iter().enumerate() {
            let cells = self.0.iter().map(|figures| {
                let LatencyFigures { median, p95, .. } = figures.rows[number];
                format!("{} / {}", format_millis(median), format_millis(p95))
            });
            let promised = if row.large_store_budget > row.budget {
                format!(
                    "{}, {} at 100,000",
                    row.budget.as_millis(),
                    row.large_store_budget.as_millis()
                )
            } else {
                row.budget.as_millis().to_string()
            };
            line(row.name, cells.collect(), &promised, row.asked);
        }
        let cells = self.0.iter().map(|figures| {
            let ConcurrencyFigures { alone, together, nothing } = figures.at_once;
            format!(
                "{} / {} / {}",
                format_millis(alone),
                format_millis(together),
                format_millis(nothing)
            )
        });
        line(
            &format!("{CONCURRENT_HOOKS} hooks at once: p95 alone / at once / `/bin/true` at once"),
            cells.collect(),
            "–",
            "–",
        );
        text
    }

    pub(super) fn json(&self) -> Value {
        let sizes = self.0.iter().map(|figures| {
            let rows = EVENT_ROWS.iter().zip(&figures.rows).map(|(row, times)| {
                json!({ "row": row.name, "median_us": micros(times.median), "p95_us": micros(times.p95) })
            });
            json!({
                "documents": figures.documents,
                "nothing_us": micros(figures.nothing),
                "rows": rows.collect::<Vec<_>>(),
                "alone_p95_us": micros(figures.at_once.alone),
                "at_once_p95_us": micros(figures.at_once.together),
                "nothing_at_once_p95_us": micros(figures.at_once.nothing),
            })
        });
        sizes.collect()
    }
}
