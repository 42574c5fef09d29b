use std::fs;
use std::path::Path;
use std::process::Command;

use rutter_check::live::{Record, Turn};
use serde_json::Value;

use crate::live::{Life, bash, edit, told};
use crate::support::{bytes_below, hold, holds};

const CART: &str = "def total(items):\n    return sum(items) * 0.9\n";
const CART_TEST: &str = "import unittest\nfrom cart import total\n\n\nclass Cart(unittest.TestCase):\n    \
    def test_total(self):\n        self.assertEqual(total([50, 50]), 100)\n\n    \
    def test_empty(self):\n        self.assertEqual(total([]), 0)\n";

/// A project with a failing test, the edit that fixes it, and the test command.
struct Bug {
    files: &'static [(&'static str, &'static str)],
    /// File, wrong text and right text.
    edit: (&'static str, &'static str, &'static str),
    run: &'static str,
}

const UNITTEST: Bug = Bug {
    files: &[("cart.py", CART), ("test_cart.py", CART_TEST)],
    edit: ("cart.py", "sum(items) * 0.9", "sum(items)"),
    run: "python3 -m unittest",
};

const PYTEST: Bug = Bug { run: "python3 -m pytest -q", ..UNITTEST };

const CARGO: Bug = Bug {
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

const NODE: Bug = Bug {
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

impl Bug {
    /// Returns the turns of a fix: failing run, edit, passing run.
    fn mending(&self, project: &Path) -> Vec<Turn> {
        let (file, wrong, right) = self.edit;
        let mut turns = vec![bash(self.run)];
        turns.extend(edit(&project.join(file), wrong, right));
        turns.push(bash(self.run));
        turns
    }

    /// Restores the bug between two sessions.
    fn come_back(&self, life: &Life) {
        for (path, text) in self.files {
            life.put(path, text);
        }
    }
}

/// Fixes the bug in one session, restores it, and returns the text of the hook at the same failure in a second session.
fn story(bug: &Bug) -> Option<String> {
    let mut life = Life::new(bug.files)?;
    life.init();
    let project = life.project.clone();
    let first = life.session(bug.mending(&project));
    assert_eq!(told(&first), [] as [String; 0], "nothing was known yet");
    let states: Vec<String> = life.episodes().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["fixed"], "{}", first.stdout);
    // The session has the process of the client and an end.
    let exported = life.rutter(&["export"]).success().stdout;
    let session = exported.lines().find(|line| line.starts_with("{\"session\"")).unwrap();
    let session: Value = serde_json::from_str(session).unwrap();
    let session = &session["session"];
    assert!(session["ended"].is_string() && session["process"]["pid"].is_number(), "{session}");
    bug.come_back(&life);
    let mut turns = vec![bash(bug.run)];
    turns.extend(bug.mending(&project));
    let second = life.session(turns);
    let said = told(&second);
    assert_eq!(said.len(), 1, "{said:?}");
    // The text is in the request that has the result of the failing run.
    let mark = "this failure was fixed before";
    assert_eq!(second.reached_model(mark).unwrap().request, first_result(&second));
    // The injection was followed by a fix and is recorded as helpful.
    let shown = life.rutter(&["injections", "--json"]).success().stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown[0]["kind"], &shown[0]["effect"]), (&"episode".into(), &"helped".into()));
    // The line of recent work at the start of the session has no recorded effect.
    assert_eq!((&shown[1]["brief"], &shown[1]["effect"]), (&true.into(), &Value::Null), "{shown}");
    assert_eq!(shown.as_array().unwrap().len(), 2, "{shown}");
    Some(said[0].clone())
}

/// Returns the index of the request with the result of the first tool call.
fn first_result(record: &Record) -> usize {
    let has_result = |body: &Value| body["messages"].to_string().contains("tool_result");
    record.requests.iter().position(|request| has_result(&request.body)).unwrap()
}

