//! The row of `Notification`.

use super::prelude::*;

pub(super) static NOTIFICATION: EventSpec = EventSpec {
    name: EventName::Notification,
    since: Since::exact((1, 0, 38), Documented),
    when: Fact::new(
        "a notification is sent (permission_prompt after ~6 s, idle_prompt after ~60 \
s …)",
        Documented,
    ),
    matcher: MatcherSpec::list("notification_type", &choices::NOTIFICATION_TYPE, Binary),
    input: &[
        FieldSpec::required("message", Text, Observed).note("the text"),
        FieldSpec::optional("title", Text, Typed).note("title of the notification"),
        FieldSpec::required("notification_type", Choice(&choices::NOTIFICATION_TYPE), Observed)
            .note("subject of the notification"),
    ],
    decision: Fact::new(DecisionModel::None, Documented),
    output: Some(&[FieldSpec::optional("additionalContext", Text, Typed)
        .inert()
        .note("in the SDK's types; the documentation says it has no effect")]),
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Documented),
    continue_false: FieldEffect::new(Honoured::No, "discarded", Documented),
    system_message: FieldEffect::new(Honoured::No, "discarded", Documented),
    exit: ExitCodes {
        zero: Fact::new("nothing", Documented),
        two: Fact::new("ignored", Documented),
        other: Fact::new("ignored", Documented),
    },
    can_block: Fact::new(false, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
