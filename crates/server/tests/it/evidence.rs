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
      "outcome": {
        "id": "[UUID]",
        "command": "cargo test parser",
        "verdict": "failed"
      },
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
      "outcome": {
        "id": "[UUID]",
        "command": "cargo test parser",
        "verdict": "passed"
      },
      "why": "a captured run confirms it"
    }
    "#);
}

#[test]
fn contradicting_run_makes_silver() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    world.record_run("session-1", RUN, Verdict::Failed);
    assert_answer!(world.call_answer("resolve_ghap", confirm_arguments()), @r#"
    GHAP [ID] confirmed, silver: it is your claim: the captured run contradicts it ([ID] failed, cargo test parser).
    {
      "ok": true,
      "id": "[UUID]",
      "status": "confirmed",
      "tier": "silver",
      "outcome": {
        "id": "[UUID]",
        "command": "cargo test parser",
        "verdict": "failed"
      },
      "why": "it is your claim: the captured run contradicts it"
    }
    "#);
}

#[test]
fn unrelated_runs_are_not_evidence() {
    for (before, session, command, verdict) in [
        (true, "session-1", RUN, Verdict::Passed),
        (false, "session-2", RUN, Verdict::Passed),
        (false, "session-1", "cargo test lexer", Verdict::Passed),
        (false, "session-1", RUN, Verdict::Unknown),
    ] {
        let world = ToolTestEnv::new();
        if before {
            drop(world.store());
            world.record_run(session, command, verdict);
        }
        world.call_ok("start_ghap", ghap_start_arguments());
        if !before {
            world.record_run(session, command, verdict);
        }
        let (tier, why) = resolved(&world, confirm_arguments());
        assert_eq!(tier, "silver", "{before} {session} {command} {verdict}");
        assert_eq!(why, "it is your claim: no captured run since the prediction fits it");
    }
}

#[test]
fn earlier_run_cannot_support_new_prediction() {
    let world = ToolTestEnv::new();
    world.call_ok(
        "start_ghap",
        with_fields(ghap_start_arguments(), json!({ "prediction": "`cargo test parser` fails" })),
    );
    world.record_run("session-1", RUN, Verdict::Passed);
    advance_clock(60);
    world.call_ok("update_ghap", json!({ "prediction": "`cargo test parser` passes" }));
    assert_eq!(resolved(&world, confirm_arguments()).0, "silver");
}

#[test]
fn named_run_is_used_or_refused() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    let fits = world.record_run("session-1", RUN, Verdict::Passed).to_string();
    let other = world.record_run("session-1", "cargo test lexer", Verdict::Passed).to_string();
    assert_refused!(world.call_refused("resolve_ghap", with_fields(confirm_arguments(), json!({ "outcome": other }))), @"outcome [ID] is no evidence here: the prediction is about another command");
    let answer =
        world.call_ok("resolve_ghap", with_fields(confirm_arguments(), json!({ "outcome": fits })));
    assert_eq!((&answer["tier"], &answer["outcome"]["id"]), (&json!("gold"), &json!(fits)));
}

#[test]
fn untestable_prediction_makes_bronze() {
    let world = ToolTestEnv::new();
    let vague = json!({ "prediction": "it will be nicer", "action": "think" });
    world.call_ok("start_ghap", with_fields(ghap_start_arguments(), vague));
    world.record_run("session-1", RUN, Verdict::Passed);
    let why = "the prediction names no result that a run can show".to_owned();
    assert_eq!(resolved(&world, confirm_arguments()), ("bronze".to_owned(), why));
}

#[test]
fn abandoned_ghap_has_abandoned_tier() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    world.record_run("session-1", RUN, Verdict::Passed);
    let given_up = json!({ "status": "abandoned", "result": "the plan changed" });
    assert_answer!(world.call_answer("resolve_ghap", given_up), @r#"
    GHAP [ID] abandoned: it was given up.
    {
      "ok": true,
      "id": "[UUID]",
      "status": "abandoned",
      "tier": "abandoned",
      "why": "it was given up"
    }
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
