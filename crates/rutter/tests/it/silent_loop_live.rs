use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use rutter_check::live::{ModelTurn, RunRecord};
use serde_json::Value;

use crate::live_support::{LiveProject, bash_turn, edit_turns, hook_texts};
use crate::support::{contains_text, lock_database, read_all_bytes};

const CART: &str = "def total(items):\n    return sum(items) * 0.9\n";
const CART_TEST: &str = "import unittest\nfrom cart import total\n\n\nclass Cart(unittest.TestCase):\n    \
    def test_total(self):\n        self.assertEqual(total([50, 50]), 100)\n\n    \
    def test_empty(self):\n        self.assertEqual(total([]), 0)\n";

/// A project with a failing test, the edit that fixes it, and the test command.
struct BuggyProject {
    files: &'static [(&'static str, &'static str)],
    /// File, wrong text and right text.
    edit: (&'static str, &'static str, &'static str),
    run: &'static str,
}

const UNITTEST: BuggyProject = BuggyProject {
    files: &[("cart.py", CART), ("test_cart.py", CART_TEST)],
    edit: ("cart.py", "sum(items) * 0.9", "sum(items)"),
    run: "python3 -m unittest",
};

const PYTEST: BuggyProject = BuggyProject { run: "python3 -m pytest -q", ..UNITTEST };

const CARGO: BuggyProject = BuggyProject {
    files: &[
        ("Cargo.toml", "[package]\nname = \"cart\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (
            "src/lib.rs",
            "pub fn total(items: &[u32]) -> u32 {\n    items.iter().sum::<u32>() * 9 / 10\n}\n\n\
             #[cfg(test)]\nmod tests {\n    #[test]\n    fn total() {\n        \
             assert_eq!(super::total(&[50, 50]), 100);\n    }\n}\n",
        ),
    ],
    edit: ("src/lib.rs", "items.iter().sum::<u32>() * 9 / 10", "items.iter().sum()"),
    run: "cargo test --offline",
};

const NODE: BuggyProject = BuggyProject {
    files: &[
        ("cart.js", "exports.total = (items) => items.reduce((a, b) => a + b, 0) * 0.9;\n"),
        (
            "cart.test.js",
            "const test = require('node:test');\nconst assert = require('node:assert');\n\
             const { total } = require('./cart.js');\n\n\
             test('the total is the sum', () => {\n  assert.strictEqual(total([50, 50]), 100);\n});\n",
        ),
    ],
    edit: ("cart.js", "a + b, 0) * 0.9", "a + b, 0)"),
    run: "node --test",
};

impl BuggyProject {
    /// Returns the turns of a fix: failing run, edit, passing run.
    fn fix_turns(&self, project: &Path) -> Vec<ModelTurn> {
        let (file, wrong, right) = self.edit;
        let mut turns = vec![bash_turn(self.run)];
        turns.extend(edit_turns(&project.join(file), wrong, right));
        turns.push(bash_turn(self.run));
        turns
    }

    /// Restores the bug between two sessions.
    fn restore_bug(&self, life: &LiveProject) {
        for (path, text) in self.files {
            life.write(path, text);
        }
    }
}

/// Fixes the bug in one session, restores it, and returns the text of the hook at the same failure in a second session.
fn play_both_sessions(bug: &BuggyProject) -> Option<String> {
    let mut life = LiveProject::new(bug.files)?;
    life.init();
    let project = life.project.clone();
    let first = life.session(bug.fix_turns(&project));
    assert_eq!(hook_texts(&first), [] as [String; 0], "nothing was known yet");
    let states: Vec<String> = life.episodes().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["fixed"], "{}", first.stdout);
    // The session has the process of the client and an end.
    let exported = life.rutter(&["export"]).assert_success().stdout;
    let session = exported.lines().find(|line| line.starts_with("{\"session\"")).unwrap();
    let session: Value = serde_json::from_str(session).unwrap();
    let session = &session["session"];
    assert!(session["ended"].is_string() && session["process"]["pid"].is_number(), "{session}");
    bug.restore_bug(&life);
    let mut turns = vec![bash_turn(bug.run)];
    turns.extend(bug.fix_turns(&project));
    let second = life.session(turns);
    let said = hook_texts(&second);
    assert_eq!(said.len(), 1, "{said:?}");
    // The text is in the request that has the result of the failing run.
    let mark = "this failure was fixed before";
    assert_eq!(second.reached_model(mark).unwrap().request, first_result_request(&second));
    // The injection was followed by a fix and is recorded as helpful.
    let shown = life.rutter(&["injections", "--json"]).assert_success().stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown[0]["kind"], &shown[0]["effect"]), (&"episode".into(), &"helped".into()));
    // The line of recent work at the start of the session has no recorded effect.
    assert_eq!((&shown[1]["brief"], &shown[1]["effect"]), (&true.into(), &Value::Null), "{shown}");
    assert_eq!(shown.as_array().unwrap().len(), 2, "{shown}");
    Some(said[0].clone())
}

