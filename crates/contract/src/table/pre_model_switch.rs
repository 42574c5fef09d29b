//! The row of `PreModelSwitch`.

use super::prelude::*;

pub(super) static PRE_MODEL_SWITCH: EventSpec = EventSpec {
    name: EventName::PreModelSwitch,
    since: Since::exact((2, 1, 251), ThirdParty),
    when: Fact::new("before a requested model switch (/model, picker, SDK set_model)", Binary),
    matcher: MatcherSpec::names("to_model", "resolved model ids, e.g. claude-sonnet-5", Observed),
    input: &[
        FieldSpec::required("from_model", Text, Observed).note("the model before"),
        FieldSpec::required("to_model", Text, Observed).note("the model after"),
        FieldSpec::required("requested_model", NullableText, Observed)
            .note("requested model; null without a request"),
        FieldSpec::required("source", Choice(&choices::SWITCH_REQUEST_SOURCE), Observed)
            .note("origin of the request"),
        FieldSpec::required("context_tokens", Number, Observed).note("length of the conversation"),
        FieldSpec::required("prompt_cache_warm", Flag, Observed)
            .note("true if the prompt cache is still warm"),
        FieldSpec::required("cache_ttl", Choice(&choices::CACHE_TTL), Observed)
            .note("lifetime of the prompt cache"),
        FieldSpec::required("estimated_cache_write_usd", Number, Observed)
            .note("cost of filling the prompt cache again"),
        FieldSpec::required("pricing", Choice(&choices::PRICING), Observed)
            .note("source of the prices"),
    ],
    decision: Fact::new(DecisionModel::PermissionDecision, Observed),
    output: Some(&[
        FieldSpec::optional("permissionDecision", Choice(&choices::SWITCH_PERMISSION), Typed)
            .note("no \"defer\"; ask in a headless session = refusal"),
        FieldSpec::optional("permissionDecisionReason", Text, Typed).note("reason"),
    ]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(Honoured::Yes, "block honoured", Observed),
    continue_false: FieldEffect::new(Honoured::No, "ignored", Observed),
    system_message: FieldEffect::new(Honoured::Yes, "shown", Binary),
    exit: ExitCodes {
        zero: Fact::new("nothing", Binary),
        two: Fact::new("switch blocked, stderr to user", Binary),
        other: Fact::new("non-blocking notice", Binary),
    },
    can_block: Fact::new(true, Binary),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Binary),
    timeout_ms: Fact::new(600_000, Inferred),
    handlers: Fact::new(handlers::NO_PROMPT, Inferred),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
