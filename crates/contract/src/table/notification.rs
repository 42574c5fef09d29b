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
    matcher: Matcher::list("notification_type", &choices::NOTIFICATION_TYPE, Binary),
    input: &[
        Field::required("message", Text, Observed).note("the text"),
        Field::optional("title", Text, Typed).note("its title"),
        Field::required("notification_type", Choice(&choices::NOTIFICATION_TYPE), Observed)
            .note("what it is about"),
    ],
    decision: Fact::new(DecisionModel::None, Documented),
    output: Some(&[Field::optional("additionalContext", Text, Typed)
        .inert()
        .note("in the SDK's types; the documentation says it has no effect")]),
    output_source: Typed,
    top_level_decision: Effect::new(Honoured::No, "ignored", Documented),
    continue_false: Effect::new(Honoured::No, "discarded", Documented),
    system_message: Effect::new(Honoured::No, "discarded", Documented),
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
    seen: true,
};
