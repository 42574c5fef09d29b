//! `rutter demo`: two sessions of a scripted agent, heard by the real hooks.

use crate::cli::demo::DemoArgs;
use crate::ui::Ui;
use crate::{Failure, demo, environment};

pub(crate) fn run(args: &DemoArgs, ui: &mut Ui<'_>) -> Result<(), Failure> {
    if environment::keeps_scratch() { demo::keep_scratch(ui) } else { demo::play(args.fast, ui) }
}
