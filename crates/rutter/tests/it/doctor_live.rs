//! The doctor's verdict on settings, compared with the real client: which files it reads and which it skips.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rutter_check::live::{ClientBinary, ModelScript, ModelTurn, Sandbox};
use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::doctor::DoctorSetup;
use crate::live_support::client_from_env;
use crate::support::rutter_command;

/// Returns a hook that creates a file.
fn touch_hook(path: &Path) -> Value {
    json!([{ "hooks": [{ "type": "command", "command": "touch", "args": [path] }] }])
}

/// Settings added to a file with a working hook.
struct SettingsCase {
    name: &'static str,
    /// Entries of `hooks`.
    hooks: Value,
    /// Keys outside of `hooks`.
    beside: Value,
}

fn hooks_case(name: &'static str, hooks: Value) -> SettingsCase {
    SettingsCase { name, hooks, beside: json!({}) }
}

fn outer_keys_case(name: &'static str, beside: Value) -> SettingsCase {
    SettingsCase { name, hooks: json!({}), beside }
}

fn settings_cases() -> Vec<SettingsCase> {
    let command = || json!({ "type": "command", "command": "true" });
    let under = |event: &str, entry: Value| json!({ event: [{ "hooks": [entry] }] });
    vec![
        hooks_case("nothing", json!({})),
        hooks_case("an unknown event", json!({ "PreToolCall": [{ "hooks": [command()] }] })),
        hooks_case(
            "guards under an unknown event",
            json!({ "Foo": { "PreToolUse": [{ "hooks": [command()] }] } }),
        ),
        hooks_case("an event that is no list", json!({ "Stop": {} })),
        hooks_case("a guard that is no list", json!({ "PermissionRequest": {} })),
        hooks_case("a guard that is null", json!({ "PermissionRequest": null })),
        hooks_case("a group without hooks", json!({ "Stop": [{ "matcher": "x" }] })),
        hooks_case(
            "a matcher that is no text",
            json!({ "PermissionRequest": [{ "matcher": 1, "hooks": [] }] }),
        ),
        hooks_case("an entry without a type", under("Stop", json!({ "command": "x" }))),
        hooks_case("a guard without a type", under("PermissionRequest", json!({ "command": "x" }))),
        hooks_case(
            "a guard without time",
            under("PermissionRequest", json!({ "type": "command", "command": "x", "timeout": 0 })),
        ),
        hooks_case(
            "a failure that is no word",
            under("Stop", json!({ "type": "command", "command": "x", "onFailure": "deny" })),
        ),
        outer_keys_case("guards outside", json!({ "PreToolUse": [{ "hooks": [command()] }] })),
        outer_keys_case("an event outside", json!({ "Stop": [{ "hooks": [command()] }] })),
        outer_keys_case("groups outside", json!({ "hook": { "any": [{ "hooks": [command()] }] } })),
        outer_keys_case("a model that is a number", json!({ "model": 1 })),
        outer_keys_case("days that are none", json!({ "cleanupPeriodDays": 0 })),
        outer_keys_case("env that is a text", json!({ "env": "x" })),
        outer_keys_case("env with a number", json!({ "env": { "A": 1 } })),
        outer_keys_case("a flag that is null", json!({ "disableAllHooks": null })),
        outer_keys_case("a flag that may be null", json!({ "allowManagedHooksOnly": null })),
        outer_keys_case(
            "a client that is made simple",
            json!({ "env": { "CLAUDE_CODE_SIMPLE": "1" } }),
        ),
        outer_keys_case("hooks of nobody", json!({ "disableAllHooks": true })),
    ]
}

