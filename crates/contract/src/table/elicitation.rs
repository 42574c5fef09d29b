//! The row of `Elicitation`.

use super::prelude::*;

pub(super) static ELICITATION: EventSpec = EventSpec {
 name: EventName::Elicitation,
 since: Since::exact((2, 1, 76), Documented),
 when: Fact::new("an MCP server asks for user input", Documented),
 matcher: Matcher::names("mcp_server_name", "MCP server names", Documented),
 input: &[Field::required("mcp_server_name", Text, Observed),
Field::required("message", Text, Observed),
Field::optional("mode", Choice(&choices::ELICITATION_MODE), Observed),
Field::optional("url", Text, Typed),
Field::optional("elicitation_id", Text, Typed),
Field::optional("requested_schema", Object, Observed)],
 decision: DecisionModel::ElicitationAction,
 output: Some(&[Field::optional("action", Choice(&choices::ELICITATION_ACTION), Typed),
Field::optional("content", Object, Typed).note("form values for accept")]),
 top_level_decision: Effect::new(Honoured::Unknown, "not known", Inferred),
 continue_false: Effect::new(Honoured::No, "discarded", Documented),
 system_message: Effect::new(Honoured::No, "discarded", Documented),
 exit: ExitCodes {
  zero: Fact::new("use action", Documented),
  two: Fact::new("declined; hookSpecificOutput ignored", Observed),
  other: Fact::new("dialog/default", Documented),
 },
 can_block: Fact::new(true, Documented),
 plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
 timeout_ms: Fact::new(600_000, Documented),
 handlers: Fact::new(handlers::NO_PROMPT, Documented),
 env_file: false,
 delivery: None,
 caveat: Some(Fact::new("when an Elicitation hook answers, ElicitationResult hooks do not run", Observed)),
 seen: true,
};
