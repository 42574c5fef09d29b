//! Payloads on which a hook is tried: ordinary ones as the client sent them, provocations that a guard is written for, and
//! hostile ones.

use std::path::PathBuf;

use rutter_contract::EventName;
use rutter_contract::payload::{example_payload, recorded_payloads};
use rutter_contract::table::{UNIVERSAL_INPUT, event_spec};
use serde::Serialize;
use serde_json::{Value, json};

use super::trial::{TRIAL_SESSION_ID, TrialEnvironment};

mod provocations;

use provocations::{FILE_PROVOCATIONS, TEXT_PROVOCATIONS, command_provocations};

/// Project and home folder in recorded payloads.
const RECORDED_HOME: &str = "/home/user";
/// Key of the project in the client's folder of transcripts, in recorded payloads.
const RECORDED_PROJECT_KEY: &str = "-home-user-project";
/// Session id in recorded payloads.
const RECORDED_SESSION_ID: &str = "00000000-0000-4000-8000-000000000000";
/// Id of the subagent in provocations.
const SUBAGENT_ID: &str = "a0123456789abcdef";
/// Largest number of recorded payloads of an event.
const MAX_RECORDED: usize = 16;
/// Size of a large text.
pub(super) const LARGE_TEXT_BYTES: usize = 1_000_000;

/// The intent of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PayloadKind {
    /// A payload of ordinary work.
    Ordinary,
    /// A payload that a guard may be written for, or that is unusual.
    Provocation,
    /// A payload that the client hardly sends: a hook should still end well.
    Hostile,
}

/// A payload with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct TestPayload {
    /// The name: the tool or value, and the peculiarity.
    pub name: String,
    /// The intent.
    pub kind: PayloadKind,
    /// The JSON for the hook's stdin.
    pub value: Value,
}

impl TestPayload {
    fn new(kind: PayloadKind, name: impl Into<String>, value: Value) -> Self {
        Self { name: name.into(), kind, value }
    }
}

/// Returns the payloads of an event, with the paths of the surroundings. With `tools`, only calls of these.
pub fn test_payloads(
    event: EventName,
    tools: &[String],
    environment: &TrialEnvironment,
) -> Vec<TestPayload> {
    let mut payloads = ordinary_payloads(event, tools);
    payloads.extend(provocations(event, tools));
    payloads.extend(hostile_payloads(event, tools));
    for payload in &mut payloads {
        localize(&mut payload.value, environment);
    }
    payloads
}

/// Returns the payload of an event, for a call of `tool` if given, with the paths of the surroundings.
pub fn base_payload(
    event: EventName,
    tool: Option<&str>,
    environment: &TrialEnvironment,
) -> Option<Value> {
    let mut value = example_payload(event, tool).ok()?.value;
    localize(&mut value, environment);
    Some(value)
}

/// Returns the path of the transcript that payloads name.
pub fn transcript_path(environment: &TrialEnvironment) -> PathBuf {
    let key = project_key(environment);
    let projects = environment.home.join(".claude/projects");
    projects.join(key).join(format!("{TRIAL_SESSION_ID}.jsonl"))
}

/// Returns true if payloads of the event name a tool.
pub fn has_tool(event: EventName) -> bool {
    event_spec(event).input.iter().any(|field| field.name == "tool_name")
}

fn ordinary_payloads(event: EventName, tools: &[String]) -> Vec<TestPayload> {
    let recorded = recorded_payloads(event);
    let is_wanted = |value: &&Value| {
        tools.is_empty() || tools.iter().any(|tool| value["tool_name"] == tool.as_str())
    };
    let mut found: Vec<TestPayload> = Vec::new();
    for value in recorded.iter().filter(is_wanted).take(MAX_RECORDED) {
        let name = describe_recorded(event, value);
        let number = found.iter().filter(|payload| payload.name.starts_with(&name)).count();
        let name = if number > 0 { format!("{name}, {}", number + 1) } else { name };
        found.push(TestPayload::new(PayloadKind::Ordinary, name, value.clone()));
    }
    // A tool without a recording, or an event without one.
    let missing: Vec<Option<&str>> = if tools.is_empty() {
        if found.is_empty() { vec![None] } else { Vec::new() }
    } else {
        let is_missing =
            |tool: &&String| !recorded.iter().any(|value| value["tool_name"] == tool.as_str());
        tools.iter().filter(is_missing).map(|tool| Some(tool.as_str())).collect()
    };
    for tool in missing {
        if let Ok(payload) = example_payload(event, tool) {
            let name = format!("{}: example", tool.unwrap_or(event.as_str()));
            found.push(TestPayload::new(PayloadKind::Ordinary, name, payload.value));
        }
    }
    found
}

