//! Every event fires in its scenario, and its payload fits the table.

use std::collections::BTreeSet;

use rutter_check::live::{ClientBinary, EventScenario};
use rutter_contract::version::{Contract, Version};
use rutter_contract::{EventName, schema, table};
use serde_json::Value;

use crate::support;

/// Observed fields that the table does not have. The test of an event fails if a listed field is not sent, or
/// a sent one is not listed.
const NOT_IN_THE_TABLE: &[(EventName, &str)] = &[];

/// Events that a client does not fire in their scenario, with the reason. If a listed event fires, its test fails.
const NOT_FIRED: &[(Version, EventName, &str)] = &[(
    Version::new(2, 1, 197),
    EventName::PermissionRequest,
    "a run that nobody can be asked in refuses without asking its hooks; with --permission-prompt-tool they run",
)];

fn fires(event: EventName, client: Option<ClientBinary>) {
    let Some(client) = client else { return };
    let spec = table::event_spec(event);
    let contract = Contract::for_client(client.version());
    if !spec.is_at(contract) {
        // The client does not have the event, so its scenario would wait in vain.
        return;
    }
    let scenario = EventScenario::for_event(event);
    let mut sandbox = scenario.sandbox().unwrap();
    sandbox.hook(scenario.hook());
    let record = sandbox.run(&client).unwrap();

    let validator = jsonschema::options().build(&schema::input_schema(spec, contract)).unwrap();
    let mut unknown = BTreeSet::new();
    let mut calls = 0;
    for call in record.calls_of(event) {
        calls += 1;
        let input = call.input().unwrap_or_else(|error| panic!("{error}: {call:?}"));
        assert_eq!(input.event(), Some(event));
        let sent: Value = serde_json::from_slice(&call.stdin).unwrap();
        if let Err(error) = validator.validate(&sent) {
            panic!("{event} is not what its schema says: {error} at {}", error.instance_path());
        }
        let names = sent.as_object().unwrap().keys();
        let known = |name: &String| spec.input_at(contract).any(|field| field.name == name);
        unknown.extend(names.filter(|name| !known(name)).cloned());
    }
    let silent = NOT_FIRED.iter().find(|(v, name, _)| (*v, *name) == (client.version(), event));
    if let Some((_, _, reason)) = silent {
        assert_eq!(calls, 0, "{event} fires, but is listed as: {reason}");
        return;
    }
    assert!(calls > 0, "{event} did not fire:\n{}{}", record.stdout, record.stderr);
    let listed = NOT_IN_THE_TABLE.iter().filter(|(name, _)| *name == event);
    let listed: BTreeSet<String> = listed.map(|(_, field)| (*field).to_owned()).collect();
    assert_eq!(unknown, listed, "{event} sends other fields than the table has");
}

macro_rules! each_event_fires {
    ($($test:ident: $event:ident,)*) => {
        mod newest {
            use super::*;
            $(#[test] fn $test() { fires(EventName::$event, support::client()); })*
        }

        mod oldest {
            use super::*;
            $(#[test] fn $test() { fires(EventName::$event, support::old_client()); })*
        }

        #[test]
        fn no_event_is_left_out() {
            assert_eq!([$(EventName::$event),*], EventName::ALL);
        }
    };
}

each_event_fires! {
    pre_tool_use: PreToolUse,
    post_tool_use: PostToolUse,
    post_tool_use_failure: PostToolUseFailure,
    post_tool_batch: PostToolBatch,
    notification: Notification,
    user_prompt_submit: UserPromptSubmit,
    user_prompt_expansion: UserPromptExpansion,
    session_start: SessionStart,
    session_end: SessionEnd,
    stop: Stop,
    stop_failure: StopFailure,
    subagent_start: SubagentStart,
    subagent_stop: SubagentStop,
    pre_compact: PreCompact,
    post_compact: PostCompact,
    pre_model_switch: PreModelSwitch,
    post_model_switch: PostModelSwitch,
    permission_request: PermissionRequest,
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
