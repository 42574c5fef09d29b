//! Hook output against the contract of the client. Each hook gets a payload recorded from the client and must give a
//! valid answer that reaches the model. With any fault in payload or store it must be silent.

use std::collections::BTreeSet;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Child;

use rutter_contract::verdict::{HookOutcome, HookRun, MessageKind, TurnEffect, judge_answer};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, payload, schema, table};
use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::hook::assert_silent;
use crate::support::{GHAP_START_ARGS, TestHome, lock_database};

/// Checks a hook's answer against schema and contract, and returns its text for the model.
#[track_caller]
pub(crate) fn answer_text(event: &str, ran: &CommandOutput) -> String {
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{event}: {ran}");
    assert_ne!(ran.stdout, "", "{event} has nothing to say");
    let event: EventName = event.parse().expect("an event");
    let plain = event == EventName::PreCompact;
    if !plain {
        let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let bundle = schema::bundled_output_schema(table::event_spec(event), Contract::newest());
        let schema = jsonschema::options().build(&bundle).expect("a schema");
        let wrong: Vec<String> =
            schema.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{event}: {wrong:?}: {ran}");
        // No other keys: the client drops unknown ones silently.
        let keys = |of: &Value| -> Vec<String> {
            of.as_object().expect("an object").keys().cloned().collect()
        };
        assert_eq!(keys(&answer), ["hookSpecificOutput"], "{event}");
        assert_eq!(
            keys(&answer["hookSpecificOutput"]).into_iter().collect::<BTreeSet<_>>(),
            BTreeSet::from(["additionalContext".to_owned(), "hookEventName".to_owned()]),
            "{event}"
        );
    }
    let mut read = String::new();
    for contract in ["2.1.197".parse().expect("a version"), Contract::newest().version()] {
        let run = HookRun { event, stdout: &ran.stdout, stderr: &ran.stderr, exit: 0 };
        let verdict = judge_answer(&run, Contract::for_client(contract));
        assert_eq!(verdict.outcome, HookOutcome::Success, "{event}");
        assert!(verdict.diagnostics.is_empty(), "{event}: {:?}", verdict.diagnostics);
        assert!(verdict.dropped.is_empty() && verdict.corrected.is_none(), "{event}: {verdict:?}");
        // Only an answer to Stop prolongs the turn. No hook decides about a tool call.
        let turn =
            if event == EventName::Stop { TurnEffect::KeptGoing } else { TurnEffect::Continues };
        assert_eq!(verdict.turn, turn, "{event}");
        assert!(
            matches!(
                verdict.tool,
                None | Some(rutter_contract::verdict::ToolCallEffect::Unchanged)
            ),
            "{event}: {verdict:?}"
        );
        let [message] = verdict.to_model.as_slice() else { panic!("{event}: {verdict:?}") };
        let kind = if plain { MessageKind::Text } else { MessageKind::Context };
        assert_eq!((message.kind, message.truncated), (kind, false), "{event}");
        assert!(plain || verdict.to_user.is_empty(), "{event}: {:?}", verdict.to_user);
        read.clone_from(&message.text);
    }
    read
}

/// Returns a recorded payload of the client with this session, the project directory and these fields.
fn recorded_payload(
    home: &TestHome,
    event: EventName,
    tool: Option<&str>,
    session: &str,
    fields: &Value,
) -> Value {
    let mut value = payload::example_payload(event, tool).expect("such a payload").value;
    value["session_id"] = session.into();
    value["cwd"] = home.path("ship").to_str().expect("a plain name").into();
    value.as_object_mut().expect("an object").extend(fields.as_object().expect("one").clone());
    let schema = schema::input_schema(table::event_spec(event), Contract::newest());
    let schema = jsonschema::options().build(&schema).expect("a schema");
    let wrong: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{event}: {wrong:?}: {value}");
    value
}

/// A situation in which a hook has something to say.
struct AnswerCase {
    event: EventName,
    /// Prepares the store.
    arrange: fn(&TestHome),
    /// Builds the payload.
    told: fn(&TestHome) -> Value,
    /// A part of the expected answer.
    says: &'static str,
}

fn store_memory(home: &TestHome) {
    let text = "The test suite leaks Redis connections: close the client in teardown";
    home.ok(&["remember", text, "--category", "fact"]);
}

fn start_ghap(home: &TestHome) {
    drop(home.run_in_session("one", GHAP_START_ARGS).assert_success());
}

fn record_fixed_failure(home: &TestHome) {
    home.ok(&["maintain"]);
    // The first failure may be answered with an offer to start a GHAP.
    drop(home.hook(&home.failing_run("earlier")).assert_success());
    for payload in [home.edit("earlier"), home.passing_run("earlier")] {
        assert_silent(&home.hook(&payload));
    }
}

