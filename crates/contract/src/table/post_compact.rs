//! The row of `PostCompact`.

use super::prelude::*;

pub(super) static POST_COMPACT: EventSpec = EventSpec {
    name: EventName::PostCompact,
    since: Since::exact((2, 1, 76), Documented),
    when: Fact::new("after compaction", Documented),
    matcher: MatcherSpec::list("trigger", &choices::COMPACT_TRIGGER, Documented),
    input: &[
        FieldSpec::required("trigger", Choice(&choices::COMPACT_TRIGGER), Observed)
            .note("origin of the request"),
        FieldSpec::required("compact_summary", Text, Observed)
            .note("summary that replaces the conversation"),
    ],
    decision: Fact::new(DecisionModel::None, Observed),
    output: None,
    output_source: Observed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Documented),
    continue_false: FieldEffect::new(Honoured::No, "discarded", Documented),
    system_message: FieldEffect::new(Honoured::No, "discarded", Documented),
    exit: ExitCodes {
        zero: Fact::new(
            "stdout shown to user; with /compact it also reaches the next request inside \
<local-command-stdout>",
            Observed,
        ),
        two: Fact::new("stderr to user", Documented),
        other: Fact::new("stderr to user", Documented),
    },
    can_block: Fact::new(false, Documented),
    plain_stdout: Fact::new(PlainStdout::User, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
