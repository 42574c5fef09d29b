//! `cargo xtask bench hooks`: measures a client's wait for `rutter hook`, compared with a program that does nothing.
//!
//! Every round starts each row once, so that other load affects all rows. Within a round the rows follow a sequence
//! that restores the state except for the learned fixes: a failure, its edits, the green run. Between rows the bench
//! waits for `rutter tend` processes that a hook has started, so that nothing else runs during a measured start.

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

use payloads::Payloads;
use report::{Figures, Report};
use rows::{Answer, ROWS, Row, Starts};
use world::World;

/// Number of timed starts of each row.
const STARTS: usize = 300;
/// Number of additional starts of each row for its memory use.
const LOOKS: usize = 20;

/// Measures and prints the figures; returns an error if a limit is exceeded.
pub(crate) fn run(root: &Path, json: bool) -> Result<()> {
    let world = World::make(root)?;
    let told = Payloads::read(root, &world.checkout)?;
    world.tell_the_first_time(&told)?;
    let mut round = 0;
    let mut report = measure(&world, &told, &mut round)?;
    // Other load may cause a failure: a limit counts as exceeded only if it is exceeded twice.
    if !report.broken().is_empty() {
        report = Report { again: true, ..measure(&world, &told, &mut round)? };
    }
    world.ensure_learnt(round)?;
    let events = events::measure(root, &world.binary)?;
    show(&if json {
        let mut all: serde_json::Value = serde_json::from_str(&report.json()?)?;
        all["events"] = events.json();
        serde_json::to_string_pretty(&all)?
    } else {
        format!("{}\n\n{}", report.table(), events.table())
    });
    let mut broken = report.broken();
    broken.extend(events.broken());
    ensure!(broken.is_empty(), "{}", broken.join("\n"));
    Ok(())
}

/// The measurements of a row.
#[derive(Default)]
struct Seen {
    times: Vec<Duration>,
    resident: u64,
    anonymous: u64,
}

fn measure(world: &World, told: &Payloads, round: &mut usize) -> Result<Report> {
    let mut seen: HashMap<&str, Seen> = HashMap::new();
    for turn in 0..STARTS + LOOKS {
        for row in ROWS {
            let payload = (row.payload)(told, *round);
            world.prepare(row)?;
            let at = || format!("{}, round {round}", row.name);
            let started = || {
                if turn < STARTS { start(world, row, &payload) } else { look(world, row, &payload) }
            };
            let start = started().with_context(at)?;
            world.settle(row)?;
            start.ensure(row).with_context(at)?;
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
    let figures = ROWS.iter().filter_map(|row| {
        let seen = seen.remove(row.name)?;
        Some(Figures::new(row.name, row.promise?, seen.times, seen.resident, seen.anonymous))
    });
    Ok(Report { figures: figures.collect(), again: false })
}

/// The result of one start.
struct Start {
    /// The time until the process has ended; `None` if its memory use was sampled instead.
    time: Option<Duration>,
    resident: u64,
    anonymous: u64,
    succeeded: bool,
    stdout: Vec<u8>,
}

impl Start {
    fn ensure(&self, row: &Row) -> Result<()> {
        ensure!(self.succeeded, "it failed");
        match row.answer {
            Answer::Anything => {}
            Answer::Nothing => ensure!(self.stdout.is_empty(), "it said something"),
            Answer::Context => ensure!(
                String::from_utf8_lossy(&self.stdout).contains("additionalContext"),
                "it was silent"
            ),
        }
        Ok(())
    }
}

fn command(world: &World, row: &Row) -> Command {
    let mut command = match row.starts {
        Starts::Other(program) => Command::new(program),
        Starts::Hook(memory) => {
            let mut command = Command::new(&world.binary);
            command.arg("hook").env("RUTTER_HOME", world.memory(memory));
            command
        }
    };
    command.current_dir(&world.checkout);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Starts a program, writes its stdin and waits for its end, like a client.
fn start(world: &World, row: &Row, payload: &[u8]) -> Result<Start> {
    let mut command = command(world, row);
    let from = Instant::now();
    let mut child = command.spawn()?;
    feed(&mut child, payload)?;
    let output = child.wait_with_output()?;
    let time = Some(from.elapsed());
    Ok(Start {
        time,
        resident: 0,
        anonymous: 0,
        succeeded: output.status.success(),
        stdout: output.stdout,
    })
}

fn feed(child: &mut Child, payload: &[u8]) -> Result<()> {
    let mut pipe = child.stdin.take().context("piped")?;
    // A program that does not read may have ended before the write.
    drop(pipe.write_all(payload));
    Ok(())
}

/// Starts a program and samples its memory use until it has ended. The kernel's figures for an ended child are not
/// usable: they include the memory of the parent that it was forked from.
fn look(world: &World, row: &Row, payload: &[u8]) -> Result<Start> {
    let mut child = command(world, row).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let (mut resident, mut anonymous) = (0, 0);
    let payload = payload.to_owned();
    let mut pipe = child.stdin.take().context("piped")?;
    let feeding = std::thread::spawn(move || drop(pipe.write_all(&payload)));
    while let Some((most, now)) =
        std::fs::read_to_string(&status).ok().and_then(|text| super::memory(&text))
    {
        resident = resident.max(most);
        anonymous = anonymous.max(now);
    }
    ensure!(feeding.join().is_ok(), "the payload was not written");
    let output = child.wait_with_output()?;
    let succeeded = output.status.success();
    Ok(Start { time: None, resident, anonymous, succeeded, stdout: output.stdout })
}

#[expect(clippy::print_stdout, reason = "the task's result")]
fn show(text: &str) {
    println!("{text}");
}
