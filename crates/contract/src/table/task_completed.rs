//! The row of `TaskCompleted`.

use super::prelude::*;

pub(super) static TASK_COMPLETED: EventSpec = EventSpec {
 name: EventName::TaskCompleted,
 since: Since::exact((2, 1, 33), Documented),
 when: Fact::new("a task is being marked completed", Documented),
 matcher: Matcher::none(Documented),
 input: &[Field::required("task_id", Text, Observed),
Field::required("task_subject", Text, Observed),
Field::optional("task_description", Text, Observed),
Field::optional("teammate_name", Text, Typed),
Field::optional("team_name", Text, Typed).deprecated()],
 decision: DecisionModel::ExitOrTopLevelBlock,
 output: None,
 top_level_decision: Effect::new(Honoured::Yes, "block honoured", Observed),
 continue_false: Effect::new(Honoured::No, "main session: ignored; teammate: stops it (docs)", Observed),
 system_message: Effect::new(Honoured::Unknown, "not seen", Documented),
 exit: ExitCodes {
  zero: Fact::new("nothing", Documented),
  two: Fact::new("not completed; stderr fed back", Documented),
  other: Fact::new("non-blocking", Documented),
 },
 can_block: Fact::new(true, Documented),
 plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
 timeout_ms: Fact::new(600_000, Documented),
 handlers: Fact::new(handlers::ALL, Documented),
 env_file: false,
 delivery: None,
 caveat: None,
 seen: true,
};
