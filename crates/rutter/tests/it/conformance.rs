//! Hook output against the contract of the client. Each hook gets a payload recorded from the client and must give a
//! valid answer that reaches the model. With any fault in payload or store it must be silent.

use std::collections::BTreeSet;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Child;

use rutter_contract::verdict::{HookRun, MessageKind, Outcome, Turn, judge};
use rutter_contract::version::Contract;
use rutter_contract::{EventName, payload, schema, table};
use rutter_testkit::Ran;
use serde_json::{Value, json};

use crate::hook::silent;
use crate::support::{Home, START, hold};

/// Checks a hook's answer against schema and contract, and returns its text for the model.
#[track_caller]
pub(crate) fn said(event: &str, ran: &Ran) -> String {
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{event}: {ran}");
    assert_ne!(ran.stdout, "", "{event} has nothing to say");
    let event: EventName = event.parse().expect("an event");
    let plain = event == EventName::PreCompact;
    if !plain {
        let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let bundle = schema::bundle(table::event(event), Contract::newest());
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
        let verdict = judge(&run, Contract::for_client(contract));
        assert_eq!(verdict.outcome, Outcome::Success, "{event}");
        assert!(verdict.diagnostics.is_empty(), "{event}: {:?}", verdict.diagnostics);
        assert!(verdict.dropped.is_empty() && verdict.corrected.is_none(), "{event}: {verdict:?}");
        // Only an answer to Stop prolongs the turn. No hook decides about a tool call.
        let turn = if event == EventName::Stop { Turn::KeptGoing } else { Turn::Continues };
        assert_eq!(verdict.turn, turn, "{event}");
        assert!(
            matches!(verdict.tool, None | Some(rutter_contract::verdict::Tool::Unchanged)),
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
fn sent(home: &Home, event: EventName, tool: Option<&str>, session: &str, fields: &Value) -> Value {
    let mut value = payload::realistic(event, tool).expect("such a payload").value;
    value["session_id"] = session.into();
    value["cwd"] = home.path("ship").to_str().expect("a plain name").into();
    value.as_object_mut().expect("an object").extend(fields.as_object().expect("one").clone());
    let schema = schema::input(table::event(event), Contract::newest());
    let schema = jsonschema::options().build(&schema).expect("a schema");
    let wrong: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{event}: {wrong:?}: {value}");
    value
}

/// A situation in which a hook has something to say.
struct Case {
    event: EventName,
    /// Prepares the store.
    arrange: fn(&Home),
    /// Builds the payload.
    told: fn(&Home) -> Value,
    /// A part of the expected answer.
    says: &'static str,
}

fn remembered(home: &Home) {
    let text = "The test suite leaks Redis connections: close the client in teardown";
    home.ok(&["remember", text, "--category", "fact"]);
}

fn begun(home: &Home) {
    drop(home.inside("one", START).success());
}

fn fixed(home: &Home) {
    home.ok(&["tend"]);
    // The first failure may be answered with an offer to start a GHAP.
    drop(home.hook(&home.red("earlier")).success());
    for payload in [home.edit("earlier"), home.green("earlier")] {
        silent(&home.hook(&payload));
    }
}

fn bash(home: &Home, event: EventName, fields: &Value) -> Value {
    let mut value = sent(home, event, Some("Bash"), "one", fields);
    value["tool_input"]["command"] = "cargo test parser".into();
    value
}

fn cases() -> Vec<Case> {
    const RED: &str = "Exit code 101\n\nrunning 1 test\ntest parser::crlf ... FAILED\n\nfailures:\n\n\
        ---- parser::crlf stdout ----\n\nthread 'parser::crlf' panicked at src/lib.rs:5:9:\nleft: 1, right: 2\n\n\n\
        failures:\n    parser::crlf\n\n\
        test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    const GREEN: &str = "\nrunning 1 test\ntest parser::crlf ... ok\n\n\
        test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    vec![
        Case {
            event: EventName::SessionStart,
            arrange: |home| home.ok(&["tend"]),
            told: |home| {
                sent(home, EventName::SessionStart, None, "one", &json!({ "source": "startup" }))
            },
            says: "ghap start --domain",
        },
        Case {
            event: EventName::SessionStart,
            arrange: begun,
            told: |home| {
                sent(home, EventName::SessionStart, None, "one", &json!({ "source": "compact" }))
            },
            says: "Active GHAP",
        },
        Case {
            event: EventName::SessionStart,
            arrange: |home| {
                begun(home);
                silent(&home.hook(&sent(home, EventName::SessionEnd, None, "one", &json!({}))));
                home.settle();
            },
            told: |home| {
                sent(home, EventName::SessionStart, None, "two", &json!({ "source": "clear" }))
            },
            says: "left GHAP",
        },
        Case {
            event: EventName::UserPromptSubmit,
            arrange: remembered,
            told: |home| {
                let prompt = json!({ "prompt": "redis connections leak in tests" });
                sent(home, EventName::UserPromptSubmit, None, "one", &prompt)
            },
            says: "Remembered (fact): `The test suite leaks",
        },
        Case {
            event: EventName::PreToolUse,
            arrange: |home| {
                begun(home);
                for _ in 0..9 {
                    let call = sent(home, EventName::PreToolUse, Some("Bash"), "one", &json!({}));
                    silent(&home.hook(&call));
                }
            },
            told: |home| sent(home, EventName::PreToolUse, Some("Bash"), "one", &json!({})),
            says: "GHAP check-in, 10 tool calls",
        },
        Case {
            event: EventName::PostToolUse,
            arrange: begun,
            told: |home| {
                let response = json!({ "stdout": GREEN, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false });
                bash(home, EventName::PostToolUse, &json!({ "tool_response": response }))
            },
            says: "It came true",
        },
        Case {
            event: EventName::PostToolUseFailure,
            arrange: begun,
            told: |home| bash(home, EventName::PostToolUseFailure, &json!({ "error": RED })),
            says: "contradicts it",
        },
        Case {
            event: EventName::PostToolUseFailure,
            arrange: fixed,
            told: |home| {
                let error = home.red("two")["error"].clone();
                let mut value = sent(
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
        Case {
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
                    begun(home);
                    drop(home.inside("one", &[&resolve[..], &why].concat()).success());
                }
            },
            told: |home| bash(home, EventName::PostToolUseFailure, &json!({ "error": RED })),
            says: "5 of 5 wrong hypotheses here had the root cause oversight; the newest lesson from that: `count the",
        },
        Case {
            event: EventName::SubagentStart,
            arrange: |home| {
                remembered(home);
                let mut call = sent(home, EventName::PreToolUse, Some("Agent"), "one", &json!({}));
                call["tool_input"]["prompt"] = "redis connections leak in tests".into();
                call["tool_input"]["subagent_type"] = "general-purpose".into();
                silent(&home.hook(&call));
            },
            told: |home| {
                sent(
                    home,
                    EventName::SubagentStart,
                    None,
                    "one",
                    &json!({ "agent_type": "general-purpose" }),
                )
            },
            says: "Remembered (fact): `The test suite leaks",
        },
        Case {
            event: EventName::PreCompact,
            arrange: begun,
            told: |home| sent(home, EventName::PreCompact, None, "one", &json!({})),
            says: "Active GHAP",
        },
        Case {
            event: EventName::Stop,
            arrange: begun,
            told: |home| {
                sent(home, EventName::Stop, None, "one", &json!({ "stop_hook_active": false }))
            },
            says: "Active GHAP",
        },
    ]
}

#[test]
fn every_answer_is_right_and_reaches_the_model() {
    for Case { event, arrange, told, says } in cases() {
        let home = Home::new();
        home.set(&[("stop", "ask = true")]);
        arrange(&home);
        let said = said(event.as_str(), &home.hook(&told(&home)));
        assert!(said.contains(says), "{event}: {said}");
    }
}

/// [`cases`] covers every event that `init` registers, except SessionEnd, which has no answer.
#[test]
fn every_hook_that_is_registered_is_looked_at() {
    let home = Home::new();
    drop(home.init(&[]).success());
    let settings: Value =
        serde_json::from_str(&std::fs::read_to_string(home.settings()).unwrap()).unwrap();
    let registered: BTreeSet<String> =
        settings["hooks"].as_object().unwrap().keys().cloned().collect();
    let looked_at: BTreeSet<String> = cases()
        .iter()
        .map(|case| case.event.to_string())
        .chain([EventName::SessionEnd.to_string()])
        .collect();
    assert_eq!(registered, looked_at);
}

#[test]
fn the_end_of_a_session_is_recorded_without_a_word() {
    let home = Home::new();
    begun(&home);
    silent(&home.hook(&sent(&home, EventName::SessionEnd, None, "one", &json!({}))));
    home.settle();
    assert_eq!(home.json(&["sessions", "show", "one"])["over"], true);
}

#[test]
fn whoever_is_not_meant_hears_nothing() {
    // Events that rutter does not handle.
    let ours: BTreeSet<EventName> = cases().iter().map(|case| case.event).collect();
    let home = Home::new();
    home.set(&[]);
    begun(&home);
    remembered(&home);
    for event in EventName::ALL.into_iter().filter(|event| !ours.contains(event)) {
        for value in payload::recorded(event) {
            silent(&home.hook(value));
        }
        silent(&home.hook(&sent(&home, event, None, "stranger", &json!({}))));
    }
    // Events that rutter handles, without anything relevant in the store.
    let home = Home::new();
    home.set(&[]);
    remembered(&home);
    let tell =
        |event, tool, fields: Value| silent(&home.hook(&sent(&home, event, tool, "one", &fields)));
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
    begun(&home);
    tell(EventName::Stop, None, json!({ "stop_hook_active": false }));
    tell(EventName::Stop, None, json!({ "stop_hook_active": true }));
}

#[test]
fn a_stop_that_a_hook_caused_is_not_prolonged_again() {
    let home = Home::new();
    home.set(&[("stop", "ask = true")]);
    begun(&home);
    let stop = |active: bool| {
        home.hook(&sent(
            &home,
            EventName::Stop,
            None,
            "one",
            &json!({ "stop_hook_active": active }),
        ))
    };
    silent(&stop(true));
    drop(said("Stop", &stop(false)));
    silent(&stop(false));
}

/// Damages the store. Returns the process that holds the lock, which the caller has to end.
fn break_it(home: &Home, fault: &str) -> Option<Child> {
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
        "locked" => return Some(hold(&database, "EXCLUSIVE")),
        other => panic!("{other}"),
    }
    None
}

#[test]
fn whatever_is_wrong_every_hook_is_silent() {
    for fault in ["missing", "corrupt", "newer", "locked"] {
        for Case { event, arrange, told, .. } in cases() {
            let home = Home::new();
            arrange(&home);
            let holder = break_it(&home, fault);
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
fn beside_a_long_write_it_is_the_right_answer_or_none() {
    for Case { event, arrange, told, .. } in cases() {
        let home = Home::new();
        arrange(&home);
        let mut holder = hold(&home.memory().join("rutter.db"), "NORMAL");
        let ran = home.hook(&told(&home));
        if ran.stdout.is_empty() {
            silent(&ran);
        } else {
            drop(said(event.as_str(), &ran));
        }
        drop(holder.stdin.take());
        holder.wait().unwrap();
        // An injection is recorded if and only if it was delivered. Its record may come from the spool.
        if event == EventName::UserPromptSubmit {
            home.settle();
            let shown = home.json(&["injections"]).as_array().unwrap().len();
            assert_eq!(shown, usize::from(!ran.stdout.is_empty()), "{ran}");
        }
    }
}

#[test]
fn whoever_wants_quiet_has_it() {
    for Case { event, arrange, told, .. } in cases() {
        let home = Home::new();
        home.set(&[("stop", "ask = true")]);
        arrange(&home);
        let payload = told(&home);
        home.ok(&["pause"]);
        silent(&home.hook(&payload));
        home.ok(&["pause", "--off"]);
        let bytes = payload.to_string();
        silent(&home.hook_with(bytes.as_bytes(), &[("RUTTER", Path::new("off"))]));
        drop(said(event.as_str(), &home.hook(&payload)));
    }
}

#[test]
fn what_cannot_be_read_is_not_answered() {
    let home = Home::new();
    home.set(&[]);
    begun(&home);
    for payload in
        ["", "{", "null", "[]", "\"SessionStart\"", "{}", "\u{feff}{}", "{\"hook_event_name\":7}"]
    {
        silent(&home.hook_with(payload.as_bytes(), &[]));
    }
    for event in ["Novelty", "PreToolCall", "sessionstart", ""] {
        silent(&home.hook(&home.event("one", event, &json!({ "source": "startup" }))));
    }
    // Truncated payloads, and payloads without a valid session id or working directory.
    for Case { told, .. } in cases() {
        let whole = told(&home);
        let text = whole.to_string();
        silent(&home.hook_with(&text.as_bytes()[..text.len() / 2], &[]));
        for field in ["session_id", "cwd"] {
            for value in [Value::Null, json!(7), json!(""), json!({})] {
                let mut payload = whole.clone();
                payload[field] = value;
                silent(&home.hook(&payload));
            }
        }
    }
}
