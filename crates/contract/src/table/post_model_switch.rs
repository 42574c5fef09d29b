//! The row of `PostModelSwitch`.

use super::prelude::*;

pub(super) static POST_MODEL_SWITCH: EventSpec = EventSpec {
 name: EventName::PostModelSwitch,
 since: Since::exact((2, 1, 251), ThirdParty),
 when: Fact::new("after the session model changed (any cause)", Documented),
 matcher: Matcher::names("to_model", "resolved model ids", Observed),
 input: &[Field::required("from_model", Text, Observed),
Field::required("to_model", Text, Observed),
Field::required("requested_model", NullableText, Observed),
Field::required("source", Choice(&choices::SWITCH_SOURCE), Observed),
Field::required("context_tokens", Number, Observed),
Field::required("prompt_cache_warm", Flag, Observed),
Field::required("cache_ttl", Choice(&choices::CACHE_TTL), Observed),
Field::required("estimated_cache_write_usd", Number, Observed),
Field::required("pricing", Choice(&choices::PRICING), Observed)],
 decision: DecisionModel::ContextOnly,
 output: Some(&[Field::optional("additionalContext", Text, Typed).note("with the next request the new model serves")]),
 top_level_decision: Effect::new(Honoured::No, "ignored", Documented),
 continue_false: Effect::new(Honoured::Unknown, "not known", Inferred),
 system_message: Effect::new(Honoured::Yes, "shown", Observed),
 exit: ExitCodes {
  zero: Fact::new("plain stdout → context on the next request", Observed),
  two: Fact::new("stderr to user", Documented),
  other: Fact::new("stderr to user", Documented),
 },
 can_block: Fact::new(false, Documented),
 plain_stdout: Fact::new(PlainStdout::Context, Observed),
 timeout_ms: Fact::new(600_000, Documented),
 handlers: Fact::new(handlers::NO_PROMPT, Inferred),
 env_file: false,
 delivery: None,
 caveat: None,
 seen: true,
};
