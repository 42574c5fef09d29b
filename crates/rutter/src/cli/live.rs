//! The arguments of `rutter contract live`.

use std::path::PathBuf;

use clap::Args;
use rutter_contract::EventName;

use super::hook_test::{HookTestArgs, HookTestFormat, StageArgs};
use super::{ClientArgs, EventParser};

/// `rutter contract live`
#[derive(Debug, Args)]
pub struct LiveArgs {
    /// The program of the client; two are compared [default: `claude` in PATH]
    #[arg(long, value_name = "PATH")]
    pub client: Vec<PathBuf>,
    /// Only hooks on this event; may be repeated [default: all events of the settings]
    #[arg(long, value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: Vec<EventName>,
    /// Also call this tool; may be repeated [default: the tools that matchers name]
    #[arg(long, value_name = "TOOL")]
    pub tool: Vec<String>,
    /// The settings file or project folder with the hooks [default: what a client reads here]
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    pub settings: Option<PathBuf>,
    /// The prompt of the session
    #[arg(long, value_name = "TEXT", default_value = "go", hide_default_value = true)]
    pub prompt: String,
    /// Run the commands without asking
    #[arg(long)]
    pub yes: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The command of the hook, with --event: one argument for a shell, several for a program with arguments
    #[arg(value_name = "CMD", last = true, requires = "event")]
    pub command: Vec<String>,
}

impl LiveArgs {
    /// Returns the arguments of a run without a client, which chooses and asks in the same way.
    pub fn to_test_args(&self) -> HookTestArgs {
        HookTestArgs {
            event: None,
            tool: self.tool.clone(),
            settings: self.settings.clone(),
            tests: Vec::new(),
            yes: self.yes,
            in_place: false,
            client: ClientArgs { client: None },
            json: self.json,
            format: HookTestFormat::Text,
            budget: None,
            update: false,
            stage: StageArgs::default(),
            command: self.command.clone(),
        }
    }
}