fn describe_recorded(event: EventName, value: &Value) -> String {
    let text = |key: &str| value[key].as_str();
    let field = event_spec(event).matcher.field.unwrap_or("hook_event_name");
    let subject = text("tool_name").or_else(|| text(field)).unwrap_or(event.as_str());
    let subagent =
        if value.get("agent_id").is_some() && has_tool(event) { " in a subagent" } else { "" };
    format!("{subject}{subagent}: recorded")
}

fn provocations(event: EventName, tools: &[String]) -> Vec<TestPayload> {
    if has_tool(event) {
        return tool_provocations(event, tools);
    }
    let mut found = Vec::new();
    let Ok(example) = example_payload(event, None) else { return found };
    let base = example.value;
    let mut add = |name: &str, value| {
        found.push(TestPayload::new(PayloadKind::Provocation, format!("{event}: {name}"), value));
    };
    if base.get("stop_hook_active").is_some() {
        let mut value = base.clone();
        value["stop_hook_active"] = json!(true);
        add("stop_hook_active is true", value);
    }
    if let Some(pointer) = main_text(&base) {
        for (name, text) in TEXT_PROVOCATIONS {
            add(name, with_text(&base, pointer, text));
        }
        add(
            "text of 1 MB",
            with_text(&base, pointer, &"lorem ipsum ".repeat(LARGE_TEXT_BYTES / 12)),
        );
    }
    found
}

fn tool_provocations(event: EventName, tools: &[String]) -> Vec<TestPayload> {
    let is_wanted = |tool: &str| tools.is_empty() || tools.iter().any(|wanted| wanted == tool);
    let mut found = Vec::new();
    let mut add = |name: String, value| {
        found.push(TestPayload::new(PayloadKind::Provocation, name, value));
    };
    if is_wanted("Bash")
        && let Ok(base) = example_payload(event, Some("Bash"))
    {
        let base = base.value;
        for (name, command) in command_provocations() {
            add(format!("Bash: {name}"), with_text(&base, "/tool_input/command", &command));
        }
        let mut call = with_text(&base, "/tool_input/command", "rm -rf /");
        call["agent_id"] = json!(SUBAGENT_ID);
        call["agent_type"] = json!("general-purpose");
        add("Bash in a subagent: rm -rf /".to_owned(), call);
        if base.get("tool_response").is_some() {
            let text = "\u{1b}[31merror\u{1b}[0m: expected `;` — ünïcödé 漢字 \"quoted\"";
            add(
                "Bash: output with colours and quotes".to_owned(),
                with_text(&base, "/tool_response/stdout", text),
            );
            let text = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
            add(
                "Bash: output with a secret".to_owned(),
                with_text(&base, "/tool_response/stdout", text),
            );
            let text = "0123456789\n".repeat(LARGE_TEXT_BYTES / 11);
            add(
                "Bash: output of 1 MB".to_owned(),
                with_text(&base, "/tool_response/stdout", &text),
            );
        }
    }
    for (tool, key) in [("Write", "file_path"), ("Edit", "file_path"), ("Read", "file_path")] {
        let Some(base) = is_wanted(tool).then(|| example_payload(event, Some(tool)).ok()).flatten()
        else {
            continue;
        };
        let pointer = format!("/tool_input/{key}");
        for (name, path) in FILE_PROVOCATIONS {
            add(format!("{tool}: {name}"), with_text(&base.value, &pointer, path));
        }
        if tool == "Write" {
            let text = "x = 1\n".repeat(LARGE_TEXT_BYTES / 6);
            add(
                "Write: file of 1 MB".to_owned(),
                with_text(&base.value, "/tool_input/content", &text),
            );
            let text = "api_key = \"sk-ant-api03-EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE\"\n";
            add(
                "Write: content with a secret".to_owned(),
                with_text(&base.value, "/tool_input/content", text),
            );
            let text = "\"quotes\" 'single' `ticks` $(id) \\n\nünïcödé 漢字 🦀\r\n\ttab";
            add(
                "Write: content with quotes and unicode".to_owned(),
                with_text(&base.value, "/tool_input/content", text),
            );
        }
    }
    if is_wanted("WebFetch")
        && let Ok(mut base) = example_payload(event, Some("WebFetch"))
    {
        base.value["tool_input"] =
            json!({ "url": "http://169.254.169.254/latest/meta-data/", "prompt": "read it" });
        add("WebFetch: address of cloud metadata".to_owned(), base.value);
    }
    let server_tool = "mcp__github__delete_repository";
    if is_wanted(server_tool)
        && let Ok(mut base) = example_payload(event, Some(server_tool))
    {
        base.value["tool_input"] = json!({ "owner": "acme", "repo": "shop" });
        add(format!("{server_tool}: a call that deletes"), base.value);
    }
    found
}

