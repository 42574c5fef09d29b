//! Answers to lines that are not valid JSON or too long.
//!
//! The SDK drops such a line silently, and the client waits for an answer until it times out. So each line is checked
//! before the SDK gets it. An invalid or too long line is answered here, with its request id if that can be found, and
//! the SDK does not see it. The answer goes through the SDK's transport, so that two answers never mix.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rutter_contract::replace_lone_surrogates;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::request_id::RequestIdScanner;
use crate::describe_json_error;

/// The maximum length of a line in bytes, newline included. The largest call has some ten thousand characters.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// The size of a read: the capacity of a pipe.
const READ_CHUNK_BYTES: usize = 64 * 1024;
/// The largest buffer that is reused for the next line.
const MAX_REUSED_BUFFER_BYTES: usize = 1024 * 1024;
/// The byte order mark, which a client may send.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The error response to a line.
type LineRefusal = TxJsonRpcMessage<RoleServer>;
type PendingSend<E> = Pin<Box<dyn Future<Output = Result<(), E>> + Send>>;

/// A transport that answers every line.
pub(super) struct AnsweringTransport<T: Transport<RoleServer>> {
    way: T,
    refusals: UnboundedReceiver<LineRefusal>,
    /// A response that is being sent. `receive` can be cancelled at any time, and the response must not be lost or cut
    /// then.
    sending: Option<PendingSend<T::Error>>,
}

/// Builds the transport over two streams.
pub(super) fn answering_transport<R, W>(reader: R, writer: W) -> impl Transport<RoleServer>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (refuse, refusals) = unbounded_channel();
    let lines = JsonLineReader::new(reader, refuse);
    let way = AsyncRwTransport::new_server(lines, writer).with_max_line_length(usize::MAX);
    AnsweringTransport { way, refusals, sending: None }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for AnsweringTransport<T> {
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

/// A reader that passes on complete lines of valid JSON only.
struct JsonLineReader<R> {
    reader: R,
    refuse: UnboundedSender<LineRefusal>,
    /// Bytes that were read; those from `at` on are not processed yet.
    chunk: Vec<u8>,
    at: usize,
    /// The current line, still incomplete.
    line: Vec<u8>,
    /// The scanner for the request id, once the line is too long to be kept.
    long: Option<RequestIdScanner>,
    /// A valid line, of which `passed` bytes have been passed on.
    whole: Vec<u8>,
    passed: usize,
}

impl<R> JsonLineReader<R> {
    fn new(reader: R, refuse: UnboundedSender<LineRefusal>) -> Self {
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

    /// Processes the bytes up to the next end of line. Returns an error response at the end of an invalid line.
    fn take_line(&mut self) -> Option<LineRefusal> {
        let rest = &self.chunk[self.at..];
        let end = rest.iter().position(|byte| *byte == b'\n');
        let piece = &rest[..end.map_or(rest.len(), |end| end + 1)];
        self.at += piece.len();
        if let Some(name) = &mut self.long {
            name.scan(piece);
        } else if self.line.len() + piece.len() > MAX_LINE_BYTES {
            let mut name = RequestIdScanner::default();
            name.scan(&std::mem::take(&mut self.line));
            name.scan(piece);
            self.long = Some(name);
        } else {
            self.line.extend_from_slice(piece);
        }
        end?;
        let Some(name) = self.long.take() else { return self.check_line() };
        let what = format!("a message has at most {MAX_LINE_BYTES} bytes");
        Some(line_refusal(ErrorCode::INVALID_REQUEST, what, &name))
    }

    /// Checks a complete line: queues a valid one, returns the error response for an invalid one.
    fn check_line(&mut self) -> Option<LineRefusal> {
        let mut line = std::mem::take(&mut self.line);
        replace_lone_surrogates(&mut line);
        let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line);
        if text.trim_ascii().is_empty() {
            return None;
        }
        // Parses into a `Value`, because only that finds everything that the SDK's parser fails on: invalid UTF-8 and
        // too deep nesting.
        if let Err(error) = serde_json::from_slice::<Value>(text) {
            let mut name = RequestIdScanner::default();
            name.scan(text);
            return Some(line_refusal(ErrorCode::PARSE_ERROR, describe_json_error(&error), &name));
        }
        self.whole = line;
        self.passed = 0;
        None
    }
}

fn line_refusal(code: ErrorCode, what: String, name: &RequestIdScanner) -> LineRefusal {
    JsonRpcMessage::error(ErrorData::new(code, what, None), name.request_id())
}

impl<R: AsyncRead + Unpin> AsyncRead for JsonLineReader<R> {
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
                    // Reuses the buffer for the next line.
                    this.whole.clear();
                    this.passed = 0;
                    if this.line.is_empty() && this.whole.capacity() <= MAX_REUSED_BUFFER_BYTES {
                        this.line = std::mem::take(&mut this.whole);
                    } else {
                        this.whole = Vec::new();
                    }
                }
                return Poll::Ready(Ok(()));
            }
            if this.at == this.chunk.len() {
                this.chunk.resize(READ_CHUNK_BYTES, 0);
                let mut read = ReadBuf::new(&mut this.chunk);
                let polled = Pin::new(&mut this.reader).poll_read(context, &mut read);
                let length = read.filled().len();
                this.chunk.truncate(length);
                this.at = 0;
                ready!(polled)?;
                if length == 0 {
                    // End of input: a line without a newline is incomplete and dropped.
                    return Poll::Ready(Ok(()));
                }
            }
            if let Some(refusal) = this.take_line() {
                // Fails only if the transport is gone.
                drop(this.refuse.send(refusal));
                // The response is sent before more is read, so at most one is queued.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }
}
