//! The row of `PostCompact`.

use super::prelude::*;

pub(super) static POST_COMPACT: EventSpec = EventSpec {
 name: EventName::PostCompact,
 since: Since::exact((2, 1, 76), Documented),
 when: Fact::new("after compaction", Documented),
 matcher: Matcher::list("trigger", &choices::COMPACT_TRIGGER, Documented),
 input: &[Field::required("trigger", Choice(&choices::COMPACT_TRIGGER), Observed),
Field::required("compact_summary", Text, Observed)],
 decision: DecisionModel::None,
 output: None,
 top_level_decision: Effect::new(Honoured::No, "ignored", Documented),
 continue_false: Effect::new(Honoured::No, "discarded", Documented),
 system_message: Effect::new(Honoured::No, "discarded", Documented),
 exit: ExitCodes {
  zero: Fact::new("stdout shown to user; with /compact it also reaches the next request inside <local-command-stdout>", Observed),
  two: Fact::new("stderr to user", Documented),
  other: Fact::new("stderr to user", Documented),
 },
 can_block: Fact::new(false, Documented),
 plain_stdout: Fact::new(PlainStdout::User, Observed),
 timeout_ms: Fact::new(600_000, Documented),
 handlers: Fact::new(handlers::NO_PROMPT, Documented),
 env_file: false,
 delivery: None,
 caveat: None,
 seen: true,
};
