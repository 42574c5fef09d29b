//! The commands of what many lessons have in common.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use rutter_memory::IdSuffix;
use rutter_memory::value::{Axis, Standing};

use super::FormatArgs;
use super::memory::{at_least_one, one_of};

/// `rutter values …`
#[derive(Debug, Subcommand)]
pub enum ValuesCommand {
    /// List the values that hold here, those that are worth most first
    List(ValuesListArgs),
    /// List the experiences that belong together, as clusters, the largest first
    Clusters(ClustersArgs),
    /// Show a cluster: its members, and the values that stand for it
    Show(ClusterArgs),
    /// Say what the members of a cluster have in common
    ///
    /// It is held against them, and refused if it says something else. For example:
    /// rutter values add 6a99426f "Look at what is counted before you touch a timeout"
    Add(AddValueArgs),
    /// Hold a value that was proposed, or one that is doubted or retired
    ///
    /// From then on it is told as yours, before those that are only proposed.
    Accept(AcceptValueArgs),
    /// Change a value: its words, where it holds, or whether you hold it
    Edit(EditValueArgs),
    /// No longer hold a value; it is kept, so that it is not proposed again
    Retire(RetireValueArgs),
    /// Draw all of it: a page with a map of the clusters, their members and values
    Report(ReportArgs),
}

/// `rutter values list`
#[derive(Debug, Args)]
pub struct ValuesListArgs {
    /// Of all projects
    #[arg(long)]
    pub all: bool,
    /// Only those of this standing [default: all that are not retired]
    #[arg(long, value_name = "STANDING", value_parser = one_of!(Standing))]
    pub standing: Option<Standing>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub limit: usize,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values clusters`
#[derive(Debug, Args)]
pub struct ClustersArgs {
    /// Only along this axis
    #[arg(long, value_name = "AXIS", value_parser = one_of!(Axis))]
    pub axis: Option<Axis>,
    /// Only those with a member of this project
    #[arg(long)]
    pub here: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    pub limit: usize,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values show`
#[derive(Debug, Args)]
pub struct ClusterArgs {
    /// Which: any end of its id that is unique
    #[arg(value_name = "CLUSTER")]
    pub id: IdSuffix,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values add`
#[derive(Debug, Args)]
pub struct AddValueArgs {
    /// The cluster that it stands for: any end of its id that is unique
    #[arg(value_name = "CLUSTER")]
    pub cluster: IdSuffix,
    /// What it says, in a sentence
    pub text: String,
    /// It holds everywhere, not only in this project
    #[arg(long)]
    pub everywhere: bool,
    /// Only propose it
    #[arg(long)]
    pub proposed: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values edit`
#[derive(Debug, Args)]
pub struct EditValueArgs {
    /// Which: any end of its id that is unique
    pub id: IdSuffix,
    /// What it says, in a sentence
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// Whether you hold it; `accepted` also clears one that was doubted
    #[arg(long, value_name = "STANDING", value_parser = one_of!(Standing))]
    pub standing: Option<Standing>,
    /// It holds everywhere
    #[arg(long, conflicts_with = "here")]
    pub everywhere: bool,
    /// It holds in this project
    #[arg(long)]
    pub here: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values accept`
#[derive(Debug, Args)]
pub struct AcceptValueArgs {
    /// Which: any end of its id that is unique
    pub id: IdSuffix,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values retire`
#[derive(Debug, Args)]
pub struct RetireValueArgs {
    /// Which: any end of its id that is unique
    pub id: IdSuffix,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The file to write, which is replaced
    #[arg(long, value_name = "FILE")]
    pub html: PathBuf,
}
