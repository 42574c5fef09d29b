//! The row of `PermissionDenied`.

use super::prelude::*;

pub(super) static PERMISSION_DENIED: EventSpec = EventSpec {
    name: EventName::PermissionDenied,
    since: Since::exact((2, 1, 89), Documented),
    when: Fact::new(
        "auto mode denies a call (not user denials, deny rules or hook denials)",
        Documented,
    ),
    matcher: Matcher::tools(Documented),
    input: &[
        Field::required("tool_name", Text, Typed).note("the tool"),
        Field::required("tool_input", Object, Typed).note("file-tool paths are absolute"),
        Field::required("tool_use_id", Text, Typed)
            .note("the call; PostToolUse and the transcript have the same"),
        Field::required("reason", Text, Typed).note("why"),
        Field::optional("mcp_server", Shape(&shapes::MCP_SERVER), Typed)
            .note("where an mcp__ tool comes from"),
    ],
    decision: Fact::new(DecisionModel::Retry, Documented),
    output: Some(&[Field::optional("retry", Flag, Typed).note("let the model try again")]),
    output_source: Typed,
    top_level_decision: Effect::new(Honoured::No, "ignored", Documented),
    continue_false: Effect::new(Honoured::Unknown, "not known", Inferred),
    system_message: Effect::new(Honoured::Unknown, "not known", Inferred),
    exit: ExitCodes {
        zero: Fact::new("use retry", Documented),
        two: Fact::new("ignored", Documented),
        other: Fact::new("ignored", Documented),
    },
    can_block: Fact::new(false, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: Some(Fact::new("not reproducible offline (server-side classifier)", Inferred)),
    seen: false,
};
