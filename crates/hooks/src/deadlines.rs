//! The deadline of each hook: the time after which it still records, but prints nothing.

use std::time::Duration;

use rutter_contract::EventName;

use crate::pre_tool;

/// Deadline of the hooks that run once per session: at its start and at its end.
const SESSION_DEADLINE: Duration = Duration::from_millis(500);
/// Deadline of a prompt, which is searched for.
const PROMPT_DEADLINE: Duration = Duration::from_millis(200);
/// Deadline of a finished command, a subagent and a compaction.
const RESULT_DEADLINE: Duration = Duration::from_millis(100);
/// Deadline of the hooks that run most often: before a tool call, after an edit, at the end of a turn.
const FREQUENT_DEADLINE: Duration = Duration::from_millis(50);

/// Returns the deadline for an event of this tool, counted from the start of the process. `tool` is empty for an event
/// without a tool.
pub fn deadline(event: EventName, tool: &str) -> Duration {
    match event {
        EventName::SessionStart | EventName::SessionEnd => SESSION_DEADLINE,
        EventName::UserPromptSubmit => PROMPT_DEADLINE,
        // Lessons for the subagent are searched for.
        EventName::PreToolUse if pre_tool::starts_agent(tool) => RESULT_DEADLINE,
        EventName::PostToolUse | EventName::PostToolUseFailure if tool == "Bash" => RESULT_DEADLINE,
        EventName::SubagentStart | EventName::PreCompact => RESULT_DEADLINE,
        _ => FREQUENT_DEADLINE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadline_depends_on_event_and_tool() {
        for (event, tool, milliseconds) in [
            (EventName::SessionStart, "", 500),
            (EventName::SessionEnd, "", 500),
            (EventName::UserPromptSubmit, "", 200),
            (EventName::PreToolUse, "Bash", 50),
            (EventName::PreToolUse, "mcp__rutter__start_ghap", 50),
            (EventName::PreToolUse, "Agent", 100),
            (EventName::PostToolUse, "Bash", 100),
            (EventName::PostToolUseFailure, "Bash", 100),
            (EventName::PostToolUse, "Edit", 50),
            (EventName::SubagentStart, "", 100),
            (EventName::PreCompact, "", 100),
            (EventName::Stop, "", 50),
        ] {
            let expected = Duration::from_millis(milliseconds);
            assert_eq!(deadline(event, tool), expected, "{event} {tool}");
        }
    }
}
