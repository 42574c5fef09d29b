use std::fs;
use std::process::Command;

use rutter_hooks::event_counts::read_event_counts;
use rutter_memory::Time;
use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::command_lessons::SIGNING;
use crate::hook::assert_silent;
use crate::support::{GHAP_START_ARGS, TestHome, read_tree};

const FIXED_LINE: &str = "    return sum(items)";
const BUGGY_LINE: &str = "    return sum(items) * 0.9";
const CART: &str = "def total(items):\n    return sum(items)\n\n\ndef tax(items):\n    return 0\n";

impl TestHome {
    /// Returns the payload of a tool call that is about to be made.
    fn before(&self, session: &str, tool: &str, input: &Value) -> Value {
        let fields = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_1" });
        self.event(session, "PreToolUse", &fields)
    }

    fn before_edit(&self, session: &str, old: &str, new: &str) -> Value {
        let file = self.path("ship").join("shop/cart.py");
        let input = json!({ "file_path": file, "old_string": old, "new_string": new, "replace_all": false });
        self.before(session, "Edit", &input)
    }

    fn before_read(&self, session: &str) -> Value {
        self.before(
            session,
            "Read",
            &json!({ "file_path": self.path("ship").join("shop/cart.py") }),
        )
    }

    fn before_command(&self, session: &str, command: &str) -> Value {
        self.before(session, "Bash", &json!({ "command": command }))
    }

    /// Plays a session that fixes a failure in `shop/cart.py`.
    fn play_fix(&self) {
        self.write_config(&[]);
        self.ok(&["maintain"]);
        self.write_cart(CART);
        for payload in [self.failing_run("one"), self.edit("one"), self.passing_run("one")] {
            assert_silent(&self.hook(&payload));
        }
        // Removes the fingerprint of the open failure.
        self.ok(&["maintain"]);
    }

    /// Plays two sessions in which a commit fails and works without its signature.
    fn play_failing_commits(&self) {
        self.write_config(&[]);
        self.ok(&["maintain"]);
        for session in ["one", "two"] {
            drop(self.fail(session, "git commit -m 'Add the cart'", 128, SIGNING));
            self.succeed(session, "git -c commit.gpgsign=false commit -m 'Add the cart'");
        }
    }

