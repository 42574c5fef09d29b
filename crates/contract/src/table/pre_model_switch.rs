//! The row of `PreModelSwitch`.

use super::prelude::*;

pub(super) static PRE_MODEL_SWITCH: EventSpec = EventSpec {
 name: EventName::PreModelSwitch,
 since: Since::exact((2, 1, 251), ThirdParty),
 when: Fact::new("before a requested model switch (/model, picker, SDK set_model)", Documented),
 matcher: Matcher::names("to_model", "resolved model ids, e.g. claude-sonnet-5", Observed),
 input: &[Field::required("from_model", Text, Observed),
Field::required("to_model", Text, Observed),
Field::required("requested_model", NullableText, Observed),
Field::required("source", Choice(&choices::SWITCH_REQUEST_SOURCE), Observed),
Field::required("context_tokens", Number, Observed),
Field::required("prompt_cache_warm", Flag, Observed),
Field::required("cache_ttl", Choice(&choices::CACHE_TTL), Observed),
Field::required("estimated_cache_write_usd", Number, Observed),
Field::required("pricing", Choice(&choices::PRICING), Observed)],
 decision: DecisionModel::PermissionDecision,
 output: Some(&[Field::optional("permissionDecision", Choice(&choices::SWITCH_PERMISSION), Typed).note("no \"defer\"; ask in a headless session = refusal"),
Field::optional("permissionDecisionReason", Text, Typed)]),
 top_level_decision: Effect::new(Honoured::Yes, "block honoured", Observed),
 continue_false: Effect::new(Honoured::No, "ignored", Observed),
 system_message: Effect::new(Honoured::Yes, "shown", Documented),
 exit: ExitCodes {
  zero: Fact::new("nothing", Documented),
  two: Fact::new("switch blocked, stderr to user", Documented),
  other: Fact::new("non-blocking notice", Documented),
 },
 can_block: Fact::new(true, Documented),
 plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
 timeout_ms: Fact::new(600_000, Documented),
 handlers: Fact::new(handlers::NO_PROMPT, Inferred),
 env_file: false,
 delivery: None,
 caveat: None,
 seen: true,
};
