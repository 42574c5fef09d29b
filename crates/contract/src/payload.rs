//! Example payloads for trying out a hook: captured from the real client if possible, otherwise built from
//! the table.

use std::fmt;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::name::EventName;
use crate::spec::{FieldSpec, FieldType};
use crate::table;
use crate::version::Contract;

/// The captured payloads of the newest measured client, by event; ids and paths are replaced.
const RECORDED_PAYLOADS_JSON: &str = include_str!("../recorded/2.1.325.json");

const EXAMPLE_UUID: &str = "00000000-0000-4000-8000-000000000000";

/// Returns the captured payloads of `event`; empty for the three events that an ordinary run does not fire.
pub fn recorded_payloads(event: EventName) -> &'static [Value] {
    static ALL: OnceLock<Map<String, Value>> = OnceLock::new();
    // The recordings are compiled in, and a test parses them all.
    let all = ALL.get_or_init(|| serde_json::from_str(RECORDED_PAYLOADS_JSON).unwrap_or_default());
    all.get(event.as_str()).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A payload with a note about its invented parts.
#[derive(Debug, Clone, PartialEq)]
pub struct ExamplePayload {
    /// The JSON for the hook's stdin.
    pub value: Value,
    /// A sentence about the invented parts; `None` if the payload is exactly as captured.
    pub made_up: Option<String>,
}

/// The reason for which a payload with a tool cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolPayloadError {
    /// The event has no `tool_name`.
    EventWithoutTool(EventName),
    /// The tool's name is blank.
    BlankToolName,
}

impl fmt::Display for ToolPayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::EventWithoutTool(event) = self else {
            return f.write_str("a tool has a name; leave --tool out for any tool");
        };
        let with: Vec<&str> = table::EVENTS
            .iter()
            .filter(|event| event.input.iter().any(|field| field.name == "tool_name"))
            .map(|event| event.name.as_str())
            .collect();
        write!(f, "{event} names no tool; these events do: {}", with.join(", "))
    }
}

impl std::error::Error for ToolPayloadError {}

/// Returns a realistic payload of `event`, for a call of `tool` if given.
pub fn example_payload(
    event: EventName,
    tool: Option<&str>,
) -> Result<ExamplePayload, ToolPayloadError> {
    let captured = recorded_payloads(event);
    let Some(tool) = tool else {
        return Ok(match captured.first() {
            Some(value) => ExamplePayload { value: value.clone(), made_up: None },
            None => build_payload(event),
        });
    };
    if !table::event_spec(event).input.iter().any(|field| field.name == "tool_name") {
        return Err(ToolPayloadError::EventWithoutTool(event));
    }
    if tool.trim().is_empty() {
        return Err(ToolPayloadError::BlankToolName);
    }
    // The client's matchers accept old names, but its payloads have the new one.
    let renamed = table::TOOL_ALIASES.iter().find(|(old, _)| *old == tool).map(|(_, new)| *new);
    if let Some(new) = renamed {
        let mut payload = example_payload(event, Some(new))?;
        let more = payload.made_up.map(|more| format!("; {more}")).unwrap_or_default();
        payload.made_up = Some(format!("{tool} is an old name: the client sends {new}{more}"));
        return Ok(payload);
    }
    let of_tool = |payload: &&Value| payload["tool_name"] == tool;
    if let Some(value) = captured.iter().find(of_tool) {
        return Ok(ExamplePayload { value: value.clone(), made_up: None });
    }
    let mut payload = example_payload(event, None)?;
    payload.value["tool_name"] = json!(tool);
    let server = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    if let Some((server, _)) = server {
        payload.value["mcp_server"] = json!({ "name": server, "source": "project" });
    } else if let Some(fields) = payload.value.as_object_mut() {
        fields.shift_remove("mcp_server");
    }
    // A call has the same input before and after it runs, so another event's capture can supply it.
    let elsewhere = [EventName::PreToolUse, EventName::PostToolUse, EventName::PostToolUseFailure];
    let input = elsewhere.iter().flat_map(|event| recorded_payloads(*event)).find(of_tool);
    let made_up = if let Some(other) = input {
        payload.value["tool_input"] = other["tool_input"].clone();
        format!("no {event} of {tool} was captured: its input is from another event")
    } else {
        payload.value["tool_input"] = json!({});
        format!("no call of {tool} was captured: its input is left empty")
    };
    // The remaining fields come from a call of another tool.
    let mut more = String::new();
    for (key, neutral) in [("tool_response", json!({})), ("error", json!("the tool failed"))] {
        if let Some(value) = payload.value.get_mut(key) {
            *value = neutral;
            more = format!(", its {key} made up");
        }
    }
    if let Some(fields) = payload.value.as_object_mut() {
        fields.shift_remove("permission_suggestions");
    }
    payload.made_up = Some(format!("{made_up}{more}"));
    Ok(payload)
}

