//! JSON Schemas of the files with hooks, for editors: settings, and the hooks file of a plugin.
//!
//! The schemas are made from the tables by which the reader of [`crate::settings`] judges entries. They are stricter
//! than the client where it ignores what an author wrote: unknown fields of a group or hook, unknown events, types of
//! hooks that an event does not run, and timeouts over one hour. What needs more than the shape of one file is left to
//! [`crate::lint`].

use rutter_contract::known_issues::{IssueSubject, describe_known_issues};
use rutter_contract::spec::{EventSpec, MatcherValues};
use rutter_contract::table::events_at;
use rutter_contract::version::Contract;
use serde_json::{Map, Value, json};

use crate::settings::{EntryField, EntryFieldType, entry_form, entry_types};

/// The JSON Schema draft, which editors support best.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";
/// Longest useful timeout in seconds; longer ones were probably meant in milliseconds.
const MAX_TIMEOUT_SECONDS: u32 = 3600;

/// The file name of the schema of settings.
pub const SETTINGS_FILE: &str = "settings-hooks.schema.json";
/// The file name of the schema of a plugin's hooks file.
pub const PLUGIN_FILE: &str = "plugin-hooks.schema.json";

/// Returns the schema of the hooks in settings. All other settings are accepted.
pub fn settings_schema(contract: Contract) -> Value {
    let mut schema = schema_head(contract, SETTINGS_FILE, "Hooks in settings of Claude Code");
    schema["properties"]["disableAllHooks"] =
        json!({ "description": "True if no hook runs.", "type": "boolean" });
    schema
}

/// Returns the schema of `hooks/hooks.json` of a plugin.
pub fn plugin_schema(contract: Contract) -> Value {
    let mut schema = schema_head(contract, PLUGIN_FILE, "Hooks of a Claude Code plugin");
    schema["properties"]["description"] =
        json!({ "description": "What the hooks are for.", "type": "string" });
    schema["required"] = json!(["hooks"]);
    schema
}

/// Returns the schema of a file whose key `hooks` has the events.
fn schema_head(contract: Contract, file: &str, title: &str) -> Value {
    let version = contract.version();
    let mut properties = Map::new();
    properties.insert("$schema".to_owned(), json!({ "type": "string" }));
    properties.insert("hooks".to_owned(), json!({ "$ref": "#/definitions/hooks" }));
    for event in events_at(contract) {
        // An event outside of `hooks`.
        properties.insert(event.name.as_str().to_owned(), Value::Bool(false));
    }
    let mut definitions = Map::new();
    definitions.insert("hooks".to_owned(), hooks_schema(contract));
    for name in entry_types() {
        definitions.insert(format!("{name}Hook"), entry_schema(name));
    }
    json!({
        "$schema": DRAFT,
        // A name, not an address: `.invalid` never resolves, so validators cannot fetch it.
        "$id": format!("https://rutter.invalid/schemas/claude-code-{version}/{file}"),
        "title": title,
        "$comment": format!("Contract of Claude Code {version}."),
        "type": "object",
        "properties": properties,
        "definitions": definitions,
    })
}

/// Returns the schema of the object with the events.
fn hooks_schema(contract: Contract) -> Value {
    let events = events_at(contract).map(|event| {
        let name = event.name.as_str().to_owned();
        (name, event_schema(event, contract))
    });
    json!({
        "description": "The hooks, by the event on which they run.",
        "type": "object",
        "properties": events.collect::<Map<String, Value>>(),
        "additionalProperties": false,
    })
}

fn event_schema(event: &EventSpec, contract: Contract) -> Value {
    let types: Vec<&str> = event.handlers.value.iter().map(|handler| handler.as_str()).collect();
    // A condition for each type gives an error in the wrong field, where `oneOf` would reject the whole hook.
    let forms = types.iter().map(|name| {
        json!({
            "if": { "properties": { "type": { "const": name } }, "required": ["type"] },
            "then": { "$ref": format!("#/definitions/{name}Hook") },
        })
    });
    json!({
        "description": format!(
            "Runs when: {}. Documentation: {}{}",
            event.when.value,
            event.documentation(),
            describe_known_issues(event.name, IssueSubject::Registration)
        ),
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "matcher": matcher_schema(event, contract),
                "hooks": {
                    "description": "The hooks of this group. They run at the same time.",
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": { "type": { "enum": types } },
                        "required": ["type"],
                        "allOf": forms.collect::<Vec<_>>(),
                    },
                },
            },
            "required": ["hooks"],
            "additionalProperties": false,
        },
    })
}

