//! `cargo xtask bench hooks`: how long a client waits for `rutter hook`, against a program that does nothing.
//!
//! The rows take turns, one start each in every round, so that a busy moment hits all of them. Within a round they tell a
//! story that leaves the memory as it was, but for what it has learnt: a failure, its edits, the green run. What a hook
//! hands over to `rutter tend` is waited for between the rows, so that nothing runs beside a start that is measured.

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

/// How often each row is started.
const STARTS: usize = 300;
/// How often each is started again to look at its memory.
const LOOKS: usize = 20;

/// Measures, prints, and fails where a promise is not kept.
pub(crate) fn run(root: &Path, json: bool) -> Result<()> {
    let world = World::make(root)?;
    let told = Payloads::read(root, &world.checkout)?;
    world.tell_the_first_time(&told)?;
    let mut round = 0;
    let mut report = measure(&world, &told, &mut round)?;
    // A machine that does something else is no broken promise; one that is broken is so twice.
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

/// What a row was seen to need.
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

/// One start, and what came of it.
struct Start {
    /// From before the start until the end was heard of; none where its memory was looked at.
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

/// Starts a program, feeds it and waits for its end, as a client does.
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
    // A program that does not read is gone before we write.
    drop(pipe.write_all(payload));
    Ok(())
}

/// The same, with an eye on its memory until it is gone. What the kernel tells a parent afterwards would not do: it
/// counts the parent's own memory, out of which the child was made.
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
