//! The doctor's word about settings, put to the real client: what it calls skipped is skipped, and what it calls read runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rutter_check::live::{Client, Sandbox, Script, Turn};
use rutter_testkit::Ran;
use serde_json::{Value, json};

use crate::doctor::Setup;
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

/// What `--live` finds, and what it saw step by step.
fn proven(setup: &Setup) -> (Vec<String>, Vec<(String, bool)>) {
    let ran = setup.rutter(&["doctor", "--live", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let codes = findings.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect();
    let steps = report["live"]["steps"].as_array().into_iter().flatten();
    let step = |step: &Value| (step["what"].as_str().unwrap().to_owned(), step["seen"] == true);
    (codes, steps.map(step).collect())
}

#[test]
fn the_whole_chain_is_proven_with_the_client_that_is_installed() {
    for variable in ["RUTTER_TEST_CLIENT", "RUTTER_TEST_CLIENT_OLD"] {
        let Some(client) = client(variable) else { return };
        let setup = Setup::new();
        fs::remove_file(setup.path("bin/claude")).unwrap();
        symlink(client.path(), setup.path("bin/claude")).unwrap();
        let (codes, steps) = proven(&setup);
        assert_eq!(codes, [] as [&str; 0], "{steps:?}");
        assert_eq!(steps.len(), 10, "{steps:?}");
        assert!(steps.iter().all(|(_, seen)| *seen), "{steps:?}");

        // A fault that no look at files tells: the program answers its version, and hears nothing.
        setup.program(
            "deaf/rutter",
            "#!/bin/sh\n[ \"$1\" = --version ] && echo 'rutter 0.1.0'\nexit 0\n",
        );
        setup.runs("deaf/rutter");
        let (codes, steps) = proven(&setup);
        assert!(!codes.is_empty() && codes.iter().all(|code| code == "live-unseen"), "{codes:?}");
        assert_eq!(steps.iter().filter(|(_, seen)| *seen).count(), 1, "the client ran: {steps:?}");

        // Nobody has it installed: then what `init` would write is tried.
        let setup = Setup::bare();
        fs::remove_file(setup.path("bin/claude")).unwrap();
        symlink(client.path(), setup.path("bin/claude")).unwrap();
        let (codes, steps) = proven(&setup);
        assert_eq!(codes, ["hooks-none"], "{steps:?}");
        assert!(steps.len() == 10 && steps.iter().all(|(_, seen)| *seen), "{steps:?}");

        // What a team shares, also where the user's own goes before it.
        setup.ok(&["init", "--project"]);
        for own in [false, true] {
            if own {
                setup.ok(&["init", "--user", "--bin", &setup.text("bin/rutter")]);
            }
            let (codes, steps) = proven(&setup);
            assert_eq!(codes, [] as [&str; 0], "{steps:?}");
            assert!(steps.len() == 10 && steps.iter().all(|(_, seen)| *seen), "{steps:?}");
        }
    }
}

#[test]
fn without_a_client_nothing_can_be_proven() {
    let setup = Setup::new();
    // It says its version, and that is all.
    let (codes, steps) = proven(&setup);
    assert_eq!(steps.iter().filter(|(_, seen)| *seen).count(), 0, "{steps:?}");
    assert!(!codes.is_empty() && codes.iter().all(|code| code.starts_with("live-")), "{codes:?}");
    fs::remove_file(setup.path("bin/claude")).unwrap();
    let (codes, steps) = proven(&setup);
    assert_eq!(
        (codes, steps),
        (vec!["live-no-client".to_owned(), "client-missing".to_owned()], Vec::new())
    );
}
