//! The row of `ConfigChange`.

use super::prelude::*;

pub(super) static CONFIG_CHANGE: EventSpec = EventSpec {
    name: EventName::ConfigChange,
    since: Since::exact((2, 1, 49), Documented),
    when: Fact::new("a settings or skill file changed during the session", Documented),
    matcher: MatcherSpec::list("source", &choices::CONFIG_SOURCE, Documented),
    input: &[
        FieldSpec::required("source", Choice(&choices::CONFIG_SOURCE), Observed)
            .note("settings layer that changed"),
        FieldSpec::optional("file_path", Text, Observed).note("the file"),
    ],
    decision: Fact::new(DecisionModel::TopLevelBlock, Observed),
    output: None,
    output_source: Typed,
    top_level_decision: FieldEffect::new(
        Honoured::Yes,
        "block = change not applied (not policy_settings)",
        Documented,
    ),
    continue_false: FieldEffect::new(Honoured::No, "discarded", Documented),
    system_message: FieldEffect::new(Honoured::No, "discarded", Documented),
    exit: ExitCodes {
        zero: Fact::new("allow", Documented),
        two: Fact::new("change not applied, silently", Observed),
        other: Fact::new("non-blocking", Documented),
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
