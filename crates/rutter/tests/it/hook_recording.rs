use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rutter_check::live::ModelTurn;
use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::live_support::LiveProject;
use crate::support::TestHome;

const GUARD: &str = "#!/bin/sh\nif grep -q 'git push'; then echo 'no push' >&2; exit 2; fi\n";

fn settings_with(command: &str) -> String {
    json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": command }] }] } })
        .to_string()
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(path).status().unwrap().success());
}

/// Runs the first hook of the settings as the client does.
fn run_first_hook(home: &TestHome, payload: &Value) -> CommandOutput {
    let settings: Value = serde_json::from_slice(&fs::read(home.settings()).unwrap()).unwrap();
    let entry = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", entry["command"].as_str().unwrap()])
        .env("RUTTER_HOME", home.memory())
        .env("CLAUDE_PROJECT_DIR", home.path("ship"))
        .current_dir(home.path("ship"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdin.take().unwrap().write_all(format!("{payload}\n").as_bytes()));
    child.wait_with_output().unwrap().into()
}

fn bash(command: &str) -> Value {
    json!({
        "session_id": "s", "cwd": "/x", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": command },
    })
}

/// A project with a recorded guard, and two calls of it.
fn recorded_guard() -> TestHome {
    let home = TestHome::new();
    home.write_settings(settings_with("\"$CLAUDE_PROJECT_DIR\"/guard.sh"));
    write_program(&home.path("ship/guard.sh"), GUARD);
    home.ok(&["contract", "record", "on"]);
    assert_eq!(run_first_hook(&home, &bash("git push --force")).exit, Some(2));
    assert_eq!(run_first_hook(&home, &bash("git status")).exit, Some(0));
    home
}

#[test]
fn settings_are_restored_exactly() {
    let group = |handlers: &str| {
        format!(
            "{{\"hooks\":{{\"PreToolUse\":[{{\"matcher\":\"Bash\",\"hooks\":[{handlers}]}}]}}}}"
        )
    };
    let texts = [
        "{\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": [ { \"hooks\": [ { \"type\": \"command\",  \"command\": \"a && b 'c'\" , \"timeout\" : 5 } ] } ]\r\n\t} \r\n}\r\n\r\n".to_owned(),
        format!("\u{feff}{}  \n", group("{\"type\":\"command\",\"command\":\"/bin/true\"}")),
        group("{\"type\":\"command\",\"command\":\"x\",\"args\":[ \"-c\",\t\"é\\u00e9\" ]}, {\"type\":\"command\",\"command\":\"y\",\"args\":[]}"),
        group("{\"command\":\"old\",\"type\":\"command\",\"command\":\"new; z\",\"if\":\"Bash(git *)\"}"),
        "{\"hooks\":{\"Stop\":[]},\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"\\u0041 | cat\"}]}]}}".to_owned(),
    ];
    for text in texts {
        let home = TestHome::new();
        home.write_settings(&text);
        let on = home.rutter(&["contract", "record", "on"]).assert_success().stdout;
        assert!(on.contains("settings.local.json"), "{on}");
        let recorded = fs::read_to_string(home.settings()).unwrap();
        assert!(recorded.contains("recorded-run"), "{recorded}");
        let again = home.rutter(&["contract", "record", "on"]).assert_success().stdout;
        assert!(again.contains("recorded already"), "{again}");
        assert_eq!(fs::read_to_string(home.settings()).unwrap(), recorded);
        home.ok(&["contract", "record", "off"]);
        assert_eq!(fs::read_to_string(home.settings()).unwrap(), text);
        assert!(home.rutter(&["contract", "record", "off"]).stdout.contains("no hook is recorded"));
    }
}

#[test]
fn linked_settings_stay_links() {
    let home = TestHome::new();
    let text = settings_with("a; b");
    fs::create_dir_all(home.path("ship/.claude")).unwrap();
    fs::write(home.path("user/mine.json"), &text).unwrap();
    std::os::unix::fs::symlink(home.path("user/mine.json"), home.settings()).unwrap();
    home.ok(&["contract", "record", "on"]);
    assert!(fs::read_to_string(home.path("user/mine.json")).unwrap().contains("recorded-run"));
    home.ok(&["contract", "record", "off"]);
    assert!(home.settings().is_symlink());
    assert_eq!(fs::read_to_string(home.path("user/mine.json")).unwrap(), text);
}

#[test]
fn changes_meanwhile_are_kept() {
    let home = TestHome::new();
    home.write_settings(settings_with("a; b"));
    home.ok(&["contract", "record", "on"]);
    let edited = fs::read_to_string(home.settings()).unwrap().replace("a; b", "a; c");
    let edited = edited.replacen('{', "{\n  \"model\": \"opus\",", 1);
    home.write_settings(&edited);
    home.ok(&["contract", "record", "off"]);
    let expected = settings_with("a; c").replacen('{', "{\n  \"model\": \"opus\",", 1);
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), expected);
    // A file that is no JSON any more is named, and restored once it is.
    home.ok(&["contract", "record", "on"]);
    let recorded = fs::read_to_string(home.settings()).unwrap();
    home.write_settings(format!("{recorded}}}"));
    let failed = home.rutter(&["contract", "record", "off"]);
    assert!(failed.exit != Some(0) && failed.stderr.contains("is not JSON any more"), "{failed:?}");
    home.write_settings(&recorded);
    home.ok(&["contract", "record", "off"]);
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), expected);
}

