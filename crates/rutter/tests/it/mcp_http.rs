//! `rutter mcp --http`, tested with handwritten bytes on a socket.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::Home;

/// Requests that are too large, too many or too slow.
mod crowd;
/// Token, address and shutdown.
mod start;
/// Requests without a token, from foreign web pages, and invalid ones.
mod strangers;
/// A running server, and a client that sends given bytes.
pub(crate) mod talk;

use talk::{PATIENCE, Served, call, ghap, status};

fn hello(version: &str) -> Value {
    let about = json!({ "name": "somebody", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": about });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

#[test]
fn a_client_is_greeted_lists_and_calls() {
    let home = Home::new();
    let served = Served::of(&home);
    for (version, session) in
        [("2025-11-25", None), ("2025-11-25", Some("mine")), ("2025-06-18", None)]
    {
        // A single connection for all requests, as clients have it.
        let mut talk = served.connect();
        let greeted = talk.ask(&served.request().message(&hello(version)));
        let answer = greeted.json();
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "rutter");
        assert_eq!(greeted.header("mcp-session-id"), None);
        let mut request = served.request().also("MCP-Protocol-Version", version);
        if let Some(session) = session {
            request = request.also("Mcp-Session-Id", session);
        }
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let accepted = talk.ask(&request.clone().message(&ready));
        assert_eq!((accepted.code, accepted.body.as_str()), (202, ""));
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        let list = talk.ask(&request.clone().message(&list)).json();
        let names = list["result"]["tools"].as_array().unwrap().iter();
        assert!(names.map(|tool| &tool["name"]).any(|name| name == "start_ghap"), "{list}");
        // The stream for unsolicited messages, which rutter does not send.
        let stream = request.clone().line("GET /mcp").with("Accept", "text/event-stream");
        assert_eq!(talk.ask(&stream).code, 405);
        let goal = format!("{version} {session:?}");
        let started = talk.ask(&request.clone().call("start_ghap", &ghap(&goal))).given();
        let end = json!({ "status": "abandoned", "result": "it was only a test" });
        drop(talk.ask(&request.clone().call("resolve_ghap", &end)).given());
        let kept = home.json(&["ghap", "show", started["id"].as_str().unwrap()]);
        assert_eq!(kept["goal"], goal.as_str(), "{started}");
        let refused = talk.ask(&request.call("start_ghap", &json!({}))).json();
        assert_eq!(refused["result"]["isError"], true, "{refused}");
    }
}

#[test]
fn a_client_that_does_without_greetings_says_with_each_call_what_it_speaks() {
    const VERSION: &str = "2026-07-28";
    let home = Home::new();
    let served = Served::of(&home);
    let mut talk = served.connect();
    let mut ask = |method: &str, name: Option<&str>, mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "somebody", "version": "1" },
        });
        let mut request =
            served.request().also("MCP-Protocol-Version", VERSION).also("Mcp-Method", method);
        if let Some(name) = name {
            request = request.also("Mcp-Name", name);
        }
        let message = json!({ "jsonrpc": "2.0", "id": 3, "method": method, "params": params });
        talk.ask(&request.message(&message))
    };
    let known = ask("server/discover", None, json!({})).json();
    let versions = known["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(VERSION)), "{known}");
    let list = ask("tools/list", None, json!({})).json();
    assert!(list["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 5), "{list}");
    let params = json!({ "name": "start_ghap", "arguments": ghap("stateless") });
    let started = ask("tools/call", Some("start_ghap"), params).given();
    assert_eq!(started["target"], "cargo test cache", "{started}");
    let status = ask("tools/call", Some("status"), json!({ "name": "status" })).given();
    assert_eq!(status["active"]["goal"], "stateless", "{status}");
    let unknown = ask("tools/make", None, json!({}));
    assert_eq!(unknown.code, 404, "{unknown:?}");
    // A gateway that reads only the headers would be misled.
    let call = json!({ "name": "forget", "arguments": { "ids": ["x"] } });
    let lied = ask("tools/call", Some("status"), call);
    assert_eq!(lied.code, 400, "{lied:?}");
}

#[test]
fn a_call_lands_with_the_session_that_made_it() {
    let home = Home::new();
    let served = Served::of(&home);
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "the-clients-own", "transcript_path": "/nowhere",
        "cwd": home.path("ship"), "permission_mode": "default", "tool_name": "mcp__rutter__start_ghap",
        "tool_input": {}, "tool_use_id": "toolu_0123",
    });
    home.set(&[]);
    // The first call creates the store.
    assert_eq!(served.ask(&served.request().message(&status())).code, 200);
    let mut hook = home.command(&["hook"]).stdin(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    assert!(hook.wait().unwrap().success());

    let mut start = call("start_ghap", &ghap("of a session"));
    start["params"]["_meta"] = json!({ "claudecode/toolUseId": "toolu_0123" });
    let mine = served.ask(&served.request().message(&start)).given();
    let id = mine["id"].as_str().unwrap();
    assert_eq!(home.json(&["ghap", "show", id])["session"], "the-clients-own");
    // Calls without a recorded session belong to the server's session.
    let sessions: Vec<Value> = (0..2)
        .map(|_| served.ask(&served.request().message(&status())).given()["session"].clone())
        .collect();
    assert!(sessions[0].as_str().unwrap().starts_with("mcp:"), "{sessions:?}");
    assert_eq!(sessions[0], sessions[1]);
}

#[test]
fn half_an_emoji_is_kept_as_what_cannot_be_shown() {
    let home = Home::new();
    let served = Served::of(&home);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"category":"fact","content":"cut \ud83d here, whole \ud83d\ude00 there"}}}"#;
    let given = served.ask(&served.request().body(body)).given();
    assert!(given["id"].is_string(), "{given}");
    // `rutter call` accepts it too.
    let typed = r#"{"category":"fact","content":"typed \udE00"}"#;
    drop(home.rutter(&["call", "remember", typed]).success());
    let memories = home.json(&["memories"]);
    let mut texts: Vec<&str> = memories
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| memory["text"].as_str().unwrap())
        .collect();
    texts.sort_unstable();
    assert_eq!(texts, ["cut \u{fffd} here, whole 😀 there", "typed \u{fffd}"]);
}

#[test]
fn two_at_once_lose_nothing() {
    let home = Home::new();
    let served = Served::of(&home);
    std::thread::scope(|scope| {
        for client in 0..4 {
            let served = &served;
            scope.spawn(move || {
                let mut talk = served.connect();
                for row in 0..25 {
                    let text = json!({ "content": format!("client {client} keeps row {row} of its own"), "category": "fact" });
                    drop(talk.ask(&served.request().call("remember", &text)).given());
                }
            });
        }
    });
    let kept = home.json(&["memories", "--limit", "1000"]);
    assert_eq!(kept.as_array().unwrap().len(), 100, "{kept}");
}

#[test]
fn a_server_that_nobody_asks_anything_holds_nothing() {
    let home = Home::new();
    let served = Served::of(&home);
    drop(served.ask(&served.request().message(&status())).given());
    // The last process that closes the database deletes the WAL.
    let log = home.memory().join("rutter.db-wal");
    let from = Instant::now();
    while log.exists() {
        assert!(from.elapsed() < PATIENCE, "it is still open");
        std::thread::yield_now();
    }
    std::fs::remove_dir_all(home.memory()).unwrap();
    let status = served.ask(&served.request().message(&status())).given();
    assert_eq!(status["memories"], 0, "a memory that was removed is a new one");
}
