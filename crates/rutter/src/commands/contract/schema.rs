//! `rutter contract schema`: prints the JSON Schema of an event.

use rutter_contract::{schema, table};

use crate::Failure;
use crate::cli::SchemaArgs;
use crate::ui::Ui;

pub(crate) fn run(args: &SchemaArgs, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let contract = super::contract(&args.client, ui)?;
    let event = table::event(args.event);
    if !event.is_at(contract) {
        return Err(super::no_such_event(event, contract));
    }
    let schema = match (args.input, args.bundle) {
        // A payload schema has no references, so `--bundle` makes no difference.
        (true, _) => schema::input(event, contract),
        (false, true) => schema::bundle(event, contract),
        (false, false) => schema::output(event, contract),
    };
    Ok(writeln!(ui.out, "{schema:#}")?)
}
