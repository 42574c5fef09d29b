//! The row of `InstructionsLoaded`.

use super::prelude::*;

pub(super) static INSTRUCTIONS_LOADED: EventSpec = EventSpec {
 name: EventName::InstructionsLoaded,
 since: Since::exact((2, 1, 69), Documented),
 when: Fact::new("a CLAUDE.md or .claude/rules/*.md is loaded", Documented),
 matcher: Matcher::list("load_reason", &choices::LOAD_REASON, Documented),
 input: &[Field::required("file_path", Text, Observed),
Field::required("memory_type", Choice(&choices::MEMORY_TYPE), Observed),
Field::required("load_reason", Choice(&choices::LOAD_REASON), Observed),
Field::optional("globs", TextList, Typed),
Field::optional("trigger_file_path", Text, Typed),
Field::optional("parent_file_path", Text, Typed)],
 decision: DecisionModel::None,
 output: None,
 top_level_decision: Effect::new(Honoured::No, "ignored", Documented),
 continue_false: Effect::new(Honoured::No, "ignored", Documented),
 system_message: Effect::new(Honoured::No, "discarded", Documented),
 exit: ExitCodes {
  zero: Fact::new("ok", Documented),
  two: Fact::new("ignored", Documented),
  other: Fact::new("ignored", Documented),
 },
 can_block: Fact::new(false, Documented),
 plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
 timeout_ms: Fact::new(600_000, Documented),
 handlers: Fact::new(handlers::NO_PROMPT, Documented),
 env_file: false,
 delivery: None,
 caveat: None,
 seen: true,
};
