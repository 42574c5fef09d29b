//! Requests that are too large, too many or too slow: the server closes them and serves others meanwhile.

use std::io::Read as _;

use super::talk::{Served, Talk, status};
use crate::support::Home;

#[test]
fn what_is_too_long_is_refused() {
    const MOST: usize = 1024 * 1024;
    let home = Home::new();
    let served = Served::of(&home);
    let chunked = served.request().also("Transfer-Encoding", "chunked").head() + "\r\n";
    // Announced by Content-Length, not sent.
    let mut talk = served.connect();
    talk.say(format!("{}Content-Length: {}\r\n\r\n", served.request().head(), MOST + 1));
    assert_eq!(talk.hear().code, 413);
    assert_eq!(talk.until_closed(), "");
    // Announced and sent.
    let long = served.request().body(vec![b' '; 4 * MOST]);
    assert_eq!(served.ask(&long).code, 413);
    // Not announced, sent in chunks.
    let mut talk = served.connect();
    talk.say(&chunked);
    let chunk = format!("{:x}\r\n{}\r\n", 64 * 1024, " ".repeat(64 * 1024));
    for _ in 0..=MOST / (64 * 1024) {
        talk.say(&chunk);
    }
    assert_eq!(talk.hear().code, 413);
    // A body of exactly the limit is read.
    let mut fits = status().to_string();
    fits += &" ".repeat(MOST - fits.len());
    assert_eq!(served.ask(&served.request().body(fits.clone())).code, 200);
    let mut talk = served.connect();
    talk.say(format!("{chunked}{:x}\r\n{fits}\r\n0\r\n\r\n", fits.len()));
    assert_eq!(talk.hear().code, 200);
    // The head has separate limits, which apply before the token is checked.
    let mut talk = served.connect();
    talk.say(format!("POST /mcp HTTP/1.1\r\nX: {}\r\n", "x".repeat(64 * 1024)));
    assert!(talk.until_closed().starts_with("HTTP/1.1 431 "));
    let mut many = served.request().message(&status());
    for number in 0..100 {
        many = many.also(&format!("X-{number}"), "x");
    }
    assert_eq!(served.ask(&many).code, 431);
}

#[test]
fn who_says_nothing_makes_room_for_who_does() {
    let home = Home::new();
    let served = Served::of(&home);
    let mut idle = served.connect();
    assert_eq!(idle.ask(&served.request().message(&status())).code, 200);
    // More connections than the server keeps: some silent, some with half a request, all without a token.
    let mut strangers: Vec<Talk> = Vec::new();
    for number in 0..300 {
        let mut talk = served.connect();
        if number % 2 == 0 {
            talk.say("POST /mcp HTTP/1.1\r\nHost: 127.0");
        }
        strangers.push(talk);
    }
    for stranger in &mut strangers[..200] {
        assert_eq!(stranger.until_closed(), "");
    }
    assert_eq!(idle.until_closed(), "", "who only may want something later comes again");
    for _ in 0..3 {
        assert_eq!(served.ask(&served.request().message(&status())).code, 200);
    }
    // A connection with a call in progress is kept. This one has sent its token, and its body is still to come.
    let call = served.request().message(&status());
    let bytes = call.bytes();
    let (first, last) = bytes.split_at(bytes.len() - 10);
    let mut working = served.connect();
    working.say(format!(
        "{}Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        call.head(),
        call.body.len()
    ));
    let mut go_on = [0; 25];
    working.stream.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    let mut more: Vec<Talk> = (0..200).map(|_| served.connect()).collect();
    for stranger in &mut more[..100] {
        assert_eq!(stranger.until_closed(), "");
    }
    working.say(&call.body);
    assert_eq!(working.hear().code, 200);
    // The server may close a connection in the middle of a request, but is as fast as before.
    let mut slow = served.connect();
    slow.say(first);
    slow.say(last);
    assert_eq!(slow.hear().code, 200);
}

#[test]
fn slow_ones_are_left_behind() {
    let home = Home::new();
    let served = Served::of(&home);
    let request = served.request().message(&status());
    let mut head = served.connect();
    head.say("POST /mcp HTTP/1.1\r\nHost: ");
    let mut body = served.connect();
    body.say(format!("{}Content-Length: 100\r\n\r\n{{", request.head()));
    let mut idle = served.connect();
    assert_eq!(idle.ask(&request).code, 200);
    let mut silent = served.connect();
    // Others are served meanwhile.
    assert_eq!(served.ask(&request).code, 200);
    assert_eq!(body.hear().code, 408);
    assert_eq!(body.until_closed(), "");
    for talk in [&mut head, &mut idle, &mut silent] {
        assert_eq!(talk.until_closed(), "");
    }
    assert_eq!(served.ask(&request).code, 200);
}
