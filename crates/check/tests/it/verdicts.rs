//! Verdicts: a sample of the measured answers is given to the client again, which must act as the engine predicts.
//!
//! The files in `fixtures/verdicts/` were measured once; these tests keep them, the engine and the client consistent.

use rutter_check::live::scenario::RAN_FILE;
use rutter_check::live::{ClientBinary, EventScenario, RunRecord};
use rutter_contract::EventName;
use rutter_contract::output::HookAnswer;
use rutter_contract::verdict::{
    HookOutcome, HookRun, ToolCallEffect, TurnEffect, Verdict, judge_answer,
};
use rutter_contract::version::Contract;
use rutter_testkit::repository_root;
use serde_json::{Value, json};

use crate::support::{client, old_client};

/// Number of cases per event from each file.
const SAMPLED_CASES: [(&str, usize); 2] = [("2.1.325.json", 4), ("more-2.1.325.json", 2)];

/// Cases that depend on more than the answer, as in the engine's own tests; they include the timing of
/// background hooks.
const UNDECIDABLE: [&str; 4] = ["ium", "updbad", "uto-ok", "async-"];

/// Returns true if `RUTTER_LIVE_ALL` is set: measures all cases again, which takes most of an hour.
fn is_full_measurement() -> bool {
    std::env::var_os("RUTTER_LIVE_ALL").is_some()
}

fn cases(file: &str) -> Vec<Value> {
    let text =
        std::fs::read_to_string(repository_root().join("fixtures/verdicts").join(file)).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let decidable = |case: &&Value| {
        let id = case["id"].as_str().unwrap();
        !UNDECIDABLE.iter().any(|name| id.contains(name))
    };
    all["cases"].as_array().unwrap().iter().filter(decidable).cloned().collect()
}

/// Returns some cases of an event, spread evenly over each file.
fn sample(event: EventName) -> Vec<Value> {
    let mut taken = Vec::new();
    for (file, number) in SAMPLED_CASES {
        let all: Vec<Value> =
            cases(file).into_iter().filter(|case| case["event"] == event.as_str()).collect();
        let number = if is_full_measurement() { all.len() } else { number };
        taken.extend((0..number).map(|at| all[at * all.len() / number].clone()));
    }
    taken
}

/// Gives a case to the client and compares the result with the engine's verdict.
fn put(client: &ClientBinary, case: &Value) {
    let text = |key: &str| case[key].as_str().unwrap().to_owned();
    let event: EventName = text("event").parse().unwrap();
    let exit = u8::try_from(case["exit"].as_u64().unwrap()).unwrap();
    let answer = HookAnswer { stdout: text("stdout"), stderr: text("stderr"), exit };
    let run = HookRun { event, stdout: &answer.stdout, stderr: &answer.stderr, exit: exit.into() };
    let verdict = judge_answer(&run, Contract::for_client(client.version()));

    let scenario = EventScenario::for_event(event);
    let mut sandbox = scenario.sandbox().unwrap();
    sandbox.hook(scenario.hook().answers_once(answer.clone()));
    let record = sandbox.run(client).unwrap();
    let wrong = differences(event, &verdict, &record);
    assert!(wrong.is_empty(), "{} on {}: {wrong:?}\n{verdict:#?}", case["id"], client.version());
}

fn differences(event: EventName, verdict: &Verdict, record: &RunRecord) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |what: &str, engine: bool, client: bool| {
        if engine != client {
            wrong.push(format!("{what}: the engine says {engine}, the client did {client}"));
        }
    };
    let calls = record.calls_of(event).count();
    compare("fired", true, calls > 0);
    for mark in ["CTX-MARK", "REASON-MARK", "ERR-MARK"] {
        let engine = verdict.to_model.iter().any(|message| message.text.contains(mark));
        compare(mark, engine, record.reached_model(mark).is_some());
    }
    // The client does not wait for the hooks of some events and reports nothing of them.
    let responses = record.hook_responses(event);
    if !responses.is_empty() {
        let failed = responses.iter().any(|response| response.outcome == "error");
        compare("error", verdict.outcome == HookOutcome::Error, failed);
    }
    if let Some(tool) = verdict.tool {
        let runs = match tool {
            ToolCallEffect::Runs | ToolCallEffect::Rewritten => true,
            // The default of the scenario.
            ToolCallEffect::Unchanged => event == EventName::PreToolUse,
            ToolCallEffect::Asks | ToolCallEffect::Deferred | ToolCallEffect::Blocked => false,
        };
        compare("tool ran", runs, record.project().join(RAN_FILE).exists());
    }
    if matches!(event, EventName::Stop | EventName::SubagentStop | EventName::TeammateIdle) {
        // An agent that is kept going stops a second time.
        compare("kept going", verdict.turn == TurnEffect::KeptGoing, calls > 1);
    } else {
        let ended = ["hook_stopped", "tool_deferred", "aborted_tools"];
        let stopped = record.terminal_reason().is_some_and(|reason| ended.contains(&reason));
        let requests = record.main_requests().count();
        let unsent = matches!(verdict.turn, TurnEffect::Stops | TurnEffect::Erased);
        compare("turn ended", unsent, stopped || requests == 0);
    }
    wrong
}

