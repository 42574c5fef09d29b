//! MCP tools called by an agent of the real client: hooks use the rows that a tool wrote, and each call belongs to the
//! session and agent that made it.

use rutter_check::live::{Conversation, Record, Script, Step, Thread, Turn};
use serde_json::{Value, json};

use crate::live::{Life, bash, said_by};
use crate::mcp_http::talk::Served;
use crate::support::command;

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
fn life() -> Option<Life> {
    let life = Life::new(&FILES)?;
    life.init();
    Some(life)
}

fn tool(name: &str, arguments: Value) -> Turn {
    Turn::call(format!("mcp__rutter__{name}"), arguments)
}

fn start(goal: &str) -> Turn {
    tool(
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
fn results(record: &Record) -> Vec<(bool, String)> {
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

fn ghaps(life: &Life) -> Vec<Value> {
    let list = life.rutter(&["ghap", "list", "--all", "--json"]).success().stdout;
    serde_json::from_str(&list).unwrap()
}

#[test]
fn a_prediction_by_tool_is_contradicted_by_a_run_and_taught_to_a_later_session() {
    let Some(mut life) = life() else { return };
    let resolve = tool(
        "resolve_ghap",
        json!({
            "status": "falsified", "result": "it still fails", "surprise": "it fails alone as well",
            "root_cause": { "category": "wrong-assumption", "description": "the size is counted before the eviction" },
            "lesson": { "takeaway": format!("a cache test that fails: {LESSON}") },
            "auto_captured": true,
        }),
    );
    let turns = [start("the cache test is green"), bash(RUN), resolve];
    let record = life.session_with(Script::new(turns), |sandbox| {
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
    let results = results(&record);
    assert!(
        results[0].1.contains(r#""expects":"pass","target":"python3 -m unittest""#),
        "{results:?}"
    );
    let held = said_by(&record, "PostToolUseFailure");
    assert_eq!(held.len(), 1, "{held:?}");
    assert!(held[0].contains("That contradicts it"), "{held:?}");
    // The session has called a tool, so the hook names tools.
    assert!(held[0].contains("`resolve_ghap` with status falsified takes"), "{held:?}");
    assert!(results[2].1.contains(r#""tier":"gold""#), "{results:?}");

    let record = life.session_with(Script::default(), |sandbox| {
        sandbox.prompt("the cache test is flaky again, what is counted there?");
    });
    assert!(record.reached_model(LESSON).is_some(), "{:?}", said_by(&record, ""));
    // The server explains GHAPs.
    assert!(record.reached_model("call start_ghap (goal, hypothesis").is_some());
    let start = said_by(&record, "SessionStart");
    assert!(start.iter().all(|said| !said.contains("ghap start --domain")), "{start:?}");
}

#[test]
fn a_subagents_call_is_its_own() {
    const MARK: &str = "SUBTASK-2";
    let Some(mut life) = life() else { return };
    let task = json!({
        "description": "a look", "prompt": format!("{MARK} look at the cache"),
        "subagent_type": "general-purpose", "run_in_background": false,
    });
    let script = Script::new([start("goal of the main agent"), Turn::call("Agent", task)])
        .subagent(MARK, [start("goal of the subagent"), Turn::text("found")]);
    let record = life.session_with(script, |sandbox| {
        sandbox.args(["--allowedTools", "mcp__rutter"]);
    });
    assert!(
        record
            .requests
            .iter()
            .any(|request| !matches!(request.thread, Thread::Main | Thread::Side))
    );
    let mut owned: Vec<(String, bool)> = ghaps(&life)
        .iter()
        .map(|ghap| (ghap["goal"].as_str().unwrap().to_owned(), ghap["agent"].is_string()))
        .collect();
    owned.sort();
    assert_eq!(
        owned,
        [("goal of the main agent".to_owned(), false), ("goal of the subagent".to_owned(), true)],
        "{:?}",
        results(&record)
    );
}

#[test]
fn clearing_resuming_and_forking_are_told_apart() {
    let Some(mut life) = life() else { return };
    let talk = |prompts: &[&str]| {
        let steps =
            prompts.iter().flat_map(|prompt| [Step::Prompt((*prompt).to_owned()), Step::TurnEnds]);
        Conversation::new(steps)
    };
    // The server process survives `/clear`, with the old session id in its environment.
    let turns = [start("before"), Turn::text("so far"), start("after"), Turn::text("done")];
    let record = life.session_with(Script::new(turns), |sandbox| {
        sandbox.conversation(talk(&["go", "/clear", "go on"]));
    });
    let sessions = |life: &Life| -> Vec<(String, String)> {
        let text = |ghap: &Value, key: &str| ghap[key].as_str().unwrap_or_default().to_owned();
        ghaps(life).iter().map(|ghap| (text(ghap, "goal"), text(ghap, "session"))).collect()
    };
    let owned = sessions(&life);
    assert_eq!(owned.len(), 2, "{owned:?}: {:?}", results(&record));
    assert_ne!(owned[0].1, owned[1].1);
    // A resumed session has its GHAP again.
    let after = owned.iter().find(|(goal, _)| goal == "after").unwrap().1.clone();
    let record = life.session_with(
        Script::new([tool("update_ghap", json!({ "note": "resumed" }))]),
        |sandbox| {
            sandbox.args(["--resume", &after]);
        },
    );
    let told = results(&record);
    assert!(told.iter().any(|(_, text)| text.contains(r#""ok":true"#)), "{told:?}");
    // A forked session is a new one without a GHAP.
    let record = life.session_with(Script::new([start("forked")]), |sandbox| {
        sandbox.args(["--resume", &after, "--fork-session"]);
    });
    let owned = sessions(&life);
    let forked = owned.iter().find(|(goal, _)| goal == "forked");
    assert!(
        forked.is_some_and(|(_, session)| *session != after),
        "{owned:?}: {:?}",
        results(&record)
    );
}

#[test]
fn a_server_that_many_share_knows_by_the_hooks_whose_call_it_is() {
    let Some(mut life) = life() else { return };
    // Started in another directory without a session: only hooks can assign its calls to sessions.
    let mut serve = command(&["mcp", "--http", "--port", "0"]);
    serve.env("HOME", &life.home).env("PATH", "/usr/bin:/bin").current_dir("/");
    let served = Served::start(serve);
    let entry = json!({
        "type": "http", "url": format!("http://{}/mcp", served.address),
        // The client runs the helper that the server printed.
        "headersHelper": served.entry()["headersHelper"],
    });
    let config = json!({ "mcpServers": { "rutter": entry } }).to_string();
    std::fs::write(life.home.join("mcp.json"), config).unwrap();
    let script = |goal: &str| {
        let note = tool("update_ghap", json!({ "note": format!("note of {goal}") }));
        Script::new([start(goal), note])
    };
    let records = life.sessions([script("one"), script("two")]);
    let all = ghaps(&life);
    assert_eq!(all.len(), 2, "{:?} {:?}", results(&records[0]), results(&records[1]));
    for record in &records {
        let session = record.result().unwrap()["session_id"].as_str().unwrap();
        let mine = all.iter().find(|ghap| ghap["session"] == session);
        let goal = mine.unwrap_or_else(|| panic!("{session}: {all:?}"))["goal"].as_str().unwrap();
        assert_eq!(mine.unwrap()["notes"][0]["text"], format!("note of {goal}").as_str());
    }
    assert_ne!(all[0]["goal"], all[1]["goal"]);
    drop(served.end(rustix::process::Signal::TERM).success());
}

#[test]
fn two_clients_at_once_do_not_mix() {
    let Some(mut life) = life() else { return };
    let script = |goal: &str| {
        Script::new([
            start(goal),
            tool("update_ghap", json!({ "note": format!("note of {goal}") })),
        ])
    };
    let records = life.sessions([script("one"), script("two")]);
    let all = ghaps(&life);
    assert_eq!(all.len(), 2, "{:?} {:?}", results(&records[0]), results(&records[1]));
    assert_ne!(all[0]["session"], all[1]["session"]);
    for ghap in &all {
        let note = format!("note of {}", ghap["goal"].as_str().unwrap());
        assert_eq!(ghap["notes"][0]["text"], note.as_str(), "{ghap}");
    }
}
