//! Hook messages about rows that a tool wrote.

use serde_json::{Value, json};

use crate::support::{ToolTestEnv, falsify_arguments, ghap_start_arguments, with_fields};

const RUN: &str = "cargo test parser";

fn bash(output: &str) -> Value {
    let response =
        json!({ "stdout": output, "stderr": "", "interrupted": false, "isImage": false });
    json!({ "tool_name": "Bash", "tool_input": { "command": RUN }, "tool_response": response })
}

const GREEN: &str = "\nrunning 2 tests\ntest parser::crlf ... ok\ntest parser::lf ... ok\n\n\
    test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";
const RED: &str = "Exit code 101\n\nrunning 1 test\ntest parser::crlf ... FAILED\n\nfailures:\n\n\
    ---- parser::crlf stdout ----\n\nthread 'parser::crlf' panicked at src/lib.rs:5:9:\nleft: 1, right: 2\n\n\
    \nfailures:\n    parser::crlf\n\n\
    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";

fn red() -> Value {
    json!({ "tool_name": "Bash", "tool_input": { "command": RUN }, "error": RED, "is_interrupt": false })
}

#[test]
fn hook_compares_run_with_prediction() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    let said = world.run_hook_message("session-1", "PostToolUseFailure", red());
    assert!(said.contains("Prediction `'cargo test parser' passes`"), "{said}");
    assert!(said.contains("That contradicts it (quoted data"), "{said}");
    world.call_ok("update_ghap", json!({ "action": "split in the lexer" }));
    let said = world.run_hook_message("session-1", "PostToolUse", bash(GREEN));
    assert!(said.contains("It came true"), "{said}");
    let answer = world.call_ok("resolve_ghap", json!({ "status": "confirmed", "result": "green" }));
    assert_eq!(answer["tier"], "gold");
    assert_eq!(answer["outcome"]["command"], RUN);
}

#[test]
fn check_in_quotes_latest_hypothesis() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    let read = |id: &str| json!({ "tool_name": "Read", "tool_input": {}, "tool_use_id": id });
    let mut said = String::new();
    for number in 0..9 {
        assert_eq!(
            world.run_hook_message("session-1", "PreToolUse", read(&format!("t{number}"))),
            ""
        );
    }
    // After an update, the hook does not ask about the old hypothesis.
    world.call_ok("update_ghap", json!({ "hypothesis": "the lexer splits first" }));
    for number in 9..19 {
        assert_eq!(said, "");
        said = world.run_hook_message("session-1", "PreToolUse", read(&format!("t{number}")));
    }
    assert!(said.starts_with("GHAP check-in, 10 tool calls"), "{said}");
    assert!(said.contains("the lexer splits first"), "{said}");
}

#[test]
fn later_session_gets_stored_lessons() {
    let world = ToolTestEnv::new();
    world.call_ok(
        "start_ghap",
        with_fields(ghap_start_arguments(), json!({ "goal": "CRLF files parse in the importer" })),
    );
    world.call_ok("resolve_ghap", falsify_arguments());
    let fact = "the importer of CRLF files runs in the night only";
    world.call_ok("remember", json!({ "content": fact, "category": "fact" }));
    let prompt = json!({ "prompt": "why do CRLF files not parse in the importer?" });
    let said = world.run_hook_message("session-2", "UserPromptSubmit", prompt);
    assert!(said.contains("look for every place that splits lines"), "{said}");
    assert!(said.contains("runs in the night only"), "{said}");
}

#[test]
fn next_session_is_offered_orphan() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    world.run_hook_message("session-1", "SessionEnd", json!({ "reason": "other" }));
    let said = world.run_hook_message("session-2", "SessionStart", json!({ "source": "startup" }));
    assert!(said.contains("CRLF files parse") && said.contains("adopt"), "{said}");
}