fn hostile_payloads(event: EventName, tools: &[String]) -> Vec<TestPayload> {
    let tool = has_tool(event).then(|| tools.first().map_or("Bash", String::as_str));
    let Ok(example) = example_payload(event, tool) else { return Vec::new() };
    let base = example.value;
    let subject = tool.unwrap_or(event.as_str());
    let mut found = Vec::new();
    let mut add = |name: &str, value| {
        found.push(TestPayload::new(PayloadKind::Hostile, format!("{subject}: {name}"), value));
    };
    add("empty strings", with_empty_texts(&base));
    add("optional fields missing", without_optional_fields(event, &base));
    let mut value = base.clone();
    value["a_later_field"] = json!({ "nested": [1, null, "x"] });
    add("unknown field", value);
    let mut value = base.clone();
    value["transcript_path"] = json!("/home/user/.claude/projects/missing/missing.jsonl");
    add("transcript does not exist", value);
    if let Some(pointer) = main_text(&base) {
        add(
            "control characters",
            with_text(&base, pointer, "a\u{0}b\u{1b}[2Jc\u{7f}\u{202e}d\r\n\t"),
        );
        add("text of 100 kB without a space", with_text(&base, pointer, &"a".repeat(100_000)));
        add("option in place of text", with_text(&base, pointer, "-n --help"));
    }
    if tool.is_some() {
        let mut value = base.clone();
        value["tool_input"] = json!({});
        add("empty tool_input", value);
    }
    found
}

/// Returns the pointer to the text that an event is about.
fn main_text(value: &Value) -> Option<&'static str> {
    let pointers = [
        "/tool_input/command",
        "/tool_input/file_path",
        "/tool_input/pattern",
        "/prompt",
        "/last_assistant_message",
        "/message",
        "/error",
        "/compact_summary",
        "/custom_instructions",
        "/task_subject",
        "/delta",
        "/file_path",
    ];
    pointers.into_iter().find(|pointer| value.pointer(pointer).is_some_and(Value::is_string))
}

fn with_text(value: &Value, pointer: &str, text: &str) -> Value {
    let mut value = value.clone();
    if let Some(place) = value.pointer_mut(pointer) {
        *place = json!(text);
    }
    value
}

