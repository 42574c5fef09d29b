//! Refusals of a prompt, a compaction, a task or a change; and keeping an agent going.

use rutter_check::live::scenario::{CHANGED_SETTING, RAN, SUBAGENT};
use rutter_check::live::{Record, Thread};
use rutter_contract::input::{
    ConfigChange, PostToolBatch, PostToolUse, PostToolUseFailure, PreCompact, Stop, SubagentStop,
    TaskCompleted, TaskCreated, TeammateIdle, UserPromptExpansion, UserPromptSubmit,
    WorktreeCreate, WorktreeRemove,
};
use rutter_contract::output::{Answer, Blocks, HidesPrompt, HookOutput};

use crate::support::{MARK, answered, capable};

fn blocked<E: Blocks>() -> Option<Record> {
    answered::<E>(HookOutput::<E>::new().block(MARK).answer())
}

/// Counts the requests of a thread.
fn asked(record: &Record, thread: &Thread) -> usize {
    record.requests.iter().filter(|request| request.thread == *thread).count()
}

#[test]
fn no_event_that_blocks_is_left_out() {
    let here = include_str!("blocks.rs");
    for event in capable("Blocks") {
        assert!(here.contains(&format!("blocked::<{event}>()")), "{event} is not tested");
    }
    for event in capable("HidesPrompt") {
        assert!(here.contains(&format!("prompt_is_hidden::<{event}>(")), "{event} is not tested");
    }
}

#[test]
fn post_tool_use_has_its_reason_beside_the_result() {
    let Some(record) = blocked::<PostToolUse>() else { return };
    assert_eq!(record.reached_model(MARK).unwrap().request, 1);
    assert!(record.project().join(RAN).exists());
}

#[test]
fn post_tool_use_failure_has_its_reason_beside_the_error() {
    let Some(record) = blocked::<PostToolUseFailure>() else { return };
    assert_eq!(record.reached_model(MARK).unwrap().request, 1);
}

#[test]
fn post_tool_batch_ends_the_turn() {
    let Some(record) = blocked::<PostToolBatch>() else { return };
    assert_eq!(asked(&record, &Thread::Main), 1);
    assert_eq!(record.terminal_reason(), Some("hook_stopped"));
}

#[test]
fn user_prompt_submit_keeps_the_prompt_from_the_model() {
    let Some(record) = blocked::<UserPromptSubmit>() else { return };
    assert_eq!(record.requests, []);
    assert!(record.reached_user(MARK).is_some());
    assert!(record.reached_user("Original prompt: go").is_some());
}

#[test]
fn user_prompt_expansion_keeps_the_command_from_the_model() {
    let Some(record) = blocked::<UserPromptExpansion>() else { return };
    assert_eq!(record.requests, []);
    assert!(record.reached_user(MARK).is_some());
    assert!(record.reached_user("Original prompt: /greet").is_some());
}

fn prompt_is_hidden<E: HidesPrompt + Blocks>() {
    let answer = HookOutput::<E>::new().block_silently(MARK).answer();
    let Some(record) = answered::<E>(answer) else { return };
    assert_eq!(record.requests, []);
    assert!(record.reached_user(MARK).is_some());
    assert_eq!(record.reached_user("Original prompt"), None);
}

#[test]
fn a_blocked_prompt_can_be_hidden() {
    prompt_is_hidden::<UserPromptSubmit>();
}

#[test]
fn a_blocked_expansion_can_be_hidden() {
    prompt_is_hidden::<UserPromptExpansion>();
}

#[test]
fn stop_asks_the_model_once_more_with_the_reason() {
    let Some(record) = blocked::<Stop>() else { return };
    assert_eq!(asked(&record, &Thread::Main), 2);
    let told = record.reached_model(MARK).unwrap();
    assert_eq!((told.request, told.role), (1, "user"));
    assert!(told.text.starts_with("Stop hook feedback:"), "{told:?}");
}

#[test]
fn subagent_stop_asks_the_subagent_once_more_with_the_reason() {
    let Some(record) = blocked::<SubagentStop>() else { return };
    let subagent = Thread::Subagent(SUBAGENT.to_owned());
    assert_eq!(asked(&record, &subagent), 2);
    assert_eq!(*record.reached_model(MARK).unwrap().thread, subagent);
}

#[test]
fn pre_compact_prevents_the_compaction() {
    let Some(record) = blocked::<PreCompact>() else { return };
    // Two turns, no compaction, another turn.
    assert_eq!(asked(&record, &Thread::Main), 3);
    assert!(record.reached_user(MARK).is_some());
}

#[test]
fn task_created_takes_the_task_back() {
    let Some(record) = blocked::<TaskCreated>() else { return };
    assert_eq!(record.reached_model(MARK).unwrap().request, 1);
    assert!(record.reached_model("Task not found").is_some(), "the task was made all the same");
}

#[test]
fn task_completed_leaves_the_task_open() {
    let Some(record) = blocked::<TaskCompleted>() else { return };
    assert_eq!(record.reached_model(MARK).unwrap().request, 2);
}

#[test]
fn config_change_leaves_the_settings_as_they_were() {
    let Some(record) = blocked::<ConfigChange>() else { return };
    assert!(record.reached_model("setting: .").is_some());
    assert_eq!(record.reached_model(CHANGED_SETTING), None);

    let silent = HookOutput::<ConfigChange>::new().answer();
    let Some(record) = answered::<ConfigChange>(silent) else { return };
    assert!(record.reached_model(CHANGED_SETTING).is_some(), "or the scenario shows nothing");
}

#[test]
fn a_teammate_is_kept_working() {
    let by_exit_code = || answered::<TeammateIdle>(HookOutput::<TeammateIdle>::keep_working(MARK));
    for record in [by_exit_code(), blocked::<TeammateIdle>()] {
        let Some(record) = record else { return };
        assert_eq!(asked(&record, &Thread::Main), 2);
        assert_eq!(record.reached_model(MARK).unwrap().request, 1);
    }
}

#[test]
fn a_worktree_is_refused() {
    let answer = HookOutput::<WorktreeCreate>::fail(MARK);
    let Some(record) = answered::<WorktreeCreate>(answer) else { return };
    assert!(record.reached_model(&format!("hook.sh': {MARK}")).is_some());
}

/// According to the table an exit code has no effect here; the client keeps the folder.
#[test]
fn a_worktree_whose_hook_fails_is_kept() {
    let removed = |record: &Record| record.reached_model("Exited and removed worktree").is_some();
    let silent = HookOutput::<WorktreeRemove>::new().answer();
    let Some(record) = answered::<WorktreeRemove>(silent) else { return };
    assert!(removed(&record));
    let fails = Answer { stderr: MARK.to_owned(), exit: 2, ..Answer::default() };
    let Some(record) = answered::<WorktreeRemove>(fails) else { return };
    assert!(!removed(&record) && record.reached_model("could not remove it").is_some());
}
