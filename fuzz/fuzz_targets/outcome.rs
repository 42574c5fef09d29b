//! Any command and any output: read or refused, never a panic, and nothing that has no number in it says `passed` by its
//! text alone.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rutter_memory::outcome::Verdict;
use rutter_runs::read::{Seen, read_line};
use rutter_runs::runners::RUNNERS;

fuzz_target!(|input: (u8, Option<i32>, bool, String, Vec<u8>)| {
    let (which, exit, cut, line, output) = input;
    let runner = RUNNERS[usize::from(which) % RUNNERS.len()];
    // A runner that is known, or whatever line there is; behind a pipe the text alone decides.
    for command in [runner.name.to_owned(), format!("{} | cat", runner.name), format!("npm test; {line}"), line.clone()] {
        let seen = Seen { exit, output: &output, cut };
        let Ok(reading) = read_line(&command, &seen) else { continue };
        let by_text = reading.exit.is_none() && reading.verdict == Verdict::Passed;
        assert!(!by_text || !cut, "a text that was cut passed");
        assert!(!by_text || output.iter().any(u8::is_ascii_digit) || reading.kind != rutter_memory::outcome::Kind::Test);
        assert!(reading.verdict == Verdict::Failed || reading.failing.is_empty());
    }
});
