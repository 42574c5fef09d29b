//! Answers that decide: permissions, elicitations, retries, paths.

use serde_json::{Map, Value, json};

use super::{Answer, AnswersElicitation, DecidesPermission, HookOutput};
use crate::event::HookEvent;
use crate::input::{
    PermissionDenied, PermissionRequest, PermissionUpdate, PreToolUse, TeammateIdle, WorktreeCreate,
};

impl<E: DecidesPermission> HookOutput<E> {
    /// Lets it happen without asking. Deny and ask rules of the user still apply.
    #[must_use]
    pub fn allow(self) -> Self {
        self.set("permissionDecision", "allow")
    }

    /// Prevents it. The reason of a denied call goes to the model.
    #[must_use]
    pub fn deny(self, reason: impl Into<String>) -> Self {
        self.set("permissionDecision", "deny").set("permissionDecisionReason", reason.into())
    }

    /// Asks the user. Where nobody can be asked this is a refusal, and the reason goes to the model.
    #[must_use]
    pub fn ask(self, reason: impl Into<String>) -> Self {
        self.set("permissionDecision", "ask").set("permissionDecisionReason", reason.into())
    }
}

impl HookOutput<PreToolUse> {
    /// Ends a headless run with the call pending, for the caller to decide.
    #[must_use]
    pub fn defer(self) -> Self {
        self.set("permissionDecision", "defer")
    }

    /// Replaces the whole input of the call, with or without a decision. Never cut.
    #[must_use]
    pub fn updated_input(self, input: Map<String, Value>) -> Self {
        self.set("updatedInput", input)
    }
}

/// What an allowed permission request may carry; a denied one may not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Allow {
    /// Replaces the whole input of the call. Never cut.
    pub updated_input: Option<Map<String, Value>>,
    /// Rules, modes and directories to add or remove.
    pub updated_permissions: Vec<PermissionUpdate>,
}

impl HookOutput<PermissionRequest> {
    /// Grants the request.
    #[must_use]
    pub fn allow(self) -> Self {
        self.allow_with(Allow::default())
    }

    /// Grants the request with changes.
    #[must_use]
    pub fn allow_with(self, allow: Allow) -> Self {
        let mut decision = json!({ "behavior": "allow" });
        if let Some(input) = allow.updated_input {
            decision["updatedInput"] = Value::Object(input);
        }
        if !allow.updated_permissions.is_empty() {
            decision["updatedPermissions"] = json!(allow.updated_permissions);
        }
        self.set("decision", decision)
    }

    /// Refuses the request; the message goes to the model.
    #[must_use]
    pub fn deny(self, message: impl Into<String>) -> Self {
        self.set("decision", json!({ "behavior": "deny", "message": message.into() }))
    }

    /// Refuses the request and ends the turn.
    #[must_use]
    pub fn deny_and_interrupt(self, message: impl Into<String>) -> Self {
        let message = message.into();
        self.set("decision", json!({ "behavior": "deny", "message": message, "interrupt": true }))
    }
}

impl<E: AnswersElicitation> HookOutput<E> {
    /// Answers with these values. Never cut.
    #[must_use]
    pub fn accept(self, content: Map<String, Value>) -> Self {
        self.set("action", "accept").set("content", content)
    }

    /// Answers no.
    #[must_use]
    pub fn decline(self) -> Self {
        self.set("action", "decline").without("content")
    }

    /// Dismisses the question.
    #[must_use]
    pub fn cancel(self) -> Self {
        self.set("action", "cancel").without("content")
    }
}

impl HookOutput<PermissionDenied> {
    /// Lets the model try the denied call again.
    #[must_use]
    pub fn retry(self) -> Self {
        self.set("retry", true)
    }
}

impl HookOutput<WorktreeCreate> {
    /// The answer of an HTTP handler that has made the worktree. A command hook prints the path:
    /// [`HookOutput::path`].
    #[must_use]
    pub fn worktree_path(self, path: impl Into<String>) -> Self {
        self.set("worktreePath", path.into())
    }

    /// The answer of a command hook that has made the worktree.
    pub fn path(path: &str) -> Answer {
        Answer { stdout: format!("{path}\n"), ..Answer::default() }
    }

    /// Has the creation fail. Every exit code but 0 does.
    pub fn fail(reason: impl Into<String>) -> Answer {
        Answer { stderr: reason.into(), exit: 2, ..Answer::default() }
    }
}

impl HookOutput<TeammateIdle> {
    /// Keeps a teammate working. Only exit 2 does; the feedback goes to the teammate.
    pub fn keep_working(feedback: impl Into<String>) -> Answer {
        Answer { stderr: feedback.into(), exit: 2, ..Answer::default() }
    }
}

impl<E: HookEvent> HookOutput<E> {
    fn without(mut self, key: &str) -> Self {
        self.specific.shift_remove(key);
        self
    }
}
