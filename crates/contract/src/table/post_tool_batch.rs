//! The row of `PostToolBatch`.

use super::prelude::*;

pub(super) static POST_TOOL_BATCH: EventSpec = EventSpec {
    name: EventName::PostToolBatch,
    since: Since::at_most((2, 1, 152), ThirdParty),
    when: Fact::new(
        "once after every tool call of a batch resolved, before the next model request",
        Documented,
    ),
    matcher: MatcherSpec::none(Observed),
    input: &[FieldSpec::required("tool_calls", Shapes(&shapes::TOOL_CALL), Observed).note(
        "tool_response = serialized tool_result text, unlike PostToolUse; includes \
denied and failed calls",
    )],
    decision: Fact::new(DecisionModel::TopLevelBlock, Observed),
    output: Some(&[
        FieldSpec::optional("additionalContext", Text, Observed).note("text for the model")
    ]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(Honoured::Yes, "block = loop stops", Observed),
    continue_false: FieldEffect::new(Honoured::Yes, "loop stops", Observed),
    system_message: FieldEffect::new(Honoured::Yes, "shown", Observed),
    exit: ExitCodes {
        zero: Fact::new("nothing", Observed),
        two: Fact::new("loop stops (hook_stopped)", Observed),
        other: Fact::new("non-blocking", Observed),
    },
    can_block: Fact::new(true, Observed),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
