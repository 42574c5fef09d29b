//! Limits of lengths, counts and ranges: each limit is reached, and exceeded by one.

use serde_json::{Value, json};

use crate::support::{
    ToolTestEnv, assert_refused, confirm_arguments, falsify_arguments, ghap_start_arguments,
    with_fields,
};

/// Returns a text of so many characters, each longer than one byte.
fn text_of_length(characters: usize) -> String {
    "ä".repeat(characters)
}

#[test]
fn short_texts_are_limited() {
    for name in ["goal", "hypothesis", "action", "prediction", "target"] {
        let world = ToolTestEnv::new();
        let refusal = world.call_refused(
            "start_ghap",
            with_fields(ghap_start_arguments(), json!({ name: text_of_length(1_001) })),
        );
        let expected = "1001 characters; at most 1000 are allowed, so shorten it";
        assert_eq!(refusal, format!("{name} has {expected}"));
        world.call_ok(
            "start_ghap",
            with_fields(ghap_start_arguments(), json!({ name: text_of_length(1_000) })),
        );
        if name != "goal" {
            let refusal = world.call_refused("update_ghap", json!({ name: text_of_length(1_001) }));
            assert_eq!(refusal, format!("{name} has {expected}"));
            world.call_ok("update_ghap", json!({ name: format!("b{}", text_of_length(999)) }));
        }
    }
}

#[test]
fn long_texts_are_limited() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    let note = world.call_refused("update_ghap", json!({ "note": text_of_length(2_001) }));
    assert_eq!(note, "note has 2001 characters; at most 2000 are allowed, so shorten it");
    world.call_ok("update_ghap", json!({ "note": text_of_length(2_000) }));
    let texts = |length: usize| -> [(&str, Value); 5] {
        let text = text_of_length(length);
        [
            ("result", json!({ "result": text })),
            ("surprise", json!({ "surprise": text })),
            (
                "root_cause.description",
                json!({ "root_cause": { "category": "oversight", "description": text } }),
            ),
            ("lesson.what_worked", json!({ "lesson": { "what_worked": text } })),
            ("lesson.takeaway", json!({ "lesson": { "takeaway": text } })),
        ]
    };
    for (name, fields) in texts(2_001) {
        let refusal = world.call_refused("resolve_ghap", with_fields(falsify_arguments(), fields));
        let expected = "2001 characters; at most 2000 are allowed, so shorten it";
        assert_eq!(refusal, format!("{name} has {expected}"));
    }
    let all = texts(2_000)
        .into_iter()
        .fold(falsify_arguments(), |all, (_, fields)| with_fields(all, fields));
    world.call_ok("resolve_ghap", all);
}

#[test]
fn memory_text_and_tags_are_limited() {
    let world = ToolTestEnv::new();
    let memory = |fields: Value| with_fields(json!({ "content": "x", "category": "fact" }), fields);
    assert_refused!(world.call_refused("remember", memory(json!({ "content": text_of_length(10_001) }))), @"content has 10001 characters; at most 10000 are allowed, so shorten it");
    world.call_ok("remember", memory(json!({ "content": text_of_length(10_000) })));
    let tags = |count: usize| (0..count).map(|number| format!("t{number}")).collect::<Vec<_>>();
    assert_refused!(world.call_refused("remember", memory(json!({ "tags": tags(21) }))), @"tags has 21 entries; at most 20 are allowed");
    world.call_ok("remember", memory(json!({ "tags": tags(20) })));
    assert_refused!(world.call_refused("remember", memory(json!({ "tags": ["two words"] }))), @"`two words` is not a tag: use letters, digits, `-`, `_` and `.`");
    assert_refused!(world.call_refused("remember", memory(json!({ "tags": [text_of_length(51)] }))), @"a tag has 51 characters; at most 50 are allowed, so shorten it");
    world.call_ok("remember", memory(json!({ "tags": [text_of_length(50)] })));
    assert_refused!(world.call_refused("remember", memory(json!({ "tags": ["a", 7] }))), @"tags.1 is a text, not a number");
    let phrases = |count: usize| json!({ "applies_when": tags(count) });
    assert_refused!(world.call_refused("remember", memory(phrases(7))), @"applies_when has 7 entries; at most 6 are allowed");
    world.call_ok("remember", memory(phrases(6)));
    world.call_ok("start_ghap", ghap_start_arguments());
    assert_refused!(world.call_refused("resolve_ghap", with_fields(falsify_arguments(), phrases(7))), @"there are 7 phrases in applies_when; at most 6 are allowed");
    world.call_ok("resolve_ghap", with_fields(falsify_arguments(), phrases(6)));
    assert_refused!(world.call_refused("remember", memory(json!({ "applies_when": [text_of_length(161)] }))), @"a phrase of applies_when has 161 characters; at most 160 are allowed, so shorten it");
    assert_refused!(world.call_refused("remember", memory(json!({ "content": "" }))), @"content is empty");
    assert_refused!(world.call_refused("remember", memory(json!({ "content": " \n" }))), @"the memory is empty; say what it is");
    for query in ["recall_memories", "search_experiences", "assemble_context"] {
        let refusal = world.call_refused(query, json!({ "query": text_of_length(10_001) }));
        assert_eq!(refusal, "query has 10001 characters; at most 10000 are allowed, so shorten it");
        world.call_ok(query, json!({ "query": text_of_length(10_000) }));
    }
}

