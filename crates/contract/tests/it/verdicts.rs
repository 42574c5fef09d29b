//! The verdict engine compared with the behaviour of the real client, case by case.

use proptest::prelude::*;
use rutter_contract::EventName;
use rutter_contract::verdict::catalogue::CATALOGUE;
use rutter_contract::verdict::{
    HookOutcome, HookRun, MistakeSeverity, ToolCallEffect, TurnEffect, Verdict, judge_answer,
};
use rutter_contract::version::Contract;
use rutter_testkit::repository_root;
use serde_json::Value;

/// Compares a verdict with the measured case; returns the differences.
fn differences(case: &Value, verdict: &Verdict) -> Vec<String> {
    let observed = &case["observed"];
    let mut wrong = Vec::new();
    let mut compare = |what: &str, engine: Value| {
        if observed.get(what).is_some_and(|client| *client != engine) {
            wrong.push(format!("{what}: the client {}, the engine {engine}", observed[what]));
        }
    };
    let reached = |mark: &str| verdict.to_model.iter().any(|message| message.text.contains(mark));
    compare("hook_error", (verdict.outcome == HookOutcome::Error).into());
    compare("context_reached_model", reached("CTX-MARK").into());
    compare("reason_reached_model", reached("REASON-MARK").into());
    compare("stderr_reached_model", reached("ERR-MARK").into());
    let truncated = verdict.to_model.iter().any(|message| message.truncated);
    compare("context_truncated", truncated.into());
    if let Some(tool) = verdict.tool {
        // Without a decision the measured run of PreToolUse allows the tool, and that of PermissionRequest
        // does not.
        let ran = match tool {
            ToolCallEffect::Runs | ToolCallEffect::Rewritten => true,
            ToolCallEffect::Unchanged => case["event"] == "PreToolUse",
            ToolCallEffect::Asks | ToolCallEffect::Deferred | ToolCallEffect::Blocked => false,
        };
        compare("tool_ran", ran.into());
        compare("tool_input_changed", (tool == ToolCallEffect::Rewritten).into());
    }
    let calls = match verdict.turn {
        TurnEffect::Continues => 0,
        TurnEffect::Stops | TurnEffect::Erased => -1,
        TurnEffect::KeptGoing => 1,
    };
    // The headless run of Stop ends where it would end without the hook.
    let calls =
        if case["event"] == "Stop" && verdict.turn == TurnEffect::Stops { 0 } else { calls };
    let calls = if case["event"] == "SubagentStop" && verdict.turn == TurnEffect::Stops {
        0
    } else {
        calls
    };
    compare("extra_model_calls", calls.into());
    wrong
}

fn load_cases(file: &str) -> Vec<Value> {
    let text =
        std::fs::read_to_string(repository_root().join("fixtures/verdicts").join(file)).unwrap();
    let mut all: Value = serde_json::from_str(&text).unwrap();
    match all["cases"].take() {
        Value::Array(cases) => cases,
        other => panic!("{file}: {other}"),
    }
}

fn judge_case(case: &Value, contract: Contract) -> Verdict {
    let run = HookRun {
        event: case["event"].as_str().unwrap().parse().unwrap(),
        stdout: case["stdout"].as_str().unwrap(),
        stderr: case["stderr"].as_str().unwrap(),
        exit: i32::try_from(case["exit"].as_i64().unwrap()).unwrap(),
    };
    judge_answer(&run, contract)
}

/// Cases that depend on more than the answer. A case that agrees must leave the list.
const UNDECIDABLE: &[(&str, &str)] = &[
    (
        "SessionStart/ium",
        "the first prompt of a headless session is one more turn, which is no turn of this event",
    ),
    ("PreToolUse/updbad-x0", "whether an input fits depends on the tool's own schema"),
    ("PreToolUse/updbad-x1e", "whether an input fits depends on the tool's own schema"),
    ("PostToolUse/uto-ok", "whether an output fits depends on the tool's own schema"),
];

/// The same list for the older client.
const OLD_UNDECIDABLE: &[(&str, &str)] = &[
    (
        "PreToolUse/updbad-x2e",
        "it says that an input does not fit even where exit 2 blocks the call",
    ),
    ("Stop/async-first-x2", "whether a hook in the background ends before the session does"),
    (
        "Stop/async-line-then-block-x2",
        "whether a hook in the background ends before the session does",
    ),
    (
        "SubagentStop/async-first-x2",
        "whether a hook in the background ends before the session does",
    ),
];

