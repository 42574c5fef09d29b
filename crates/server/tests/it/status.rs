//! The tool `status`.

use rutter_memory::outcome::Verdict;
use serde_json::json;

use crate::support::{ToolTestEnv, call_ok, falsify_arguments, ghap_start_arguments};

#[test]
fn empty_memory_has_zero_counts() {
    let world = ToolTestEnv::new();
    let status = world.call_ok("status", json!({}));
    assert_eq!(status["session"], "session-1");
    assert!(status["project"].as_str().unwrap().ends_with("ship"), "{status}");
    for key in ["orphans", "memories", "experiences", "episodes", "outcomes"] {
        assert_eq!(status[key], 0, "{key}");
    }
    assert!(status["active"].is_null() && status["runs"] == json!([]));
}

#[test]
fn status_counts_all_rows() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    world.call_ok("resolve_ghap", falsify_arguments());
    world.call_ok("remember", json!({ "content": "x", "category": "fact" }));
    call_ok(&world.session("session-0"), "start_ghap", ghap_start_arguments());
    world.end_session("session-0");
    world.call_ok("start_ghap", ghap_start_arguments());
    for number in 0..5 {
        let command = format!("cargo test parser -- --test-threads {number}");
        world.record_run("session-1", &command, Verdict::Passed);
    }
    let status = world.call_ok("status", json!({}));
    assert_eq!(status["orphans"], 1);
    assert_eq!(status["memories"], 1);
    assert_eq!(status["experiences"], 1);
    assert_eq!(status["outcomes"], 5);
    assert_eq!(status["active"]["goal"], "CRLF files parse");
    let runs = status["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3, "the last few");
    assert_eq!(runs[0]["command"], "cargo test parser -- --test-threads 4");
    assert_eq!(runs[0]["verdict"], "passed");
    let text = world.call_answer("status", json!({})).text;
    assert!(text.contains("1 memory, 1 experience, 0 episodes, 5 runs"), "{text}");
}
