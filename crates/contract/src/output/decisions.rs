//! Answers with a decision: permissions, elicitations, retries, paths.

use std::fmt;

use serde_json::{Map, Value, json};

use super::{AnswersElicitation, DecidesPermission, HookAnswer, HookOutput};
use crate::event::HookEvent;
use crate::input::{
    PermissionDenied, PermissionRequest, PermissionUpdate, PreToolUse, TeammateIdle, WorktreeCreate,
};
use crate::spec::FieldType;
use crate::table::shapes::PERMISSION_UPDATE;

impl<E: DecidesPermission> HookOutput<E> {
    /// Allows the action without asking. Deny and ask rules of the user still apply.
    #[must_use]
    pub fn allow(self) -> Self {
        self.set_specific("permissionDecision", "allow").remove_specific("permissionDecisionReason")
    }

    /// Prevents the action. The reason of a denied call goes to the model.
    #[must_use]
    pub fn deny(self, reason: impl Into<String>) -> Self {
        self.set_specific("permissionDecision", "deny")
            .set_specific("permissionDecisionReason", reason.into())
    }

    /// Asks the user. In a headless run this is a refusal, and the reason goes to the model.
    #[must_use]
    pub fn ask(self, reason: impl Into<String>) -> Self {
        self.set_specific("permissionDecision", "ask")
            .set_specific("permissionDecisionReason", reason.into())
    }
}

impl HookOutput<PreToolUse> {
    /// Ends a headless run with the call pending, for the caller to decide.
    #[must_use]
    pub fn defer(self) -> Self {
        self.set_specific("permissionDecision", "defer").remove_specific("permissionDecisionReason")
    }

    /// Replaces the whole input of the call, with or without a decision. Never cut.
    #[must_use]
    pub fn updated_input(self, input: Map<String, Value>) -> Self {
        self.set_specific("updatedInput", input)
    }
}

/// The optional fields of an allowed permission request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PermissionGrant {
    updated_input: Option<Map<String, Value>>,
    updated_permissions: Vec<Value>,
}

/// The error for a permission update that the client would reject; it would void the whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidPermissionUpdate {
    /// The position in the update, as a JSON pointer.
    pub path: String,
}

impl fmt::Display for InvalidPermissionUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path } = self;
        write!(
            f,
            "the client would not take this permission update: `{path}` is not one that it knows"
        )
    }
}

impl std::error::Error for InvalidPermissionUpdate {}

impl PermissionGrant {
    /// Replaces the whole input of the call. Never cut.
    #[must_use]
    pub fn updated_input(mut self, input: Map<String, Value>) -> Self {
        self.updated_input = Some(input);
        self
    }

    /// Adds or removes a rule, a mode or a directory, as a payload suggested it or as the user wants it. Drops
    /// keys that the table does not have; returns an error for a kind or value that it does not have.
    pub fn updated_permission(
        mut self,
        update: &PermissionUpdate,
    ) -> Result<Self, InvalidPermissionUpdate> {
        let value = serde_json::to_value(update).unwrap_or_default();
        self.updated_permissions.push(validate_update(value)?);
        Ok(self)
    }
}

/// Returns the update with the known keys only; an error if the client would reject a value.
fn validate_update(update: Value) -> Result<Value, InvalidPermissionUpdate> {
    let union = &PERMISSION_UPDATE;
    let Value::Object(mut update) = update else {
        return Err(InvalidPermissionUpdate { path: String::new() });
    };
    let kind = update.get(union.tag).and_then(Value::as_str).unwrap_or_default();
    let Some((_, fields)) = union.variants.iter().find(|(tag, _)| *tag == kind) else {
        return Err(InvalidPermissionUpdate { path: format!("/{}", union.tag) });
    };
    update.retain(|key, _| key == union.tag || fields.iter().any(|field| field.name == key));
    for field in *fields {
        let known = match (field.ty, update.get(field.name)) {
            (FieldType::Choice(choice), Some(value)) => {
                choice.values.iter().any(|known| *value == known.text)
            }
            _ => true,
        };
        if !known {
            return Err(InvalidPermissionUpdate { path: format!("/{}", field.name) });
        }
        if let (FieldType::Shapes(shape), Some(Value::Array(items))) =
            (field.ty, update.get_mut(field.name))
        {
            for item in items.iter_mut().filter_map(Value::as_object_mut) {
                item.retain(|key, _| shape.fields.iter().any(|field| field.name == key));
            }
        }
    }
    Ok(Value::Object(update))
}

