//! `rutter mcp --http`, tested with handwritten bytes on a socket.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::TestHome;

/// A running server, and a client that sends given bytes.
pub(crate) mod http_client;
/// Requests that are too large, too many or too slow.
mod limits;
/// Requests without a token, from foreign web pages, and invalid ones.
mod rejected_requests;
/// Token, address and shutdown.
mod startup;

use http_client::{EVENT_TIMEOUT, HttpServer, ghap_arguments, status_call, tool_call};

fn initialize_request(version: &str) -> Value {
    let about = json!({ "name": "somebody", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": about });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

#[test]
fn client_initializes_and_calls() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    for (version, session) in
        [("2025-11-25", None), ("2025-11-25", Some("mine")), ("2025-06-18", None)]
    {
        // A single connection for all requests, as clients have it.
        let mut talk = served.connect();
        let greeted = talk.send(&served.request().message(&initialize_request(version)));
        let answer = greeted.json();
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "rutter");
        assert_eq!(greeted.header("mcp-session-id"), None);
        let mut request = served.request().add_header("MCP-Protocol-Version", version);
        if let Some(session) = session {
            request = request.add_header("Mcp-Session-Id", session);
        }
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let accepted = talk.send(&request.clone().message(&ready));
        assert_eq!((accepted.code, accepted.body.as_str()), (202, ""));
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        let list = talk.send(&request.clone().message(&list)).json();
        let names = list["result"]["tools"].as_array().unwrap().iter();
        assert!(names.map(|tool| &tool["name"]).any(|name| name == "start_ghap"), "{list}");
        // The stream for unsolicited messages, which rutter does not send.
        let stream =
            request.clone().request_line("GET /mcp").set_header("Accept", "text/event-stream");
        assert_eq!(talk.send(&stream).code, 405);
        let goal = format!("{version} {session:?}");
        let started =
            talk.send(&request.clone().call("start_ghap", &ghap_arguments(&goal))).tool_result();
        let end = json!({ "status": "abandoned", "result": "it was only a test" });
        drop(talk.send(&request.clone().call("resolve_ghap", &end)).tool_result());
        let kept = home.json(&["ghap", "show", started["id"].as_str().unwrap()]);
        assert_eq!(kept["goal"], goal.as_str(), "{started}");
        let refused = talk.send(&request.call("start_ghap", &json!({}))).json();
        assert_eq!(refused["result"]["isError"], true, "{refused}");
    }
}

#[test]
fn stateless_client_names_version() {
    const VERSION: &str = "2026-07-28";
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    let mut talk = served.connect();
    let mut ask = |method: &str, name: Option<&str>, mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "somebody", "version": "1" },
        });
        let mut request = served
            .request()
            .add_header("MCP-Protocol-Version", VERSION)
            .add_header("Mcp-Method", method);
        if let Some(name) = name {
            request = request.add_header("Mcp-Name", name);
        }
        let message = json!({ "jsonrpc": "2.0", "id": 3, "method": method, "params": params });
        talk.send(&request.message(&message))
    };
    let known = ask("server/discover", None, json!({})).json();
    let versions = known["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(VERSION)), "{known}");
    let list = ask("tools/list", None, json!({})).json();
    assert!(list["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 5), "{list}");
    let params = json!({ "name": "start_ghap", "arguments": ghap_arguments("stateless") });
    let started = ask("tools/call", Some("start_ghap"), params).tool_result();
    assert_eq!(started["target"], "cargo test cache", "{started}");
    let status = ask("tools/call", Some("status"), json!({ "name": "status" })).tool_result();
    assert_eq!(status["active"]["goal"], "stateless", "{status}");
    let unknown = ask("tools/make", None, json!({}));
    assert_eq!(unknown.code, 404, "{unknown:?}");
    // A gateway that reads only the headers would be misled.
    let call = json!({ "name": "forget", "arguments": { "ids": ["x"] } });
    let lied = ask("tools/call", Some("status"), call);
    assert_eq!(lied.code, 400, "{lied:?}");
}

#[test]
fn call_belongs_to_its_session() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "the-clients-own", "transcript_path": "/nowhere",
        "cwd": home.path("ship"), "permission_mode": "default", "tool_name": "mcp__rutter__start_ghap",
        "tool_input": {}, "tool_use_id": "toolu_0123",
    });
    home.write_config(&[]);
    // The first call creates the store.
    assert_eq!(served.send(&served.request().message(&status_call())).code, 200);
    let mut hook = home.command(&["hook"]).stdin(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    assert!(hook.wait().unwrap().success());

    let mut start = tool_call("start_ghap", &ghap_arguments("of a session"));
    start["params"]["_meta"] = json!({ "claudecode/toolUseId": "toolu_0123" });
    let mine = served.send(&served.request().message(&start)).tool_result();
    let id = mine["id"].as_str().unwrap();
    assert_eq!(home.json(&["ghap", "show", id])["session"], "the-clients-own");
    // Calls without a recorded session belong to the server's session.
    let sessions: Vec<Value> = (0..2)
        .map(|_| {
            served.send(&served.request().message(&status_call())).tool_result()["session"].clone()
        })
        .collect();
    assert!(sessions[0].as_str().unwrap().starts_with("mcp:"), "{sessions:?}");
    assert_eq!(sessions[0], sessions[1]);
}

