use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::TestHome;

const INDEX: &str = "ship/.claude/memory/task-index.json";
const PLAN: &str = "# Plan

- Cart
  - [ ] Tests of the total (files `tests/test_cart.py`) (agent tester)
  - [ ] The total (after 1.1) (files src/**/*.py)
- [x] Readme
";

/// A project with the tasks of the plan.
fn planned_project() -> TestHome {
    let home = TestHome::new();
    fs::write(home.path("ship/plan.md"), PLAN).unwrap();
    let output = home.rutter(&["task", "import", "plan.md"]).assert_success();
    assert_eq!(output.stdout, "Wrote 4 tasks to .claude/memory/task-index.json.\n");
    home
}

fn write(home: &TestHome, path: &str, text: &str) {
    let path = home.path("ship").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs a command that is refused and returns its message.
#[track_caller]
fn refusal(home: &TestHome, args: &[&str]) -> String {
    let output = home.rutter(args);
    assert_eq!(output.exit, Some(1), "{output:?}");
    output.stderr
}

fn statuses(home: &TestHome) -> Vec<String> {
    let list = home.json(&["task", "list"]);
    let tasks = list["tasks"].as_array().unwrap().iter();
    tasks.map(|task| format!("{} {}", task["id"], task["status"]).replace('"', "")).collect()
}

#[test]
fn plan_is_worked_off() {
    let home = planned_project();
    assert_eq!(home.json(&["task", "next"])["task"]["id"], "1.1");
    let message = refusal(&home, &["task", "start", "1.2"]);
    assert!(message.contains("1.2 waits for 1.1 (pending)"), "{message}");
    let output = home.rutter(&["task", "start", "1.1"]).assert_success().stdout;
    assert!(output.contains("It must leave behind tests/test_cart.py."), "{output}");
    assert_eq!(statuses(&home), ["1 in-progress", "1.1 in-progress", "1.2 pending", "2 done"]);
    let message = refusal(&home, &["task", "done", "1.1"]);
    assert!(message.contains("`tests/test_cart.py` does not exist"), "{message}");
    write(&home, "tests/test_cart.py", "");
    let report = home.rutter(&["task", "done", "1.1", "--json"]);
    assert_eq!(report.exit, Some(1));
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let expected = json!([{ "path": "tests/test_cart.py", "reason": "empty" }]);
    assert_eq!(report["missing_deliverables"], expected);
    write(&home, "tests/test_cart.py", "def test_total(): pass\n");
    home.ok(&["task", "done", "1.1"]);
    assert_eq!(home.json(&["task", "next"])["task"]["id"], "1.2");
    home.ok(&["task", "start", "1.2"]);
    write(&home, "src/shop/cart.py", "x = 1\n");
    let changes = home.json(&["task", "done", "1.2", "--newer"]);
    assert_eq!(changes["changes"][1], json!({ "id": "1", "from": "in-progress", "to": "done" }));
    let output = home.rutter(&["task", "next"]).assert_success().stdout;
    assert_eq!(output, "No task can be started: 3 done.\n");
}

/// The original looked for deliverables below the folder in which the client happened to run.
#[test]
fn deliverables_are_relative_to_checkout() {
    let home = planned_project();
    home.ok(&["task", "start", "1.1"]);
    write(&home, "sub/tests/test_cart.py", "x\n");
    let git = std::process::Command::new("git")
        .args(["init", "-q"])
        .current_dir(home.path("ship"))
        .status();
    assert!(git.unwrap().success());
    let mut command = home.command(&["task", "done", "1.1"]);
    let output = command.current_dir(home.path("ship/sub")).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("`tests/test_cart.py` does not exist"), "{message}");
    write(&home, "tests/test_cart.py", "x\n");
    let mut command = home.command(&["task", "done", "1.1"]);
    assert!(command.current_dir(home.path("ship/sub")).status().unwrap().success());
}

#[test]
fn old_deliverables_do_not_count_with_newer() {
    let home = planned_project();
    write(&home, "tests/test_cart.py", "x\n");
    let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let file = fs::File::options().write(true).open(home.path("ship/tests/test_cart.py")).unwrap();
    file.set_modified(old).unwrap();
    home.ok(&["task", "start", "1.1"]);
    let message = refusal(&home, &["task", "done", "1.1", "--newer"]);
    assert!(message.contains("is older than the start of the task"), "{message}");
    home.ok(&["task", "done", "1.1"]);
}

