//! The row of `PostToolUseFailure`.

use super::prelude::*;

pub(super) static POST_TOOL_USE_FAILURE: EventSpec = EventSpec {
    name: EventName::PostToolUseFailure,
    since: Since::between((2, 1, 10), (2, 1, 33), ThirdParty),
    when: Fact::new(
        "a tool that started failed; not for validation errors or permission denials; \
Bash exit!=0 counts",
        Documented,
    ),
    matcher: MatcherSpec::tools(Observed),
    input: &[
        FieldSpec::required("tool_name", Text, Observed).note("the tool"),
        FieldSpec::required("tool_input", Object, Observed).note("file-tool paths are absolute"),
        FieldSpec::required("tool_use_id", Text, Observed)
            .since((2, 0, 43))
            .note("the call; PostToolUse and the transcript have the same"),
        FieldSpec::required("error", Text, Observed).note("Bash: first line \"Exit code N\""),
        FieldSpec::optional("is_interrupt", Flag, Observed)
            .note("true if the user interrupted the call"),
        FieldSpec::optional("duration_ms", Number, Observed)
            .since((2, 1, 119))
            .note("duration of the call"),
        FieldSpec::optional("mcp_server", Shape(&shapes::MCP_SERVER), Observed)
            .note("origin of an mcp__ tool"),
    ],
    decision: Fact::new(DecisionModel::TopLevelBlock, Observed),
    output: Some(&[
        FieldSpec::optional("additionalContext", Text, Observed).note("text for the model")
    ]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(Honoured::Yes, "block = reason to Claude", Observed),
    continue_false: FieldEffect::new(Honoured::No, "ignored", Observed),
    system_message: FieldEffect::new(Honoured::Yes, "shown", Observed),
    exit: ExitCodes {
        zero: Fact::new("debug log only", Observed),
        two: Fact::new("stderr to Claude", Observed),
        other: Fact::new("non-blocking", Observed),
    },
    can_block: Fact::new(false, Observed),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: Some(Fact::new(
        "/hooks menu text also names error_type and is_timeout; neither is in d.ts \
nor in observed payloads",
        Observed,
    )),
    captured: true,
};