impl HookOutput<PermissionRequest> {
    /// Grants the request.
    #[must_use]
    pub fn allow(self) -> Self {
        self.allow_with(PermissionGrant::default())
    }

    /// Grants the request with changes.
    #[must_use]
    pub fn allow_with(self, allow: PermissionGrant) -> Self {
        let mut decision = json!({ "behavior": "allow" });
        if let Some(input) = allow.updated_input {
            decision["updatedInput"] = Value::Object(input);
        }
        if !allow.updated_permissions.is_empty() {
            decision["updatedPermissions"] = Value::Array(allow.updated_permissions);
        }
        self.set_specific("decision", decision)
    }

    /// Refuses the request; the message goes to the model.
    #[must_use]
    pub fn deny(self, message: impl Into<String>) -> Self {
        self.set_specific("decision", json!({ "behavior": "deny", "message": message.into() }))
    }

    /// Refuses the request and ends the turn.
    #[must_use]
    pub fn deny_and_interrupt(self, message: impl Into<String>) -> Self {
        let message = message.into();
        self.set_specific(
            "decision",
            json!({ "behavior": "deny", "message": message, "interrupt": true }),
        )
    }
}

impl<E: AnswersElicitation> HookOutput<E> {
    /// Answers with these values. Never cut.
    #[must_use]
    pub fn accept(self, content: Map<String, Value>) -> Self {
        self.set_specific("action", "accept").set_specific("content", content)
    }

    /// Answers no.
    #[must_use]
    pub fn decline(self) -> Self {
        self.set_specific("action", "decline").remove_specific("content")
    }

    /// Dismisses the question.
    #[must_use]
    pub fn cancel(self) -> Self {
        self.set_specific("action", "cancel").remove_specific("content")
    }
}

impl HookOutput<PermissionDenied> {
    /// Lets the model try the denied call again.
    #[must_use]
    pub fn retry(self) -> Self {
        self.set_specific("retry", true)
    }
}

impl HookOutput<WorktreeCreate> {
    /// Returns the response body of an HTTP handler that has created the worktree. A command hook prints the path
    /// ([`HookOutput::path`]): the client would take the JSON text of a command for the path.
    pub fn http_path(path: impl Into<String>) -> Value {
        Self::new().set_specific("worktreePath", path.into()).to_value()
    }

    /// Returns the answer of a command hook that has created the worktree.
    pub fn path(path: &str) -> HookAnswer {
        HookAnswer { stdout: format!("{path}\n"), ..HookAnswer::default() }
    }

    /// Makes the creation fail. Every exit code but 0 does.
    pub fn fail(reason: impl Into<String>) -> HookAnswer {
        HookAnswer { stderr: reason.into(), exit: 2, ..HookAnswer::default() }
    }
}

impl HookOutput<TeammateIdle> {
    /// Keeps a teammate working, by exit 2; the feedback goes to the teammate. [`HookOutput::block`] does the
    /// same in JSON.
    pub fn keep_working(feedback: impl Into<String>) -> HookAnswer {
        HookAnswer { stderr: feedback.into(), exit: 2, ..HookAnswer::default() }
    }
}

impl<E: HookEvent> HookOutput<E> {
    fn remove_specific(mut self, key: &str) -> Self {
        self.specific.shift_remove(key);
        self
    }
}