#[test]
fn http_replaces_lone_surrogate() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"category":"fact","content":"cut \ud83d here, whole \ud83d\ude00 there"}}}"#;
    let given = served.send(&served.request().body(body)).tool_result();
    assert!(given["id"].is_string(), "{given}");
    // `rutter call` accepts it too.
    let typed = r#"{"category":"fact","content":"typed \udE00"}"#;
    drop(home.rutter(&["call", "remember", typed]).assert_success());
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
fn concurrent_clients_lose_nothing() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    std::thread::scope(|scope| {
        for client in 0..4 {
            let served = &served;
            scope.spawn(move || {
                let mut talk = served.connect();
                for row in 0..25 {
                    let text = json!({ "content": format!("client {client} keeps row {row} of its own"), "category": "fact" });
                    drop(talk.send(&served.request().call("remember", &text)).tool_result());
                }
            });
        }
    });
    let kept = home.json(&["memories", "--limit", "1000"]);
    assert_eq!(kept.as_array().unwrap().len(), 100, "{kept}");
}

#[test]
fn idle_server_closes_database() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    drop(served.send(&served.request().message(&status_call())).tool_result());
    // The last process that closes the database deletes the WAL.
    let log = home.memory().join("rutter.db-wal");
    let from = Instant::now();
    while log.exists() {
        assert!(from.elapsed() < EVENT_TIMEOUT, "it is still open");
        std::thread::yield_now();
    }
    std::fs::remove_dir_all(home.memory()).unwrap();
    let status = served.send(&served.request().message(&status_call())).tool_result();
    assert_eq!(status["memories"], 0, "a memory that was removed is a new one");
}

#[test]
fn resources_answer_for_server_folder() {
    let home = TestHome::new();
    home.write_config(&[]);
    let boat = home.path("boat");
    std::fs::create_dir_all(&boat).unwrap();
    let other = ghap_arguments("a goal of another folder").to_string();
    let mut call = home.command(&["call", "start_ghap", &other]);
    assert!(call.current_dir(&boat).stdout(Stdio::null()).status().unwrap().success());
    let served = HttpServer::for_home(&home);
    let own = tool_call("start_ghap", &ghap_arguments("a goal of the own folder"));
    drop(served.send(&served.request().message(&own)).tool_result());
    let ask = |method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        served.send(&served.request().message(&message)).json()["result"].clone()
    };
    let listed = ask("resources/list", json!({}));
    let mut found = 0;
    for resource in listed["resources"].as_array().unwrap() {
        let read = ask("resources/read", json!({ "uri": resource["uri"] })).to_string();
        assert!(!read.contains("a goal of another folder"), "{read}");
        found += usize::from(read.contains("a goal of the own folder"));
    }
    assert_eq!(found, 1, "{listed}");
}
