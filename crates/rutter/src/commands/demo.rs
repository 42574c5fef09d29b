//! `rutter demo`: plays two sessions of a scripted agent against the real hooks.

use crate::cli::demo::DemoArgs;
use crate::ui::Ui;
use crate::{CommandError, demo, environment, scratch};

pub(crate) fn run(args: &DemoArgs, ui: &mut Ui<'_>) -> Result<(), CommandError> {
    match environment::scratch_keeper_purpose() {
        Some(purpose) => scratch::run_keeper(&purpose, ui),
        None => demo::play(args.fast, ui),
    }
}