/// Returns a payload in which every text is empty, except for the ones that the client itself decides.
fn with_empty_texts(value: &Value) -> Value {
    fn clear(value: &mut Value) {
        match value {
            Value::String(text) => text.clear(),
            Value::Array(items) => items.iter_mut().for_each(clear),
            Value::Object(fields) => fields.values_mut().for_each(clear),
            _ => {}
        }
    }
    let mut value = value.clone();
    for (key, field) in value.as_object_mut().into_iter().flatten() {
        let is_kept = UNIVERSAL_INPUT.iter().any(|known| known.name == key) || key == "tool_name";
        if !is_kept {
            clear(field);
        }
    }
    value
}

fn without_optional_fields(event: EventName, value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(fields) = value.as_object_mut() {
        let known = || event_spec(event).input.iter().chain(UNIVERSAL_INPUT);
        fields.retain(|key, _| known().any(|field| field.name == key && field.required));
    }
    value
}

fn project_key(environment: &TrialEnvironment) -> String {
    let path = environment.project.to_string_lossy();
    path.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '-' }).collect()
}

/// Replaces the paths and ids of recordings by those of the surroundings.
fn localize(value: &mut Value, environment: &TrialEnvironment) {
    match value {
        Value::String(text)
            if text.len() < LARGE_TEXT_BYTES / 2
                && (text.contains(RECORDED_HOME) || text.contains(RECORDED_SESSION_ID)) =>
        {
            let project = environment.project.to_string_lossy();
            *text = text
                .replace(RECORDED_PROJECT_KEY, &project_key(environment))
                .replace("/home/user/project", &project)
                .replace(RECORDED_HOME, &environment.home.to_string_lossy())
                .replace(RECORDED_SESSION_ID, TRIAL_SESSION_ID);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| localize(item, environment)),
        Value::Object(fields) => fields.values_mut().for_each(|item| localize(item, environment)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn environment() -> TrialEnvironment {
        TrialEnvironment {
            project: "/s/project".into(),
            home: "/s/home".into(),
            ..Default::default()
        }
    }

    #[test]
    fn every_event_has_payloads_of_each_kind() {
        for event in EventName::ALL {
            let payloads = test_payloads(event, &[], &environment());
            let names: BTreeSet<&str> =
                payloads.iter().map(|payload| payload.name.as_str()).collect();
            assert_eq!(names.len(), payloads.len(), "{event}: names are distinct: {names:?}");
            for kind in [PayloadKind::Ordinary, PayloadKind::Hostile] {
                assert!(payloads.iter().any(|payload| payload.kind == kind), "{event}: {kind:?}");
            }
            for payload in &payloads {
                assert_eq!(payload.value["hook_event_name"], event.as_str(), "{}", payload.name);
                let text = payload.value.to_string();
                assert!(!text.contains(RECORDED_PROJECT_KEY), "{}", payload.name);
                let cwd = payload.value["cwd"].as_str().unwrap_or_default();
                let is_bare = payload.name.contains("missing");
                assert!(is_bare || cwd.starts_with("/s/"), "{}: {cwd}", payload.name);
            }
        }
    }

    #[test]
    fn guards_are_provoked() {
        let payloads = test_payloads(EventName::PreToolUse, &[], &environment());
        let has = |pointer: &str, text: &str| {
            payloads
                .iter()
                .any(|payload| payload.value.pointer(pointer).and_then(Value::as_str) == Some(text))
        };
        for command in ["rm -rf /", "git push --force"] {
            assert!(has("/tool_input/command", command), "{command}");
        }
        assert!(has("/tool_input/file_path", "/s/project/.env"));
        assert!(has("/agent_id", SUBAGENT_ID));
        assert!(payloads.iter().any(|payload| payload.value.to_string().len() > LARGE_TEXT_BYTES));
        let only = test_payloads(EventName::PreToolUse, &["Edit".to_owned()], &environment());
        assert!(only.len() > 8 && only.iter().all(|payload| payload.value["tool_name"] == "Edit"));
    }

    #[test]
    fn stop_is_tried_twice() {
        let payloads = test_payloads(EventName::Stop, &[], &environment());
        let active: BTreeSet<bool> = payloads
            .iter()
            .filter_map(|payload| payload.value["stop_hook_active"].as_bool())
            .collect();
        assert_eq!(active.len(), 2);
    }
}