#[test]
fn refusals_say_what_to_type() {
    let home = TestHome::new();
    let message = refusal(&home, &["task", "next"]);
    assert!(message.contains("run `rutter task import FILE`"), "{message}");
    let home = planned_project();
    for (args, expected) in [
        (&["start", "9"][..], "no task has the id 9; `rutter task list` lists them"),
        (&["show", "9"], "no task has the id 9"),
        (&["start", "1"], "1 has children, and its status follows from theirs: 1.1, 1.2"),
        (&["done", "1.1"], "1.1 is not in progress but pending; run `rutter task start 1.1` first"),
        (&["fail", "2"], "2 is done, and nothing but reopening it takes it back"),
        (&["start", "2", "--force"], "`rutter task start ID --reopen` does that"),
    ] {
        let message = refusal(&home, &[&["task"], args].concat());
        assert!(message.contains(expected), "{args:?}: {message}");
    }
    assert_eq!(statuses(&home)[3], "2 done");
    home.ok(&["task", "start", "2", "--reopen"]);
    home.ok(&["task", "start", "1.2", "--force"]);
    home.ok(&["task", "fail", "1.2"]);
    assert_eq!(statuses(&home), ["1 in-progress", "1.1 pending", "1.2 failed", "2 in-progress"]);
    let failed = home.json(&["task", "list", "--status", "failed"]);
    assert_eq!(failed["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn import_never_overwrites() {
    let home = planned_project();
    home.ok(&["task", "start", "1.1"]);
    let before = fs::read(home.path(INDEX)).unwrap();
    let message = refusal(&home, &["task", "import", "plan.md"]);
    assert!(message.contains("exists already and was not changed"), "{message}");
    assert_eq!(fs::read(home.path(INDEX)).unwrap(), before);
}

#[test]
fn json_lists_are_imported() {
    let home = TestHome::new();
    fs::write(home.path("ship/bad.json"), r#"[{"id":"1","dependencies":["2"]},{"id":"1"}]"#)
        .unwrap();
    let message = refusal(&home, &["task", "import", "bad.json"]);
    assert!(message.contains("1 depends on 2, which does not exist"), "{message}");
    assert!(!home.path(INDEX).exists());
    fs::write(home.path("ship/none.md"), "no list\n").unwrap();
    assert!(refusal(&home, &["task", "import", "none.md"]).contains("has no list item"));
    assert!(refusal(&home, &["task", "import", "gone.md"]).contains("cannot be read"));
    let text = r#"{"epic":{"z":1},"tasks":[{"id":"1"},{"id":"1.1","zeal":7,"status":"done"}]}"#;
    fs::write(home.path("ship/good.json"), text).unwrap();
    home.ok(&["task", "import", "good.json"]);
    assert_eq!(statuses(&home), ["1 done", "1.1 done"]);
    let written = fs::read_to_string(home.path(INDEX)).unwrap();
    assert!(written.starts_with(r#"{"epic":{"z":1},"tasks":[{"id":"1""#), "{written}");
    assert!(written.contains(r#""zeal":7"#), "{written}");
}

#[test]
fn contradictions_are_notes() {
    let home = planned_project();
    let text = fs::read_to_string(home.path(INDEX)).unwrap();
    let text =
        text.replace("\"id\": \"2\"", "\"id\": \"1.1\\u001b[31m\"").replace("\"1.1\"\n", "\"7\"\n");
    fs::write(home.path(INDEX), text).unwrap();
    let output = home.rutter(&["task", "list"]).assert_success();
    assert!(output.stderr.contains("note: 1.2 depends on 7, which does not exist"), "{output:?}");
    assert!(!output.stdout.contains('\u{1b}'), "{output:?}");
    let faults = home.json(&["task", "list"])["faults"].clone();
    assert_eq!(faults[0]["fault"], "unknown-dependency");
    fs::write(home.path(INDEX), "{").unwrap();
    assert!(refusal(&home, &["task", "start", "1.1"]).contains("is not JSON"));
    assert_eq!(fs::read(home.path(INDEX)).unwrap(), b"{");
}

#[test]
fn parallel_commands_lose_no_change() {
    let home = TestHome::new();
    let list = "- one of eight\n".repeat(8);
    fs::write(home.path("ship/plan.md"), list).unwrap();
    home.ok(&["task", "import", "plan.md"]);
    let start = |number: usize| {
        home.command(&["task", "start", &number.to_string()]).stdout(Stdio::null()).spawn()
    };
    let children: Vec<_> = (1..=8).map(|number| start(number).unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert!(statuses(&home).iter().all(|status| status.ends_with("in-progress")));
}

/// Kills writers at moments that are spread over the time that one takes. The index must be whole every time, and the lock
/// must not stay.
#[test]
fn killed_writer_leaves_whole_index() {
    const ROUNDS: u32 = 40;
    let home = TestHome::new();
    // Large enough that writing it takes a while.
    let list = format!("- {}\n", "x".repeat(200)).repeat(3_000);
    fs::write(home.path("ship/plan.md"), list).unwrap();
    home.ok(&["task", "import", "plan.md"]);
    let start = Instant::now();
    home.ok(&["task", "start", "6"]);
    let whole = start.elapsed();
    let mut killed = 0;
    for round in 0..ROUNDS {
        let action = if round % 2 == 0 { "start" } else { "fail" };
        let mut command = home.command(&["task", action, "7"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * round / ROUNDS);
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code().is_none());
        let index: Value = serde_json::from_slice(&fs::read(home.path(INDEX)).unwrap()).unwrap();
        assert_eq!(index["tasks"].as_array().unwrap().len(), 3_000, "round {round}");
    }
    assert!(killed > 5, "only {killed} writers were killed");
    home.ok(&["task", "start", "8"]);
    assert_eq!(home.json(&["task", "show", "8"])["status"], "in-progress");
}
