//! The command that shows what rutter is.

use clap::Args;

/// `rutter demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Do not pause between the steps
    #[arg(long)]
    pub fast: bool,
}
