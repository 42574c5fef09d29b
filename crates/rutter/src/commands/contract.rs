//! `rutter contract`: prints and explains the hook contract.

use rutter_contract::spec::EventSpec;
use rutter_contract::version::Contract;

use crate::cli::{ClientArgs, ContractCommand};
use crate::environment::Environment;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

mod author;
mod events;
mod explain;
mod fix;
mod hook_test;
mod lint;
mod live;
mod payload;
pub(crate) mod record;
mod recorded_calls;
mod replay;
mod rules;
mod schema;

pub(crate) fn run(command: &ContractCommand, ui: &mut Ui<'_>) -> CommandResult {
    match command {
        ContractCommand::Events(args) => events::run(args, ui),
        ContractCommand::Explain(args) => explain::run(args, ui),
        ContractCommand::Schema(args) => schema::run(args, ui),
        ContractCommand::Payload(args) => payload::run(args, ui),
        ContractCommand::Lint(args) => lint::run(args, &Environment::from_process()?, ui),
        ContractCommand::Rules(args) => rules::run(args, ui),
        ContractCommand::Test(args) => hook_test::run(args, &Environment::from_process()?, ui),
        ContractCommand::Fix(args) => fix::run(args, ui),
        ContractCommand::Record { command } => {
            record::run(command, &Environment::from_process()?, ui)
        }
        ContractCommand::Replay(args) => replay::run(args, &Environment::from_process()?, ui),
        ContractCommand::Live(args) => live::run(args, &Environment::from_process()?, ui),
        // `quick.rs` handles whatever is right before the command line is parsed.
        ContractCommand::Answer(args) => Err(author::describe_answer_mistake(args)),
        ContractCommand::Field(args) => Err(author::describe_field_mistake(args)),
        ContractCommand::Adapt(args) => author::print_adapted_settings(args, ui),
    }
}

/// Returns the contract of the requested client version, with a remark if that version was not measured.
fn contract_for(args: &ClientArgs, ui: &mut Ui<'_>) -> CommandResult<Contract> {
    let contract = args.client.map_or_else(Contract::newest, Contract::for_client);
    if let Some(note) = contract.note() {
        ui.print_note(&note)?;
    }
    Ok(contract)
}

/// Returns the error for an event that the client version does not have.
fn missing_event_failure(event: &EventSpec, contract: Contract) -> CommandError {
    CommandError::Usage(format!(
        "client {} has no event {}: it was added in {}; omit --client, or give a newer version",
        contract.version(),
        event.name,
        event.since
    ))
}
