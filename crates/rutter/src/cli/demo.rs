//! Arguments of `rutter demo`.

use clap::Args;

/// `rutter demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Do not pause between the steps
    #[arg(long)]
    pub fast: bool,
}
