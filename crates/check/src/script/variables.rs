//! Environment variables with the client's names that the client never sets.
//!
//! The list is closed: it has the names of tutorials, of other programs, and of scripts that were written from memory.
//! A `CLAUDE_…` name that is not in it is unknown, because a later client may set it.

/// Names that no version of the client has set for hooks.
const UNSET_VARIABLES: [&str; 42] = [
    "CLAUDE_TOOL_INPUT",
    "CLAUDE_TOOL_NAME",
    "CLAUDE_TOOL_OUTPUT",
    "CLAUDE_TOOL_RESULT",
    "CLAUDE_TOOL_RESPONSE",
    "CLAUDE_TOOL_ARGS",
    "CLAUDE_TOOL_PARAMS",
    "CLAUDE_TOOL_ARGUMENTS",
    "CLAUDE_TOOL_COMMAND",
    "CLAUDE_TOOL_FILE_PATH",
    "CLAUDE_TOOL_EXIT_CODE",
    "CLAUDE_TOOL_INPUT_FILE_PATH",
    "CLAUDE_TOOL_INPUT_COMMAND",
    "CLAUDE_TOOL_INPUT_PATH",
    "CLAUDE_TOOL_INPUT_CONTENT",
    "CLAUDE_TOOL_USE_ID",
    "CLAUDE_COMMAND",
    "CLAUDE_BASH_COMMAND",
    "CLAUDE_FILE_PATHS",
    "CLAUDE_FILE_PATH",
    "CLAUDE_FILE",
    "CLAUDE_FILES",
    "CLAUDE_EDITED_FILE",
    "CLAUDE_CHANGED_FILES",
    "CLAUDE_MODIFIED_FILES",
    "CLAUDE_EVENT_TYPE",
    "CLAUDE_EVENT",
    "CLAUDE_HOOK_EVENT",
    "CLAUDE_HOOK_EVENT_NAME",
    "CLAUDE_HOOK_INPUT",
    "CLAUDE_HOOK_PAYLOAD",
    "CLAUDE_HOOK_DATA",
    "CLAUDE_NOTIFICATION",
    "CLAUDE_NOTIFICATION_MESSAGE",
    "CLAUDE_PROMPT",
    "CLAUDE_USER_PROMPT",
    "CLAUDE_PROJECT_ROOT",
    "CLAUDE_MODEL",
    "CLAUDE_TRANSCRIPT_PATH",
    "TOOL_INPUT",
    "TOOL_NAME",
    "TOOL_OUTPUT",
];

/// Returns true if the client never sets the variable, although its name says so.
pub(super) fn is_never_set(name: &str) -> bool {
    UNSET_VARIABLES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_client_are_set() {
        // All that the client was seen to set, or documents.
        for name in [
            "CLAUDE_PROJECT_DIR",
            "CLAUDECODE",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_PID",
            "AI_AGENT",
            "CLAUDE_CODE_SESSION_ATTENDED",
            "CLAUDE_EFFORT",
            "CLAUDE_ENV_FILE",
            "CLAUDE_PLUGIN_ROOT",
            "CLAUDE_PLUGIN_DATA",
            "CLAUDE_CODE_REMOTE",
            "HOME",
        ] {
            assert!(!is_never_set(name), "{name}");
        }
        assert!(is_never_set("CLAUDE_TOOL_INPUT"));
        assert!(is_never_set("CLAUDE_FILE_PATHS"));
    }
}
