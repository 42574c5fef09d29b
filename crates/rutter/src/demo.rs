//! `rutter demo`: a one-minute scripted session that shows the work of the real hooks.
//!
//! The agent is scripted ([`story`]), but the hook output is real: every event goes through a `rutter hook` process of
//! this binary. Project and memory are temporary ([`stage`]) and are removed afterwards ([`crate::scratch`]). The demo
//! ends with an error if a hook does not print the expected text, because an empty box would misrepresent the product.

mod block;
mod calendar;
mod screen;
mod stage;
mod story;

use crate::Failure;
use crate::ui::Ui;

use screen::{Pace, Screen};
use stage::Stage;

/// Plays the demo. It does not pause with `fast` or if stdout is not a terminal.
pub(crate) fn play(fast: bool, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let pace = if fast || ui.screen.is_none() { Pace::none() } else { Pace::to_read() };
    let mut screen = Screen::new(ui.out, ui.screen, pace);
    let mut stage = Stage::open()?;
    story::play(&mut stage, &mut screen)?;
    let timings = stage.close()?;
    story::sum_up(&timings, &mut screen)
}