/// Builds a payload from the table alone.
fn build_payload(event: EventName) -> ExamplePayload {
    let fields = table::event_spec(event).input_at(Contract::newest());
    let value = fields
        .filter(|field| field.required || field.name == "prompt_id")
        .map(|field| (field.name.to_owned(), example_value(event, field)))
        .collect();
    let made_up = format!("no payload of {event} is recorded: this one is built from the table");
    ExamplePayload { value: Value::Object(value), made_up: Some(made_up) }
}

/// Returns a plausible value of a field.
fn example_value(event: EventName, field: &FieldSpec) -> Value {
    match (field.name, field.ty) {
        ("session_id" | "prompt_id", _) | (_, FieldType::Uuid) => json!(EXAMPLE_UUID),
        ("transcript_path", _) => {
            json!(format!("/home/user/.claude/projects/-home-user-project/{EXAMPLE_UUID}.jsonl"))
        }
        ("cwd", _) => json!("/home/user/project"),
        ("hook_event_name", _) => json!(event.as_str()),
        ("tool_name", _) => json!("Bash"),
        ("tool_input", _) => json!({ "command": "rm -r build", "description": "clean" }),
        ("tool_use_id", _) => json!("toolu_01ABC"),
        ("reason", _) => json!("the command removes files outside the project"),
        ("teammate_name", _) => json!("reviewer"),
        ("team_name", _) => json!("project"),
        ("worktree_path", _) => json!("/home/user/project/.claude/worktrees/feature"),
        (name, FieldType::Text) => json!(name),
        (_, FieldType::Flag) => json!(false),
        (_, FieldType::Number | FieldType::Integer) => json!(1),
        (_, FieldType::Any | FieldType::Object | FieldType::Shape(_) | FieldType::Union(_)) => {
            json!({})
        }
        (_, FieldType::NullableText) => Value::Null,
        (_, FieldType::TextList | FieldType::Shapes(_) | FieldType::Unions(_)) => json!([]),
        (_, FieldType::Choice(choice)) => json!(choice.values.first().map(|value| value.text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_payload() {
        for event in EventName::ALL {
            let payload = example_payload(event, None).unwrap();
            assert_eq!(payload.value["hook_event_name"], event.as_str());
            let captured = table::event_spec(event).captured;
            assert_eq!(payload.made_up.is_none(), captured, "{event}");
        }
    }

    #[test]
    fn returns_captured_tool_unchanged() {
        let payload = example_payload(EventName::PreToolUse, Some("Write")).unwrap();
        assert_eq!(payload.made_up, None);
        assert_eq!(payload.value["tool_input"]["file_path"], "/home/user/project/new.txt");
    }

    #[test]
    fn notes_invented_parts() {
        let payload = example_payload(EventName::PostToolUse, Some("mcp__github__search")).unwrap();
        assert_eq!(payload.value["tool_name"], "mcp__github__search");
        assert_eq!(payload.value["mcp_server"]["name"], "github");
        assert_eq!(payload.value["tool_response"], json!({}));
        assert!(payload.made_up.unwrap().contains("its tool_response made up"));

        let payload = example_payload(EventName::PermissionRequest, Some("TaskCreate")).unwrap();
        assert_eq!(payload.value["tool_input"]["subject"], "do x");
        assert!(payload.made_up.unwrap().contains("from another event"));
    }

    #[test]
    fn replaces_old_tool_name() {
        let payload = example_payload(EventName::PreToolUse, Some("Task")).unwrap();
        assert_eq!(payload.value["tool_name"], "Agent");
        assert!(payload.made_up.unwrap().contains("the client sends Agent"));
    }

    #[test]
    fn removes_fields_of_captured_tool() {
        let failed = example_payload(EventName::PostToolUseFailure, Some("Edit")).unwrap().value;
        assert_eq!(failed["error"], "the tool failed");
        let asked =
            example_payload(EventName::PermissionRequest, Some("TaskCreate")).unwrap().value;
        assert_eq!(asked.get("permission_suggestions"), None);
    }

    #[test]
    fn error_lists_events_with_tools() {
        let nameless = example_payload(EventName::PreToolUse, Some(" ")).unwrap_err();
        assert_eq!(nameless, ToolPayloadError::BlankToolName);
        let error = example_payload(EventName::Stop, Some("Bash")).unwrap_err().to_string();
        assert!(error.starts_with("Stop names no tool"), "{error}");
        assert!(error.contains("PermissionDenied"), "{error}");
    }
}
