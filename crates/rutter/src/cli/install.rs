//! The commands that put rutter into the client's settings and take it out.

use std::path::PathBuf;

use clap::Args;

/// For whom.
#[derive(Debug, Args)]
pub struct ScopeArgs {
    /// Only for you and this folder, in .claude/settings.local.json; the default
    #[arg(long)]
    pub local: bool,
}

/// `rutter init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// For whom.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The program that the hooks run [default: this one]
    #[arg(long, value_name = "PATH")]
    pub bin: Option<PathBuf>,
}

/// `rutter uninstall`
#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// For whom.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}
