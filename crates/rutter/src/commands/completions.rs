//! `rutter completions`: the completion script of a shell.

use crate::Failure;
use crate::cli::{self, CompletionsArgs};
use crate::ui::Ui;

pub(crate) fn run(args: &CompletionsArgs, ui: &mut Ui<'_>) -> Result<(), Failure> {
    // The generator panics when a write fails, which a closed pipe makes it do: it gets memory instead.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), "rutter", &mut script);
    Ok(ui.out.write_all(&script)?)
}
