//! The commands that put rutter into the client's settings and take it out.

use std::path::PathBuf;

use clap::Args;

/// For whom.
#[derive(Debug, Args)]
#[group(multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ScopeArgs {
    /// Only for you and this folder, in .claude/settings.local.json and ~/.claude.json; the default
    #[arg(long)]
    pub local: bool,
    /// For you in every folder, in ~/.claude/settings.json and ~/.claude.json
    #[arg(long)]
    pub user: bool,
    /// For everybody who works in this folder, in .claude/settings.json and .mcp.json, to be committed; without rutter it does nothing
    #[arg(long)]
    pub project: bool,
    /// As a plugin for the client, whose files are in this folder
    #[arg(long, value_name = "DIR")]
    pub plugin: Option<PathBuf>,
    /// What other programs call `--user`: answered with what to type.
    #[arg(long, hide = true)]
    pub global: bool,
}

/// `rutter init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// For whom.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Show what would change, line by line, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Show what changes line by line as well
    #[arg(long, short)]
    pub verbose: bool,
    /// Leave the permissions alone: the client then asks before the agent may call one of rutter's tools
    #[arg(long)]
    pub no_allow: bool,
    /// The program that the client runs [default: this one; with --project and --plugin `rutter`, found in PATH]
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
