//! The row of `TeammateIdle`.

use super::prelude::*;

pub(super) static TEAMMATE_IDLE: EventSpec = EventSpec {
    name: EventName::TeammateIdle,
    since: Since::exact((2, 1, 33), Documented),
    when: Fact::new("an agent-team teammate is about to go idle", Documented),
    matcher: Matcher::none(Documented),
    input: &[
        Field::required("teammate_name", Text, Typed).note("the teammate"),
        Field::required("team_name", Text, Typed).deprecated().note("its team"),
    ],
    decision: Fact::new(DecisionModel::ExitOrContinue, Documented),
    output: None,
    output_source: Typed,
    top_level_decision: Effect::new(
        Honoured::Unknown,
        "not known for commands; prompt hooks use it",
        Documented,
    ),
    continue_false: Effect::new(Honoured::Yes, "stops the teammate", Documented),
    system_message: Effect::new(Honoured::Unknown, "not known", Inferred),
    exit: ExitCodes {
        zero: Fact::new("nothing", Documented),
        two: Fact::new("keeps working, stderr as feedback", Documented),
        other: Fact::new("non-blocking", Documented),
    },
    can_block: Fact::new(true, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    seen: false,
};
