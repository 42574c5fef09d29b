//! `assemble_context`: all rows that are relevant to a task, within a budget.

use rutter_memory::document::DocumentKind;
use rutter_memory::outcome::Verdict;
use rutter_memory::quote::estimate_tokens;
use rutter_server::{CallChannel, ServerContext};
use serde_json::{Value, json};

use crate::support::{
    ToolTestEnv, advance_clock, assert_answer, call_ok, falsify_arguments, ghap_start_arguments,
    with_fields,
};

/// Creates experiences and memories about one topic.
fn world_about_cache() -> ToolTestEnv {
    let world = ToolTestEnv::new();
    for (goal, takeaway) in [
        ("the cache evicts old entries", "evict entries of the cache by age, not by size"),
        ("old cache entries go at midnight", "a timer that evicts must use the local zone"),
        (
            "evict the cache when memory is short",
            "listen to memory pressure before you evict old entries",
        ),
    ] {
        world.call_ok("start_ghap", with_fields(ghap_start_arguments(), json!({ "goal": goal })));
        world.call_ok(
            "resolve_ghap",
            with_fields(falsify_arguments(), json!({ "lesson": { "takeaway": takeaway } })),
        );
    }
    for content in [
        "the cache evicts old entries every ten minutes",
        "old entries of the cache are kept in the harbour master's ledger",
        "the cache must not evict entries while a ship unloads",
    ] {
        world.call_ok("remember", json!({ "content": content, "category": "fact" }));
    }
    world
}

const QUERY: &str = "the cache does not evict old entries";

fn sources(context: &Value) -> Vec<String> {
    serde_json::from_value(context["sources_used"].clone()).unwrap()
}

#[test]
fn figures_match_the_markdown() {
    let world = world_about_cache();
    let context = world.call_ok("assemble_context", json!({ "query": QUERY, "depth": "rich" }));
    let markdown = context["markdown"].as_str().unwrap();
    assert!(markdown.contains("cache"), "{markdown}");
    assert_eq!(context["token_count"], estimate_tokens(markdown));
    assert!(context["item_count"].as_u64().unwrap() > 3, "{context}");
    for source in sources(&context) {
        assert!(
            DocumentKind::NAMES.contains(&source.as_str()),
            "{source} is no name of context_types"
        );
    }
}

#[test]
fn context_types_filter_sources() {
    let world = world_about_cache();
    for kind in ["memory", "experience"] {
        let ask = json!({ "query": QUERY, "context_types": [kind], "depth": "rich" });
        assert_eq!(sources(&world.call_ok("assemble_context", ask)), [kind]);
    }
}

#[test]
fn limits_truncate_and_report() {
    let world = world_about_cache();
    let one = world.call_ok("assemble_context", json!({ "query": QUERY, "limit": 1 }));
    assert_eq!((&one["item_count"], &one["truncated"]), (&json!(1), &json!(true)));
    let ask = json!({ "query": QUERY, "max_tokens": 100, "limit": 50 });
    let few = world.call_ok("assemble_context", ask);
    assert!(few["token_count"].as_u64().unwrap() <= 100, "{few}");
    assert_eq!(few["truncated"], true);
}

#[test]
fn without_query_gives_session_start() {
    let world = world_about_cache();
    call_ok(
        &world.session("session-0"),
        "start_ghap",
        with_fields(ghap_start_arguments(), json!({ "goal": "left open" })),
    );
    world.end_session("session-0");
    world.record_run("session-1", "cargo test parser", Verdict::Failed);
    for ask in [json!({}), json!({ "query": "  " })] {
        let context = world.call_ok("assemble_context", ask);
        let markdown = context["markdown"].as_str().unwrap();
        assert!(markdown.contains("left open"), "{markdown}");
        assert!(markdown.contains("cargo test parser"), "{markdown}");
    }
}

#[test]
fn empty_memory_gives_short_answer() {
    let world = ToolTestEnv::new();
    assert_answer!(world.call_answer("assemble_context", json!({ "query": "cache" })), @r#"
    Nothing stored is relevant to this.
    { "markdown": "", "token_count": 0, "item_count": 0, "truncated": false, "sources_used": [] }
    "#);
}

#[test]
fn repeated_query_gives_same_context() {
    let world = world_about_cache();
    let ask = json!({ "query": QUERY });
    let first = world.call_ok("assemble_context", ask.clone());
    assert_ne!(first["markdown"], "");
    assert_eq!(world.call_ok("assemble_context", ask), first);
}

#[test]
fn own_ghap_is_not_an_orphan() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    // For other sessions this one is over after a long silence; for itself it goes on.
    advance_clock(13 * 3600);
    let own = world.call_ok("assemble_context", json!({}))["markdown"].as_str().unwrap().to_owned();
    assert!(own.contains("Active GHAP") && !own.contains("earlier session"), "{own}");
    let other = call_ok(&world.session("session-2"), "assemble_context", json!({}));
    let other = other["markdown"].as_str().unwrap();
    assert!(other.contains("An earlier session left GHAP"), "{other}");
    // Advice names tools to an agent, and commands to a user who types.
    assert!(other.contains("`adopt_ghap` with id") && !other.contains("rutter ghap"), "{other}");
    let typed = ServerContext { channel: CallChannel::CommandLine, ..world.session("session-2") };
    let typed = call_ok(&typed, "assemble_context", json!({}));
    assert!(typed["markdown"].as_str().unwrap().contains("`rutter ghap adopt "), "{typed}");
}
