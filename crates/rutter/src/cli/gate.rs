//! The arguments of `rutter gate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::FormatArgs;

/// `rutter gate …`
#[derive(Debug, Subcommand)]
pub enum GateCommand {
    /// Enable a gate for this project, in your own configuration file
    ///
    /// Without --mode the gate observes: it records what it would have done. Prints what it would have denied of the recorded
    /// calls.
    Enable(EnableGateArgs),
    /// Disable a gate for this project
    Disable(DisableGateArgs),
    /// Show which gates are enabled here, and what they did in the last 14 days
    Status(GateStatusArgs),
    /// Say what the gate for tests decides about a file, and why
    ///
    /// Exits with 1 if the gate does not accept a change of the file.
    Test(TestGateArgs),
    /// List the decisions of the gates in this project, the last first
    Explain(ExplainGateArgs),
    /// Show which recorded calls the gate for tests would deny
    ///
    /// Replays the calls that `rutter contract record` has kept for this folder, on the files that exist now.
    Replay(ReplayGateArgs),
}

/// The gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GateName {
    /// An implementation file needs a test before it is written
    TestsFirst,
}

/// The modes in which a gate can be enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EnabledMode {
    /// Record what the gate would have done
    Observe,
    /// Deny a call once; the same call passes the second time
    Hold,
    /// Ask you
    Ask,
    /// Deny
    Deny,
}

/// `rutter gate enable`
#[derive(Debug, Args)]
pub struct EnableGateArgs {
    /// The gate
    #[arg(value_enum, default_value_t = GateName::TestsFirst)]
    pub gate: GateName,
    /// What the gate does with a call that it does not accept
    #[arg(long, value_enum, default_value_t = EnabledMode::Observe)]
    pub mode: EnabledMode,
    /// Demand that a run of the test failed before the file is written
    #[arg(long)]
    pub require_red: bool,
    /// Demand that the test mentions the file or something that it defines
    #[arg(long)]
    pub must_mention: bool,
    /// Files that need no test: `scripts/`, `**/legacy/**`; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// A further place of tests, such as `{folder}/{name}.check.{ext}`; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub place: Vec<String>,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter gate disable`
#[derive(Debug, Args)]
pub struct DisableGateArgs {
    /// The gate
    #[arg(value_enum, default_value_t = GateName::TestsFirst)]
    pub gate: GateName,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter gate status`
#[derive(Debug, Args)]
pub struct GateStatusArgs {
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter gate test`
#[derive(Debug, Args)]
pub struct TestGateArgs {
    /// The file that would be changed
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter gate replay`
#[derive(Debug, Args)]
pub struct ReplayGateArgs {
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter gate explain`
#[derive(Debug, Args)]
pub struct ExplainGateArgs {
    /// Only decisions about files whose path ends with this
    #[arg(value_name = "PATH")]
    pub path: Option<String>,
    /// Maximum number of decisions
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub limit: usize,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}
