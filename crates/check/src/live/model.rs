//! A model with scripted turns, served by the messages API on loopback.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::Value;

use super::LiveError;
use super::script::{ModelScript, ModelTurn};

mod answer;
mod http;

/// Number of responses by all models of this process. It makes ids unique: two clients of one test get different
/// ids, as in reality.
static RESPONSE_COUNT: AtomicUsize = AtomicUsize::new(0);

/// The thread of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ModelThread {
    /// The main conversation.
    Main,
    /// A subagent, by the marker of its script.
    Subagent(String),
    /// Not part of the conversation: a title, a summary, a check. Such a request has no tools.
    Side,
}

/// A request that reached the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The thread of the request.
    pub thread: ModelThread,
    /// The request body.
    pub body: Value,
}

/// The server. Dropping it closes the listener and every connection.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<SharedModelState>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct SharedModelState {
    state: Mutex<ModelState>,
}

#[derive(Debug)]
struct ModelState {
    script: ModelScript,
    said: HashMap<ModelThread, usize>,
    requests: Vec<ModelRequest>,
    connections: Vec<TcpStream>,
    ended: bool,
}

impl ScriptedModel {
    /// Starts to listen on 127.0.0.1, on a port that the system assigns.
    pub fn start(script: ModelScript) -> Result<Self, LiveError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(LiveError::Listen)?;
        let address = listener.local_addr().map_err(LiveError::Listen)?;
        let state = ModelState {
            script,
            said: HashMap::new(),
            requests: Vec::new(),
            connections: Vec::new(),
            ended: false,
        };
        let shared = Arc::new(SharedModelState { state: Mutex::new(state) });
        let listening = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept_connections(&listener, &shared)
        });
        Ok(Self { address, shared, listening: Some(listening) })
    }

    /// Returns the value for `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests so far, in the order of arrival.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.state().requests.clone()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        {
            let mut state = self.shared.state();
            state.ended = true;
            for connection in state.connections.drain(..) {
                // An error means that the client has closed the connection already.
                drop(connection.shutdown(Shutdown::Both));
            }
        }
        // Only a connection wakes `accept`.
        drop(TcpStream::connect(self.address));
        if let Some(listening) = self.listening.take() {
            drop(listening.join());
        }
    }
}

fn accept_connections(listener: &TcpListener, shared: &Arc<SharedModelState>) {
    let mut serving = Vec::new();
    for connection in listener.incoming() {
        let Ok(connection) = connection else { continue };
        {
            let mut state = shared.state();
            if state.ended {
                break;
            }
            let Ok(handle) = connection.try_clone() else { continue };
            state.connections.push(handle);
        }
        let shared = Arc::clone(shared);
        serving.push(std::thread::spawn(move || {
            // An error means that the client hung up during a request; it needs no response.
            drop(serve_connection(connection, &shared));
        }));
    }
    for thread in serving {
        drop(thread.join());
    }
}

/// Answers the requests of one connection until the client hangs up.
fn serve_connection(connection: TcpStream, shared: &SharedModelState) -> io::Result<()> {
    let mut connection = http::ModelHttpConnection::new(connection);
    while let Some(request) = connection.read_request()? {
        let path = request.path.split('?').next().unwrap_or_default();
        let reply = match (request.method.as_str(), path) {
            ("HEAD", _) => http::ModelHttpReply::empty(200),
            ("POST", "/v1/messages/count_tokens") => {
                http::ModelHttpReply::json(200, r#"{"input_tokens":10}"#)
            }
            ("POST", "/v1/messages") => match serde_json::from_slice::<Value>(&request.body) {
                Ok(body) => shared.answer(body),
                Err(error) => http::ModelHttpReply::json(
                    400,
                    answer::error_body("invalid_request_error", &error),
                ),
            },
            _ => http::ModelHttpReply::empty(404),
        };
        connection.write_reply(&reply, request.method == "HEAD")?;
    }
    Ok(())
}

impl SharedModelState {
    /// Locks the state. Ignores poisoning: a panicked thread leaves the lists intact.
    fn state(&self) -> MutexGuard<'_, ModelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, body: Value) -> http::ModelHttpReply {
        let streaming = body["stream"].as_bool().unwrap_or(false);
        let model = body["model"].as_str().unwrap_or("model").to_owned();
        let turn = {
            let mut state = self.state();
            let thread = state.script.thread(&body);
            let turn = state.next(&thread);
            state.requests.push(ModelRequest { thread, body });
            turn
        };
        let number = RESPONSE_COUNT.fetch_add(1, Ordering::Relaxed);
        match turn {
            ModelTurn::Content(blocks) if streaming => {
                http::ModelHttpReply::events(answer::event_stream_body(&blocks, &model, number))
            }
            ModelTurn::Content(blocks) => {
                http::ModelHttpReply::json(200, answer::message_body(&blocks, &model, number))
            }
            ModelTurn::Failure { status, kind, message } => {
                http::ModelHttpReply::json(status, answer::error_body(&kind, &message))
            }
        }
    }
}

impl ModelState {
    fn next(&mut self, thread: &ModelThread) -> ModelTurn {
        let turns = match thread {
            ModelThread::Side => return ModelTurn::text("ok"),
            ModelThread::Main => Some(&self.script.main),
            ModelThread::Subagent(marker) => {
                let mut scripts = self.script.subagents.iter();
                scripts.find(|(name, _)| name == marker).map(|(_, turns)| turns)
            }
        };
        let said = self.said.entry(thread.clone()).or_default();
        let turn = turns.and_then(|turns| turns.get(*said)).cloned();
        *said += 1;
        turn.unwrap_or_else(|| self.script.last.clone())
    }
}

impl ModelScript {
    fn thread(&self, request: &Value) -> ModelThread {
        let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        // Search user messages only: the main thread quotes a subagent's prompt in the call that starts it.
        let words =
            messages.iter().filter(|message| message["role"] == "user").flat_map(|message| {
                let content = &message["content"];
                let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
                blocks.iter().filter_map(|block| block["text"].as_str()).chain(content.as_str())
            });
        let words: Vec<&str> = words.collect();
        let told = |marker: &str| words.iter().any(|text| text.contains(marker));
        if let Some((marker, _)) = self.subagents.iter().find(|(marker, _)| told(marker)) {
            return ModelThread::Subagent(marker.clone());
        }
        let tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        if tools { ModelThread::Main } else { ModelThread::Side }
    }
}

#[cfg(test)]
mod tests;