macro_rules! samples {
    ($($test:ident: $event:ident,)*) => {
        $(#[test]
        fn $test() {
            let Some(client) = client() else { return };
            for case in sample(EventName::$event) {
                put(&client, &case);
            }
        })*

        /// Fails if the files shrink.
        #[test]
        fn the_sample_is_large_enough() {
            let events = [$(EventName::$event),*];
            let cases: usize = events.iter().map(|event| sample(*event).len()).sum();
            assert!(events.len() >= 10 && cases >= 60, "{cases} cases of {} events", events.len());
        }
    };
}

samples! {
    session_start: SessionStart,
    user_prompt_submit: UserPromptSubmit,
    pre_tool_use: PreToolUse,
    post_tool_use: PostToolUse,
    post_tool_use_failure: PostToolUseFailure,
    post_tool_batch: PostToolBatch,
    permission_request: PermissionRequest,
    subagent_start: SubagentStart,
    subagent_stop: SubagentStop,
    stop: Stop,
    session_end: SessionEnd,
}

/// Returns an answer of every kind, for the events that are not in the measured files.
fn kinds(event: EventName) -> Vec<Value> {
    let context = json!({ "hookEventName": event.as_str(), "additionalContext": "CTX-MARK" });
    let context = json!({ "hookSpecificOutput": context }).to_string();
    let block = json!({ "decision": "block", "reason": "REASON-MARK" }).to_string();
    let stop = json!({ "continue": false, "stopReason": "REASON-MARK" }).to_string();
    let message = json!({ "systemMessage": "CTX-MARK" }).to_string();
    let all = [
        (block.as_str(), "", 0),
        ("", "ERR-MARK", 2),
        ("CTX-MARK", "", 0),
        (context.as_str(), "", 0),
        (message.as_str(), "", 0),
        (stop.as_str(), "", 0),
        ("", "ERR-MARK", 1),
        (block.as_str(), "ERR-MARK", 2),
        (context.as_str(), "ERR-MARK", 2),
        (r#"{"continue":"CTX-MARK"}"#, "ERR-MARK", 2),
        ("CTX-MARK", "ERR-MARK", 1),
        (r#"{"continue":"CTX-MARK"}"#, "", 0),
        ("{}", "", 0),
    ];
    let case = |(stdout, stderr, exit): (&str, &str, u8)| {
        let id = format!("{event}, exit {exit}, {stdout}");
        json!({ "id": id, "event": event.as_str(), "stdout": stdout, "stderr": stderr, "exit": exit })
    };
    all.map(case).to_vec()
}

/// Tests two kinds per event, chosen so that the events together cover all kinds.
fn put_kinds(event: EventName) {
    let Some(client) = client() else { return };
    let kinds = kinds(event);
    let number = if is_full_measurement() { kinds.len() } else { 2 };
    for at in 0..number {
        put(&client, &kinds[(event as usize * 2 + at) % kinds.len()]);
    }
}

macro_rules! kinds {
    ($($test:ident: $event:ident,)*) => {
        $(#[test]
        fn $test() {
            put_kinds(EventName::$event);
        })*
    };
}

kinds! {
    notification: Notification,
    user_prompt_expansion: UserPromptExpansion,
    stop_failure: StopFailure,
    pre_compact: PreCompact,
    post_compact: PostCompact,
    pre_model_switch: PreModelSwitch,
    post_model_switch: PostModelSwitch,
    permission_denied: PermissionDenied,
    setup: Setup,
    teammate_idle: TeammateIdle,
    task_created: TaskCreated,
    task_completed: TaskCompleted,
    elicitation: Elicitation,
    elicitation_result: ElicitationResult,
    config_change: ConfigChange,
    worktree_create: WorktreeCreate,
    worktree_remove: WorktreeRemove,
    instructions_loaded: InstructionsLoaded,
    cwd_changed: CwdChanged,
    file_changed: FileChanged,
    directory_added: DirectoryAdded,
    message_display: MessageDisplay,
}

/// Tests all cases of the first measurement in which the older client differs.
#[test]
fn older_client_matches_engine() {
    let Some(old) = old_client() else { return };
    let newer = cases("2.1.325.json");
    let mut put_again = 0;
    for case in cases("2.1.197.json") {
        let other = newer.iter().find(|other| other["id"] == case["id"]).unwrap();
        if is_full_measurement() || other["observed"] != case["observed"] {
            put(&old, &case);
            put_again += 1;
        }
    }
    assert!(put_again >= 13, "{put_again} cases");
}