fn bash_payload(home: &TestHome, event: EventName, fields: &Value) -> Value {
    let mut value = recorded_payload(home, event, Some("Bash"), "one", fields);
    value["tool_input"]["command"] = "cargo test parser".into();
    value
}

fn answer_cases() -> Vec<AnswerCase> {
    const FAILING_RUN: &str = "Exit code 101\n\nrunning 1 test\ntest parser::crlf ... FAILED\n\nfailures:\n\n\
        ---- parser::crlf stdout ----\n\nthread 'parser::crlf' panicked at src/lib.rs:5:9:\nleft: 1, right: 2\n\n\n\
        failures:\n    parser::crlf\n\n\
        test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    const PASSING_RUN: &str = "\nrunning 1 test\ntest parser::crlf ... ok\n\n\
        test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    vec![
        AnswerCase {
            event: EventName::SessionStart,
            arrange: |home| home.ok(&["maintain"]),
            told: |home| {
                recorded_payload(
                    home,
                    EventName::SessionStart,
                    None,
                    "one",
                    &json!({ "source": "startup" }),
                )
            },
            says: "ghap start --domain",
        },
        AnswerCase {
            event: EventName::SessionStart,
            arrange: start_ghap,
            told: |home| {
                recorded_payload(
                    home,
                    EventName::SessionStart,
                    None,
                    "one",
                    &json!({ "source": "compact" }),
                )
            },
            says: "Active GHAP",
        },
        AnswerCase {
            event: EventName::SessionStart,
            arrange: |home| {
                start_ghap(home);
                assert_silent(&home.hook(&recorded_payload(
                    home,
                    EventName::SessionEnd,
                    None,
                    "one",
                    &json!({}),
                )));
                home.wait_for_housekeeping();
            },
            told: |home| {
                recorded_payload(
                    home,
                    EventName::SessionStart,
                    None,
                    "two",
                    &json!({ "source": "clear" }),
                )
            },
            says: "left GHAP",
        },
        AnswerCase {
            event: EventName::UserPromptSubmit,
            arrange: store_memory,
            told: |home| {
                let prompt = json!({ "prompt": "redis connections leak in tests" });
                recorded_payload(home, EventName::UserPromptSubmit, None, "one", &prompt)
            },
            says: "Remembered (fact): `The test suite leaks",
        },
        AnswerCase {
            event: EventName::PreToolUse,
            arrange: |home| {
                start_ghap(home);
                for _ in 0..9 {
                    let call = recorded_payload(
                        home,
                        EventName::PreToolUse,
                        Some("Bash"),
                        "one",
                        &json!({}),
                    );
                    assert_silent(&home.hook(&call));
                }
            },
            told: |home| {
                recorded_payload(home, EventName::PreToolUse, Some("Bash"), "one", &json!({}))
            },
            says: "GHAP check-in, 10 tool calls",
        },
        AnswerCase {
            event: EventName::PostToolUse,
            arrange: start_ghap,
            told: |home| {
                let response = json!({ "stdout": PASSING_RUN, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false });
                bash_payload(home, EventName::PostToolUse, &json!({ "tool_response": response }))
            },
            says: "It came true",
        },
        AnswerCase {
            event: EventName::PostToolUseFailure,
            arrange: start_ghap,
            told: |home| {
                bash_payload(home, EventName::PostToolUseFailure, &json!({ "error": FAILING_RUN }))
            },
            says: "contradicts it",
        },
        AnswerCase {
            event: EventName::PostToolUseFailure,
            arrange: record_fixed_failure,
            told: |home| {
                let error = home.failing_run("two")["error"].clone();
                let mut value = recorded_payload(
                    home,
                    EventName::PostToolUseFailure,
                    Some("Bash"),
                    "two",
                    &json!({ "error": error }),
                );
                value["tool_input"]["command"] = "python3 -m unittest".into();
                value
            },
            says: "this failure was fixed before",
        },
        AnswerCase {
            event: EventName::PostToolUseFailure,
            arrange: |home| {
                let resolve = ["ghap", "resolve", "--status", "falsified", "--result", "it failed"];
                let why = [
                    "--surprise",
                    "CR stays",
                    "--root-cause-category",
                    "oversight",
                    "--root-cause",
                    "x",
                    "--takeaway",
                    "count the carriage returns",
                ];
                for _ in 0..5 {
                    start_ghap(home);
                    drop(
                        home.run_in_session("one", &[&resolve[..], &why].concat()).assert_success(),
                    );
                }
            },
            told: |home| {
                bash_payload(home, EventName::PostToolUseFailure, &json!({ "error": FAILING_RUN }))
            },
            says: "5 of 5 wrong hypotheses here had the root cause oversight; the newest lesson from that: `count the",
        },
        AnswerCase {
            event: EventName::SubagentStart,
            arrange: |home| {
                store_memory(home);
                let mut call =
                    recorded_payload(home, EventName::PreToolUse, Some("Agent"), "one", &json!({}));
                call["tool_input"]["prompt"] = "redis connections leak in tests".into();
                call["tool_input"]["subagent_type"] = "general-purpose".into();
                assert_silent(&home.hook(&call));
            },
            told: |home| {
                recorded_payload(
                    home,
                    EventName::SubagentStart,
                    None,
                    "one",
                    &json!({ "agent_type": "general-purpose" }),
                )
            },
            says: "Remembered (fact): `The test suite leaks",
        },
        AnswerCase {
            event: EventName::PreCompact,
            arrange: start_ghap,
            told: |home| recorded_payload(home, EventName::PreCompact, None, "one", &json!({})),
            says: "Active GHAP",
        },
        AnswerCase {
            event: EventName::Stop,
            arrange: start_ghap,
            told: |home| {
                recorded_payload(
                    home,
                    EventName::Stop,
                    None,
                    "one",
                    &json!({ "stop_hook_active": false }),
                )
            },
            says: "Active GHAP",
        },
    ]
}

