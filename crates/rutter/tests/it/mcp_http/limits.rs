//! Requests that are too large, too many or too slow: the server closes them and serves others meanwhile.

use std::io::Read as _;

use super::http_client::{HttpConnection, HttpServer, status_call};
use crate::support::TestHome;

#[test]
fn oversized_requests_are_refused() {
    const MAX_BODY_BYTES: usize = 1024 * 1024;
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    let chunked = served.request().add_header("Transfer-Encoding", "chunked").head() + "\r\n";
    // Announced by Content-Length, not sent.
    let mut talk = served.connect();
    talk.write(format!(
        "{}Content-Length: {}\r\n\r\n",
        served.request().head(),
        MAX_BODY_BYTES + 1
    ));
    assert_eq!(talk.read_reply().code, 413);
    assert_eq!(talk.read_until_closed(), "");
    // Announced and sent.
    let long = served.request().body(vec![b' '; 4 * MAX_BODY_BYTES]);
    assert_eq!(served.send(&long).code, 413);
    // Not announced, sent in chunks.
    let mut talk = served.connect();
    talk.write(&chunked);
    let chunk = format!("{:x}\r\n{}\r\n", 64 * 1024, " ".repeat(64 * 1024));
    for _ in 0..=MAX_BODY_BYTES / (64 * 1024) {
        talk.write(&chunk);
    }
    assert_eq!(talk.read_reply().code, 413);
    // A body of exactly the limit is read.
    let mut fits = status_call().to_string();
    fits += &" ".repeat(MAX_BODY_BYTES - fits.len());
    assert_eq!(served.send(&served.request().body(fits.clone())).code, 200);
    let mut talk = served.connect();
    talk.write(format!("{chunked}{:x}\r\n{fits}\r\n0\r\n\r\n", fits.len()));
    assert_eq!(talk.read_reply().code, 200);
    // The head has separate limits, which apply before the token is checked.
    let mut talk = served.connect();
    talk.write(format!("POST /mcp HTTP/1.1\r\nX: {}\r\n", "x".repeat(64 * 1024)));
    assert!(talk.read_until_closed().starts_with("HTTP/1.1 431 "));
    let mut many = served.request().message(&status_call());
    for number in 0..100 {
        many = many.add_header(&format!("X-{number}"), "x");
    }
    assert_eq!(served.send(&many).code, 431);
}

#[test]
fn idle_connections_are_evicted() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    let mut idle = served.connect();
    assert_eq!(idle.send(&served.request().message(&status_call())).code, 200);
    // More connections than the server keeps: some silent, some with half a request, all without a token.
    let mut strangers: Vec<HttpConnection> = Vec::new();
    for number in 0..300 {
        let mut talk = served.connect();
        if number % 2 == 0 {
            talk.write("POST /mcp HTTP/1.1\r\nHost: 127.0");
        }
        strangers.push(talk);
    }
    for stranger in &mut strangers[..200] {
        assert_eq!(stranger.read_until_closed(), "");
    }
    assert_eq!(idle.read_until_closed(), "", "who only may want something later comes again");
    for _ in 0..3 {
        assert_eq!(served.send(&served.request().message(&status_call())).code, 200);
    }
    // A connection with a call in progress is kept. This one has sent its token, and its body is still to come.
    let call = served.request().message(&status_call());
    let bytes = call.bytes();
    let (first, last) = bytes.split_at(bytes.len() - 10);
    let mut working = served.connect();
    working.write(format!(
        "{}Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        call.head(),
        call.body.len()
    ));
    let mut go_on = [0; 25];
    working.stream.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    let mut more: Vec<HttpConnection> = (0..200).map(|_| served.connect()).collect();
    for stranger in &mut more[..100] {
        assert_eq!(stranger.read_until_closed(), "");
    }
    working.write(&call.body);
    assert_eq!(working.read_reply().code, 200);
    // The server may close a connection in the middle of a request, but is as fast as before.
    let mut slow = served.connect();
    slow.write(first);
    slow.write(last);
    assert_eq!(slow.read_reply().code, 200);
}

#[test]
fn slow_connections_time_out() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    let request = served.request().message(&status_call());
    let mut head = served.connect();
    head.write("POST /mcp HTTP/1.1\r\nHost: ");
    let mut body = served.connect();
    body.write(format!("{}Content-Length: 100\r\n\r\n{{", request.head()));
    let mut idle = served.connect();
    assert_eq!(idle.send(&request).code, 200);
    let mut silent = served.connect();
    // Others are served meanwhile.
    assert_eq!(served.send(&request).code, 200);
    assert_eq!(body.read_reply().code, 408);
    assert_eq!(body.read_until_closed(), "");
    for talk in [&mut head, &mut idle, &mut silent] {
        assert_eq!(talk.read_until_closed(), "");
    }
    assert_eq!(served.send(&request).code, 200);
}
