//! Any payload of a Bash call is parsed or refused, never a panic. A background call never gives an outcome, and
//! cut output passes by its exit status only.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rutter_contract::input::RawPayload;
use rutter_memory::outcome::Verdict;
use rutter_hooks::bash_call::{BashCall, DEFAULT_WINDOW_BYTES};
use rutter_runs::read::read_line;

fuzz_target!(|payload: &[u8]| {
    let Ok(wire) = RawPayload::parse(payload) else { return };
    for window in [DEFAULT_WINDOW_BYTES, 100] {
        let Some(Ok(call)) = BashCall::parse_run(&wire, window) else { continue };
        assert!(call.exit.is_some() || wire.hook_event_name().as_deref() == Some("PostToolUse"));
        if let Some(Ok(response)) = wire.raw("tool_response").map(|raw| RawPayload::parse(raw.as_bytes())) {
            let failed = wire.hook_event_name().as_deref() == Some("PostToolUseFailure");
            assert!(failed || response.text("backgroundTaskId").is_none());
        }
        if let Ok(reading) = read_line(&call.command, &call.captured_output()) {
            assert!(!call.cut || reading.verdict != Verdict::Passed || reading.exit == Some(0));
        }
    }
});
