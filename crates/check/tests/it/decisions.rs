//! Permissions, elicitations, and decisions of single events.

use rutter_check::live::scenario::{OTHER_MODEL, RAN, TOOL_OUTPUT, WORKTREE};
use rutter_check::live::{Record, Scenario, Script, Turn};
use rutter_contract::EventName;
use rutter_contract::input::{
    Elicitation, ElicitationResult, PermissionDenied, PermissionRequest, PermissionUpdate,
    PostToolUse, PreModelSwitch, PreToolUse, SessionStart, WorktreeCreate,
};
use rutter_contract::output::{Allow, Answer, AnswersElicitation, HookOutput};
use serde_json::{Map, Value, json};

use crate::support::{MARK, answered, capable, client};

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

fn ran(record: &Record) -> bool {
    record.project().join(RAN).exists()
}

/// Runs the scenario in which the call is not allowed, with a hook on another event.
fn unallowed(event: EventName, answer: Answer) -> Option<Record> {
    let client = client()?;
    let mut sandbox = Scenario::of(EventName::PermissionRequest).sandbox().unwrap();
    sandbox.hook(rutter_check::live::Hook::on(event).answers_once(answer));
    Some(sandbox.run(&client).unwrap())
}

#[test]
fn none_is_left_out() {
    assert_eq!(capable("DecidesPermission"), ["PreModelSwitch", "PreToolUse"].into());
    assert_eq!(capable("AnswersElicitation"), ["Elicitation", "ElicitationResult"].into());
}

#[test]
fn a_denied_call_does_not_run_and_the_model_hears_why() {
    let answer = HookOutput::<PreToolUse>::new().deny(MARK).answer();
    let Some(record) = answered::<PreToolUse>(answer) else { return };
    assert!(!ran(&record));
    let told = record.reached_model(MARK).unwrap();
    assert_eq!(told.request, 1);
    assert!(told.text.contains("PreToolUse:Bash hook error: "), "{told:?}");
}

#[test]
fn a_question_that_nobody_answers_is_a_refusal() {
    let answer = HookOutput::<PreToolUse>::new().ask(MARK).answer();
    let Some(record) = answered::<PreToolUse>(answer) else { return };
    assert!(!ran(&record));
    assert!(record.reached_model(MARK).is_some());
}

#[test]
fn an_allowed_call_needs_no_rule() {
    let silent = HookOutput::<PreToolUse>::new().answer();
    let Some(record) = unallowed(EventName::PreToolUse, silent) else { return };
    assert!(!ran(&record), "or the scenario shows nothing");

    let answer = HookOutput::<PreToolUse>::new().allow().answer();
    let Some(record) = unallowed(EventName::PreToolUse, answer) else { return };
    assert!(ran(&record));
}

#[test]
fn a_deferred_call_ends_the_run_with_the_call_pending() {
    let answer = HookOutput::<PreToolUse>::new().defer().answer();
    let Some(record) = answered::<PreToolUse>(answer) else { return };
    assert_eq!(record.terminal_reason(), Some("tool_deferred"));
    assert!(!ran(&record));
    assert_eq!(record.main_requests().count(), 1);
}

#[test]
fn another_input_is_what_runs() {
    let input = object(json!({ "command": format!("echo {MARK}"), "description": "other" }));
    let answer = HookOutput::<PreToolUse>::new().updated_input(input).answer();
    let Some(record) = answered::<PreToolUse>(answer) else { return };
    assert!(!ran(&record));
    assert!(record.reached_model(MARK).is_some());
    assert_eq!(record.reached_model(TOOL_OUTPUT), None);
}

#[test]
fn a_granted_request_runs() {
    let answer = HookOutput::<PermissionRequest>::new().allow().answer();
    let Some(record) = answered::<PermissionRequest>(answer) else { return };
    assert!(ran(&record));
}

#[test]
fn a_request_is_granted_with_another_input() {
    let input = object(json!({ "command": format!("echo {MARK}"), "description": "other" }));
    let allow = Allow::default().updated_input(input);
    let answer = HookOutput::<PermissionRequest>::new().allow_with(allow).answer();
    let Some(record) = answered::<PermissionRequest>(answer) else { return };
    assert!(!ran(&record));
    assert!(record.reached_model(MARK).is_some());
}

#[test]
fn a_rule_that_comes_with_a_grant_holds_for_the_next_call() {
    let Some(client) = client() else { return };
    let scenario = Scenario::of(EventName::PermissionRequest);
    let two_calls = || {
        let call = |file: &str| {
            let command = format!("sh -c 'touch {file}'");
            Turn::call("Bash", json!({ "command": command, "description": "a call" }))
        };
        Script::new([call("first.txt"), call("second.txt")])
    };
    let rule = json!({
        "type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{ "toolName": "Bash" }],
    });
    let update: PermissionUpdate = serde_json::from_value(rule).unwrap();
    let for_good = Allow::default().updated_permission(&update).unwrap();
    for (allow, second) in [(Allow::default(), false), (for_good, true)] {
        let mut sandbox = scenario.sandbox().unwrap();
        let answer = HookOutput::<PermissionRequest>::new().allow_with(allow).answer();
        sandbox.script(two_calls()).hook(scenario.hook().answers_once(answer));
        let record = sandbox.run(&client).unwrap();
        assert!(record.project().join("first.txt").exists());
        assert_eq!(record.project().join("second.txt").exists(), second);
    }
}

#[test]
fn a_refused_request_does_not_run_and_the_model_hears_why() {
    let answer = HookOutput::<PermissionRequest>::new().deny(MARK).answer();
    let Some(record) = answered::<PermissionRequest>(answer) else { return };
    assert!(!ran(&record));
    assert_eq!(record.reached_model(MARK).unwrap().request, 1);
}

