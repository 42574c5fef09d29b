//! The commands of the configuration.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::FormatArgs;

/// `rutter config …`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print what counts in this folder, as a file
    Show(ShowConfigArgs),
    /// Say what is wrong with the files, where, and what to type instead
    Check(CheckConfigArgs),
    /// Print where the files are looked for
    Path(PathConfigArgs),
}

/// `rutter config show`
#[derive(Debug, Args)]
pub struct ShowConfigArgs {
    /// What would count without any file
    #[arg(long, conflicts_with = "origin")]
    pub defaults: bool,
    /// Where each value comes from, and what a file wanted and did not get
    #[arg(long)]
    pub origin: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter config check`
#[derive(Debug, Args)]
pub struct CheckConfigArgs {
    /// One file instead of those that count here
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter config path`
#[derive(Debug, Args)]
pub struct PathConfigArgs {
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter trust`
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// Trust it no longer
    #[arg(long, conflicts_with = "list")]
    pub revoke: bool,
    /// List the checkouts whose file is trusted
    #[arg(long)]
    pub list: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}
