//! Arguments of the commands that show or stop what agents are told: `context`, `status`, `sessions`, `injections` and
//! `pause`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use rutter_hooks::context::{Depth, InjectionSource};
use rutter_memory::IdSuffix;

use super::FormatArgs;
use super::memory::{one_of, parse_positive};

/// `rutter context`
#[derive(Debug, Args)]
pub struct ContextArgs {
    /// The prompt of the agent [default: none, as at the start of a session]
    #[arg(value_name = "PROMPT")]
    pub prompt: Option<String>,
    /// Only rows of these kinds, separated by commas
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = one_of!(InjectionSource))]
    pub types: Vec<InjectionSource>,
    /// The amount of context: a few rows, or all that may be relevant [default: as configured]
    #[arg(long, value_parser = one_of!(Depth))]
    pub depth: Option<Depth>,
    /// Maximum number of rows [default: 3 for light, 20 for rich]
    #[arg(short = 'k', long, value_name = "N", value_parser = parse_positive)]
    pub limit: Option<usize>,
    /// Maximum number of tokens [default: 300 for light, 2000 for rich]
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub max_tokens: Option<usize>,
    /// Include other projects, ranked after this one
    #[arg(long)]
    pub all: bool,
    /// Show every row that was considered, and why it was left out
    #[arg(long)]
    pub why: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter sessions …`
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List sessions, most recent first
    List(SessionsListArgs),
    /// Show a session: its runs, its GHAPs, and the rows that it was shown
    Show(SessionsShowArgs),
}

/// `rutter sessions list`
#[derive(Debug, Args)]
pub struct SessionsListArgs {
    /// Include all projects
    #[arg(long)]
    pub all: bool,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = parse_positive)]
    pub limit: usize,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter sessions show`
#[derive(Debug, Args)]
pub struct SessionsShowArgs {
    /// The session: Claude Code's id of it, or any unique end of its id in rutter
    #[arg(value_name = "ID")]
    pub id: String,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter injections`
#[derive(Debug, Args)]
pub struct InjectionsArgs {
    /// Only this session: Claude Code's id of it, or any unique end of its id in rutter
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only this memory, GHAP or episode
    #[arg(long, value_name = "ID")]
    pub row: Option<IdSuffix>,
    /// Instead, the rows of all projects that stayed just below the floor on prompts for which nothing was shown
    #[arg(long, conflicts_with_all = ["session", "row", "all"])]
    pub near_misses: bool,
    /// Maximum number of rows, newest first
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = parse_positive)]
    pub limit: usize,
    /// Include all projects
    #[arg(long)]
    pub all: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter pause`
#[derive(Debug, Args)]
pub struct PauseArgs {
    /// Pause only the given session, or the one that runs this command
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub session: Option<String>,
    /// End the pause of the session, or without --session every pause
    #[arg(long)]
    pub off: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}
