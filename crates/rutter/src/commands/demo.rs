//! `rutter demo`: plays two sessions of a scripted agent against the real hooks.

use crate::cli::demo::DemoArgs;
use crate::ui::Ui;
use crate::{CommandError, demo};

pub(crate) fn run(args: &DemoArgs, ui: &mut Ui<'_>) -> Result<(), CommandError> {
    demo::play(args.fast, ui)
}
