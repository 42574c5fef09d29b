//! The time that hooks of an event may take before they are felt.

use std::time::Duration;

use rutter_contract::EventName;

/// Returns the budget of an event. It is no limit of the client: it says what a user or the agent waits for, and how often.
pub fn latency_budget(event: EventName) -> Duration {
    use EventName::{
        FileChanged, MessageDisplay, Notification, PermissionDenied, PermissionRequest,
        PostToolBatch, PostToolUse, PostToolUseFailure, PreToolUse, Setup, Stop, SubagentStop,
        UserPromptExpansion, UserPromptSubmit,
    };
    Duration::from_millis(match event {
        // With every tool call, hundreds of times in a session.
        PreToolUse | PostToolUse | PostToolUseFailure | PostToolBatch => 100,
        // With every piece of text that appears, or with every file that changes.
        MessageDisplay | FileChanged => 50,
        // A user has just typed and waits for a reaction, or is about to read a question.
        UserPromptSubmit | UserPromptExpansion | PermissionRequest | PermissionDenied
        | Notification => 300,
        // Once in a turn, when the work is done: checks may run here.
        Stop | SubagentStop => 2000,
        // On request.
        Setup => 10_000,
        // Once in a session, as SessionStart before the first prompt, or rare.
        _ => 1000,
    })
}
