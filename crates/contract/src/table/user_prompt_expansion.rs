//! The row of `UserPromptExpansion`.

use super::prelude::*;

pub(super) static USER_PROMPT_EXPANSION: EventSpec = EventSpec {
    name: EventName::UserPromptExpansion,
    since: Since::at_most((2, 1, 152), ThirdParty),
    when: Fact::new(
        "a typed custom command / skill / MCP prompt expands, before UserPromptSubmit \
(both fire)",
        Documented,
    ),
    matcher: MatcherSpec::names("command_name", "command or skill names", Documented),
    input: &[
        FieldSpec::required("expansion_type", Choice(&choices::EXPANSION_TYPE), Observed)
            .note("kind of the expanded command"),
        FieldSpec::required("command_name", Text, Observed).note("the command or skill"),
        FieldSpec::required("command_args", Text, Observed).note("text typed after the command"),
        FieldSpec::optional("command_source", Text, Observed)
            .note("source of the command; projectSettings was seen"),
        FieldSpec::required("prompt", Text, Observed).note("submitted text"),
    ],
    decision: Fact::new(DecisionModel::TopLevelBlock, Documented),
    output: Some(&[
        FieldSpec::optional("additionalContext", Text, Typed).note("text for the model"),
        FieldSpec::optional("suppressOriginalPrompt", Flag, Typed)
            .note("leave the prompt out of the block message"),
    ]),
    output_source: Typed,
    top_level_decision: FieldEffect::new(
        Honoured::Yes,
        "block = no expansion, reason to user",
        Documented,
    ),
    continue_false: FieldEffect::new(Honoured::Yes, "stops", Documented),
    system_message: FieldEffect::new(Honoured::Yes, "shown", Documented),
    exit: ExitCodes {
        zero: Fact::new("plain stdout → context", Documented),
        two: Fact::new("block expansion; stderr to user", Documented),
        other: Fact::new("non-blocking", Documented),
    },
    can_block: Fact::new(true, Documented),
    plain_stdout: Fact::new(PlainStdout::Context, Observed),
    timeout_ms: Fact::new(600_000, Documented),
    handlers: Fact::new(handlers::ALL, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
