//! Refusals of a prompt, a compaction, a task or a change; and keeping an agent going.

use rutter_check::live::scenario::{CHANGED_SETTING, RAN_FILE, SUBAGENT_MARKER};
use rutter_check::live::{ModelThread, RunRecord};
use rutter_contract::input::{
    ConfigChange, PostToolBatch, PostToolUse, PostToolUseFailure, PreCompact, Stop, SubagentStop,
    TaskCompleted, TaskCreated, TeammateIdle, UserPromptExpansion, UserPromptSubmit,
    WorktreeCreate, WorktreeRemove,
};
use rutter_contract::output::{Blocks, HidesPrompt, HookAnswer, HookOutput};

use crate::support::{MARK, capable, run_with_answer};

fn blocked<E: Blocks>() -> Option<RunRecord> {
    run_with_answer::<E>(HookOutput::<E>::new().block(MARK).answer())
}

/// Counts the requests of a thread.
fn count_requests(record: &RunRecord, thread: &ModelThread) -> usize {
    record.requests.iter().filter(|request| request.thread == *thread).count()
}

#[test]
fn tests_every_blocking_event() {
    let here = include_str!("blocks.rs");
    for event in capable("Blocks") {
        assert!(here.contains(&format!("blocked::<{event}>()")), "{event} is not tested");
    }
    for event in capable("HidesPrompt") {
        assert!(here.contains(&format!("prompt_is_hidden::<{event}>(")), "{event} is not tested");
    }
}

#[test]
fn post_tool_use_reason_follows_result() {
    let Some(record) = blocked::<PostToolUse>() else { return };
    assert_eq!(record.reached_model(MARK).unwrap().request, 1);
    assert!(record.project().join(RAN_FILE).exists());
}

#[test]
fn tool_failure_reason_follows_error() {
    let Some(record) = blocked::<PostToolUseFailure>() else { return };
    assert_eq!(record.reached_model(MARK).unwrap().request, 1);
}

#[test]
fn post_tool_batch_ends_the_turn() {
    let Some(record) = blocked::<PostToolBatch>() else { return };
    assert_eq!(count_requests(&record, &ModelThread::Main), 1);
    assert_eq!(record.terminal_reason(), Some("hook_stopped"));
}

#[test]
fn blocked_prompt_skips_model() {
    let Some(record) = blocked::<UserPromptSubmit>() else { return };
    assert_eq!(record.requests, []);
    assert!(record.reached_user(MARK).is_some());
    assert!(record.reached_user("Original prompt: go").is_some());
}

#[test]
fn blocked_expansion_skips_model() {
    let Some(record) = blocked::<UserPromptExpansion>() else { return };
    assert_eq!(record.requests, []);
    assert!(record.reached_user(MARK).is_some());
    assert!(record.reached_user("Original prompt: /greet").is_some());
}

fn prompt_is_hidden<E: HidesPrompt + Blocks>() {
    let answer = HookOutput::<E>::new().block_silently(MARK).answer();
    let Some(record) = run_with_answer::<E>(answer) else { return };
    assert_eq!(record.requests, []);
    assert!(record.reached_user(MARK).is_some());
    assert_eq!(record.reached_user("Original prompt"), None);
}

#[test]
fn blocked_prompt_is_hidden() {
    prompt_is_hidden::<UserPromptSubmit>();
}

#[test]
fn blocked_expansion_is_hidden() {
    prompt_is_hidden::<UserPromptExpansion>();
}

#[test]
fn blocked_stop_continues_main_agent() {
    let Some(record) = blocked::<Stop>() else { return };
    assert_eq!(count_requests(&record, &ModelThread::Main), 2);
    let told = record.reached_model(MARK).unwrap();
    assert_eq!((told.request, told.role), (1, "user"));
    assert!(told.text.starts_with("Stop hook feedback:"), "{told:?}");
}

#[test]
fn blocked_stop_continues_subagent() {
    let Some(record) = blocked::<SubagentStop>() else { return };
    let subagent = ModelThread::Subagent(SUBAGENT_MARKER.to_owned());
    assert_eq!(count_requests(&record, &subagent), 2);
    assert_eq!(*record.reached_model(MARK).unwrap().thread, subagent);
}

#[test]
fn pre_compact_prevents_the_compaction() {
    let Some(record) = blocked::<PreCompact>() else { return };
    // Two turns, no compaction, another turn.
    assert_eq!(count_requests(&record, &ModelThread::Main), 3);
    assert!(record.reached_user(MARK).is_some());
}

#[test]
fn blocked_task_is_removed() {
    let Some(record) = blocked::<TaskCreated>() else { return };
    assert_eq!(record.reached_model(MARK).unwrap().request, 1);
    assert!(record.reached_model("Task not found").is_some(), "the task was made all the same");
}

#[test]
fn blocked_completion_keeps_task_open() {
    let Some(record) = blocked::<TaskCompleted>() else { return };
    assert_eq!(record.reached_model(MARK).unwrap().request, 2);
}

#[test]
fn blocked_config_change_has_no_effect() {
    let Some(record) = blocked::<ConfigChange>() else { return };
    assert!(record.reached_model("setting: .").is_some());
    assert_eq!(record.reached_model(CHANGED_SETTING), None);

    let silent = HookOutput::<ConfigChange>::new().answer();
    let Some(record) = run_with_answer::<ConfigChange>(silent) else { return };
    assert!(record.reached_model(CHANGED_SETTING).is_some(), "or the scenario shows nothing");
}

#[test]
fn teammate_keeps_working() {
    let by_exit_code =
        || run_with_answer::<TeammateIdle>(HookOutput::<TeammateIdle>::keep_working(MARK));
    for record in [by_exit_code(), blocked::<TeammateIdle>()] {
        let Some(record) = record else { return };
        assert_eq!(count_requests(&record, &ModelThread::Main), 2);
        assert_eq!(record.reached_model(MARK).unwrap().request, 1);
    }
}

#[test]
fn worktree_is_refused() {
    let answer = HookOutput::<WorktreeCreate>::fail(MARK);
    let Some(record) = run_with_answer::<WorktreeCreate>(answer) else { return };
    assert!(record.reached_model(&format!("hook.sh': {MARK}")).is_some());
}

/// According to the table an exit code has no effect here; the client keeps the folder.
#[test]
fn failed_hook_keeps_worktree() {
    let removed =
        |record: &RunRecord| record.reached_model("Exited and removed worktree").is_some();
    let silent = HookOutput::<WorktreeRemove>::new().answer();
    let Some(record) = run_with_answer::<WorktreeRemove>(silent) else { return };
    assert!(removed(&record));
    let fails = HookAnswer { stderr: MARK.to_owned(), exit: 2, ..HookAnswer::default() };
    let Some(record) = run_with_answer::<WorktreeRemove>(fails) else { return };
    assert!(!removed(&record) && record.reached_model("could not remove it").is_some());
}
