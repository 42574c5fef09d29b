//! Verdicts per second: `cargo bench -p rutter-contract`, or as a part of `cargo xtask bench`.

use std::time::{Duration, Instant};

use rutter_contract::verdict::{HookRun, judge_answer};
use rutter_contract::version::Contract;
use serde_json::Value;

/// Duration of the measurement.
const MEASUREMENT_DURATION: Duration = Duration::from_secs(2);

#[expect(clippy::print_stdout, reason = "the figure")]
fn main() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/verdicts/2.1.325.json");
    let text = std::fs::read_to_string(path).expect("the measured answers");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let cases = all["cases"].as_array().expect("a list of cases");
    let text = |case: &Value, key: &str| case[key].as_str().unwrap_or_default().to_owned();
    let answers: Vec<_> = cases
        .iter()
        .map(|case| {
            let event = text(case, "event").parse().expect("an event");
            let exit = i32::try_from(case["exit"].as_i64().unwrap_or(0)).expect("an exit code");
            (event, text(case, "stdout"), text(case, "stderr"), exit)
        })
        .collect();

    let contract = Contract::newest();
    let from = Instant::now();
    let mut judged = 0_u32;
    while from.elapsed() < MEASUREMENT_DURATION {
        for (event, stdout, stderr, exit) in &answers {
            let run = HookRun { event: *event, stdout, stderr, exit: *exit };
            std::hint::black_box(judge_answer(&run, contract));
            judged += 1;
        }
    }
    let rate = f64::from(judged) / from.elapsed().as_secs_f64();
    println!("{rate:.0} verdicts a second over {} answers", answers.len());
}
