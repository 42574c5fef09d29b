//! Requests without a token, from foreign web pages, and invalid ones.

use serde_json::json;

use super::talk::{Served, ghap, status};
use crate::support::Home;

#[test]
fn without_the_token_nothing_is_read() {
    let home = Home::new();
    let served = Served::of(&home);
    let token = served.token.clone();
    let mut almost = token.clone();
    let last = almost.pop().unwrap();
    let other = if last == '0' { '1' } else { '0' };
    let wrong = [
        None,
        Some(String::new()),
        Some("Bearer".to_owned()),
        Some("Bearer wrong".to_owned()),
        Some(format!("Basic {token}")),
        Some(token.clone()),
        Some(format!("Bearer {almost}")),
        Some(format!("Bearer {almost}{other}")),
        Some(format!("Bearer {token}0")),
        Some(format!("Bearer {}", token.to_uppercase() + "A")),
        Some(format!("Bearer {token} {token}")),
    ];
    for header in wrong {
        let mut request = served.request().without("Authorization");
        if let Some(header) = &header {
            request = request.also("Authorization", header);
        }
        // The announced body never comes, so the server must answer without it.
        let mut talk = served.connect();
        talk.say(format!("{}Content-Length: 100\r\n\r\n", request.head()));
        let reply = talk.hear();
        assert_eq!(reply.code, 401, "{header:?}: {reply:?}");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"rutter\""));
        assert_eq!(talk.until_closed(), "", "{header:?}");
        assert!(!reply.body.contains(&token));
        // Without a token, the answer reveals no other mistake.
        let evil = request.with("Host", "evil.example").also("Origin", "https://evil.example");
        assert_eq!(served.ask(&evil.clone().line("POST /nothing")).code, 401);
        assert_eq!(served.ask(&evil.line("OPTIONS /mcp")).code, 401);
    }
    let twice = served.request().also("Authorization", &format!("Bearer {token}"));
    assert_eq!(served.ask(&twice.message(&status())).code, 401);
    let in_the_path =
        served.request().without("Authorization").line(&format!("POST /mcp?token={token}"));
    assert_eq!(served.ask(&in_the_path.message(&status())).code, 401);
    // The answer also arrives if the client sends a body that is larger than any buffer.
    let long = served.request().without("Authorization").body(vec![b' '; 900_000]);
    assert_eq!(served.ask(&long).code, 401);
    assert_eq!(served.ask(&served.request().message(&status())).code, 200);
}

