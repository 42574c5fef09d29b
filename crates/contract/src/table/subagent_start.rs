//! The row of `SubagentStart`.

use super::prelude::*;

pub(super) static SUBAGENT_START: EventSpec = EventSpec {
    name: EventName::SubagentStart,
    since: Since::exact((2, 0, 43), Documented),
    when: Fact::new("a subagent is spawned", Documented),
    matcher: MatcherSpec::names(
        "agent_type",
        "agent names; plugin agents are \"plugin:name\" (use ^plugin:name$)",
        Documented,
    ),
    input: &[
        FieldSpec::required("agent_id", Text, Observed).note("the subagent"),
        FieldSpec::required("agent_type", Text, Observed)
            .note("kind of the agent; empty for the fork that compacts"),
    ],
    decision: Fact::new(DecisionModel::ContextOnly, Observed),
    output: Some(&[
        FieldSpec::optional("additionalContext", Text, Observed).note("goes to the subagent")
    ]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Observed),
    continue_false: FieldEffect::new(Honoured::No, "ignored", Observed),
    system_message: FieldEffect::new(Honoured::Unknown, "not seen in stream-json", Observed),
    exit: ExitCodes {
        zero: Fact::new("JSON context", Observed),
        two: Fact::new("stderr to user", Observed),
        other: Fact::new("stderr to user", Observed),
    },
    can_block: Fact::new(false, Observed),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
