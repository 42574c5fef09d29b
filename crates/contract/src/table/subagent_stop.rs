//! The row of `SubagentStop`.

use super::prelude::*;

pub(super) static SUBAGENT_STOP: EventSpec = EventSpec {
    name: EventName::SubagentStop,
    since: Since::exact((1, 0, 41), Documented),
    when: Fact::new(
        "a subagent is about to finish; also fires for the internal compaction fork \
with agent_type \"\"",
        Observed,
    ),
    matcher: MatcherSpec::names("agent_type", "agent names", Documented),
    input: &[
        FieldSpec::required("stop_hook_active", Flag, Observed)
            .note("true if the agent already continues because of a Stop hook"),
        FieldSpec::required("agent_id", Text, Observed).note("the subagent"),
        FieldSpec::required("agent_transcript_path", Text, Observed)
            .note("JSONL transcript of the subagent"),
        FieldSpec::required("agent_type", Text, Observed)
            .note("kind of the agent; empty for the fork that compacts"),
        FieldSpec::optional("last_assistant_message", Text, Observed)
            .since((2, 1, 47))
            .note("last message of the agent"),
        FieldSpec::optional("background_tasks", Shapes(&shapes::BACKGROUND_TASK), Observed)
            .since((2, 1, 145))
            .note("tasks that still run"),
        FieldSpec::optional("session_crons", Shapes(&shapes::SESSION_CRON), Observed)
            .since((2, 1, 145))
            .note("scheduled tasks"),
    ],
    decision: Fact::new(DecisionModel::TopLevelBlock, Observed),
    output: Some(&[FieldSpec::optional("additionalContext", Text, Observed)
        .since((2, 1, 163))
        .note("subagent continues")]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(
        Honoured::Yes,
        "block = subagent continues with reason",
        Observed,
    ),
    continue_false: FieldEffect::new(Honoured::Yes, "ends", Observed),
    system_message: FieldEffect::new(Honoured::Unknown, "not seen", Observed),
    exit: ExitCodes {
        zero: Fact::new("nothing", Observed),
        two: Fact::new("subagent continues, stderr as \"Stop hook feedback:\"", Observed),
        other: Fact::new("non-blocking", Observed),
    },
    can_block: Fact::new(true, Observed),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: Some(Fact::new(
        "permissionDecision here is an unknown key: ignored, no error",
        Observed,
    )),
    captured: true,
};
