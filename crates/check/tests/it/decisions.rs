//! Permissions, elicitations, and decisions of single events.

use rutter_check::live::scenario::{OTHER_MODEL, RAN_FILE, TOOL_OUTPUT, WORKTREE_FOLDER};
use rutter_check::live::{EventScenario, ModelScript, ModelTurn, RunRecord};
use rutter_contract::EventName;
use rutter_contract::input::{
    Elicitation, ElicitationResult, PermissionDenied, PermissionRequest, PermissionUpdate,
    PostToolUse, PreModelSwitch, PreToolUse, SessionStart, WorktreeCreate,
};
use rutter_contract::output::{AnswersElicitation, HookAnswer, HookOutput, PermissionGrant};
use serde_json::{Map, Value, json};

use crate::support::{MARK, capable, client, run_with_answer};

fn json_object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

fn tool_ran(record: &RunRecord) -> bool {
    record.project().join(RAN_FILE).exists()
}

/// Runs the scenario in which the call is not allowed, with a hook on another event.
fn run_unallowed(event: EventName, answer: HookAnswer) -> Option<RunRecord> {
    let client = client()?;
    let mut sandbox = EventScenario::for_event(EventName::PermissionRequest).sandbox().unwrap();
    sandbox.hook(rutter_check::live::TestHook::for_event(event).answers_once(answer));
    Some(sandbox.run(&client).unwrap())
}

#[test]
fn tests_every_deciding_event() {
    assert_eq!(capable("DecidesPermission"), ["PreModelSwitch", "PreToolUse"].into());
    assert_eq!(capable("AnswersElicitation"), ["Elicitation", "ElicitationResult"].into());
}

#[test]
fn denied_call_reports_reason() {
    let answer = HookOutput::<PreToolUse>::new().deny(MARK).answer();
    let Some(record) = run_with_answer::<PreToolUse>(answer) else { return };
    assert!(!tool_ran(&record));
    let told = record.reached_model(MARK).unwrap();
    assert_eq!(told.request, 1);
    assert!(told.text.contains("PreToolUse:Bash hook error: "), "{told:?}");
}

#[test]
fn unanswered_question_is_refusal() {
    let answer = HookOutput::<PreToolUse>::new().ask(MARK).answer();
    let Some(record) = run_with_answer::<PreToolUse>(answer) else { return };
    assert!(!tool_ran(&record));
    assert!(record.reached_model(MARK).is_some());
}

#[test]
fn allowed_call_needs_no_rule() {
    let silent = HookOutput::<PreToolUse>::new().answer();
    let Some(record) = run_unallowed(EventName::PreToolUse, silent) else { return };
    assert!(!tool_ran(&record), "or the scenario shows nothing");

    let answer = HookOutput::<PreToolUse>::new().allow().answer();
    let Some(record) = run_unallowed(EventName::PreToolUse, answer) else { return };
    assert!(tool_ran(&record));
}

#[test]
fn deferred_call_ends_run() {
    let answer = HookOutput::<PreToolUse>::new().defer().answer();
    let Some(record) = run_with_answer::<PreToolUse>(answer) else { return };
    assert_eq!(record.terminal_reason(), Some("tool_deferred"));
    assert!(!tool_ran(&record));
    assert_eq!(record.main_requests().count(), 1);
}

#[test]
fn updated_input_runs() {
    let input = json_object(json!({ "command": format!("echo {MARK}"), "description": "other" }));
    let answer = HookOutput::<PreToolUse>::new().updated_input(input).answer();
    let Some(record) = run_with_answer::<PreToolUse>(answer) else { return };
    assert!(!tool_ran(&record));
    assert!(record.reached_model(MARK).is_some());
    assert_eq!(record.reached_model(TOOL_OUTPUT), None);
}

#[test]
fn granted_request_runs() {
    let answer = HookOutput::<PermissionRequest>::new().allow().answer();
    let Some(record) = run_with_answer::<PermissionRequest>(answer) else { return };
    assert!(tool_ran(&record));
}

#[test]
fn granted_request_runs_updated_input() {
    let input = json_object(json!({ "command": format!("echo {MARK}"), "description": "other" }));
    let allow = PermissionGrant::default().updated_input(input);
    let answer = HookOutput::<PermissionRequest>::new().allow_with(allow).answer();
    let Some(record) = run_with_answer::<PermissionRequest>(answer) else { return };
    assert!(!tool_ran(&record));
    assert!(record.reached_model(MARK).is_some());
}

#[test]
fn granted_rule_applies_to_next_call() {
    let Some(client) = client() else { return };
    let scenario = EventScenario::for_event(EventName::PermissionRequest);
    let two_calls = || {
        let call = |file: &str| {
            let command = format!("sh -c 'touch {file}'");
            ModelTurn::call("Bash", json!({ "command": command, "description": "a call" }))
        };
        ModelScript::new([call("first.txt"), call("second.txt")])
    };
    let rule = json!({
        "type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{ "toolName": "Bash" }],
    });
    let update: PermissionUpdate = serde_json::from_value(rule).unwrap();
    let for_good = PermissionGrant::default().updated_permission(&update).unwrap();
    for (allow, second) in [(PermissionGrant::default(), false), (for_good, true)] {
        let mut sandbox = scenario.sandbox().unwrap();
        let answer = HookOutput::<PermissionRequest>::new().allow_with(allow).answer();
        sandbox.script(two_calls()).hook(scenario.hook().answers_once(answer));
        let record = sandbox.run(&client).unwrap();
        assert!(record.project().join("first.txt").exists());
        assert_eq!(record.project().join("second.txt").exists(), second);
    }
}

