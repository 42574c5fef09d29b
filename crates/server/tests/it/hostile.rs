//! Stored text that tries to pass for instructions or markup, on every path on which a model reads it.

use rutter_memory::outcome::Verdict;
use rutter_memory::store::entry::EntryKind;
use rutter_server::ServerContext;
use rutter_server::tools::{self, TOOLS};
use rutter_testkit::hostile_text::{CORPUS_PARTS, assert_harmless, hostile_text};
use serde_json::{Value, json};

use crate::support::{ToolTestEnv, advance_clock, ghap_start_arguments, with_fields};

fn check_value(path: &str, value: &Value) {
    match value {
        Value::String(text) => {
            assert_harmless(path, text);
            let is_rendered = path.ends_with(".markdown");
            assert!(is_rendered || !text.contains('\n'), "{path}: {text:?}");
        }
        Value::Array(items) => items.iter().for_each(|item| check_value(path, item)),
        Value::Object(fields) => {
            for (name, value) in fields {
                check_value(&format!("{path}.{name}"), value);
            }
        }
        _ => {}
    }
}

/// The answers of tools that were checked.
#[derive(Default)]
struct CheckedAnswers {
    tools: Vec<String>,
    with_text: usize,
}

impl CheckedAnswers {
    /// Calls a tool, checks its answer, and returns the structured half.
    fn call(&mut self, desk: &ServerContext, tool: &str, arguments: Value) -> Value {
        advance_clock(1);
        let answer = tools::call_tool(desk, tool, arguments.clone(), None)
            .unwrap_or_else(|refusal| panic!("{tool} {arguments}: {refusal}"));
        check_value(tool, &answer.structured);
        assert_harmless(tool, &answer.text);
        self.with_text += usize::from(answer.structured.to_string().contains("cache"));
        self.tools.push(tool.to_owned());
        answer.structured
    }
}

/// Calls every tool, with one part of the corpus in every stored text.
fn call_every_tool(part: usize) {
    let world = ToolTestEnv::new();
    let mut checked = CheckedAnswers::default();
    let text = |about: &str| hostile_text(about, part);
    for number in 0..4 {
        let session = world.session(&format!("session-{number}"));
        let belief = text("lines are split");
        let begin = json!({
            "goal": text(&format!("the cache evicts {number}")), "hypothesis": belief, "action": belief,
            "prediction": format!("`cargo test cache` passes {}", text("")), "target": text("cargo test cache"),
        });
        checked.call(&session, "start_ghap", with_fields(ghap_start_arguments(), begin));
        let changed = json!({ "hypothesis": text("lines are joined"), "note": text("the cache") });
        checked.call(&session, "update_ghap", changed);
        let command = format!("cargo test cache {}", text(""));
        let outcome = world.outcome(&format!("session-{number}"), &command, Verdict::Failed);
        let ran = EntryKind::Ran(Box::new(outcome.into()));
        world.world.record(&world.entry(&format!("session-{number}"), ran));
        let end = json!({
            "status": "falsified", "result": text("red"), "surprise": text("the cache evicts the newest"),
            "root_cause": { "category": "wrong-assumption", "description": text("the cache") },
            "lesson": { "takeaway": text("the cache evicts the newest first") },
        });
        let ended = checked.call(&session, "resolve_ghap", end);
        assert_eq!(ended["outcome"]["verdict"], "failed", "{ended}");
    }
    let left = world.session("session-8");
    let begin = with_fields(ghap_start_arguments(), json!({ "goal": text("the cache, left") }));
    let id = checked.call(&left, "start_ghap", begin)["id"].clone();
    world.end_session("session-8");
    checked.call(&world.desk, "get_ghap", json!({}));
    checked.call(&world.session("session-9"), "adopt_ghap", json!({ "id": id }));
    let begin = with_fields(ghap_start_arguments(), json!({ "goal": text("active") }));
    checked.call(&world.desk, "start_ghap", begin);
    let memory = json!({ "content": text("the staging cache"), "category": "preference", "tags": ["cache"] });
    let memory = checked.call(&world.desk, "remember", memory)["id"].clone();
    let found = checked.call(&world.desk, "search_experiences", json!({ "query": "cache evicts" }));
    let ghap = found["results"][0]["id"].clone();
    let clusters = checked.call(&world.desk, "list_clusters", json!({ "axis": "root-cause" }));
    let cluster = clusters["clusters"][0]["id"].clone();
    // A value has one short sentence.
    let value: String = text("the cache evicts").chars().take(200).collect();
    for (tool, arguments) in [
        ("list_clusters", json!({ "cluster": cluster })),
        ("add_value", json!({ "cluster": cluster, "text": value })),
        ("get_ghap", json!({})),
        ("get_ghap", json!({ "id": ghap })),
        ("get_ghap", json!({ "list": true })),
        ("assemble_context", json!({ "query": "the cache evicts the newest", "depth": "rich" })),
        ("assemble_context", json!({})),
        ("premortem", json!({ "domain": "debugging", "goal": "the cache" })),
        ("recall_memories", json!({})),
        ("recall_memories", json!({ "id": memory })),
        ("recall_memories", json!({ "query": "staging cache" })),
        ("list_values", json!({})),
        ("status", json!({})),
    ] {
        checked.call(&world.desk, tool, arguments);
    }
    let config = std::fs::read_to_string(&world.desk.config).unwrap();
    let everywhere = format!("{config}\n[scope]\nrecall = \"everywhere\"\n");
    std::fs::write(&world.desk.config, everywhere).unwrap();
    let elsewhere = world.elsewhere("boat");
    checked.call(&elsewhere, "search_other_projects", json!({ "query": "cache evicts" }));
    checked.call(&world.desk, "forget", json!({ "ids": [memory] }));
    assert!(checked.with_text >= 12, "{} answers have the text at all", checked.with_text);
    for tool in TOOLS {
        assert!(checked.tools.iter().any(|name| name == tool.name), "{} is not tried", tool.name);
    }
}

#[test]
fn every_tool_escapes_stored_text() {
    for part in 0..CORPUS_PARTS {
        call_every_tool(part);
    }
}
