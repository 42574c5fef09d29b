//! What happened in a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rutter_contract::EventName;
use rutter_contract::input::{Input, ParseError};
use rutter_contract::version::Version;
use serde_json::Value;
use tempfile::TempDir;

use super::model::{Request, Thread};
use super::process::Ending;
use super::sandbox::Sandbox;

/// All that is known of a run. The sandbox lives as long as its record.
#[derive(Debug)]
pub struct Record {
    /// The client that ran.
    pub client: Version,
    /// How it ended.
    pub ending: Ending,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
    /// The messages among what it printed, parsed.
    pub lines: Vec<Value>,
    /// What it wrote to its debug log.
    pub debug_log: String,
    /// What reached the model, in order.
    pub requests: Vec<Request>,
    /// What each hook was sent: in the order of the hooks, and of the calls of each.
    pub calls: Vec<HookCall>,
    pub(super) project: PathBuf,
    /// Held so that the files can be looked at.
    pub(super) folder: Arc<TempDir>,
}

/// One call of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// The event it was installed on.
    pub event: EventName,
    /// What it was sent.
    pub stdin: Vec<u8>,
}

impl HookCall {
    /// The payload, read by the contract.
    pub fn input(&self) -> Result<Input, ParseError> {
        Input::parse(&self.stdin)
    }
}

/// What the client itself says of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookResponse<'a> {
    /// `success`, `error`, `cancelled`.
    pub outcome: &'a str,
    /// The exit code it saw.
    pub exit_code: Option<i64>,
    /// The stdout it read.
    pub stdout: &'a str,
    /// The stderr it read, or its own complaint about the answer.
    pub stderr: &'a str,
}

/// A text that the model was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told<'a> {
    /// The request that told it, counted from 0.
    pub request: usize,
    /// Whose request that was.
    pub thread: &'a Thread,
    /// `system`, `user` or `assistant`.
    pub role: &'a str,
    /// The text.
    pub text: &'a str,
}

