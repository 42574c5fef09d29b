//! Measures the reading of an outcome: `cargo run --release -p rutter-hooks --example outcome_speed`.
//! An argument limits the measurement to commands that contain it.
//!
//! Each runner reads all of its recorded output, repeated. So does a script of unknown content, for which all readers
//! of its kind are tried.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rutter_contract::input::RawPayload;
use rutter_hooks::bash_call::{BashCall, DEFAULT_WINDOW_BYTES};
use rutter_memory::outcome::RunKind;
use rutter_runs::read::{CapturedOutput, read_line};
use rutter_runs::runners::RUNNERS;

/// Sizes in KB, each with the promised time in milliseconds.
const PROMISED_MILLIS: [(usize, f64); 3] = [(10, 1.0), (30, 1.0), (300, 5.0)];

/// Measuring time per text.
const MEASURED_TIME: Duration = Duration::from_millis(30);

/// Lines that most readers look at, repeated to fill the size.
const HOSTILE_TEXT: &str = "x\nE   Error: x\n________ a ________\n= 1 passed in 1s =\n  ● a › b\n    at x (/a.js:1:2)\na.py:1:2: E1 x\n";

#[expect(clippy::print_stdout, reason = "the figures")]
fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let mut kept = true;
    println!("{:<44} {:>9} {:>9} {:>9}", "ms", "10 KB", "30 KB", "300 KB");
    let mut print = |name: &str, measure: &dyn Fn(usize) -> f64| {
        if name.contains(&wanted) {
            let times = PROMISED_MILLIS.map(|(size, _)| measure(size * 1024));
            kept &=
                times.iter().zip(PROMISED_MILLIS).all(|(time, (_, promised))| *time <= promised);
            println!("{name:<44} {:>9.3} {:>9.3} {:>9.3}", times[0], times[1], times[2]);
        }
    };
    let texts: Vec<(&str, RunKind, Vec<u8>)> = RUNNERS
        .iter()
        .map(|runner| (runner.name, runner.kind, recorded_output(runner.name)))
        .collect();
    for (name, _, text) in &texts {
        let Some(command) = runner_command(name) else { continue };
        print(name, &|size| read_millis(&command, &repeat_to_size(text, size)));
        print(&format!("{name}, hostile"), &|size| {
            read_millis(&command, &repeat_to_size(HOSTILE_TEXT.as_bytes(), size))
        });
    }
    for (name, kind, text) in &texts {
        let script = match kind {
            RunKind::Test => "make test",
            RunKind::Build => "npm run build",
            RunKind::Lint => "npm run lint",
            RunKind::Typecheck => "npm run typecheck",
        };
        print(&format!("{script}, of {name}"), &|size| {
            read_millis(script, &repeat_to_size(text, size))
        });
    }
    for script in ["npm test", "make test", "npm run build", "npm run lint", "npm run typecheck"] {
        print(&format!("{script}, hostile"), &|size| {
            read_millis(script, &repeat_to_size(HOSTILE_TEXT.as_bytes(), size))
        });
        let prose = include_bytes!("../../runs/src/read.rs");
        print(&format!("{script}, prose"), &|size| {
            read_millis(script, &repeat_to_size(prose, size))
        });
    }
    for (name, _, text) in texts.iter().filter(|(name, ..)| ["cargo test", "jest"].contains(name)) {
        print(&format!("payload of {name}"), &|size| {
            payload_millis(name, &repeat_to_size(text, size))
        });
    }
    assert!(kept, "more than was promised: {PROMISED_MILLIS:?}");
}

/// Returns a command line of a runner, or None if it is only found behind a script.
fn runner_command(runner: &str) -> Option<String> {
    let lines = ["", " run", " test"].map(|more| format!("{runner}{more}"));
    lines.into_iter().find(|line| {
        read_line(line, &CapturedOutput { exit: Some(1), output: b"", cut: false }).is_ok()
    })
}

/// Returns the milliseconds of the fastest call, which excludes other work on the machine.
fn best_millis(mut call: impl FnMut()) -> f64 {
    let mut best = Duration::MAX;
    let from = Instant::now();
    let mut calls = 0;
    while from.elapsed() < MEASURED_TIME || calls < 5 {
        let start = Instant::now();
        call();
        best = best.min(start.elapsed());
        calls += 1;
    }
    best.as_secs_f64() * 1000.0
}

fn read_millis(command: &str, output: &[u8]) -> f64 {
    best_millis(|| {
        let seen = CapturedOutput { exit: Some(1), output, cut: false };
        drop(std::hint::black_box(read_line(command, std::hint::black_box(&seen))));
    })
}

/// Measures the time from the bytes of a payload to the outcome.
fn payload_millis(command: &str, output: &[u8]) -> f64 {
    let payload = serde_json::json!({
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": { "command": command },
        "tool_response": { "stdout": String::from_utf8_lossy(output), "stderr": "", "interrupted": false },
    })
    .to_string();
    best_millis(|| {
        let wire = RawPayload::parse(std::hint::black_box(payload.as_bytes()));
        let call =
            wire.ok().and_then(|wire| BashCall::parse_run(&wire, DEFAULT_WINDOW_BYTES)?.ok());
        drop(std::hint::black_box(
            call.map(|call| read_line(&call.command, &call.captured_output())),
        ));
    })
}

/// Returns all recorded output of a runner.
fn recorded_output(runner: &str) -> Vec<u8> {
    let folder = runner
        .split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/outcomes").join(folder);
    let mut files: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension != "json"))
        .collect();
    files.sort();
    files.iter().filter_map(|path| fs::read(path).ok()).flatten().collect()
}

/// Repeats a text up to a size.
fn repeat_to_size(text: &[u8], size: usize) -> Vec<u8> {
    text.iter().copied().cycle().take(size).collect()
}