#[test]
fn numbers_have_ranges() {
    let world = ToolTestEnv::new();
    let remember = json!({ "content": "x", "category": "fact" });
    let query = json!({ "query": "x" });
    for (tool, arguments, name, least, most) in [
        ("get_ghap", json!({}), "limit", 1, 100),
        ("search_experiences", query.clone(), "limit", 1, 50),
        ("recall_memories", json!({}), "limit", 1, 100),
        ("assemble_context", query.clone(), "limit", 1, 50),
        ("assemble_context", query, "max_tokens", 100, 10_000),
    ] {
        for wrong in [json!(least - 1), json!(most + 1), json!(-1), json!(1.5), json!(1e300)] {
            let refusal =
                world.call_refused(tool, with_fields(arguments.clone(), json!({ name: wrong })));
            let expected = format!("{name} is a whole number from {least} to {most}, not {wrong}");
            assert_eq!(refusal, expected, "{tool}");
        }
        for wrong in [json!("10"), json!(true), json!([1])] {
            let refusal =
                world.call_refused(tool, with_fields(arguments.clone(), json!({ name: wrong })));
            let expected = format!("{name} is a whole number from {least} to {most}, not ");
            assert!(refusal.starts_with(&expected), "{tool}: {refusal}");
        }
        for right in [json!(least), json!(most), json!(f64::from(most)), Value::Null] {
            world.call_ok(tool, with_fields(arguments.clone(), json!({ name: right })));
        }
    }
    for (tool, arguments, name) in [
        ("start_ghap", ghap_start_arguments(), "confidence"),
        ("remember", remember.clone(), "importance"),
        ("recall_memories", json!({}), "min_importance"),
    ] {
        for wrong in [json!(-0.1), json!(1.1), json!(-1), json!(2)] {
            let refusal =
                world.call_refused(tool, with_fields(arguments.clone(), json!({ name: wrong })));
            assert_eq!(refusal, format!("{name} is a number from 0 to 1, not {wrong}"));
        }
    }
    for right in [json!(0), json!(1), json!(0.25)] {
        world.call_ok("remember", with_fields(remember.clone(), json!({ "importance": right })));
    }
}