    fn write_cart(&self, text: &str) {
        let file = self.path("ship").join("shop/cart.py");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Returns the number of PreToolUse events that were counted: those that the fingerprint file did not end.
    fn counted_calls(&self) -> u64 {
        // With an earlier time, no count is too old.
        let counts = read_event_counts(&self.world.files(), Time::from_millis(0)).unwrap();
        let found = counts.iter().find(|count| count.event.as_str() == "PreToolUse");
        found.map_or(0, |count| count.times)
    }

    /// Makes a call that is counted, after which calls are decided by the fingerprint file.
    fn count_one_call(&self) {
        assert_silent(&self.hook(&self.before_read("other")));
    }

    fn damage_database(&self) {
        for end in ["-wal", "-shm"] {
            drop(fs::remove_file(self.memory().join(format!("rutter.db{end}"))));
        }
        fs::write(self.memory().join("rutter.db"), "this is not a database\n").unwrap();
    }

    fn log(&self) -> String {
        fs::read_to_string(self.memory().join("log/rutter.log")).unwrap_or_default()
    }
}

/// Returns the context in the output of a hook.
#[track_caller]
fn context_of(ran: &CommandOutput) -> String {
    let answer: Value = serde_json::from_str(&ran.stdout).expect(&ran.stdout);
    let answer = &answer["hookSpecificOutput"];
    assert_eq!(answer["hookEventName"], "PreToolUse");
    answer["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn removed_fix_is_named_once() {
    let home = TestHome::new();
    home.play_fix();
    let undo = |session: &str| home.before_edit(session, FIXED_LINE, BUGGY_LINE);
    // A part of the line is enough.
    let ran = home.hook(&home.before_edit("zero", "sum(items)", "sum(items) * 0.9"));
    assert!(context_of(&ran).contains("`test_total`"));
    // The agent that made the fix knows it.
    assert_silent(&home.hook(&undo("one")));
    assert_eq!(
        context_of(&home.hook(&undo("two"))),
        "Recorded data: this edit removes lines of `shop/cart.py` that fixed `test_total` (`AssertionError: 90.0 != 100`) just now; run that test again."
    );
    assert_silent(&home.hook(&undo("two")));
    // Another context.
    assert!(!home.hook(&undo("three")).stdout.is_empty());
    let shown = home.json(&["injections"]);
    let shown: Vec<_> =
        shown.as_array().unwrap().iter().map(|one| (&one["event"], &one["brief"])).collect();
    assert_eq!(shown, [(&json!("PreToolUse"), &json!(true)); 3]);
    // It is a reference: the whole fix is still shown when the test fails.
    let failed = home.hook(&home.failing_run("two")).stdout;
    assert!(failed.contains("this failure was fixed before"), "{failed}");
    // From then on nobody can say that these lines fix it.
    assert_silent(&home.hook(&undo("four")));
}

#[test]
fn whole_file_is_compared() {
    let home = TestHome::new();
    home.play_fix();
    let file = home.path("ship").join("shop/cart.py");
    let write = |session: &str, content: &str| {
        home.hook(&home.before(session, "Write", &json!({ "file_path": file, "content": content })))
    };
    assert_silent(&write("two", &CART.replace("return 0", "return 1")));
    assert!(
        context_of(&write("two", &CART.replace(FIXED_LINE, BUGGY_LINE))).contains("`test_total`")
    );
    let edits = json!([
        { "old_string": "return 0", "new_string": "return 1" },
        { "old_string": FIXED_LINE, "new_string": BUGGY_LINE },
    ]);
    let input = json!({ "file_path": file, "edits": edits });
    assert!(
        context_of(&home.hook(&home.before("three", "MultiEdit", &input))).contains("`test_total`")
    );
}

#[test]
fn other_edits_are_silent() {
    let home = TestHome::new();
    home.play_fix();
    for (old, new) in [
        // Other lines, a rewording, the same lines again, a text that is not in the file.
        ("    return 0", "    return 1"),
        (FIXED_LINE, "    return sum(item for item in items)"),
        (FIXED_LINE, "    check(items)\n    return sum(items)"),
        ("    return sum(items)\n    # end", BUGGY_LINE),
    ] {
        assert_silent(&home.hook(&home.before_edit("two", old, new)));
    }
    // The fix was taken out before.
    home.write_cart(&CART.replace(FIXED_LINE, BUGGY_LINE));
    assert_silent(&home.hook(&home.before_edit("two", FIXED_LINE, "    pass")));
    home.write_cart(CART);
    home.write_config(&[("action_hints", "enabled = false")]);
    assert_silent(&home.hook(&home.before_edit("two", FIXED_LINE, BUGGY_LINE)));
    assert_eq!(home.json(&["injections"]), json!([]));
    assert_eq!(home.log(), "");
}

#[test]
fn call_without_concern_touches_nothing() {
    let home = TestHome::new();
    home.play_fix();
    home.count_one_call();
    home.damage_database();
    let before = read_tree(&home.memory());
    for payload in [
        home.before_read("two"),
        home.before_command("two", "git status"),
        home.before(
            "two",
            "Edit",
            &json!({ "file_path": home.path("ship").join("other.py"), "old_string": "a", "new_string": "b" }),
        ),
        home.before(
            "two",
            "Write",
            &json!({ "file_path": home.path("ship").join("other.py"), "content": CART }),
        ),
        home.before("two", "Grep", &json!({ "pattern": "sum(items)" })),
    ] {
        assert_silent(&home.hook(&payload));
        assert!(read_tree(&home.memory()) == before, "{payload}");
    }
    // An edit of the file with the fix does open the database.
    assert_silent(&home.hook(&home.before_edit("two", FIXED_LINE, BUGGY_LINE)));
    assert!(read_tree(&home.memory()) != before);
}

#[test]
fn unusable_file_asks_database() {
    let home = TestHome::new();
    home.play_fix();
    home.count_one_call();
    let path = home.memory().join("fingerprints");
    let whole = fs::read(&path).unwrap();
    let mut other_version = whole.clone();
    other_version[4] += 1;
    let torn = whole[..whole.len() - 3].to_vec();
    for (number, bytes) in
        [Some(Vec::new()), Some(torn), Some(other_version), None].into_iter().enumerate()
    {
        match bytes {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let session = format!("session-{number}");
        let ran = home.hook(&home.before_edit(&session, FIXED_LINE, BUGGY_LINE));
        assert!(context_of(&ran).contains("`test_total`"));
        // Calls that concern nothing are handled in full as well.
        let counted = home.counted_calls();
        assert_silent(&home.hook(&home.before_read("two")));
        assert_eq!(home.counted_calls(), counted + 1);
    }
    home.ok(&["maintain"]);
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn check_ins_are_still_counted() {
    let home = TestHome::new();
    home.write_config(&[("ghap_checkin", "frequency = 2")]);
    home.ok(&["maintain"]);
    home.count_one_call();
    let mut start = home.command(GHAP_START_ARGS);
    drop(CommandOutput::run(start.env("CLAUDE_CODE_SESSION_ID", "two")).assert_success());
    assert_silent(&home.hook(&home.before_read("two")));
    assert!(context_of(&home.hook(&home.before_read("two"))).contains("check-in"));
    // Another session has no GHAP.
    let counted = home.counted_calls();
    assert_silent(&home.hook(&home.before_read("three")));
    assert_eq!(home.counted_calls(), counted);
}

#[test]
fn commands_are_watched_while_red() {
    let home = TestHome::new();
    home.write_config(&[]);
    home.ok(&["maintain"]);
    home.write_cart(&CART.replace(FIXED_LINE, BUGGY_LINE));
    home.count_one_call();
    let edit = || home.before_command("one", "sed -i 's/ * 0.9//' shop/cart.py");
    let copies = || fs::read_dir(home.memory().join("snapshots")).map_or(0, Iterator::count);
    assert_silent(&home.hook(&edit()));
    assert_eq!((copies(), home.counted_calls()), (0, 1), "nothing fails");
    assert_silent(&home.hook(&home.failing_run("one")));
    home.count_one_call();
    assert_silent(&home.hook(&edit()));
    assert_eq!(copies(), 1);
    fs::remove_dir_all(home.memory().join("snapshots")).unwrap();
    for payload in [home.edit("one"), home.passing_run("one")] {
        assert_silent(&home.hook(&payload));
    }
    // The first command finds that nothing fails any more, and removes the fingerprint.
    assert_silent(&home.hook(&edit()));
    home.count_one_call();
    let counted = home.counted_calls();
    assert_silent(&home.hook(&edit()));
    assert_eq!((copies(), home.counted_calls()), (0, counted));
}

#[test]
fn failing_command_is_named_once() {
    let home = TestHome::new();
    home.play_failing_commits();
    let commit = |session: &str| home.before_command(session, "git add . && git commit -m x");
    // The agent that found the variant knows it.
    assert_silent(&home.hook(&commit("two")));
    let said = context_of(&home.hook(&commit("three")));
    insta::assert_snapshot!(said, @"Recorded data: `git commit` failed here before with `error: gpg failed to sign the data:` (2 times, last just now). It worked with `-c commit.gpgsign=false`: `git -c commit.gpgsign=false commit -m …`.");
    assert_silent(&home.hook(&commit("three")));
    // Nor is it repeated after the failure.
    assert_silent(&home.fail("three", "git add . && git commit -m x", 128, SIGNING));
    home.succeed("three", "git -c commit.gpgsign=false commit -m x");
    let shown = home.json(&["injections"]);
    assert_eq!(shown.as_array().unwrap().len(), 2, "{shown}");
    assert_eq!((&shown[0]["event"], &shown[0]["brief"]), (&json!("PreToolUse"), &Value::Null));
    assert_eq!(shown[0]["effect"], "helped", "{shown}");
    home.write_config(&[("action_hints", "enabled = false")]);
    assert_silent(&home.hook(&commit("four")));
}

#[test]
fn one_failure_is_no_hint() {
    let home = TestHome::new();
    home.write_config(&[]);
    home.ok(&["maintain"]);
    assert_silent(&home.fail("one", "git commit -m a", 128, SIGNING));
    home.succeed("one", "git -c commit.gpgsign=false commit -m a");
    home.count_one_call();
    let counted = home.counted_calls();
    assert_silent(&home.hook(&home.before_command("two", "git commit -m a")));
    assert_eq!(home.counted_calls(), counted);
}

#[test]
fn other_command_touches_nothing() {
    let home = TestHome::new();
    home.play_failing_commits();
    home.count_one_call();
    home.damage_database();
    let before = read_tree(&home.memory());
    for command in [
        "git commit --amend -m x",
        "git -c commit.gpgsign=false commit -m x",
        "cd shop && git commit -m x",
    ] {
        assert_silent(&home.hook(&home.before_command("three", command)));
        assert!(read_tree(&home.memory()) == before, "{command}");
    }
    assert_silent(&home.hook(&home.before_command("three", "git commit -m x")));
    assert!(read_tree(&home.memory()) != before);
}

#[test]
fn other_success_opens_nothing() {
    let home = TestHome::new();
    home.write_config(&[]);
    home.ok(&["maintain"]);
    for session in ["one", "two"] {
        drop(home.fail(session, "gh pr diff 8 --stat", 1, "unknown flag: --stat"));
        home.succeed(session, "gh pr diff 8 --name-only");
    }
    home.damage_database();
    home.succeed("three", "gh pr diff 9 --name-only");
    assert_eq!(home.log(), "");
    home.succeed("three", "gh pr diff 9 --stat");
    assert_ne!(home.log(), "");
}

#[test]
fn other_project_has_no_hint() {
    let home = TestHome::new();
    home.play_failing_commits();
    let mut payload = home.before_command("three", "git commit -m x");
    payload["cwd"] = json!(home.world.project("boat"));
    assert_silent(&home.hook(&payload));
    assert!(!home.hook(&home.before_command("three", "git commit -m x")).stdout.is_empty());
}

#[test]
fn folder_of_command_counts() {
    let home = TestHome::new();
    let ship = home.path("ship");
    let init = Command::new("git").args(["init", "-q"]).current_dir(&ship).status().unwrap();
    assert!(init.success());
    home.play_failing_commits();
    let below = ship.join("shop");
    fs::create_dir_all(&below).unwrap();
    let before = |session: &str, command: &str| {
        let mut payload = home.before_command(session, command);
        payload["cwd"] = json!(below);
        home.hook(&payload).stdout
    };
    assert_eq!(before("three", "git commit -m x"), "");
    assert_ne!(before("three", &format!("cd {} && git commit -m x", ship.display())), "");
}

#[test]
fn success_ends_hint() {
    let home = TestHome::new();
    home.play_failing_commits();
    let commit = |session: &str| home.before_command(session, "git commit -m x");
    assert!(!home.hook(&commit("three")).stdout.is_empty());
    // This session has no failure that is followed.
    home.succeed("four", "git commit -m x");
    assert_silent(&home.hook(&commit("five")));
    // The hook has removed the fingerprint.
    home.count_one_call();
    let counted = home.counted_calls();
    assert_silent(&home.hook(&commit("five")));
    assert_eq!(home.counted_calls(), counted);
    // It must fail twice again.
    drop(home.fail("six", "git commit -m x", 128, SIGNING));
    home.succeed("six", "git -c commit.gpgsign=false commit -m x");
    assert_silent(&home.hook(&commit("seven")));
    drop(home.fail("eight", "git commit -m x", 128, SIGNING));
    home.succeed("eight", "git -c commit.gpgsign=false commit -m x");
    assert!(!home.hook(&commit("nine")).stdout.is_empty());
}
