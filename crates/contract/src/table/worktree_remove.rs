//! The row of `WorktreeRemove`.

use super::prelude::*;

pub(super) static WORKTREE_REMOVE: EventSpec = EventSpec {
    name: EventName::WorktreeRemove,
    since: Since::exact((2, 1, 50), Documented),
    when: Fact::new("a hook-created worktree is removed", Observed),
    matcher: MatcherSpec::none(Documented),
    input: &[FieldSpec::required("worktree_path", Text, Observed).note("path of the worktree")],
    decision: Fact::new(DecisionModel::None, Documented),
    output: None,
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Documented),
    continue_false: FieldEffect::new(Honoured::No, "discarded", Documented),
    system_message: FieldEffect::new(Honoured::No, "discarded", Documented),
    exit: ExitCodes {
        zero: Fact::new("the worktree counts as removed", Observed),
        two: Fact::new("the worktree is kept: \"could not remove it\"", Observed),
        other: Fact::new("debug log", Documented),
    },
    can_block: Fact::new(false, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: false,
};
