//! The row of `StopFailure`.

use super::prelude::*;

pub(super) static STOP_FAILURE: EventSpec = EventSpec {
    name: EventName::StopFailure,
    since: Since::exact((2, 1, 78), Documented),
    when: Fact::new("the turn ended with an API error (fire and forget)", Documented),
    matcher: MatcherSpec::list("error", &choices::STOP_ERROR, Typed).with_narrow_lists(),
    input: &[
        FieldSpec::required("error", Choice(&choices::STOP_ERROR), Observed).note("which error"),
        FieldSpec::optional("error_details", Text, Typed).note("more about the error"),
        FieldSpec::optional("last_assistant_message", Text, Observed)
            .note("the rendered error text"),
    ],
    decision: Fact::new(DecisionModel::None, Documented),
    output: None,
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Documented),
    continue_false: FieldEffect::new(Honoured::No, "ignored", Documented),
    system_message: FieldEffect::new(Honoured::No, "ignored", Documented),
    exit: ExitCodes {
        zero: Fact::new("ignored", Documented),
        two: Fact::new("ignored", Documented),
        other: Fact::new("ignored", Documented),
    },
    can_block: Fact::new(false, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: Some(Fact::new("-p exits at once: the hook may not run to its end", Observed)),
    captured: true,
};
