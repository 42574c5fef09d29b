use std::fs;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Stdio;

use rutter_testkit::Ran;
use serde_json::{Value, json};

use crate::support::{Home, assert_output, bytes_below, holds};

const RED: &str = "Exit code 1\nF\n======================================================================\n\
    FAIL: test_total (tests.test_cart.Cart.test_total)\n----------------------------------------------------------------------\n\
    Traceback (most recent call last):\n  File \"/ship/tests/test_cart.py\", line 6, in test_total\n    \
    self.assertEqual(total([50, 50]), 100)\nAssertionError: 90.0 != 100\n\n\
    ----------------------------------------------------------------------\nRan 1 test in 0.000s\n\nFAILED (failures=1)";
const GREEN: &str = ".\n----------------------------------------------------------------------\nRan 1 test in 0.000s\n\nOK";

impl Home {
    /// Runs `rutter hook` with this payload and returns its output.
    pub(crate) fn hook(&self, payload: &Value) -> Ran {
        self.hook_with(payload.to_string().as_bytes(), &[])
    }

    pub(crate) fn hook_with(&self, payload: &[u8], environment: &[(&str, &Path)]) -> Ran {
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

    pub(crate) fn red(&self, session: &str) -> Value {
        let fields = json!({ "tool_name": "Bash", "tool_input": { "command": "python3 -m unittest" }, "error": RED });
        self.event(session, "PostToolUseFailure", &fields)
    }

    pub(crate) fn green(&self, session: &str) -> Value {
        let fields = json!({
            "tool_name": "Bash",
            "tool_input": { "command": "python3 -m unittest" },
            "tool_response": { "stdout": GREEN, "stderr": "", "interrupted": false },
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
pub(crate) fn silent(ran: &Ran) {
    assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn the_story_in_the_shipped_binary() {
    let home = Home::new();
    home.set(&[]);
    home.ok(&["tend"]);
    for payload in [home.red("one"), home.edit("one"), home.green("one")] {
        silent(&home.hook(&payload));
    }
    assert_output!(home, home.hook(&home.red("two")), @r#"
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
    silent(&home.hook(&home.red("two")));
}

#[test]
fn reasons_of_hunks_are_printed() {
    let home = Home::new();
    home.set(&[]);
    home.ok(&["tend"]);
    let mut version = home.edit("one");
    version["tool_response"]["structuredPatch"] =
        json!([{ "lines": ["-__version__ = \"1.2\"", "+__version__ = \"1.3\""] }]);
    for payload in [home.red("one"), home.edit("one"), version, home.green("one")] {
        silent(&home.hook(&payload));
    }
    let list = home.json(&["episodes", "list", "--ending", "fixed"]);
    let shown = home.rutter(&["episodes", "show", list[0]["short"].as_str().unwrap()]).success();
    let about = "the failing test is about `cart`";
    let only = "the only change of code between the last failing and the first passing run";
    let reasons: Vec<&str> =
        shown.stdout.lines().filter_map(|line| line.strip_prefix("    because   ")).collect();
    assert_eq!(reasons, [format!("{about}; {only}"), about.to_owned()], "{}", shown.stdout);
    home.ok(&["tend"]);
    let why = home.rutter(&["recall", "test_total 90.0 != 100", "--why"]).success().stdout;
    let lines: Vec<&str> = why.lines().filter(|line| line.starts_with("  ")).collect();
    assert!(lines[0].starts_with("  origin: captured run in "), "{why}");
    let fixed = format!("  fixed in shop/cart.py: {about}; {only}");
    assert_eq!(lines[1..], [fixed, format!("  changed shop/cart.py: {about}")], "{why}");
}

#[test]
fn episodes_of_nowhere() {
    let home = Home::new();
    assert_output!(home, home.rutter(&["episodes", "list"]), @"
    exit 0
    --- stderr
    note: no failure was followed here; `--all` lists those of other projects
    ");
    assert_output!(home, home.rutter(&["episodes", "list", "--all"]), @"
    exit 0
    --- stderr
    note: no failure was followed
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
      [possible values: fixed, flaky, removed, renamed, left]

      tip: a similar value exists: 'removed'

    For more information, try '--help'.
    ");
}

#[test]
fn a_session_that_comes_first_has_the_memory_made() {
    let home = Home::new();
    silent(&home.hook(&home.event("one", "SessionStart", &json!({ "source": "startup" }))));
    // The hook starts `rutter tend` in the background. Either run creates the store; `export` waits for its lock.
    home.ok(&["tend"]);
    let exported = home.rutter(&["export"]).success().stdout;
    assert!(exported.contains("\"client\":\"one\""), "{exported}");
}

#[test]
fn every_fault_ends_in_silence() {
    for payload in ["", "{", "[1]", "null", "{\"hook_event_name\":\"PostToolUse\"}", "\u{1}\u{2}"] {
        let home = Home::new();
        silent(&home.hook_with(payload.as_bytes(), &[]));
    }
    // JSON nested deeper than the parser accepts, and a payload above the size limit.
    let home = Home::new();
    silent(&home.hook_with("[".repeat(200_000).as_bytes(), &[]));
    silent(&home.hook_with(format!("{{\"a\":\"{}\"}}", "x".repeat(9 << 20)).as_bytes(), &[]));
    let log = std::fs::read_to_string(home.memory().join("log/rutter.log")).expect("a log");
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(log.contains("hook: a payload of more than 8 MiB was passed over"), "{log}");
    // A client that never closes stdin.
    let mut child =
        home.command(&["hook"]).stdin(Stdio::piped()).spawn().expect("the binary starts");
    let open = child.stdin.take();
    assert!(child.wait().expect("it ends").success());
    drop(open);
    let log = std::fs::read_to_string(home.memory().join("log/rutter.log")).expect("a log");
    assert!(log.contains("hook: ended after a second"), "{log}");
    // Data directories that cannot be created.
    for place in ["/dev/null", "/proc/nowhere"] {
        let red = home.red("one").to_string();
        silent(&home.hook_with(red.as_bytes(), &[("RUTTER_HOME", Path::new(place))]));
    }
}

#[test]
fn a_memory_that_is_broken_newer_or_foreign_is_left_alone() {
    // Offsets in the SQLite header: magic string, user version, application id.
    for (fault, offset, bytes) in [
        ("broken", 0, &b"nothing of ours"[..]),
        ("newer", 60, &[0, 0, 0, 99]),
        ("foreign", 68, &[0, 0, 0, 7]),
    ] {
        let home = Home::new();
        home.ok(&["tend"]);
        let database = home.memory().join("rutter.db");
        let file = std::fs::OpenOptions::new().write(true).open(&database).expect("a database");
        file.write_all_at(bytes, offset).expect("written");
        for payload in [home.red("one"), home.edit("one"), home.green("one"), home.red("two")] {
            silent(&home.hook(&payload));
        }
        let log = std::fs::read_to_string(home.memory().join("log/rutter.log")).expect("a log");
        assert!(log.contains("hook: spooled: "), "{fault}: {log}");
    }
}

#[test]
fn it_can_be_switched_off() {
    let home = Home::new();
    silent(
        &home.hook_with(home.red("one").to_string().as_bytes(), &[("RUTTER", Path::new("off"))]),
    );
    assert!(!home.memory().exists());
}

#[test]
fn a_hand_written_payload_may_leave_the_event_to_the_command_line() {
    let home = Home::new();
    home.ok(&["tend"]);
    let mut red = home.red("one");
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
fn secrets_in_what_a_test_prints_are_nowhere() {
    let home = Home::new();
    home.ok(&["tend"]);
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let mut red = home.red("one");
    red["error"] = RED.replace("90.0 != 100", &format!("{secret} was refused")).into();
    let ran = home.hook(&red).success();
    assert!(!ran.stdout.contains(secret), "{ran}");
    let bytes = bytes_below(&home.memory());
    assert!(!crate::support::holds(&bytes, secret));
    assert!(crate::support::holds(&bytes, "was refused"));
}

#[test]
fn every_event_is_counted_and_none_that_was_asked_to_be_left_alone() {
    let home = Home::new();
    home.ok(&["memories"]);
    let tally = || fs::read(home.memory().join("tally")).unwrap_or_default();
    assert_eq!(tally(), b"", "nobody has started a hook yet");
    let prompt = |session: &str| home.event(session, "UserPromptSubmit", &json!({ "prompt": "x" }));
    silent(&home.hook(&prompt("one")));
    let once = tally();
    assert!(once.starts_with(b"rutally1"));
    assert!(!holds(&once, "UserPromptSubmit") && !holds(&once, "one"), "numbers, no texts");
    let off = home.hook_with(prompt("one").to_string().as_bytes(), &[("RUTTER", Path::new("off"))]);
    silent(&off);
    home.ok(&["pause"]);
    silent(&home.hook(&prompt("one")));
    assert_eq!(tally(), once);
    home.ok(&["pause", "--off"]);
    silent(&home.hook(&prompt("one")));
    assert_ne!(tally(), once);
    home.ok(&["forget", "--all", "--yes"]);
    assert_eq!(tally(), b"");
}

#[test]
fn first_unknown_failure_brings_an_offer() {
    let home = Home::new();
    home.set(&[("outcome_capture", "offer_ghap = true")]);
    home.ok(&["tend"]);
    let said = crate::conformance::said("PostToolUseFailure", &home.hook(&home.red("one")));
    assert!(said.starts_with("No earlier fix of this failure is known"), "{said}");
    assert!(said.contains("ghap start` takes --domain"), "{said}");
    silent(&home.hook(&home.red("one")));
}
