//! `rutter mcp` with invalid lines: it stays alive, prints only messages, and answers the next request.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::support::TestHome;

/// A running server and its output.
pub(crate) struct StdioServer {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    asked: usize,
}

impl StdioServer {
    fn new(home: &TestHome) -> Self {
        Self::start(home.command(&["mcp"]))
    }

    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (heard, lines) = channel();
        // A separate thread, because the server may write while the test still writes to it.
        std::thread::spawn(move || {
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                if heard.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, asked: 0 }
    }

    fn initialized(home: &TestHome) -> Self {
        let mut server = Self::new(home);
        server.initialize();
        server
    }

    /// Starts a server and completes the handshake.
    pub(crate) fn start_initialized(command: Command) -> Self {
        let mut server = Self::start(command);
        server.initialize();
        server
    }

    /// Calls a tool and returns the answer.
    pub(crate) fn call_tool(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Sends a request and returns the answer.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let request =
            json!({ "jsonrpc": "2.0", "id": "asked", "method": method, "params": params });
        self.send(request.to_string().as_bytes());
        let answer = self.read_message();
        assert_eq!(answer["id"], "asked", "{answer}");
        answer
    }

    fn send(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).expect("it still listens");
    }

    /// Returns the next message, which must be valid JSON-RPC.
    fn read_message(&mut self) -> Value {
        // Only a limit for a server that hangs. The test measures nothing.
        let line = self.lines.recv_timeout(Duration::from_mins(2));
        let line = line.expect("it answers and lives");
        let message: Value = serde_json::from_slice(&line)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&line)));
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        let kinds = ["result", "error", "method"];
        let kinds = kinds.iter().filter(|kind| message.get(kind).is_some());
        assert_eq!(kinds.count(), 1, "{message}");
        if let Some(error) = message.get("error") {
            assert!(error["code"].is_i64() && error["message"].is_string(), "{message}");
        }
        let id = &message["id"];
        assert!(id.is_null() || id.is_i64() || id.is_string(), "{message}");
        message
    }

    fn initialize(&mut self) {
        self.send(INITIALIZE_REQUEST.as_bytes());
        while self.read_message()["id"] != "hello" {}
        self.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// Sends a line and a request. Returns the messages before the answer to the request.
    fn send_and_probe(&mut self, line: &[u8]) -> Vec<Value> {
        self.send(line);
        self.assert_answers()
    }

    fn assert_answers(&mut self) -> Vec<Value> {
        self.asked += 1;
        let id = format!("after {}", self.asked);
        let params = json!({ "name": "get_ghap", "arguments": { "list": true } });
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.send(request.to_string().as_bytes());
        let mut said = Vec::new();
        loop {
            let message = self.read_message();
            if message["id"] == id.as_str() {
                assert_eq!(message["result"]["isError"], false, "{message}");
                return said;
            }
            said.push(message);
        }
    }

    /// Closes stdin, and asserts that the server ends without an error.
    pub(crate) fn finish(mut self) {
        drop(self.input.take());
        let ended = self.child.wait().unwrap();
        assert!(ended.success(), "{ended}");
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut said).unwrap();
        assert_eq!(said, "");
    }
}

impl Drop for StdioServer {
    fn drop(&mut self) {
        // A failing test leaves no process behind.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

const INITIALIZE_REQUEST: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;

/// Returns invalid or unusual lines, each with the code of the expected error.
fn invalid_lines() -> Vec<(Vec<u8>, Option<i64>)> {
    const PARSE_ERROR: Option<i64> = Some(-32_700);
    const INVALID_REQUEST: Option<i64> = Some(-32_600);
    const METHOD_NOT_FOUND: Option<i64> = Some(-32_601);
    const INVALID_PARAMS: Option<i64> = Some(-32_602);
    let mut lines: Vec<(Vec<u8>, Option<i64>)> = [
        // Blank lines.
        ("", None),
        (" \t\r", None),
        // Invalid JSON.
        ("hello", PARSE_ERROR),
        ("{", PARSE_ERROR),
        ("}{", PARSE_ERROR),
        ("\0", PARSE_ERROR),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, PARSE_ERROR),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e999}}"#, PARSE_ERROR),
        // JSON that is not a message.
        ("1", INVALID_REQUEST),
        ("null", INVALID_REQUEST),
        (r#""ping""#, INVALID_REQUEST),
        ("[]", INVALID_REQUEST),
        ("{}", INVALID_REQUEST),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, INVALID_REQUEST),
        (r#"{"id":1,"method":"ping"}"#, INVALID_REQUEST),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, INVALID_REQUEST),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":5}"#, INVALID_REQUEST),
        // Invalid ids.
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":99999999999999999999999,"method":"ping"}"#, INVALID_REQUEST),
        // Requests with an unknown method or invalid parameters.
        (r#"{"jsonrpc":"2.0","id":1,"method":"nope"}"#, METHOD_NOT_FOUND),
        (r#"{"jsonrpc":"2.0","id":1,"method":""}"#, METHOD_NOT_FOUND),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/make","params":{"a":1}}"#, METHOD_NOT_FOUND),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x"}}"#, METHOD_NOT_FOUND),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, INVALID_PARAMS),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, INVALID_PARAMS),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}}"#, INVALID_PARAMS),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status","arguments":[1]}}"#, INVALID_PARAMS),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status","arguments":"x"}}"#, INVALID_PARAMS),
        (r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":7}}"#, INVALID_PARAMS),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#, INVALID_PARAMS),
        (r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}"#, INVALID_PARAMS),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}}"#, INVALID_PARAMS),
        // Responses without a request, and notifications.
        (r#"{"jsonrpc":"2.0","id":77,"result":{}}"#, None),
        (r#"{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}"#, None),
        (r#"{"jsonrpc":"2.0","method":"notifications/nope","params":{"a":1}}"#, None),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#, None),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#, None),
    ]
    .into_iter()
    .map(|(line, code)| (line.as_bytes().to_vec(), code))
    .collect();
    let nested =
        |depth: usize| [r#"{"a":"#.repeat(depth), "1".to_owned(), "}".repeat(depth)].concat();
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"status","arguments":{arguments}}}}}"#
        )
    };
    lines.push(("[".repeat(100_000).into_bytes(), PARSE_ERROR));
    lines.push((call(&nested(5_000)).into_bytes(), PARSE_ERROR));
    lines.push((b"\xff\xfe{".to_vec(), PARSE_ERROR));
    lines.push((
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}".to_vec(),
        PARSE_ERROR,
    ));
    // Above the length limit of a line.
    lines.push((vec![b'x'; 17 * 1024 * 1024], INVALID_REQUEST));
    lines
}

