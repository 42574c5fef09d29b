use serde_json::{Value, json};

use crate::support::{run_rutter, run_rutter_with_stdin};

fn run_explain(event: &str, args: &[&str], stdout: &str) -> rutter_testkit::CommandOutput {
    let all: Vec<&str> = ["contract", "explain", event].iter().chain(args).copied().collect();
    run_rutter_with_stdin(&all, stdout.as_bytes())
}

fn explain_json(event: &str, args: &[&str], stdout: &str) -> Value {
    let args: Vec<&str> = args.iter().chain(&["--json"]).copied().collect();
    let ran = run_explain(event, &args, stdout);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

#[test]
fn valid_answer_is_clean() {
    let answer = r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"Branch: main"}}"#;
    insta::assert_snapshot!(run_explain("SessionStart", &[], answer), @r#"
    exit 0
    --- stdout
    SessionStart, exit 0, Claude Code 2.1.325, which reports success

    The event continues; only the messages below are added.

    the model reads: "Branch: main" (context)
    the user reads:  nothing
    dropped:         nothing
    "#);
}

#[test]
fn lost_deny_is_corrected() {
    let answer = r#"{"permissionDecision":"deny","permissionDecisionReason":"not here"}"#;
    insta::assert_snapshot!(run_explain("PreToolUse", &[], answer), @r#"
    exit 1
    --- stdout
    PreToolUse, exit 0, Claude Code 2.1.325, which reports success

    The tool call continues as if there were no hook.

    the model reads: nothing
    the user reads:  nothing
    ignored:         "deny" (/permissionDecision)
    ignored:         "not here" (/permissionDecisionReason)
    dropped:         /permissionDecision, /permissionDecisionReason

    1. error[top-level-permission]: `permissionDecision` at the top level is dropped: the tool runs
      |
    1 | {"permissionDecision":"deny","permissionDecisionReason":"not here"}
      |                       ^^^^^^ /permissionDecision
      |
      = help: move it into hookSpecificOutput, with hookEventName beside it

    This answer has the intended effect (exit 0):
    {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not here"}}
    "#);
}

/// Returns the codes of the diagnostics.
fn mistake_codes(event: &str, stdout: &str) -> Vec<Value> {
    let answer = explain_json(event, &[], stdout);
    let found = answer["diagnostics"].as_array().unwrap();
    found.iter().map(|diagnostic| diagnostic["code"].clone()).collect()
}

#[test]
fn one_mistake_gets_one_report() {
    for (event, name, code) in [
        ("PreToolUse", "PreToolCall", "event-name-legacy"),
        ("PreToolUse", "pretooluse", "event-name-case"),
        ("PostToolUse", "PostTool", "event-name-unknown"),
    ] {
        let output = json!({"hookEventName": name, "additionalContext": "x"});
        let answer = json!({"hookSpecificOutput": output}).to_string();
        assert_eq!(mistake_codes(event, &answer), [code], "{name}");
    }
    // A wrong value of another required key is not missing as well.
    let answer = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"maybe"}}}"#;
    assert_eq!(mistake_codes("PermissionRequest", answer).len(), 1);
    // Two mistakes still get two reports.
    let answer = r#"{"continue":"no","hookSpecificOutput":{"hookEventName":"PreToolCall"}}"#;
    assert_eq!(mistake_codes("PreToolUse", answer).len(), 2);
    let answer = r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#;
    assert_eq!(mistake_codes("PreToolUse", answer), ["event-name-missing"]);
}

