//! The server, tested over a socket.

use std::io::{Read as _, Write as _};

use serde_json::json;

use super::*;

/// Sends requests over one connection and reads the replies, up to the end of the last body.
fn send_requests(model: &ScriptedModel, requests: &[(&str, &str, &str)]) -> Vec<(u16, String)> {
    let mut stream = TcpStream::connect(model.address).unwrap();
    let mut replies = Vec::new();
    for (method, path, body) in requests {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        let end = loop {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            bytes.push(byte[0]);
            if bytes.ends_with(b"\r\n\r\n") {
                break String::from_utf8(bytes).unwrap();
            }
        };
        let length = end.split("content-length: ").nth(1).unwrap().split('\r').next().unwrap();
        let length = if *method == "HEAD" { 0 } else { length.parse().unwrap() };
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        let status = end.split(' ').nth(1).unwrap().parse().unwrap();
        replies.push((status, String::from_utf8(body).unwrap()));
    }
    replies
}

fn request_body(content: &str) -> String {
    let messages = json!([{ "role": "user", "content": content }]);
    json!({ "model": "m", "tools": [{ "name": "Bash" }], "messages": messages }).to_string()
}

#[test]
fn serves_turns_in_order() {
    let script = ModelScript::new([
        ModelTurn::call("Bash", json!({ "command": "ls" })),
        ModelTurn::text("seen"),
    ]);
    let model = ScriptedModel::start(script).unwrap();
    let post = ("POST", "/v1/messages?beta=true", &request_body("go")[..]);
    let replies = send_requests(&model, &[post, post, post]);
    let bodies: Vec<Value> =
        replies.iter().map(|(_, body)| serde_json::from_str(body).unwrap()).collect();
    assert_eq!(bodies[0]["content"][0]["input"]["command"], "ls");
    assert_eq!(bodies[0]["stop_reason"], "tool_use");
    assert_eq!(bodies[1]["content"][0]["text"], "seen");
    assert_eq!(bodies[2]["content"][0]["text"], "done");
    assert_eq!(model.requests().len(), 3);
}

#[test]
fn streams_scripted_text() {
    let model = ScriptedModel::start(ModelScript::new([ModelTurn::text("hello\nworld")])).unwrap();
    let mut body: Value = serde_json::from_str(&request_body("go")).unwrap();
    body["stream"] = json!(true);
    let replies = send_requests(&model, &[("POST", "/v1/messages", &body.to_string())]);
    let data = replies[0].1.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap()).collect();
    assert_eq!(events[0]["type"], "message_start");
    assert_eq!(events[2]["delta"]["text"], "hello\nworld");
    assert_eq!(events.last().unwrap()["type"], "message_stop");
}

#[test]
fn assigns_requests_to_threads() {
    let script =
        ModelScript::new([ModelTurn::text("main")]).subagent("MARK", [ModelTurn::text("sub")]);
    let model = ScriptedModel::start(script).unwrap();
    let side = r#"{"messages":[{"role":"user","content":"title?"}]}"#;
    // The main thread quotes the prompt in its call, which does not make it the subagent.
    let quoting = json!({ "tools": [{}], "messages": [
        { "role": "assistant", "content": [{ "type": "tool_use", "input": { "prompt": "MARK" } }] },
        { "role": "user", "content": "go" }
    ] });
    let replies = send_requests(
        &model,
        &[
            ("POST", "/v1/messages", side),
            ("POST", "/v1/messages", &request_body("MARK do it")),
            ("POST", "/v1/messages", &quoting.to_string()),
        ],
    );
    let said: Vec<bool> = replies
        .iter()
        .zip(["ok", "sub", "main"])
        .map(|((_, body), word)| body.contains(&format!("\"text\":\"{word}\"")))
        .collect();
    assert_eq!(said, [true; 3], "{replies:?}");
    let threads: Vec<ModelThread> =
        model.requests().into_iter().map(|request| request.thread).collect();
    assert_eq!(
        threads,
        [ModelThread::Side, ModelThread::Subagent("MARK".to_owned()), ModelThread::Main]
    );
}

#[test]
fn returns_http_status() {
    let script = ModelScript::new([ModelTurn::fails(529, "overloaded_error", "later")]);
    let model = ScriptedModel::start(script).unwrap();
    let replies = send_requests(
        &model,
        &[
            ("HEAD", "/", ""),
            ("POST", "/v1/messages/count_tokens", "{}"),
            ("POST", "/v1/messages", &request_body("go")),
            ("POST", "/v1/messages", "{"),
            ("GET", "/api/hello", ""),
        ],
    );
    let statuses: Vec<u16> = replies.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [200, 200, 529, 400, 404]);
    assert!(replies[2].1.contains("overloaded_error"));
}

#[test]
fn drop_closes_connections() {
    let model = ScriptedModel::start(ModelScript::default()).unwrap();
    let address = model.address;
    assert!(address.ip().is_loopback());
    let mut idle = TcpStream::connect(address).unwrap();
    // This exchange ensures that the idle connection before it has been accepted.
    send_requests(&model, &[("HEAD", "/", "")]);
    drop(model);
    assert_eq!(idle.read(&mut [0]).unwrap_or_default(), 0);
    assert!(TcpStream::connect(address).is_err());
}