#[test]
fn invalid_lines_get_errors() {
    let home = TestHome::new();
    let mut server = StdioServer::initialized(&home);
    for (line, code) in invalid_lines() {
        let shown: String = String::from_utf8_lossy(&line).chars().take(200).collect();
        server.send(&line);
        if let Some(code) = code {
            let said = server.read_message();
            assert_eq!(said["error"]["code"], code, "{shown}: {said}");
        }
        let said = server.assert_answers();
        assert_eq!(said, [] as [Value; 0], "{shown}");
    }
    server.finish();
}

#[test]
fn invalid_lines_before_handshake() {
    let home = TestHome::new();
    let mut server = StdioServer::new(&home);
    for (line, _) in invalid_lines() {
        server.send(&line);
    }
    // A `server/discover` request that is cancelled does not count as a handshake.
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    server.send(
        format!(r#"{{"jsonrpc":"2.0","id":5,"method":"server/discover","params":{{{meta}}}}}"#)
            .as_bytes(),
    );
    server
        .send(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#);
    server.initialize();
    server.assert_answers();
    server.finish();
}

#[test]
fn newer_client_skips_handshake() {
    let home = TestHome::new();
    let mut server = StdioServer::new(&home);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    server.send(br#"{"jsonrpc":"2.0","method":"notifications/nope"}"#);
    for number in 0..3 {
        let params = json!({ "name": "status", "arguments": {}, "_meta": meta });
        let request =
            json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params });
        server.send(request.to_string().as_bytes());
        let message = server.read_message();
        assert_eq!(message["id"], number, "{message}");
        assert_eq!(message["result"]["structuredContent"]["memories"], 0, "{message}");
        server.send(br#"{"jsonrpc":"2.0","method":"notifications/nope"}"#);
    }
    // Methods that the newer protocol has dropped are unknown, with any parameters.
    for (method, params) in [
        ("logging/setLevel", json!({ "level": "debug" })),
        ("logging/setLevel", json!({})),
        ("initialize", json!({})),
        ("ping", json!({})),
    ] {
        let mut params = params;
        params["_meta"] = meta.clone();
        let request = json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params });
        server.send(request.to_string().as_bytes());
        assert_eq!(server.read_message()["error"]["code"], -32_601, "{method}");
    }
    server.finish();
}

#[test]
fn ten_megabyte_argument_is_refused() {
    let home = TestHome::new();
    let mut server = StdioServer::initialized(&home);
    let arguments = json!({ "category": "fact", "content": "x".repeat(10_000_000) });
    let params = json!({ "name": "remember", "arguments": arguments });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    server.send(request.to_string().as_bytes());
    let message = server.read_message();
    assert_eq!(message["id"], 1);
    let text = &message["result"]["content"][0]["text"];
    assert_eq!(text, "content has 10000000 characters; at most 10000 are allowed, so shorten it");
    server.assert_answers();
    server.finish();
}

