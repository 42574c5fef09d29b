//! The row of `Stop`.

use super::prelude::*;

pub(super) static STOP: EventSpec = EventSpec {
    name: EventName::Stop,
    since: Since::exact((1, 0, 38), Documented),
    when: Fact::new(
        "the main agent finished responding (not on interrupt; API error → StopFailure)",
        Documented,
    ),
    matcher: MatcherSpec::none(Observed),
    input: &[
        FieldSpec::required("stop_hook_active", Flag, Observed)
            .note("true if the agent already continues because of a Stop hook"),
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
        .note("non-error feedback; the conversation continues")]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(
        Honoured::Yes,
        "block = continue with reason; without reason the text is \"Blocked by hook\"",
        Observed,
    ),
    continue_false: FieldEffect::new(Honoured::Yes, "ends (stop_hook_prevented)", Observed),
    system_message: FieldEffect::new(Honoured::Yes, "\"Stop says: …\"", Observed),
    exit: ExitCodes {
        zero: Fact::new("nothing", Observed),
        two: Fact::new("continue with stderr as \"Stop hook feedback:…\"", Observed),
        other: Fact::new("non-blocking, \"Stop hook error occurred\" notice", Observed),
    },
    can_block: Fact::new(true, Observed),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: Some(Fact::new(
        "8 consecutive blocks/contexts allowed, the 9th is overridden; a tool call in between starts the count \
again, while stop_hook_active stays true; \
CLAUDE_CODE_STOP_HOOK_BLOCK_CAP, 0 = off",
        Observed,
    )),
    captured: true,
};
