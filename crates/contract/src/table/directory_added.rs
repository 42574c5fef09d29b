//! The row of `DirectoryAdded`.

use super::prelude::*;

pub(super) static DIRECTORY_ADDED: EventSpec = EventSpec {
    name: EventName::DirectoryAdded,
    since: Since::exact((2, 1, 219), Documented),
    when: Fact::new("/add-dir or SDK register_repo_root", Documented),
    matcher: MatcherSpec::list("source", &choices::DIRECTORY_SOURCE, Documented),
    input: &[
        FieldSpec::required("directory", Text, Observed).note("the directory"),
        FieldSpec::required("source", Choice(&choices::DIRECTORY_SOURCE), Observed)
            .note("origin of the directory"),
    ],
    decision: Fact::new(DecisionModel::None, Documented),
    output: None,
    output_source: Typed,
    top_level_decision: FieldEffect::new(Honoured::No, "ignored", Documented),
    continue_false: FieldEffect::new(Honoured::No, "discarded", Documented),
    system_message: FieldEffect::new(
        Honoured::Unknown,
        "to Claude as context on the next turn, after /add-dir in a terminal; not seen without one",
        Documented,
    ),
    exit: ExitCodes {
        zero: Fact::new("nothing", Documented),
        two: Fact::new("debug log", Documented),
        other: Fact::new("debug log; failure count shown", Documented),
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
