//! The row of `SessionEnd`.

use super::prelude::*;

pub(super) static SESSION_END: EventSpec = EventSpec {
    name: EventName::SessionEnd,
    since: Since::exact((1, 0, 85), Documented),
    when: Fact::new("the session ends (exit, /clear, /resume switch)", Documented),
    matcher: MatcherSpec::list("reason", &choices::END_REASON, Observed),
    input: &[FieldSpec::required("reason", Choice(&choices::END_REASON), Observed).note("reason")],
    decision: Fact::new(DecisionModel::None, Observed),
    output: None,
    output_source: Observed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Observed),
    continue_false: FieldEffect::new(Honoured::No, "ignored", Observed),
    system_message: FieldEffect::new(Honoured::No, "discarded", Observed),
    exit: ExitCodes {
        zero: Fact::new("nothing", Observed),
        two: Fact::new("stderr to user", Observed),
        other: Fact::new("stderr to user (\"SessionEnd hook [<command>] failed: …\")", Observed),
    },
    can_block: Fact::new(false, Observed),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Observed),
    timeout_ms: Fact::new(1500, Observed),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: Some(Fact::new(
        "1.5 s shared budget; raised to the highest per-hook timeout in SETTINGS \
files (max 60 s); a timeout on a PLUGIN hook does not raise it; \
CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS overrides; hookSpecificOutput is a \
validation error",
        Observed,
    )),
    captured: true,
};
