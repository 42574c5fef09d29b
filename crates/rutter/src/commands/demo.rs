//! `rutter demo`: plays two sessions of a scripted agent against the real hooks.

use crate::cli::demo::DemoArgs;
use crate::ui::Ui;
use crate::{Failure, demo, environment, scratch};

pub(crate) fn run(args: &DemoArgs, ui: &mut Ui<'_>) -> Result<(), Failure> {
    match environment::keeps_scratch() {
        Some(purpose) => scratch::keep(&purpose, ui),
        None => demo::play(args.fast, ui),
    }
}
