//! Every scope of `rutter init` in a fresh home directory: the real client runs the hooks, their texts reach the model,
//! and `rutter uninstall` removes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rutter_check::live::{ModelScript, ModelTurn, RunRecord, Sandbox};
use rutter_testkit::CommandOutput;
use serde_json::json;

use crate::live_support::{LiveProject, bash_turn, client_from_env, hook_texts_of_event};

const TEST_FILE: &str = "import unittest\n\n\nclass Cart(unittest.TestCase):\n    def test_total(self):\n        \
    self.assertEqual(90, 100)\n";
const RUTTER_BIN: &str = env!("CARGO_BIN_EXE_rutter");
/// A text that only rutter's SessionStart hook gives to the model.
const GREETING: &str = "Before acting on a guess: `";

/// Creates a project outside of the sandbox's project, because the sandbox writes settings there.
fn live_project() -> Option<LiveProject> {
    let mut life = LiveProject::new(&[])?;
    life.project = life.home.parent().unwrap().join("work");
    life.write("test_cart.py", TEST_FILE);
    life.write(".claude/settings.json", "{\n\t\"cleanupPeriodDays\": 30\n}");
    life.configure("");
    Some(life)
}

/// Returns the files of the project and the settings of the user: everything that `init` could change.
fn read_settings(life: &LiveProject) -> BTreeMap<PathBuf, Vec<u8>> {
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
fn failing_session(life: &mut LiveProject, more: impl FnOnce(&mut Sandbox)) -> RunRecord {
    let record = life.session_with(ModelScript::new([bash_turn("python3 -m unittest")]), more);
    assert!(record.reached_model("90 != 100").is_some(), "the test ran: {}", record.stdout);
    record
}

/// Counts the occurrences of a text in the first request of a session.
fn count_in_first_request(record: &RunRecord, mark: &str) -> usize {
    let texts = record.texts_to_model();
    texts.iter().filter(|told| told.request == 0).map(|told| told.text.matches(mark).count()).sum()
}

/// Asserts that the hooks ran: the model got the greeting once, and the store has the failure.
fn assert_hooks_ran(life: &LiveProject, record: &RunRecord, scope: &str) {
    assert_eq!(
        count_in_first_request(record, GREETING),
        1,
        "{scope}: {:?}",
        hook_texts_of_event(record, "")
    );
    let failures = life.episodes();
    assert_eq!(failures.len(), 1, "{scope}: {failures:?}");
    assert_eq!(failures[0].0, "test_cart.Cart.test_total", "{scope}");
}

#[test]
fn scopes_work_in_real_client() {
    for args in
        [&["--local", "--bin", RUTTER_BIN][..], &["--user", "--bin", RUTTER_BIN], &["--project"]]
    {
        let Some(mut life) = live_project() else { return };
        let before = read_settings(&life);
        drop(life.rutter(&[&["init"], args].concat()).assert_success());
        assert_ne!(read_settings(&life), before);
        let record = failing_session(&mut life, |_| {});
        assert_hooks_ran(&life, &record, args[0]);
        drop(life.rutter(&["uninstall", args[0]]).assert_success());
        assert_eq!(read_settings(&life), before, "{args:?}");
        let after = failing_session(&mut life, |_| {});
        assert_eq!(hook_texts_of_event(&after, ""), [] as [String; 0], "{args:?}");
    }
}

#[test]
fn plugin_works_in_real_client() {
    let Some(mut life) = live_project() else { return };
    let folder = life.home.join("a plugin");
    let plugin = folder.to_str().unwrap().to_owned();
    let before = read_settings(&life);
    drop(life.rutter(&["init", "--plugin", &plugin]).assert_success());
    let record = failing_session(&mut life, |sandbox| {
        sandbox.args(["--plugin-dir", &plugin]);
    });
    assert_hooks_ran(&life, &record, "--plugin-dir");
    assert!(record.reached_model("rutter:ghap").is_some(), "the skill is there to be found");

    for variable in ["RUTTER_TEST_CLIENT", "RUTTER_TEST_CLIENT_OLD"] {
        let Some(client) = client_from_env(variable) else { return };
        for path in [folder.clone(), folder.join(".claude-plugin/plugin.json")] {
            let ran = run_plugin_command(
                &life,
                client.path(),
                &["validate", "--strict", path.to_str().unwrap()],
            );
            assert!(ran.stdout.contains("Validation passed"), "{ran}");
        }
    }
    let Some(client) = client_from_env("RUTTER_TEST_CLIENT") else { return };
    drop(run_plugin_command(&life, client.path(), &["marketplace", "add", &plugin]));
    drop(run_plugin_command(&life, client.path(), &["install", "rutter@rutter"]));
    let record = failing_session(&mut life, |_| {});
    assert_hooks_ran(&life, &record, "installed");
    // With rutter in the user's settings too, the greeting still appears once.
    drop(life.rutter(&["init", "--user", "--bin", RUTTER_BIN]).assert_success());
    let record = failing_session(&mut life, |_| {});
    assert_hooks_ran(&life, &record, "installed, and in the user's settings");

    drop(life.rutter(&["uninstall", "--user"]).assert_success());
    drop(run_plugin_command(&life, client.path(), &["uninstall", "rutter@rutter"]));
    drop(run_plugin_command(&life, client.path(), &["marketplace", "remove", "rutter"]));
    drop(life.rutter(&["uninstall", "--plugin", &plugin]).assert_success());
    assert!(!folder.exists());
    let record = failing_session(&mut life, |_| {});
    assert_eq!(hook_texts_of_event(&record, ""), [] as [String; 0]);
    // The client leaves its settings file behind.
    let user = life.home.join(".claude/settings.json");
    let left = read_settings(&life);
    assert!(!String::from_utf8_lossy(&left[&user]).contains("hooks"));
    assert!(left.iter().filter(|(path, _)| **path != user).eq(&before));
}

/// Runs a `plugin` command of the client in the home directory of this user.
fn run_plugin_command(life: &LiveProject, client: &Path, args: &[&str]) -> CommandOutput {
    let mut command = Command::new(client);
    command.arg("plugin").args(args).env_clear().env("HOME", &life.home);
    command.envs([("PATH", "/usr/bin:/bin"), ("IS_SANDBOX", "1"), ("DISABLE_TELEMETRY", "1")]);
    command.envs([("DISABLE_AUTOUPDATER", "1"), ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")]);
    CommandOutput::run(command.current_dir(&life.project)).assert_success()
}

#[test]
fn shared_hooks_run_once_or_silently() {
    let Some(mut life) = live_project() else { return };
    drop(life.rutter(&["init", "--project"]).assert_success());
    drop(life.rutter(&["init", "--user", "--bin", RUTTER_BIN]).assert_success());
    let record = failing_session(&mut life, |_| {});
    assert_hooks_ran(&life, &record, "user and project");
    drop(life.rutter(&["uninstall", "--user"]).assert_success());

    // A teammate without rutter. A megabyte of unread payload does not matter either.
    let new = life.project.join("new.txt");
    let long = "all work and no play\n".repeat(50_000);
    let write = ModelTurn::call("Write", json!({ "file_path": new, "content": long }));
    let record = life.session_with(ModelScript::new([write]), |sandbox| {
        sandbox.env("PATH", "/usr/bin:/bin");
    });
    assert_eq!(fs::read_to_string(&new).unwrap(), long, "{}", record.stdout);
    assert_eq!(hook_texts_of_event(&record, ""), [] as [String; 0]);
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
