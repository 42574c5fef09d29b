use serde_json::{Value, json};

use super::*;
use rutter_memory::outcome::Verdict;
use rutter_runs::read::read_line;

/// Builds the payload of a call that the client reports as a success.
fn success_payload(command: &str, response: &Value) -> String {
    let mut whole = json!({ "stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false });
    for (key, value) in response.as_object().unwrap() {
        whole[key] = value.clone();
    }
    build_payload("PostToolUse", command, "tool_response", &whole)
}

/// Builds the payload of a call that the client reports as a failure.
fn failure_payload(command: &str, error: &str) -> String {
    build_payload("PostToolUseFailure", command, "error", &json!(error))
}

fn build_payload(event: &str, command: &str, key: &str, value: &Value) -> String {
    let input = json!({ "command": command, "description": "x" });
    json!({
        "session_id": "00000000-0000-4000-8000-000000000000", "cwd": "/home/user/project",
        "permission_mode": "default", "hook_event_name": event, "tool_name": "Bash", "tool_input": input,
        key: value, "tool_use_id": "toolu_01ABC", "is_interrupt": false, "duration_ms": 79,
    })
    .to_string()
}

fn parse_run(payload: &str) -> Option<Result<BashCall<'_>, &'static str>> {
    BashCall::parse_run(&RawPayload::parse(payload.as_bytes()).unwrap(), DEFAULT_WINDOW_BYTES)
}

fn parsed_call(payload: &str) -> BashCall<'_> {
    parse_run(payload).unwrap().unwrap()
}

fn output_text<'a>(call: &'a BashCall<'_>) -> &'a str {
    std::str::from_utf8(&call.output).unwrap()
}

#[test]
fn success_has_status_zero() {
    let payload = success_payload("pytest -q", &json!({ "stdout": "....\n4 passed in 0.01s" }));
    let call = parsed_call(&payload);
    assert_eq!(call.command, "pytest -q");
    assert_eq!((call.exit, call.cut, call.duration), (Some(0), false, Some(79)));
    assert_eq!(output_text(&call), "....\n4 passed in 0.01s");
    assert_eq!(read_line(&call.command, &call.captured_output()).unwrap().verdict, Verdict::Passed);
}

#[test]
fn failure_status_is_parsed() {
    for (error, exit, output) in [
        ("Exit code 1", 1, ""),
        ("Exit code 3\nout\nerr\nout2", 3, "out\nerr\nout2"),
        ("Exit code 2\n\n\n  lead\n\ntrail", 2, "\n\n  lead\n\ntrail"),
        ("Exit code 1\nExit code 0", 1, "Exit code 0"),
        ("Exit code 255", 255, ""),
        ("Exit code 1\n\u{0}\u{fffd}\u{fffd}", 1, "\u{0}\u{fffd}\u{fffd}"),
        // Printed by a test, not by the client.
        ("Exit code 1\nCommand timed out after 1s", 1, "Command timed out after 1s"),
        ("Exit code 143\na\nTerminated", 143, "a\nTerminated"),
    ] {
        let payload = failure_payload("cargo test", error);
        let call = parsed_call(&payload);
        assert_eq!((call.exit, call.cut), (Some(exit), false), "{error}");
        assert_eq!(output_text(&call), output);
    }
}

#[test]
fn interpreted_status_is_unknown() {
    for (command, words) in [
        ("pytest | grep FAILED", "No matches found"),
        ("pytest && test -e report.xml", "Condition is false"),
        ("set -o pipefail; pytest | grep passed", "No matches found"),
        ("pytest && diff a b", "Files differ"),
    ] {
        let payload = success_payload(command, &json!({ "returnCodeInterpretation": words }));
        let call = parsed_call(&payload);
        assert_eq!(call.exit, None, "{command}");
        assert_eq!(
            read_line(&call.command, &call.captured_output()).unwrap().verdict,
            Verdict::Unknown,
            "{command}"
        );
    }
}

#[test]
fn unfinished_calls_have_no_outcome() {
    for (payload, why) in [
        (success_payload("pytest", &json!({ "backgroundTaskId": "b1dpmtkee" })), BACKGROUND),
        (
            success_payload(
                "cargo test | tail",
                &json!({ "stdout": "test result: ok. 1 passed; 0 failed", "backgroundTaskId": "bgb6lpdad", "timedOutAfterMs": 1000 }),
            ),
            BACKGROUND,
        ),
        (
            success_payload("pytest", &json!({ "stdout": "1 passed", "interrupted": true })),
            INTERRUPTED,
        ),
        (failure_payload("pytest", "Exit code 143\nCommand timed out after 1s\na\nb"), TIME_OUT),
        (
            failure_payload("pytest | tail", "Exit code 143\nCommand timed out after 2m 0s"),
            TIME_OUT,
        ),
        (
            failure_payload(
                "pytest | tail",
                "Exit code 137\nCommand killed: output file exceeded 5GB",
            ),
            KILLED,
        ),
        (
            failure_payload(
                "pytest",
                "Exit code 137\n[Request interrupted by user for tool use]\n1 passed",
            ),
            INTERRUPTED,
        ),
        (
            failure_payload("pytest", "1 passed")
                .replace("\"is_interrupt\":false", "\"is_interrupt\":true"),
            INTERRUPTED,
        ),
        (failure_payload("pytest", "Exit code \n1 failed"), REFUSED),
        (failure_payload("pytest", "Exit code one"), REFUSED),
        (failure_payload("pytest", "PreToolUse:Bash hook error: no"), REFUSED),
        (failure_payload("pytest", "Permission to use Bash has been denied."), REFUSED),
        (failure_payload("pytest", ""), REFUSED),
        (failure_payload("ls; git push", "Exit code 1"), rutter_runs::read::NO_RUN),
        (success_payload("ls", &json!({ "backgroundTaskId": "b" })), rutter_runs::read::NO_RUN),
    ] {
        assert_eq!(parse_run(&payload), Some(Err(why)), "{payload}");
    }
}

#[test]
fn other_payloads_are_ignored() {
    let good = success_payload("pytest", &json!({}));
    assert!(parse_run(&good).unwrap().is_ok());
    for (from, to) in [
        ("\"PostToolUse\"", "\"PreToolUse\""),
        ("\"Bash\"", "\"Read\""),
        ("\"tool_name\"", "\"other\""),
        ("\"command\":\"pytest\"", "\"command\":1"),
        ("\"tool_input\"", "\"other\""),
        ("\"tool_response\"", "\"other\""),
        ("\"stdout\":\"\"", "\"stdout\":[]"),
        ("\"PostToolUse\"", "\"PostToolUseFailure\""),
    ] {
        let payload = good.replacen(from, to, 1);
        assert_ne!(payload, good, "{from}");
        assert_eq!(parse_run(&payload), None, "{payload}");
    }
    assert_eq!(
        BashCall::finished_command(&RawPayload::parse(good.as_bytes()).unwrap()).unwrap(),
        "pytest"
    );
}

/// Builds an error text as the client truncates it: 5,000 units, its mark, and 5,000 units.
fn truncated_error(head: &str, missing: usize, tail: &str) -> String {
    format!("Exit code 1\n{head}\n\n... [{missing} characters truncated] ...\n\n{tail}")
}

#[test]
fn cut_lines_are_removed() {
    let error = truncated_error("one\ntwo\n1", 20_012, "5 failed, 2 passed in 3s\nthree\nfour");
    let payload = failure_payload("pytest", &error);
    let call = parsed_call(&payload);
    assert_eq!((output_text(&call), call.cut), ("one\ntwo\nthree\nfour", true));
    let nested = truncated_error("a\nb", 7, "c\nd\n\n... [9 characters truncated] ...\n\ne\nf\ng");
    assert_eq!(remove_cut_lines(&nested["Exit code 1\n".len()..]).unwrap(), "a\nf\ng");
    for whole in [
        "... [12 characters truncated] ...",
        "\n\n... [x characters truncated] ...\n\n",
        "\n\n... [ characters truncated] ...\n\n",
        "\n\n... [12 characters truncated] ...\n",
        "\n\n... [",
    ] {
        assert_eq!(remove_cut_lines(whole), None, "{whole}");
    }
}

#[test]
fn full_window_means_cut() {
    // Ten thousand characters of three bytes: too few for a mark, and all that the client reads.
    let full = "漢".repeat(DEFAULT_WINDOW_BYTES / 3);
    for (output, cut) in [
        (full.clone(), true),
        (format!("{}\u{fffd}", "漢".repeat(DEFAULT_WINDOW_BYTES / 3 - 1)), true),
        ("漢".repeat((DEFAULT_WINDOW_BYTES - WINDOW_TOLERANCE_BYTES) / 3 + 1), true),
        ("漢".repeat((DEFAULT_WINDOW_BYTES - WINDOW_TOLERANCE_BYTES) / 3), false),
        ("a".repeat(11_012), false),
    ] {
        let payload = failure_payload("pytest", &format!("Exit code 1\n{output}"));
        assert_eq!(parsed_call(&payload).cut, cut, "{} bytes", output.len());
    }
    let payload = failure_payload("pytest", &format!("Exit code 1\n{}", "a".repeat(4_999)));
    let wire = RawPayload::parse(payload.as_bytes()).unwrap();
    assert!(BashCall::parse_run(&wire, output_window(Some("5000"))).unwrap().unwrap().cut);
    assert!(!BashCall::parse_run(&wire, output_window(None)).unwrap().unwrap().cut);
}

#[test]
fn window_variable_is_parsed() {
    for (variable, bytes) in [
        (None, 30_000),
        (Some(""), 30_000),
        (Some("5000"), 5_000),
        (Some(" 5000 "), 5_000),
        (Some("5000x"), 5_000),
        (Some("0"), 30_000),
        (Some("-1"), 30_000),
        (Some("many"), 30_000),
        (Some("200000"), 150_000),
        (Some("99999999999999999999999"), 30_000),
    ] {
        assert_eq!(output_window(variable), bytes, "{variable:?}");
    }
}

#[test]
fn long_success_is_read_from_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.txt");
    let whole = format!(
        "\nrunning 4000 tests\n{}\ntest result: ok. 4000 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; \
         finished in 0.01s\n",
        "test one ... ok\n".repeat(4_000)
    );
    std::fs::File::create(&path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, whole.as_bytes()))
        .unwrap();
    let response = |size: usize| json!({ "stdout": &whole[..29_999], "persistedOutputPath": path, "persistedOutputSize": size });
    let payload = success_payload("cargo test | cat", &response(whole.len()));
    let read_back = parsed_call(&payload);
    assert_eq!((output_text(&read_back), read_back.cut), (&whole[..], false));
    assert_eq!(
        read_line(&read_back.command, &read_back.captured_output()).unwrap().verdict,
        Verdict::Passed
    );
    // The output was longer than the file.
    let longer = success_payload("cargo test | cat", &response(whole.len() + 1));
    assert!(parsed_call(&longer).cut);
    // The file is gone: only the start of the output is left.
    std::fs::remove_file(&path).unwrap();
    let beginning = parsed_call(&payload);
    assert_eq!((output_text(&beginning), beginning.cut), (&whole[..29_999], true));
    assert_eq!(
        read_line(&beginning.command, &beginning.captured_output()).unwrap().verdict,
        Verdict::Unknown
    );
}

