use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::process::Stdio;

use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::support::{TestHome, assert_output, contains_text, read_all_bytes};

const FAILING_OUTPUT: &str = "Exit code 1\nF\n======================================================================\n\
    FAIL: test_total (tests.test_cart.Cart.test_total)\n----------------------------------------------------------------------\n\
    Traceback (most recent call last):\n  File \"/ship/tests/test_cart.py\", line 6, in test_total\n    \
    self.assertEqual(total([50, 50]), 100)\nAssertionError: 90.0 != 100\n\n\
    ----------------------------------------------------------------------\nRan 1 test in 0.000s\n\nFAILED (failures=1)";
const PASSING_OUTPUT: &str = ".\n----------------------------------------------------------------------\nRan 1 test in 0.000s\n\nOK";

impl TestHome {
    /// Runs `rutter hook` with this payload and returns its output.
    pub(crate) fn hook(&self, payload: &Value) -> CommandOutput {
        self.hook_with(payload.to_string().as_bytes(), &[])
    }

    pub(crate) fn hook_with(&self, payload: &[u8], environment: &[(&str, &Path)]) -> CommandOutput {
        let mut child = self
            .command(&["hook"])
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        // The hook may exit without reading the payload.
        drop(child.stdin.take().expect("piped").write_all(payload));
        child.wait_with_output().expect("the binary ends").into()
    }

    pub(crate) fn event(&self, session: &str, event: &str, fields: &Value) -> Value {
        let mut payload =
            json!({ "session_id": session, "cwd": self.path("ship"), "hook_event_name": event });
        payload
            .as_object_mut()
            .expect("an object")
            .extend(fields.as_object().expect("one too").clone());
        payload
    }

    pub(crate) fn failing_run(&self, session: &str) -> Value {
        let fields = json!({ "tool_name": "Bash", "tool_input": { "command": "python3 -m unittest" }, "error": FAILING_OUTPUT });
        self.event(session, "PostToolUseFailure", &fields)
    }

    pub(crate) fn passing_run(&self, session: &str) -> Value {
        let fields = json!({
            "tool_name": "Bash",
            "tool_input": { "command": "python3 -m unittest" },
            "tool_response": { "stdout": PASSING_OUTPUT, "stderr": "", "interrupted": false },
        });
        self.event(session, "PostToolUse", &fields)
    }

    pub(crate) fn edit(&self, session: &str) -> Value {
        let fields = json!({
            "tool_name": "Edit",
            "tool_response": {
                "filePath": self.path("ship").join("shop/cart.py"),
                "structuredPatch": [{ "lines": [" def total(items):", "-    return sum(items) * 0.9", "+    return sum(items)"] }],
            },
        });
        self.event(session, "PostToolUse", &fields)
    }
}

