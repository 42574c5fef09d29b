//! The row of `CwdChanged`.

use super::prelude::*;

pub(super) static CWD_CHANGED: EventSpec = EventSpec {
    name: EventName::CwdChanged,
    since: Since::exact((2, 1, 83), Documented),
    when: Fact::new("the working directory changed (e.g. Bash cd)", Documented),
    matcher: MatcherSpec::none(Observed),
    input: &[
        FieldSpec::required("old_cwd", Text, Observed).note("previous working directory"),
        FieldSpec::required("new_cwd", Text, Observed).note("new working directory"),
    ],
    decision: Fact::new(DecisionModel::None, Documented),
    output: Some(&[
        FieldSpec::optional("watchPaths", TextList, Typed).note("replaces the dynamic watch list")
    ]),
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Documented),
    continue_false: FieldEffect::new(Honoured::No, "discarded", Documented),
    system_message: FieldEffect::new(Honoured::Terminal, "brief terminal notice (TUI)", Documented),
    exit: ExitCodes {
        zero: Fact::new("nothing", Documented),
        two: Fact::new("stderr to user", Documented),
        other: Fact::new("stderr to user", Documented),
    },
    can_block: Fact::new(false, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(true, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
