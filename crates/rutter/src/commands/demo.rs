//! `rutter demo`: plays two sessions of a scripted agent against the real hooks.

use crate::cli::demo::DemoArgs;
use crate::ui::Ui;
use crate::{CommandResult, demo};

pub(crate) fn run(args: &DemoArgs, ui: &mut Ui<'_>) -> CommandResult {
    demo::play(args.fast, ui)
}
