//! Arguments of `rutter init` and `rutter uninstall`.

use std::path::PathBuf;

use clap::Args;

/// The settings files to change.
#[derive(Debug, Args)]
#[group(multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ScopeArgs {
    /// For you in this folder, in .claude/settings.local.json and ~/.claude.json; the default
    #[arg(long)]
    pub local: bool,
    /// For you in every folder, in ~/.claude/settings.json and ~/.claude.json
    #[arg(long)]
    pub user: bool,
    /// For everyone in this folder, in .claude/settings.json and .mcp.json, to commit; does nothing without rutter
    #[arg(long)]
    pub project: bool,
    /// A Claude Code plugin with its files in this folder
    #[arg(long, value_name = "DIR")]
    pub plugin: Option<PathBuf>,
    /// The name that other programs use for `--user`. The error message names `--user`.
    #[arg(long, hide = true)]
    pub global: bool,
}

/// `rutter init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The settings files to change.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Show the changes line by line, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Show the changes line by line
    #[arg(long, short)]
    pub verbose: bool,
    /// Leave the permissions unchanged: Claude Code then asks before the agent calls one of rutter's tools
    #[arg(long)]
    pub no_allow: bool,
    /// The program that Claude Code runs [default: this one; with --project and --plugin `rutter`, found in PATH]
    #[arg(long, value_name = "PATH")]
    pub bin: Option<PathBuf>,
}

/// `rutter uninstall`
#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// The settings files to change.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Show the changes, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}