#[test]
fn answers_conform_and_reach_model() {
    for AnswerCase { event, arrange, told, says } in answer_cases() {
        let home = TestHome::new();
        home.write_config(&[("stop", "ask = true")]);
        arrange(&home);
        let said = answer_text(event.as_str(), &home.hook(&told(&home)));
        assert!(said.contains(says), "{event}: {said}");
    }
}

/// [`answer_cases`] covers every event that `init` registers, except SessionEnd, which has no answer.
#[test]
fn cases_cover_registered_hooks() {
    let home = TestHome::new();
    drop(home.init(&[]).assert_success());
    let settings: Value =
        serde_json::from_str(&std::fs::read_to_string(home.settings()).unwrap()).unwrap();
    let registered: BTreeSet<String> =
        settings["hooks"].as_object().unwrap().keys().cloned().collect();
    let looked_at: BTreeSet<String> = answer_cases()
        .iter()
        .map(|case| case.event.to_string())
        .chain([EventName::SessionEnd.to_string()])
        .collect();
    assert_eq!(registered, looked_at);
}

#[test]
fn session_end_is_recorded_silently() {
    let home = TestHome::new();
    start_ghap(&home);
    assert_silent(&home.hook(&recorded_payload(
        &home,
        EventName::SessionEnd,
        None,
        "one",
        &json!({}),
    )));
    home.wait_for_housekeeping();
    assert_eq!(home.json(&["sessions", "show", "one"])["over"], true);
}

#[test]
fn irrelevant_events_are_silent() {
    // Events that rutter does not handle.
    let ours: BTreeSet<EventName> = answer_cases().iter().map(|case| case.event).collect();
    let home = TestHome::new();
    home.write_config(&[]);
    start_ghap(&home);
    store_memory(&home);
    for event in EventName::ALL.into_iter().filter(|event| !ours.contains(event)) {
        for value in payload::recorded_payloads(event) {
            assert_silent(&home.hook(value));
        }
        assert_silent(&home.hook(&recorded_payload(&home, event, None, "stranger", &json!({}))));
    }
    // Events that rutter handles, without anything relevant in the store.
    let home = TestHome::new();
    home.write_config(&[]);
    store_memory(&home);
    let tell = |event, tool, fields: Value| {
        assert_silent(&home.hook(&recorded_payload(&home, event, tool, "one", &fields)));
    };
    for source in ["resume", "compact", "clear", "fork"] {
        tell(EventName::SessionStart, None, json!({ "source": source }));
    }
    for prompt in [
        "what is the capital of France",
        "thanks, go on",
        "/clear",
        "",
        "<task-notification>\nredis connections leak in tests</task-notification>",
    ] {
        tell(EventName::UserPromptSubmit, None, json!({ "prompt": prompt }));
    }
    for tool in ["Bash", "Edit", "Read", "Write", "WebFetch", "mcp__srv__ask"] {
        tell(EventName::PreToolUse, Some(tool), json!({}));
        tell(EventName::PostToolUse, Some(tool), json!({}));
        tell(EventName::PostToolUseFailure, Some(tool), json!({}));
    }
    tell(EventName::SubagentStart, None, json!({ "agent_type": "Explore" }));
    tell(EventName::PreCompact, None, json!({}));
    tell(EventName::Stop, None, json!({ "stop_hook_active": false }));
    start_ghap(&home);
    tell(EventName::Stop, None, json!({ "stop_hook_active": false }));
    tell(EventName::Stop, None, json!({ "stop_hook_active": true }));
}

