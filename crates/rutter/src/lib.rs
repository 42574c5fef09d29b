//! The commands of `rutter`, as a library, so that the task runner can document and package them.
//!
//! `main.rs` is the binary. Everything here returns [`Failure`]s and writes to a [`ui::Ui`]; only the
//! binary prints and exits.

pub mod cli;
mod commands;
mod failure;
pub mod ui;

pub use failure::Failure;

/// Runs a parsed command line.
pub fn run(cli: &cli::Cli, ui: &mut ui::Ui<'_>) -> Result<(), Failure> {
    match &cli.command {
        cli::Command::Contract { command } => commands::contract::run(command, ui),
        cli::Command::Completions(args) => commands::completions::run(args, ui),
    }
}
