//! The arguments of `rutter contract test`.

use std::path::PathBuf;

use clap::Args;
use rutter_contract::EventName;

use super::{ClientArgs, EventParser, FormatArgs};

/// `rutter contract test`
#[derive(Debug, Args)]
pub struct HookTestArgs {
    /// The event name, as Claude Code spells it [default: the events that the script names, or all events of the settings]
    #[arg(long, value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: Option<EventName>,
    /// Only calls of this tool; may be repeated [default: the tools that were recorded]
    #[arg(long, value_name = "TOOL")]
    pub tool: Vec<String>,
    /// The settings file, plugin or project folder with the hooks [default: what a client reads here]
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    pub settings: Option<PathBuf>,
    /// Run the commands without asking
    #[arg(long)]
    pub yes: bool,
    /// Run in the project folder itself, not in a copy
    #[arg(long)]
    pub in_place: bool,
    /// The client version.
    #[command(flatten)]
    pub client: ClientArgs,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
    /// True for the process that runs without a network.
    #[arg(long, hide = true)]
    pub without_network: bool,
    /// The command of the hook: one argument for a shell, several for a program with arguments
    #[arg(value_name = "CMD", last = true)]
    pub command: Vec<String>,
}
