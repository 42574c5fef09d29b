//! Ending the turn: `continue: false`.

use rutter_check::live::scenario::{RAN_FILE, SUBAGENT_MARKER};
use rutter_check::live::{ModelThread, RunRecord};
use rutter_contract::input::{
    PostToolBatch, PostToolUse, PreToolUse, Stop, SubagentStop, TeammateIdle, UserPromptExpansion,
    UserPromptSubmit,
};
use rutter_contract::output::{HookOutput, StopsTurn};

use crate::support::{MARK, capable, run_with_answer};

fn stopped<E: StopsTurn>() -> Option<RunRecord> {
    run_with_answer::<E>(HookOutput::<E>::new().stop(MARK).answer())
}

#[test]
fn tests_every_stopping_event() {
    let here = include_str!("stops.rs");
    for event in capable("StopsTurn") {
        assert!(here.contains(&format!("::<{event}>(")), "{event} is not tested");
    }
}

/// Asserts that the call ran and that its result did not reach the model.
fn assert_stops_after_call<E: StopsTurn>() {
    let Some(record) = stopped::<E>() else { return };
    assert_eq!(record.terminal_reason(), Some("hook_stopped"));
    assert_eq!(record.main_requests().count(), 1);
    assert!(record.project().join(RAN_FILE).exists());
}

#[test]
fn pre_tool_use_stops_turn() {
    assert_stops_after_call::<PreToolUse>();
}

#[test]
fn post_tool_use_stops_turn() {
    assert_stops_after_call::<PostToolUse>();
}

#[test]
fn post_tool_batch_stops_turn() {
    assert_stops_after_call::<PostToolBatch>();
}

fn assert_stops_before_model<E: StopsTurn>() {
    let Some(record) = stopped::<E>() else { return };
    assert_eq!(record.requests, []);
    assert!(record.reached_user(&format!("Operation stopped by hook: {MARK}")).is_some());
}

#[test]
fn user_prompt_submit_stops_turn() {
    assert_stops_before_model::<UserPromptSubmit>();
}

#[test]
fn user_prompt_expansion_stops_turn() {
    assert_stops_before_model::<UserPromptExpansion>();
}

#[test]
fn stop_overrides_block() {
    let answer = HookOutput::<Stop>::new().block("go on").stop(MARK).answer();
    let Some(record) = run_with_answer::<Stop>(answer) else { return };
    assert_eq!(record.terminal_reason(), Some("stop_hook_prevented"));
    assert_eq!(record.main_requests().count(), 1);
}

#[test]
fn subagent_stop_overrides_block() {
    let answer = HookOutput::<SubagentStop>::new().block("go on").stop(MARK).answer();
    let Some(record) = run_with_answer::<SubagentStop>(answer) else { return };
    let subagent = ModelThread::Subagent(SUBAGENT_MARKER.to_owned());
    assert_eq!(record.requests.iter().filter(|request| request.thread == subagent).count(), 1);
    assert_eq!(record.terminal_reason(), Some("completed"), "the main agent goes on");
}

#[test]
fn teammate_idle_stops_the_teammate() {
    let Some(record) = stopped::<TeammateIdle>() else { return };
    assert_eq!(record.terminal_reason(), Some("stop_hook_prevented"));
}
