//! The row of `InstructionsLoaded`.

use super::prelude::*;

pub(super) static INSTRUCTIONS_LOADED: EventSpec = EventSpec {
    name: EventName::InstructionsLoaded,
    since: Since::exact((2, 1, 69), Documented),
    when: Fact::new("a CLAUDE.md or .claude/rules/*.md is loaded", Documented),
    matcher: MatcherSpec::list("load_reason", &choices::LOAD_REASON, Documented),
    input: &[
        FieldSpec::required("file_path", Text, Observed).note("the file"),
        FieldSpec::required("memory_type", Choice(&choices::MEMORY_TYPE), Observed)
            .note("owner of the instructions"),
        FieldSpec::required("load_reason", Choice(&choices::LOAD_REASON), Observed)
            .note("reason for loading"),
        FieldSpec::optional("globs", TextList, Typed).note("the patterns that matched"),
        FieldSpec::optional("trigger_file_path", Text, Typed).note("the file that led to it"),
        FieldSpec::optional("parent_file_path", Text, Typed).note("the file that includes it"),
    ],
    decision: Fact::new(DecisionModel::None, Documented),
    output: None,
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Documented),
    continue_false: FieldEffect::new(Honoured::No, "ignored", Documented),
    system_message: FieldEffect::new(Honoured::No, "discarded", Documented),
    exit: ExitCodes {
        zero: Fact::new("ok", Documented),
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
