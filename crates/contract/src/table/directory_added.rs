//! The row of `DirectoryAdded`.

use super::prelude::*;

pub(super) static DIRECTORY_ADDED: EventSpec = EventSpec {
 name: EventName::DirectoryAdded,
 since: Since::exact((2, 1, 219), Documented),
 when: Fact::new("/add-dir or SDK register_repo_root", Documented),
 matcher: Matcher::list("source", &choices::DIRECTORY_SOURCE, Documented),
 input: &[Field::required("directory", Text, Observed),
Field::required("source", Choice(&choices::DIRECTORY_SOURCE), Observed)],
 decision: DecisionModel::None,
 output: None,
 top_level_decision: Effect::new(Honoured::No, "ignored", Documented),
 continue_false: Effect::new(Honoured::No, "discarded", Documented),
 system_message: Effect::new(Honoured::Yes, "to Claude as context on the next turn (slash_command only)", Documented),
 exit: ExitCodes {
  zero: Fact::new("nothing", Documented),
  two: Fact::new("debug log", Documented),
  other: Fact::new("debug log; failure count shown", Documented),
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