/// Runs the doctor in the project. Returns true for each of: the settings file is read, its hooks run.
fn run_doctor(sandbox: &Sandbox, client: &ClientBinary) -> (bool, bool) {
    let bin = sandbox.home().join("bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(client.path(), bin.join("claude")).unwrap();
    let mut doctor = rutter_command(&["doctor", "--json"]);
    doctor.env("HOME", sandbox.home()).env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let ran = CommandOutput::run(doctor.current_dir(sandbox.project()));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let version = report["client"]["version"].as_str().unwrap();
    assert_eq!(version, client.version().to_string(), "{ran}");
    let layers = report["layers"].as_array().unwrap();
    let layer = layers.iter().find(|layer| layer["whose"] == "local").unwrap();
    let found = |code: &str| report["findings"].to_string().contains(&format!("\"{code}\""));
    (layer["state"] == "read", !found("hooks-disabled") && !found("env-simple"))
}

fn assert_doctor_matches_client(variable: &str) {
    let Some(client) = client_from_env(variable) else { return };
    let mut seen = [0, 0];
    for SettingsCase { name, hooks, beside } in settings_cases() {
        let mut sandbox = Sandbox::new().unwrap();
        let mark = sandbox.project().parent().unwrap().join("mark");
        let mut settings = json!({ "hooks": { "SessionStart": touch_hook(&mark) } });
        settings["hooks"].as_object_mut().unwrap().extend(hooks.as_object().unwrap().clone());
        settings.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
        let path = sandbox.project().join(".claude/settings.local.json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, settings.to_string()).unwrap();
        let (counts, runs) = run_doctor(&sandbox, &client);
        sandbox.script(ModelScript::new([] as [ModelTurn; 0]));
        let record = sandbox.run(&client).unwrap();
        assert_eq!(record.terminal_reason(), Some("completed"), "{name}: {}", record.stdout);
        assert_eq!(mark.exists(), counts && runs, "{name}: {}", record.debug_log);
        seen[usize::from(mark.exists())] += 1;
        // The newer client reports a skipped file only in its debug log.
        if variable == "RUTTER_TEST_CLIENT" && !counts {
            assert!(record.debug_log.contains("Invalid setting skipped"), "{name}");
        }
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
}

#[test]
fn settings_verdict_matches_client() {
    assert_doctor_matches_client("RUTTER_TEST_CLIENT");
}

#[test]
fn settings_verdict_matches_older_client() {
    assert_doctor_matches_client("RUTTER_TEST_CLIENT_OLD");
}

/// The number of steps of `doctor --live`.
const LIVE_STEP_COUNT: usize = 13;

/// Runs `doctor --live`. Returns its finding codes, and each step with true if it was observed.
fn run_live_doctor(setup: &DoctorSetup) -> (Vec<String>, Vec<(String, bool)>) {
    let ran = setup.rutter(&["doctor", "--live", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let codes = findings.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect();
    let steps = report["live"]["steps"].as_array().into_iter().flatten();
    let step = |step: &Value| (step["what"].as_str().unwrap().to_owned(), step["seen"] == true);
    (codes, steps.map(step).collect())
}

#[test]
fn live_doctor_proves_every_step() {
    for variable in ["RUTTER_TEST_CLIENT", "RUTTER_TEST_CLIENT_OLD"] {
        let Some(client) = client_from_env(variable) else { return };
        let setup = DoctorSetup::new();
        fs::remove_file(setup.path("bin/claude")).unwrap();
        symlink(client.path(), setup.path("bin/claude")).unwrap();
        let (codes, steps) = run_live_doctor(&setup);
        assert_eq!(codes, [] as [&str; 0], "{steps:?}");
        assert_eq!(steps.len(), LIVE_STEP_COUNT, "{steps:?}");
        assert!(steps.iter().all(|(_, seen)| *seen), "{steps:?}");

        // A fault that no file shows: the program prints its version, and ignores every event.
        setup.program(
            "deaf/rutter",
            "#!/bin/sh\n[ \"$1\" = --version ] && echo 'rutter 0.1.0'\nexit 0\n",
        );
        setup.replace_program("deaf/rutter");
        let (codes, steps) = run_live_doctor(&setup);
        let told = |code: &String| code == "live-unseen" || code == "server-fails";
        assert!(!codes.is_empty() && codes.iter().all(told), "{codes:?}");
        assert_eq!(steps.iter().filter(|(_, seen)| *seen).count(), 1, "the client ran: {steps:?}");

        // A working server with tools that the permissions forbid.
        let setup = DoctorSetup::new();
        fs::remove_file(setup.path("bin/claude")).unwrap();
        symlink(client.path(), setup.path("bin/claude")).unwrap();
        for (rules, expected, unseen) in [
            (json!({ "deny": ["mcp__rutter"] }), "server-denied", 3),
            (json!({}), "server-not-allowed", 2),
        ] {
            setup.edit_settings(|settings| settings["permissions"] = rules);
            let (codes, steps) = run_live_doctor(&setup);
            assert!(codes.iter().any(|code| code == expected), "{codes:?}");
            assert_eq!(steps.iter().filter(|(_, seen)| !seen).count(), unseen, "{steps:?}");
        }

        // A server that runs already cannot be started in the sandbox. Its three steps are left out, without a finding.
        let ship = setup.text("ship");
        setup.edit_settings(|settings| {
            settings["permissions"] = json!({ "allow": ["mcp__rutter__status"] });
        });
        setup.edit_client_state(|state| {
            let entry = json!({ "type": "http", "url": "http://localhost:1/mcp" });
            state["projects"][ship]["mcpServers"]["rutter"] = entry;
        });
        let (codes, steps) = run_live_doctor(&setup);
        assert_eq!(codes, [] as [&str; 0], "{steps:?}");
        assert!(
            steps.len() == LIVE_STEP_COUNT - 3 && steps.iter().all(|(_, seen)| *seen),
            "{steps:?}"
        );

        // Not installed: the doctor tests the settings that `init` would write.
        let setup = DoctorSetup::without_init();
        fs::remove_file(setup.path("bin/claude")).unwrap();
        symlink(client.path(), setup.path("bin/claude")).unwrap();
        let (codes, steps) = run_live_doctor(&setup);
        assert_eq!(codes, ["hooks-none"], "{steps:?}");
        assert!(steps.len() == LIVE_STEP_COUNT && steps.iter().all(|(_, seen)| *seen), "{steps:?}");

        // Shared project settings, alone and together with the user's settings, which take precedence.
        setup.ok(&["init", "--project"]);
        for own in [false, true] {
            if own {
                setup.ok(&["init", "--user", "--bin", &setup.text("bin/rutter")]);
            }
            let (codes, steps) = run_live_doctor(&setup);
            assert_eq!(codes, [] as [&str; 0], "{steps:?}");
            assert!(
                steps.len() == LIVE_STEP_COUNT && steps.iter().all(|(_, seen)| *seen),
                "{steps:?}"
            );
        }
    }
}

/// Changes a setup with a working server in the user or project scope.
type SetupChange = fn(&DoctorSetup);

/// Returns scope, name and change for every server state that the client reports.
fn server_changes() -> Vec<(&'static str, &'static str, SetupChange)> {
    const USER_SETTINGS: &str = "home/.claude/settings.json";
    let user: Vec<(&str, SetupChange)> = vec![
        ("nothing", |_| {}),
        ("other arguments", |setup| {
            setup.edit_client_state(|it| it["mcpServers"]["rutter"]["args"] = json!("mcp"));
        }),
        ("variables that are none", |setup| {
            setup.edit_client_state(|it| it["mcpServers"]["rutter"]["env"] = json!({ "A": 1 }));
        }),
        ("a list", |setup| setup.edit_client_state(|it| it["mcpServers"] = json!([]))),
        ("a number", |setup| setup.edit_client_state(|it| it["mcpServers"]["rutter"] = json!(5))),
        ("denied", |setup| {
            setup.write(USER_SETTINGS, r#"{"deniedMcpServers":[{"serverName":"rutter"}]}"#);
        }),
        ("not on the list", |setup| {
            setup.write("ship/.claude/settings.json", r#"{"allowedMcpServers":[]}"#);
        }),
        ("on the list", |setup| {
            setup.write(USER_SETTINGS, r#"{"allowedMcpServers":[{"serverName":"rutter"}]}"#);
        }),
        ("only commands are listed", |setup| {
            setup.write(
                USER_SETTINGS,
                r#"{"allowedMcpServers":[{"serverName":"rutter"},{"serverCommand":["x"]}]}"#,
            );
        }),
        ("a program that is gone", |setup| fs::remove_file(setup.path("bin/rutter")).unwrap()),
    ];
    let project: Vec<(&str, SetupChange)> = vec![
        ("nothing", |_| {}),
        ("nobody said yes", |setup| {
            let ship = setup.text("ship");
            setup.edit_client_state(|it| it["projects"][ship]["enabledMcpjsonServers"] = json!([]));
        }),
        ("not trusted", DoctorSetup::distrust_all),
        ("yes to all", |setup| {
            setup.distrust_all();
            setup.write(USER_SETTINGS, r#"{"enableAllProjectMcpServers":true}"#);
        }),
        ("a no", |setup| setup.write(USER_SETTINGS, r#"{"disabledMcpjsonServers":["rutter"]}"#)),
        ("a comma", |setup| setup.write("ship/.mcp.json", r#"{"mcpServers":{"rutter":{}},}"#)),
        ("somebody else beside it", |setup| {
            let text = fs::read_to_string(setup.path("ship/.mcp.json")).unwrap();
            let mut servers: Value = serde_json::from_str(&text).unwrap();
            servers["mcpServers"]["bad"] = json!(5);
            setup.write("ship/.mcp.json", &servers.to_string());
        }),
    ];
    let of = |scope| move |(name, plant)| (scope, name, plant);
    user.into_iter().map(of("--user")).chain(project.into_iter().map(of("--project"))).collect()
}

#[test]
fn server_state_matches_client() {
    for variable in ["RUTTER_TEST_CLIENT", "RUTTER_TEST_CLIENT_OLD"] {
        let Some(client) = client_from_env(variable) else { return };
        let mut seen = std::collections::BTreeSet::new();
        for (scope, name, plant) in server_changes() {
            let setup = DoctorSetup::without_init();
            fs::remove_file(setup.path("bin/claude")).unwrap();
            symlink(client.path(), setup.path("bin/claude")).unwrap();
            let program = setup.text("bin/rutter");
            let named: &[&str] = if scope == "--user" { &["--bin", &program] } else { &[] };
            setup.ok(&[&["init", scope], named].concat());
            plant(&setup);
            let report: Value =
                serde_json::from_str(&setup.rutter(&["doctor", "--json"]).stdout).unwrap();
            let server = &report["servers"][0];
            let expected = match (server["state"].as_str(), server["tools"].as_u64()) {
                (Some("used"), Some(_)) => "Connected",
                (Some("used"), None) => "Failed to connect",
                (Some("pending"), _) => "Pending approval",
                (Some("off"), _) if name == "a no" => "Rejected",
                _ => "No MCP server named",
            };
            let mut get = std::process::Command::new(client.path());
            get.args(["mcp", "get", "rutter"]).env_clear().current_dir(setup.path("ship"));
            get.env("HOME", setup.path("home"))
                .env("PATH", format!("{}:/usr/bin:/bin", setup.text("bin")));
            get.env("RUTTER_HOME", setup.path("scratch")).stdin(std::process::Stdio::null());
            let said = CommandOutput::run(&mut get).to_string();
            assert!(said.contains(expected), "{scope}, {name}: {said}\n{report:#}");
            seen.insert(expected);
        }
        assert_eq!(seen.len(), 5, "{seen:?}");
    }
}

#[test]
fn live_doctor_needs_client() {
    let setup = DoctorSetup::new();
    // This client prints its version and does nothing else.
    let (codes, steps) = run_live_doctor(&setup);
    assert_eq!(steps.iter().filter(|(_, seen)| *seen).count(), 0, "{steps:?}");
    assert!(!codes.is_empty() && codes.iter().all(|code| code.starts_with("live-")), "{codes:?}");
    fs::remove_file(setup.path("bin/claude")).unwrap();
    let (codes, steps) = run_live_doctor(&setup);
    assert_eq!(
        (codes, steps),
        (vec!["live-no-client".to_owned(), "client-missing".to_owned()], Vec::new())
    );
}
