//! `remember` and `recall_memories`.

use rutter_memory::store::{InjectionFilter, NewMemory};
use rutter_testkit::story::cargo_test_output;
use rutter_testkit::world::FACT;
use serde_json::{Value, json};

use crate::support::{
    ToolTestEnv, assert_answer, call_ok, call_refused, falsify_arguments, ghap_start_arguments,
    now, with_fields,
};

fn remember(world: &ToolTestEnv, content: &str, fields: Value) -> Value {
    world
        .call_ok("remember", with_fields(json!({ "content": content, "category": "fact" }), fields))
}

fn contents(found: &Value) -> Vec<&str> {
    let results = found["results"].as_array().unwrap();
    results.iter().map(|shown| shown["content"].as_str().unwrap()).collect()
}

#[test]
fn memories_found_with_or_without_query() {
    let world = ToolTestEnv::new();
    let new = json!({
        "content": "the staging database is read only on Sundays", "category": "fact",
        "importance": 0.9, "tags": ["staging", "db", "db"],
    });
    assert_answer!(world.call_answer("remember", new), @r#"
    Remembered as [ID].
    { "ok": true, "id": "[UUID]", "category": "fact", "importance": 0.9, "known": false, "proposed": false }
    "#);
    remember(&world, "commits are signed", json!({ "category": "preference" }));
    let ask = json!({ "query": "when can the staging database be written" });
    let mut found = world.call_answer("recall_memories", ask);
    found.structured["results"][0]["score"] = "[SCORE]".into();
    assert_answer!(found, @r#"
    [ID] fact: `the staging database is read only on Sundays`
    [ID] preference: `commits are signed`
    {
      "results": [
        {
          "id": "[UUID]",
          "score": "[SCORE]",
          "content": "the staging database is read only on Sundays",
          "category": "fact",
          "importance": 0.9,
          "tags": ["staging", "db"],
          "created": "[TIME]"
        },
        {
          "id": "[UUID]",
          "score": 0.072,
          "content": "commits are signed",
          "category": "preference",
          "importance": 1.0,
          "created": "[TIME]"
        }
      ],
      "count": 2
    }
    "#);
    assert_answer!(world.call_answer("recall_memories", json!({})), @r#"
    [ID] preference: `commits are signed`
    [ID] fact: `the staging database is read only on Sundays`
    {
      "results": [
        { "id": "[UUID]", "content": "commits are signed", "category": "preference", "importance": 1.0, "created": "[TIME]" },
        {
          "id": "[UUID]",
          "content": "the staging database is read only on Sundays",
          "category": "fact",
          "importance": 0.9,
          "tags": ["staging", "db"],
          "created": "[TIME]"
        }
      ],
      "count": 2
    }
    "#);
    assert_answer!(world.call_answer("recall_memories", json!({ "query": "zebra" })), @r#"
    Nothing was found; search_experiences finds the lessons of GHAPs.
    { "results": [], "count": 0, "hint": "search_experiences finds the lessons of GHAPs" }
    "#);
}

#[test]
fn phrases_bring_lessons_back() {
    let world = ToolTestEnv::new();
    let phrase = "committing fails without a terminal";
    let fields = json!({ "applies_when": [phrase] });
    remember(&world, "export GPG_TTY before signing", fields.clone());
    let again = json!({
        "content": "export GPG_TTY before signing", "category": "fact", "applies_when": ["git hangs"],
    });
    let answer = world.call_answer("remember", again);
    assert!(answer.text.ends_with("; only applies_when was added."), "{}", answer.text);
    let ask = json!({ "query": "I cannot commit without a terminal" });
    let found = world.call_ok("recall_memories", ask);
    assert_eq!(found["results"][0]["applies_when"], json!([phrase, "git hangs"]));
    world.call_ok("start_ghap", ghap_start_arguments());
    let ended = world.call_ok("resolve_ghap", with_fields(falsify_arguments(), fields));
    let shown = world.call_ok("get_ghap", json!({ "id": ended["id"] }));
    assert_eq!(shown["ghap"]["applies_when"], json!([phrase]));
}

#[test]
fn filters_apply_with_or_without_query() {
    let world = ToolTestEnv::new();
    // The texts differ enough, because similar ones are shown once.
    let names = "anchor bilge capstan deck ensign fender galley halyard island jib keel lighthouse mast nautilus oar \
        port quay rudder sail tide undertow vessel wave xebec yawl zephyr buoy cabin dinghy funnel";
    let names: Vec<&str> = names.split_whitespace().collect();
    for (number, name) in (0..).zip(&names) {
        let fields = json!({
            "category": if number % 2 == 0 { "fact" } else { "decision" },
            "importance": f64::from(number) / 30.0,
        });
        remember(&world, &format!("harbour: {name}"), fields);
    }
    for query in [Value::Null, json!("harbour")] {
        let ask = |fields: Value| {
            world.call_ok("recall_memories", with_fields(json!({ "query": query }), fields))
        };
        assert_eq!(ask(json!({}))["count"], 10);
        assert_eq!(ask(json!({ "limit": 100 }))["count"], 30, "{query}");
        let decisions = ask(json!({ "category": "decision", "limit": 100 }));
        assert_eq!(decisions["count"], 15);
        let important = ask(json!({ "min_importance": 0.9 }));
        assert_eq!(important["count"], 3, "{important}");
        let both = ask(json!({ "category": "fact", "min_importance": 0.9 }));
        assert_eq!(contents(&both), ["harbour: dinghy"]);
    }
    let newest = world.call_ok("recall_memories", json!({ "limit": 2 }));
    assert_eq!(contents(&newest), ["harbour: funnel", "harbour: dinghy"]);
}

#[test]
fn memory_scope_is_project_or_everywhere() {
    let world = ToolTestEnv::new();
    remember(&world, "ship only", json!({}));
    let everywhere = NewMemory { text: "every port", ..FACT };
    let everywhere = world.store().remember(&everywhere, now()).unwrap().memory.id.to_string();
    let boat = world.elsewhere("boat");
    for ask in [json!({}), json!({ "query": "ship or every port" })] {
        let here = world.call_ok("recall_memories", ask.clone());
        let mut here = contents(&here);
        here.sort_unstable();
        assert_eq!(here, ["every port", "ship only"], "{ask}");
        assert_eq!(contents(&call_ok(&boat, "recall_memories", ask)), ["every port"]);
    }
    // By id, a memory of another project is unknown; one for every project can be read but not deleted.
    let own = world.call_ok("recall_memories", json!({ "query": "ship only" }));
    let own = own["results"].as_array().unwrap().iter().find(|one| one["content"] == "ship only");
    let own = own.unwrap()["id"].clone();
    let by_id = |id: &Value| json!({ "id": id });
    assert!(
        call_refused(&boat, "recall_memories", by_id(&own))
            .contains("no memory or lesson has an id")
    );
    assert!(call_refused(&boat, "forget", json!({ "ids": [own] })).contains("no row has an id"));
    let everywhere = json!(everywhere);
    assert_eq!(contents(&call_ok(&boat, "recall_memories", by_id(&everywhere))), ["every port"]);
    assert!(
        call_refused(&boat, "forget", json!({ "ids": [everywhere] })).contains("no row has an id")
    );
    assert_eq!(world.call_ok("recall_memories", by_id(&own))["count"], 1);
}

#[test]
fn truncates_lists_but_not_single_results() {
    let world = ToolTestEnv::new();
    let long = |name: &str| format!("{name} {}", "ö".repeat(5_000));
    remember(&world, &long("anchor"), json!({}));
    remember(&world, &long("rudder"), json!({}));
    let both = world.call_ok("recall_memories", json!({}));
    for content in contents(&both) {
        assert_eq!(content.chars().count(), 401);
        assert!(content.ends_with('…'));
    }
    let one = world.call_ok("recall_memories", json!({ "query": "anchor", "limit": 1 }));
    assert_eq!(contents(&one), [long("anchor")]);
}

#[test]
fn long_memory_is_complete_by_id() {
    let world = ToolTestEnv::new();
    let long = |name: &str| format!("{name} {}", "ö".repeat(5_000));
    let id = remember(&world, &long("anchor"), json!({}))["id"].clone();
    remember(&world, &long("rudder"), json!({}));
    let one = world.call_ok("recall_memories", json!({ "id": id }));
    assert_eq!(contents(&one), [long("anchor")]);
    let refusal = world.call_refused("recall_memories", json!({ "id": "0123456789abcdef" }));
    assert_eq!(refusal, "no memory or lesson has an id that ends in 0123456789abcdef");
}

#[test]
fn same_text_is_stored_once() {
    let world = ToolTestEnv::new();
    let first = remember(&world, "Commits are signed.", json!({ "category": "preference" }));
    assert_eq!((&first["known"], &first["importance"]), (&json!(false), &json!(1.0)));
    let again = remember(&world, "commits  are SIGNED", json!({ "category": "preference" }));
    assert_eq!((&again["known"], &again["id"]), (&json!(true), &first["id"]));
    // Another category, project or text makes another memory.
    for (content, fields) in [
        ("Commits are signed.", json!({})),
        ("Commits are signed off.", json!({ "category": "preference" })),
    ] {
        assert_eq!(remember(&world, content, fields.clone())["known"], false, "{content} {fields}");
    }
    assert_eq!(world.call_ok("recall_memories", json!({}))["count"], 3);
}

#[test]
fn everywhere_memory_waits_for_review() {
    let world = ToolTestEnv::new();
    let boat = world.elsewhere("boat");
    let proposed = remember(&world, "use tabs in every port", json!({ "everywhere": true }));
    assert_eq!(proposed["proposed"], true);
    let all = |desk| contents(&call_ok(desk, "recall_memories", json!({}))).len();
    assert_eq!((all(&world.desk), all(&boat)), (1, 0));
    let mut store = world.store();
    let waiting = store.proposals().unwrap();
    assert_eq!(waiting.len(), 1);
    store.accept_proposal(waiting[0].id).unwrap();
    assert_eq!((all(&world.desk), all(&boat)), (1, 1));
    assert_eq!(store.proposals().unwrap(), []);
}

#[test]
fn lookup_by_id_counts_as_shown() {
    let world = ToolTestEnv::new();
    world.run_hook("session-1", "SessionStart", json!({ "source": "startup" }));
    world.call_ok("start_ghap", ghap_start_arguments());
    let resolved = world.call_ok("resolve_ghap", falsify_arguments());
    let short = short_id(&resolved);
    let found = world.call_ok("recall_memories", json!({ "id": short }));
    assert_eq!(found["count"], 1);
    let shown = &found["results"][0];
    assert_eq!(shown["category"], "lesson (falsified)");
    let content = shown["content"].as_str().unwrap();
    assert!(content.starts_with("Lesson: look for every place that splits lines"), "{content}");
    assert!(content.contains("Root cause: two places split lines"), "{content}");
    let listed = world.store().injections(&InjectionFilter::default()).unwrap();
    let lookups: Vec<_> =
        listed.iter().filter(|shown| &*shown.injection.event == "recall_memories").collect();
    assert_eq!(lookups.len(), 1);
    assert_eq!(lookups[0].injection.row.short(), short);
    let counts = world.store().row_counts(None).unwrap();
    assert!(counts.lookups == 1 && counts.injections >= 1, "{counts:?}");
    let said = world.run_hook_message(
        "session-1",
        "UserPromptSubmit",
        json!({ "prompt": "the lexer splits lines before the parser, look for every place" }),
    );
    assert!(!said.contains("every place that splits"), "it is in the context: {said}");
    let missing = world.call_refused("recall_memories", json!({ "id": "00000000" }));
    assert!(missing.contains("memory or lesson"), "{missing}");
}

#[test]
fn errors_of_run_are_no_written_phrases() {
    let world = ToolTestEnv::new();
    world.run_hook("session-1", "SessionStart", json!({ "source": "startup" }));
    world.call_ok("start_ghap", ghap_start_arguments());
    let output = cargo_test_output(4, &[("parser::reads", "max number of clients reached")]);
    world.run_hook_message(
        "session-1",
        "PostToolUseFailure",
        json!({
            "tool_name": "Bash", "tool_input": { "command": "cargo test parser" },
            "error": format!("Exit code 101\n{output}"), "is_interrupt": false,
        }),
    );
    let short = short_id(&world.call_ok("resolve_ghap", falsify_arguments()));
    let ghap = world.call_ok("get_ghap", json!({ "id": short }));
    let ghap = &ghap["ghap"];
    assert_eq!(ghap["run_errors"], json!(["panicked: max number of clients reached"]), "{ghap}");
    assert_eq!(ghap["applies_when"], Value::Null);
    let found = world.call_ok("recall_memories", json!({ "id": short }));
    assert_eq!(found["count"], 1);
    assert!(!found.to_string().contains("applies_when"), "{found}");
}

/// Returns the end of the id of a resolved GHAP.
fn short_id(answer: &Value) -> String {
    let id = answer["id"].as_str().unwrap_or_else(|| panic!("{answer}"));
    id[id.len() - 8..].to_owned()
}
