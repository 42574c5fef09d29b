//! Translation between the client and hooks that were written for other documentation.
//!
//! Such a hook expects keys that the client never sends (`tool`, `command`, `exit_code`, `stdout`, `phase`, `userPrompt`), and
//! answers in a form that the client drops. [`legacy_payload`] adds the expected keys, and [`adapt_answer`] corrects the
//! answer. A right answer passes unchanged. Starting the hook belongs to the caller.

use rutter_contract::EventName;
use rutter_contract::verdict::{HookRun, decode_stdout, judge_answer};
use rutter_contract::version::Contract;
use serde_json::{Map, Value, json};

/// The tool that starts a subagent.
const AGENT_TOOL: &str = "Agent";
/// Its name in older clients.
const FORMER_AGENT_TOOL: &str = "Task";

/// The events on which a hook is registered that was written for an event of other documentation.
///
/// PostToolCall was meant to see failed calls too, which have an event of their own.
pub fn registered_events(name: &str) -> Option<Vec<EventName>> {
    match name {
        "PreToolCall" => Some(vec![EventName::PreToolUse]),
        "PostToolCall" => Some(vec![EventName::PostToolUse, EventName::PostToolUseFailure]),
        _ => name.parse().ok().map(|event| vec![event]),
    }
}

/// Returns the event of a payload, if `name` is that event or stands for it.
pub fn event_of_payload(name: &str, payload: &Value) -> Option<EventName> {
    let events = registered_events(name)?;
    let sent = payload.get("hook_event_name").and_then(Value::as_str);
    let sent = sent.and_then(|sent| sent.parse::<EventName>().ok());
    sent.filter(|sent| events.contains(sent)).or_else(|| events.first().copied())
}

/// Returns true if a script compares the tool with `Task`, the former name of `Agent`, and does not know the present name.
pub fn expects_former_tool_name(script: &str) -> bool {
    let names = |tool: &str| {
        let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
        script.match_indices(tool).any(|(at, _)| {
            let (before, behind) = (&script[..at], &script[at + tool.len()..]);
            let is_quoted = before.ends_with(['"', '\'']) && behind.starts_with(['"', '\'']);
            // A pattern of `case`.
            let is_pattern = behind.starts_with([')', '|']) && !before.ends_with(is_part);
            is_quoted || is_pattern
        })
    };
    script.contains("tool_name") && names(FORMER_AGENT_TOOL) && !names(AGENT_TOOL)
}

/// Gives the tool `Agent` its former name in a payload, for a script that knows no other.
pub fn use_former_tool_name(payload: &mut Value) {
    if is_agent_call(payload) {
        payload["tool_name"] = FORMER_AGENT_TOOL.into();
    }
}

/// Returns true if a payload is about a call of the tool `Agent`.
pub fn is_agent_call(payload: &Value) -> bool {
    payload.get("tool_name").is_some_and(|tool| tool == AGENT_TOOL)
}

/// Returns the payload with the keys that a legacy hook reads. Keys that the client sends stay as they are.
pub fn legacy_payload(mut payload: Value) -> Value {
    let added = legacy_keys(&payload);
    if let Value::Object(object) = &mut payload {
        for (key, value) in added {
            object.entry(key).or_insert(value);
        }
    }
    payload
}

/// Returns the additional keys with their values.
fn legacy_keys(payload: &Value) -> Map<String, Value> {
    let mut added = Map::new();
    let mut add = |key: &str, value: Option<&Value>| {
        if let Some(value) = value {
            added.insert(key.to_owned(), value.clone());
        }
    };
    let (input, response) = (payload.get("tool_input"), payload.get("tool_response"));
    add("tool", payload.get("tool_name"));
    add("input", input);
    add("command", input.and_then(|input| input.get("command")));
    let path = input.and_then(|input| input.get("file_path"));
    add("file_path", path);
    add("path", path);
    add("phase", payload.get("source"));
    add("userPrompt", payload.get("prompt"));
    add("user_prompt", payload.get("prompt"));
    add("stdout", response.and_then(|response| response.get("stdout")));
    add("stderr", response.and_then(|response| response.get("stderr")));
    add("output", response);
    if payload.get("hook_event_name").is_some_and(|event| event == "SubagentStop") {
        add("agent_name", payload.get("agent_type"));
        add("output", payload.get("last_assistant_message"));
    }
    let event = payload.get("hook_event_name").and_then(Value::as_str);
    let legacy_event = match event {
        Some("PreToolUse") => Some(json!("PreToolCall")),
        Some("PostToolUse" | "PostToolUseFailure") => Some(json!("PostToolCall")),
        _ => None,
    };
    add("event", legacy_event.as_ref().or(payload.get("hook_event_name")));
    match event {
        Some("PostToolUse") if response.is_some_and(Value::is_object) => {
            add("exit_code", Some(&json!(0)));
        }
        Some("PostToolUseFailure") => {
            let error = payload.get("error").and_then(Value::as_str).unwrap_or_default();
            let (code, output) = split_failure(error);
            add("exit_code", code.map(|code| json!(code)).as_ref());
            add("stdout", Some(&json!(output)));
            add("stderr", Some(&json!("")));
        }
        _ => {}
    }
    added
}

