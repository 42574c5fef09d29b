//! `assemble_context`: all rows that are relevant to a task, within a budget.

use rutter_memory::document::Kind;
use rutter_memory::outcome::Verdict;
use rutter_memory::quote::tokens;
use rutter_server::{Desk, Door};
use serde_json::{Value, json};

use crate::support::{World, assert_answer, call, falsify, start, wait, with};

/// Creates experiences and memories about one topic.
fn known() -> World {
    let world = World::new();
    for (goal, takeaway) in [
        ("the cache evicts old entries", "evict entries of the cache by age, not by size"),
        ("old cache entries go at midnight", "a timer that evicts must use the local zone"),
        (
            "evict the cache when memory is short",
            "listen to memory pressure before you evict old entries",
        ),
    ] {
        world.call("start_ghap", with(start(), json!({ "goal": goal })));
        world.call("resolve_ghap", with(falsify(), json!({ "lesson": { "takeaway": takeaway } })));
    }
    for content in [
        "the cache evicts old entries every ten minutes",
        "old entries of the cache are kept in the harbour master's ledger",
        "the cache must not evict entries while a ship unloads",
    ] {
        world.call("remember", json!({ "content": content, "category": "fact" }));
    }
    world
}

const QUERY: &str = "the cache does not evict old entries";

fn sources(context: &Value) -> Vec<String> {
    serde_json::from_value(context["sources_used"].clone()).unwrap()
}

#[test]
fn the_figures_are_those_of_the_text() {
    let world = known();
    let context = world.call("assemble_context", json!({ "query": QUERY, "depth": "rich" }));
    let markdown = context["markdown"].as_str().unwrap();
    assert!(markdown.contains("cache"), "{markdown}");
    assert_eq!(context["token_count"], tokens(markdown));
    assert!(context["item_count"].as_u64().unwrap() > 3, "{context}");
    for source in sources(&context) {
        assert!(Kind::NAMES.contains(&source.as_str()), "{source} is no name of context_types");
    }
}

#[test]
fn a_kind_that_is_asked_for_is_the_only_one() {
    let world = known();
    for kind in ["memory", "experience"] {
        let ask = json!({ "query": QUERY, "context_types": [kind], "depth": "rich" });
        assert_eq!(sources(&world.call("assemble_context", ask)), [kind]);
    }
}

#[test]
fn limits_hold_and_say_that_they_did() {
    let world = known();
    let one = world.call("assemble_context", json!({ "query": QUERY, "limit": 1 }));
    assert_eq!((&one["item_count"], &one["truncated"]), (&json!(1), &json!(true)));
    let ask = json!({ "query": QUERY, "max_tokens": 100, "limit": 50 });
    let few = world.call("assemble_context", ask);
    assert!(few["token_count"].as_u64().unwrap() <= 100, "{few}");
    assert_eq!(few["truncated"], true);
}

#[test]
fn without_a_query_it_is_what_was_left_open_and_done_last() {
    let world = known();
    call(&world.session("session-0"), "start_ghap", with(start(), json!({ "goal": "left open" })));
    world.ended("session-0");
    world.ran("session-1", "cargo test parser", Verdict::Failed);
    for ask in [json!({}), json!({ "query": "  " })] {
        let context = world.call("assemble_context", ask);
        let markdown = context["markdown"].as_str().unwrap();
        assert!(markdown.contains("left open"), "{markdown}");
        assert!(markdown.contains("cargo test parser"), "{markdown}");
    }
}

#[test]
fn nothing_known_is_said_in_few_words() {
    let world = World::new();
    assert_answer!(world.answer("assemble_context", json!({ "query": "cache" })), @r#"
    Nothing known bears on this.
    {
      "markdown": "",
      "token_count": 0,
      "item_count": 0,
      "truncated": false,
      "sources_used": []
    }
    "#);
}

#[test]
fn asking_twice_gives_the_same() {
    let world = known();
    let ask = json!({ "query": QUERY });
    let first = world.call("assemble_context", ask.clone());
    assert_ne!(first["markdown"], "");
    assert_eq!(world.call("assemble_context", ask), first);
}

#[test]
fn without_a_query_ones_own_is_not_an_earlier_sessions() {
    let world = World::new();
    world.call("start_ghap", start());
    // For other sessions this one is over after a long silence; for itself it goes on.
    wait(13 * 3600);
    let own = world.call("assemble_context", json!({}))["markdown"].as_str().unwrap().to_owned();
    assert!(own.contains("Active GHAP") && !own.contains("earlier session"), "{own}");
    let other = call(&world.session("session-2"), "assemble_context", json!({}));
    let other = other["markdown"].as_str().unwrap();
    assert!(other.contains("An earlier session left GHAP"), "{other}");
    // Advice names tools to an agent, and commands to a user who types.
    assert!(other.contains("`adopt_ghap` with id") && !other.contains("rutter ghap"), "{other}");
    let typed = Desk { door: Door::Typed, ..world.session("session-2") };
    let typed = call(&typed, "assemble_context", json!({}));
    assert!(typed["markdown"].as_str().unwrap().contains("`rutter ghap adopt "), "{typed}");
}