#[test]
fn wrong_argument_is_named_with_correction() {
    let world = ToolTestEnv::new();
    assert_refused!(world.call_refused("start_ghap", json!({})), @"domain, strategy, goal, hypothesis, action, prediction are missing: start_ghap needs domain, strategy, goal, hypothesis, action, prediction and may have expects, target, confidence");
    let mut one = ghap_start_arguments();
    one.as_object_mut().unwrap().remove("goal");
    assert_refused!(world.call_refused("start_ghap", one), @"goal is missing: start_ghap needs domain, strategy, goal, hypothesis, action, prediction and may have expects, target, confidence");
    assert_refused!(world.call_refused("start_ghap", with_fields(ghap_start_arguments(), json!({ "goal": null }))), @"goal is missing: start_ghap needs domain, strategy, goal, hypothesis, action, prediction and may have expects, target, confidence");
    assert_refused!(world.call_refused("start_ghap", with_fields(ghap_start_arguments(), json!({ "goal": 7 }))), @"goal is a text, not a number");
    assert_refused!(world.call_refused("start_ghap", with_fields(ghap_start_arguments(), json!({ "domain": "cooking" }))), @"domain must be one of debugging, refactoring, feature, testing, configuration, documentation, performance, security, integration");
    assert_refused!(world.call_refused("start_ghap", with_fields(ghap_start_arguments(), json!({ "gaol": "x" }))), @"there is no `gaol` in start_ghap: it needs domain, strategy, goal, hypothesis, action, prediction and may have expects, target, confidence");
    assert_refused!(world.call_refused("start_ghap", json!([])), @"start_ghap takes an object, not a list: it needs domain, strategy, goal, hypothesis, action, prediction and may have expects, target, confidence");
    assert_refused!(world.call_refused("start_ghap", json!("goal")), @"start_ghap takes an object, not a text: it needs domain, strategy, goal, hypothesis, action, prediction and may have expects, target, confidence");
    assert_refused!(world.call_refused("status", json!({ "all": true })), @"there is no `all` in status: it takes nothing");
    assert_refused!(world.call_refused("update_ghap", json!({ "strategy": "luck" })), @"strategy must be one of systematic-elimination, trial-and-error, research-first, divide-and-conquer, root-cause-analysis, copy-from-similar, check-assumptions, read-the-error, ask-user");
    let cause = json!({ "root_cause": { "category": "luck", "description": "x" } });
    assert_refused!(world.call_refused("resolve_ghap", with_fields(falsify_arguments(), cause)), @"root_cause.category must be one of wrong-assumption, missing-knowledge, oversight, environment-issue, misleading-symptom, incomplete-fix, wrong-scope, test-isolation, timing-issue");
    let cause = json!({ "root_cause": "luck" });
    assert_refused!(world.call_refused("resolve_ghap", with_fields(falsify_arguments(), cause)), @"root_cause is an object, not a text: it needs category, description");
    assert_refused!(world.call_refused("resolve_ghap", with_fields(confirm_arguments(), json!({ "status": "active" }))), @"status must be one of confirmed, falsified, abandoned");
    assert_refused!(world.call_refused("search_experiences", json!({ "query": "x", "axis": "y" })), @"axis must be one of full, strategy, surprise, root-cause");
    assert_refused!(world.call_refused("search_experiences", json!({ "query": "  " })), @"query is empty; describe in words what to search for");
    assert_refused!(world.call_refused("assemble_context", json!({ "context_types": ["code"] })), @"context_types.0 must be one of memory, experience, episode, value");
    assert_refused!(world.call_refused("premortem", json!({})), @"domain is missing: premortem needs domain and may have strategy, goal");
    assert_refused!(world.call_refused("forget", json!({ "ids": [] })), @"ids is an empty list");
    assert_refused!(world.call_refused("forget", json!({ "ids": "0123abcd" })), @"ids is a list, not a text");
    assert_refused!(world.call_refused("recall_memories", json!({ "category": "gossip" })), @"category must be one of preference, fact, event, workflow, context, error, decision");
}

/// Models carry a spelling from one vocabulary to the next; the meaning is clear.
#[test]
fn vocabulary_accepts_variant_spellings() {
    let world = ToolTestEnv::new();
    let started = with_fields(
        ghap_start_arguments(),
        json!({ "strategy": "Root_Cause_Analysis", "domain": "DEBUGGING" }),
    );
    world.call_ok("start_ghap", started);
    world.call_ok("resolve_ghap", falsify_arguments());
    for axis in ["root-cause", "root_cause", "Root Cause"] {
        let found = world.call_ok(
            "search_experiences",
            json!({ "query": "two places split lines", "axis": axis }),
        );
        assert_eq!(found["results"][0]["strategy"], "root-cause-analysis", "{axis}");
    }
    for kinds in [["memory", "experience"], ["memories", "experiences"]] {
        let ask = json!({ "query": "two places split lines", "context_types": kinds });
        assert_eq!(world.call_ok("assemble_context", ask)["item_count"], 1, "{kinds:?}");
    }
    let narrow =
        json!({ "query": "lines", "domain": "Debugging", "strategy": "root cause analysis" });
    assert_eq!(world.call_ok("search_experiences", narrow)["count"], 1);
    let narrow = json!({ "domain": "debugging", "strategy": "Root_Cause_Analysis" });
    assert_eq!(world.call_ok("premortem", narrow)["resolved"], 1);
    world.call_ok("remember", json!({ "content": "x", "category": "Facts" }));
    assert_eq!(world.call_ok("recall_memories", json!({ "category": "FACT" }))["count"], 1);
    world.call_ok("start_ghap", ghap_start_arguments());
    world.call_ok("update_ghap", json!({ "strategy": "Ask_User" }));
    assert_eq!(world.call_ok("get_ghap", json!({}))["active"]["strategy"], "ask-user");
    let refusal =
        world.call_refused("search_experiences", json!({ "query": "x", "axis": "cause" }));
    assert_eq!(refusal, "axis must be one of full, strategy, surprise, root-cause");
}
