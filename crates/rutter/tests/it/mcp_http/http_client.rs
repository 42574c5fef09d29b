//! A running server, and a client that sends given bytes.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::support::TestHome;

/// The time that a test waits for an expected event before it fails.
pub(crate) const EVENT_TIMEOUT: Duration = Duration::from_mins(1);

/// A running server, and the line that it printed at the start.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) line: String,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl HttpServer {
    /// Starts a server; `command` is `rutter mcp --http …`.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let mut served = Self { child, line, address: String::new(), token: String::new() };
        let said = !served.line.is_empty();
        assert!(said, "it said nothing: {}", served.stderr());
        let address =
            served.line.split_once("http://").and_then(|(_, rest)| rest.split_once("/mcp"));
        served.address = address.expect("an address").0.to_owned();
        // Gets the token like a client, by running the printed helper.
        let helper = served.registration_entry()["headersHelper"].as_str().unwrap().to_owned();
        let printed = Command::new("/bin/sh").args(["-c", &helper]).env_clear().output().unwrap();
        let header: Value = serde_json::from_slice(&printed.stdout).expect("a header");
        let token = header["authorization"].as_str().unwrap().strip_prefix("Bearer ").unwrap();
        token.clone_into(&mut served.token);
        served
    }

    /// Returns the entry that the server advises to register.
    pub(crate) fn registration_entry(&self) -> Value {
        let word = self.line.trim_end().split_once("--scope user rutter ").unwrap().1;
        let line = format!("printf %s {word}");
        let printed = Command::new("/bin/sh").args(["-c", &line]).output().unwrap();
        serde_json::from_slice(&printed.stdout).expect("an entry")
    }

    pub(crate) fn for_home(home: &TestHome) -> Self {
        Self::start(home.command(&["mcp", "--http", "--port", "0"]))
    }

    pub(crate) fn stderr(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    pub(crate) fn connect(&self) -> HttpConnection {
        let port = self.address.rsplit_once(':').unwrap().1;
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("somebody listens");
        stream.set_read_timeout(Some(EVENT_TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(EVENT_TIMEOUT)).unwrap();
        HttpConnection { stream }
    }

    pub(crate) fn request(&self) -> HttpRequest {
        HttpRequest {
            line: "POST /mcp HTTP/1.1".to_owned(),
            headers: [
                ("Host", self.address.as_str()),
                ("Authorization", &format!("Bearer {}", self.token)),
                ("Accept", "application/json, text/event-stream"),
                ("Content-Type", "application/json"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
            body: Vec::new(),
        }
    }

    /// Sends one request on a new connection.
    pub(crate) fn send(&self, request: &HttpRequest) -> HttpReply {
        self.connect().send(request)
    }

    /// Ends the server by a signal and returns its output.
    pub(crate) fn stop(mut self, signal: Signal) -> CommandOutput {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut rest = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        let stderr = self.stderr();
        let status = self.child.wait().unwrap();
        let stdout = std::mem::take(&mut self.line) + &rest;
        std::process::Output { status, stdout: stdout.into(), stderr: stderr.into() }.into()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // Fails if the test has ended the server already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[derive(Clone)]
pub(crate) struct HttpRequest {
    line: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    pub(crate) fn request_line(mut self, line: &str) -> Self {
        self.line = format!("{line} HTTP/1.1");
        self
    }

    pub(crate) fn without_header(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn add_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn set_header(self, name: &str, value: &str) -> Self {
        self.without_header(name).add_header(name, value)
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn message(self, message: &Value) -> Self {
        self.body(message.to_string())
    }

    pub(crate) fn call(self, tool: &str, arguments: &Value) -> Self {
        self.message(&tool_call(tool, arguments))
    }

    pub(crate) fn head(&self) -> String {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        format!("{}\r\n{}", self.line, headers.collect::<String>())
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let head = format!("{}Content-Length: {}\r\n\r\n", self.head(), self.body.len());
        [head.as_bytes(), &self.body].concat()
    }
}

pub(crate) fn tool_call(tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

pub(crate) fn status_call() -> Value {
    tool_call("status", &json!({}))
}

pub(crate) struct HttpConnection {
    pub(crate) stream: TcpStream,
}

impl HttpConnection {
    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the server reads");
    }

    pub(crate) fn send(&mut self, request: &HttpRequest) -> HttpReply {
        self.write(request.bytes());
        self.read_reply()
    }

    /// Reads the next answer.
    pub(crate) fn read_reply(&mut self) -> HttpReply {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            let read = self.stream.read(&mut byte).expect("an answer");
            assert_eq!(read, 1, "it hung up after {:?}", String::from_utf8_lossy(&head));
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.lines();
        let code = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let mut reply = HttpReply { code, headers, body: String::new() };
        // Such a header would let a web page read the answer.
        assert!(!reply.headers.iter().any(|(name, _)| name.contains("access-control")), "{head}");
        let length = reply.header("content-length").expect("every answer has a length");
        let mut body = vec![0; length.parse().unwrap()];
        self.stream.read_exact(&mut body).unwrap();
        reply.body = String::from_utf8(body).unwrap();
        reply
    }

    /// Waits until the server closes the connection, and returns the bytes before that.
    pub(crate) fn read_until_closed(&mut self) -> String {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Err(error) if error.kind() != ErrorKind::ConnectionReset => {
                panic!("it did not hang up: {error}")
            }
            _ => String::from_utf8(rest).unwrap(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct HttpReply {
    pub(crate) code: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl HttpReply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_str(&self.body).unwrap()
    }

    /// Asserts that a call succeeded and returns its result.
    #[track_caller]
    pub(crate) fn tool_result(&self) -> Value {
        let answer = self.json();
        assert_eq!((self.code, &answer["result"]["isError"]), (200, &json!(false)), "{answer}");
        answer["result"]["structuredContent"].clone()
    }
}

pub(crate) fn ghap_arguments(goal: &str) -> Value {
    json!({
        "domain": "debugging", "strategy": "read-the-error", "goal": goal, "hypothesis": "the timeout is too short",
        "action": "raise it", "prediction": "`cargo test cache` passes",
    })
}
