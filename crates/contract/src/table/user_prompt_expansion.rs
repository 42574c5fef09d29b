//! The row of `UserPromptExpansion`.

use super::prelude::*;

pub(super) static USER_PROMPT_EXPANSION: EventSpec = EventSpec {
 name: EventName::UserPromptExpansion,
 since: Since::at_most((2, 1, 152), ThirdParty),
 when: Fact::new("a typed custom command / skill / MCP prompt expands, before UserPromptSubmit (both fire)", Documented),
 matcher: Matcher::names("command_name", "command or skill names", Documented),
 input: &[Field::required("expansion_type", Choice(&choices::EXPANSION_TYPE), Observed),
Field::required("command_name", Text, Observed),
Field::required("command_args", Text, Observed),
Field::optional("command_source", Text, Observed).note("projectSettings"),
Field::required("prompt", Text, Observed)],
 decision: DecisionModel::TopLevelBlock,
 output: Some(&[Field::optional("additionalContext", Text, Typed),
Field::optional("suppressOriginalPrompt", Flag, Typed)]),
 top_level_decision: Effect::new(Honoured::Yes, "block = no expansion, reason to user", Documented),
 continue_false: Effect::new(Honoured::Yes, "stops", Documented),
 system_message: Effect::new(Honoured::Yes, "shown", Documented),
 exit: ExitCodes {
  zero: Fact::new("plain stdout → context", Documented),
  two: Fact::new("block expansion; stderr to user", Documented),
  other: Fact::new("non-blocking", Documented),
 },
 can_block: Fact::new(true, Documented),
 plain_stdout: Fact::new(PlainStdout::Context, Observed),
 timeout_ms: Fact::new(600_000, Documented),
 handlers: Fact::new(handlers::ALL, Documented),
 env_file: false,
 delivery: None,
 caveat: None,
 seen: true,
};
