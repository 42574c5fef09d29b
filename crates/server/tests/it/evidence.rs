//! Only a captured run makes a resolution gold.

use rutter_memory::outcome::Verdict;
use serde_json::{Value, json};

use crate::support::{World, assert_answer, assert_refused, confirm, falsify, start, wait, with};

const RUN: &str = "cargo test parser";

fn resolved(world: &World, arguments: Value) -> (String, String) {
    let answer = world.call("resolve_ghap", arguments);
    (answer["tier"].as_str().unwrap().to_owned(), answer["why"].as_str().unwrap().to_owned())
}

#[test]
fn a_run_that_fits_makes_gold() {
    let world = World::new();
    world.call("start_ghap", start());
    world.ran("session-1", RUN, Verdict::Failed);
    assert_answer!(world.answer("resolve_ghap", falsify()), @r#"
    GHAP [ID] falsified, gold: a captured run shows it ([ID] failed, cargo test parser).
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
      "why": "a captured run shows it"
    }
    "#);
    world.call("start_ghap", start());
    world.ran("session-1", RUN, Verdict::Passed);
    assert_answer!(world.answer("resolve_ghap", confirm()), @r#"
    GHAP [ID] confirmed, gold: a captured run shows it ([ID] passed, cargo test parser).
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
      "why": "a captured run shows it"
    }
    "#);
}

#[test]
fn a_run_that_says_otherwise_leaves_it_a_word() {
    let world = World::new();
    world.call("start_ghap", start());
    world.ran("session-1", RUN, Verdict::Failed);
    assert_answer!(world.answer("resolve_ghap", confirm()), @r#"
    GHAP [ID] confirmed, silver: it is your word: the captured run says otherwise ([ID] failed, cargo test parser).
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
      "why": "it is your word: the captured run says otherwise"
    }
    "#);
}

#[test]
fn what_does_not_fit_is_no_evidence() {
    for (before, session, command, verdict) in [
        (true, "session-1", RUN, Verdict::Passed),
        (false, "session-2", RUN, Verdict::Passed),
        (false, "session-1", "cargo test lexer", Verdict::Passed),
        (false, "session-1", RUN, Verdict::Unknown),
    ] {
        let world = World::new();
        if before {
            drop(world.store());
            world.ran(session, command, verdict);
        }
        world.call("start_ghap", start());
        if !before {
            world.ran(session, command, verdict);
        }
        let (tier, why) = resolved(&world, confirm());
        assert_eq!(tier, "silver", "{before} {session} {command} {verdict}");
        assert_eq!(why, "it is your word: no captured run since the prediction fits it");
    }
}

#[test]
fn a_changed_prediction_is_not_borne_out_by_a_run_from_before() {
    let world = World::new();
    world.call("start_ghap", with(start(), json!({ "prediction": "`cargo test parser` fails" })));
    world.ran("session-1", RUN, Verdict::Passed);
    wait(60);
    world.call("update_ghap", json!({ "prediction": "`cargo test parser` passes" }));
    assert_eq!(resolved(&world, confirm()).0, "silver");
}

#[test]
fn a_run_that_is_named_is_the_evidence_or_the_call_is_refused() {
    let world = World::new();
    world.call("start_ghap", start());
    let fits = world.ran("session-1", RUN, Verdict::Passed).to_string();
    let other = world.ran("session-1", "cargo test lexer", Verdict::Passed).to_string();
    assert_refused!(world.refused("resolve_ghap", with(confirm(), json!({ "outcome": other }))), @"outcome [ID] is no evidence here: its command is not what the prediction is about");
    let answer = world.call("resolve_ghap", with(confirm(), json!({ "outcome": fits })));
    assert_eq!((&answer["tier"], &answer["outcome"]["id"]), (&json!("gold"), &json!(fits)));
}

#[test]
fn nothing_that_a_run_could_show_is_bronze() {
    let world = World::new();
    let vague = json!({ "prediction": "it will be nicer", "action": "think" });
    world.call("start_ghap", with(start(), vague));
    world.ran("session-1", RUN, Verdict::Passed);
    let why = "nothing that a run could show was predicted".to_owned();
    assert_eq!(resolved(&world, confirm()), ("bronze".to_owned(), why));
}

#[test]
fn what_is_given_up_is_called_so() {
    let world = World::new();
    world.call("start_ghap", start());
    world.ran("session-1", RUN, Verdict::Passed);
    let given_up = json!({ "status": "abandoned", "result": "the plan changed" });
    assert_answer!(world.answer("resolve_ghap", given_up), @r#"
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
fn a_run_that_waits_in_the_spool_is_taken_in_first() {
    use rutter_memory::store::{entry::What, spool};
    let world = World::new();
    world.call("start_ghap", start());
    wait(1);
    let run = world.outcome("session-1", RUN, Verdict::Passed);
    let entry = world.entry("session-1", What::Ran(Box::new(run.into())));
    spool::append(&world.files(), &[entry]).unwrap();
    assert_eq!(resolved(&world, confirm()).0, "gold");
}

#[test]
fn who_wants_no_evidence_gives_their_word() {
    let world = World::new();
    let own = json!({ "auto_captured": false });
    world.call("start_ghap", start());
    world.ran("session-1", RUN, Verdict::Passed);
    let why = "it is your word: no captured run was looked for, as you wished".to_owned();
    let given = resolved(&world, with(confirm(), own.clone()));
    assert_eq!(given, ("silver".to_owned(), why));
    // A named run is used even with `auto_captured: false`.
    world.call("start_ghap", start());
    let run = world.ran("session-1", RUN, Verdict::Passed).to_string();
    let named = with(with(confirm(), own), json!({ "outcome": run }));
    assert_eq!(resolved(&world, named).0, "gold");
    world.call("start_ghap", start());
    world.ran("session-1", RUN, Verdict::Passed);
    let looked = with(confirm(), json!({ "auto_captured": true }));
    assert_eq!(resolved(&world, looked).0, "gold");
}
