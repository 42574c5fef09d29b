//! A run as a conversation between the user's program and the client: prompts, control requests, and replies
//! to the client's requests.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rutter_contract::EventName;
use serde_json::{Value, json};

use super::hook::InstalledHook;
use super::process::{ClientProcess, EndOfLines};
use super::sandbox::write_file;
use super::{ClientBinary, LiveError};

/// Interval of the checks for a hook call. The client sends no notification of it.
const HOOK_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Time that a hook of the user's settings gets after the event has fired: it may not run.
const RECORDED_HOOK_PATIENCE: Duration = Duration::from_secs(4);
/// Number of checks between two changes of a file: the client's watcher waits until a file is stable.
const POLLS_PER_CHANGE: u32 = 100;

/// A step of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ConversationStep {
    /// Sends a prompt of the user.
    Prompt(String),
    /// Waits for the client's report that the turn is over.
    TurnEnds,
    /// Sends a control request (`{"subtype": …}`) to the client and waits for the response.
    Control(Value),
    /// Waits until a hook of this event has got its payload. Does not wait if no such hook is installed.
    HookRan(EventName),
    /// Waits for a file in the project, which a running tool may write to report its progress.
    FileAppears(PathBuf),
    /// Writes a file of the project.
    WriteFile(PathBuf, String),
    /// Writes a file of the project repeatedly, each time with one more space at its end, until a hook of this
    /// event gets the file's name: the client does not report when it begins to watch.
    ChangeUntilHookRuns(PathBuf, String, EventName),
}

/// Steps in order; after the last one stdin is closed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    steps: Vec<ConversationStep>,
    replies: Vec<(String, Value)>,
}

impl Conversation {
    /// Creates a conversation of these steps.
    pub fn new(steps: impl IntoIterator<Item = ConversationStep>) -> Self {
        Self { steps: steps.into_iter().collect(), replies: Vec::new() }
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, step: ConversationStep) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds the steps and replies of another conversation.
    #[must_use]
    pub fn append(mut self, other: Self) -> Self {
        self.steps.extend(other.steps);
        self.replies.extend(other.replies);
        self
    }

    /// Sets the reply to the client's requests of a subtype: `can_use_tool`, `elicitation`. Other requests are
    /// refused.
    #[must_use]
    pub fn reply_to(mut self, subtype: impl Into<String>, response: Value) -> Self {
        self.replies.push((subtype.into(), response));
        self
    }

