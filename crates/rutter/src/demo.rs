//! What it is like to work with rutter, in a minute: a story that is told by the real hooks.
//!
//! The agent is scripted ([`story`]). What it reads is not: every event goes through a `rutter hook` process of this very
//! binary, in a project and with a memory that are made for it ([`stage`]) and gone afterwards ([`crate::scratch`]). A hook that
//! does not say what it should ends the demo with an error: an empty box would be a lie.

mod block;
mod calendar;
mod screen;
mod stage;
mod story;

use crate::Failure;
use crate::ui::Ui;

use screen::{Pace, Screen};
use stage::Stage;

/// Plays the story. Where nobody watches, on a pipe, and with `fast`, it does not pause.
pub(crate) fn play(fast: bool, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let pace = if fast || ui.screen.is_none() { Pace::none() } else { Pace::to_read() };
    let mut screen = Screen::new(ui.out, ui.screen, pace);
    let mut stage = Stage::open()?;
    story::play(&mut stage, &mut screen)?;
    let timings = stage.close()?;
    story::sum_up(&timings, &mut screen)
}