/// Returns the index of the request with the result of the first tool call.
fn first_result_request(record: &RunRecord) -> usize {
    let has_result = |body: &Value| body["messages"].to_string().contains("tool_result");
    record.requests.iter().position(|request| has_result(&request.body)).unwrap()
}

/// Asserts that a text names the test as its runner does, and has these lines.
#[track_caller]
fn assert_mentions(said: &str, test: &str, lines: &[&str]) {
    assert!(said.contains(test), "{said}");
    for line in lines {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[test]
fn unittest_fix_is_injected() {
    if let Some(said) = play_both_sessions(&UNITTEST) {
        assert_mentions(
            &said,
            "`test_cart.Cart.test_total`: `AssertionError: 90.0 != 100`",
            &[
                "Fixed in `cart.py`:\n> @@ def total(items):\n> -return sum(items) * 0.9\n> +return sum(items)\nJust now. This change is not in the file now.",
            ],
        );
    }
}

#[test]
fn pytest_fix_is_injected() {
    if std::env::var_os("RUTTER_TEST_PYTHON").is_none() {
        return rutter_testkit::skip_test(
            "the story with pytest",
            "RUTTER_TEST_PYTHON is not set; scripts/test sets it",
        );
    }
    if let Some(said) = play_both_sessions(&PYTEST) {
        assert_mentions(
            &said,
            "test_cart.py::Cart::test_total",
            &["> -return sum(items) * 0.9\n> +return sum(items)\n"],
        );
    }
}

#[test]
fn cargo_test_fix_is_injected() {
    if let Some(said) = play_both_sessions(&CARGO) {
        assert_mentions(&said, "`tests::total`", &["in `src/lib.rs`:", "> +items.iter().sum()\n"]);
    }
}

#[test]
fn node_test_fix_is_injected() {
    if let Some(said) = play_both_sessions(&NODE) {
        assert_mentions(
            &said,
            "the total is the sum",
            &["in `cart.js`:", "> +exports.total = (items) => items.reduce((a, b) => a + b, 0);\n"],
        );
    }
}

/// Runs a session that fixes a failure, then one with the same failure, and returns the text of its hook.
fn text_on_repeat(life: &mut LiveProject, first: Vec<ModelTurn>, again: ModelTurn) -> String {
    let record = life.session(first);
    assert_eq!(hook_texts(&record), [] as [String; 0], "nothing was known yet");
    let states: Vec<String> = life.episodes().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["fixed"], "{}", record.stdout);
    UNITTEST.restore_bug(life);
    let said = hook_texts(&life.session([again]));
    assert_eq!(said.len(), 1, "{said:?}");
    said[0].clone()
}

const FIX_LINES: &str = "> -return sum(items) * 0.9\n> +return sum(items)\n";

#[test]
fn later_edits_keep_fix_visible() {
    let Some(mut life) = LiveProject::new(UNITTEST.files) else { return };
    life.init();
    let cart = format!(
        "__version__ = '1.2'\n\n\n{}",
        CART.replace(":\n", ":\n    \"\"\"Adds up.\"\"\"\n")
    );
    life.write("cart.py", &cart);
    let file = life.project.join("cart.py");
    let mut first = vec![bash_turn(UNITTEST.run)];
    first.extend(edit_turns(&file, "sum(items) * 0.9", "sum(items)"));
    first.extend(edit_turns(&file, "\"\"\"Adds up.\"\"\"", "\"\"\"Adds up all of it.\"\"\""));
    first.extend(edit_turns(&file, "'1.2'", "'1.3'"));
    first.push(bash_turn(UNITTEST.run));
    let said = text_on_repeat(&mut life, first, bash_turn(UNITTEST.run));
    assert!(
        said.contains(&format!("Fixed in `cart.py`:\n> @@ def total(items):\n{FIX_LINES}")),
        "{said}"
    );
    assert!(!said.contains("1.3") && !said.contains("all of it"), "{said}");
}

#[test]
fn runner_closes_task_failure() {
    let Some(mut life) = LiveProject::new(UNITTEST.files) else { return };
    life.init();
    let run = match std::env::var_os("RUTTER_TEST_PYTHON") {
        Some(_) => "python3 -m pytest -q",
        None => UNITTEST.run,
    };
    life.write("Makefile", &format!("test:\n\t{run}\n"));
    let mut first = vec![bash_turn("make test")];
    first.extend(edit_turns(&life.project.join("cart.py"), "sum(items) * 0.9", "sum(items)"));
    first.push(bash_turn(run));
    let said = text_on_repeat(&mut life, first, bash_turn("make test 2>&1 | tail -20"));
    assert!(said.contains(FIX_LINES) && !said.contains("make"), "{said}");
}

#[test]
fn command_fixes_are_diffed() {
    let Some(mut life) = LiveProject::new(UNITTEST.files) else { return };
    life.init();
    let script = "python3 - <<'EOF'\nfrom pathlib import Path\np = Path('cart.py')\n\
                  p.write_text(p.read_text().replace(' * 0.9', ''))\nEOF";
    let first = vec![bash_turn(UNITTEST.run), bash_turn(script), bash_turn(UNITTEST.run)];
    let said = text_on_repeat(&mut life, first, bash_turn(UNITTEST.run));
    assert!(said.contains(FIX_LINES) && !said.contains("python3 -"), "{said}");
    // The bug is back, and another command fixes it.
    life.session([bash_turn("sed -i 's/ . 0[.]9//g' *.py"), bash_turn(UNITTEST.run)]);
    assert!(life.episodes().iter().all(|(_, state)| state == "fixed"), "{:?}", life.episodes());
    UNITTEST.restore_bug(&life);
    let said = hook_texts(&life.session([bash_turn(UNITTEST.run)]));
    assert!(said[0].contains(FIX_LINES) && said[0].contains("fixed 2 times"), "{said:?}");
    assert_eq!(fs::read_dir(life.data_dir().join("snapshots")).unwrap().count(), 0);
}

#[test]
fn fixing_variables_are_reported() {
    let test = "import os\nimport unittest\n\n\nclass Clone(unittest.TestCase):\n    def test_clone(self):\n        \
                self.assertEqual(os.environ.get('GIT_CONFIG_GLOBAL'), '/dev/null')\n";
    let Some(mut life) = LiveProject::new(&[("test_clone.py", test)]) else { return };
    life.init();
    let run = "python3 -m unittest test_clone";
    let first = vec![bash_turn(run), bash_turn(&format!("GIT_CONFIG_GLOBAL=/dev/null {run}"))];
    let said = text_on_repeat(&mut life, first, bash_turn(run));
    assert!(said.contains("It passed when run with `GIT_CONFIG_GLOBAL=/dev/null`."), "{said}");
}

#[test]
fn other_failure_is_silent() {
    let Some(mut life) = LiveProject::new(UNITTEST.files) else { return };
    life.init();
    let project = life.project.clone();
    life.session(UNITTEST.fix_turns(&project));
    life.write("cart.py", "def total(items):\n    return sum(items) or None\n");
    let record = life.session([bash_turn(UNITTEST.run)]);
    assert!(record.reached_model("None != 0").is_some(), "the run failed in another way");
    assert_eq!(hook_texts(&record), [] as [String; 0]);
}

#[test]
fn hidden_exit_status_is_detected() {
    let Some(mut life) = LiveProject::new(UNITTEST.files) else { return };
    life.init();
    let project = life.project.clone();
    let notes = project.join("notes.txt");
    life.write("notes.txt", "one\n");
    let mut turns = vec![bash_turn("python3 -m unittest || true")];
    turns.extend(edit_turns(&notes, "one", "two"));
    turns.push(bash_turn("python3 -m unittest 2>&1 | tail -3"));
    turns.push(bash_turn("python3 -m unittest 2>&1 | head -1 || true"));
    turns.push(bash_turn("python3 -m unittest > /dev/null 2>&1; echo done"));
    life.session(turns);
    assert_eq!(life.episodes(), [("test_cart.Cart.test_total".to_owned(), "open".to_owned())]);
    // The fix is also found if the client itself sees no failure.
    life.session(UNITTEST.fix_turns(&project));
    UNITTEST.restore_bug(&life);
    let record = life.session([bash_turn("python3 -m unittest 2>&1 || true")]);
    assert_eq!(hook_texts(&record).len(), 1, "{:?}", hook_texts(&record));
}

#[test]
fn worktrees_share_fixes() {
    let Some(mut life) = LiveProject::new(UNITTEST.files) else { return };
    let git = |folder: &Path, args: &[&str]| {
        let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        let done =
            Command::new("git").args(identity).args(args).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let main = life.project.clone();
    git(&main, &["init", "-q"]);
    git(&main, &["add", "-A"]);
    git(&main, &["commit", "-q", "-m", "a"]);
    let tree = main.parent().unwrap().join("tree");
    git(&main, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    let other = main.parent().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    for (path, text) in UNITTEST.files {
        fs::write(other.join(path), text).unwrap();
    }
    life.init();
    let session = UNITTEST.fix_turns(&main);
    life.session(session);
    for (folder, expected) in [(&tree, 1), (&other, 0)] {
        life.project.clone_from(folder);
        life.init();
        let record = life.session([bash_turn(UNITTEST.run)]);
        assert_eq!(
            hook_texts(&record).len(),
            expected,
            "{}: {:?}",
            folder.display(),
            hook_texts(&record)
        );
    }
}

#[test]
fn printed_secrets_are_not_stored() {
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let test = CART_TEST.replace(
        "        self.assertEqual(total([50, 50]), 100)",
        &format!("        raise RuntimeError('the token {secret} was refused')"),
    );
    let Some(mut life) = LiveProject::new(&[("cart.py", CART), ("test_cart.py", &test)]) else {
        return;
    };
    life.init();
    let file = life.project.join("cart.py");
    let mut turns = vec![bash_turn("python3 -m unittest")];
    turns.extend(edit_turns(&file, "0.9", &format!("1 # {secret}")));
    turns.push(bash_turn(&format!("echo {secret} > /dev/null; python3 -m unittest")));
    let record = life.session(turns);
    assert!(record.reached_model(secret).is_some(), "the test has printed it");
    drop(life.rutter(&["maintain"]));
    let bytes = read_all_bytes(&life.data_dir());
    assert!(contains_text(&bytes, "was refused"), "the failure was followed");
    assert!(!contains_text(&bytes, secret));
}

/// Returns the requests to the model without the parts that differ in every run.
fn masked_requests(record: &RunRecord, root: &Path) -> Vec<String> {
    let root = root.to_str().unwrap();
    // The client names directories after paths.
    let name = root.replace(['/', '.'], "-");
    record
        .requests
        .iter()
        .map(|request| serde_json::to_string_pretty(&request.body).unwrap())
        .map(|text| mask_digits(&text.replace(root, "[ROOT]").replace(&name, "[NAME]")))
        .collect()
}

/// Replaces every word that has a digit by `#`: ids, times, durations.
fn mask_digits(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|sign: char| sign.is_ascii_alphanumeric()) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest
            .find(|sign: char| !(sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_')))
            .unwrap_or(rest.len());
        let word = &rest[..end];
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        out.push_str(if digits > 0 { "#" } else { word });
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Returns the turns of a session with every kind of tool call that rutter's hooks handle.
fn busy_turns(project: &Path) -> Vec<ModelTurn> {
    let mut turns = UNITTEST.fix_turns(project);
    turns.extend(edit_turns(&project.join("cart.py"), "sum(items)", "sum(items) * 0.9"));
    turns.push(bash_turn(UNITTEST.run));
    turns
}

#[test]
fn store_faults_do_not_change_session() {
    let Some(mut plain) = LiveProject::new(UNITTEST.files) else { return };
    // The same settings with another program.
    plain.init();
    let settings = plain.project.join(".claude/settings.local.json");
    let text = fs::read_to_string(&settings).unwrap();
    let nothing = text.replace(env!("CARGO_BIN_EXE_rutter"), "/bin/true");
    assert_ne!(text, nothing);
    fs::write(&settings, nothing).unwrap();
    let project = plain.project.clone();
    let record = plain.session(busy_turns(&project));
    let expected = masked_requests(&record, project.parent().unwrap());
    assert!(expected.len() > 7, "{}", record.stdout);

    for fault in ["missing", "locked", "corrupt", "unwritable", "newer"] {
        let mut life = LiveProject::new(UNITTEST.files).unwrap();
        if fault == "unwritable" {
            life.init();
            // Even root cannot create a directory here.
            life.memory = Some("/proc/nowhere".into());
        } else {
            life.init();
        }
        let database = life.data_dir().join("rutter.db");
        let mut holder = None;
        match fault {
            "missing" => fs::remove_dir_all(life.data_dir()).unwrap(),
            "corrupt" => fs::write(&database, "nothing of ours").unwrap(),
            "newer" => {
                let mut bytes = fs::read(&database).unwrap();
                bytes[60..64].copy_from_slice(&[0, 0, 0, 99]);
                fs::write(&database, bytes).unwrap();
            }
            "locked" => holder = Some(lock_database(&database, "NORMAL")),
            _ => {}
        }
        let project = life.project.clone();
        let record = life.session(busy_turns(&project));
        if let Some(mut holder) = holder {
            drop(holder.stdin.take());
            holder.wait().unwrap();
        }
        let requests = masked_requests(&record, project.parent().unwrap());
        assert_eq!(requests.len(), expected.len(), "{fault}");
        for (number, (ours, theirs)) in requests.iter().zip(&expected).enumerate() {
            let differs = ours.lines().zip(theirs.lines()).find(|(ours, theirs)| ours != theirs);
            assert!(ours == theirs, "{fault}: request {number}: {differs:?}");
        }
    }
}

#[test]
fn removed_fix_is_named_at_edit() {
    let Some(mut life) = LiveProject::new(UNITTEST.files) else { return };
    life.init();
    let project = life.project.clone();
    let first = life.session(UNITTEST.fix_turns(&project));
    assert_eq!(hook_texts(&first), [] as [String; 0], "nothing was known yet");
    let file = project.join("cart.py");
    let mut turns = edit_turns(&file, "sum(items)", "sum(items) * 0.9").to_vec();
    turns.extend(edit_turns(&file, "sum(items) * 0.9", "sum(items)"));
    turns.extend(edit_turns(&file, "sum(items)", "sum(items) * 0.9"));
    let second = life.session(turns);
    let said = hook_texts(&second);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("this edit removes lines of `cart.py` that fixed `test_total` (`AssertionError: 90.0 != 100`) just now; run that test again."),
        "{said:?}"
    );
    // With the result of the first edit, which was made.
    let told = second.reached_model("this edit removes lines").unwrap();
    assert_eq!(told.request, first_result_request(&second) + 1);
    assert!(fs::read_to_string(&file).unwrap().contains("* 0.9"));
}

#[test]
fn failing_command_is_named_before() {
    let script = "case $1 in --fast) echo \"error: unknown flag: --fast\" >&2; exit 2;; esac\n";
    let Some(mut life) = LiveProject::new(&[("deploy", &format!("#!/bin/sh\n{script}"))]) else {
        return;
    };
    life.init();
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(life.project.join("deploy"), mode).unwrap();
    for _ in 0..2 {
        life.session([bash_turn("./deploy --fast"), bash_turn("./deploy")]);
    }
    let third = life.session([bash_turn("./deploy --fast"), bash_turn("./deploy --fast")]);
    let said = hook_texts(&third);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("It worked without `--fast`: `deploy`."), "{said:?}");
    // With the result of the call that failed.
    let told = third.reached_model("It worked without").unwrap();
    assert_eq!(told.request, first_result_request(&third));
    let shown = life.rutter(&["injections", "--json"]).assert_success().stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown[0]["event"], "PreToolUse", "{shown}");
}
