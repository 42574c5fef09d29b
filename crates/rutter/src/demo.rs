//! `rutter demo`: a one-minute scripted session that shows the work of the real hooks.
//!
//! The agent is scripted ([`story`]), but the hook output is real: every event goes through a `rutter hook` process of
//! this binary. Project and memory are temporary ([`project`]) and are removed afterwards ([`crate::scratch`]). The
//! demo ends with an error if a hook does not print the expected text, because an empty box would misrepresent the
//! product.

mod calendar;
mod line;
mod project;
mod screen;
mod story;

use crate::CommandResult;
use crate::ui::Ui;

use project::DemoProject;
use screen::{DemoPace, DemoScreen};

/// Plays the demo. It does not pause with `fast` or if stdout is not a terminal.
pub(crate) fn play(fast: bool, ui: &mut Ui<'_>) -> CommandResult {
    let pace = if fast || ui.screen.is_none() { DemoPace::none() } else { DemoPace::for_reading() };
    let mut screen = DemoScreen::new(ui.out, ui.screen, pace);
    let mut stage = DemoProject::open()?;
    story::play(&mut stage, &mut screen)?;
    let timings = stage.close()?;
    story::show_summary(&timings, &mut screen)
}