#[test]
fn pages_and_names_that_lead_here_are_refused() {
    let home = Home::new();
    let served = Served::of(&home);
    let port = served.address.rsplit_once(':').unwrap().1;
    let request = served.request().call("start_ghap", &ghap("of a page"));
    let origins = [
        "https://evil.example",
        "http://evil.example",
        &format!("http://evil.example:{port}"),
        &format!("http://127.0.0.1.evil.example:{port}"),
        &format!("https://127.0.0.1:{port}"),
        "http://127.0.0.1",
        "http://localhost:1",
        "http://localhost",
        "null",
        "NULL",
        "file://",
        "",
        "*",
        "chrome-extension://abcdef",
    ];
    for origin in origins {
        let reply = served.ask(&request.clone().also("Origin", origin));
        assert_eq!(reply.code, 403, "{origin}: {reply:?}");
    }
    let hosts = [
        "evil.example",
        &format!("evil.example:{port}"),
        &format!("127.0.0.1.evil.example:{port}"),
        &format!("127.0.0.1@evil.example:{port}"),
        &format!("localhost.evil.example:{port}"),
        "127.0.0.1",
        "127.0.0.1:1",
        &format!("127.0.0.2:{port}"),
        &format!("0.0.0.0:{port}"),
        &format!("[::1]:{port}"),
    ];
    for host in hosts {
        let reply = served.ask(&request.clone().with("Host", host));
        assert_eq!(reply.code, 403, "{host}: {reply:?}");
    }
    for (name, value) in [("Host", "evil.example"), ("Host", served.address.as_str())] {
        assert_eq!(served.ask(&request.clone().also(name, value)).code, 400);
    }
    assert_eq!(served.ask(&request.clone().without("Host")).code, 400);
    let own = format!("http://{}", served.address);
    let twice = request.clone().also("Origin", &own).also("Origin", "https://evil.example");
    assert_eq!(served.ask(&twice).code, 400);
    for target in [
        "http://evil.example/mcp",
        &format!("http://evil.example:{port}/mcp"),
        &format!("http://127.0.0.1@evil.example:{port}/mcp"),
        &format!("http://user@127.0.0.1:{port}/mcp"),
        &format!("https://127.0.0.1:{port}/mcp"),
        &format!("ftp://127.0.0.1:{port}/mcp"),
        "http://127.0.0.1/mcp",
    ] {
        let reply = served.ask(&request.clone().line(&format!("POST {target}")));
        assert_eq!(reply.code, 403, "{target}: {reply:?}");
        let reply = served.ask(&request.clone().line(&format!("POST {target}")).without("Host"));
        assert!([400, 403].contains(&reply.code), "{target}: {reply:?}");
    }
    for line in ["OPTIONS *", "POST *", "CONNECT evil.example:80", "CONNECT 127.0.0.1:1"] {
        assert_eq!(served.ask(&request.clone().line(line)).code, 400, "{line}");
        let stranger = request.clone().line(line).without("Authorization");
        assert_eq!(served.ask(&stranger).code, 401, "{line}");
    }
    assert_eq!(home.json(&["ghap", "list", "--all"]), json!([]), "none of them did anything");

    let own_target = format!("POST http://{}/mcp", served.address);
    assert_eq!(served.ask(&served.request().line(&own_target).message(&status())).code, 200);
    for (name, value) in [
        ("Host", format!("localhost:{port}")),
        ("Host", format!("LOCALHOST:{port}")),
        ("Origin", own),
    ] {
        let reply = served.ask(&served.request().with(name, &value).message(&status()));
        assert_eq!(reply.code, 200, "{name}: {value}: {reply:?}");
    }
}

#[test]
fn there_is_one_path_and_one_method() {
    let home = Home::new();
    let served = Served::of(&home);
    let request = served.request().message(&status());
    for path in [
        "/",
        "/mcp/",
        "/MCP",
        "/mcp/x",
        "/sse",
        "//mcp",
        "/%6dcp",
        "/.well-known/oauth-protected-resource",
    ] {
        assert_eq!(served.ask(&request.clone().line(&format!("POST {path}"))).code, 404, "{path}");
    }
    for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"] {
        let reply = served.ask(&request.clone().line(&format!("{method} /mcp")));
        assert_eq!((reply.code, reply.header("allow")), (405, Some("POST")), "{method}");
    }
    // Bytes that are not HTTP.
    let mut talk = served.connect();
    talk.say("\x16\x03\x01 hello\r\n\r\n");
    assert!(talk.until_closed().starts_with("HTTP/1.1 400 "));
}

#[test]
fn what_is_no_message_is_told_so() {
    let home = Home::new();
    let served = Served::of(&home);
    let cases: [(&[u8], i64); 8] = [
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}", -32700),
        (b"", -32700),
        (b"{", -32700),
        (b"hello", -32700),
        (b"\xff\xfe", -32700),
        (b"{}", -32600),
        (b"[]", -32600),
        (br#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#, -32600),
    ];
    let mut talk = served.connect();
    for (body, code) in cases {
        let reply = talk.ask(&served.request().body(body));
        let body = String::from_utf8_lossy(body);
        assert_eq!((reply.code, &reply.json()["error"]["code"]), (400, &json!(code)), "{body}");
    }
    let secret = talk.ask(&served.request().body("{\"password\": hunter2"));
    assert!(!secret.body.contains("hunter"), "{secret:?}");
    let deep = talk.ask(&served.request().body("[".repeat(100_000)));
    assert_eq!(deep.code, 400, "{deep:?}");
    let request = served.request().message(&status());
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    {
        assert_eq!(talk.ask(&request.clone().with("Content-Type", kind)).code, 415, "{kind}");
    }
    assert_eq!(talk.ask(&request.clone().with("Accept", "text/html")).code, 406);
    assert_eq!(talk.ask(&request).code, 200, "and the connection is as good as ever");
}
