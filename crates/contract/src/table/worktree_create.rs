//! The row of `WorktreeCreate`.

use super::prelude::*;

pub(super) static WORKTREE_CREATE: EventSpec = EventSpec {
    name: EventName::WorktreeCreate,
    since: Since::exact((2, 1, 50), Documented),
    when: Fact::new(
        "a worktree is needed (--worktree, isolation:\"worktree\", background \
session); replaces git worktree",
        Documented,
    ),
    matcher: MatcherSpec::none(Documented),
    input: &[FieldSpec::required("name", Text, Observed).note("the name to give")],
    decision: Fact::new(DecisionModel::PathReturn, Documented),
    output: Some(&[FieldSpec::required("worktreePath", Text, Typed).note(
        "http/callback handlers only; command handlers print the path as the last \
non-empty stdout line",
    )]),
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::No, "none; the path is the answer", Inferred),
    continue_false: FieldEffect::new(Honoured::No, "discarded", Documented),
    system_message: FieldEffect::new(Honoured::No, "discarded", Documented),
    exit: ExitCodes {
        zero: Fact::new("path taken from stdout", Documented),
        two: Fact::new("creation fails", Documented),
        other: Fact::new(
            "creation fails (\"WorktreeCreate hook failed: <command>: <stderr>\")",
            Documented,
        ),
    },
    can_block: Fact::new(true, Documented),
    plain_stdout: Fact::new(PlainStdout::Path, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
