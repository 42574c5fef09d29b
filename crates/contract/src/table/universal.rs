//! Fields that every event sends, and fields that every answer may carry.

use super::prelude::*;

/// The fields that the client sends with every event, before the event's own fields.
pub static UNIVERSAL_INPUT: &[FieldSpec] = &[
    FieldSpec::required("session_id", Text, Observed)
        .note("`--resume` keeps it, `/clear` makes a new one"),
    FieldSpec::required("transcript_path", Text, Observed)
        .note("JSONL transcript; written asynchronously, may lag"),
    FieldSpec::required("cwd", Text, Observed).note(
        "current working directory: follows `cd` and worktrees; also where the hook \
runs",
    ),
    FieldSpec::required("hook_event_name", Text, Observed)
        .note("the event; a Stop hook in an agent's frontmatter gets SubagentStop"),
    FieldSpec::optional("prompt_id", Uuid, Observed).since((2, 1, 196)).note(
        "absent until the first user input: on Setup, SessionStart (startup, resume, \
fork) and InstructionsLoaded (session_start)",
    ),
    FieldSpec::optional("permission_mode", Choice(&choices::PERMISSION_MODE), Observed).note(
        "on prompt and tool events, PostToolBatch, PermissionRequest, Stop and \
SubagentStop; on no other",
    ),
    FieldSpec::optional("agent_id", Text, Observed)
        .since((2, 1, 69))
        .note("only inside a subagent; tells a subagent's call, which agent_type does not"),
    FieldSpec::optional("agent_type", Text, Observed)
        .since((2, 1, 69))
        .note("inside a subagent, or on the main thread with --agent"),
    FieldSpec::optional("effort", Shape(&shapes::EFFORT), Observed).since((2, 1, 133)).note(
        "on tool events, PermissionRequest, PostToolBatch, Stop, SubagentStop and \
StopFailure",
    ),
    FieldSpec::optional("scratchpad_dir", Text, ThirdParty)
        .since((2, 1, 257))
        .note("said to be documented; in no type declaration and in no captured payload"),
];

/// The fields that an answer may have on every event. `decision` and `reason` are not here: they have an
/// effect on some events only, and the rows of those events describe it.
pub static UNIVERSAL_OUTPUT: &[FieldSpec] = &[
    FieldSpec::optional("continue", Flag, Observed)
        .note("false stops the agent after the hook, on the events that honour it"),
    FieldSpec::optional("stopReason", Text, Documented)
        .note("shown to the user with continue: false, not to the model"),
    FieldSpec::optional("suppressOutput", Flag, Documented).note("accepted, without effect"),
    FieldSpec::optional("systemMessage", Text, Observed)
        .since((1, 0, 64))
        .note("shown to the user as \"<hook name> says: …\"; some events discard it"),
    FieldSpec::optional("terminalSequence", Text, Documented)
        .since((2, 1, 141))
        .note("OSC 0, 1, 2, 9, 99, 777 or BEL only; interactive sessions only"),
    FieldSpec::optional("async", Flag, Documented)
        .note("true on the first line of stdout sends a command hook to the background"),
    FieldSpec::optional("asyncTimeout", Number, Binary).note("milliseconds; 15,000 by default"),
];
