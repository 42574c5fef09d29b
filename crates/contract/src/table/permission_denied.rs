//! The row of `PermissionDenied`.

use super::prelude::*;

pub(super) static PERMISSION_DENIED: EventSpec = EventSpec {
    name: EventName::PermissionDenied,
    since: Since::exact((2, 1, 89), Documented),
    when: Fact::new(
        "auto mode denies a call (not user denials, deny rules or hook denials)",
        Documented,
    ),
    matcher: MatcherSpec::tools(Documented),
    input: &[
        FieldSpec::required("tool_name", Text, Observed).note("the tool"),
        FieldSpec::required("tool_input", Object, Observed).note("file-tool paths are absolute"),
        FieldSpec::required("tool_use_id", Text, Observed)
            .note("the call; PostToolUse and the transcript have the same"),
        FieldSpec::required("reason", Text, Observed).note("reason"),
        FieldSpec::optional("mcp_server", Shape(&shapes::MCP_SERVER), Typed)
            .note("origin of an mcp__ tool"),
    ],
    decision: Fact::new(DecisionModel::Retry, Observed),
    output: Some(&[FieldSpec::optional("retry", Flag, Observed).note("let the model try again")]),
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Documented),
    continue_false: FieldEffect::new(Honoured::Unknown, "not known", Inferred),
    system_message: FieldEffect::new(Honoured::Unknown, "not known", Inferred),
    exit: ExitCodes {
        zero: Fact::new("use retry", Observed),
        two: Fact::new("ignored", Documented),
        other: Fact::new("ignored", Documented),
    },
    can_block: Fact::new(false, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: Some(Fact::new(
        "retry: \"The PermissionDenied hook indicated you may retry this tool call.\"",
        Observed,
    )),
    caveat: Some(Fact::new(
        "where the classifier cannot be asked, auto mode denies and this fires",
        Observed,
    )),
    captured: false,
};
