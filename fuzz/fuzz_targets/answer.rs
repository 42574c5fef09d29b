//! Any answer to any event on any client gives a verdict, never a panic, and a correction is valid.
//! The JSON parser accepts every text that serde_json accepts.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rutter_contract::verdict::{HookRun, HookOutcome, MistakeSeverity, decode_stdout, judge_answer};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, javascript, table};

fuzz_target!(|bytes: &[u8]| {
    let [event, client, exit, answer @ ..] = bytes else { return };
    let event = EventName::ALL[usize::from(*event) % EventName::ALL.len()];
    let contract = Contract::for_client(Contract::MEASURED[usize::from(*client) % 2]);
    if !table::event_spec(event).is_at(contract) {
        return;
    }
    let text = decode_stdout(answer);
    let (stdout, stderr) = text.split_once('\u{0}').unwrap_or((&text, ""));
    if serde_json::from_str::<serde_json::Value>(stdout).is_ok() {
        assert!(javascript::parse(stdout).is_ok(), "{stdout}");
    }
    let run = HookRun { event, stdout, stderr, exit: i32::from(*exit % 4) };
    if let Some(corrected) = judge_answer(&run, contract).corrected {
        let run = HookRun { event, stdout: &corrected.stdout, stderr: "", exit: i32::from(corrected.exit) };
        let again = judge_answer(&run, contract);
        assert_eq!(again.outcome, HookOutcome::Success, "{}", corrected.stdout);
        assert!(again.severity() < Some(MistakeSeverity::Error), "{}", corrected.stdout);
    }
});
