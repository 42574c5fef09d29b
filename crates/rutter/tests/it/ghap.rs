use crate::support::{GHAP_START_ARGS, TestHome, assert_output};

#[test]
fn ghap_life_across_processes() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(GHAP_START_ARGS), @"
    exit 0
    --- stdout
    [ID]     active, debugging by read-the-error, started [TIME]
      goal        CRLF files parse
      hypothesis  lines are split at LF alone
      action      use lines()
      prediction  `cargo test parser` passes
      expects     pass of `cargo test parser`
    ");
    assert_output!(home, home.rutter(&["ghap", "update", "--hypothesis", "the lexer splits too", "--confidence", "0.7", "--note", "seen in lexer.rs"]), @"
    exit 0
    --- stdout
    [ID]     active, debugging by read-the-error, started [TIME]
      goal        CRLF files parse
      hypothesis  the lexer splits too
      action      use lines()
      prediction  `cargo test parser` passes
      expects     pass of `cargo test parser`
      confidence  0.7
      before      lines are split at LF alone / use lines() / `cargo test parser` passes
      note        seen in lexer.rs
    ");
    assert_output!(home, home.rutter(&["ghap", "note", "two lines\nof remark"]), @"
    exit 0
    --- stdout
    [ID]     active, debugging by read-the-error, started [TIME]
      goal        CRLF files parse
      hypothesis  the lexer splits too
      action      use lines()
      prediction  `cargo test parser` passes
      expects     pass of `cargo test parser`
      confidence  0.7
      before      lines are split at LF alone / use lines() / `cargo test parser` passes
      note        seen in lexer.rs
      note        two lines
                  of remark
    ");
    assert_output!(home, home.rutter(&[
        "ghap", "resolve", "--status", "falsified", "--result", "still red", "--surprise", "the lexer splits first",
        "--root-cause-category", "wrong-scope", "--root-cause", "two places split lines", "--what-worked", "both",
        "--takeaway", "look for every split",
    ]), @"
    exit 0
    --- stdout
    [ID]     falsified, debugging by read-the-error, started [TIME]
      goal        CRLF files parse
      hypothesis  the lexer splits too
      action      use lines()
      prediction  `cargo test parser` passes
      expects     pass of `cargo test parser`
      confidence  0.7
      before      lines are split at LF alone / use lines() / `cargo test parser` passes
      note        seen in lexer.rs
      note        two lines
                  of remark
      result      still red
      surprise    the lexer splits first
      root cause  wrong-scope: two places split lines
      worked      both
      takeaway    look for every split
      tier        silver
    ");
    assert_output!(home, home.rutter(&["ghap", "list"]), @"
    exit 0
    --- stdout
    ID        STATUS     TIER    DOMAIN     STARTED                   GOAL
    [ID]      falsified  silver  debugging  [TIME]  CRLF files parse
    ");
}

#[test]
fn commands_need_active_ghap() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["ghap", "show"]), @"
    exit 1
    --- stderr
    error: no GHAP is active here; start one with `rutter ghap start`
    ");
    assert_output!(home, home.rutter(&["ghap", "list"]), @"
    exit 0
    --- stderr
    note: there are no GHAPs; `rutter ghap start` starts one
    ");
    assert_output!(home, home.rutter(&["ghap", "list", "--json"]), @"
    exit 0
    --- stdout
    []
    ");
    assert_output!(home, home.rutter(&["ghap", "resolve", "--status", "confirmed", "--result", "x"]), @"
    exit 1
    --- stderr
    error: no GHAP is active here; start one with `rutter ghap start`
    ");
    assert_output!(home, home.rutter(&["ghap", "abandon", "--reason", "x"]), @"
    exit 1
    --- stderr
    error: no GHAP is active here; start one with `rutter ghap start`
    ");
}

#[test]
fn invalid_values_get_advice() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["ghap", "start", "--domain", "dancing"]), @"
    exit 2
    --- stderr
    error: invalid value 'dancing' for '--domain <DOMAIN>'
      [possible values: debugging, refactoring, feature, testing, configuration, documentation, performance, security, integration]

      tip: a similar value exists: 'refactoring'

    For more information, try '--help'.
    ");
    assert_output!(home, home.rutter(&["ghap", "start", "--domain", "debugging", "--goal", "x"]), @"
    exit 2
    --- stderr
    error: missing: --strategy, --hypothesis, --action, --prediction; give these options, or run the command on a terminal, which asks for them
    ");
    assert_output!(home, home.rutter(&["ghap", "start", "--confidence", "very"]), @"
    exit 2
    --- stderr
    error: invalid value 'very' for '--confidence <NUMBER>': invalid float literal

    For more information, try '--help'.
    ");
    let long = "x".repeat(1_001);
    let mut args = GHAP_START_ARGS.to_vec();
    args[7] = &long;
    assert_output!(home, home.rutter(&args), @"
    exit 1
    --- stderr
    error: the goal has 1001 characters; at most 1000 are allowed, so shorten it
    ");
    args[7] = "";
    assert_output!(home, home.rutter(&args), @"
    exit 1
    --- stderr
    error: the goal is empty; say what it is
    ");
    home.start_ghap();
    assert_output!(home, home.rutter(GHAP_START_ARGS), @r#"
    exit 1
    --- stderr
    error: a GHAP is already active: [ID]     "CRLF files parse"; resolve or abandon it first
    "#);
    assert_output!(home, home.rutter(&["ghap", "update"]), @"
    exit 1
    --- stderr
    error: nothing to change; give an option such as `--hypothesis TEXT`
    ");
    assert_output!(home, home.rutter(&["ghap", "resolve", "--status", "falsified", "--result", "red"]), @"
    exit 2
    --- stderr
    error: missing: --surprise, --root-cause-category, --root-cause; give these options, or run the command on a terminal, which asks for them
    ");
    assert_output!(home, home.rutter(&["ghap", "resolve", "--status", "active", "--result", "red"]), @"
    exit 2
    --- stderr
    error: invalid value 'active' for '--status <STATUS>'
      [possible values: confirmed, falsified, abandoned]

    For more information, try '--help'.
    ");
    assert_output!(home, home.rutter(&["ghap", "resolve", "--status", "confirmed", "--result", "x", "--root-cause", "y"]), @"
    exit 2
    --- stderr
    error: --root-cause and --root-cause-category belong together; give both
    ");
    assert_output!(home, home.rutter(&["ghap", "resolve", "--status", "confirmed", "--result", "x", "--outcome", "deadbeef"]), @"
    exit 1
    --- stderr
    error: no outcome has an id that ends in [ID]
    ");
    assert_output!(home, home.rutter(&["ghap", "show", "deadbeef"]), @"
    exit 1
    --- stderr
    error: no GHAP has an id that ends in [ID]
    ");
    assert_output!(home, home.rutter(&["ghap", "show", "xyz"]), @"
    exit 2
    --- stderr
    error: invalid value 'xyz' for '[ID]': an id must be the last 4 to 32 hexadecimal digits of a full id, as the lists show it

    For more information, try '--help'.
    ");
    // None of these errors changed the store.
    assert_eq!(home.json(&["ghap", "show"])["status"], "active");
}

#[test]
fn ghap_json_has_every_field() {
    let home = TestHome::new();
    home.start_ghap();
    assert_output!(home, home.rutter(&["ghap", "show", "--json"]), @r#"
    exit 0
    --- stdout
    {
      "short": "[ID]    ",
      "orphaned": false,
      "origin": "person in [HOME]/ship",
      "id": "[UUID]",
      "project": "dir:[HOME]/ship",
      "session": "command-line:[UUID]",
      "agent": null,
      "domain": "debugging",
      "strategy": "read-the-error",
      "goal": "CRLF files parse",
      "hypothesis": "lines are split at LF alone",
      "action": "use lines()",
      "prediction": "`cargo test parser` passes",
      "expects": "pass",
      "target": "cargo test parser",
      "stated": {
        "expects": false,
        "target": false
      },
      "testable": true,
      "confidence": null,
      "predicted": "[TIME]",
      "revisions": [],
      "notes": [],
      "status": "active",
      "resolution": null,
      "created": "[TIME]",
      "changed": "[TIME]"
    }
    "#);
}

#[test]
fn each_session_has_own_ghap() {
    let home = TestHome::new();
    home.start_ghap();
    let in_session = |args: &[&str], session: &str| {
        rutter_testkit::CommandOutput::run(
            home.command(args).env("CLAUDE_CODE_SESSION_ID", session),
        )
    };
    assert_eq!(in_session(&["ghap", "show"], "s-1").exit, Some(1));
    let mut args = GHAP_START_ARGS.to_vec();
    args.push("--json");
    let started: serde_json::Value =
        serde_json::from_str(&in_session(&args, "s-1").assert_success().stdout).unwrap();
    assert_eq!(started["session"], "s-1");
    assert_eq!(in_session(&["ghap", "show"], "s-1").exit, Some(0));
    assert_eq!(home.json(&["ghap", "list"]).as_array().unwrap().len(), 2);
    // Another session cannot adopt it while its session is alive.
    let id = started["short"].as_str().unwrap();
    assert_output!(home, in_session(&["ghap", "adopt", id], "s-2"), @"
    exit 1
    --- stderr
    error: GHAP [ID]     belongs to a session that is still running
    ");
    assert_output!(home, home.rutter(&["ghap", "adopt"]), @"
    exit 1
    --- stderr
    error: this project has no orphaned GHAP; `rutter ghap list` lists all GHAPs
    ");
}

#[test]
fn ghaps_stay_in_their_project() {
    let home = TestHome::new();
    home.start_ghap();
    std::fs::create_dir(home.path("boat")).unwrap();
    let elsewhere = rutter_testkit::CommandOutput::run(
        home.command(&["ghap", "list", "--json"]).current_dir(home.path("boat")),
    );
    assert_eq!(elsewhere.stdout, "[]\n");
    let all = rutter_testkit::CommandOutput::run(
        home.command(&["ghap", "list", "--all"]).current_dir(home.path("boat")),
    );
    assert_eq!(all.stdout.lines().count(), 2, "{all}");
}

#[test]
fn lesson_can_be_edited() {
    let home = TestHome::new();
    let id = home.start_ghap()["short"].as_str().unwrap().to_owned();
    assert_output!(home, home.rutter(&["edit", &id, "--takeaway", "x"]), @"
    exit 1
    --- stderr
    error: GHAP [ID]     is still active; write its lesson with `rutter ghap resolve`
    ");
    home.ok(&[
        "ghap",
        "resolve",
        "--status",
        "confirmed",
        "--result",
        "green",
        "--what-worked",
        "lines()",
    ]);
    let ghap = home.json(&["edit", &id, "--takeaway", "look for every split"]);
    assert_eq!(ghap["resolution"]["lesson"]["takeaway"], "look for every split");
    assert_eq!(ghap["resolution"]["lesson"]["what_worked"], "lines()");
    let ghap = home.json(&[
        "edit",
        &id,
        "--applies-when",
        "a CR is left",
        "--applies-when",
        "a  CR is left!",
    ]);
    assert_eq!(ghap["resolution"]["applies_when"], serde_json::json!(["a CR is left"]));
    assert_eq!(ghap["resolution"]["lesson"]["takeaway"], "look for every split");
    assert_output!(home, home.rutter(&["edit", &id, "--takeaway", "x", "--text", "y"]), @"
    exit 2
    --- stderr
    error: the argument '--takeaway <TEXT>' cannot be used with '--text <TEXT>'

    Usage: rutter edit --takeaway <TEXT> <ID>

    For more information, try '--help'.
    ");
    assert_output!(home, home.rutter(&["edit", &id, "--text", "y"]), @"
    exit 1
    --- stderr
    error: no memory has an id that ends in [ID]
    ");
}

#[test]
fn errors_of_run_are_shown_apart() {
    let home = TestHome::new();
    home.ok(&["maintain"]);
    let in_session = |args: &[&str]| {
        rutter_testkit::CommandOutput::run(home.command(args).env("CLAUDE_CODE_SESSION_ID", "one"))
            .assert_success()
            .stdout
    };
    in_session(GHAP_START_ARGS);
    let said = home.fail(
        "one",
        "cargo test parser",
        101,
        "\nrunning 1 test\ntest parser::crlf ... FAILED\n\nfailures:\n\n---- parser::crlf stdout ----\n\n\
         thread 'parser::crlf' panicked at src/lib.rs:5:9:\nmax number of clients reached\n\n\n\
         failures:\n    parser::crlf\n\n\
         test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
    );
    assert_eq!(said.exit, Some(0));
    #[rustfmt::skip]
    let resolve = [
        "ghap", "resolve", "--status", "falsified", "--result", "still red", "--surprise", "it fails sooner",
        "--root-cause-category", "wrong-scope", "--root-cause", "two places split", "--json",
    ];
    let ended: serde_json::Value = serde_json::from_str(&in_session(&resolve)).unwrap();
    let id = ended["short"].as_str().unwrap();
    let shown = home.rutter(&["show", id]).assert_success().stdout;
    assert!(shown.contains("  run error   panicked: max number of clients reached\n"), "{shown}");
    assert!(!shown.contains("  when  "), "{shown}");
    home.ok(&["edit", id, "--applies-when", "tests die halfway"]);
    let shown = home.rutter(&["show", id]).assert_success().stdout;
    assert!(shown.contains("  when        tests die halfway\n"), "{shown}");
    assert!(!shown.contains("run error"), "{shown}");
}