#[test]
fn own_hooks_and_other_events_are_not_recorded() {
    let home = TestHome::new();
    drop(home.init(&[]).assert_success());
    let own = fs::read_to_string(home.settings()).unwrap();
    let refused = home.rutter(&["contract", "record", "on"]);
    assert_eq!(refused.exit, Some(2), "{refused:?}");
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), own);
    home.write_settings(settings_with("guard"));
    assert_eq!(home.rutter(&["contract", "record", "on", "--event", "Stop"]).exit, Some(2));
    let project = home.path("ship/.claude/settings.json");
    fs::write(&project, settings_with("other")).unwrap();
    home.ok(&["contract", "record", "on", "--settings", project.to_str().unwrap()]);
    assert!(fs::read_to_string(&project).unwrap().contains("recorded-run"));
    assert!(!fs::read_to_string(home.settings()).unwrap().contains("recorded-run"));
    // From another folder, `off` restores what was noted.
    let mut off = home.command(&["contract", "record", "off"]);
    drop(CommandOutput::run(off.current_dir(home.path("user"))).assert_success());
    assert_eq!(fs::read_to_string(&project).unwrap(), settings_with("other"));
}

#[test]
fn uninstall_ends_recording() {
    let home = TestHome::new();
    let text = settings_with("a; b");
    home.write_settings(&text);
    home.ok(&["contract", "record", "on"]);
    let dry = home.rutter(&["uninstall", "--dry-run"]).assert_success();
    assert!(dry.stderr.contains("would no longer be recorded"), "{dry:?}");
    assert_ne!(fs::read_to_string(home.settings()).unwrap(), text);
    home.ok(&["uninstall"]);
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), text);
}