/// An error with the id of the request keeps the client from waiting for the answer.
#[test]
fn unreadable_request_error_has_id() {
    let home = TestHome::new();
    let mut server = StdioServer::initialized(&home);
    let call = |id: &str, text: &[u8]| {
        let start = br#"{"method":"tools/call","params":{"name":"remember","arguments":{"category":"fact","content":"#;
        [start, text, br#"}},"jsonrpc":"2.0","id":"#, id.as_bytes(), b"}"].concat()
    };
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    for (line, id, code) in [
        (call("1", b"\"caf\xe9\""), json!(1), -32_700),
        (call("\"two\"", b"\"a\0b\""), json!("two"), -32_700),
        (call("3", &nested(126)), json!(3), -32_700),
        (call("4", &nested(5_000)), json!(4), -32_700),
        (call("5", b"\"cut"), Value::Null, -32_700),
        (call("6", &[b"\"", &vec![b'x'; 20_000_000][..], b"\""].concat()), json!(6), -32_600),
    ] {
        server.send(&line);
        let said = server.read_message();
        assert_eq!((&said["id"], &said["error"]["code"]), (&id, &json!(code)), "{said}");
        assert_eq!(server.assert_answers(), [] as [Value; 0], "{id}");
    }
    // Every depth gets an answer: a result or an error.
    for depth in 100..132 {
        server.send(&call(&depth.to_string(), &nested(depth)));
        let said = server.read_message();
        assert_eq!(said["id"], depth, "{said}");
    }
    // Many invalid lines and requests at once: no answer is lost or mixed with another.
    let mut all = Vec::new();
    for id in 1_000..1_100 {
        all.extend(call(&id.to_string(), b"\"caf\xe9\""));
        all.extend(
            format!("\n{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}}\n", id + 1_000)
                .bytes(),
        );
    }
    server.send(&all);
    let mut answered: Vec<i64> =
        (0..200).map(|_| server.read_message()["id"].as_i64().unwrap()).collect();
    answered.sort_unstable();
    assert!(answered.into_iter().eq((1_000..1_100).chain(2_000..2_100)));
    server.finish();
}

#[test]
fn stdio_replaces_lone_surrogate() {
    let home = TestHome::new();
    let mut server = StdioServer::initialized(&home);
    let said = server.send_and_probe(
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"category":"fact","content":"cut \ud83d here, whole \ud83d\ude00 there"}}}"#,
    );
    // The server works on both requests at once, so the answers come in any order.
    if said.is_empty() {
        assert_eq!(server.read_message()["result"]["isError"], false);
    } else {
        assert_eq!(said[0]["result"]["isError"], false, "{said:?}");
    }
    server.finish();
    let memories = home.json(&["memories"]);
    assert_eq!(memories[0]["text"], "cut \u{fffd} here, whole 😀 there");
}

#[test]
fn request_ids_are_echoed() {
    let home = TestHome::new();
    let mut server = StdioServer::initialized(&home);
    for id in [
        json!(0),
        json!(-1),
        json!(i64::MAX),
        json!(""),
        json!("ä \" \n"),
        json!("9".repeat(2_000)),
    ] {
        let ping = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        assert_eq!(
            server.send_and_probe(ping.to_string().as_bytes()),
            [json!({ "jsonrpc": "2.0", "id": id, "result": {} })]
        );
    }
    server.finish();
}

/// Generates lines, most of which resemble a request.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let methods = prop::sample::select(vec![
        "ping",
        "initialize",
        "tools/list",
        "tools/call",
        "prompts/get",
        "prompts/list",
        "resources/read",
        "resources/list",
        "resources/templates/list",
        "logging/setLevel",
        "completion/complete",
        "server/discover",
        "subscriptions/listen",
        "tasks/get",
        "notifications/cancelled",
        "notifications/initialized",
        "notifications/progress",
        "nope",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::String),
        prop::sample::select(vec![
            "status",
            "start_ghap",
            "forget",
            "premortem",
            "debug",
            "2025-11-25"
        ])
        .prop_map(Value::from),
    ];
    let json = leaf.prop_recursive(4, 24, 5, |inner| {
        let name = prop::sample::select(vec![
            "name",
            "arguments",
            "cursor",
            "uri",
            "level",
            "requestId",
            "_meta",
            "id",
            "query",
            "ids",
            "domain",
            "protocolVersion",
            "capabilities",
            "clientInfo",
            "progressToken",
            "claudecode/toolUseId",
            "io.modelcontextprotocol/protocolVersion",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((name, inner), 0..5).prop_map(|fields| {
                Value::Object(
                    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                )
            }),
        ]
    });
    let id = prop_oneof![
        3 => any::<i32>().prop_map(|id| Some(json!(id))),
        1 => Just(None),
        1 => json.clone().prop_map(Some),
    ];
    let message = (id, methods, prop::option::of(json.clone())).prop_map(|(id, method, params)| {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let Some(id) = id {
            message["id"] = id;
        }
        if let Some(params) = params {
            message["params"] = params;
        }
        message.to_string().into_bytes()
    });
    let torn = (message.clone(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        |(mut line, at, byte)| {
            let at = at.index(line.len());
            line[at] = byte;
            line
        },
    );
    let line = prop_oneof![
        6 => message,
        2 => torn,
        1 => json.prop_map(|value| value.to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ];
    line.prop_map(|line| line.into_iter().filter(|byte| *byte != b'\n').collect())
}

#[test]
fn random_lines_are_survived() {
    let home = TestHome::new();
    let server = RefCell::new(StdioServer::initialized(&home));
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let survived = runner.run(&any_line(), |line| {
        // The answer to a line may come after the answer to the next. `hear` checks each of them.
        drop(server.borrow_mut().send_and_probe(&line));
        Ok(())
    });
    survived.unwrap();
    server.into_inner().finish();
}
