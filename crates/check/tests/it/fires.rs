//! Every event fires in its scenario, and sends what the table says it sends.

use rutter_check::live::Scenario;
use rutter_contract::version::Contract;
use rutter_contract::{EventName, schema, table};
use serde_json::Value;

use crate::support;

/// Fields that the client was seen to send and that the table does not have. A listed one that is not
/// sent fails the test of its event, as does one that is not listed.
const NOT_IN_THE_TABLE: &[(EventName, &str)] = &[];

fn fires(event: EventName) {
    let Some(client) = support::client() else { return };
    let scenario = Scenario::of(event);
    let mut sandbox = scenario.sandbox().unwrap();
    sandbox.hook(scenario.hook());
    let record = sandbox.run(&client).unwrap();

    let spec = table::event(event);
    let contract = Contract::for_client(client.version());
    let validator = jsonschema::options().build(&schema::input(spec, contract)).unwrap();
    let mut unknown = Vec::new();
    let mut calls = 0;
    for call in record.calls_of(event) {
        calls += 1;
        let input = call.input().unwrap_or_else(|error| panic!("{error}: {call:?}"));
        assert_eq!(input.event(), Some(event));
        let sent: Value = serde_json::from_slice(&call.stdin).unwrap();
        if let Err(error) = validator.validate(&sent) {
            panic!("{event} is not what its schema says: {error} at {}", error.instance_path());
        }
        for (name, value) in sent.as_object().unwrap() {
            if !spec.input_at(contract).any(|field| field.name == name) {
                unknown.push((name.clone(), value.clone()));
            }
        }
    }
    assert!(calls > 0, "{event} did not fire:\n{}{}", record.stdout, record.stderr);
    let unknown: Vec<&str> = unknown.iter().map(|(name, _)| name.as_str()).collect();
    let listed = NOT_IN_THE_TABLE.iter().filter(|(name, _)| *name == event);
    let listed: Vec<&str> = listed.map(|(_, field)| *field).collect();
    assert_eq!(unknown, listed, "{event} sends other fields than the table has");
}

macro_rules! each_event_fires {
    ($($test:ident: $event:ident,)*) => {
        $(#[test] fn $test() { fires(EventName::$event); })*

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
