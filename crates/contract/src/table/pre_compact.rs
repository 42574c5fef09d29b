//! The row of `PreCompact`.

use super::prelude::*;

pub(super) static PRE_COMPACT: EventSpec = EventSpec {
    name: EventName::PreCompact,
    since: Since::exact((1, 0, 48), Documented),
    when: Fact::new("before compaction", Documented),
    matcher: MatcherSpec::list("trigger", &choices::COMPACT_TRIGGER, Documented),
    input: &[
        FieldSpec::required("trigger", Choice(&choices::COMPACT_TRIGGER), Observed)
            .note("origin of the request"),
        FieldSpec::required("custom_instructions", NullableText, Observed)
            .note("text typed after /compact; null without one"),
    ],
    decision: Fact::new(DecisionModel::TopLevelBlock, Observed),
    output: None,
    output_source: Observed,
    top_level_decision: FieldEffect::new(
        Honoured::Yes,
        "since 2.1.105: block = no compaction (\"Compaction blocked by PreCompact \
hook: [<command>]: <reason>\")",
        Documented,
    ),
    continue_false: FieldEffect::new(
        Honoured::No,
        "not honoured; the JSON is appended to the compaction prompt",
        Observed,
    ),
    system_message: FieldEffect::new(
        Honoured::No,
        "not shown; the JSON is appended to the compaction prompt",
        Observed,
    ),
    exit: ExitCodes {
        zero: Fact::new("stdout APPENDED to the compaction instructions", Observed),
        two: Fact::new("compaction blocked", Documented),
        other: Fact::new(
            "compaction goes on; \"PreCompact [<command>] failed: <stderr>\"",
            Documented,
        ),
    },
    can_block: Fact::new(true, Documented),
    plain_stdout: Fact::new(PlainStdout::CompactPrompt, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: Some(Fact::new(
        "valid JSON other than a block decision is appended verbatim to the \
compaction prompt; hookSpecificOutput fails validation and the whole error \
text lands in the next request",
        Observed,
    )),
    captured: true,
};