#[test]
fn full_stdout_means_cut() {
    for (length, cut) in [(29_999, false), (30_000, true)] {
        let payload = success_payload("pytest", &json!({ "stdout": "a".repeat(length) }));
        assert_eq!(parsed_call(&payload).cut, cut, "{length}");
    }
}

#[test]
fn client_notes_are_removed() {
    let note = "\nShell cwd was reset to /home/user/project";
    let payload = success_payload("pytest", &json!({ "stdout": "1 passed", "stderr": note }));
    assert_eq!(output_text(&parsed_call(&payload)), "1 passed");
    let payload =
        success_payload("pytest", &json!({ "stdout": "a", "stderr": format!("b\n{note}\nc") }));
    assert_eq!(output_text(&parsed_call(&payload)), "a\nb\nc");
}

#[test]
fn lone_surrogate_keeps_text() {
    let payload = failure_payload("pytest", "Exit code 1\n1 failed X in 1s");
    let payload = payload.replace('X', "\\ud83d");
    assert_eq!(output_text(&parsed_call(&payload)), "1 failed \u{fffd} in 1s");
    let payload =
        success_payload("pytest", &json!({ "stdout": "X 1 passed" })).replace('X', "\\udc00");
    assert_eq!(output_text(&parsed_call(&payload)), "\u{fffd} 1 passed");
}