impl Record {
    /// The project, as the run left it.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// What the client says to have come of the hooks of an event.
    pub fn hook_responses(&self, event: EventName) -> Vec<HookResponse<'_>> {
        let responses = self.lines.iter().filter(|line| {
            line["subtype"] == "hook_response" && line["hook_event"] == event.as_str()
        });
        responses
            .map(|line| HookResponse {
                outcome: line["outcome"].as_str().unwrap_or_default(),
                exit_code: line["exit_code"].as_i64(),
                stdout: line["stdout"].as_str().unwrap_or_default(),
                stderr: line["stderr"].as_str().unwrap_or_default(),
            })
            .collect()
    }

    /// What the hooks of an event were sent.
    pub fn calls_of(&self, event: EventName) -> impl Iterator<Item = &HookCall> {
        self.calls.iter().filter(move |call| call.event == event)
    }

    /// The client's last word: its `result` message.
    pub fn result(&self) -> Option<&Value> {
        self.lines.iter().rfind(|line| line["type"] == "result")
    }

    /// Why the run ended, in the client's word: `completed`, `hook_stopped`, …
    pub fn terminal_reason(&self) -> Option<&str> {
        self.result().and_then(|result| result["terminal_reason"].as_str())
    }

    /// Another run in the same project and home, with all that this one left in them: a later session of the same user.
    pub fn again(&self) -> Sandbox {
        let root = self.project.parent().unwrap_or(&self.project).to_owned();
        Sandbox::at(Arc::clone(&self.folder), root)
    }

    /// The requests of the conversation itself.
    pub fn main_requests(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter().filter(|request| request.thread == Thread::Main)
    }

    /// Every text of every request: system prompts, messages, results of tools. What the model had said
    /// itself is among it; the input of its calls is not.
    pub fn texts_to_model(&self) -> Vec<Told<'_>> {
        let mut told = Vec::new();
        for (number, Request { thread, body }) in self.requests.iter().enumerate() {
            let mut tell = |role, content| {
                collect(content, &mut |text| {
                    told.push(Told { request: number, thread, role, text });
                });
            };
            tell("system", &body["system"]);
            for message in body["messages"].as_array().into_iter().flatten() {
                tell(message["role"].as_str().unwrap_or_default(), &message["content"]);
            }
        }
        told
    }

    /// Where the model was first told a text that holds `marker`.
    pub fn reached_model(&self, marker: &str) -> Option<Told<'_>> {
        self.texts_to_model().into_iter().find(|told| told.text.contains(marker))
    }

    /// The first message to the user, or to the user's program, that holds `marker`. What the client
    /// reports of a hook's own output is none.
    pub fn reached_user(&self, marker: &str) -> Option<&Value> {
        self.lines.iter().find(|line| {
            let of_hook = line["subtype"].as_str().is_some_and(|name| name.starts_with("hook_"));
            !of_hook && line["type"] != "user" && mentions(line, marker)
        })
    }

    /// The JSON objects among lines of text.
    pub(super) fn parse_lines(stdout: &str) -> Vec<Value> {
        let objects = stdout.lines().filter(|line| line.starts_with('{'));
        objects.filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// Whether any text in a value holds `marker`.
fn mentions(value: &Value, marker: &str) -> bool {
    match value {
        Value::String(text) => text.contains(marker),
        Value::Array(items) => items.iter().any(|item| mentions(item, marker)),
        Value::Object(fields) => fields.values().any(|field| mentions(field, marker)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The texts in a message's content, at any depth: results of tools hold blocks of their own.
fn collect<'a>(content: &'a Value, found: &mut impl FnMut(&'a str)) {
    match content {
        Value::String(text) => found(text),
        Value::Array(blocks) => blocks.iter().for_each(|block| collect(block, found)),
        Value::Object(block) => {
            for key in ["text", "content"] {
                if let Some(inner) = block.get(key) {
                    collect(inner, found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(lines: &[Value], body: Value) -> Record {
        let folder = tempfile::tempdir().unwrap();
        Record {
            client: Version::new(2, 1, 325),
            ending: Ending::Exited(0),
            stdout: String::new(),
            stderr: String::new(),
            lines: lines.to_vec(),
            debug_log: String::new(),
            requests: vec![Request { thread: Thread::Main, body }],
            calls: Vec::new(),
            project: folder.path().to_owned(),
            folder: Arc::new(folder),
        }
    }

    #[test]
    fn the_model_is_told_by_prompts_messages_and_results_at_any_depth() {
        let record = record(
            &[],
            json!({
                "system": [{ "type": "text", "text": "be brief" }],
                "messages": [
                    { "role": "user", "content": "go" },
                    { "role": "assistant", "content": [{ "type": "tool_use", "input": { "text": "no" } }] },
                    { "role": "user", "content": [
                        { "type": "tool_result", "content": [{ "type": "text", "text": "deep" }] },
                        { "type": "tool_result", "content": "flat" },
                    ] },
                ],
            }),
        );
        let told = record.texts_to_model();
        let told: Vec<_> = told.iter().map(|told| (told.role, told.text)).collect();
        assert_eq!(
            told,
            [("system", "be brief"), ("user", "go"), ("user", "deep"), ("user", "flat")]
        );
        assert_eq!(record.reached_model("lat").map(|told| told.request), Some(0));
        assert_eq!(record.reached_model("no"), None);
    }

    #[test]
    fn a_hooks_own_output_has_not_reached_the_user() {
        let lines = [
            json!({ "type": "system", "subtype": "hook_response", "hook_event": "Stop", "outcome": "error",
                    "exit_code": 1, "stdout": "word", "stderr": "oh" }),
            json!({ "type": "user", "message": { "content": "word" } }),
            json!({ "type": "system", "subtype": "informational", "content": "Stop says: word" }),
            json!({ "type": "result", "terminal_reason": "completed" }),
        ];
        let record = record(&lines, json!({}));
        assert_eq!(record.reached_user("word"), Some(&lines[2]));
        assert_eq!(record.terminal_reason(), Some("completed"));
        let expected =
            HookResponse { outcome: "error", exit_code: Some(1), stdout: "word", stderr: "oh" };
        assert_eq!(record.hook_responses(EventName::Stop), [expected]);
        assert_eq!(record.hook_responses(EventName::Setup), []);
    }
}