/// Asserts that a text names the test as its runner does, and has these lines.
#[track_caller]
fn tells(said: &str, test: &str, lines: &[&str]) {
    assert!(said.contains(test), "{said}");
    for line in lines {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[test]
fn with_unittest() {
    if let Some(said) = story(&UNITTEST) {
        tells(
            &said,
            "`test_cart.Cart.test_total`: `AssertionError: 90.0 != 100`",
            &[
                "Fixed in `cart.py`:\n> @@ def total(items):\n> -return sum(items) * 0.9\n> +return sum(items)\nJust now. This change is not in the file now.",
            ],
        );
    }
}

#[test]
fn with_pytest() {
    if std::env::var_os("RUTTER_TEST_PYTHON").is_none() {
        return rutter_testkit::skip(
            "the story with pytest",
            "RUTTER_TEST_PYTHON is not set; scripts/test sets it",
        );
    }
    if let Some(said) = story(&PYTEST) {
        tells(
            &said,
            "test_cart.py::Cart::test_total",
            &["> -return sum(items) * 0.9\n> +return sum(items)\n"],
        );
    }
}

#[test]
fn with_cargo_test() {
    if let Some(said) = story(&CARGO) {
        tells(&said, "`tests::total`", &["in `src/lib.rs`:", "> +items.iter().sum()\n"]);
    }
}

#[test]
fn with_node_test() {
    if let Some(said) = story(&NODE) {
        tells(
            &said,
            "the total is the sum",
            &["in `cart.js`:", "> +exports.total = (items) => items.reduce((a, b) => a + b, 0);\n"],
        );
    }
}

/// Runs a session that fixes a failure, then one with the same failure, and returns the text of its hook.
fn told_again(life: &mut Life, first: Vec<Turn>, again: Turn) -> String {
    let record = life.session(first);
    assert_eq!(told(&record), [] as [String; 0], "nothing was known yet");
    let states: Vec<String> = life.episodes().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["fixed"], "{}", record.stdout);
    UNITTEST.come_back(life);
    let said = told(&life.session([again]));
    assert_eq!(said.len(), 1, "{said:?}");
    said[0].clone()
}

const MENDED: &str = "> -return sum(items) * 0.9\n> +return sum(items)\n";

#[test]
fn later_edits_do_not_hide_the_fix() {
    let Some(mut life) = Life::new(UNITTEST.files) else { return };
    life.init();
    let cart = format!(
        "__version__ = '1.2'\n\n\n{}",
        CART.replace(":\n", ":\n    \"\"\"Adds up.\"\"\"\n")
    );
    life.put("cart.py", &cart);
    let file = life.project.join("cart.py");
    let mut first = vec![bash(UNITTEST.run)];
    first.extend(edit(&file, "sum(items) * 0.9", "sum(items)"));
    first.extend(edit(&file, "\"\"\"Adds up.\"\"\"", "\"\"\"Adds up all of it.\"\"\""));
    first.extend(edit(&file, "'1.2'", "'1.3'"));
    first.push(bash(UNITTEST.run));
    let said = told_again(&mut life, first, bash(UNITTEST.run));
    assert!(
        said.contains(&format!("Fixed in `cart.py`:\n> @@ def total(items):\n{MENDED}")),
        "{said}"
    );
    assert!(!said.contains("1.3") && !said.contains("all of it"), "{said}");
}

#[test]
fn task_is_closed_by_its_runner() {
    let Some(mut life) = Life::new(UNITTEST.files) else { return };
    life.init();
    let run = match std::env::var_os("RUTTER_TEST_PYTHON") {
        Some(_) => "python3 -m pytest -q",
        None => UNITTEST.run,
    };
    life.put("Makefile", &format!("test:\n\t{run}\n"));
    let mut first = vec![bash("make test")];
    first.extend(edit(&life.project.join("cart.py"), "sum(items) * 0.9", "sum(items)"));
    first.push(bash(run));
    let said = told_again(&mut life, first, bash("make test 2>&1 | tail -20"));
    assert!(said.contains(MENDED) && !said.contains("make"), "{said}");
}

#[test]
fn fixes_by_commands_are_their_diff() {
    let Some(mut life) = Life::new(UNITTEST.files) else { return };
    life.init();
    let script = "python3 - <<'EOF'\nfrom pathlib import Path\np = Path('cart.py')\n\
                  p.write_text(p.read_text().replace(' * 0.9', ''))\nEOF";
    let first = vec![bash(UNITTEST.run), bash(script), bash(UNITTEST.run)];
    let said = told_again(&mut life, first, bash(UNITTEST.run));
    assert!(said.contains(MENDED) && !said.contains("python3 -"), "{said}");
    // The bug is back, and another command fixes it.
    life.session([bash("sed -i 's/ . 0[.]9//g' *.py"), bash(UNITTEST.run)]);
    assert!(life.episodes().iter().all(|(_, state)| state == "fixed"), "{:?}", life.episodes());
    UNITTEST.come_back(&life);
    let said = told(&life.session([bash(UNITTEST.run)]));
    assert!(said[0].contains(MENDED) && said[0].contains("fixed 2 times"), "{said:?}");
    assert_eq!(fs::read_dir(life.data().join("snapshots")).unwrap().count(), 0);
}

#[test]
fn variables_that_made_it_pass_are_told() {
    let test = "import os\nimport unittest\n\n\nclass Clone(unittest.TestCase):\n    def test_clone(self):\n        \
                self.assertEqual(os.environ.get('GIT_CONFIG_GLOBAL'), '/dev/null')\n";
    let Some(mut life) = Life::new(&[("test_clone.py", test)]) else { return };
    life.init();
    let run = "python3 -m unittest test_clone";
    let first = vec![bash(run), bash(&format!("GIT_CONFIG_GLOBAL=/dev/null {run}"))];
    let said = told_again(&mut life, first, bash(run));
    assert!(said.contains("It passed when run with `GIT_CONFIG_GLOBAL=/dev/null`."), "{said}");
}

#[test]
fn another_failure_brings_nothing() {
    let Some(mut life) = Life::new(UNITTEST.files) else { return };
    life.init();
    let project = life.project.clone();
    life.session(UNITTEST.mending(&project));
    life.put("cart.py", "def total(items):\n    return sum(items) or None\n");
    let record = life.session([bash(UNITTEST.run)]);
    assert!(record.reached_model("None != 0").is_some(), "the run failed in another way");
    assert_eq!(told(&record), [] as [String; 0]);
}

#[test]
fn what_hides_the_exit_status_fools_nobody() {
    let Some(mut life) = Life::new(UNITTEST.files) else { return };
    life.init();
    let project = life.project.clone();
    let notes = project.join("notes.txt");
    life.put("notes.txt", "one\n");
    let mut turns = vec![bash("python3 -m unittest || true")];
    turns.extend(edit(&notes, "one", "two"));
    turns.push(bash("python3 -m unittest 2>&1 | tail -3"));
    turns.push(bash("python3 -m unittest 2>&1 | head -1 || true"));
    turns.push(bash("python3 -m unittest > /dev/null 2>&1; echo done"));
    life.session(turns);
    assert_eq!(life.episodes(), [("test_cart.Cart.test_total".to_owned(), "open".to_owned())]);
    // The fix is also found if the client itself sees no failure.
    life.session(UNITTEST.mending(&project));
    UNITTEST.come_back(&life);
    let record = life.session([bash("python3 -m unittest 2>&1 || true")]);
    assert_eq!(told(&record).len(), 1, "{:?}", told(&record));
}

#[test]
fn worktrees_share_and_projects_do_not() {
    let Some(mut life) = Life::new(UNITTEST.files) else { return };
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
    let session = UNITTEST.mending(&main);
    life.session(session);
    for (folder, expected) in [(&tree, 1), (&other, 0)] {
        life.project.clone_from(folder);
        life.init();
        let record = life.session([bash(UNITTEST.run)]);
        assert_eq!(told(&record).len(), expected, "{}: {:?}", folder.display(), told(&record));
    }
}

#[test]
fn secrets_that_a_test_prints_are_not_kept() {
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let test = CART_TEST.replace(
        "        self.assertEqual(total([50, 50]), 100)",
        &format!("        raise RuntimeError('the token {secret} was refused')"),
    );
    let Some(mut life) = Life::new(&[("cart.py", CART), ("test_cart.py", &test)]) else { return };
    life.init();
    let file = life.project.join("cart.py");
    let mut turns = vec![bash("python3 -m unittest")];
    turns.extend(edit(&file, "0.9", &format!("1 # {secret}")));
    turns.push(bash(&format!("echo {secret} > /dev/null; python3 -m unittest")));
    let record = life.session(turns);
    assert!(record.reached_model(secret).is_some(), "the test has printed it");
    drop(life.rutter(&["tend"]));
    let bytes = bytes_below(&life.data());
    assert!(holds(&bytes, "was refused"), "the failure was followed");
    assert!(!holds(&bytes, secret));
}

/// Returns the requests to the model without the parts that differ in every run.
fn requests(record: &Record, root: &Path) -> Vec<String> {
    let root = root.to_str().unwrap();
    // The client names directories after paths.
    let name = root.replace(['/', '.'], "-");
    record
        .requests
        .iter()
        .map(|request| serde_json::to_string_pretty(&request.body).unwrap())
        .map(|text| masked(&text.replace(root, "[ROOT]").replace(&name, "[NAME]")))
        .collect()
}

/// Replaces every word that has a digit by `#`: ids, times, durations.
fn masked(text: &str) -> String {
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
fn busy(project: &Path) -> Vec<Turn> {
    let mut turns = UNITTEST.mending(project);
    turns.extend(edit(&project.join("cart.py"), "sum(items)", "sum(items) * 0.9"));
    turns.push(bash(UNITTEST.run));
    turns
}

#[test]
fn whatever_is_wrong_with_the_memory_the_session_is_as_if_there_were_no_hooks() {
    let Some(mut plain) = Life::new(UNITTEST.files) else { return };
    // The same settings with another program.
    plain.init();
    let settings = plain.project.join(".claude/settings.local.json");
    let text = fs::read_to_string(&settings).unwrap();
    let nothing = text.replace(env!("CARGO_BIN_EXE_rutter"), "/bin/true");
    assert_ne!(text, nothing);
    fs::write(&settings, nothing).unwrap();
    let project = plain.project.clone();
    let record = plain.session(busy(&project));
    let expected = requests(&record, project.parent().unwrap());
    assert!(expected.len() > 7, "{}", record.stdout);

    for fault in ["missing", "locked", "corrupt", "unwritable", "newer"] {
        let mut life = Life::new(UNITTEST.files).unwrap();
        if fault == "unwritable" {
            life.init();
            // Even root cannot create a directory here.
            life.memory = Some("/proc/nowhere".into());
        } else {
            life.init();
        }
        let database = life.data().join("rutter.db");
        let mut holder = None;
        match fault {
            "missing" => fs::remove_dir_all(life.data()).unwrap(),
            "corrupt" => fs::write(&database, "nothing of ours").unwrap(),
            "newer" => {
                let mut bytes = fs::read(&database).unwrap();
                bytes[60..64].copy_from_slice(&[0, 0, 0, 99]);
                fs::write(&database, bytes).unwrap();
            }
            "locked" => holder = Some(hold(&database, "NORMAL")),
            _ => {}
        }
        let project = life.project.clone();
        let record = life.session(busy(&project));
        if let Some(mut holder) = holder {
            drop(holder.stdin.take());
            holder.wait().unwrap();
        }
        let requests = requests(&record, project.parent().unwrap());
        assert_eq!(requests.len(), expected.len(), "{fault}");
        for (number, (ours, theirs)) in requests.iter().zip(&expected).enumerate() {
            let differs = ours.lines().zip(theirs.lines()).find(|(ours, theirs)| ours != theirs);
            assert!(ours == theirs, "{fault}: request {number}: {differs:?}");
        }
    }
}