#[test]
fn other_commands_see_hooks_without_recorder() {
    let home = recorded_guard();
    let lint = home.rutter(&["contract", "lint"]);
    home.ok(&["contract", "record", "off"]);
    let plain = home.rutter(&["contract", "lint"]);
    assert_eq!(
        (lint.exit, lint.stdout.lines().count()),
        (plain.exit, plain.stdout.lines().count())
    );
    let codes = |home: &TestHome| {
        let report: Value =
            serde_json::from_str(&home.rutter(&["doctor", "--json"]).stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().clone();
        findings.iter().map(|found| found["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut expected = codes(&home);
    home.ok(&["contract", "record", "on"]);
    let mut found = codes(&home);
    expected.push("hooks-recorded".to_owned());
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    let tested = home.rutter(&["contract", "test", "--yes", "--json"]);
    let report: Value = serde_json::from_str(&tested.stdout).unwrap();
    assert_eq!(report["hooks"].as_array().unwrap().len(), 1);
    assert!(!tested.stdout.contains("recorded-run"), "{}", tested.stdout);
    let calls = home.json(&["contract", "record", "list"]);
    assert_eq!(calls.as_array().unwrap().len(), 2, "a test is not recorded");
    // A correction would write the file without the recorder.
    home.write_settings(settings_with("a; b").replace("\"type\"", "\"once\":true,\"type\""));
    home.ok(&["contract", "record", "on"]);
    let before = fs::read(home.settings()).unwrap();
    drop(home.rutter(&["contract", "lint", "--fix", "--yes"]));
    assert_eq!(fs::read(home.settings()).unwrap(), before);
}

#[test]
fn replay_finds_changed_guard() {
    let home = recorded_guard();
    let same = home.rutter(&["contract", "replay", "--yes"]).assert_success().stdout;
    assert!(same.contains("2 calls compared: 0 different verdicts, 0 with another text"), "{same}");
    // The guard now forgets the push, and blocks another command.
    let changed = GUARD.replace("git push", "git status");
    write_program(&home.path("ship/guard.sh"), &changed);
    let replay = home.rutter(&["contract", "replay", "--yes"]);
    assert_eq!(replay.exit, Some(1), "{replay:?}");
    for part in [
        "1  PreToolUse  Bash: git push --force: blocked -> silent",
        "2  PreToolUse  Bash: git status: silent -> blocked",
        "2 different verdicts",
    ] {
        assert!(replay.stdout.contains(part), "{}", replay.stdout);
    }
    let only = home.rutter(&["contract", "replay", "--yes", "--last", "1", "--json"]);
    let report: Value = serde_json::from_str(&only.stdout).unwrap();
    assert_eq!((&report["calls"], &report["differences"][0]["number"]), (&json!(1), &json!(2)));
    assert_eq!(report["differences"][0]["new"]["verdict"], "blocked");
    // A given command takes the place of the hook.
    let command = ["contract", "replay", "--yes", "--", "grep -q 'git push' && exit 2; exit 0"];
    let other = home.rutter(&command).assert_success().stdout;
    assert!(other.contains("1 with another text"), "{other}");
    let denied = home.rutter(&["contract", "replay"]);
    assert_eq!(denied.exit, Some(2), "without a terminal it needs --yes");
}

#[test]
fn client_versions_are_compared_without_running() {
    let home = recorded_guard();
    fs::remove_file(home.path("ship/guard.sh")).unwrap();
    let replay = home.rutter(&["contract", "replay", "--client", "2.1.197"]).assert_success();
    assert!(replay.stdout.contains("2 calls compared: 0 different verdicts"), "{replay:?}");
}

#[test]
fn recorded_call_becomes_test() {
    let home = recorded_guard();
    for number in ["1", "2"] {
        home.ok(&["contract", "record", "save-test", number, "guard.hooktest.toml"]);
    }
    let run = |guard: &str| {
        home.rutter(&["contract", "test", "--yes", "--tests", "guard.hooktest.toml", "--", guard])
    };
    let passed = run("./guard.sh").assert_success().stdout;
    assert!(passed.contains("2 tests, 2 passed"), "{passed}");
    let failed = run("exit 0");
    assert!(failed.exit == Some(1) && failed.stdout.contains("git push --force"), "{failed:?}");
    let missing = home.rutter(&["contract", "record", "save-test", "9", "guard.hooktest.toml"]);
    assert_eq!(missing.exit, Some(2));
}

#[test]
fn calls_are_listed_and_deleted() {
    let home = recorded_guard();
    let list =
        home.rutter(&["contract", "record", "list", "--hook", "guard"]).assert_success().stdout;
    assert!(list.contains("Bash: git push --force  exit 2"), "{list}");
    let status = home.json(&["contract", "record", "status"]);
    assert_eq!((&status["on"], &status["calls"]), (&json!(true), &json!(2)));
    home.ok(&["contract", "record", "clear"]);
    assert_eq!(home.json(&["contract", "record", "status"])["calls"], 0);
    let none = home.rutter(&["contract", "replay", "--yes"]);
    assert!(none.exit == Some(2) && none.stderr.contains("no such calls"), "{none:?}");
}

#[test]
fn excluded_folders_and_pauses_are_not_recorded() {
    let home = recorded_guard();
    let calls = || home.json(&["contract", "record", "status"])["calls"].clone();
    let push = || assert_eq!(run_first_hook(&home, &bash("git push")).exit, Some(2));
    home.ok(&["pause"]);
    push();
    assert_eq!(calls(), 2);
    home.ok(&["pause", "--off"]);
    push();
    assert_eq!(calls(), 3);
    fs::write(home.path("ship/.rutter.toml"), "[scope]\nexclude = [\".\"]\n").unwrap();
    let ship = home.path("ship");
    fs::write(home.memory().join("config.toml"), format!("[scope]\nexclude = [{ship:?}]\n"))
        .unwrap();
    push();
    assert_eq!(calls(), 3);
}

#[test]
fn forgetting_everything_deletes_calls() {
    let home = recorded_guard();
    let noted = home.rutter(&["remember", "staging has two disks", "--category", "fact"]);
    drop(noted.assert_success());
    let one = home.rutter(&["forget", "--query", "staging", "--yes"]).assert_success();
    assert!(one.stderr.contains("rutter contract record clear"), "{one:?}");
    home.ok(&["forget", "--all", "--yes"]);
    assert_eq!(home.json(&["contract", "record", "status"])["calls"], 0);
    assert!(home.path("ship/.claude/settings.local.json").exists());
}

#[test]
fn recorded_guard_denies_in_client() {
    let Some(mut live) = LiveProject::new(&[]) else { return };
    live.write(".claude/settings.local.json", &settings_with("\"$CLAUDE_PROJECT_DIR\"/guard.sh"));
    write_program(&live.project.join("guard.sh"), &GUARD.replace("git push", "touch ran"));
    drop(live.rutter(&["contract", "record", "on"]).assert_success());
    let call = ModelTurn::call("Bash", json!({ "command": "touch ran.txt", "description": "x" }));
    let record = live.session([call, ModelTurn::text("ok")]);
    assert!(!record.project().join("ran.txt").exists(), "the guard did not block");
    assert!(record.reached_model("no push").is_some());
    let listed = live.rutter(&["contract", "record", "list", "--json"]).assert_success().stdout;
    let calls: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(calls.as_array().unwrap().len(), 1, "{listed}");
    let payload: Value = serde_json::from_str(calls[0]["payload"].as_str().unwrap()).unwrap();
    assert_eq!(payload["tool_input"]["command"], "touch ran.txt");
    assert_eq!((&calls[0]["ending"]["exit"], &calls[0]["client"]), (&json!(2), &json!("2.1.325")));
}
