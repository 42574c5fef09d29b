//! Lines that cannot be read.
//!
//! The SDK drops them without a word, and a client waits for its answer for as long as it has patience. So a line is looked at
//! before the SDK gets it. One that is no JSON, or too long to be kept, is answered here, by the name of its request where that
//! can be found, and the SDK does not see it. What is said goes out by the SDK's own way, so no two answers are mixed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::name::Name;
use crate::halves::mend;
use crate::no_json;

/// The longest line that is kept, with its end. The largest call has some ten thousand characters.
const LONGEST: usize = 16 * 1024 * 1024;
/// As much is read at once as a pipe holds.
const CHUNK: usize = 64 * 1024;
/// A buffer that had to be larger is not kept.
const KEPT: usize = 1024 * 1024;
/// As the client's own reader may have it.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// What is answered to a line.
type Refusal = TxJsonRpcMessage<RoleServer>;
type Sending<E> = Pin<Box<dyn Future<Output = Result<(), E>> + Send>>;

/// A way to a client on which every line is answered.
pub(super) struct Answered<T: Transport<RoleServer>> {
    way: T,
    refusals: UnboundedReceiver<Refusal>,
    /// One that is on its way out. `receive` may be called off at any time, and it must not be lost or cut then.
    sending: Option<Sending<T::Error>>,
}

/// The way over two streams.
pub(super) fn answered<R, W>(reader: R, writer: W) -> impl Transport<RoleServer>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (refuse, refusals) = unbounded_channel();
    let lines = Lines::new(reader, refuse);
    let way = AsyncRwTransport::new_server(lines, writer).with_max_line_length(usize::MAX);
    Answered { way, refusals, sending: None }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Answered<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.way.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(sending) = &mut self.sending {
                let sent = sending.await;
                self.sending = None;
                sent.ok()?;
            }
            tokio::select! {
                biased;
                Some(refusal) = self.refusals.recv() => {
                    self.sending = Some(Box::pin(self.way.send(refusal)));
                }
                message = self.way.receive() => return message,
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.way.close().await
    }
}

/// A reader that passes on whole lines of JSON, and nothing else.
struct Lines<R> {
    reader: R,
    refuse: UnboundedSender<Refusal>,
    /// What was read; from `at` on it has not been looked at.
    chunk: Vec<u8>,
    at: usize,
    /// The line that is being read.
    line: Vec<u8>,
    /// Where the name of its request is looked for, once it is too long to be kept.
    long: Option<Name>,
    /// A line that can be passed on, and so much of it has been.
    whole: Vec<u8>,
    passed: usize,
}

impl<R> Lines<R> {
    fn new(reader: R, refuse: UnboundedSender<Refusal>) -> Self {
        Self {
            reader,
            refuse,
            chunk: Vec::new(),
            at: 0,
            line: Vec::new(),
            long: None,
            whole: Vec::new(),
            passed: 0,
        }
    }

    /// Takes in what was read, to the end of a line at most. At the end of one, what is wrong with it.
    fn take(&mut self) -> Option<Refusal> {
        let rest = &self.chunk[self.at..];
        let end = rest.iter().position(|byte| *byte == b'\n');
        let piece = &rest[..end.map_or(rest.len(), |end| end + 1)];
        self.at += piece.len();
        if let Some(name) = &mut self.long {
            name.look(piece);
        } else if self.line.len() + piece.len() > LONGEST {
            let mut name = Name::default();
            name.look(&std::mem::take(&mut self.line));
            name.look(piece);
            self.long = Some(name);
        } else {
            self.line.extend_from_slice(piece);
        }
        end?;
        let Some(name) = self.long.take() else { return self.judge() };
        let what = format!("a message has at most {LONGEST} bytes");
        Some(refusal(ErrorCode::INVALID_REQUEST, what, &name))
    }

    /// What is wrong with a line; where nothing is, it is passed on.
    fn judge(&mut self) -> Option<Refusal> {
        let mut line = std::mem::take(&mut self.line);
        mend(&mut line);
        let text = line.strip_prefix(MARK).unwrap_or(&line);
        if text.trim_ascii().is_empty() {
            return None;
        }
        // As a value, because only so everything is looked at that the SDK's reader stumbles over: bytes that are no text,
        // and what is nested too deep.
        if let Err(error) = serde_json::from_slice::<Value>(text) {
            let mut name = Name::default();
            name.look(text);
            return Some(refusal(ErrorCode::PARSE_ERROR, no_json(&error), &name));
        }
        self.whole = line;
        self.passed = 0;
        None
    }
}

fn refusal(code: ErrorCode, what: String, name: &Name) -> Refusal {
    JsonRpcMessage::error(ErrorData::new(code, what, None), name.found())
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            if this.passed < this.whole.len() {
                let rest = &this.whole[this.passed..];
                let passed = rest.len().min(into.remaining());
                into.put_slice(&rest[..passed]);
                this.passed += passed;
                if this.passed == this.whole.len() {
                    // The next line is read into what this one was in.
                    this.whole.clear();
                    this.passed = 0;
                    if this.line.is_empty() && this.whole.capacity() <= KEPT {
                        this.line = std::mem::take(&mut this.whole);
                    } else {
                        this.whole = Vec::new();
                    }
                }
                return Poll::Ready(Ok(()));
            }
            if this.at == this.chunk.len() {
                this.chunk.resize(CHUNK, 0);
                let mut read = ReadBuf::new(&mut this.chunk);
                let polled = Pin::new(&mut this.reader).poll_read(context, &mut read);
                let length = read.filled().len();
                this.chunk.truncate(length);
                this.at = 0;
                ready!(polled)?;
                if length == 0 {
                    // What has no end of its line was never finished.
                    return Poll::Ready(Ok(()));
                }
            }
            if let Some(refusal) = this.take() {
                // Nobody listens where the way itself is gone.
                drop(this.refuse.send(refusal));
                // It is answered before anything else is read, so there is never more than one.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }
}