    /// Performs the steps.
    pub(super) fn perform(
        &self,
        process: &mut ClientProcess,
        project: &Path,
        hooks: &[&InstalledHook],
    ) -> Result<(), ConversationError> {
        for (number, step) in self.steps.iter().enumerate() {
            match step {
                ConversationStep::Prompt(text) => {
                    let message = json!({ "role": "user", "content": text });
                    process
                        .write_line(&json!({ "type": "user", "message": message }).to_string())?;
                }
                ConversationStep::TurnEnds => {
                    self.read_until(process, "the end of a turn", |line| line["type"] == "result")?;
                }
                ConversationStep::Control(request) => {
                    let id = format!("request-{number}");
                    let message =
                        json!({ "type": "control_request", "request_id": id, "request": request });
                    process.write_line(&message.to_string())?;
                    let awaited = format!("an answer to {}", request["subtype"]);
                    self.read_until(process, &awaited, |line| {
                        line["type"] == "control_response" && line["response"]["request_id"] == id
                    })?;
                }
                ConversationStep::HookRan(event) => {
                    while !has_hook_run(hooks, *event) {
                        self.read_line(process, &format!("a {event} hook"), HOOK_POLL_INTERVAL)?;
                    }
                    let begun = Instant::now();
                    let is_open = |hook: &&InstalledHook| {
                        hook.is_recorded && hook.event == *event && !hook.has_ended()
                    };
                    while hooks.iter().any(&is_open) && begun.elapsed() < RECORDED_HOOK_PATIENCE {
                        self.read_line(process, &format!("a {event} hook"), HOOK_POLL_INTERVAL)?;
                    }
                }
                ConversationStep::FileAppears(path) => {
                    while !project.join(path).exists() {
                        self.read_line(process, &path.display().to_string(), HOOK_POLL_INTERVAL)?;
                    }
                }
                ConversationStep::WriteFile(path, text) => {
                    write_file(&project.join(path), text.as_bytes())?;
                }
                ConversationStep::ChangeUntilHookRuns(path, text, event) => {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    let mut text = text.clone();
                    let mut looks = 0;
                    while !has_hook_received(hooks, *event, &name) {
                        if looks % POLLS_PER_CHANGE == 0 {
                            write_file(&project.join(path), text.as_bytes())?;
                            text.push(' ');
                        }
                        looks += 1;
                        self.read_line(
                            process,
                            &format!("a {event} hook for {name}"),
                            HOOK_POLL_INTERVAL,
                        )?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads lines until one satisfies `right`.
    fn read_until(
        &self,
        process: &mut ClientProcess,
        awaited: &str,
        right: impl Fn(&Value) -> bool,
    ) -> Result<(), ConversationError> {
        loop {
            if self.read_line(process, awaited, Duration::MAX)?.is_some_and(|line| right(&line)) {
                return Ok(());
            }
        }
    }

    /// Reads the next line, and replies if it is a request.
    fn read_line(
        &self,
        process: &mut ClientProcess,
        awaited: &str,
        patience: Duration,
    ) -> Result<Option<Value>, ConversationError> {
        let line = process.next_line(patience).map_err(|silent| match silent {
            EndOfLines::TimeIsUp => ConversationError::Stuck(awaited.to_owned()),
            EndOfLines::Gone => ConversationError::Stuck(format!("{awaited}, but ended")),
        })?;
        let Some(line) = line.and_then(|line| serde_json::from_str::<Value>(&line).ok()) else {
            return Ok(None);
        };
        if line["type"] == "control_request" {
            let id = &line["request_id"];
            let subtype = line["request"]["subtype"].as_str().unwrap_or_default();
            let reply = self.replies.iter().find(|(name, _)| name == subtype);
            let response = match reply {
                Some((_, reply)) => {
                    json!({ "subtype": "success", "request_id": id, "response": reply })
                }
                None => json!({ "subtype": "error", "request_id": id, "error": "not scripted" }),
            };
            let message = json!({ "type": "control_response", "response": response });
            process.write_line(&message.to_string())?;
        }
        Ok(Some(line))
    }
}

/// Returns true if a hook of this event has got a payload, or if no such hook is installed.
fn has_hook_run(hooks: &[&InstalledHook], event: EventName) -> bool {
    !hooks.iter().any(|hook| hook.event == event && !hook.is_recorded)
        || has_hook_received(hooks, event, "")
}

/// Returns true if a hook of this event has got a payload with this text.
fn has_hook_received(hooks: &[&InstalledHook], event: EventName, text: &str) -> bool {
    let of_event = hooks.iter().filter(|hook| hook.event == event && !hook.is_recorded);
    of_event
        .flat_map(|hook| hook.calls().unwrap_or_default())
        .any(|stdin| String::from_utf8_lossy(&stdin).contains(text))
}

/// The reason for which a conversation did not reach its end.
#[derive(Debug)]
pub(super) enum ConversationError {
    Stuck(String),
    Pipe(io::Error),
}

impl From<io::Error> for ConversationError {
    fn from(error: io::Error) -> Self {
        Self::Pipe(error)
    }
}

impl ConversationError {
    pub(super) fn into_live(
        self,
        client: &ClientBinary,
        limit: Duration,
        stderr: &str,
    ) -> LiveError {
        match self {
            Self::Stuck(awaited) => LiveError::Stuck { awaited, limit, stderr: stderr.to_owned() },
            Self::Pipe(source) => LiveError::Client { path: client.path().to_owned(), source },
        }
    }
}
