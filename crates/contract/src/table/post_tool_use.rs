//! The row of `PostToolUse`.

use super::prelude::*;

pub(super) static POST_TOOL_USE: EventSpec = EventSpec {
    name: EventName::PostToolUse,
    since: Since::exact((1, 0, 38), Documented),
    when: Fact::new("a tool call succeeded", Documented),
    matcher: MatcherSpec::tools(Observed),
    input: &[
        FieldSpec::required("tool_name", Text, Observed).note("the tool"),
        FieldSpec::required("tool_input", Object, Observed).note("file-tool paths are absolute"),
        FieldSpec::required("tool_response", Any, Observed).note("structured tool output"),
        FieldSpec::required("tool_use_id", Text, Observed)
            .since((2, 0, 43))
            .note("the call; PostToolUse and the transcript have the same"),
        FieldSpec::optional("duration_ms", Number, Observed)
            .since((2, 1, 119))
            .note("duration of the call"),
        FieldSpec::optional("mcp_server", Shape(&shapes::MCP_SERVER), Observed)
            .note("origin of an mcp__ tool"),
    ],
    decision: Fact::new(DecisionModel::TopLevelBlock, Observed),
    output: Some(&[
        FieldSpec::optional("additionalContext", Text, Observed).note("text for the model"),
        FieldSpec::optional("classifierContext", Text, Typed)
            .since((2, 1, 236))
            .note("auto-mode classifier only; 2000 UTF-16 units shared"),
        FieldSpec::optional("updatedToolOutput", Any, Observed)
            .since((2, 1, 121))
            .note("must match the tool output shape, else ignored (debug log only)"),
        FieldSpec::optional("updatedMCPToolOutput", Any, Observed)
            .note("MCP tools only; no effect on built-ins"),
    ]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(
        Honoured::Yes,
        "block = reason shown to Claude next to the result",
        Observed,
    ),
    continue_false: FieldEffect::new(Honoured::Yes, "turn stops (hook_stopped)", Observed),
    system_message: FieldEffect::new(Honoured::Yes, "shown", Observed),
    exit: ExitCodes {
        zero: Fact::new("debug log only", Observed),
        two: Fact::new("stderr to Claude (\"… hook blocking error from command: …\")", Observed),
        other: Fact::new("non-blocking", Observed),
    },
    can_block: Fact::new(false, Observed),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
