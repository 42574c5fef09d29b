//! The part of HTTP/1.1 that a client on loopback uses: keep-alive connections, bodies of known length.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;

/// Maximum size of a request head, in bytes. The client's are smaller.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Maximum size of a request body, in bytes: far above any conversation of a test.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// A received request.
#[derive(Debug)]
pub(super) struct ModelHttpRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// A response to send.
#[derive(Debug)]
pub(super) struct ModelHttpReply {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl ModelHttpReply {
    pub(super) fn empty(status: u16) -> Self {
        Self { status, kind: "application/json", body: Vec::new() }
    }

    pub(super) fn json(status: u16, body: impl Into<String>) -> Self {
        Self { status, kind: "application/json", body: body.into().into_bytes() }
    }

    pub(super) fn events(body: String) -> Self {
        Self { status: 200, kind: "text/event-stream", body: body.into_bytes() }
    }
}

/// A connection with the bytes that were read ahead.
pub(super) struct ModelHttpConnection {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl ModelHttpConnection {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, unread: Vec::new() }
    }

    /// Reads the next request; `None` if the client has hung up after the last one.
    pub(super) fn read_request(&mut self) -> io::Result<Option<ModelHttpRequest>> {
        loop {
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut head = httparse::Request::new(&mut headers);
            let parsed =
                head.parse(&self.unread).map_err(|error| invalid_data_error(&error.to_string()))?;
            if let httparse::Status::Complete(end) = parsed {
                let method = head.method.unwrap_or_default().to_owned();
                let path = head.path.unwrap_or_default().to_owned();
                let length = body_length(head.headers)?;
                self.unread.drain(..end);
                let body = self.read_body(length)?;
                return Ok(Some(ModelHttpRequest { method, path, body }));
            }
            if self.unread.len() > MAX_HEAD_BYTES {
                return Err(invalid_data_error("the head of a request is too long"));
            }
            if !self.read_more()? {
                return if self.unread.is_empty() { Ok(None) } else { Err(unexpected_end_error()) };
            }
        }
    }

    fn read_body(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.unread.len() < length {
            if !self.read_more()? {
                return Err(unexpected_end_error());
            }
        }
        let rest = self.unread.split_off(length);
        Ok(std::mem::replace(&mut self.unread, rest))
    }

    fn read_more(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 16 * 1024];
        let read = self.stream.read(&mut chunk)?;
        self.unread.extend_from_slice(&chunk[..read]);
        Ok(read > 0)
    }

    pub(super) fn write_reply(
        &mut self,
        reply: &ModelHttpReply,
        head_only: bool,
    ) -> io::Result<()> {
        let ModelHttpReply { status, kind, body } = reply;
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
        );
        let mut bytes = head.into_bytes();
        if !head_only {
            bytes.extend_from_slice(body);
        }
        self.stream.write_all(&bytes)
    }
}

fn body_length(headers: &[httparse::Header<'_>]) -> io::Result<usize> {
    let value = |name: &str| {
        let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        header.map(|header| String::from_utf8_lossy(header.value).into_owned())
    };
    if value("transfer-encoding").is_some() {
        // No observed client sends one; accepting it untested could record nonsense.
        return Err(invalid_data_error("a body in chunks"));
    }
    let length = match value("content-length") {
        Some(text) => {
            text.trim().parse().map_err(|_| invalid_data_error("the length of a body"))?
        }
        None => 0,
    };
    if length > MAX_BODY_BYTES {
        Err(invalid_data_error("a body that is too long"))
    } else {
        Ok(length)
    }
}

fn invalid_data_error(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn unexpected_end_error() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the client hung up within a request")
}
