//! Any payload of a Bash call is parsed or refused, never a panic. A background call never gives an outcome, and
//! cut output passes by its exit status only.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rutter_contract::input::Wire;
use rutter_memory::outcome::Verdict;
use rutter_hooks::bash_call::{Call, WINDOW};
use rutter_runs::read::read_line;

fuzz_target!(|payload: &[u8]| {
    let Ok(wire) = Wire::parse(payload) else { return };
    for window in [WINDOW, 100] {
        let Some(Ok(call)) = Call::of(&wire, window) else { continue };
        assert!(call.exit.is_some() || wire.hook_event_name().as_deref() == Some("PostToolUse"));
        if let Some(Ok(response)) = wire.raw("tool_response").map(|raw| Wire::parse(raw.as_bytes())) {
            let failed = wire.hook_event_name().as_deref() == Some("PostToolUseFailure");
            assert!(failed || response.text("backgroundTaskId").is_none());
        }
        if let Ok(reading) = read_line(&call.command, &call.seen()) {
            assert!(!call.cut || reading.verdict != Verdict::Passed || reading.exit == Some(0));
        }
    }
});
