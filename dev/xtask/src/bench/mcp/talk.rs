//! A client of a server, over pipes or HTTP. It does not parse answers during a measurement, because this program is
//! not compiled with optimisations.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::McpBenchEnv;

/// The transport to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum McpTransport {
    Pipes,
    Http,
}

/// A server that several clients share.
pub(super) struct HttpServerProcess {
    child: Child,
    address: String,
    token: String,
}

impl HttpServerProcess {
    pub(super) fn start(world: &McpBenchEnv<'_>) -> Result<Self> {
        let mut child =
            world.command(&["mcp", "--http", "--port", "0"]).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().context("piped")?).read_line(&mut line)?;
        let address = line.split_once("http://").and_then(|(_, rest)| rest.split_once('/'));
        let address = address.context("it names no address")?.0.to_owned();
        let token = std::fs::read_to_string(world.home.join("http-token"))?.trim().to_owned();
        Ok(Self { child, address, token })
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for HttpServerProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A client connection.
pub(super) enum McpConnection {
    Pipes { child: Child, to: ChildStdin, from: BufReader<ChildStdout> },
    Http { stream: BufReader<TcpStream>, head: String },
}

impl McpConnection {
    pub(super) fn over_pipes(world: &McpBenchEnv<'_>) -> Result<Self> {
        let mut child =
            world.command(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let to = child.stdin.take().context("piped")?;
        let from = BufReader::new(child.stdout.take().context("piped")?);
        Ok(Self::Pipes { child, to, from })
    }

    pub(super) fn over_http(server: &HttpServerProcess) -> Result<Self> {
        let stream = TcpStream::connect(&server.address)?;
        stream.set_nodelay(true)?;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n",
            server.address, server.token
        );
        Ok(Self::Http { stream: BufReader::new(stream), head })
    }

    /// Returns the process id of the client's own server, if it has one.
    pub(super) fn process(&self) -> Option<u32> {
        match self {
            Self::Pipes { child, .. } => Some(child.id()),
            Self::Http { .. } => None,
        }
    }

    /// Sends a notification, which has no answer.
    pub(super) fn notify(&mut self, message: &Value) -> Result<()> {
        self.send(&message.to_string())?;
        if let Self::Http { .. } = self {
            ensure!(self.receive()?.is_empty(), "it was answered");
        }
        Ok(())
    }

    /// Sends a request; returns the time until the answer, and the answer.
    pub(super) fn request(&mut self, message: &Value) -> Result<(Duration, String)> {
        let message = message.to_string();
        let from = Instant::now();
        self.send(&message)?;
        let answer = self.receive()?;
        Ok((from.elapsed(), answer))
    }

    fn send(&mut self, message: &str) -> Result<()> {
        match self {
            Self::Pipes { to, .. } => to.write_all(format!("{message}\n").as_bytes())?,
            Self::Http { stream, head } => {
                let request = format!("{head}Content-Length: {}\r\n\r\n{message}", message.len());
                stream.get_mut().write_all(request.as_bytes())?;
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<String> {
        let mut line = String::new();
        match self {
            Self::Pipes { from, .. } => {
                from.read_line(&mut line)?;
                Ok(line)
            }
            Self::Http { stream, .. } => {
                let mut length = 0;
                let mut head = String::new();
                while line != "\r\n" {
                    line.clear();
                    ensure!(stream.read_line(&mut line)? > 0, "it hung up after {head:?}");
                    if let Some(value) = line.strip_prefix("content-length: ") {
                        length = value.trim().parse()?;
                    }
                    head.push_str(&line);
                }
                ensure!(head.starts_with("HTTP/1.1 20"), "{head}");
                let mut body = vec![0; length];
                stream.read_exact(&mut body)?;
                Ok(String::from_utf8(body)?)
            }
        }
    }
}

impl Drop for McpConnection {
    fn drop(&mut self) {
        if let Self::Pipes { child, .. } = self {
            drop(child.kill());
            drop(child.wait());
        }
    }
}
