//! Agreement of announced schemas, arguments and answers.

use jsonschema::Validator;
use rutter_server::tools::{self, TOOLS, ToolSpec};
use serde_json::{Value, json};

use crate::support::{
    ToolTestEnv, advance_clock, call_ok, confirm_arguments, falsify_arguments,
    ghap_start_arguments, with_fields,
};

fn validator(schema: &serde_json::Map<String, Value>) -> Validator {
    jsonschema::draft202012::new(&Value::Object(schema.clone())).unwrap()
}

fn tool(name: &str) -> &'static ToolSpec {
    TOOLS.iter().find(|tool| tool.name == name).unwrap()
}

#[test]
fn schemas_have_no_references() {
    for tool in TOOLS {
        for schema in [tool.input(), tool.output()] {
            let text = Value::Object((*schema).clone());
            jsonschema::draft202012::meta::validate(&text).unwrap();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            assert!(!text.to_string().contains("$ref"), "{}", tool.name);
        }
        assert_eq!(tool.input()["additionalProperties"], false, "{}", tool.name);
    }
}

/// Calls every tool in every form, and validates arguments and answers.
#[test]
fn answers_match_output_schemas() {
    let world = ToolTestEnv::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut check = |name: &'static str, arguments: Value| -> Value {
        let taken = validator(&tool(name).input());
        assert!(taken.is_valid(&arguments), "{name} {arguments}");
        let given = world.call_ok(name, arguments.clone());
        let errors: Vec<String> = validator(&tool(name).output())
            .iter_errors(&given)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, [] as [&str; 0], "{name} {arguments}: {given}");
        seen.insert(name);
        given
    };
    check("status", json!({}));
    check("get_ghap", json!({}));
    let config = std::fs::read_to_string(&world.desk.config).unwrap();
    std::fs::write(&world.desk.config, format!("{config}\n[scope]\nrecall = \"everywhere\"\n"))
        .unwrap();
    check("search_other_projects", json!({ "query": "CRLF" }));
    check("premortem", json!({ "domain": "debugging" }));
    check("assemble_context", json!({}));
    let full = json!({ "expects": "pass", "target": "cargo test parser", "confidence": 0.5 });
    check("start_ghap", with_fields(ghap_start_arguments(), full));
    check("update_ghap", json!({ "hypothesis": "other", "note": "x" }));
    check("get_ghap", json!({}));
    check("status", json!({}));
    world.record_run("session-1", "cargo test parser", rutter_memory::outcome::Verdict::Failed);
    let id = check("resolve_ghap", falsify_arguments())["id"].clone();
    check("start_ghap", ghap_start_arguments());
    check("resolve_ghap", confirm_arguments());
    check("get_ghap", json!({ "list": true, "limit": 1 }));
    check("get_ghap", json!({ "id": id }));
    call_ok(&world.session("session-0"), "start_ghap", ghap_start_arguments());
    world.end_session("session-0");
    check("get_ghap", json!({}));
    check("get_ghap", json!({ "orphans": true }));
    check("adopt_ghap", json!({}));
    check("resolve_ghap", json!({ "status": "abandoned", "result": "x" }));
    check("search_experiences", json!({ "query": "CRLF", "axis": "surprise" }));
    check("search_experiences", json!({ "query": "CRLF" }));
    check("premortem", json!({ "domain": "debugging", "goal": "CRLF" }));
    let memory = json!({ "content": "x", "category": "fact", "tags": ["a"], "importance": 0 });
    let memory = check("remember", memory)["id"].clone();
    check("recall_memories", json!({}));
    check("recall_memories", json!({ "query": "x" }));
    check(
        "assemble_context",
        json!({ "query": "CRLF", "context_types": ["memory"], "depth": "rich" }),
    );
    check("status", json!({}));
    check("forget", json!({ "ids": [memory] }));
    check("list_clusters", json!({}));
    for number in 0..3 {
        let session = world.session(&format!("session-{number}-again"));
        call_ok(&session, "start_ghap", ghap_start_arguments());
        call_ok(&session, "resolve_ghap", falsify_arguments());
    }
    let grouped = check("list_clusters", json!({ "axis": "root-cause", "limit": 5 }));
    let cluster = grouped["clusters"][0]["id"].clone();
    assert!(grouped["clusters"][0]["size"].as_u64() >= Some(3), "{grouped}");
    check("list_clusters", json!({ "cluster": cluster }));
    let value = json!({ "cluster": cluster, "text": "two places split lines" });
    check("add_value", value);
    check("list_values", json!({}));
    check("list_values", json!({ "standing": "accepted", "limit": 1 }));
    let all: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    for name in all {
        assert!(seen.contains(name), "{name} was not tried");
    }
}

/// The tool refuses every argument that its schema refuses, and names it.
#[test]
fn tools_refuse_schema_violations() {
    let world = ToolTestEnv::new();
    advance_clock(1);
    let wrong = [
        Value::Bool(true),
        json!(7),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("x"),
        json!([]),
        json!([1]),
        json!({}),
        json!({ "a": 1 }),
        json!("x".repeat(10_001)),
    ];
    let mut refused = 0;
    for tool in TOOLS {
        let schema = validator(&tool.input());
        let names: Vec<String> = tool
            .input()
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect();
        let base = match tool.name {
            "start_ghap" => ghap_start_arguments(),
            "resolve_ghap" => confirm_arguments(),
            "search_experiences" => json!({ "query": "x" }),
            "premortem" => json!({ "domain": "debugging" }),
            "remember" => json!({ "content": "x", "category": "fact" }),
            "forget" => json!({ "ids": ["0123abcd"] }),
            _ => json!({}),
        };
        for name in names {
            for value in &wrong {
                let arguments = with_fields(base.clone(), json!({ name.as_str(): value }));
                let input = tool.input();
                let is_needed = input
                    .get("required")
                    .and_then(Value::as_array)
                    .is_some_and(|all| all.contains(&json!(name)));
                // An empty optional text counts as absent.
                if schema.is_valid(&arguments) || (value == "" && !is_needed) {
                    continue;
                }
                refused += 1;
                let refusal = tools::call_tool(&world.desk, tool.name, arguments.clone(), None);
                let refusal = refusal.expect_err(&format!("{} {arguments}", tool.name)).to_string();
                assert!(refusal.contains(&name), "{} {arguments}: {refusal}", tool.name);
            }
        }
    }
    assert!(refused > 300, "{refused}");
}