fn matcher_schema(event: &EventSpec, contract: Contract) -> Value {
    let description = match event.matcher.values {
        MatcherValues::Ignored => {
            return json!({
                "description": "The client ignores a matcher on this event.",
                "type": "string",
                "deprecated": true,
            });
        }
        MatcherValues::Tools => {
            "Names of tools, separated by `|`, or a JavaScript regular expression. Empty, absent or `*` matches every \
             tool."
                .to_owned()
        }
        MatcherValues::List(list) => {
            let values: Vec<&str> = list.values_at(contract).collect();
            format!("One or more of these, separated by `|`: {}.", values.join(", "))
        }
        MatcherValues::Names(text) | MatcherValues::Files(text) => format!("Matches {text}."),
    };
    json!({ "description": description, "type": "string" })
}

/// Returns the schema of a hook of a type.
fn entry_schema(name: &str) -> Value {
    let fields = entry_form(name).unwrap_or_default();
    let mut properties = Map::new();
    properties.insert("type".to_owned(), json!({ "const": name }));
    for field in &fields {
        properties.insert(field.name.to_owned(), field_schema(field));
    }
    let required = fields.iter().filter(|field| field.is_required).map(|field| field.name);
    let required: Vec<&str> = std::iter::once("type").chain(required).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn field_schema(field: &EntryField) -> Value {
    match field.value {
        EntryFieldType::Text => json!({ "type": "string" }),
        EntryFieldType::Url => json!({ "type": "string", "pattern": "^[A-Za-z][^:]*:." }),
        EntryFieldType::Flag => json!({ "type": "boolean" }),
        EntryFieldType::Seconds => json!({
            "description": "Seconds, not milliseconds.",
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": MAX_TIMEOUT_SECONDS,
        }),
        EntryFieldType::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        EntryFieldType::Object => json!({ "type": "object" }),
        EntryFieldType::TextObject => {
            json!({ "type": "object", "additionalProperties": { "type": "string" } })
        }
        EntryFieldType::OneOf(words) => json!({ "enum": words }),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::lint::{LintContext, LintFile, LintMachine, Severity, run_rules};
    use crate::settings::HookFile;

    const HOOK: &str = r#"{"type": "command", "command": "true"}"#;

    /// Returns true if the linter finds no error or warning.
    fn is_clean(name: &str, text: &str) -> bool {
        let contract = Contract::newest();
        let file = HookFile::from_name(Path::new(name), None).unwrap();
        let layer = file.parse(text.as_bytes(), contract).unwrap();
        let file = LintFile::from_layer(layer, file.plugin, None, contract).unwrap();
        let machine = LintMachine::default();
        let context = LintContext::new(vec![file], Vec::new(), contract, &machine);
        let findings = run_rules(&context, &|_, _| false);
        findings.iter().all(|finding| finding.severity == Severity::Info)
    }

    /// Asserts that the schema and the linter agree about a file.
    fn assert_judged(is_accepted: bool, name: &str, text: &str) {
        let contract = Contract::newest();
        let schema = if name.contains("hooks.json") {
            plugin_schema(contract)
        } else {
            settings_schema(contract)
        };
        let value: Value = serde_json::from_str(text).unwrap();
        let validator = jsonschema::draft7::new(&schema).unwrap();
        assert_eq!(validator.is_valid(&value), is_accepted, "schema: {text}");
        assert_eq!(is_clean(name, text), is_accepted, "linter: {text}");
    }

    #[test]
    fn schemas_are_valid() {
        for schema in [settings_schema(Contract::newest()), plugin_schema(Contract::newest())] {
            assert!(jsonschema::draft7::meta::is_valid(&schema));
        }
    }

    #[test]
    fn clean_settings_are_accepted() {
        for text in [
            "{}".to_owned(),
            r#"{"$schema": "./settings-hooks.schema.json", "permissions": {"allow": ["Bash"]}, "hooks": {}}"#.to_owned(),
            format!(r#"{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "hooks": [{HOOK}]}}]}}}}"#),
            format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{HOOK}]}}], "SessionStart": [{{"matcher": "startup", "hooks": []}}]}}}}"#),
            r#"{"hooks": {"PostToolUse": [{"hooks": [{"type": "http", "url": "https://a.example/x", "headers": {"A": "b"}, "timeout": 5.5}]}]}}"#.to_owned(),
            r#"{"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "done?"}, {"type": "mcp_tool", "server": "a", "tool": "b", "input": {"c": 1}}]}]}, "disableAllHooks": false}"#.to_owned(),
        ] {
            assert_judged(true, "/p/.claude/settings.json", &text);
        }
    }

    #[test]
    fn mistakes_of_shape_are_rejected() {
        let hooks = |hooks: &str| format!("{{\"hooks\": {hooks}}}");
        let group = |group: &str| format!("{{\"hooks\": {{\"PreToolUse\": [{group}]}}}}");
        let hook = |hook: &str| group(&format!("{{\"hooks\": [{hook}]}}"));
        for text in [
            hooks("[]"),
            hooks(&format!("{{\"PreToolCall\": [{{\"hooks\": [{HOOK}]}}]}}")),
            hooks(&format!("{{\"Stop\": {{\"hooks\": [{HOOK}]}}}}")),
            hooks(&format!("{{\"hooks\": {{\"Stop\": [{{\"hooks\": [{HOOK}]}}]}}}}")),
            format!("{{\"PreToolUse\": [{{\"hooks\": [{HOOK}]}}]}}"),
            group(HOOK),
            group("{\"matcher\": \"Bash\"}"),
            group(&format!("{{\"matcher\": [\"Bash\"], \"hooks\": [{HOOK}]}}")),
            group(&format!("{{\"hooks\": {HOOK}}}")),
            group(&format!("{{\"hooks\": [{HOOK}], \"timeout\": 5}}")),
            hook("\"true\""),
            hook("{\"command\": \"true\"}"),
            hook("{\"type\": \"script\", \"command\": \"true\"}"),
            hook("{\"type\": \"command\"}"),
            hook("{\"type\": \"command\", \"command\": [\"true\"]}"),
            hook("{\"type\": \"command\", \"command\": \"true\", \"timeout\": \"5\"}"),
            hook("{\"type\": \"command\", \"command\": \"true\", \"timeout\": 60000}"),
            hook("{\"type\": \"command\", \"command\": \"true\", \"timeout_ms\": 5}"),
            hook("{\"type\": \"command\", \"command\": \"true\", \"enabled\": true}"),
            hook("{\"type\": \"http\", \"url\": \"nowhere\"}"),
        ] {
            assert_judged(false, "/p/.claude/settings.json", &text);
        }
    }

    #[test]
    fn plugin_file_needs_the_wrapper() {
        let events = format!("{{\"Stop\": [{{\"hooks\": [{HOOK}]}}]}}");
        assert_judged(true, "/g/hooks/hooks.json", &format!("{{\"hooks\": {events}}}"));
        let described = format!("{{\"description\": \"x\", \"hooks\": {events}}}");
        assert_judged(true, "/g/hooks/hooks.json", &described);
        let schema = jsonschema::draft7::new(&plugin_schema(Contract::newest())).unwrap();
        for text in [&*events, "{}", "[]"] {
            assert!(!schema.is_valid(&serde_json::from_str(text).unwrap()), "{text}");
        }
    }

    #[test]
    fn descriptions_name_known_issues() {
        let schema = settings_schema(Contract::newest());
        let text = |event: &str| {
            let found = &schema["definitions"]["hooks"]["properties"][event]["description"];
            found.as_str().unwrap().to_owned()
        };
        assert!(text("PreToolUse").contains("anthropics/claude-code#75081: "));
        assert!(text("SubagentStop").contains("#20221"));
        assert!(!text("Stop").contains('#') || text("Stop").contains("hooks#stop"));
    }
}
