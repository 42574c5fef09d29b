//! `rutter contract payload`: prints a payload to pipe into a hook.

use rutter_contract::payload;

use crate::CommandResult;
use crate::cli::ContractPayloadArgs;
use crate::ui::Ui;

pub(crate) fn run(args: &ContractPayloadArgs, ui: &mut Ui<'_>) -> CommandResult {
    let payload = payload::example_payload(args.event, args.tool.as_deref())?;
    if let Some(made_up) = &payload.made_up {
        ui.print_note(made_up)?;
    }
    // One line with a trailing newline, as the client writes it.
    Ok(writeln!(ui.out, "{}", payload.value)?)
}