/// Asserts that a command printed nothing to stdout or stderr and exited with 0.
#[track_caller]
pub(crate) fn assert_silent(ran: &CommandOutput) {
    assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn fix_is_recorded_and_injected() {
    let home = TestHome::new();
    home.write_config(&[]);
    home.ok(&["maintain"]);
    for payload in [home.failing_run("one"), home.edit("one"), home.passing_run("one")] {
        assert_silent(&home.hook(&payload));
    }
    assert_output!(home, home.hook(&home.failing_run("two")), @r#"
    exit 0
    --- stdout
    {"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"Recorded data: this failure was fixed before.\n`tests.test_cart.Cart.test_total`: `AssertionError: 90.0 != 100`\nFixed in `shop/cart.py`:\n> -return sum(items) * 0.9\n> +return sum(items)\nJust now."}}
    "#);
    assert_output!(home, home.rutter(&["episodes", "list"]), @"
    exit 0
    --- stdout
    ID        STATE  LAST FAILED               RUNS  FAILURE                          CHANGED
    [ID]      open   [TIME]  1     tests.test_cart.Cart.test_total
    [ID]      fixed  [TIME]  1     tests.test_cart.Cart.test_total  shop/cart.py
    ");
    let list = home.json(&["episodes", "list", "--ending", "fixed"]);
    let id = list[0]["short"].as_str().expect("an id").to_owned();
    assert_output!(home, home.rutter(&["episodes", "show", &id]), @"
    exit 0
    --- stdout
    [ID]     fixed [TIME], 1 failing run since [TIME]
      test        tests.test_cart.Cart.test_total
      error       AssertionError: 90.0 != 100
      run         unittest
      checkout    [HOME]/ship
      origin      captured run in [HOME]/ship, session one
      signature   tests.test_cart.Cart.test_total | AssertionError | # != # | test_cart.py
      fixed in    shop/cart.py
        because   the failing test is about `cart`; the only change between the last failing and the first passing run
                  @@ -1 +1 @@
                  -    return sum(items) * 0.9
                  +    return sum(items)
    ");
    assert_output!(home, home.rutter(&["episodes", "list", "--open"]), @"
    exit 0
    --- stdout
    ID        STATE  LAST FAILED               RUNS  FAILURE                          CHANGED
    [ID]      open   [TIME]  1     tests.test_cart.Cart.test_total
    ");
    assert_silent(&home.hook(&home.failing_run("two")));
}

#[test]
fn hunk_reasons_are_printed() {
    let home = TestHome::new();
    home.write_config(&[]);
    home.ok(&["maintain"]);
    let mut version = home.edit("one");
    version["tool_response"]["structuredPatch"] =
        json!([{ "lines": ["-__version__ = \"1.2\"", "+__version__ = \"1.3\""] }]);
    for payload in [home.failing_run("one"), home.edit("one"), version, home.passing_run("one")] {
        assert_silent(&home.hook(&payload));
    }
    let list = home.json(&["episodes", "list", "--ending", "fixed"]);
    let shown =
        home.rutter(&["episodes", "show", list[0]["short"].as_str().unwrap()]).assert_success();
    let about = "the failing test is about `cart`";
    let only = "the only change of code between the last failing and the first passing run";
    let reasons: Vec<&str> =
        shown.stdout.lines().filter_map(|line| line.strip_prefix("    because   ")).collect();
    assert_eq!(reasons, [format!("{about}; {only}"), about.to_owned()], "{}", shown.stdout);
    home.ok(&["maintain"]);
    let why = home.rutter(&["recall", "test_total 90.0 != 100", "--why"]).assert_success().stdout;
    let lines: Vec<&str> = why.lines().filter(|line| line.starts_with("  ")).collect();
    assert!(lines[0].starts_with("  origin: captured run in "), "{why}");
    let fixed = format!("  fixed in shop/cart.py: {about}; {only}");
    assert_eq!(lines[1..], [fixed, format!("  changed shop/cart.py: {about}")], "{why}");
}

#[test]
fn episodes_of_empty_store() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["episodes", "list"]), @"
    exit 0
    --- stderr
    note: no failure was recorded in this project; add `--all` to list other projects
    ");
    assert_output!(home, home.rutter(&["episodes", "list", "--all"]), @"
    exit 0
    --- stderr
    note: no failure was recorded
    ");
    assert_output!(home, home.rutter(&["episodes", "show", "beef"]), @"
    exit 1
    --- stderr
    error: no episode has an id that ends in beef
    ");
    assert_output!(home, home.rutter(&["episodes", "list", "--ending", "solved"]), @"
    exit 2
    --- stderr
    error: invalid value 'solved' for '--ending <HOW>'
      [possible values: fixed, flaky, removed, renamed, expired]

      tip: a similar value exists: 'removed'

    For more information, try '--help'.
    ");
}

#[test]
fn first_session_creates_store() {
    let home = TestHome::new();
    assert_silent(&home.hook(&home.event("one", "SessionStart", &json!({ "source": "startup" }))));
    // The hook starts `rutter maintain` in the background. Either run creates the store; `export` waits for its lock.
    home.ok(&["maintain"]);
    let exported = home.rutter(&["export"]).assert_success().stdout;
    assert!(exported.contains("\"client\":\"one\""), "{exported}");
}

#[test]
fn faulty_input_is_silent() {
    for payload in ["", "{", "[1]", "null", "{\"hook_event_name\":\"PostToolUse\"}", "\u{1}\u{2}"] {
        let home = TestHome::new();
        assert_silent(&home.hook_with(payload.as_bytes(), &[]));
    }
    // JSON nested deeper than the parser accepts, and a payload above the size limit.
    let home = TestHome::new();
    assert_silent(&home.hook_with("[".repeat(200_000).as_bytes(), &[]));
    assert_silent(
        &home.hook_with(format!("{{\"a\":\"{}\"}}", "x".repeat(9 << 20)).as_bytes(), &[]),
    );
    let log = std::fs::read_to_string(home.memory().join("log/rutter.log")).expect("a log");
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(log.contains("hook: a payload of more than 8 MiB was ignored"), "{log}");
    // A client that never closes stdin.
    let mut child =
        home.command(&["hook"]).stdin(Stdio::piped()).spawn().expect("the binary starts");
    let open = child.stdin.take();
    assert!(child.wait().expect("it ends").success());
    drop(open);
    let log = std::fs::read_to_string(home.memory().join("log/rutter.log")).expect("a log");
    assert!(log.contains("hook: ended after one second"), "{log}");
    // Data directories that cannot be created.
    for place in ["/dev/null", "/proc/nowhere"] {
        let red = home.failing_run("one").to_string();
        assert_silent(&home.hook_with(red.as_bytes(), &[("RUTTER_HOME", Path::new(place))]));
    }
}

#[test]
fn unusable_database_is_spooled() {
    // Offsets in the SQLite header: magic string, user version, application id.
    for (fault, offset, bytes) in [
        ("broken", 0, &b"nothing of ours"[..]),
        ("newer", 60, &[0, 0, 0, 99]),
        ("foreign", 68, &[0, 0, 0, 7]),
    ] {
        let home = TestHome::new();
        home.ok(&["maintain"]);
        let database = home.memory().join("rutter.db");
        let file = std::fs::OpenOptions::new().write(true).open(&database).expect("a database");
        file.write_all_at(bytes, offset).expect("written");
        let original = file.metadata().expect("open").ino();
        for payload in [
            home.failing_run("one"),
            home.edit("one"),
            home.passing_run("one"),
            home.failing_run("two"),
        ] {
            let ran = home.hook(&payload);
            // The first hook starts maintenance, which may have replaced a broken database by now.
            let now = std::fs::metadata(&database).map(|found| found.ino()).ok();
            if fault == "broken" && now != Some(original) {
                break;
            }
            assert_silent(&ran);
        }
        let log = std::fs::read_to_string(home.memory().join("log/rutter.log")).expect("a log");
        assert!(log.contains("hook: spooled: "), "{fault}: {log}");
    }
}

#[test]
fn variable_switches_hooks_off() {
    let home = TestHome::new();
    assert_silent(&home.hook_with(
        home.failing_run("one").to_string().as_bytes(),
        &[("RUTTER", Path::new("off"))],
    ));
    assert!(!home.memory().exists());
}

#[test]
fn event_from_command_line() {
    let home = TestHome::new();
    home.ok(&["maintain"]);
    let mut red = home.failing_run("one");
    red.as_object_mut().expect("an object").remove("hook_event_name");
    let mut child = home
        .command(&["hook", "PostToolUseFailure"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    child.stdin.take().expect("piped").write_all(red.to_string().as_bytes()).expect("read");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(home.json(&["episodes", "list"])[0]["state"], "open");
}

#[test]
fn secrets_in_output_are_redacted() {
    let home = TestHome::new();
    home.ok(&["maintain"]);
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let mut red = home.failing_run("one");
    red["error"] = FAILING_OUTPUT.replace("90.0 != 100", &format!("{secret} was refused")).into();
    let ran = home.hook(&red).assert_success();
    assert!(!ran.stdout.contains(secret), "{ran}");
    let bytes = read_all_bytes(&home.memory());
    assert!(!crate::support::contains_text(&bytes, secret));
    assert!(crate::support::contains_text(&bytes, "was refused"));
}

#[test]
fn events_are_counted_unless_paused() {
    let home = TestHome::new();
    home.ok(&["memories"]);
    let tally = || fs::read(home.memory().join("tally")).unwrap_or_default();
    assert_eq!(tally(), b"", "nobody has started a hook yet");
    let prompt = |session: &str| home.event(session, "UserPromptSubmit", &json!({ "prompt": "x" }));
    assert_silent(&home.hook(&prompt("one")));
    let once = tally();
    assert!(once.starts_with(b"rutally1"));
    assert!(
        !contains_text(&once, "UserPromptSubmit") && !contains_text(&once, "one"),
        "numbers, no texts"
    );
    let off = home.hook_with(prompt("one").to_string().as_bytes(), &[("RUTTER", Path::new("off"))]);
    assert_silent(&off);
    home.ok(&["pause"]);
    assert_silent(&home.hook(&prompt("one")));
    assert_eq!(tally(), once);
    home.ok(&["pause", "--off"]);
    assert_silent(&home.hook(&prompt("one")));
    assert_ne!(tally(), once);
    home.ok(&["forget", "--all", "--yes"]);
    assert_eq!(tally(), b"");
}

#[test]
fn first_unknown_failure_offers_ghap() {
    let home = TestHome::new();
    home.write_config(&[("outcome_capture", "offer_ghap = true")]);
    home.ok(&["maintain"]);
    let said =
        crate::conformance::answer_text("PostToolUseFailure", &home.hook(&home.failing_run("one")));
    assert!(said.starts_with("No earlier fix of this failure is known"), "{said}");
    assert!(said.contains("ghap start` takes --domain"), "{said}");
    assert_silent(&home.hook(&home.failing_run("one")));
}