#[test]
fn a_refused_request_can_end_the_turn() {
    let answer = HookOutput::<PermissionRequest>::new().deny_and_interrupt(MARK).answer();
    let Some(record) = answered::<PermissionRequest>(answer) else { return };
    assert!(!ran(&record));
    assert_eq!(record.terminal_reason(), Some("aborted_tools"));
    assert_eq!(record.main_requests().count(), 1);
}

#[test]
fn a_denial_of_auto_mode_can_be_retried() {
    let answer = HookOutput::<PermissionDenied>::new().retry().answer();
    let Some(record) = answered::<PermissionDenied>(answer) else { return };
    let hint = "The PermissionDenied hook indicated you may retry this tool call.";
    assert!(record.reached_model(hint).is_some());
}

/// Returns the model of the last request.
fn last_model(record: &Record) -> &str {
    record.main_requests().last().unwrap().body["model"].as_str().unwrap()
}

#[test]
fn an_allowed_switch_happens() {
    let answer = HookOutput::<PreModelSwitch>::new().allow().answer();
    let Some(record) = answered::<PreModelSwitch>(answer) else { return };
    assert_eq!(last_model(&record), OTHER_MODEL);
}

#[test]
fn a_denied_switch_does_not_happen_and_whoever_asked_hears_why() {
    let output = HookOutput::<PreModelSwitch>::new;
    for answer in [output().deny(MARK).answer(), output().ask(MARK).answer()] {
        let Some(record) = answered::<PreModelSwitch>(answer) else { return };
        assert_ne!(last_model(&record), OTHER_MODEL);
        let refusal = record.reached_user(MARK).unwrap();
        assert_eq!(refusal["response"]["subtype"], "error");
    }
}

fn elicited<E: AnswersElicitation>(answer: Answer) -> Option<String> {
    let record = answered::<E>(answer)?;
    Some(record.reached_model("ANSWERED").unwrap().text.to_owned())
}

#[test]
fn an_elicitation_is_answered_in_the_users_place() {
    let output = HookOutput::<Elicitation>::new;
    let accept = output().accept(object(json!({ "name": MARK }))).answer();
    let Some(text) = elicited::<Elicitation>(accept) else { return };
    assert!(text.contains("action:accept") && text.contains(MARK), "{text}");
    for (answer, action) in [(output().decline(), "decline"), (output().cancel(), "cancel")] {
        let text = elicited::<Elicitation>(answer.answer()).unwrap();
        assert!(text.contains(&format!("action:{action}")), "{text}");
        assert!(!text.contains("Ada"), "the user was asked all the same: {text}");
    }
}

#[test]
fn an_elicitations_result_is_replaced() {
    let output = HookOutput::<ElicitationResult>::new;
    let accept = output().accept(object(json!({ "name": MARK }))).answer();
    let Some(text) = elicited::<ElicitationResult>(accept) else { return };
    assert!(
        text.contains("action:accept") && text.contains(MARK) && !text.contains("Ada"),
        "{text}"
    );
    let text = elicited::<ElicitationResult>(output().decline().answer()).unwrap();
    assert!(text.contains("action:decline") && !text.contains("Ada"), "{text}");
    // After a cancel the server still gets the user's values: a hook that must withhold them declines.
    let text = elicited::<ElicitationResult>(output().cancel().answer()).unwrap();
    assert!(text.contains("action:cancel") && text.contains("Ada"), "{text}");
}

#[test]
fn a_worktree_is_where_the_hook_says() {
    let Some(client) = client() else { return };
    let mut sandbox = Scenario::of(EventName::WorktreeCreate).sandbox().unwrap();
    let path = sandbox.project().join(WORKTREE).display().to_string();
    let answer = HookOutput::<WorktreeCreate>::path(&path);
    sandbox.hook(Scenario::of(EventName::WorktreeCreate).hook().answers(answer));
    let record = sandbox.run(&client).unwrap();
    assert!(record.reached_model(&format!("Created worktree at “{path}”")).is_some());
}

#[test]
fn another_output_is_what_the_model_sees() {
    let output = json!({ "stdout": MARK, "stderr": "", "interrupted": false, "isImage": false });
    let answer = HookOutput::<PostToolUse>::new().updated_tool_output(output).answer();
    let Some(record) = answered::<PostToolUse>(answer) else { return };
    assert!(ran(&record));
    assert!(record.reached_model(MARK).is_some());
    assert_eq!(record.reached_model(TOOL_OUTPUT), None);
}

#[test]
fn another_output_of_an_mcp_tool_is_what_the_model_sees() {
    let Some(client) = client() else { return };
    let mut sandbox = Scenario::of(EventName::Elicitation).sandbox().unwrap();
    let output = json!([{ "type": "text", "text": MARK }]);
    let answer = HookOutput::<PostToolUse>::new().updated_mcp_tool_output(output).answer();
    sandbox.hook(Scenario::of(EventName::PostToolUse).hook().answers(answer));
    let record = sandbox.run(&client).unwrap();
    assert!(record.reached_model(MARK).is_some());
    assert_eq!(record.reached_model("ANSWERED"), None);
}

#[test]
fn a_session_starts_with_the_hooks_prompt() {
    let answer = HookOutput::<SessionStart>::new().initial_user_message(MARK).answer();
    let Some(record) = answered::<SessionStart>(answer) else { return };
    let told = record.reached_model(MARK).unwrap();
    assert_eq!((told.request, told.role), (0, "user"));
}
