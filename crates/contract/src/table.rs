//! The event table: one row for each of the client's hook events.
//!
//! Types, schemas, documentation, payloads and verdicts are derived from these rows; facts about events are
//! stated here only. Each event has its own file; `choices`, `shapes`, `universal` and `handlers` hold the
//! shared parts.

use crate::name::EventName;
use crate::spec::{EventSpec, FieldSpec};
use crate::version::Contract;

pub mod choices;
mod handlers;
pub mod shapes;
mod universal;

pub use universal::{UNIVERSAL_INPUT, UNIVERSAL_OUTPUT};

/// Imports for every row.
mod prelude {
    pub(super) use super::{choices, handlers, shapes};
    pub(super) use crate::name::EventName;
    pub(super) use crate::spec::{
        DecisionModel, EventSpec, ExitCodes, Fact, FieldEffect, FieldSpec, FieldType::*, Honoured,
        MatcherSpec, PlainStdout, Since, Source::*,
    };
}

/// The official documentation page on hooks.
pub const DOCUMENTATION: &str = "https://code.claude.com/docs/en/hooks";

/// Longest `additionalContext`, `systemMessage` or plain stdout that the client delivers whole, in
/// UTF-16 units. From a longer text it delivers a preview of [`PREVIEW_UNITS`] and a path.
pub const TEXT_LIMIT_UNITS: usize = 10_000;

/// Length of the preview of a text longer than [`TEXT_LIMIT_UNITS`], in UTF-16 units.
pub const PREVIEW_UNITS: usize = 2_000;

/// Longest `classifierContext`, in UTF-16 units.
pub const CLASSIFIER_LIMIT_UNITS: usize = 2_000;

/// Old tool names that matchers still accept, with the new names that payloads have.
pub static TOOL_ALIASES: &[(&str, &str)] = &[
    ("Task", "Agent"),
    ("KillShell", "TaskStop"),
    ("KillBash", "TaskStop"),
    ("ListPeers", "ListAgents"),
    ("Brief", "SendUserMessage"),
    ("ListMcpResources", "ListMcpResourcesTool"),
    ("ReadMcpResource", "ReadMcpResourceTool"),
    ("ReadMcpResourceDir", "ReadMcpResourceDirTool"),
];

mod config_change;
mod cwd_changed;
mod directory_added;
mod elicitation;
mod elicitation_result;
mod file_changed;
mod instructions_loaded;
mod message_display;
mod notification;
mod permission_denied;
mod permission_request;
mod post_compact;
mod post_model_switch;
mod post_tool_batch;
mod post_tool_use;
mod post_tool_use_failure;
mod pre_compact;
mod pre_model_switch;
mod pre_tool_use;
mod session_end;
mod session_start;
mod setup;
mod stop;
mod stop_failure;
mod subagent_start;
mod subagent_stop;
mod task_completed;
mod task_created;
mod teammate_idle;
mod user_prompt_expansion;
mod user_prompt_submit;
mod worktree_create;
mod worktree_remove;

/// Every event, in the client's order.
pub static EVENTS: [&EventSpec; EventName::ALL.len()] = [
    &pre_tool_use::PRE_TOOL_USE,
    &post_tool_use::POST_TOOL_USE,
    &post_tool_use_failure::POST_TOOL_USE_FAILURE,
    &post_tool_batch::POST_TOOL_BATCH,
    &notification::NOTIFICATION,
    &user_prompt_submit::USER_PROMPT_SUBMIT,
    &user_prompt_expansion::USER_PROMPT_EXPANSION,
    &session_start::SESSION_START,
    &session_end::SESSION_END,
    &stop::STOP,
    &stop_failure::STOP_FAILURE,
    &subagent_start::SUBAGENT_START,
    &subagent_stop::SUBAGENT_STOP,
    &pre_compact::PRE_COMPACT,
    &post_compact::POST_COMPACT,
    &pre_model_switch::PRE_MODEL_SWITCH,
    &post_model_switch::POST_MODEL_SWITCH,
    &permission_request::PERMISSION_REQUEST,
    &permission_denied::PERMISSION_DENIED,
    &setup::SETUP,
    &teammate_idle::TEAMMATE_IDLE,
    &task_created::TASK_CREATED,
    &task_completed::TASK_COMPLETED,
    &elicitation::ELICITATION,
    &elicitation_result::ELICITATION_RESULT,
    &config_change::CONFIG_CHANGE,
    &worktree_create::WORKTREE_CREATE,
    &worktree_remove::WORKTREE_REMOVE,
    &instructions_loaded::INSTRUCTIONS_LOADED,
    &cwd_changed::CWD_CHANGED,
    &file_changed::FILE_CHANGED,
    &directory_added::DIRECTORY_ADDED,
    &message_display::MESSAGE_DISPLAY,
];

/// Returns the row of `name`.
pub fn event_spec(name: EventName) -> &'static EventSpec {
    EVENTS[name as usize]
}

/// Returns the events that `contract` has, in the client's order.
pub fn events_at(contract: Contract) -> impl Iterator<Item = &'static EventSpec> {
    EVENTS.into_iter().filter(move |event| event.is_at(contract))
}

/// Returns the universal answer fields that `contract` has.
pub fn universal_output_at(contract: Contract) -> impl Iterator<Item = &'static FieldSpec> {
    UNIVERSAL_OUTPUT.iter().filter(move |field| field.is_at(contract))
}

impl EventSpec {
    /// Returns the input fields of this event in `contract`: the universal ones first, except those that
    /// the event redeclares.
    pub fn input_at(&self, contract: Contract) -> impl Iterator<Item = &'static FieldSpec> + '_ {
        UNIVERSAL_INPUT
            .iter()
            .filter(|field| !self.input.iter().any(|own| own.name == field.name))
            .chain(self.input)
            .filter(move |field| field.is_at(contract))
    }

    /// Returns the address of the official documentation of the event.
    pub fn documentation(&self) -> String {
        format!("{}#{}", DOCUMENTATION, self.name.as_str().to_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests;
