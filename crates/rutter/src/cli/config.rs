//! Arguments of `rutter config` and `rutter trust`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::FormatArgs;

/// `rutter config …`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the effective configuration of this folder, as TOML
    Show(ShowConfigArgs),
    /// Check the configuration files: print each mistake, its place and its correction
    Check(CheckConfigArgs),
    /// Print the paths of the configuration files
    Path(PathConfigArgs),
}

/// `rutter config show`
#[derive(Debug, Args)]
pub struct ShowConfigArgs {
    /// Print the default configuration
    #[arg(long, conflicts_with = "origin")]
    pub defaults: bool,
    /// Print the origin of each value, and the values of a file that were refused
    #[arg(long)]
    pub origin: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter config check`
#[derive(Debug, Args)]
pub struct CheckConfigArgs {
    /// Check only this file
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter config path`
#[derive(Debug, Args)]
pub struct PathConfigArgs {
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter trust`
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// Revoke the trust
    #[arg(long, conflicts_with = "list")]
    pub revoke: bool,
    /// List the checkouts with a trusted file
    #[arg(long)]
    pub list: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}
