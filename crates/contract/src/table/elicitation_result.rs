//! The row of `ElicitationResult`.

use super::prelude::*;

pub(super) static ELICITATION_RESULT: EventSpec = EventSpec {
    name: EventName::ElicitationResult,
    since: Since::exact((2, 1, 76), Documented),
    when: Fact::new("after the user answered an elicitation, before it is sent", Documented),
    matcher: MatcherSpec::names("mcp_server_name", "MCP server names", Documented),
    input: &[
        FieldSpec::required("mcp_server_name", Text, Observed).note("the server that asks"),
        FieldSpec::optional("elicitation_id", Text, Typed).note("the question"),
        FieldSpec::optional("mode", Choice(&choices::ELICITATION_MODE), Observed)
            .note("form of the request"),
        FieldSpec::required("action", Choice(&choices::ELICITATION_ACTION), Observed)
            .note("answer to the request"),
        FieldSpec::optional("content", Object, Typed).note("the values"),
    ],
    decision: Fact::new(DecisionModel::ElicitationAction, Documented),
    output: Some(&[
        FieldSpec::optional("action", Choice(&choices::ELICITATION_ACTION), Typed)
            .note("answer to the request"),
        FieldSpec::optional("content", Object, Typed).note("the values"),
    ]),
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::Unknown, "not known", Inferred),
    continue_false: FieldEffect::new(Honoured::No, "discarded", Documented),
    system_message: FieldEffect::new(Honoured::No, "discarded", Documented),
    exit: ExitCodes {
        zero: Fact::new("use override", Documented),
        two: Fact::new("becomes decline", Documented),
        other: Fact::new("unchanged", Documented),
    },
    can_block: Fact::new(true, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
