//! The row of `PreToolUse`.

use super::prelude::*;

pub(super) static PRE_TOOL_USE: EventSpec = EventSpec {
    name: EventName::PreToolUse,
    since: Since::exact((1, 0, 38), Documented),
    when: Fact::new(
        "after the model made a tool call, before permission checks (every mode, \
incl. bypassPermissions); not for EndConversation, @-mentions, or calls that \
fail input validation",
        Documented,
    ),
    matcher: MatcherSpec::tools(Observed),
    input: &[
        FieldSpec::required("tool_name", Text, Observed).note("the tool"),
        FieldSpec::required("tool_input", Object, Observed).note("file-tool paths are absolute"),
        FieldSpec::required("tool_use_id", Text, Observed)
            .since((2, 0, 43))
            .note("the call; PostToolUse and the transcript have the same"),
        FieldSpec::optional("mcp_server", Shape(&shapes::MCP_SERVER), Observed)
            .note("origin of an mcp__ tool"),
    ],
    decision: Fact::new(DecisionModel::PermissionDecision, Observed),
    output: Some(&[
        FieldSpec::optional("permissionDecision", Choice(&choices::TOOL_PERMISSION), Observed)
            .note("defer only in -p with a single tool call"),
        FieldSpec::optional("permissionDecisionReason", Text, Observed)
            .note("deny: to Claude; ask/allow: to user"),
        FieldSpec::optional("updatedInput", Object, Observed).note(
            "replaces the whole input; works with or without a permissionDecision; must \
fit the tool schema or the call fails",
        ),
        FieldSpec::optional("additionalContext", Text, Observed)
            .since((2, 1, 9))
            .note("text for the model"),
    ]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(
        Honoured::Deprecated,
        "deprecated but works: approve=allow, block=deny; block wins over a \
permissionDecision allow in the same object",
        Observed,
    ),
    continue_false: FieldEffect::new(
        Honoured::Yes,
        "turn stops (terminal_reason hook_stopped), but the tool call itself still \
runs first: it is no guard",
        Observed,
    ),
    system_message: FieldEffect::new(Honoured::Yes, "shown", Observed),
    exit: ExitCodes {
        zero: Fact::new("no decision unless JSON", Observed),
        two: Fact::new(
            "call blocked, stderr to Claude; JSON allow cannot override; a JSON deny \
reason replaces stderr",
            Observed,
        ),
        other: Fact::new("non-blocking; valid JSON (incl. deny) still honoured", Observed),
    },
    can_block: Fact::new(true, Observed),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: Some(Fact::new(
        "deny: tool_result is_error \"PreToolUse:<tool> hook error: <reason>\"; \
context: \"PreToolUse:<tool> hook additional context: …\" after the tool \
result",
        Observed,
    )),
    caveat: None,
    captured: true,
};
