//! Ordinary calls of the client's tools, for hooks whose matchers name them.

use rutter_contract::EventName;
use serde_json::{Value, json};

use super::sandbox::Sandbox;
use super::scenario::{RAN_FILE, SUBAGENT_MARKER, SUBAGENT_RESPONSE, TOOL_OUTPUT};
use super::script::{ModelScript, ModelTurn};

/// The tools of which a session can make an ordinary call, in the order in which they are tried for a pattern.
pub const CALLABLE_TOOLS: [&str; 9] =
    ["Bash", "Write", "Edit", "Read", "Glob", "Grep", "Agent", "TaskCreate", "TaskUpdate"];

/// The file that is read and edited.
const NOTE_FILE: &str = "rutter-note.txt";
/// The file that is written.
const NEW_FILE: &str = "rutter-new.txt";

/// Prepares a session that calls these tools, one after the other. On `PermissionRequest` the client asks for each call,
/// on `PostToolUseFailure` each call fails, and otherwise all calls are allowed.
pub fn prepare_tool_calls(sandbox: &mut Sandbox, event: EventName, tools: &[String]) {
    let fails = event == EventName::PostToolUseFailure;
    let project = sandbox.project();
    let path = |name: &str| json!(project.join(name));
    let mut turns = Vec::new();
    let mut script_has_agent = false;
    let mut push = |tool: &str, input: Value| turns.push(ModelTurn::call(tool, input));
    for tool in tools {
        let note = if fails { "rutter-missing.txt" } else { NOTE_FILE };
        match tool.as_str() {
            "Bash" => {
                let runs = format!("touch {RAN_FILE}; echo {TOOL_OUTPUT}");
                let line = match event {
                    EventName::PostToolUseFailure => format!("{runs}; exit 3"),
                    // The client recognizes commands that only edit, but not inside another shell.
                    EventName::PermissionRequest => format!("sh -c '{runs}'"),
                    _ => runs,
                };
                push("Bash", json!({ "command": line, "description": "a step of a test" }));
            }
            "Write" if fails => {
                push("Write", json!({ "file_path": "/proc/rutter/new.txt", "content": "new\n" }));
            }
            "Write" => push("Write", json!({ "file_path": path(NEW_FILE), "content": "new\n" })),
            "Read" => push("Read", json!({ "file_path": path(note) })),
            "Edit" => {
                // The client demands that a file is read first.
                if !fails {
                    push("Read", json!({ "file_path": path(NOTE_FILE) }));
                }
                let change = json!({
                    "file_path": path(note), "old_string": "an old line", "new_string": "a new line",
                });
                push("Edit", change);
            }
            "Glob" => push("Glob", json!({ "pattern": "rutter-*.txt" })),
            "Grep" => push("Grep", json!({ "pattern": "an old line", "output_mode": "content" })),
            "Agent" => {
                script_has_agent = true;
                let input = json!({
                    "description": "a part of a test",
                    "prompt": format!("{SUBAGENT_MARKER} do it"),
                    "subagent_type": "general-purpose",
                    "run_in_background": false,
                });
                push("Agent", input);
            }
            "TaskCreate" => {
                push("TaskCreate", json!({ "subject": "a task", "description": "what to do" }));
            }
            "TaskUpdate" => {
                push("TaskUpdate", json!({ "taskId": "1", "status": "completed" }));
            }
            _ => {}
        }
    }
    let mut script = ModelScript::new(turns);
    if script_has_agent {
        script = script.subagent(SUBAGENT_MARKER, [ModelTurn::text(SUBAGENT_RESPONSE)]);
    }
    sandbox.file(NOTE_FILE, "an old line\n").script(script);
    if event != EventName::PermissionRequest && !tools.is_empty() {
        sandbox.args(["--allowedTools", &CALLABLE_TOOLS.join(",")]);
    }
}
