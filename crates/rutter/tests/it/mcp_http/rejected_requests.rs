//! Requests without a token, from foreign web pages, and invalid ones.

use serde_json::json;

use super::http_client::{HttpServer, ghap_arguments, status_call};
use crate::support::TestHome;

#[test]
fn missing_token_is_refused() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
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
        let mut request = served.request().without_header("Authorization");
        if let Some(header) = &header {
            request = request.add_header("Authorization", header);
        }
        // The announced body never comes, so the server must answer without it.
        let mut talk = served.connect();
        talk.write(format!("{}Content-Length: 100\r\n\r\n", request.head()));
        let reply = talk.read_reply();
        assert_eq!(reply.code, 401, "{header:?}: {reply:?}");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"rutter\""));
        assert_eq!(talk.read_until_closed(), "", "{header:?}");
        assert!(!reply.body.contains(&token));
        // Without a token, the answer reveals no other mistake.
        let evil =
            request.set_header("Host", "evil.example").add_header("Origin", "https://evil.example");
        assert_eq!(served.send(&evil.clone().request_line("POST /nothing")).code, 401);
        assert_eq!(served.send(&evil.request_line("OPTIONS /mcp")).code, 401);
    }
    let twice = served.request().add_header("Authorization", &format!("Bearer {token}"));
    assert_eq!(served.send(&twice.message(&status_call())).code, 401);
    let in_the_path = served
        .request()
        .without_header("Authorization")
        .request_line(&format!("POST /mcp?token={token}"));
    assert_eq!(served.send(&in_the_path.message(&status_call())).code, 401);
    // The answer also arrives if the client sends a body that is larger than any buffer.
    let long = served.request().without_header("Authorization").body(vec![b' '; 900_000]);
    assert_eq!(served.send(&long).code, 401);
    assert_eq!(served.send(&served.request().message(&status_call())).code, 200);
}

#[test]
fn foreign_origins_and_hosts_refused() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    let port = served.address.rsplit_once(':').unwrap().1;
    let request = served.request().call("start_ghap", &ghap_arguments("of a page"));
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
        let reply = served.send(&request.clone().add_header("Origin", origin));
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
        let reply = served.send(&request.clone().set_header("Host", host));
        assert_eq!(reply.code, 403, "{host}: {reply:?}");
    }
    for (name, value) in [("Host", "evil.example"), ("Host", served.address.as_str())] {
        assert_eq!(served.send(&request.clone().add_header(name, value)).code, 400);
    }
    assert_eq!(served.send(&request.clone().without_header("Host")).code, 400);
    let own = format!("http://{}", served.address);
    let twice =
        request.clone().add_header("Origin", &own).add_header("Origin", "https://evil.example");
    assert_eq!(served.send(&twice).code, 400);
    for target in [
        "http://evil.example/mcp",
        &format!("http://evil.example:{port}/mcp"),
        &format!("http://127.0.0.1@evil.example:{port}/mcp"),
        &format!("http://user@127.0.0.1:{port}/mcp"),
        &format!("https://127.0.0.1:{port}/mcp"),
        &format!("ftp://127.0.0.1:{port}/mcp"),
        "http://127.0.0.1/mcp",
    ] {
        let reply = served.send(&request.clone().request_line(&format!("POST {target}")));
        assert_eq!(reply.code, 403, "{target}: {reply:?}");
        let reply = served
            .send(&request.clone().request_line(&format!("POST {target}")).without_header("Host"));
        assert!([400, 403].contains(&reply.code), "{target}: {reply:?}");
    }
    for line in ["OPTIONS *", "POST *", "CONNECT evil.example:80", "CONNECT 127.0.0.1:1"] {
        assert_eq!(served.send(&request.clone().request_line(line)).code, 400, "{line}");
        let stranger = request.clone().request_line(line).without_header("Authorization");
        assert_eq!(served.send(&stranger).code, 401, "{line}");
    }
    assert_eq!(home.json(&["ghap", "list", "--all"]), json!([]), "none of them did anything");

    let own_target = format!("POST http://{}/mcp", served.address);
    assert_eq!(
        served.send(&served.request().request_line(&own_target).message(&status_call())).code,
        200
    );
    for (name, value) in [
        ("Host", format!("localhost:{port}")),
        ("Host", format!("LOCALHOST:{port}")),
        ("Origin", own),
    ] {
        let reply = served.send(&served.request().set_header(name, &value).message(&status_call()));
        assert_eq!(reply.code, 200, "{name}: {value}: {reply:?}");
    }
}

#[test]
fn only_post_mcp_exists() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    let request = served.request().message(&status_call());
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
        assert_eq!(
            served.send(&request.clone().request_line(&format!("POST {path}"))).code,
            404,
            "{path}"
        );
    }
    for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"] {
        let reply = served.send(&request.clone().request_line(&format!("{method} /mcp")));
        assert_eq!((reply.code, reply.header("allow")), (405, Some("POST")), "{method}");
    }
    // Bytes that are not HTTP.
    let mut talk = served.connect();
    talk.write("\x16\x03\x01 hello\r\n\r\n");
    assert!(talk.read_until_closed().starts_with("HTTP/1.1 400 "));
}

#[test]
fn invalid_messages_get_errors() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
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
        let reply = talk.send(&served.request().body(body));
        let body = String::from_utf8_lossy(body);
        assert_eq!((reply.code, &reply.json()["error"]["code"]), (400, &json!(code)), "{body}");
    }
    let secret = talk.send(&served.request().body("{\"password\": hunter2"));
    assert!(!secret.body.contains("hunter"), "{secret:?}");
    let deep = talk.send(&served.request().body("[".repeat(100_000)));
    assert_eq!(deep.code, 400, "{deep:?}");
    let request = served.request().message(&status_call());
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    {
        assert_eq!(
            talk.send(&request.clone().set_header("Content-Type", kind)).code,
            415,
            "{kind}"
        );
    }
    assert_eq!(talk.send(&request.clone().set_header("Accept", "text/html")).code, 406);
    assert_eq!(talk.send(&request).code, 200, "and the connection is as good as ever");
}
