//! The commands that show what agents are told, and stop it.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use rutter_memory::IdSuffix;
use rutter_memory::context::{Depth, Source};

use super::FormatArgs;
use super::memory::{at_least_one, one_of};

/// `rutter context`
#[derive(Debug, Args)]
pub struct ContextArgs {
    /// What an agent is asked [default: nothing yet, as when a session begins]
    #[arg(value_name = "PROMPT")]
    pub prompt: Option<String>,
    /// Only of these kinds, with commas between them
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = one_of!(Source))]
    pub types: Vec<Source>,
    /// How much: a few things, or much of what could be meant [default: as configured]
    #[arg(long, value_parser = one_of!(Depth))]
    pub depth: Option<Depth>,
    /// At most so many [default: 3 for light, 20 for rich]
    #[arg(short = 'k', long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<usize>,
    /// At most so many tokens [default: 300 for light, 2000 for rich]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub max_tokens: Option<usize>,
    /// Of other projects as well, behind
    #[arg(long)]
    pub all: bool,
    /// Show everything that was looked at, and why it was left out
    #[arg(long)]
    pub why: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter sessions …`
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List them, those that were seen last first
    List(SessionsListArgs),
    /// Show one: its runs, its GHAPs, and what it was shown
    Show(SessionsShowArgs),
}

/// `rutter sessions list`
#[derive(Debug, Args)]
pub struct SessionsListArgs {
    /// Of all projects
    #[arg(long)]
    pub all: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub limit: usize,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter sessions show`
#[derive(Debug, Args)]
pub struct SessionsShowArgs {
    /// Which: the client's id of it, or any end of its id here that is unique
    #[arg(value_name = "ID")]
    pub id: String,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter injections`
#[derive(Debug, Args)]
pub struct InjectionsArgs {
    /// Only of this session: the client's id of it, or any end of its id here that is unique
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only of this memory, GHAP or episode
    #[arg(long, value_name = "ID")]
    pub row: Option<IdSuffix>,
    /// At most so many, the newest
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub limit: usize,
    /// Of all projects
    #[arg(long)]
    pub all: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter pause`
#[derive(Debug, Args)]
pub struct PauseArgs {
    /// Only in the session that this is typed in, or in the one named
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub session: Option<String>,
    /// End it: of the session, or without --session all of it
    #[arg(long)]
    pub off: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}
