//! Arguments of `rutter values`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use rutter_memory::IdSuffix;
use rutter_memory::value::{Axis, ValueStanding};

use super::FormatArgs;
use super::memory::{one_of, parse_positive};

/// `rutter values …`
#[derive(Debug, Subcommand)]
pub enum ValuesCommand {
    /// List the values that apply to this project, strongest first
    List(ValuesListArgs),
    /// List the clusters of similar experiences, largest first
    Clusters(ClustersArgs),
    /// Show a cluster: its members and its values
    Show(ClusterShowArgs),
    /// Add a value: one sentence that states the common lesson of a cluster
    ///
    /// The text is compared with the members of the cluster, and refused if it is about something else.
    Add(AddValueArgs),
    /// Accept a proposed, doubted or retired value
    ///
    /// Agents are shown accepted values before proposed ones.
    Accept(AcceptValueArgs),
    /// Change the text, scope or standing of a value
    Edit(EditValueArgs),
    /// Retire a value; the row stays, so that the value is not proposed again
    Retire(RetireValueArgs),
    /// Write an HTML page with a map of the clusters, their members and values
    Report(ValuesReportArgs),
}

/// `rutter values list`
#[derive(Debug, Args)]
pub struct ValuesListArgs {
    /// Include all projects
    #[arg(long)]
    pub all: bool,
    /// Only values with this standing [default: all that are not retired]
    #[arg(long, value_name = "STANDING", value_parser = one_of!(ValueStanding))]
    pub standing: Option<ValueStanding>,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = parse_positive)]
    pub limit: usize,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values clusters`
#[derive(Debug, Args)]
pub struct ClustersArgs {
    /// Only clusters along this axis
    #[arg(long, value_name = "AXIS", value_parser = one_of!(Axis))]
    pub axis: Option<Axis>,
    /// Only clusters with a member of this project
    #[arg(long)]
    pub here: bool,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = parse_positive)]
    pub limit: usize,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values show`
#[derive(Debug, Args)]
pub struct ClusterShowArgs {
    /// The cluster: any unique end of its id
    #[arg(value_name = "CLUSTER")]
    pub id: IdSuffix,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values add`
#[derive(Debug, Args)]
pub struct AddValueArgs {
    /// The cluster that the value is about: any unique end of its id
    #[arg(value_name = "CLUSTER")]
    pub cluster: IdSuffix,
    /// The value, in one sentence
    pub text: String,
    /// Apply the value to every project, not only to this one
    #[arg(long)]
    pub everywhere: bool,
    /// Add it as proposed, not as accepted
    #[arg(long)]
    pub proposed: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values edit`
#[derive(Debug, Args)]
pub struct EditValueArgs {
    /// The value: any unique end of its id
    pub id: IdSuffix,
    /// The new text, in one sentence
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// The new standing; `accepted` also clears a doubt
    #[arg(long, value_name = "STANDING", value_parser = one_of!(ValueStanding))]
    pub standing: Option<ValueStanding>,
    /// Apply the value to every project
    #[arg(long, conflicts_with = "here")]
    pub everywhere: bool,
    /// Apply the value to this project only
    #[arg(long)]
    pub here: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values accept`
#[derive(Debug, Args)]
pub struct AcceptValueArgs {
    /// The value: any unique end of its id
    pub id: IdSuffix,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values retire`
#[derive(Debug, Args)]
pub struct RetireValueArgs {
    /// The value: any unique end of its id
    pub id: IdSuffix,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter values report`
#[derive(Debug, Args)]
pub struct ValuesReportArgs {
    /// The file to write; an existing one is replaced
    #[arg(long, value_name = "FILE")]
    pub html: PathBuf,
}
