//! The row of `Setup`.

use super::prelude::*;

pub(super) static SETUP: EventSpec = EventSpec {
    name: EventName::Setup,
    since: Since::exact((2, 1, 10), Documented),
    when: Fact::new("claude --init-only, or -p with --init / --maintenance", Documented),
    matcher: MatcherSpec::list("trigger", &choices::SETUP_TRIGGER, Documented),
    input: &[FieldSpec::required("trigger", Choice(&choices::SETUP_TRIGGER), Observed)
        .note("origin of the request")],
    decision: Fact::new(DecisionModel::ContextOnly, Observed),
    output: Some(&[FieldSpec::optional("additionalContext", Text, Observed)
        .inert()
        .note("documented as reaching the model; in a headless run it reaches no request")]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Documented),
    continue_false: FieldEffect::new(Honoured::No, "ignored", Documented),
    system_message: FieldEffect::new(Honoured::Unknown, "not emitted in stream-json", Observed),
    exit: ExitCodes {
        zero: Fact::new("JSON context only", Documented),
        two: Fact::new("stderr to user", Documented),
        other: Fact::new("stderr to user", Documented),
    },
    can_block: Fact::new(false, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::LOCAL, Documented),
    env_file: Fact::new(true, Observed),
    delivery: None,
    caveat: Some(Fact::new(
        "additionalContext from -p --init / --maintenance reaches no model request \
(docs say it does)",
        Observed,
    )),
    captured: true,
};