#[test]
fn stop_is_prolonged_only_once() {
    let home = TestHome::new();
    home.write_config(&[("stop", "ask = true")]);
    start_ghap(&home);
    let stop = |active: bool| {
        home.hook(&recorded_payload(
            &home,
            EventName::Stop,
            None,
            "one",
            &json!({ "stop_hook_active": active }),
        ))
    };
    assert_silent(&stop(true));
    drop(answer_text("Stop", &stop(false)));
    assert_silent(&stop(false));
}

/// Damages the store. Returns the process that holds the lock, which the caller has to end.
fn damage_store(home: &TestHome, fault: &str) -> Option<Child> {
    let database = home.memory().join("rutter.db");
    let overwrite = |bytes: &[u8], offset| {
        let file = std::fs::OpenOptions::new().write(true).open(&database).unwrap();
        file.write_all_at(bytes, offset).unwrap();
    };
    match fault {
        // The caller passes another data directory: housekeeping may still run in this one.
        "missing" => {}
        "corrupt" => overwrite(b"nothing of ours", 0),
        "newer" => overwrite(&[0, 0, 0, 99], 60),
        "locked" => return Some(lock_database(&database, "EXCLUSIVE")),
        other => panic!("{other}"),
    }
    None
}

#[test]
fn hooks_are_silent_on_store_faults() {
    for fault in ["missing", "corrupt", "newer", "locked"] {
        for AnswerCase { event, arrange, told, .. } in answer_cases() {
            let home = TestHome::new();
            arrange(&home);
            let holder = damage_store(&home, fault);
            let elsewhere = home.path("elsewhere");
            let at: &[(&str, &Path)] =
                if fault == "missing" { &[("RUTTER_HOME", &elsewhere)] } else { &[] };
            let ran = home.hook_with(told(&home).to_string().as_bytes(), at);
            assert_eq!(
                (ran.exit, ran.stdout.as_str(), ran.stderr.as_str()),
                (Some(0), "", ""),
                "{fault}, {event}"
            );
            if let Some(mut holder) = holder {
                drop(holder.stdin.take());
                holder.wait().unwrap();
            }
        }
    }
}

/// A writer does not block readers: a hook may answer meanwhile, and the answer must be valid.
#[test]
fn answers_conform_during_long_write() {
    for AnswerCase { event, arrange, told, .. } in answer_cases() {
        let home = TestHome::new();
        arrange(&home);
        let mut holder = lock_database(&home.memory().join("rutter.db"), "NORMAL");
        let ran = home.hook(&told(&home));
        if ran.stdout.is_empty() {
            assert_silent(&ran);
        } else {
            drop(answer_text(event.as_str(), &ran));
        }
        drop(holder.stdin.take());
        holder.wait().unwrap();
        // An injection is recorded if and only if it was delivered. Its record may come from the spool.
        if event == EventName::UserPromptSubmit {
            home.wait_for_housekeeping();
            let shown = home.json(&["injections"]).as_array().unwrap().len();
            assert_eq!(shown, usize::from(!ran.stdout.is_empty()), "{ran}");
        }
    }
}

#[test]
fn pause_and_off_silence_hooks() {
    for AnswerCase { event, arrange, told, .. } in answer_cases() {
        let home = TestHome::new();
        home.write_config(&[("stop", "ask = true")]);
        arrange(&home);
        let payload = told(&home);
        home.ok(&["pause"]);
        assert_silent(&home.hook(&payload));
        home.ok(&["pause", "--off"]);
        let bytes = payload.to_string();
        assert_silent(&home.hook_with(bytes.as_bytes(), &[("RUTTER", Path::new("off"))]));
        drop(answer_text(event.as_str(), &home.hook(&payload)));
    }
}

#[test]
fn unreadable_payloads_are_silent() {
    let home = TestHome::new();
    home.write_config(&[]);
    start_ghap(&home);
    for payload in
        ["", "{", "null", "[]", "\"SessionStart\"", "{}", "\u{feff}{}", "{\"hook_event_name\":7}"]
    {
        assert_silent(&home.hook_with(payload.as_bytes(), &[]));
    }
    for event in ["Novelty", "PreToolCall", "sessionstart", ""] {
        assert_silent(&home.hook(&home.event("one", event, &json!({ "source": "startup" }))));
    }
    // Truncated payloads, and payloads without a valid session id or working directory.
    for AnswerCase { told, .. } in answer_cases() {
        let whole = told(&home);
        let text = whole.to_string();
        assert_silent(&home.hook_with(&text.as_bytes()[..text.len() / 2], &[]));
        for field in ["session_id", "cwd"] {
            for value in [Value::Null, json!(7), json!(""), json!({})] {
                let mut payload = whole.clone();
                payload[field] = value;
                assert_silent(&home.hook(&payload));
            }
        }
    }
}
