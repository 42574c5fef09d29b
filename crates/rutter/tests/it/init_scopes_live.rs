//! Every scope of `rutter init` in a fresh home directory: the real client runs the hooks, their texts reach the model,
//! and `rutter uninstall` removes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rutter_check::live::{Record, Sandbox, Script, Turn};
use rutter_testkit::Ran;
use serde_json::json;

use crate::live::{Life, bash, client, said_by};

const TEST: &str = "import unittest\n\n\nclass Cart(unittest.TestCase):\n    def test_total(self):\n        \
    self.assertEqual(90, 100)\n";
const BIN: &str = env!("CARGO_BIN_EXE_rutter");
/// A text that only rutter's SessionStart hook gives to the model.
const GREETING: &str = "Rutter keeps what was predicted";

/// Creates a project outside of the sandbox's project, because the sandbox writes settings there.
fn life() -> Option<Life> {
    let mut life = Life::new(&[])?;
    life.project = life.home.parent().unwrap().join("work");
    life.put("test_cart.py", TEST);
    life.put(".claude/settings.json", "{\n\t\"cleanupPeriodDays\": 30\n}");
    life.configure("");
    Some(life)
}

/// Returns the files of the project and the settings of the user: everything that `init` could change.
fn settings(life: &Life) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut rest = vec![life.project.clone(), life.home.join(".claude/settings.json")];
    while let Some(path) = rest.pop() {
        if path.is_dir() {
            rest.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if let Ok(bytes) = fs::read(&path) {
            found.insert(path, bytes);
        }
    }
    found
}

/// Runs a session with a failing test.
fn session(life: &mut Life, more: impl FnOnce(&mut Sandbox)) -> Record {
    let record = life.session_with(Script::new([bash("python3 -m unittest")]), more);
    assert!(record.reached_model("90 != 100").is_some(), "the test ran: {}", record.stdout);
    record
}

/// Counts the occurrences of a text in the first request of a session.
fn times(record: &Record, mark: &str) -> usize {
    let texts = record.texts_to_model();
    texts.iter().filter(|told| told.request == 0).map(|told| told.text.matches(mark).count()).sum()
}

/// Asserts that the hooks ran: the model got the greeting once, and the store has the failure.
fn assert_heard(life: &Life, record: &Record, scope: &str) {
    assert_eq!(times(record, GREETING), 1, "{scope}: {:?}", said_by(record, ""));
    let failures = life.episodes();
    assert_eq!(failures.len(), 1, "{scope}: {failures:?}");
    assert_eq!(failures[0].0, "test_cart.Cart.test_total", "{scope}");
}

#[test]
fn every_settings_file_makes_a_working_client_and_comes_back() {
    for args in [&["--local", "--bin", BIN][..], &["--user", "--bin", BIN], &["--project"]] {
        let Some(mut life) = life() else { return };
        let before = settings(&life);
        drop(life.rutter(&[&["init"], args].concat()).success());
        assert_ne!(settings(&life), before);
        let record = session(&mut life, |_| {});
        assert_heard(&life, &record, args[0]);
        drop(life.rutter(&["uninstall", args[0]]).success());
        assert_eq!(settings(&life), before, "{args:?}");
        let after = session(&mut life, |_| {});
        assert_eq!(said_by(&after, ""), [] as [String; 0], "{args:?}");
    }
}

