//! The sets of handler types that events run.

use crate::spec::HandlerType::{self, Agent, Command, Http, McpTool, Prompt};

/// Every type.
pub(super) const ALL: &[HandlerType] = &[Command, Http, McpTool, Prompt, Agent];
/// Everything but what asks a model.
pub(super) const NO_PROMPT: &[HandlerType] = &[Command, Http, McpTool];
/// What can run before there is a conversation.
pub(super) const LOCAL: &[HandlerType] = &[Command, McpTool];
