//! The measurements as a Markdown table and as JSON, and the exceeded limits.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::talk::McpTransport;
use super::{CALLS_PER_CLIENT, CLIENT_COUNT, SERVER_STARTS, STORE_ROWS};
use crate::bench::figures::{ExceededLimits, LatencyFigures, micros};
use crate::bench::{describe_machine, format_megabytes, format_millis};

/// Maximum 95th percentile from the start to the first answer.
const MAX_FIRST_ANSWER_TIME: Duration = Duration::from_millis(30);
/// Maximum 95th percentile of a call.
const MAX_CALL_TIME: Duration = Duration::from_millis(10);
/// Maximum resident memory of an idle server, in bytes.
const MAX_IDLE_BYTES: u64 = 30_000_000;

fn table_cells(times: LatencyFigures) -> String {
    let [median, p95, longest] = [times.median, times.p95, times.longest].map(format_millis);
    format!("{median} ms | {p95} ms | {longest} ms")
}

fn latency_json(times: LatencyFigures) -> Value {
    json!({
        "median_us": micros(times.median),
        "p95_us": micros(times.p95),
        "most_us": micros(times.longest),
    })
}

/// The figures for one transport.
pub(super) struct TransportFigures {
    pub(super) through: McpTransport,
    /// The interval between two calls of a client; `None` for calls without a pause.
    pub(super) pace: Option<Duration>,
    pub(super) idle: u64,
    pub(super) took: Duration,
    /// The machine's load average before the measurement.
    pub(super) load: String,
    pub(super) all: LatencyFigures,
    pub(super) tools: Vec<(&'static str, LatencyFigures)>,
}

impl TransportFigures {
    fn name(&self) -> String {
        let through = match self.through {
            McpTransport::Pipes => "stdio, a server each",
            McpTransport::Http => "HTTP, one server",
        };
        match self.pace {
            Some(pace) => format!("{through}, every {} ms", pace.as_millis()),
            None => format!("{through}, without a pause"),
        }
    }
}

/// The figures of one run.
pub(super) struct McpBenchReport {
    nothing: LatencyFigures,
    first: LatencyFigures,
    pub(super) transports: Vec<TransportFigures>,
}

impl McpBenchReport {
    pub(super) fn new(nothing: LatencyFigures, first: LatencyFigures) -> Self {
        Self { nothing, first, transports: Vec::new() }
    }

    /// Returns the exceeded limits.
    pub(super) fn exceeded_limits(&self) -> Vec<String> {
        let mut exceeded = ExceededLimits::default();
        exceeded.check_time("the first answer", "p95 is ", self.first.p95, MAX_FIRST_ANSWER_TIME);
        for transport in &self.transports {
            let name = transport.name();
            // Without a pause a call waits for up to seven others on a limited number of cores.
            if transport.pace.is_some() {
                exceeded.check_time(&name, "p95 is ", transport.all.p95, MAX_CALL_TIME);
            }
            exceeded.check_memory(&name, "idle", transport.idle, MAX_IDLE_BYTES);
        }
        exceeded.into_lines(self.nothing.is_disturbed())
    }

    pub(super) fn table(&self) -> String {
        let mut text =
            String::from("| | median | p95 | longest | promised |\n|---|--:|--:|--:|---|\n");
        let _ = writeln!(text, "| `/bin/true` | {} | – |", table_cells(self.nothing));
        let _ = writeln!(
            text,
            "| `rutter mcp`, from its start to its first answer | {} | p95 ≤ {} ms |",
            table_cells(self.first),
            MAX_FIRST_ANSWER_TIME.as_millis()
        );
        for transport in &self.transports {
            let _ = writeln!(
                text,
                "| a call over {} | {} | {} |",
                transport.name(),
                table_cells(transport.all),
                match transport.pace {
                    Some(_) => format!("p95 ≤ {} ms", MAX_CALL_TIME.as_millis()),
                    None => "–".to_owned(),
                }
            );
            for (tool, figures) in &transport.tools {
                let _ = writeln!(text, "| – `{tool}` | {} | – |", table_cells(*figures));
            }
        }
        for transport in &self.transports {
            let _ = write!(
                text,
                "\n{}: {} calls in {:.1} s, {} MB resident when idle (≤ {} promised), load before {}.",
                transport.name(),
                CLIENT_COUNT * CALLS_PER_CLIENT,
                transport.took.as_secs_f64(),
                format_megabytes(transport.idle),
                format_megabytes(MAX_IDLE_BYTES),
                transport.load,
            );
        }
        let _ = write!(
            text,
            "\n{SERVER_STARTS} starts; {CLIENT_COUNT} clients of {CALLS_PER_CLIENT} calls each, four of ten of which write, in a memory of {STORE_ROWS} rows; on {}. No call \
             failed and no row is missing.",
            describe_machine()
        );
        text
    }

    pub(super) fn json(&self) -> Result<String> {
        let transports = self.transports.iter().map(|transport| {
            let tools: serde_json::Map<String, Value> = transport
                .tools
                .iter()
                .map(|(tool, figures)| ((*tool).to_owned(), latency_json(*figures)))
                .collect();
            json!({
                "transport": transport.name(), "idle_bytes": transport.idle, "seconds": transport.took.as_secs_f64(),
                "load_before": transport.load, "calls": latency_json(transport.all), "tools": tools,
            })
        });
        Ok(serde_json::to_string_pretty(&json!({
            "machine": describe_machine(), "true": latency_json(self.nothing), "first_answer": latency_json(self.first),
            "clients": CLIENT_COUNT, "calls": CALLS_PER_CLIENT, "rows": STORE_ROWS, "transports": transports.collect::<Vec<_>>(),
            "breaks": self.exceeded_limits(),
        }))?)
    }
}
