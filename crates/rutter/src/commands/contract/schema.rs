//! `rutter contract schema`: prints the JSON Schema of an event.

use rutter_contract::{schema, table};

use crate::CommandResult;
use crate::cli::ContractSchemaArgs;
use crate::ui::Ui;

pub(crate) fn run(args: &ContractSchemaArgs, ui: &mut Ui<'_>) -> CommandResult {
    let contract = super::contract_for(&args.client, ui)?;
    let event = table::event_spec(args.event);
    if !event.is_at(contract) {
        return Err(super::missing_event_failure(event, contract));
    }
    let schema = match (args.input, args.bundle) {
        // A payload schema has no references, so `--bundle` makes no difference.
        (true, _) => schema::input_schema(event, contract),
        (false, true) => schema::bundled_output_schema(event, contract),
        (false, false) => schema::output_schema(event, contract),
    };
    Ok(writeln!(ui.out, "{schema:#}")?)
}
