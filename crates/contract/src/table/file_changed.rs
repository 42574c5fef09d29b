//! The row of `FileChanged`.

use super::prelude::*;

pub(super) static FILE_CHANGED: EventSpec = EventSpec {
    name: EventName::FileChanged,
    since: Since::exact((2, 1, 83), Documented),
    when: Fact::new("a watched file changed on disk (filesystem watcher)", Documented),
    matcher: MatcherSpec::files(
        "file_path",
        "literal filenames split on |, relative to cwd; also builds the watch list",
        Documented,
    )
    .with_narrow_lists(),
    input: &[
        FieldSpec::required("file_path", Text, Observed).note("the file"),
        FieldSpec::required("event", Choice(&choices::FILE_EVENT), Observed)
            .note("kind of the change"),
    ],
    decision: Fact::new(DecisionModel::None, Documented),
    output: Some(&[
        FieldSpec::optional("watchPaths", TextList, Typed).note("absolute paths for FileChanged")
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
