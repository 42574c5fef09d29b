//! The row of `TaskCreated`.

use super::prelude::*;

pub(super) static TASK_CREATED: EventSpec = EventSpec {
    name: EventName::TaskCreated,
    since: Since::exact((2, 1, 84), Documented),
    when: Fact::new("TaskCreate tool", Documented),
    matcher: MatcherSpec::none(Observed),
    input: &[
        FieldSpec::required("task_id", Text, Observed).note("the task"),
        FieldSpec::required("task_subject", Text, Observed).note("subject of the task"),
        FieldSpec::optional("task_description", Text, Observed).note("description of the task"),
        FieldSpec::optional("teammate_name", Text, Typed).note("the teammate"),
        FieldSpec::optional("team_name", Text, Typed).deprecated().note("name of the team"),
    ],
    decision: Fact::new(DecisionModel::ExitOrTopLevelBlock, Observed),
    output: None,
    output_source: Observed,
    top_level_decision: FieldEffect::new(
        Honoured::Yes,
        "block = task not created, reason as tool error",
        Documented,
    ),
    continue_false: FieldEffect::new(Honoured::No, "ignored", Documented),
    system_message: FieldEffect::new(Honoured::Unknown, "not seen", Documented),
    exit: ExitCodes {
        zero: Fact::new("nothing", Documented),
        two: Fact::new("task rolled back; \"TaskCreated hook feedback: …\"", Documented),
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
