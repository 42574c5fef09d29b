//! The arguments of `rutter contract fix`.

use std::path::PathBuf;

use clap::Args;
use rutter_contract::EventName;

use super::{ClientArgs, EventParser};

/// `rutter contract fix`
#[derive(Debug, Args)]
pub struct FixArgs {
    /// The hook script: shell, Python, JavaScript or TypeScript
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The event that the script is for, as Claude Code spells it [default: the event that the script names]
    #[arg(long, value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: Option<EventName>,
    /// Write the corrections into the file
    #[arg(long)]
    pub write: bool,
    /// The client version.
    #[command(flatten)]
    pub client: ClientArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
