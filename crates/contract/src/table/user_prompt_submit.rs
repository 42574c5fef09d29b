//! The row of `UserPromptSubmit`.

use super::prelude::*;

pub(super) static USER_PROMPT_SUBMIT: EventSpec = EventSpec {
    name: EventName::UserPromptSubmit,
    since: Since::exact((1, 0, 54), Documented),
    when: Fact::new(
        "a prompt is submitted (typed, -p, custom slash command, AND machine-injected \
turns such as <task-notification> when a background agent ends); not for \
built-in commands like /compact, /clear",
        Observed,
    ),
    matcher: MatcherSpec::none(Observed),
    input: &[
        FieldSpec::required("prompt", Text, Observed).note("submitted text"),
        FieldSpec::optional("source", Choice(&choices::PROMPT_SOURCE), Typed)
            .note("rolling out; payloads may omit it; absent in every observed payload"),
        FieldSpec::optional("session_title", Text, Typed).note("the title of the session"),
    ],
    decision: Fact::new(DecisionModel::TopLevelBlock, Observed),
    output: Some(&[
        FieldSpec::optional("additionalContext", Text, Observed)
            .since((1, 0, 59))
            .note("text for the model"),
        FieldSpec::optional("sessionTitle", Text, Typed)
            .since((2, 1, 94))
            .note("a title for the session"),
        FieldSpec::optional("suppressOriginalPrompt", Flag, Typed)
            .note("with decision:block, leave the prompt out of the block message"),
    ]),
    output_source: Observed,
    top_level_decision: FieldEffect::new(
        Honoured::Yes,
        "block = reject and erase prompt, reason to user only",
        Observed,
    ),
    continue_false: FieldEffect::new(
        Honoured::Yes,
        "stops, prompt kept in history; \"Operation stopped by hook: <stopReason>\"",
        Observed,
    ),
    system_message: FieldEffect::new(Honoured::Yes, "\"UserPromptSubmit says: …\"", Observed),
    exit: ExitCodes {
        zero: Fact::new("plain stdout → context", Observed),
        two: Fact::new(
            "block + erase prompt; stderr to user (\"UserPromptSubmit operation blocked \
by hook:…\")",
            Observed,
        ),
        other: Fact::new("non-blocking; valid JSON still honoured", Observed),
    },
    can_block: Fact::new(true, Observed),
    plain_stdout: Fact::new(PlainStdout::Context, Observed),
    timeout_ms: Fact::new(30_000, Observed),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: Some(Fact::new(
        "\"UserPromptSubmit hook additional context: …\" / plain: \"UserPromptSubmit \
hook success: …\"",
        Observed,
    )),
    caveat: Some(Fact::new(
        "mcp_tool handler with plain text: model gets the literal \"UserPromptSubmit \
completed\", not the text; return JSON",
        Observed,
    )),
    captured: true,
};
