//! MCP tools called by an agent of the real client: hooks use the rows that a tool wrote, and each call belongs to the
//! session and agent that made it.

use rutter_check::live::{
    Conversation, ConversationStep, ModelScript, ModelThread, ModelTurn, RunRecord,
};
use serde_json::{Value, json};

use crate::live_support::{LiveProject, bash_turn, hook_texts_of_event};
use crate::mcp_http::http_client::HttpServer;
use crate::support::rutter_command;

const FILES: [(&str, &str); 2] = [
    ("cache.py", "def size():\n    return 3\n"),
    (
        "test_cache.py",
        "import unittest\nfrom cache import size\n\n\nclass Cache(unittest.TestCase):\n    \
         def test_evicts(self):\n        self.assertEqual(size(), 2)\n",
    ),
];
const RUN: &str = "python3 -m unittest";
const LESSON: &str = "look at what is counted before you touch a timeout";

/// Creates a project in which the client starts the server and allows its tools without a question.
fn live_project() -> Option<LiveProject> {
    let life = LiveProject::new(&FILES)?;
    life.init();
    Some(life)
}

fn tool_turn(name: &str, arguments: Value) -> ModelTurn {
    ModelTurn::call(format!("mcp__rutter__{name}"), arguments)
}

fn start_turn(goal: &str) -> ModelTurn {
    tool_turn(
        "start_ghap",
        json!({
            "domain": "debugging", "strategy": "read-the-error", "goal": goal,
            "hypothesis": "the timeout is too short", "action": "raise it to 60 s",
            "prediction": "`python3 -m unittest` passes after the timeout fix",
        }),
    )
}

/// Returns the results of tool calls as the model received them, in order; true for an error. The client sends the
/// structured content instead of the text if there is any.
fn tool_results(record: &RunRecord) -> Vec<(bool, String)> {
    let mut all: Vec<(String, bool, String)> = Vec::new();
    for request in &record.requests {
        let messages = request.body["messages"].as_array();
        for block in messages
            .into_iter()
            .flatten()
            .filter_map(|message| message["content"].as_array())
            .flatten()
        {
            if block["type"] != "tool_result" {
                continue;
            }
            let id = block["tool_use_id"].as_str().unwrap_or_default().to_owned();
            if !all.iter().any(|(known, ..)| *known == id) {
                let text = match &block["content"] {
                    Value::String(text) => text.clone(),
                    blocks => blocks.to_string(),
                };
                all.push((id, block["is_error"] == true, text));
            }
        }
    }
    all.into_iter().map(|(_, wrong, text)| (wrong, text)).collect()
}

fn list_ghaps(life: &LiveProject) -> Vec<Value> {
    let list = life.rutter(&["ghap", "list", "--all", "--json"]).assert_success().stdout;
    serde_json::from_str(&list).unwrap()
}