#[test]
fn refused_request_reports_reason() {
    let answer = HookOutput::<PermissionRequest>::new().deny(MARK).answer();
    let Some(record) = run_with_answer::<PermissionRequest>(answer) else { return };
    assert!(!tool_ran(&record));
    assert_eq!(record.reached_model(MARK).unwrap().request, 1);
}

#[test]
fn refused_request_ends_turn() {
    let answer = HookOutput::<PermissionRequest>::new().deny_and_interrupt(MARK).answer();
    let Some(record) = run_with_answer::<PermissionRequest>(answer) else { return };
    assert!(!tool_ran(&record));
    assert_eq!(record.terminal_reason(), Some("aborted_tools"));
    assert_eq!(record.main_requests().count(), 1);
}

#[test]
fn auto_mode_denial_can_be_retried() {
    let answer = HookOutput::<PermissionDenied>::new().retry().answer();
    let Some(record) = run_with_answer::<PermissionDenied>(answer) else { return };
    let hint = "The PermissionDenied hook indicated you may retry this tool call.";
    assert!(record.reached_model(hint).is_some());
}

/// Returns the model of the last request.
fn last_model(record: &RunRecord) -> &str {
    record.main_requests().last().unwrap().body["model"].as_str().unwrap()
}

#[test]
fn allowed_switch_changes_model() {
    let answer = HookOutput::<PreModelSwitch>::new().allow().answer();
    let Some(record) = run_with_answer::<PreModelSwitch>(answer) else { return };
    assert_eq!(last_model(&record), OTHER_MODEL);
}

#[test]
fn denied_switch_keeps_model() {
    let output = HookOutput::<PreModelSwitch>::new;
    for answer in [output().deny(MARK).answer(), output().ask(MARK).answer()] {
        let Some(record) = run_with_answer::<PreModelSwitch>(answer) else { return };
        assert_ne!(last_model(&record), OTHER_MODEL);
        let refusal = record.reached_user(MARK).unwrap();
        assert_eq!(refusal["response"]["subtype"], "error");
    }
}

fn run_elicitation<E: AnswersElicitation>(answer: HookAnswer) -> Option<String> {
    let record = run_with_answer::<E>(answer)?;
    Some(record.reached_model("ANSWERED").unwrap().text.to_owned())
}

#[test]
fn hook_answers_elicitation() {
    let output = HookOutput::<Elicitation>::new;
    let accept = output().accept(json_object(json!({ "name": MARK }))).answer();
    let Some(text) = run_elicitation::<Elicitation>(accept) else { return };
    assert!(text.contains("action:accept") && text.contains(MARK), "{text}");
    for (answer, action) in [(output().decline(), "decline"), (output().cancel(), "cancel")] {
        let text = run_elicitation::<Elicitation>(answer.answer()).unwrap();
        assert!(text.contains(&format!("action:{action}")), "{text}");
        assert!(!text.contains("Ada"), "the user was asked all the same: {text}");
    }
}

#[test]
fn hook_replaces_elicitation_result() {
    let output = HookOutput::<ElicitationResult>::new;
    let accept = output().accept(json_object(json!({ "name": MARK }))).answer();
    let Some(text) = run_elicitation::<ElicitationResult>(accept) else { return };
    assert!(
        text.contains("action:accept") && text.contains(MARK) && !text.contains("Ada"),
        "{text}"
    );
    let text = run_elicitation::<ElicitationResult>(output().decline().answer()).unwrap();
    assert!(text.contains("action:decline") && !text.contains("Ada"), "{text}");
    // After a cancel the server still gets the user's values: a hook that must withhold them declines.
    let text = run_elicitation::<ElicitationResult>(output().cancel().answer()).unwrap();
    assert!(text.contains("action:cancel") && text.contains("Ada"), "{text}");
}

#[test]
fn hook_chooses_worktree_path() {
    let Some(client) = client() else { return };
    let mut sandbox = EventScenario::for_event(EventName::WorktreeCreate).sandbox().unwrap();
    let path = sandbox.project().join(WORKTREE_FOLDER).display().to_string();
    let answer = HookOutput::<WorktreeCreate>::path(&path);
    sandbox.hook(EventScenario::for_event(EventName::WorktreeCreate).hook().answers(answer));
    let record = sandbox.run(&client).unwrap();
    assert!(record.reached_model(&format!("Created worktree at “{path}”")).is_some());
}

#[test]
fn updated_output_reaches_model() {
    let output = json!({ "stdout": MARK, "stderr": "", "interrupted": false, "isImage": false });
    let answer = HookOutput::<PostToolUse>::new().updated_tool_output(output).answer();
    let Some(record) = run_with_answer::<PostToolUse>(answer) else { return };
    assert!(tool_ran(&record));
    assert!(record.reached_model(MARK).is_some());
    assert_eq!(record.reached_model(TOOL_OUTPUT), None);
}

#[test]
fn updated_mcp_output_reaches_model() {
    let Some(client) = client() else { return };
    let mut sandbox = EventScenario::for_event(EventName::Elicitation).sandbox().unwrap();
    let output = json!([{ "type": "text", "text": MARK }]);
    let answer = HookOutput::<PostToolUse>::new().updated_mcp_tool_output(output).answer();
    sandbox.hook(EventScenario::for_event(EventName::PostToolUse).hook().answers(answer));
    let record = sandbox.run(&client).unwrap();
    assert!(record.reached_model(MARK).is_some());
    assert_eq!(record.reached_model("ANSWERED"), None);
}

#[test]
fn session_starts_with_hook_prompt() {
    let answer = HookOutput::<SessionStart>::new().initial_user_message(MARK).answer();
    let Some(record) = run_with_answer::<SessionStart>(answer) else { return };
    let told = record.reached_model(MARK).unwrap();
    assert_eq!((told.request, told.role), (0, "user"));
}
