use std::fs;

use serde_json::json;

use crate::hook::assert_silent;
use crate::support::{TestHome, run_rutter_with_stdin};

/// Returns the real output of a test runner, from the fixtures of its parser.
fn runner_output(case: &str) -> Vec<u8> {
    let path = rutter_testkit::repository_root().join("crates/runs/fixtures/outcomes").join(case);
    let mut bytes = std::fs::read(path.with_extension("out")).unwrap();
    bytes.extend(std::fs::read(path.with_extension("err")).unwrap_or_default());
    bytes
}

#[test]
fn outcome_explains_verdict() {
    insta::assert_snapshot!(run_rutter_with_stdin(&["outcome", "--command", "cd api && uv run pytest -x", "--exit", "1"], &runner_output("pytest/fail")), @"
    exit 0
    --- stdout
    failed: pytest (test)
      because    it failed by its exit status and by its text
      counts     7 passed, 3 failed, 1 skipped
      failing    tests/test_shop.py::TestShop::test_empty
      failing    tests/test_shop.py::test_discount[10-90]
      failing    tests/test_shop.py::test_discount[50-50]
      signature  tests/test_shop.py::TestShop::test_empty | shop.Empty | no items in basket at # | shop.py
      took       40 ms
    ");
    insta::assert_snapshot!(run_rutter_with_stdin(&["outcome", "--command", "pytest | tail -20", "--exit", "0"], &runner_output("pytest/fail")), @"
    exit 0
    --- stdout
    failed: pytest (test)
      because    the exit status is hidden; its text says that it failed
      counts     7 passed, 3 failed, 1 skipped
      failing    tests/test_shop.py::TestShop::test_empty
      failing    tests/test_shop.py::test_discount[10-90]
      failing    tests/test_shop.py::test_discount[50-50]
      signature  tests/test_shop.py::TestShop::test_empty | shop.Empty | no items in basket at # | shop.py
      took       40 ms
    ");
    insta::assert_snapshot!(run_rutter_with_stdin(&["outcome", "--command", "cargo test || true", "--exit", "0"], b"Compiling x"), @"
    exit 0
    --- stdout
    unknown: cargo test (test)
      because    the exit status is hidden, and the text does not say
    ");
    insta::assert_snapshot!(run_rutter_with_stdin(&["outcome", "--command", "ls -la", "--exit", "0"], b""), @r#"
    exit 0
    --- stdout
    no outcome: no command in it is a run of tests, a build or a check that is waited for
    If it is a run, add it to the configuration (`rutter config path`):
      [hooks.outcome_capture]
      matchers = ["ls -la"]
    "#);
    insta::assert_snapshot!(run_rutter_with_stdin(&["outcome", "--command", "cargo test", "--exit", "143"], b""), @"
    exit 0
    --- stdout
    no outcome: a signal or a time-out ended it
    ");
    insta::assert_snapshot!(run_rutter_with_stdin(&["outcome", "--command", "go vet ./...", "--exit", "0", "--json"], b""), @r#"
    exit 0
    --- stdout
    {
      "outcome": {
        "kind": "lint",
        "runner": "go vet",
        "verdict": "passed",
        "counts": null,
        "failing": [],
        "signature": null,
        "exit": 0,
        "duration": null,
        "because": "it exited with 0"
      },
      "because": "it exited with 0",
      "outcomes": [
        {
          "kind": "lint",
          "runner": "go vet",
          "verdict": "passed",
          "counts": null,
          "failing": [],
          "signature": null,
          "exit": 0,
          "duration": null,
          "because": "it exited with 0"
        }
      ]
    }
    "#);
}

#[test]
fn every_run_is_printed() {
    let both = [runner_output("go-test/assertion"), runner_output("ruff/fail")].concat();
    let ran = run_rutter_with_stdin(
        &["outcome", "--command", "go test ./... | tail -5; ruff check . | tail", "--exit", "0"],
        &both,
    );
    insta::assert_snapshot!(ran, @"
    exit 0
    --- stdout
    failed: go test (test)
      because    the exit status is hidden; its text says that it failed
      failing    TestAdd/small
      failing    TestAdd/big_one
      signature  TestAdd/big_one |  | Add(#, #) = #, want # | ledger_test.go
      took       5 ms
    failed: ruff (lint)
      because    the exit status is hidden; its text says that it failed
      signature   | F401 | `os` imported but unused | a.py
    ");
}

#[test]
fn printed_advice_enables_recording() {
    let home = TestHome::new();
    let command = "platformio check --env \"a b\"";
    let advice =
        home.rutter(&["outcome", "--command", command, "--exit", "1"]).assert_success().stdout;
    assert!(advice.starts_with("no outcome: "), "{advice}");
    let (_, lines) = advice.split_once("(`rutter config path`):\n").unwrap();
    let fields = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "error": "Exit code 1\nsrc/main.c:3:1: error: x" });
    let payload = home.event("one", "PostToolUseFailure", &fields);
    home.ok(&["maintain"]);
    assert_silent(&home.hook(&payload));
    assert_eq!(home.json(&["status"])["runs"], json!([]));
    let status = home.rutter(&["status"]).assert_success().stdout;
    assert!(
        status.contains(
            "not run   `platformio check` looks like a run and is not followed (typed 1 time)\n"
        ),
        "{status}"
    );
    assert!(status.contains("`rutter outcome --command COMMAND` says what to add"), "{status}");
    // With the printed lines in the configuration, the command is recorded.
    let config = format!("{lines}  offer_ghap = false\n");
    fs::write(home.memory().join("config.toml"), config).unwrap();
    assert_silent(&home.hook(&payload));
    let runs = home.json(&["status"])["runs"].clone();
    assert_eq!(
        (&runs[0]["command"], &runs[0]["verdict"]),
        (&json!(command), &json!("failed")),
        "{runs}"
    );
}

#[test]
fn command_option_is_required() {
    assert_eq!(run_rutter_with_stdin(&["outcome"], b"").exit, Some(2));
}