/// Splits the error of a failed Bash call into its exit code and output.
fn split_failure(error: &str) -> (Option<i64>, &str) {
    let Some(rest) = error.strip_prefix("Exit code ") else { return (None, error) };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let code = rest[..end].parse().ok();
    (code, rest[end..].trim_start_matches(['\r', '\n']))
}

/// The answer of a hook, as its process gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdaptedAnswer {
    /// The bytes for stdout.
    pub stdout: Vec<u8>,
    /// The exit code.
    pub exit: u8,
    /// True if the answer was changed.
    pub is_changed: bool,
}

/// Corrects an answer. An answer that the client takes as it is meant, or whose intent is not clear, stays unchanged.
pub fn adapt_answer(
    event: EventName,
    stdout: Vec<u8>,
    stderr: &str,
    exit: u8,
    contract: Contract,
) -> AdaptedAnswer {
    let text = decode_stdout(&stdout);
    let run = HookRun { event, stdout: &text, stderr, exit: i32::from(exit) };
    match judge_answer(&run, contract).corrected {
        Some(corrected) => AdaptedAnswer {
            stdout: corrected.stdout.into_bytes(),
            exit: corrected.exit,
            is_changed: true,
        },
        None => AdaptedAnswer { stdout, exit, is_changed: false },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn former_tool_name_is_found_in_comparisons() {
        for (script, expected) in [
            ("tool=$(jq -r .tool_name)\n[ \"$tool\" != \"Task\" ] && exit 0", true),
            ("case $(jq -r .tool_name) in Task) exit 2;; esac", true),
            ("tool_name in ('Task', 'Agent')", false),
            ("jq .tool_name # Task is the former name", false),
            ("echo \"Task\"", false),
        ] {
            assert_eq!(expects_former_tool_name(script), expected, "{script}");
        }
    }

    fn adapt(event: EventName, stdout: &str, exit: u8) -> (String, u8) {
        let answer = adapt_answer(event, stdout.into(), "", exit, Contract::newest());
        (String::from_utf8(answer.stdout).unwrap(), answer.exit)
    }

    #[test]
    fn failed_calls_have_exit_code_and_output() {
        let payload = json!({
            "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
            "tool_input": { "command": "make test" }, "error": "Exit code 2\nmake: *** [test] Error 1",
        });
        assert_eq!(event_of_payload("PostToolCall", &payload), Some(EventName::PostToolUseFailure));
        let legacy = legacy_payload(payload);
        assert_eq!(legacy["exit_code"], 2);
        assert_eq!(legacy["stdout"], "make: *** [test] Error 1");
        assert_eq!((&legacy["tool"], &legacy["command"]), (&json!("Bash"), &json!("make test")));
        assert_eq!(legacy["event"], "PostToolCall");
    }

    #[test]
    fn subagents_have_name_and_output() {
        let payload = json!({
            "hook_event_name": "SubagentStop", "agent_type": "qa", "last_assistant_message": "done",
        });
        let legacy = legacy_payload(payload);
        assert_eq!((&legacy["agent_name"], &legacy["output"]), (&json!("qa"), &json!("done")));
    }

    #[test]
    fn sent_keys_stay() {
        let payload =
            json!({ "hook_event_name": "UserPromptSubmit", "prompt": "a", "command": "mine" });
        let legacy = legacy_payload(payload);
        assert_eq!((&legacy["userPrompt"], &legacy["command"]), (&json!("a"), &json!("mine")));
        assert_eq!(legacy_payload(json!([1])), json!([1]));
    }

    #[test]
    fn dropped_answers_are_corrected() {
        let (stdout, exit) = adapt(
            EventName::PreToolUse,
            r#"{"permissionDecision":"deny","permissionDecisionReason":"no"}"#,
            0,
        );
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
        assert_eq!(exit, 0);
        let (stdout, _) = adapt(EventName::UserPromptSubmit, r#"{"context":"use tabs"}"#, 0);
        assert!(stdout.contains(r#""additionalContext":"use tabs""#), "{stdout}");
    }

    #[test]
    fn right_answers_pass_unchanged() {
        for (event, stdout, exit) in [
            (EventName::Stop, r#"{ "decision": "block", "reason": "x" }"#, 0),
            (EventName::SessionStart, "plain text\n", 0),
            (EventName::PreToolUse, "", 2),
            (EventName::PreToolUse, "", 0),
        ] {
            assert_eq!(adapt(event, stdout, exit), (stdout.to_owned(), exit));
        }
    }
}
