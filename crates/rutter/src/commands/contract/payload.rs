//! `rutter contract payload`: prints a payload to pipe into a hook.

use rutter_contract::payload;

use crate::Failure;
use crate::cli::PayloadArgs;
use crate::ui::Ui;

pub(crate) fn run(args: &PayloadArgs, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let payload = payload::realistic(args.event, args.tool.as_deref())?;
    if let Some(made_up) = &payload.made_up {
        ui.remark(made_up)?;
    }
    // One line with a trailing newline, as the client writes it.
    Ok(writeln!(ui.out, "{}", payload.value)?)
}
