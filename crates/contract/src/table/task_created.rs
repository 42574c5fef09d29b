//! The row of `TaskCreated`.

use super::prelude::*;

pub(super) static TASK_CREATED: EventSpec = EventSpec {
 name: EventName::TaskCreated,
 since: Since::exact((2, 1, 84), Documented),
 when: Fact::new("TaskCreate tool", Documented),
 matcher: Matcher::none(Observed),
 input: &[Field::required("task_id", Text, Observed),
Field::required("task_subject", Text, Observed),
Field::optional("task_description", Text, Observed),
Field::optional("teammate_name", Text, Typed),
Field::optional("team_name", Text, Typed).deprecated()],
 decision: DecisionModel::ExitOrTopLevelBlock,
 output: None,
 top_level_decision: Effect::new(Honoured::Yes, "block = task not created, reason as tool error", Documented),
 continue_false: Effect::new(Honoured::No, "ignored", Documented),
 system_message: Effect::new(Honoured::Unknown, "not seen", Documented),
 exit: ExitCodes {
  zero: Fact::new("nothing", Documented),
  two: Fact::new("task rolled back; \"TaskCreated hook feedback: …\"", Documented),
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
