//! The arguments of `rutter contract lint` and `rutter contract rules`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ClientArgs, FormatArgs};

/// `rutter contract lint`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct LintArgs {
    /// Files or folders to check; `-` reads a settings file from stdin [default: all files that a client reads here]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Write the corrections into the files; on a terminal, show them and ask first
    #[arg(long)]
    pub fix: bool,
    /// Show the corrections of --fix, and write nothing
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
    /// Write without asking
    #[arg(long, requires = "fix")]
    pub yes: bool,
    /// Exit with 1 on warnings too
    #[arg(long, value_name = "SEVERITY")]
    pub deny: Option<DeniedSeverity>,
    /// The client version.
    #[command(flatten)]
    pub client: ClientArgs,
    /// Print JSON; short for `--format json`
    #[arg(long)]
    pub json: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = LintFormat::Text)]
    pub format: LintFormat,
}

/// The severities that `--deny` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeniedSeverity {
    /// Warnings and errors
    Warnings,
}

/// The output formats of `rutter contract lint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// Text for people
    #[value(alias = "human")]
    Text,
    /// JSON for programs
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Commands of GitHub Actions, which mark the lines of a pull request
    Github,
}

impl LintArgs {
    /// Returns the requested format; `--json` wins.
    pub fn chosen_format(&self) -> LintFormat {
        if self.json { LintFormat::Json } else { self.format }
    }
}

/// `rutter contract rules`
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// The rule whose page is printed [default: a list of all rules]
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}
