use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rutter_check::live::{ModelScript, ModelTurn, Sandbox};
use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::live_support::client_from_env;
use crate::support::rutter_command;

/// Runs a client with the settings of `init`, and asserts which events reach the program.
fn assert_client_runs_hooks(variable: &str) {
    let Some(client) = client_from_env(variable) else { return };
    let mut sandbox = Sandbox::new().unwrap();
    let (project, bin) = (sandbox.project(), sandbox.home().join("a folder/bin"));
    fs::create_dir_all(&project).unwrap();
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("rutter");
    // A single write per payload, so that concurrent hooks do not mix their lines.
    let script =
        "#!/bin/sh\npayload=$(cat)\nprintf '%s %s\\n' \"$*\" \"$payload\" >>\"${0%/*}/heard\"\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut init = rutter_command(&["init", "--bin", program.to_str().unwrap()]);
    init.current_dir(&project).env("HOME", sandbox.home());
    init.env("RUTTER_HOME", sandbox.home().join("memory"));
    drop(CommandOutput::run(&mut init).assert_success());

    let run = |line: &str| ModelTurn::call("Bash", json!({ "command": line, "description": "x" }));
    sandbox.script(ModelScript::new([
        run("true"),
        run("exit 3"),
        ModelTurn::call("Write", json!({ "file_path": project.join("new"), "content": "x" })),
        ModelTurn::call("Glob", json!({ "pattern": "*" })),
    ]));
    sandbox.args(["--allowedTools", "Bash,Write,Glob"]);
    let record = sandbox.run(&client).unwrap();
    assert!(!record.debug_log.contains("Invalid setting"), "{}", record.debug_log);

    let heard = fs::read_to_string(bin.join("heard")).unwrap();
    let seen: BTreeSet<String> = heard
        .lines()
        // The client also starts the program as an MCP server, which it does not implement.
        .filter_map(|line| line.strip_prefix("hook "))
        .map(|payload| {
            let payload: Value = serde_json::from_str(payload).unwrap();
            let tool = payload["tool_name"].as_str().unwrap_or("-");
            format!("{} {tool}", payload["hook_event_name"].as_str().unwrap())
        })
        .collect();
    let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    // PostToolUse is registered for a few tools only, and Glob is not among them.
    assert_eq!(
        seen,
        [
            "PostToolUse Bash",
            "PostToolUse Write",
            "PostToolUseFailure Bash",
            "PreToolUse Bash",
            "PreToolUse Glob",
            "PreToolUse Write",
            "SessionEnd -",
            "SessionStart -",
            "Stop -",
            "UserPromptSubmit -"
        ]
    );
}

#[test]
fn client_runs_installed_hooks() {
    assert_client_runs_hooks("RUTTER_TEST_CLIENT");
}

#[test]
fn older_client_runs_installed_hooks() {
    assert_client_runs_hooks("RUTTER_TEST_CLIENT_OLD");
}

#[test]
fn clients_read_working_directory_settings() {
    // The reason why `init` writes this file. Anyone who changes that should see this test fail first.
    for variable in ["RUTTER_TEST_CLIENT", "RUTTER_TEST_CLIENT_OLD"] {
        let Some(client) = client_from_env(variable) else { return };
        let mut sandbox = Sandbox::new().unwrap();
        // The sandbox is inside of a repository: the settings of the directory count nevertheless.
        let root = sandbox.project().parent().unwrap().to_owned();
        fs::create_dir_all(root.join(".git/objects")).unwrap();
        fs::create_dir_all(root.join(".git/refs")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let touch = |name: &str| {
            let handler =
                json!({ "type": "command", "command": "touch", "args": [root.join(name)] });
            json!({ "hooks": { "SessionStart": [{ "hooks": [handler] }] } }).to_string()
        };
        fs::create_dir(root.join(".claude")).unwrap();
        fs::write(root.join(".claude/settings.local.json"), touch("of-the-root")).unwrap();
        sandbox.file(".claude/settings.local.json", touch("of-the-folder"));
        let record = sandbox.run(&client).unwrap();
        assert!(root.join("of-the-folder").exists(), "{}", record.debug_log);
        let reads_root = variable == "RUTTER_TEST_CLIENT";
        assert_eq!(root.join("of-the-root").exists(), reads_root, "{}", record.debug_log);
    }
}
