//! `rutter completions`: prints the completion script of a shell.

use crate::CommandResult;
use crate::cli::{self, CompletionsArgs};
use crate::ui::Ui;

pub(crate) fn run(args: &CompletionsArgs, ui: &mut Ui<'_>) -> CommandResult {
    // The generator panics if a write fails, as with a closed pipe, so it writes into a buffer.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::clap_command(), "rutter", &mut script);
    Ok(ui.out.write_all(&script)?)
}
