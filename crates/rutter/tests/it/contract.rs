use rutter_testkit::repository_root;
use serde_json::Value;

use crate::support::run_rutter;

fn run_json(args: &[&str]) -> Value {
    serde_json::from_str(&run_rutter(args).assert_success().stdout)
        .unwrap_or_else(|error| panic!("{args:?}: {error}"))
}

#[test]
fn events_json_lists_all_events() {
    for args in
        [["contract", "events", "--json"].as_slice(), &["contract", "events", "--format", "json"]]
    {
        let events = run_json(args);
        let events = events.as_array().unwrap();
        assert_eq!(events.len(), 33);
        for event in events {
            assert_eq!(event.as_object().unwrap().keys().next().unwrap(), "name");
            assert!(event["sources"]["exit.2"]["confidence"].is_string());
        }
        let end = events.iter().find(|event| event["name"] == "SessionEnd").unwrap();
        assert_eq!(end["timeout_s"], 1.5);
        assert_eq!(end["hook_specific_output"], Value::Null);
    }
}

#[test]
fn events_text_has_line_per_event() {
    let ran = run_rutter(&["contract", "events"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 34, "{ran}");
    assert!(lines[0].starts_with("EVENT"));
    assert!(lines[1].starts_with("PreToolUse") && lines[1].ends_with("600 s"), "{}", lines[1]);
}

#[test]
fn older_client_has_fewer_events() {
    let ran = run_rutter(&["contract", "events", "--json", "--client", "2.1.197"]);
    let events: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((events.len(), ran.stderr.as_str()), (30, ""));
}

#[test]
fn newer_client_gets_newest_contract() {
    let ran = run_rutter(&["contract", "events", "--json", "--client", "3.0.0"]);
    let events: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(events.len(), 33);
    insta::assert_snapshot!(ran.stderr, @"note: client 3.0.0 is newer than the newest one measured; answering for 2.1.325");
}

#[test]
fn schemas_match_committed_files() {
    let index: Value = {
        let text =
            std::fs::read_to_string(repository_root().join("schemas/hooks/index.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    for (event, files) in index.as_object().unwrap() {
        for (args, file) in [
            (["contract", "schema", event].as_slice(), &files["output"]),
            (&["contract", "schema", event, "--input"], &files["input"]),
        ] {
            let path = repository_root().join("schemas/hooks").join(file.as_str().unwrap());
            assert_eq!(run_rutter(args).stdout, std::fs::read_to_string(path).unwrap(), "{event}");
        }
    }
}

/// The bundle is self-contained: it needs no other file, registry or network.
#[test]
fn bundle_is_self_contained() {
    let schema = run_json(&["contract", "schema", "Stop", "--bundle"]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&serde_json::json!({ "decision": "block", "reason": "x" })));
    assert!(!validator.is_valid(&serde_json::json!({ "decision": "block" })));
    assert!(!validator.is_valid(&serde_json::json!({ "continue": "no" })));
}

#[test]
fn event_unknown_to_client_is_refused() {
    insta::assert_snapshot!(run_rutter(&["contract", "schema", "PreModelSwitch", "--client", "2.1.197"]), @"
    exit 2
    --- stderr
    error: client 2.1.197 has no event PreModelSwitch: it was added in 2.1.251; omit --client, or give a newer version
    ");
}

#[test]
fn unknown_event_gets_suggestion() {
    insta::assert_snapshot!(run_rutter(&["contract", "schema", "PreToolCall"]), @"
    exit 2
    --- stderr
    error: `PreToolCall` is not a hook event of Claude Code; did you mean `PreToolUse`?
    ");
    insta::assert_snapshot!(run_rutter(&["contract", "payload", "Moonrise"]), @"
    exit 2
    --- stderr
    error: `Moonrise` is not a hook event of Claude Code; `rutter contract events` lists all of them
    ");
}

#[test]
fn invalid_client_version_is_refused() {
    insta::assert_snapshot!(run_rutter(&["contract", "events", "--client", "latest"]), @"
    exit 2
    --- stderr
    error: invalid value 'latest' for '--client <VERSION>': `latest` is not a client version; give three numbers as `claude --version` prints them, for example 2.1.325

    For more information, try '--help'.
    ");
}

#[test]
fn every_event_has_payload() {
    let mut made_up = Vec::new();
    for event in run_json(&["contract", "events", "--json"]).as_array().unwrap() {
        let name = event["name"].as_str().unwrap();
        let ran = run_rutter(&["contract", "payload", name]);
        let payload: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(payload["hook_event_name"], name);
        assert_eq!(ran.stdout.matches('\n').count(), 1);
        if !ran.stderr.is_empty() {
            made_up.push(ran.stderr);
        }
    }
    insta::assert_snapshot!(made_up.concat(), @"
    note: no payload of PermissionDenied is recorded: this one is built from the table
    note: no payload of TeammateIdle is recorded: this one is built from the table
    note: no payload of WorktreeRemove is recorded: this one is built from the table
    ");
}

#[test]
fn payload_for_tool() {
    let edit = run_json(&["contract", "payload", "PostToolUse", "--tool", "Edit"]);
    assert!(edit["tool_response"]["structuredPatch"].is_array());
    let ran = run_rutter(&["contract", "payload", "PreToolUse", "--tool", "mcp__github__search"]);
    assert!(ran.stderr.starts_with("note: no call of mcp__github__search was captured"), "{ran}");
    insta::assert_snapshot!(run_rutter(&["contract", "payload", "Stop", "--tool", "Bash"]), @"
    exit 2
    --- stderr
    error: Stop names no tool; these events do: PreToolUse, PostToolUse, PostToolUseFailure, PermissionRequest, PermissionDenied
    ");
}
