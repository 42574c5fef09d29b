//! The arguments of the commands for authors of hooks in other languages: `rutter contract answer`, `field` and `adapt`.

use clap::Args;
use rutter_contract::EventName;

use super::EventParser;

/// `rutter contract answer`
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The event name, as Claude Code spells it
    #[arg(value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: EventName,
    /// The answer: allow, deny, ask, defer, block, stop, context, message or input
    #[arg(value_name = "ANSWER")]
    pub answer: Option<String>,
    /// The reason of a decision, the context, the message, or the new input as JSON
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,
    /// The reason of a decision
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Adds text for the model
    #[arg(long, value_name = "TEXT")]
    pub context: Option<String>,
    /// Adds text for the user
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,
    /// Adds the new input of the tool, as JSON
    #[arg(long, value_name = "JSON")]
    pub input: Option<String>,
}

/// `rutter contract field`
#[derive(Debug, Args)]
pub struct FieldArgs {
    /// The field, with dots between keys: `tool_input.command`
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Prints this text if the payload does not have the field
    #[arg(long, value_name = "TEXT")]
    pub default: Option<String>,
}

/// `rutter contract adapt`
#[derive(Debug, Args)]
pub struct AdaptArgs {
    /// The event for which the hook was written; PreToolCall and PostToolCall are accepted
    #[arg(value_name = "EVENT")]
    pub event: String,
    /// Print the settings that register the hook, and run nothing
    #[arg(long)]
    pub print_settings: bool,
    /// The command of the hook
    #[arg(value_name = "CMD", last = true, required = true)]
    pub command: Vec<String>,
}
