//! The arguments of `rutter contract record` and `rutter contract replay`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use rutter_contract::EventName;
use rutter_memory::Time;

use super::hook_test::StageArgs;
use super::{ClientArgs, EventParser, FormatArgs};

/// `rutter contract record …`
#[derive(Debug, Subcommand)]
pub enum RecordCommand {
    /// Put the recorder in front of the command hooks of this folder
    On(RecordOnArgs),
    /// Remove the recorder from the settings; the recorded calls stay
    Off(RecordFilesArgs),
    /// Show which hooks are recorded, and how much
    Status(RecordStatusArgs),
    /// List the recorded calls of this folder, oldest first
    List(RecordListArgs),
    /// Write a recorded call as a test case into a test file
    SaveTest(SaveTestArgs),
    /// Delete the recorded calls of this folder
    Clear(RecordClearArgs),
}

/// `rutter contract record on`
#[derive(Debug, Args)]
pub struct RecordOnArgs {
    /// The settings files.
    #[command(flatten)]
    pub files: RecordFilesArgs,
    /// Only the hooks of this event
    #[arg(long, value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: Option<EventName>,
}

/// The settings files with the hooks.
#[derive(Debug, Args)]
pub struct RecordFilesArgs {
    /// The settings files [default: the local, the project's and the user's, as a client reads them here]
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub settings: Vec<PathBuf>,
}

/// `rutter contract record status`
#[derive(Debug, Args)]
pub struct RecordStatusArgs {
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// The recorded calls that a command is about.
#[derive(Debug, Clone, Args)]
pub struct RecordedCallArgs {
    /// Only calls of hooks with this text in their command
    #[arg(long, value_name = "TEXT")]
    pub hook: Option<String>,
    /// Only calls on this event
    #[arg(long, value_name = "EVENT", value_parser = EventParser, hide_possible_values = true)]
    pub event: Option<EventName>,
    /// Only calls since this time, in RFC 3339
    #[arg(long, value_name = "TIME")]
    pub since: Option<Time>,
    /// Only the last N calls of these
    #[arg(long, value_name = "N")]
    pub last: Option<usize>,
}

/// `rutter contract record list`
#[derive(Debug, Args)]
pub struct RecordListArgs {
    /// The calls.
    #[command(flatten)]
    pub calls: RecordedCallArgs,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter contract record save-test`
#[derive(Debug, Args)]
pub struct SaveTestArgs {
    /// The number of the call, as `record list` shows it
    #[arg(value_name = "N")]
    pub number: usize,
    /// The test file (*.hooktest.toml); the test is added at its end
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `rutter contract record clear`
#[derive(Debug, Args)]
pub struct RecordClearArgs {
    /// Those of all folders
    #[arg(long)]
    pub all: bool,
}

/// `rutter contract replay`
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The calls.
    #[command(flatten)]
    pub calls: RecordedCallArgs,
    /// Compare the verdicts of the recorded answers under this client version, and run nothing unless a command is given.
    #[command(flatten)]
    pub client: ClientArgs,
    /// Run the commands without asking
    #[arg(long)]
    pub yes: bool,
    /// Run in the project folder itself, not in a copy
    #[arg(long)]
    pub in_place: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
    /// The stage of the run.
    #[command(flatten)]
    pub stage: StageArgs,
    /// The command to run instead of the hooks: one argument for a shell, several for a program with arguments
    #[arg(value_name = "CMD", last = true)]
    pub command: Vec<String>,
}
