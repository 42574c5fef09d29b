//! Only a captured run makes a resolution gold.

use rutter_memory::outcome::Verdict;
use serde_json::{Value, json};

use crate::support::{
    ToolTestEnv, advance_clock, assert_answer, assert_refused, confirm_arguments,
    falsify_arguments, ghap_start_arguments, with_fields,
};

const RUN: &str = "cargo test parser";

fn resolved(world: &ToolTestEnv, arguments: Value) -> (String, String) {
    let answer = world.call_ok("resolve_ghap", arguments);
    (answer["tier"].as_str().unwrap().to_owned(), answer["why"].as_str().unwrap().to_owned())
}

#[test]
fn fitting_run_makes_gold() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    world.record_run("session-1", RUN, Verdict::Failed);
    assert_answer!(world.call_answer("resolve_ghap", falsify_arguments()), @r#"
    GHAP [ID] falsified, gold: a captured run confirms it ([ID] failed, cargo test parser).
    {
      "ok": true,
      "id": "[UUID]",
      "status": "falsified",
      "tier": "gold",
      "outcome": { "id": "[UUID]", "command": "cargo test parser", "verdict": "failed" },
      "why": "a captured run confirms it"
    }
    "#);
    world.call_ok("start_ghap", ghap_start_arguments());
    world.record_run("session-1", RUN, Verdict::Passed);
    assert_answer!(world.call_answer("resolve_ghap", confirm_arguments()), @r#"
    GHAP [ID] confirmed, gold: a captured run confirms it ([ID] passed, cargo test parser).
    {
      "ok": true,
      "id": "[UUID]",
      "status": "confirmed",
      "tier": "gold",
      "outcome": { "id": "[UUID]", "command": "cargo test parser", "verdict": "passed" },
      "why": "a captured run confirms it"
    }
    "#);
}

/// Starts the GHAP with some fields replaced.
fn start(world: &ToolTestEnv, fields: Value) {
    world.call_ok("start_ghap", with_fields(ghap_start_arguments(), fields));
}

/// The reason if no run counts.
const NO_RUN: &str = "it is your claim: no captured run since the prediction fits it";

type SetUp = fn(&ToolTestEnv);

/// Cases of confirmed GHAPs: name, set-up, tier and its reason.
const CASES: [(&str, SetUp, &str, &str); 7] = [
    (
        "contradicting run",
        |world| {
            start(world, json!({}));
            world.record_run("session-1", RUN, Verdict::Failed);
        },
        "silver",
        "it is your claim: the captured run contradicts it",
    ),
    (
        "run before the prediction",
        |world| {
            drop(world.store());
            world.record_run("session-1", RUN, Verdict::Passed);
            start(world, json!({}));
        },
        "silver",
        NO_RUN,
    ),
    (
        "run of another session",
        |world| {
            start(world, json!({}));
            world.record_run("session-2", RUN, Verdict::Passed);
        },
        "silver",
        NO_RUN,
    ),
    (
        "run of another command",
        |world| {
            start(world, json!({}));
            world.record_run("session-1", "cargo test lexer", Verdict::Passed);
        },
        "silver",
        NO_RUN,
    ),
    (
        "run without a verdict",
        |world| {
            start(world, json!({}));
            world.record_run("session-1", RUN, Verdict::Unknown);
        },
        "silver",
        NO_RUN,
    ),
    (
        "run before the new prediction",
        |world| {
            start(world, json!({ "prediction": "`cargo test parser` fails" }));
            world.record_run("session-1", RUN, Verdict::Passed);
            advance_clock(60);
            world.call_ok("update_ghap", json!({ "prediction": "`cargo test parser` passes" }));
        },
        "silver",
        NO_RUN,
    ),
    (
        "untestable prediction",
        |world| {
            start(world, json!({ "prediction": "it will be nicer", "action": "think" }));
            world.record_run("session-1", RUN, Verdict::Passed);
        },
        "bronze",
        "the prediction names no result that a run can show",
    ),
];

#[test]
fn only_fitting_run_makes_gold() {
    for (name, set_up, tier, why) in CASES {
        let world = ToolTestEnv::new();
        set_up(&world);
        let answer = world.call_ok("resolve_ghap", confirm_arguments());
        assert_eq!((&answer["tier"], &answer["why"]), (&tier.into(), &why.into()), "{name}");
        let contradicted = answer["outcome"]["verdict"] == "failed";
        assert_eq!(contradicted, name == "contradicting run", "{name}");
    }
}

#[test]
fn named_run_is_used_or_refused() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    let fits = world.record_run("session-1", RUN, Verdict::Passed).to_string();
    let other = world.record_run("session-1", "cargo test lexer", Verdict::Passed).to_string();
    assert_refused!(world.call_refused("resolve_ghap", with_fields(confirm_arguments(), json!({ "outcome": other }))), @"outcome [ID] cannot be the evidence: the prediction is about another command");
    let answer =
        world.call_ok("resolve_ghap", with_fields(confirm_arguments(), json!({ "outcome": fits })));
    assert_eq!((&answer["tier"], &answer["outcome"]["id"]), (&json!("gold"), &json!(fits)));
}

#[test]
fn abandoned_ghap_has_abandoned_tier() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    world.record_run("session-1", RUN, Verdict::Passed);
    let given_up = json!({ "status": "abandoned", "result": "the plan changed" });
    assert_answer!(world.call_answer("resolve_ghap", given_up), @r#"
    GHAP [ID] abandoned: it ended without a result.
    { "ok": true, "id": "[UUID]", "status": "abandoned", "tier": "abandoned", "why": "it ended without a result" }
    "#);
}

#[test]
fn resolve_drains_the_spool_first() {
    use rutter_memory::store::{entry::EntryKind, spool};
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    advance_clock(1);
    let run = world.outcome("session-1", RUN, Verdict::Passed);
    let entry = world.entry("session-1", EntryKind::Ran(Box::new(run.into())));
    spool::append_entries(&world.files(), &[entry]).unwrap();
    assert_eq!(resolved(&world, confirm_arguments()).0, "gold");
}

#[test]
fn auto_captured_false_skips_evidence() {
    let world = ToolTestEnv::new();
    let own = json!({ "auto_captured": false });
    world.call_ok("start_ghap", ghap_start_arguments());
    world.record_run("session-1", RUN, Verdict::Passed);
    let why = "it is your claim: no captured run was searched, as requested".to_owned();
    let given = resolved(&world, with_fields(confirm_arguments(), own.clone()));
    assert_eq!(given, ("silver".to_owned(), why));
    // A named run is used even with `auto_captured: false`.
    world.call_ok("start_ghap", ghap_start_arguments());
    let run = world.record_run("session-1", RUN, Verdict::Passed).to_string();
    let named = with_fields(with_fields(confirm_arguments(), own), json!({ "outcome": run }));
    assert_eq!(resolved(&world, named).0, "gold");
    world.call_ok("start_ghap", ghap_start_arguments());
    world.record_run("session-1", RUN, Verdict::Passed);
    let looked = with_fields(confirm_arguments(), json!({ "auto_captured": true }));
    assert_eq!(resolved(&world, looked).0, "gold");
}
