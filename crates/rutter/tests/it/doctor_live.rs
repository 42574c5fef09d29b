//! The doctor's word about settings, put to the real client: what it calls skipped is skipped, and what it calls read runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rutter_check::live::{Client, Sandbox, Script, Turn};
use rutter_testkit::Ran;
use serde_json::{Value, json};

use crate::live::client;
use crate::support::command;

/// A hook that leaves a file.
fn touch(path: &Path) -> Value {
    json!([{ "hooks": [{ "type": "command", "command": "touch", "args": [path] }] }])
}

/// What to put beside two hooks that work.
struct Case {
    name: &'static str,
    /// Under `hooks`.
    hooks: Value,
    /// Beside `hooks`.
    beside: Value,
}

fn case(name: &'static str, hooks: Value) -> Case {
    Case { name, hooks, beside: json!({}) }
}

fn beside(name: &'static str, beside: Value) -> Case {
    Case { name, hooks: json!({}), beside }
}

fn cases() -> Vec<Case> {
    let command = || json!({ "type": "command", "command": "true" });
    let under = |event: &str, entry: Value| json!({ event: [{ "hooks": [entry] }] });
    vec![
        case("nothing", json!({})),
        case("an unknown event", json!({ "PreToolCall": [{ "hooks": [command()] }] })),
        case(
            "guards under an unknown event",
            json!({ "Foo": { "PreToolUse": [{ "hooks": [command()] }] } }),
        ),
        case("an event that is no list", json!({ "Stop": {} })),
        case("a guard that is no list", json!({ "PermissionRequest": {} })),
        case("a guard that is null", json!({ "PermissionRequest": null })),
        case("a group without hooks", json!({ "Stop": [{ "matcher": "x" }] })),
        case(
            "a matcher that is no text",
            json!({ "PermissionRequest": [{ "matcher": 1, "hooks": [] }] }),
        ),
        case("an entry without a type", under("Stop", json!({ "command": "x" }))),
        case("a guard without a type", under("PermissionRequest", json!({ "command": "x" }))),
        case(
            "a guard without time",
            under("PermissionRequest", json!({ "type": "command", "command": "x", "timeout": 0 })),
        ),
        case(
            "a failure that is no word",
            under("Stop", json!({ "type": "command", "command": "x", "onFailure": "deny" })),
        ),
        beside("guards outside", json!({ "PreToolUse": [{ "hooks": [command()] }] })),
        beside("an event outside", json!({ "Stop": [{ "hooks": [command()] }] })),
        beside("groups outside", json!({ "hook": { "any": [{ "hooks": [command()] }] } })),
        beside("a model that is a number", json!({ "model": 1 })),
        beside("days that are none", json!({ "cleanupPeriodDays": 0 })),
        beside("env that is a text", json!({ "env": "x" })),
        beside("env with a number", json!({ "env": { "A": 1 } })),
        beside("a flag that is null", json!({ "disableAllHooks": null })),
        beside("a flag that may be null", json!({ "allowManagedHooksOnly": null })),
        beside("a client that is made simple", json!({ "env": { "CLAUDE_CODE_SIMPLE": "1" } })),
        beside("hooks of nobody", json!({ "disableAllHooks": true })),
    ]
}

/// What the doctor says of the settings in a project: whether the file counts, and whether its hooks run.
fn examined(sandbox: &Sandbox, client: &Client) -> (bool, bool) {
    let bin = sandbox.home().join("bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(client.path(), bin.join("claude")).unwrap();
    let mut doctor = command(&["doctor", "--json"]);
    doctor.env("HOME", sandbox.home()).env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let ran = Ran::of(doctor.current_dir(sandbox.project()));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let version = report["client"]["version"].as_str().unwrap();
    assert_eq!(version, client.version().to_string(), "{ran}");
    let layers = report["layers"].as_array().unwrap();
    let layer = layers.iter().find(|layer| layer["whose"] == "local").unwrap();
    let found = |code: &str| report["findings"].to_string().contains(&format!("\"{code}\""));
    (layer["state"] == "read", !found("hooks-disabled") && !found("env-simple"))
}

fn the_doctor_is_right(variable: &str) {
    let Some(client) = client(variable) else { return };
    let mut seen = [0, 0];
    for Case { name, hooks, beside } in cases() {
        let mut sandbox = Sandbox::new().unwrap();
        let mark = sandbox.project().parent().unwrap().join("mark");
        let mut settings = json!({ "hooks": { "SessionStart": touch(&mark) } });
        settings["hooks"].as_object_mut().unwrap().extend(hooks.as_object().unwrap().clone());
        settings.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
        let path = sandbox.project().join(".claude/settings.local.json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, settings.to_string()).unwrap();
        let (counts, runs) = examined(&sandbox, &client);
        sandbox.script(Script::new([] as [Turn; 0]));
        let record = sandbox.run(&client).unwrap();
        assert_eq!(record.terminal_reason(), Some("completed"), "{name}: {}", record.stdout);
        assert_eq!(mark.exists(), counts && runs, "{name}: {}", record.debug_log);
        seen[usize::from(mark.exists())] += 1;
        // The newer client says so in its log, where nobody looks.
        if variable == "RUTTER_TEST_CLIENT" && !counts {
            assert!(record.debug_log.contains("Invalid setting skipped"), "{name}");
        }
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
}

#[test]
fn what_it_says_of_settings_is_what_the_client_does() {
    the_doctor_is_right("RUTTER_TEST_CLIENT");
}

#[test]
fn the_older_client_does_it_too() {
    the_doctor_is_right("RUTTER_TEST_CLIENT_OLD");
}