#[test]
fn a_plugin_works_for_a_session_and_for_good() {
    let Some(mut life) = life() else { return };
    let folder = life.home.join("a plugin");
    let plugin = folder.to_str().unwrap().to_owned();
    let before = settings(&life);
    drop(life.rutter(&["init", "--plugin", &plugin]).success());
    let record = session(&mut life, |sandbox| {
        sandbox.args(["--plugin-dir", &plugin]);
    });
    assert_heard(&life, &record, "--plugin-dir");
    assert!(record.reached_model("rutter:ghap").is_some(), "the skill is there to be found");

    for variable in ["RUTTER_TEST_CLIENT", "RUTTER_TEST_CLIENT_OLD"] {
        let Some(client) = client(variable) else { return };
        for path in [folder.clone(), folder.join(".claude-plugin/plugin.json")] {
            let ran = run(&life, client.path(), &["validate", "--strict", path.to_str().unwrap()]);
            assert!(ran.stdout.contains("Validation passed"), "{ran}");
        }
    }
    let Some(client) = client("RUTTER_TEST_CLIENT") else { return };
    drop(run(&life, client.path(), &["marketplace", "add", &plugin]));
    drop(run(&life, client.path(), &["install", "rutter@rutter"]));
    let record = session(&mut life, |_| {});
    assert_heard(&life, &record, "installed");
    // With rutter in the user's settings too, the greeting still appears once.
    drop(life.rutter(&["init", "--user", "--bin", BIN]).success());
    let record = session(&mut life, |_| {});
    assert_heard(&life, &record, "installed, and in the user's settings");

    drop(life.rutter(&["uninstall", "--user"]).success());
    drop(run(&life, client.path(), &["uninstall", "rutter@rutter"]));
    drop(run(&life, client.path(), &["marketplace", "remove", "rutter"]));
    drop(life.rutter(&["uninstall", "--plugin", &plugin]).success());
    assert!(!folder.exists());
    let record = session(&mut life, |_| {});
    assert_eq!(said_by(&record, ""), [] as [String; 0]);
    // The client leaves its settings file behind.
    let user = life.home.join(".claude/settings.json");
    let left = settings(&life);
    assert!(!String::from_utf8_lossy(&left[&user]).contains("hooks"));
    assert!(left.iter().filter(|(path, _)| **path != user).eq(&before));
}

/// Runs a `plugin` command of the client in the home directory of this user.
fn run(life: &Life, client: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(client);
    command.arg("plugin").args(args).env_clear().env("HOME", &life.home);
    command.envs([("PATH", "/usr/bin:/bin"), ("IS_SANDBOX", "1"), ("DISABLE_TELEMETRY", "1")]);
    command.envs([("DISABLE_AUTOUPDATER", "1"), ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")]);
    Ran::of(command.current_dir(&life.project)).success()
}

#[test]
fn what_a_team_commits_is_heard_once_and_costs_others_nothing() {
    let Some(mut life) = life() else { return };
    drop(life.rutter(&["init", "--project"]).success());
    drop(life.rutter(&["init", "--user", "--bin", BIN]).success());
    let record = session(&mut life, |_| {});
    assert_heard(&life, &record, "user and project");
    drop(life.rutter(&["uninstall", "--user"]).success());

    // A teammate without rutter. A megabyte of unread payload does not matter either.
    let new = life.project.join("new.txt");
    let long = "all work and no play\n".repeat(50_000);
    let write = Turn::call("Write", json!({ "file_path": new, "content": long }));
    let record = life.session_with(Script::new([write]), |sandbox| {
        sandbox.env("PATH", "/usr/bin:/bin");
    });
    assert_eq!(fs::read_to_string(&new).unwrap(), long, "{}", record.stdout);
    assert_eq!(said_by(&record, ""), [] as [String; 0]);
    let mut hooks = 0;
    for event in rutter_contract::EventName::ALL {
        for response in record.hook_responses(event) {
            assert_eq!((response.outcome, response.exit_code), ("success", Some(0)), "{event:?}");
            hooks += 1;
        }
    }
    assert!(hooks >= 4, "{}", record.stdout);
    let lines = record.debug_log.lines();
    let about: Vec<&str> = lines.filter(|line| line.contains("rutter hook")).collect();
    assert!(!about.is_empty(), "{}", record.debug_log);
    for complaint in ["[ERROR]", "[WARN]", "EPIPE"] {
        assert!(!about.iter().any(|line| line.contains(complaint)), "{complaint}: {about:?}");
    }
}