#[test]
fn exit_two_blocks_prompt() {
    insta::assert_snapshot!(run_explain("UserPromptSubmit", &["--exit", "2", "--stderr", "no secrets"], ""), @r#"
    exit 0
    --- stdout
    UserPromptSubmit, exit 2, Claude Code 2.1.325, which reports an error of the hook

    The prompt is erased and does not reach the model.

    the model reads: nothing
    the user reads:  "no secrets" (stderr)
    dropped:         nothing
    "#);
}

#[test]
fn mistakes_are_numbered() {
    let answer =
        "{\n  \"type\": \"rich\",\n  \"content\": \"Branch: main\",\n  \"token_count\": 3\n}\n";
    insta::assert_snapshot!(run_explain("SessionStart", &[], answer), @r#"
    exit 1
    --- stdout
    SessionStart, exit 0, Claude Code 2.1.325, which reports success

    No effect: as if there were no hook.

    the model reads: nothing
    the user reads:  nothing
    ignored:         "rich" (/type)
    ignored:         "Branch: main" (/content)
    dropped:         /type, /content, /token_count

    1. error[type-content]: `{"type", "content"}` is another program's message
      |
    2 |   "type": "rich",
      |           ^^^^^^ /type
      |
      = help: put the text into hookSpecificOutput.additionalContext, with hookEventName beside it

    2. warning[token-count]: `token_count` is dropped
      |
    4 |   "token_count": 3
      |                  ^ /token_count
      |
      = help: leave it out

    This answer has the intended effect (exit 0):
    {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"Branch: main"}}
    "#);
}

/// Programs rely on these keys and their order.
#[test]
fn explain_json_has_fixed_keys() {
    let answer = explain_json("Stop", &[], r#"{"decision":"block","reason":"tests are red"}"#);
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "event",
            "client",
            "outcome",
            "tool",
            "turn",
            "to_model",
            "to_user",
            "dropped",
            "diagnostics",
            "corrected"
        ]
    );
    assert_eq!(answer["turn"], "kept-going");
    assert_eq!(answer["tool"], Value::Null);
    assert_eq!(
        answer["to_model"],
        json!([{ "kind": "reason", "text": "tests are red", "truncated": false }])
    );
    let wrong = explain_json("Stop", &[], r#"{"desicion":"block"}"#);
    let found: Vec<&String> = wrong["diagnostics"][0].as_object().unwrap().keys().collect();
    assert_eq!(found, ["code", "severity", "path", "message", "help"]);
    assert_eq!(wrong["dropped"], json!(["/desicion"]));
}

#[test]
fn exit_code_reflects_findings() {
    assert_eq!(run_explain("Stop", &[], "").exit, Some(0));
    assert_eq!(run_explain("Stop", &[], "{}").exit, Some(0));
    assert_eq!(run_explain("Stop", &["--json"], r#"{"continue":"true"}"#).exit, Some(1));
    // A note is not a finding.
    let asks = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}"#;
    assert_eq!(run_explain("PreToolUse", &[], asks).exit, Some(0));
    assert_eq!(run_explain("Stopp", &[], "").exit, Some(2));
    assert_eq!(run_explain("Stop", &["--exit", "two"], "").exit, Some(2));
    assert_eq!(run_explain("Stop", &["--exit", "256"], "").exit, Some(2));
    assert_eq!(run_explain("DirectoryAdded", &["--client", "2.1.197"], "").exit, Some(2));
}

#[test]
fn verdict_depends_on_client() {
    let two = "{\"decision\":\"block\"}\n{}";
    assert_eq!(explain_json("UserPromptSubmit", &[], two)["outcome"], "error");
    let old = explain_json("UserPromptSubmit", &["--client", "2.1.197"], two);
    assert_eq!(old["outcome"], "success");
    assert_eq!(old["to_model"][0]["kind"], "text");
}

/// Empty, binary, huge and deeply nested input, repeated keys, a byte order mark and CRLF each get a verdict.
#[test]
fn odd_input_gets_a_verdict() {
    let megabytes = 8 * 1024 * 1024;
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("empty", Vec::new(), "success"),
        ("binary", (0..=255).cycle().take(4096).collect(), "success"),
        ("NULs", vec![0; 4096], "success"),
        ("8 MiB of text", vec![b'x'; megabytes], "success"),
        ("8 MiB of braces", vec![b'{'; megabytes], "success"),
        (
            "8 MiB in a string",
            format!("{{\"systemMessage\":\"{}\"}}", "x".repeat(megabytes)).into_bytes(),
            "success",
        ),
        ("a million levels", deep.into_bytes(), "success"),
        ("the same key twice", br#"{"continue":"x","continue":true}"#.to_vec(), "success"),
        ("BOM and CRLF", "\u{feff}{\r\n\"continue\": true\r\n}\r\n".as_bytes().to_vec(), "success"),
    ];
    for (name, input, outcome) in cases {
        let ran = run_rutter_with_stdin(&["contract", "explain", "Stop", "--json"], &input);
        assert!(matches!(ran.exit, Some(0 | 1)), "{name}: {:?} {}", ran.exit, ran.stderr);
        let verdict: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(verdict["outcome"], outcome, "{name}");
        // The text output is short too: it does not print a line of eight megabytes.
        let ran = run_rutter_with_stdin(&["contract", "explain", "Stop"], &input);
        assert!(ran.stdout.len() < 20_000, "{name}: {} bytes", ran.stdout.len());
    }
    let ran =
        run_rutter_with_stdin(&["contract", "explain", "Stop"], &vec![b' '; 33 * 1024 * 1024]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("32 MiB"), "{}", ran.stderr);
}

/// The other commands ignore stdin.
#[test]
fn other_commands_ignore_stdin() {
    for args in [
        &["contract", "events"][..],
        &["contract", "schema", "Stop"],
        &["contract", "payload", "Stop"],
    ] {
        let ran = run_rutter_with_stdin(args, &vec![0xff; 1024 * 1024]);
        assert_eq!(ran.stdout, run_rutter(args).stdout);
        assert_eq!(ran.exit, Some(0));
    }
}

/// Escape sequences in hook output do not reach the terminal.
#[test]
fn control_characters_are_escaped() {
    let ran = run_explain("Stop", &[], "{\"a\\u001b[31mb\": \"c\\u001b[0m\"}");
    assert!(!ran.stdout.contains('\u{1b}'), "{ran}");
    assert!(ran.stdout.contains("u{1b}"), "{ran}");
}

/// The time per key stays constant, and the output lists only a few of them.
#[test]
fn many_keys_print_few_lines() {
    let keys: Vec<String> = (0..60_000).map(|n| format!("\"k{n}\":\"v\"")).collect();
    let ran = run_explain("Stop", &[], &format!("{{{}}}", keys.join(",")));
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stdout.len() < 20_000, "{} bytes", ran.stdout.len());
}
