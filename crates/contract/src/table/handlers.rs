//! The sets of handler types that events run.

use crate::spec::HandlerType::{self, Agent, Command, Http, McpTool, Prompt};

/// All handler types.
pub(super) const ALL: &[HandlerType] = &[Command, Http, McpTool, Prompt, Agent];
/// The handler types that do not ask a model.
pub(super) const NO_PROMPT: &[HandlerType] = &[Command, Http, McpTool];
/// The handler types that can run before there is a conversation.
pub(super) const LOCAL: &[HandlerType] = &[Command, McpTool];
