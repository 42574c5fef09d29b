//! The row of `SessionStart`.

use super::prelude::*;

pub(super) static SESSION_START: EventSpec = EventSpec {
    name: EventName::SessionStart,
    since: Since::exact((1, 0, 62), Documented),
    when: Fact::new("session starts, resumes, forks, after /clear, after compaction", Documented),
    matcher: MatcherSpec::list("source", &choices::SESSION_SOURCE, Observed),
    input: &[
        FieldSpec::required("source", Choice(&choices::SESSION_SOURCE), Observed)
            .note("cause of the session start"),
        FieldSpec::optional("model", Text, Observed)
            .note("present in TUI startup and on compact; absent in -p startup/resume/fork/clear"),
        FieldSpec::optional("agent_type", Text, Typed)
            .note("kind of the agent; empty for the fork that compacts"),
        FieldSpec::optional("session_title", Text, Observed).note("the title of the session"),
        FieldSpec::optional("seconds_since_last_response", Number, Observed)
            .since((2, 1, 251))
            .note("resume/fork"),
        FieldSpec::optional("context_tokens", Number, Observed)
            .since((2, 1, 251))
            .note("resume/fork"),
        FieldSpec::optional("prompt_cache_likely_expired", Flag, Observed)
            .since((2, 1, 251))
            .note("resume/fork"),
        FieldSpec::optional("estimated_cache_write_usd", Number, Observed)
            .since((2, 1, 251))
            .note("resume/fork"),
    ],
    decision: Fact::new(DecisionModel::ContextOnly, Observed),
    output: Some(&[
        FieldSpec::optional("additionalContext", Text, Observed).note("text for the model"),
        FieldSpec::optional("initialUserMessage", Text, Typed)
            .note("-p only: becomes the first user turn"),
        FieldSpec::optional("sessionTitle", Text, Typed)
            .since((2, 1, 152))
            .note("startup|resume|fork"),
        FieldSpec::optional("watchPaths", TextList, Typed).note("absolute paths for FileChanged"),
        FieldSpec::optional("reloadSkills", Flag, Typed).note("read the skills again"),
    ]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Observed),
    continue_false: FieldEffect::new(Honoured::No, "ignored", Observed),
    system_message: FieldEffect::new(
        Honoured::Terminal,
        "shown in TUI; not emitted in stream-json",
        Observed,
    ),
    exit: ExitCodes {
        zero: Fact::new("plain stdout → context", Observed),
        two: Fact::new(
            "stderr to user as \"<hook> hook error\"; not blocking; JSON on stdout still \
honoured",
            Observed,
        ),
        other: Fact::new("same as 2", Observed),
    },
    can_block: Fact::new(false, Observed),
    plain_stdout: Fact::new(PlainStdout::Context, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::LOCAL, Documented),
    env_file: Fact::new(true, Observed),
    delivery: Some(Fact::new(
        "\"SessionStart hook additional context: …\" / plain: \"SessionStart:<source> \
hook success: …\"",
        Observed,
    )),
    caveat: None,
    captured: true,
};
