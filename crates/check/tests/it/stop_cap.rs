//! The client's limit for Stop hooks that always block.

use rutter_check::live::{
    ClientBinary, EventScenario, ModelScript, ModelTurn, RunRecord, TestHook,
};
use rutter_contract::EventName;
use rutter_contract::input::Stop;
use rutter_contract::output::HookOutput;
use serde_json::{Value, json};

use crate::support::{client, old_client};

/// Number of blocks in a row that count.
const MAX_BLOCKS: usize = 8;
/// Number of attempts to end before which the model calls a tool, above the limit.
const WORKING_TURNS: usize = 10;

/// Runs a session whose Stop hook always blocks. The model calls a tool before each of the first attempts to end.
fn run_blocked(client: &ClientBinary, working_turns: usize) -> RunRecord {
    let mut sandbox = EventScenario::for_event(EventName::Stop).sandbox().unwrap();
    let answer = HookOutput::<Stop>::new().block("go on").answer();
    sandbox.hook(TestHook::for_event(EventName::Stop).answers(answer));
    if working_turns > 0 {
        let call = |number: usize| {
            let input =
                json!({ "command": format!("echo step {number}"), "description": "a step" });
            [ModelTurn::call("Bash", input), ModelTurn::text("done")]
        };
        sandbox.script(ModelScript::new((0..working_turns).flat_map(call)));
        sandbox.args(["--allowedTools", "Bash"]);
    }
    sandbox.run(client).unwrap()
}

/// Returns `stop_hook_active` of each call.
fn active_flags(record: &RunRecord) -> Vec<bool> {
    let payloads = record.calls_of(EventName::Stop);
    payloads
        .map(|call| serde_json::from_slice::<Value>(&call.stdin).unwrap())
        .map(|payload| payload["stop_hook_active"].as_bool().unwrap())
        .collect()
}

fn assert_cap(client: &ClientBinary) {
    let record = run_blocked(client, 0);
    let flags = active_flags(&record);
    let expected: Vec<bool> = (0..=MAX_BLOCKS).map(|number| number > 0).collect();
    assert_eq!(flags, expected, "{MAX_BLOCKS} blocks count, and the next one is overridden");
    assert_eq!(record.main_requests().count(), MAX_BLOCKS + 1);

    let record = run_blocked(client, WORKING_TURNS);
    let flags = active_flags(&record);
    assert_eq!(flags.len(), WORKING_TURNS + MAX_BLOCKS, "each tool call starts the count again");
    assert!(flags[1..].iter().all(|is_active| *is_active), "{flags:?}");
}

#[test]
fn tool_calls_reset_the_cap() {
    let Some(client) = client() else { return };
    assert_cap(&client);
}

#[test]
fn tool_calls_reset_the_cap_of_the_old_client() {
    let Some(client) = old_client() else { return };
    assert_cap(&client);
}
