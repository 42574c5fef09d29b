//! The row of `Elicitation`.

use super::prelude::*;

pub(super) static ELICITATION: EventSpec = EventSpec {
    name: EventName::Elicitation,
    since: Since::exact((2, 1, 76), Documented),
    when: Fact::new("an MCP server asks for user input", Documented),
    matcher: MatcherSpec::names("mcp_server_name", "MCP server names", Documented),
    input: &[
        FieldSpec::required("mcp_server_name", Text, Observed).note("the server that asks"),
        FieldSpec::required("message", Text, Observed).note("the text"),
        FieldSpec::optional("mode", Choice(&choices::ELICITATION_MODE), Observed)
            .note("form of the request"),
        FieldSpec::optional("url", Text, Typed).note("the address to visit"),
        FieldSpec::optional("elicitation_id", Text, Typed).note("the question"),
        FieldSpec::optional("requested_schema", Object, Observed).note("JSON Schema of the form"),
    ],
    decision: Fact::new(DecisionModel::ElicitationAction, Observed),
    output: Some(&[
        FieldSpec::optional("action", Choice(&choices::ELICITATION_ACTION), Typed)
            .note("answer to the request"),
        FieldSpec::optional("content", Object, Typed).note("form values for accept"),
    ]),
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::Unknown, "not known", Inferred),
    continue_false: FieldEffect::new(Honoured::No, "discarded", Documented),
    system_message: FieldEffect::new(Honoured::No, "discarded", Documented),
    exit: ExitCodes {
        zero: Fact::new("use action", Documented),
        two: Fact::new("declined; hookSpecificOutput ignored", Observed),
        other: Fact::new("dialog/default", Documented),
    },
    can_block: Fact::new(true, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: Some(Fact::new(
        "when an Elicitation hook answers, ElicitationResult hooks do not run",
        Observed,
    )),
    captured: true,
};
