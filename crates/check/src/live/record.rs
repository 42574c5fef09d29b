//! The record of a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rutter_contract::EventName;
use rutter_contract::input::{Input, ParseError};
use rutter_contract::version::Version;
use serde_json::Value;
use tempfile::TempDir;

use super::model::{ModelRequest, ModelThread};
use super::process::ProcessEnding;
use super::sandbox::Sandbox;

/// All results of a run. The sandbox exists as long as its record.
#[derive(Debug)]
pub struct RunRecord {
    /// The version of the client.
    pub client: Version,
    /// The way in which the client ended.
    pub ending: ProcessEnding,
    /// The client's stdout.
    pub stdout: String,
    /// The client's stderr.
    pub stderr: String,
    /// The JSON messages on stdout, parsed.
    pub lines: Vec<Value>,
    /// The client's debug log.
    pub debug_log: String,
    /// The requests to the model, in order.
    pub requests: Vec<ModelRequest>,
    /// The hook calls: in the order of the hooks, and of the calls of each.
    pub calls: Vec<RecordedHookCall>,
    pub(super) project: PathBuf,
    /// Keeps the files of the sandbox for inspection.
    pub(super) folder: Arc<TempDir>,
}

/// A call of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedHookCall {
    /// The event of the hook.
    pub event: EventName,
    /// The payload.
    pub stdin: Vec<u8>,
}

impl RecordedHookCall {
    /// Parses the payload.
    pub fn input(&self) -> Result<Input, ParseError> {
        Input::parse(&self.stdin)
    }
}

/// The client's report of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookResponse<'a> {
    /// `success`, `error`, `cancelled`.
    pub outcome: &'a str,
    /// The exit code as reported.
    pub exit_code: Option<i64>,
    /// The stdout as reported.
    pub stdout: &'a str,
    /// The stderr as reported, or the client's complaint about the answer.
    pub stderr: &'a str,
}

/// A text that reached the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelText<'a> {
    /// The index of its request, from 0.
    pub request: usize,
    /// The thread of its request.
    pub thread: &'a ModelThread,
    /// `system`, `user` or `assistant`.
    pub role: &'a str,
    /// The text.
    pub text: &'a str,
}

impl RunRecord {
    /// Returns the project folder, as the run left it.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the client's reports of the hooks of an event.
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

    /// Returns the calls of the hooks of an event.
    pub fn calls_of(&self, event: EventName) -> impl Iterator<Item = &RecordedHookCall> {
        self.calls.iter().filter(move |call| call.event == event)
    }

    /// Returns the client's last `result` message.
    pub fn result(&self) -> Option<&Value> {
        self.lines.iter().rfind(|line| line["type"] == "result")
    }

    /// Returns the client's reason for the end of the run: `completed`, `hook_stopped`, …
    pub fn terminal_reason(&self) -> Option<&str> {
        self.result().and_then(|result| result["terminal_reason"].as_str())
    }

    /// Returns a sandbox for another run in the same project and home, like a later session of the same user.
    pub fn next_session(&self) -> Sandbox {
        let root = self.project.parent().unwrap_or(&self.project).to_owned();
        Sandbox::reopen(Arc::clone(&self.folder), root)
    }

    /// Returns the requests of the main thread.
    pub fn main_requests(&self) -> impl Iterator<Item = &ModelRequest> {
        self.requests.iter().filter(|request| request.thread == ModelThread::Main)
    }

    /// Returns true if the tool call of a payload ran, by its result in the requests. A call without a result did not run; its
    /// turn has ended. Returns None if the model made no such call.
    pub fn has_tool_run(&self, payload: &Value) -> Option<bool> {
        let blocks = |request: &ModelRequest, role: &str| -> Vec<Value> {
            let messages = request.body["messages"].as_array().into_iter().flatten();
            let of_role = messages.filter(|message| message["role"] == role);
            of_role.filter_map(|message| message["content"].as_array()).flatten().cloned().collect()
        };
        let id = if let Some(id) = payload["tool_use_id"].as_str() {
            id.to_owned()
        } else {
            // The payload of a permission request has no id.
            let called = self.requests.iter().flat_map(|request| blocks(request, "assistant"));
            let mut called = called.filter(|block| {
                block["type"] == "tool_use"
                    && block["name"] == payload["tool_name"]
                    && block["input"] == payload["tool_input"]
            });
            called.next()?["id"].as_str()?.to_owned()
        };
        let results = self.requests.iter().flat_map(|request| blocks(request, "user"));
        let mut results = results.filter(|block| block["tool_use_id"] == id.as_str());
        if let Some(result) = results.next() {
            return Some(result["is_error"] != true);
        }
        // The session ended before the next request. The client reports results on stdout too.
        let reported = self.lines.iter().filter(|line| line["type"] == "user");
        let mut reported = reported
            .filter_map(|line| line["message"]["content"].as_array())
            .flatten()
            .filter(|block| block["tool_use_id"] == id.as_str());
        Some(reported.next().is_some_and(|result| result["is_error"] != true))
    }