#[test]
fn plain_output_is_borrowed() {
    let payload = success_payload("pytest", &json!({ "stdout": "1 passed" }));
    let call = parsed_call(&payload);
    assert!(matches!((&call.command, &call.output), (Cow::Borrowed(_), Cow::Borrowed(_))));
}

mod arbitrary {
    use proptest::prelude::*;

    use super::*;

    /// Returns values for fields in which the client puts texts.
    fn text_values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,20}".prop_map(Value::from),
            "(Exit code [0-9]{0,12})?(\n\\PC{0,20}){0,3}(\n\n\\.\\.\\. \\[9 characters truncated\\] \\.\\.\\.\n\n)?\\PC{0,9}"
                .prop_map(Value::from),
            prop::sample::select(vec!["Bash", "PostToolUse", "PostToolUseFailure", "pytest", "cargo test | cat"])
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::hash_map(prop::sample::select(KEYS), inner, 0..6).prop_map(
                    |map| map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
                ),
            ]
        })
    }

    const KEYS: &[&str] = &[
        "hook_event_name",
        "tool_name",
        "tool_input",
        "tool_response",
        "command",
        "error",
        "stdout",
        "stderr",
        "interrupted",
        "is_interrupt",
        "backgroundTaskId",
        "returnCodeInterpretation",
        "persistedOutputPath",
        "persistedOutputSize",
        "duration_ms",
    ];

    proptest! {
        #[test]
        fn arbitrary_payloads_do_not_panic(
            event in prop::sample::select(vec!["PostToolUse", "PostToolUseFailure"]),
            part in text_values(), error in text_values(), response in text_values(), whole in any::<bool>(),
        ) {
            let payload = if whole {
                json!({
                    "hook_event_name": event, "tool_name": "Bash", "tool_input": { "command": "pytest | cat" },
                    "error": error, "tool_response": response,
                })
            } else {
                part
            };
            let text = payload.to_string();
            if let Ok(wire) = RawPayload::parse(text.as_bytes())
                && let Some(Ok(call)) = BashCall::parse_run(&wire, 40)
            {
                let reading = read_line(&call.command, &call.captured_output());
                let passed = reading.is_ok_and(|reading| reading.verdict == Verdict::Passed);
                prop_assert!(!(whole && passed));
            }
        }
    }
}
