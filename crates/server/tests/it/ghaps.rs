//! The life cycle of a GHAP through the tools.

use rutter_memory::outcome::Verdict;
use serde_json::{Value, json};

use crate::support::{World, assert_answer, assert_refused, confirm, falsify, start, with};

#[test]
fn from_start_to_what_it_leaves() {
    let world = World::new();
    assert_answer!(world.answer("start_ghap", start()), @r#"
    GHAP [ID] started; it expects cargo test parser to pass.
    {
      "ok": true,
      "id": "[UUID]",
      "expects": "pass",
      "target": "cargo test parser",
      "testable": true,
      "revisions": 0
    }
    "#);
    let update = json!({ "hypothesis": "the lexer splits first", "note": "the parser is right" });
    assert_answer!(world.answer("update_ghap", update), @r#"
    GHAP [ID] updated; it expects cargo test parser to pass.
    {
      "ok": true,
      "id": "[UUID]",
      "expects": "pass",
      "target": "cargo test parser",
      "testable": true,
      "revisions": 1
    }
    "#);
    assert_answer!(world.answer("get_ghap", json!({})), @r#"
    [ID] active (debugging, read-the-error): CRLF files parse
    hypothesis: the lexer splits first
    action: use lines()
    prediction: `cargo test parser` passes
    {
      "has_active": true,
      "active": {
        "id": "[UUID]",
        "status": "active",
        "domain": "debugging",
        "strategy": "read-the-error",
        "goal": "CRLF files parse",
        "hypothesis": "the lexer splits first",
        "action": "use lines()",
        "prediction": "`cargo test parser` passes",
        "expects": "pass",
        "target": "cargo test parser",
        "testable": true,
        "revisions": [
          {
            "hypothesis": "lines are split at LF alone",
            "action": "use lines()",
            "prediction": "`cargo test parser` passes"
          }
        ],
        "notes": [
          "the parser is right"
        ],
        "created": "[TIME]"
      }
    }
    "#);
    assert_answer!(world.answer("resolve_ghap", falsify()), @r#"
    GHAP [ID] falsified, silver: it is your word: no captured run since the prediction fits it.
    {
      "ok": true,
      "id": "[UUID]",
      "status": "falsified",
      "tier": "silver",
      "why": "it is your word: no captured run since the prediction fits it"
    }
    "#);
    assert_answer!(world.answer("get_ghap", json!({})), @r#"
    No GHAP is active; start_ghap begins one.
    {
      "has_active": false
    }
    "#);
    assert_answer!(world.answer("get_ghap", json!({ "list": true })), @r#"
    [ID] falsified: `CRLF files parse` — `look for every place that splits lines`
    {
      "has_active": false,
      "entries": [
        {
          "id": "[UUID]",
          "status": "falsified",
          "domain": "debugging",
          "goal": "CRLF files parse",
          "takeaway": "look for every place that splits lines"
        }
      ]
    }
    "#);
    let id = world.call("get_ghap", json!({ "list": true }))["entries"][0]["id"].clone();
    assert_answer!(world.answer("get_ghap", json!({ "id": id })), @r#"
    [ID] falsified (debugging, read-the-error): CRLF files parse
    hypothesis: the lexer splits first
    action: use lines()
    prediction: `cargo test parser` passes
    result: still red
    surprise: the lexer splits before the parser
    takeaway: look for every place that splits lines
    {
      "has_active": false,
      "ghap": {
        "id": "[UUID]",
        "status": "falsified",
        "domain": "debugging",
        "strategy": "read-the-error",
        "goal": "CRLF files parse",
        "hypothesis": "the lexer splits first",
        "action": "use lines()",
        "prediction": "`cargo test parser` passes",
        "expects": "pass",
        "target": "cargo test parser",
        "testable": true,
        "revisions": [
          {
            "hypothesis": "lines are split at LF alone",
            "action": "use lines()",
            "prediction": "`cargo test parser` passes"
          }
        ],
        "notes": [
          "the parser is right"
        ],
        "result": "still red",
        "surprise": "the lexer splits before the parser",
        "root_cause": {
          "category": "wrong-scope",
          "description": "two places split lines"
        },
        "takeaway": "look for every place that splits lines",
        "tier": "silver",
        "created": "[TIME]",
        "ended": "[TIME]",
        "origin": "agent in [FOLDER]/ship, session session-1"
      }
    }
    "#);
}

#[test]
fn what_no_run_can_settle_is_said_at_once() {
    let world = World::new();
    let vague = with(start(), json!({ "prediction": "it will be nicer", "action": "think" }));
    assert_answer!(world.answer("start_ghap", vague), @r#"
    GHAP [ID] started; no run can settle it: name a command or test in the prediction.
    {
      "ok": true,
      "id": "[UUID]",
      "expects": "pass",
      "testable": false,
      "revisions": 0,
      "hint": "no run can settle it: name a command or test in the prediction"
    }
    "#);
    let plain = json!({ "expects": "fail", "target": "cargo test lexer" });
    assert_answer!(world.answer("update_ghap", plain), @r#"
    GHAP [ID] updated; it expects cargo test lexer to fail.
    {
      "ok": true,
      "id": "[UUID]",
      "expects": "fail",
      "target": "cargo test lexer",
      "testable": true,
      "revisions": 0
    }
    "#);
}

#[test]
fn one_is_active_at_a_time() {
    let world = World::new();
    world.call("start_ghap", start());
    assert_refused!(world.refused("start_ghap", start()), @r#"a GHAP is active already: [ID] "CRLF files parse"; resolve_ghap ends it, update_ghap changes it"#);
    world.call("resolve_ghap", confirm());
    world.call("start_ghap", start());
}

#[test]
fn what_cannot_be_done_without_one_says_how_to_begin() {
    let world = World::new();
    assert_refused!(world.refused("update_ghap", json!({ "note": "x" })), @"no GHAP is active here; start_ghap begins one");
    assert_refused!(world.refused("resolve_ghap", confirm()), @"no GHAP is active here; start_ghap begins one");
}

#[test]
fn a_falsified_one_needs_what_can_be_learnt() {
    let world = World::new();
    world.call("start_ghap", start());
    let bare = json!({ "status": "falsified", "result": "still red" });
    assert_refused!(world.refused("resolve_ghap", bare.clone()), @"a falsified GHAP needs a surprise, and a root cause with its category: send surprise (text) and root_cause {category, description}");
    let half = with(bare.clone(), json!({ "surprise": "it fails alone" }));
    assert_refused!(world.refused("resolve_ghap", half), @"a falsified GHAP needs a root cause and its category: send surprise (text) and root_cause {category, description}");
    let cause = json!({ "root_cause": { "category": "oversight", "description": "x" } });
    assert_refused!(world.refused("resolve_ghap", with(bare, cause)), @"a falsified GHAP needs a surprise: send surprise (text) and root_cause {category, description}");
    assert_eq!(world.call("get_ghap", json!({}))["has_active"], true, "it is still there");
}

#[test]
fn nothing_to_change_is_said_so() {
    let world = World::new();
    world.call("start_ghap", start());
    assert_refused!(world.refused("update_ghap", json!({})), @"nothing was sent to change; send hypothesis, action, prediction, strategy, expects, target, confidence or a note");
    assert_refused!(world.refused("update_ghap", json!({ "hypothesis": "  " })), @"nothing was sent to change; send hypothesis, action, prediction, strategy, expects, target, confidence or a note");
}

#[test]
fn only_a_changed_belief_is_a_revision() {
    let world = World::new();
    world.call("start_ghap", start());
    for (change, revisions) in [
        (json!({ "note": "a remark" }), 0),
        (json!({ "strategy": "check-assumptions" }), 0),
        (json!({ "confidence": 0.3 }), 0),
        (json!({ "hypothesis": "lines are split at LF alone" }), 0),
        (json!({ "hypothesis": "another" }), 1),
        (json!({ "action": "another" }), 2),
        (json!({ "prediction": "`cargo test lexer` fails" }), 3),
    ] {
        assert_eq!(world.call("update_ghap", change.clone())["revisions"], revisions, "{change}");
    }
    let now = &world.call("get_ghap", json!({}))["active"];
    assert_eq!(now["strategy"], "check-assumptions");
    assert_eq!(now["confidence"], 0.3);
    assert_eq!(now["notes"], json!(["a remark"]));
    assert_eq!(now["revisions"][0]["hypothesis"], "lines are split at LF alone");
    assert_eq!(now["revisions"][2]["prediction"], "`cargo test parser` passes");
}

#[test]
fn ids_that_name_nothing_are_told_what_an_id_is() {
    let world = World::new();
    assert_refused!(world.refused("get_ghap", json!({ "id": "nonsense" })), @"id: an id is 4 to 32 hexadecimal letters from its end, as the lists show it");
    assert_refused!(world.refused("get_ghap", json!({ "id": "0123456789abcdef" })), @"no GHAP has an id that ends in 0123456789abcdef");
    world.call("start_ghap", start());
    let run = with(confirm(), json!({ "outcome": "0123456789abcdef" }));
    assert_refused!(world.refused("resolve_ghap", run), @"no outcome has an id that ends in 0123456789abcdef");
    let run = with(confirm(), json!({ "outcome": "-" }));
    assert_refused!(world.refused("resolve_ghap", run), @"outcome: an id is 4 to 32 hexadecimal letters from its end, as the lists show it");
}

#[test]
fn any_end_of_an_id_will_do() {
    let world = World::new();
    let id = world.call("start_ghap", start())["id"].as_str().unwrap().to_owned();
    for end in [&id[..], &id[id.len() - 8..], &id[id.len() - 8..].to_uppercase()] {
        assert_eq!(world.call("get_ghap", json!({ "id": end }))["ghap"]["id"], id.as_str());
    }
}

#[test]
fn an_unknown_tool_is_told_the_known_ones() {
    let world = World::new();
    assert_refused!(world.refused("start_gap", json!({})), @"there is no tool `start_gap`; there are: start_ghap, update_ghap, resolve_ghap, get_ghap, adopt_ghap, search_experiences, search_other_projects, assemble_context, premortem, remember, recall_memories, forget, list_clusters, add_value, list_values, status");
}

/// The client shows a model the structured answer, so the advice on the next step must be there.
#[test]
fn what_to_do_next_is_where_a_model_reads_it() {
    let world = World::new();
    let vague = json!({ "prediction": "it will be nicer", "action": "think" });
    let hint = "no run can settle it: name a command or test in the prediction";
    assert_eq!(world.call("start_ghap", with(start(), vague))["hint"], hint);
    assert_eq!(world.call("update_ghap", json!({ "note": "x" }))["hint"], hint);
    let clear = json!({ "prediction": "`cargo test parser` passes" });
    assert_eq!(world.call("update_ghap", clear)["hint"], Value::Null);
    let nothing = world.call("search_experiences", json!({ "query": "zebra" }));
    assert_eq!(nothing["hint"], "say it in other words, or ask recall_memories");
    let nothing = world.call("recall_memories", json!({ "query": "zebra" }));
    assert_eq!(nothing["hint"], "what GHAPs taught is found by search_experiences");
}

#[test]
fn one_that_is_asked_for_by_its_id_has_its_evidence() {
    let world = World::new();
    world.call("start_ghap", start());
    let run = world.ran("session-1", "cargo test parser", Verdict::Failed).to_string();
    let id = world.call("resolve_ghap", falsify())["id"].clone();
    let whole = world.call("get_ghap", json!({ "id": id }))["ghap"].clone();
    let expected = json!({ "id": run, "command": "cargo test parser", "verdict": "failed" });
    assert_eq!(whole["outcome"], expected);
    assert_eq!(
        (&whole["expects"], &whole["target"]),
        (&json!("pass"), &json!("cargo test parser"))
    );
    assert!(whole["ended"].as_str() > whole["created"].as_str(), "{whole}");
    // A deleted run is not mentioned.
    world.call("forget", json!({ "ids": [run] }));
    let whole = world.call("get_ghap", json!({ "id": id }))["ghap"].clone();
    assert_eq!((&whole["outcome"], &whole["tier"]), (&Value::Null, &json!("gold")));
}

#[test]
fn a_lesson_says_something() {
    let world = World::new();
    world.call("start_ghap", start());
    for lesson in [json!({}), json!({ "takeaway": " ", "what_worked": "" })] {
        let refusal = world.refused("resolve_ghap", with(confirm(), json!({ "lesson": lesson })));
        assert_eq!(refusal, "lesson needs takeaway or what_worked");
    }
}

/// Models fill in every argument they know of.
#[test]
fn an_optional_text_that_says_nothing_was_not_said() {
    let world = World::new();
    let blank = json!({ "target": "", "expects": " " });
    let started = world.call("start_ghap", with(start(), blank));
    assert_eq!(started["target"], "cargo test parser");
    let blank = json!({ "note": "\n", "target": "", "strategy": "", "action": "use split" });
    world.call("update_ghap", blank);
    let whole = world.call("get_ghap", json!({ "id": "", "cursor": "", "status": "" }));
    assert_eq!(whole["active"]["action"], "use split");
    let blank = json!({ "id": "", "outcome": " ", "surprise": "", "lesson": { "what_worked": "lines()", "takeaway": "" } });
    world.call("resolve_ghap", with(confirm(), blank));
    world.call("recall_memories", json!({ "id": "", "category": "", "query": "" }));
    // A required text must not be empty.
    assert_eq!(world.refused("start_ghap", with(start(), json!({ "goal": "" }))), "goal is empty");
}
