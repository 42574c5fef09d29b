//! The tool `status`.

use rutter_memory::outcome::Verdict;
use serde_json::json;

use crate::support::{World, call, falsify, start};

#[test]
fn an_empty_memory_has_nothing() {
    let world = World::new();
    let status = world.call("status", json!({}));
    assert_eq!(status["session"], "session-1");
    assert!(status["project"].as_str().unwrap().ends_with("ship"), "{status}");
    for key in ["orphans", "memories", "experiences", "episodes", "outcomes"] {
        assert_eq!(status[key], 0, "{key}");
    }
    assert!(status["active"].is_null() && status["runs"] == json!([]));
}

#[test]
fn everything_is_counted() {
    let world = World::new();
    world.call("start_ghap", start());
    world.call("resolve_ghap", falsify());
    world.call("remember", json!({ "content": "x", "category": "fact" }));
    call(&world.session("session-0"), "start_ghap", start());
    world.ended("session-0");
    world.call("start_ghap", start());
    for number in 0..5 {
        let command = format!("cargo test parser -- --test-threads {number}");
        world.ran("session-1", &command, Verdict::Passed);
    }
    let status = world.call("status", json!({}));
    assert_eq!(status["orphans"], 1);
    assert_eq!(status["memories"], 1);
    assert_eq!(status["experiences"], 1);
    assert_eq!(status["outcomes"], 5);
    assert_eq!(status["active"]["goal"], "CRLF files parse");
    let runs = status["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3, "the last few");
    assert_eq!(runs[0]["command"], "cargo test parser -- --test-threads 4");
    assert_eq!(runs[0]["verdict"], "passed");
    let text = world.answer("status", json!({})).text;
    assert!(text.contains("1 memory, 1 experience, 0 episodes, 5 runs"), "{text}");
}