fn assert_agreement(file: &str, client: &str, at_least: usize) {
    let contract = Contract::for_client(client.parse().unwrap());
    let cases = load_cases(file);
    assert!(cases.len() >= at_least, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let verdict = judge_case(case, contract);
        let differences = differences(case, &verdict);
        let listed = UNDECIDABLE.iter().any(|(id, _)| case["id"] == *id);
        let listed = listed
            || (client == "2.1.197" && OLD_UNDECIDABLE.iter().any(|(id, _)| case["id"] == *id));
        assert!(!(listed && differences.is_empty()), "{} agrees: take it off the list", case["id"]);
        if !listed && !differences.is_empty() {
            let stdout: String = case["stdout"].as_str().unwrap().chars().take(200).collect();
            wrong.push(format!(
                "{} (exit {}) {stdout}\n    {}",
                case["id"],
                case["exit"],
                differences.join("\n    ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} disagree:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn newest_client_cases() {
    assert_agreement("2.1.325.json", "2.1.325", 423);
}

#[test]
fn older_client_cases() {
    assert_agreement("2.1.197.json", "2.1.197", 378);
}

#[test]
fn more_newest_client_cases() {
    assert_agreement("more-2.1.325.json", "2.1.325", 1_500);
}

#[test]
fn more_older_client_cases() {
    assert_agreement("more-2.1.197.json", "2.1.197", 1_290);
}

/// Judging the example of a known mistake reports it, and its correction does not have the mistake.
#[test]
fn catalogue_mistakes_are_found() {
    for mistake in CATALOGUE {
        let example = &mistake.example;
        let long;
        let stdout = if mistake.code == "too-long" {
            long = "x".repeat(10_001);
            &long
        } else {
            example.stdout
        };
        let run =
            HookRun { event: example.event, stdout, stderr: example.stderr, exit: example.exit };
        // A newer key is a mistake on an older client only.
        let client = if matches!(mistake.code, "newer-key" | "asked-elsewhere") {
            Contract::MEASURED[0]
        } else {
            Contract::NEWEST
        };
        let contract = Contract::for_client(client);
        let verdict = judge_answer(&run, contract);
        let codes: Vec<&str> = verdict.diagnostics.iter().map(|found| found.code).collect();
        assert!(codes.contains(&mistake.code), "{}: {codes:?}", mistake.code);

        let Some(corrected) = &verdict.corrected else {
            let uncorrectable = UNCORRECTED.iter().any(|(code, _)| *code == mistake.code);
            assert!(uncorrectable, "{} has no correction", mistake.code);
            continue;
        };
        let listed = UNCORRECTED.iter().any(|(code, _)| *code == mistake.code);
        assert!(!listed, "{} is corrected: take it off the list", mistake.code);
        let run = HookRun {
            event: example.event,
            stdout: &corrected.stdout,
            stderr: "",
            exit: i32::from(corrected.exit),
        };
        let again = judge_answer(&run, contract);
        let left: Vec<&str> = again
            .diagnostics
            .iter()
            .filter(|found| found.severity > MistakeSeverity::Info)
            .map(|found| found.code)
            .collect();
        assert!(left.is_empty(), "{}: {left:?} in {}", mistake.code, corrected.stdout);
        assert_eq!(again.dropped, [] as [&str; 0], "{}", mistake.code);
        // A path is the only answer that is not JSON.
        if mistake.code == "json-as-path" {
            assert_eq!(corrected.stdout, "/w/a");
            continue;
        }
        let answer: Value = serde_json::from_str(&corrected.stdout).unwrap();
        assert!(
            crate::support::output_validator(example.event).is_valid(&answer),
            "{}",
            mistake.code
        );
    }
}

/// Mistakes without a correction of their example, each with the reason.
const UNCORRECTED: &[(&str, &str)] = &[
    ("approve-ignored", "silence says it"),
    ("broken-json", "what it was to be is a guess"),
    ("output-rejected", "SessionEnd takes no text at all"),
    ("text-boolean", "`continue: true` asks for what happens anyway"),
    ("context-unread", "which of the two is meant is not known"),
    ("truncated-json", "the end is not known"),
    ("exit-2-silent", "the reason is not known"),
    ("unknown-key", "what a misspelt key means is a guess"),
    ("ignored-here", "Notification decides nothing"),
    ("newer-key", "that client has nothing like it"),
    ("no-reason", "the reason is not known"),
    ("asks-nobody", "it is no mistake"),
    ("rewritten-input", "it is no mistake"),
    ("message-unseen", "it is no mistake"),
    ("asked-elsewhere", "it is no mistake"),
    ("defers", "it is no mistake"),
    ("background", "it is no mistake"),
    ("missing-script", "the script is to be found, not its answer"),
    ("wrong-type", "what the object was to say is a guess"),
];

/// Returns the number of cases; `PROPTEST_CASES` overrides it.
fn property_cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Any bytes for any event give a verdict, never a panic, and a correction by the engine has no error.
#[test]
fn any_answer_gets_a_verdict() {
    let pieces = prop_oneof![
        any::<String>(),
        proptest::sample::select(
            CATALOGUE.iter().map(|m| m.example.stdout.to_owned()).collect::<Vec<_>>()
        ),
        proptest::collection::vec(
            proptest::sample::select(vec![
                "{",
                "}",
                "[",
                "]",
                ":",
                ",",
                "\"",
                "\\",
                "\\u",
                "d83d",
                "null",
                "true",
                "1e9",
                " ",
                "\u{feff}",
                "\"decision\"",
                "\"block\"",
                "\"reason\"",
                "\"hookSpecificOutput\"",
                "\"hookEventName\"",
                "\"Stop\"",
                "\"PreToolUse\"",
                "\"permissionDecision\"",
                "\"deny\"",
                "\"continue\"",
                "\"additionalContext\"",
            ]),
            0..24,
        )
        .prop_map(|parts| parts.concat()),
    ];
    let events = proptest::sample::select(EventName::ALL.to_vec());
    let clients = proptest::sample::select(Contract::MEASURED.to_vec());
    let config = ProptestConfig {
        cases: property_cases(2_000),
        failure_persistence: None,
        ..Default::default()
    };
    let case = (events, pieces, any::<String>(), prop_oneof![Just(0), Just(1), Just(2)], clients);
    proptest::test_runner::TestRunner::new(config)
        .run(&case, |(event, stdout, stderr, exit, client)| {
            let contract = Contract::for_client(client);
            if !rutter_contract::table::event_spec(event).is_at(contract) {
                return Ok(());
            }
            let verdict =
                judge_answer(&HookRun { event, stdout: &stdout, stderr: &stderr, exit }, contract);
            if let Some(corrected) = verdict.corrected {
                let run = HookRun { event, stdout: &corrected.stdout, stderr: "", exit: 0 };
                let again = judge_answer(&run, contract);
                prop_assert_eq!(again.outcome, HookOutcome::Success, "{}", corrected.stdout);
                prop_assert!(
                    again.severity() < Some(MistakeSeverity::Error),
                    "{} on {event}",
                    corrected.stdout
                );
            }
            Ok(())
        })
        .unwrap();
}

/// The engine offers a correction only if it has the whole intended effect.
#[test]
fn corrections_preserve_intent() {
    let corrected = |event, stdout: &str, stderr: &str, exit| {
        let run = HookRun { event, stdout, stderr, exit };
        judge_answer(&run, Contract::newest()).corrected.map(|corrected| corrected.stdout)
    };
    // A number in an input must be kept.
    assert_eq!(
        corrected(
            EventName::PreToolUse,
            r#"{"permissionDecision":"allow","updatedInput":{"command":"x","timeout":5}}"#,
            "",
            0
        )
        .unwrap(),
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"x","timeout":5}}}"#
    );
    // A correction without an input that cannot be rendered would allow the original call.
    let huge = r#"{"permissionDecision":"allow","updatedInput":{"timeout":1e999}}"#;
    assert_eq!(corrected(EventName::PreToolUse, huge, "", 0), None);
    // Right fields stay.
    let title = r#"{"context":"x","hookSpecificOutput":{"hookEventName":"SessionStart","sessionTitle":"t","watchPaths":["/a"]}}"#;
    assert_eq!(
        corrected(EventName::SessionStart, title, "", 0).unwrap(),
        r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"x","sessionTitle":"t","watchPaths":["/a"]}}"#
    );
    // A failing hook that allows does not deny.
    let allow = r#"{"x":1,"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
    assert_eq!(
        corrected(EventName::PreToolUse, allow, "Warning: x", 1).unwrap(),
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#
    );
    assert_eq!(corrected(EventName::PreToolUse, "", "foo: not found", 127), None);
    // Contradicting intents have no correction.
    assert_eq!(
        corrected(EventName::PreToolUse, r#"{"continue":"false","decision":"allow"}"#, "", 0),
        None
    );
}
