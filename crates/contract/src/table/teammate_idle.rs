//! The row of `TeammateIdle`.

use super::prelude::*;

pub(super) static TEAMMATE_IDLE: EventSpec = EventSpec {
    name: EventName::TeammateIdle,
    since: Since::exact((2, 1, 33), Documented),
    when: Fact::new("an agent-team teammate is about to go idle", Observed),
    matcher: MatcherSpec::none(Documented),
    input: &[
        FieldSpec::required("teammate_name", Text, Observed).note("the teammate"),
        FieldSpec::required("team_name", Text, Observed).deprecated().note("name of the team"),
    ],
    decision: Fact::new(DecisionModel::ExitOrContinue, Observed),
    output: None,
    output_source: Typed,
    top_level_decision: FieldEffect::new(
        Honoured::Yes,
        "block = keeps working, with the reason as feedback",
        Observed,
    ),
    continue_false: FieldEffect::new(
        Honoured::Yes,
        "stops the teammate (stop_hook_prevented)",
        Observed,
    ),
    system_message: FieldEffect::new(Honoured::Yes, "shown", Observed),
    exit: ExitCodes {
        zero: Fact::new("nothing", Documented),
        two: Fact::new("keeps working, stderr as feedback", Observed),
        other: Fact::new("non-blocking", Documented),
    },
    can_block: Fact::new(true, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: false,
};