    /// Returns every text of every request: system prompts, messages, tool results. Includes the model's own
    /// texts, but not the inputs of its calls.
    pub fn texts_to_model(&self) -> Vec<ModelText<'_>> {
        let mut told = Vec::new();
        for (number, ModelRequest { thread, body }) in self.requests.iter().enumerate() {
            let mut tell = |role, content| {
                visit_texts(content, &mut |text| {
                    told.push(ModelText { request: number, thread, role, text });
                });
            };
            tell("system", &body["system"]);
            for message in body["messages"].as_array().into_iter().flatten() {
                tell(message["role"].as_str().unwrap_or_default(), &message["content"]);
            }
        }
        told
    }

    /// Returns the first text with `marker` that reached the model.
    pub fn reached_model(&self, marker: &str) -> Option<ModelText<'_>> {
        self.texts_to_model().into_iter().find(|told| told.text.contains(marker))
    }

    /// Returns the first message to the user, or to the user's program, with `marker`. Leaves out the client's
    /// reports of a hook's output.
    pub fn reached_user(&self, marker: &str) -> Option<&Value> {
        self.lines.iter().find(|line| {
            let of_hook = line["subtype"].as_str().is_some_and(|name| name.starts_with("hook_"));
            !of_hook && line["type"] != "user" && contains_marker(line, marker)
        })
    }

    /// Parses the lines that are JSON objects.
    pub(super) fn parse_lines(stdout: &str) -> Vec<Value> {
        let objects = stdout.lines().filter(|line| line.starts_with('{'));
        objects.filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// Returns true if any string in a value contains `marker`.
fn contains_marker(value: &Value, marker: &str) -> bool {
    match value {
        Value::String(text) => text.contains(marker),
        Value::Array(items) => items.iter().any(|item| contains_marker(item, marker)),
        Value::Object(fields) => fields.values().any(|field| contains_marker(field, marker)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Visits the texts in a message's content, at any depth: tool results contain blocks too.
fn visit_texts<'a>(content: &'a Value, found: &mut impl FnMut(&'a str)) {
    match content {
        Value::String(text) => found(text),
        Value::Array(blocks) => blocks.iter().for_each(|block| visit_texts(block, found)),
        Value::Object(block) => {
            for key in ["text", "content"] {
                if let Some(inner) = block.get(key) {
                    visit_texts(inner, found);
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

    fn record_with(lines: &[Value], body: Value) -> RunRecord {
        let folder = tempfile::tempdir().unwrap();
        RunRecord {
            client: Version::new(2, 1, 325),
            ending: ProcessEnding::Exited(0),
            stdout: String::new(),
            stderr: String::new(),
            lines: lines.to_vec(),
            debug_log: String::new(),
            requests: vec![ModelRequest { thread: ModelThread::Main, body }],
            calls: Vec::new(),
            project: folder.path().to_owned(),
            folder: Arc::new(folder),
        }
    }

    #[test]
    fn finds_model_texts_at_any_depth() {
        let record = record_with(
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
    fn hook_output_does_not_reach_user() {
        let lines = [
            json!({ "type": "system", "subtype": "hook_response", "hook_event": "Stop", "outcome": "error",
                    "exit_code": 1, "stdout": "word", "stderr": "oh" }),
            json!({ "type": "user", "message": { "content": "word" } }),
            json!({ "type": "system", "subtype": "informational", "content": "Stop says: word" }),
            json!({ "type": "result", "terminal_reason": "completed" }),
        ];
        let record = record_with(&lines, json!({}));
        assert_eq!(record.reached_user("word"), Some(&lines[2]));
        assert_eq!(record.terminal_reason(), Some("completed"));
        let expected =
            HookResponse { outcome: "error", exit_code: Some(1), stdout: "word", stderr: "oh" };
        assert_eq!(record.hook_responses(EventName::Stop), [expected]);
        assert_eq!(record.hook_responses(EventName::Setup), []);
    }
}
