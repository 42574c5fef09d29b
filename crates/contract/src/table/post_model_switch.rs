//! The row of `PostModelSwitch`.

use super::prelude::*;

pub(super) static POST_MODEL_SWITCH: EventSpec = EventSpec {
    name: EventName::PostModelSwitch,
    since: Since::exact((2, 1, 251), ThirdParty),
    when: Fact::new("after the session model changed (any cause)", Binary),
    matcher: MatcherSpec::names("to_model", "resolved model ids", Observed),
    input: &[
        FieldSpec::required("from_model", Text, Observed).note("the model before"),
        FieldSpec::required("to_model", Text, Observed).note("the model after"),
        FieldSpec::required("requested_model", NullableText, Observed)
            .note("requested model; null without a request"),
        FieldSpec::required("source", Choice(&choices::SWITCH_SOURCE), Observed)
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
    decision: Fact::new(DecisionModel::ContextOnly, Observed),
    output: Some(&[FieldSpec::optional("additionalContext", Text, Typed)
        .note("with the next request the new model serves")]),
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Binary),
    continue_false: FieldEffect::new(Honoured::Unknown, "not known", Inferred),
    system_message: FieldEffect::new(Honoured::Yes, "shown", Observed),
    exit: ExitCodes {
        zero: Fact::new("plain stdout → context on the next request", Observed),
        two: Fact::new("stderr to user", Binary),
        other: Fact::new("stderr to user", Binary),
    },
    can_block: Fact::new(false, Binary),
    plain_stdout: Fact::new(PlainStdout::Context, Observed),
    timeout_ms: Fact::new(600_000, Inferred),
    handlers: Fact::new(handlers::NO_PROMPT, Inferred),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
