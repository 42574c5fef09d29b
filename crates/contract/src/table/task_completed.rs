//! The row of `TaskCompleted`.

use super::prelude::*;

pub(super) static TASK_COMPLETED: EventSpec = EventSpec {
    name: EventName::TaskCompleted,
    since: Since::exact((2, 1, 33), Documented),
    when: Fact::new("a task is being marked completed", Documented),
    matcher: MatcherSpec::none(Documented),
    input: &[
        FieldSpec::required("task_id", Text, Observed).note("the task"),
        FieldSpec::required("task_subject", Text, Observed).note("subject of the task"),
        FieldSpec::optional("task_description", Text, Observed).note("description of the task"),
        FieldSpec::optional("teammate_name", Text, Typed).note("the teammate"),
        FieldSpec::optional("team_name", Text, Typed).deprecated().note("name of the team"),
    ],
    decision: Fact::new(DecisionModel::ExitOrTopLevelBlock, Observed),
    output: None,
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::Yes, "block honoured", Observed),
    continue_false: FieldEffect::new(
        Honoured::No,
        "main session: ignored; teammate: stops it (docs)",
        Observed,
    ),
    system_message: FieldEffect::new(Honoured::Unknown, "not seen", Documented),
    exit: ExitCodes {
        zero: Fact::new("nothing", Documented),
        two: Fact::new("not completed; stderr fed back", Documented),
        other: Fact::new("non-blocking", Documented),
    },
    can_block: Fact::new(true, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
