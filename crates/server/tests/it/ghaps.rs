//! The life cycle of a GHAP through the tools.

use rutter_memory::outcome::Verdict;
use serde_json::{Value, json};

use crate::support::{
    ToolTestEnv, assert_answer, assert_refused, confirm_arguments, falsify_arguments,
    ghap_start_arguments, with_fields,
};

#[test]
fn complete_ghap_life_cycle() {
    let world = ToolTestEnv::new();
    assert_answer!(world.call_answer("start_ghap", ghap_start_arguments()), @r#"
    GHAP [ID] started; it expects cargo test parser to pass.
    { "ok": true, "id": "[UUID]", "expects": "pass", "target": "cargo test parser", "testable": true, "revisions": 0 }
    "#);
    let update = json!({ "hypothesis": "the lexer splits first", "note": "the parser is right" });
    assert_answer!(world.call_answer("update_ghap", update), @r#"
    GHAP [ID] updated; it expects cargo test parser to pass.
    { "ok": true, "id": "[UUID]", "expects": "pass", "target": "cargo test parser", "testable": true, "revisions": 1 }
    "#);
    assert_answer!(world.call_answer("get_ghap", json!({})), @r#"
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
        "revisions": [{ "hypothesis": "lines are split at LF alone", "action": "use lines()", "prediction": "`cargo test parser` passes" }],
        "notes": ["the parser is right"],
        "created": "[TIME]"
      }
    }
    "#);
    assert_answer!(world.call_answer("resolve_ghap", falsify_arguments()), @r#"
    GHAP [ID] falsified, silver: it is your claim: no captured run since the prediction fits it.
    { "ok": true, "id": "[UUID]", "status": "falsified", "tier": "silver", "why": "it is your claim: no captured run since the prediction fits it" }
    "#);
    assert_answer!(world.call_answer("get_ghap", json!({})), @r#"
    No GHAP is active; start_ghap starts one.
    { "has_active": false }
    "#);
    assert_answer!(world.call_answer("get_ghap", json!({ "list": true })), @r#"
    [ID] falsified: `CRLF files parse` — `look for every place that splits lines`
    {
      "has_active": false,
      "entries": [{ "id": "[UUID]", "status": "falsified", "domain": "debugging", "goal": "CRLF files parse", "takeaway": "look for every place that splits lines" }]
    }
    "#);
    let id = world.call_ok("get_ghap", json!({ "list": true }))["entries"][0]["id"].clone();
    assert_answer!(world.call_answer("get_ghap", json!({ "id": id })), @r#"
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
        "revisions": [{ "hypothesis": "lines are split at LF alone", "action": "use lines()", "prediction": "`cargo test parser` passes" }],
        "notes": ["the parser is right"],
        "result": "still red",
        "surprise": "the lexer splits before the parser",
        "root_cause": { "category": "wrong-scope", "description": "two places split lines" },
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
fn untestable_prediction_gets_hint() {
    let world = ToolTestEnv::new();
    let vague = with_fields(
        ghap_start_arguments(),
        json!({ "prediction": "it will be nicer", "action": "think" }),
    );
    assert_answer!(world.call_answer("start_ghap", vague), @r#"
    GHAP [ID] started; no run can test it: name a command or test in the prediction.
    {
      "ok": true,
      "id": "[UUID]",
      "expects": "pass",
      "testable": false,
      "revisions": 0,
      "hint": "no run can test it: name a command or test in the prediction"
    }
    "#);
    let plain = json!({ "expects": "fail", "target": "cargo test lexer" });
    assert_answer!(world.call_answer("update_ghap", plain), @r#"
    GHAP [ID] updated; it expects cargo test lexer to fail.
    { "ok": true, "id": "[UUID]", "expects": "fail", "target": "cargo test lexer", "testable": true, "revisions": 0 }
    "#);
}

#[test]
fn second_active_ghap_is_refused() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    assert_refused!(world.call_refused("start_ghap", ghap_start_arguments()), @r#"a GHAP is already active: [ID] "CRLF files parse"; resolve_ghap ends it, update_ghap changes it"#);
    world.call_ok("resolve_ghap", confirm_arguments());
    world.call_ok("start_ghap", ghap_start_arguments());
}

#[test]
fn missing_ghap_names_start_ghap() {
    let world = ToolTestEnv::new();
    assert_refused!(world.call_refused("update_ghap", json!({ "note": "x" })), @"no GHAP is active here; start_ghap starts one");
    assert_refused!(world.call_refused("resolve_ghap", confirm_arguments()), @"no GHAP is active here; start_ghap starts one");
}

#[test]
fn falsified_needs_surprise_and_cause() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    let bare = json!({ "status": "falsified", "result": "still red" });
    assert_refused!(world.call_refused("resolve_ghap", bare.clone()), @"a falsified GHAP needs a surprise, and a root cause with its category: send surprise (text) and root_cause {category, description}");
    let half = with_fields(bare.clone(), json!({ "surprise": "it fails alone" }));
    assert_refused!(world.call_refused("resolve_ghap", half), @"a falsified GHAP needs a root cause and its category: send surprise (text) and root_cause {category, description}");
    let cause = json!({ "root_cause": { "category": "oversight", "description": "x" } });
    assert_refused!(world.call_refused("resolve_ghap", with_fields(bare, cause)), @"a falsified GHAP needs a surprise: send surprise (text) and root_cause {category, description}");
    assert_eq!(world.call_ok("get_ghap", json!({}))["has_active"], true, "it is still there");
}

#[test]
fn empty_update_is_refused() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    assert_refused!(world.call_refused("update_ghap", json!({})), @"nothing to change; send hypothesis, action, prediction, strategy, expects, target, confidence or a note");
    assert_refused!(world.call_refused("update_ghap", json!({ "hypothesis": "  " })), @"nothing to change; send hypothesis, action, prediction, strategy, expects, target, confidence or a note");
}

#[test]
fn only_changed_hypothesis_adds_revision() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    for (change, revisions) in [
        (json!({ "note": "a remark" }), 0),
        (json!({ "strategy": "check-assumptions" }), 0),
        (json!({ "confidence": 0.3 }), 0),
        (json!({ "hypothesis": "lines are split at LF alone" }), 0),
        (json!({ "hypothesis": "another" }), 1),
        (json!({ "action": "another" }), 2),
        (json!({ "prediction": "`cargo test lexer` fails" }), 3),
    ] {
        assert_eq!(
            world.call_ok("update_ghap", change.clone())["revisions"],
            revisions,
            "{change}"
        );
    }
    let now = &world.call_ok("get_ghap", json!({}))["active"];
    assert_eq!(now["strategy"], "check-assumptions");
    assert_eq!(now["confidence"], 0.3);
    assert_eq!(now["notes"], json!(["a remark"]));
    assert_eq!(now["revisions"][0]["hypothesis"], "lines are split at LF alone");
    assert_eq!(now["revisions"][2]["prediction"], "`cargo test parser` passes");
}

#[test]
fn invalid_ids_are_explained() {
    let world = ToolTestEnv::new();
    assert_refused!(world.call_refused("get_ghap", json!({ "id": "nonsense" })), @"id: an id must be the last 4 to 32 hexadecimal digits of a full id, as the lists show it");
    assert_refused!(world.call_refused("get_ghap", json!({ "id": "0123456789abcdef" })), @"no GHAP has an id that ends in 0123456789abcdef");
    world.call_ok("start_ghap", ghap_start_arguments());
    let run = with_fields(confirm_arguments(), json!({ "outcome": "0123456789abcdef" }));
    assert_refused!(world.call_refused("resolve_ghap", run), @"no outcome has an id that ends in 0123456789abcdef");
    let run = with_fields(confirm_arguments(), json!({ "outcome": "-" }));
    assert_refused!(world.call_refused("resolve_ghap", run), @"outcome: an id must be the last 4 to 32 hexadecimal digits of a full id, as the lists show it");
}

#[test]
fn any_unique_id_suffix_works() {
    let world = ToolTestEnv::new();
    let id = world.call_ok("start_ghap", ghap_start_arguments())["id"].as_str().unwrap().to_owned();
    for end in [&id[..], &id[id.len() - 8..], &id[id.len() - 8..].to_uppercase()] {
        assert_eq!(world.call_ok("get_ghap", json!({ "id": end }))["ghap"]["id"], id.as_str());
    }
}

#[test]
fn unknown_tool_lists_known_tools() {
    let world = ToolTestEnv::new();
    assert_refused!(world.call_refused("start_gap", json!({})), @"there is no tool `start_gap`; the tools are: start_ghap, update_ghap, resolve_ghap, get_ghap, adopt_ghap, search_experiences, search_other_projects, assemble_context, premortem, remember, recall_memories, forget, list_clusters, add_value, list_values, status");
}

/// The client shows a model the structured answer, so the advice on the next step must be there.
#[test]
fn advice_is_in_structured_answer() {
    let world = ToolTestEnv::new();
    let vague = json!({ "prediction": "it will be nicer", "action": "think" });
    let hint = "no run can test it: name a command or test in the prediction";
    assert_eq!(
        world.call_ok("start_ghap", with_fields(ghap_start_arguments(), vague))["hint"],
        hint
    );
    assert_eq!(world.call_ok("update_ghap", json!({ "note": "x" }))["hint"], hint);
    let clear = json!({ "prediction": "`cargo test parser` passes" });
    assert_eq!(world.call_ok("update_ghap", clear)["hint"], Value::Null);
    let nothing = world.call_ok("search_experiences", json!({ "query": "zebra" }));
    assert_eq!(nothing["hint"], "use other words, or call recall_memories");
    let nothing = world.call_ok("recall_memories", json!({ "query": "zebra" }));
    assert_eq!(nothing["hint"], "search_experiences finds the lessons of GHAPs");
}

#[test]
fn ghap_by_id_has_evidence() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    let run = world.record_run("session-1", "cargo test parser", Verdict::Failed).to_string();
    let id = world.call_ok("resolve_ghap", falsify_arguments())["id"].clone();
    let whole = world.call_ok("get_ghap", json!({ "id": id }))["ghap"].clone();
    let expected = json!({ "id": run, "command": "cargo test parser", "verdict": "failed" });
    assert_eq!(whole["outcome"], expected);
    assert_eq!(
        (&whole["expects"], &whole["target"]),
        (&json!("pass"), &json!("cargo test parser"))
    );
    assert!(whole["ended"].as_str() > whole["created"].as_str(), "{whole}");
    // A deleted run is not mentioned.
    world.call_ok("forget", json!({ "ids": [run] }));
    let whole = world.call_ok("get_ghap", json!({ "id": id }))["ghap"].clone();
    assert_eq!((&whole["outcome"], &whole["tier"]), (&Value::Null, &json!("gold")));
}

#[test]
fn empty_lesson_is_refused() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    for lesson in [json!({}), json!({ "takeaway": " ", "what_worked": "" })] {
        let refusal = world.call_refused(
            "resolve_ghap",
            with_fields(confirm_arguments(), json!({ "lesson": lesson })),
        );
        assert_eq!(refusal, "lesson needs takeaway or what_worked");
    }
}

/// Models fill in every argument they know of.
#[test]
fn blank_optional_text_is_ignored() {
    let world = ToolTestEnv::new();
    let blank = json!({ "target": "", "expects": " " });
    let started = world.call_ok("start_ghap", with_fields(ghap_start_arguments(), blank));
    assert_eq!(started["target"], "cargo test parser");
    let blank = json!({ "note": "\n", "target": "", "strategy": "", "action": "use split" });
    world.call_ok("update_ghap", blank);
    let whole = world.call_ok("get_ghap", json!({ "id": "", "cursor": "", "status": "" }));
    assert_eq!(whole["active"]["action"], "use split");
    let blank = json!({ "id": "", "outcome": " ", "surprise": "", "lesson": { "what_worked": "lines()", "takeaway": "" } });
    world.call_ok("resolve_ghap", with_fields(confirm_arguments(), blank));
    world.call_ok("recall_memories", json!({ "id": "", "category": "", "query": "" }));
    // A required text must not be empty.
    assert_eq!(
        world
            .call_refused("start_ghap", with_fields(ghap_start_arguments(), json!({ "goal": "" }))),
        "goal is empty"
    );
}
