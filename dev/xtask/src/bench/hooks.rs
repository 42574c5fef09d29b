//! `cargo xtask bench hooks`: measures a client's wait for `rutter hook`, compared with a program that does nothing.
//!
//! Every round starts each row once, so that other load affects all rows. Within a round the rows follow a sequence
//! that restores the state except for the learned fixes: a failure, its edits, the green run. Between rows the bench
//! waits for `rutter maintain` processes that a hook has started, so that nothing else runs during a measured start.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

mod events;
mod payloads;
mod report;
mod rows;
mod seed;
mod world;

use super::figures::LatencyFigures;
use payloads::BenchPayloads;
use report::{HookBenchReport, HookRowFigures};
use rows::{ExpectedHookOutput, HOOK_ROWS, HookRow, StartedProgram};
use world::HookBenchEnv;

/// Number of timed starts of each row.
const STARTS_PER_ROW: usize = 300;
/// Number of additional starts of each row for its memory use.
const MEMORY_SAMPLES_PER_ROW: usize = 20;

/// Measures and prints the figures; returns an error if a limit is exceeded.
pub(crate) fn run(root: &Path, json: bool) -> Result<()> {
    let world = HookBenchEnv::new(root)?;
    let told = BenchPayloads::load(root, &world.checkout)?;
    world.record_first_failure(&told)?;
    let mut round = 0;
    let mut report = measure_rows(&world, &told, &mut round)?;
    // Other load may cause a failure: a limit counts as exceeded only if it is exceeded twice.
    if !report.all_exceeded_limits().is_empty() {
        report = HookBenchReport { again: true, ..measure_rows(&world, &told, &mut round)? };
    }
    world.ensure_fixes_recorded(round)?;
    let events = events::measure(root, &world.binary)?;
    super::print_text(&if json {
        let mut all: serde_json::Value = serde_json::from_str(&report.json()?)?;
        all["events"] = events.json();
        serde_json::to_string_pretty(&all)?
    } else {
        format!("{}\n\n{}", report.table(), events.table())
    });
    let mut broken = report.all_exceeded_limits();
    broken.extend(events.broken());
    ensure!(broken.is_empty(), "{}", broken.join("\n"));
    Ok(())
}

/// The measurements of a row.
#[derive(Default)]
struct RowMeasurements {
    times: Vec<Duration>,
    resident: u64,
    anonymous: u64,
}

fn measure_rows(
    world: &HookBenchEnv,
    told: &BenchPayloads,
    round: &mut usize,
) -> Result<HookBenchReport> {
    let mut seen: HashMap<&str, RowMeasurements> = HashMap::new();
    for turn in 0..STARTS_PER_ROW + MEMORY_SAMPLES_PER_ROW {
        for row in HOOK_ROWS {
            let payload = (row.payload)(told, *round);
            world.prepare(row)?;
            let at = || format!("{}, round {round}", row.name);
            let started = || {
                if turn < STARTS_PER_ROW {
                    start_row(world, row, &payload)
                } else {
                    sample_memory(world, row, &payload)
                }
            };
            let start = started().with_context(at)?;
            world.wait_for_children(row)?;
            start.ensure_expected(row).with_context(at)?;
            if row.promise.is_none() {
                continue;
            }
            let seen = seen.entry(row.name).or_default();
            seen.times.extend(start.time);
            seen.resident = seen.resident.max(start.resident);
            seen.anonymous = seen.anonymous.max(start.anonymous);
        }
        *round += 1;
    }
    let figures = HOOK_ROWS.iter().filter_map(|row| {
        let seen = seen.remove(row.name)?;
        Some(HookRowFigures {
            name: row.name,
            promise: row.promise?,
            times: LatencyFigures::from_times(seen.times),
            resident: seen.resident,
            anonymous: seen.anonymous,
        })
    });
    Ok(HookBenchReport { figures: figures.collect(), again: false })
}

/// The result of one start.
struct StartResult {
    /// The time until the process has ended; `None` if its memory use was sampled instead.
    time: Option<Duration>,
    resident: u64,
    anonymous: u64,
    succeeded: bool,
    stdout: Vec<u8>,
}

impl StartResult {
    fn ensure_expected(&self, row: &HookRow) -> Result<()> {
        ensure!(self.succeeded, "it failed");
        match row.answer {
            ExpectedHookOutput::Anything => {}
            ExpectedHookOutput::Nothing => ensure!(self.stdout.is_empty(), "it said something"),
            ExpectedHookOutput::Context => ensure!(
                String::from_utf8_lossy(&self.stdout).contains("additionalContext"),
                "it was silent"
            ),
        }
        Ok(())
    }
}

fn row_command(world: &HookBenchEnv, row: &HookRow) -> Command {
    let mut command = match row.starts {
        StartedProgram::Other(program) => Command::new(program),
        StartedProgram::Hook(memory) => {
            let mut command = Command::new(&world.binary);
            command.arg("hook").env("RUTTER_HOME", world.store_folder_of(memory));
            command
        }
    };
    command.current_dir(&world.checkout);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Starts a program, writes its stdin and waits for its end, like a client.
fn start_row(world: &HookBenchEnv, row: &HookRow, payload: &[u8]) -> Result<StartResult> {
    let mut command = row_command(world, row);
    let from = Instant::now();
    let mut child = command.spawn()?;
    write_stdin(&mut child, payload)?;
    let output = child.wait_with_output()?;
    let time = Some(from.elapsed());
    Ok(StartResult {
        time,
        resident: 0,
        anonymous: 0,
        succeeded: output.status.success(),
        stdout: output.stdout,
    })
}

fn write_stdin(child: &mut Child, payload: &[u8]) -> Result<()> {
    let mut pipe = child.stdin.take().context("piped")?;
    // A program that does not read may have ended before the write.
    drop(pipe.write_all(payload));
    Ok(())
}

/// Starts a program and samples its memory use until it has ended.
fn sample_memory(world: &HookBenchEnv, row: &HookRow, payload: &[u8]) -> Result<StartResult> {
    let mut child = row_command(world, row).spawn()?;
    let payload = payload.to_owned();
    let mut pipe = child.stdin.take().context("piped")?;
    let feeding = std::thread::spawn(move || drop(pipe.write_all(&payload)));
    let (resident, anonymous) = super::sample_memory(child.id());
    ensure!(feeding.join().is_ok(), "the payload was not written");
    let output = child.wait_with_output()?;
    let succeeded = output.status.success();
    Ok(StartResult { time: None, resident, anonymous, succeeded, stdout: output.stdout })
}
