//! Any command with any output is parsed or refused, never a panic, and test output without a digit never passes by
//! its text alone.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rutter_memory::outcome::Verdict;
use rutter_runs::read::{CapturedOutput, read_line};
use rutter_runs::runners::RUNNERS;

fuzz_target!(|input: (u8, Option<i32>, bool, String, Vec<u8>)| {
    let (which, exit, cut, line, output) = input;
    let runner = RUNNERS[usize::from(which) % RUNNERS.len()];
    // A known runner, or any line; behind a pipe only the text decides.
    for command in [runner.name.to_owned(), format!("{} | cat", runner.name), format!("npm test; {line}"), line.clone()] {
        let seen = CapturedOutput { exit, output: &output, cut };
        let Ok(reading) = read_line(&command, &seen) else { continue };
        let by_text = reading.exit.is_none() && reading.verdict == Verdict::Passed;
        assert!(!by_text || !cut, "a text that was cut passed");
        assert!(!by_text || output.iter().any(u8::is_ascii_digit) || reading.kind != rutter_memory::outcome::RunKind::Test);
        assert!(reading.verdict == Verdict::Failed || reading.failing.is_empty());
    }
});
