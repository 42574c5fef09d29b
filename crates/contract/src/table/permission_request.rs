//! The row of `PermissionRequest`.

use super::prelude::*;

pub(super) static PERMISSION_REQUEST: EventSpec = EventSpec {
    name: EventName::PermissionRequest,
    since: Since::exact((2, 0, 45), Documented),
    when: Fact::new(
        "a permission prompt is about to be shown, or would be auto-denied; also in \
plain -p",
        Observed,
    ),
    matcher: MatcherSpec::tools(Observed),
    input: &[
        FieldSpec::required("tool_name", Text, Observed).note("the tool"),
        FieldSpec::required("tool_input", Object, Observed).note("file-tool paths are absolute"),
        FieldSpec::optional("permission_suggestions", Unions(&shapes::PERMISSION_UPDATE), Observed)
            .note("the updates that the user would be offered"),
        FieldSpec::optional("mcp_server", Shape(&shapes::MCP_SERVER), Typed)
            .note("origin of an mcp__ tool"),
    ],
    decision: Fact::new(DecisionModel::DecisionBehavior, Observed),
    output: Some(&[FieldSpec::required("decision", Union(&shapes::PERMISSION_VERDICT), Observed)
        .note("required inside hookSpecificOutput; other behaviors fail validation")]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Observed),
    continue_false: FieldEffect::new(Honoured::No, "ignored", Observed),
    system_message: FieldEffect::new(Honoured::Unknown, "not emitted in -p", Observed),
    exit: ExitCodes {
        zero: Fact::new("use JSON decision", Observed),
        two: Fact::new("NOT honoured: flow unchanged", Observed),
        other: Fact::new("flow unchanged", Observed),
    },
    can_block: Fact::new(true, Observed),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: Some(Fact::new(
        "several hooks: FIRST to answer wins; no tool_use_id in input",
        Observed,
    )),
    captured: true,
};
