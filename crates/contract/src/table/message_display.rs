//! The row of `MessageDisplay`.

use super::prelude::*;

pub(super) static MESSAGE_DISPLAY: EventSpec = EventSpec {
    name: EventName::MessageDisplay,
    since: Since::exact((2, 1, 152), Documented),
    when: Fact::new(
        "assistant text is rendered (batches of lines in the TUI; once per message in \
-p/SDK)",
        Documented,
    ),
    matcher: MatcherSpec::none(Observed),
    input: &[
        FieldSpec::required("turn_id", Uuid, Observed).note("the turn"),
        FieldSpec::required("message_id", Uuid, Observed).note("not the API msg_ id"),
        FieldSpec::required("index", Integer, Observed).note("which part of the message"),
        FieldSpec::required("final", Flag, Observed).note("true for the last part"),
        FieldSpec::required("delta", Text, Observed).note("the text of this part"),
    ],
    decision: Fact::new(DecisionModel::RewriteDisplay, Observed),
    output: Some(
        &[FieldSpec::optional("displayContent", Text, Typed).note("text to show instead")],
    ),
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Documented),
    continue_false: FieldEffect::new(Honoured::No, "discarded", Documented),
    system_message: FieldEffect::new(Honoured::No, "discarded", Documented),
    exit: ExitCodes {
        zero: Fact::new("use displayContent", Documented),
        two: Fact::new("original text shown", Documented),
        other: Fact::new("original text shown", Documented),
    },
    can_block: Fact::new(false, Documented),
    plain_stdout: Fact::new(PlainStdout::DebugLog, Documented),
    timeout_ms: Fact::new(10_000, Observed),
    handlers: Fact::new(handlers::NO_PROMPT, Documented),
    env_file: Fact::new(false, Observed),
    delivery: None,
    caveat: None,
    captured: true,
};