#[test]
fn tool_lesson_reaches_later_session() {
    let Some(mut life) = live_project() else { return };
    let resolve = tool_turn(
        "resolve_ghap",
        json!({
            "status": "falsified", "result": "it still fails", "surprise": "it fails alone as well",
            "root_cause": { "category": "wrong-assumption", "description": "the size is counted before the eviction" },
            "lesson": { "takeaway": format!("a cache test that fails: {LESSON}") },
            "applies_when": ["shop is sluggish on busy Mondays"], "auto_captured": true,
        }),
    );
    let turns = [start_turn("the cache test is green"), bash_turn(RUN), resolve];
    let record = life.session_with(ModelScript::new(turns), |sandbox| {
        sandbox.prompt("Fix the flaky cache test");
    });
    // The first request has three tools; the client loads the others on demand.
    let first = record.main_requests().next().unwrap();
    let mut offered: Vec<&str> = first.body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["defer_loading"] != true)
        .filter_map(|tool| tool["name"].as_str())
        .filter(|name| name.starts_with("mcp__"))
        .collect();
    offered.sort_unstable();
    assert_eq!(
        offered,
        ["mcp__rutter__resolve_ghap", "mcp__rutter__start_ghap", "mcp__rutter__update_ghap"]
    );
    let tools = first.body["tools"].as_array().unwrap();
    let resolve = tools.iter().find(|tool| tool["name"] == "mcp__rutter__resolve_ghap").unwrap();
    let asked = resolve["input_schema"]["properties"]["applies_when"]["description"].as_str();
    assert!(
        asked.unwrap().contains("phrases a user would type not knowing the cause"),
        "{resolve}"
    );
    let results = tool_results(&record);
    assert!(
        results[0].1.contains(r#""expects":"pass","target":"python3 -m unittest""#),
        "{results:?}"
    );
    let held = hook_texts_of_event(&record, "PostToolUseFailure");
    assert_eq!(held.len(), 1, "{held:?}");
    assert!(held[0].contains("That contradicts it"), "{held:?}");
    // The session has called a tool, so the hook names tools.
    assert!(held[0].contains("`resolve_ghap` with status falsified takes"), "{held:?}");
    assert!(held[0].contains("applies_when"), "{held:?}");
    assert!(results[2].1.contains(r#""tier":"gold""#), "{results:?}");

    let record = life.session_with(ModelScript::default(), |sandbox| {
        sandbox.prompt("the cache test is flaky again, what is counted there?");
    });
    assert!(record.reached_model(LESSON).is_some(), "{:?}", hook_texts_of_event(&record, ""));
    // The server explains GHAPs.
    assert!(record.reached_model("call start_ghap (goal, hypothesis").is_some());
    let start = hook_texts_of_event(&record, "SessionStart");
    assert!(start.iter().all(|said| !said.contains("ghap start --domain")), "{start:?}");

    // The words of the phrase alone bring the lesson back.
    let record = life.session_with(ModelScript::default(), |sandbox| {
        sandbox.prompt("the shop was sluggish again on a busy Monday");
    });
    let said = hook_texts_of_event(&record, "UserPromptSubmit");
    assert!(said.iter().any(|text| text.contains(LESSON)), "{said:?}");
}

#[test]
fn subagent_call_has_own_agent() {
    const MARK: &str = "SUBTASK-2";
    let Some(mut life) = live_project() else { return };
    let task = json!({
        "description": "a look", "prompt": format!("{MARK} look at the cache"),
        "subagent_type": "general-purpose", "run_in_background": false,
    });
    let script =
        ModelScript::new([start_turn("goal of the main agent"), ModelTurn::call("Agent", task)])
            .subagent(MARK, [start_turn("goal of the subagent"), ModelTurn::text("found")]);
    let record = life.session_with(script, |sandbox| {
        sandbox.args(["--allowedTools", "mcp__rutter"]);
    });
    assert!(
        record
            .requests
            .iter()
            .any(|request| !matches!(request.thread, ModelThread::Main | ModelThread::Side))
    );
    let mut owned: Vec<(String, bool)> = list_ghaps(&life)
        .iter()
        .map(|ghap| (ghap["goal"].as_str().unwrap().to_owned(), ghap["agent"].is_string()))
        .collect();
    owned.sort();
    assert_eq!(
        owned,
        [("goal of the main agent".to_owned(), false), ("goal of the subagent".to_owned(), true)],
        "{:?}",
        tool_results(&record)
    );
}

#[test]
fn clear_resume_fork_are_distinguished() {
    let Some(mut life) = live_project() else { return };
    let talk = |prompts: &[&str]| {
        let steps = prompts.iter().flat_map(|prompt| {
            [ConversationStep::Prompt((*prompt).to_owned()), ConversationStep::TurnEnds]
        });
        Conversation::new(steps)
    };
    // The server process survives `/clear`, with the old session id in its environment.
    let turns = [
        start_turn("before"),
        ModelTurn::text("so far"),
        start_turn("after"),
        ModelTurn::text("done"),
    ];
    let record = life.session_with(ModelScript::new(turns), |sandbox| {
        sandbox.conversation(talk(&["go", "/clear", "go on"]));
    });
    let sessions = |life: &LiveProject| -> Vec<(String, String)> {
        let text = |ghap: &Value, key: &str| ghap[key].as_str().unwrap_or_default().to_owned();
        list_ghaps(life).iter().map(|ghap| (text(ghap, "goal"), text(ghap, "session"))).collect()
    };
    let owned = sessions(&life);
    assert_eq!(owned.len(), 2, "{owned:?}: {:?}", tool_results(&record));
    assert_ne!(owned[0].1, owned[1].1);
    // A resumed session has its GHAP again.
    let after = owned.iter().find(|(goal, _)| goal == "after").unwrap().1.clone();
    let record = life.session_with(
        ModelScript::new([tool_turn("update_ghap", json!({ "note": "resumed" }))]),
        |sandbox| {
            sandbox.args(["--resume", &after]);
        },
    );
    let told = tool_results(&record);
    assert!(told.iter().any(|(_, text)| text.contains(r#""ok":true"#)), "{told:?}");
    // A forked session is a new one without a GHAP.
    let record = life.session_with(ModelScript::new([start_turn("forked")]), |sandbox| {
        sandbox.args(["--resume", &after, "--fork-session"]);
    });
    let owned = sessions(&life);
    let forked = owned.iter().find(|(goal, _)| goal == "forked");
    assert!(
        forked.is_some_and(|(_, session)| *session != after),
        "{owned:?}: {:?}",
        tool_results(&record)
    );
}

#[test]
fn hooks_assign_shared_server_calls() {
    let Some(mut life) = live_project() else { return };
    // Started in another directory without a session: only hooks can assign its calls to sessions.
    let mut serve = rutter_command(&["mcp", "--http", "--port", "0"]);
    serve.env("HOME", &life.home).env("PATH", "/usr/bin:/bin").current_dir("/");
    let served = HttpServer::start(serve);
    let entry = json!({
        "type": "http", "url": format!("http://{}/mcp", served.address),
        // The client runs the helper that the server printed.
        "headersHelper": served.registration_entry()["headersHelper"],
    });
    let config = json!({ "mcpServers": { "rutter": entry } }).to_string();
    std::fs::write(life.home.join("mcp.json"), config).unwrap();
    let script = |goal: &str| {
        let note = tool_turn("update_ghap", json!({ "note": format!("note of {goal}") }));
        ModelScript::new([start_turn(goal), note])
    };
    let records = life.sessions([script("one"), script("two")]);
    let all = list_ghaps(&life);
    assert_eq!(all.len(), 2, "{:?} {:?}", tool_results(&records[0]), tool_results(&records[1]));
    for record in &records {
        let session = record.result().unwrap()["session_id"].as_str().unwrap();
        let mine = all.iter().find(|ghap| ghap["session"] == session);
        let goal = mine.unwrap_or_else(|| panic!("{session}: {all:?}"))["goal"].as_str().unwrap();
        assert_eq!(mine.unwrap()["notes"][0]["text"], format!("note of {goal}").as_str());
    }
    assert_ne!(all[0]["goal"], all[1]["goal"]);
    drop(served.stop(rustix::process::Signal::TERM).assert_success());
}

#[test]
fn concurrent_clients_do_not_mix() {
    let Some(mut life) = live_project() else { return };
    let script = |goal: &str| {
        ModelScript::new([
            start_turn(goal),
            tool_turn("update_ghap", json!({ "note": format!("note of {goal}") })),
        ])
    };
    let records = life.sessions([script("one"), script("two")]);
    let all = list_ghaps(&life);
    assert_eq!(all.len(), 2, "{:?} {:?}", tool_results(&records[0]), tool_results(&records[1]));
    assert_ne!(all[0]["session"], all[1]["session"]);
    for ghap in &all {
        let note = format!("note of {}", ghap["goal"].as_str().unwrap());
        assert_eq!(ghap["notes"][0]["text"], note.as_str(), "{ghap}");
    }
}
