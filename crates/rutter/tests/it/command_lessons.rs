//! Commands that failed, and what worked instead, through the binary.

use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::hook::assert_silent;
use crate::support::{TestHome, contains_text, lock_database, read_all_bytes};

pub(crate) const SIGNING: &str = "error: gpg failed to sign the data:\ngpg: signing failed: No pinentry\n\n\
                       fatal: failed to write commit object";

impl TestHome {
    /// Reports a failed command, and returns what the hook said.
    pub(crate) fn fail(
        &self,
        session: &str,
        command: &str,
        exit: i32,
        output: &str,
    ) -> CommandOutput {
        let fields = json!({
            "tool_name": "Bash", "tool_input": { "command": command },
            "error": format!("Exit code {exit}\n{output}"),
        });
        self.hook(&self.event(session, "PostToolUseFailure", &fields))
    }

    pub(crate) fn succeed(&self, session: &str, command: &str) {
        let fields = json!({
            "tool_name": "Bash", "tool_input": { "command": command },
            "tool_response": { "stdout": "", "stderr": "", "interrupted": false },
        });
        assert_silent(&self.hook(&self.event(session, "PostToolUse", &fields)));
    }

    fn command_rows(&self) -> Vec<Value> {
        let rows = self.json(&["episodes", "list", "--commands"]);
        rows.as_array().expect("a list").clone()
    }
}

fn context(said: &CommandOutput) -> String {
    if said.stdout.is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(&said.stdout).expect("an answer");
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn variant_is_shown_in_other_session() {
    let home = TestHome::new();
    home.ok(&["maintain"]);
    assert_silent(&home.fail("one", "git add . && git commit -m 'Add the cart'", 128, SIGNING));
    home.succeed("one", "git status");
    home.succeed("one", "git -c commit.gpgsign=false commit -m 'Add the cart'");
    // The agent of this session knows it.
    assert_silent(&home.fail("one", "git commit -m 'Add a test'", 128, SIGNING));
    home.succeed("one", "git -c commit.gpgsign=false commit -m 'Add a test'");

    let said = context(&home.fail("two", "git commit -m 'Fix the sum'", 128, SIGNING));
    insta::assert_snapshot!(said, @"Recorded data: `git commit` failed here before with `error: gpg failed to sign the data:` (2 times, last just now). It worked with `-c commit.gpgsign=false`: `git -c commit.gpgsign=false commit -m …`.");
    assert_silent(&home.fail("two", "git commit -m 'Fix the sum'", 128, SIGNING));
    home.succeed("two", "git -c commit.gpgsign=false commit -m 'Fix the sum'");
    let rows = home.command_rows();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["state"] == "worked"), "{rows:?}");
    let shown = home.json(&["injections"]);
    assert_eq!(shown[0]["effect"], "helped", "{shown}");
    assert_eq!(shown[0]["text"], "git commit: error: gpg failed to sign the data:", "{shown}");
}

#[test]
fn exploration_leaves_nothing() {
    let home = TestHome::new();
    home.ok(&["maintain"]);
    for (command, exit, output) in [
        ("grep -rn total src", 1, ""),
        ("ls missing", 2, "ls: cannot access 'missing': No such file or directory"),
        ("cat shop/kart.py", 1, "cat: shop/kart.py: No such file or directory"),
        ("test -f a.txt", 1, ""),
        ("which ruff", 1, "ruff not found"),
        ("diff a b", 1, "1c1"),
        ("curl -sf http://localhost:1/health", 7, ""),
        ("kill 4242", 1, "kill: (4242) - No such process"),
        ("find nowhere -name x", 1, "find: 'nowhere': No such file or directory"),
        ("sleep 100", 143, "Command timed out after 2s"),
    ] {
        assert_silent(&home.fail("one", command, exit, output));
        home.succeed("one", &format!("{} .", command.split(' ').next().expect("a program")));
        assert_silent(&home.fail("two", command, exit, output));
    }
    assert_eq!(home.command_rows(), Vec::<Value>::new());
    assert!(
        !home.memory().join("snapshots").read_dir().is_ok_and(|mut files| files.next().is_some())
    );
}

#[test]
fn unclear_difference_teaches_nothing() {
    let home = TestHome::new();
    home.ok(&["maintain"]);
    let rejected = "error: hook declined: lint failed";
    assert_silent(&home.fail("one", "git commit -m a", 1, rejected));
    home.succeed("one", "git commit --no-verify -m a");
    assert_silent(&home.fail("two", "git commit -m b", 1, rejected));
}

#[test]
fn locked_database_loses_nothing() {
    let home = TestHome::new();
    home.ok(&["maintain"]);
    let mut lock = lock_database(&home.memory().join("rutter.db"), "normal");
    assert_silent(&home.fail("one", "git commit -m a", 128, SIGNING));
    home.succeed("one", "git commit --no-gpg-sign -m a");
    lock.kill().expect("it runs");
    lock.wait().expect("it ends");
    home.wait_for_housekeeping();
    home.ok(&["maintain"]);
    assert_eq!(home.command_rows()[0]["state"], "worked");
    let said = context(&home.fail("two", "git commit -m b", 128, SIGNING));
    assert!(said.contains("with `--no-gpg-sign`"), "{said}");
}

#[test]
fn secrets_of_commands_are_masked() {
    let home = TestHome::new();
    home.ok(&["maintain"]);
    let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let command = format!("deploy push --token {token} --fast");
    assert_silent(&home.fail("one", &command, 1, &format!("unknown flag: --fast ({token})")));
    home.succeed("one", &format!("deploy push --token {token}"));
    assert_eq!(home.command_rows()[0]["state"], "worked");
    assert!(!contains_text(&read_all_bytes(&home.memory()), token));
}

#[test]
fn run_that_did_not_begin_is_answered() {
    let home = TestHome::new();
    home.ok(&["maintain"]);
    let unknown = "error: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS] <COMMAND>";
    drop(home.fail("one", "rtk bun run test", 2, unknown));
    home.succeed("one", "bun run test");
    let said = context(&home.fail("two", "rtk bun run test 2>&1", 2, unknown));
    assert!(said.contains("without `rtk`: `bun run test`"), "{said}");
}
