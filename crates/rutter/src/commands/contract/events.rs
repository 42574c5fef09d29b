//! `rutter contract events`: prints the event table.

use rutter_contract::spec::PlainStdout;
use rutter_contract::{describe, table};
use serde_json::Value;

use crate::CommandResult;
use crate::cli::{ContractEventsArgs, Format};
use crate::ui::Ui;

pub(crate) fn run(args: &ContractEventsArgs, ui: &mut Ui<'_>) -> CommandResult {
    let contract = super::contract_for(&args.client, ui)?;
    let events = table::events_at(contract);
    if args.format.chosen() == Format::Json {
        let rows = events.map(|event| describe::describe_event(event, contract)).collect();
        return Ok(writeln!(ui.out, "{:#}", Value::Array(rows))?);
    }
    let head = ["EVENT", "SINCE", "MATCHER", "BLOCKS", "DECIDES BY", "PLAIN STDOUT", "TIMEOUT"];
    let rows = events.map(|event| {
        [
            event.name.to_string(),
            event.since.to_string(),
            event.matcher.label().unwrap_or_else(|| "-".to_owned()),
            if event.can_block.value { "yes" } else { "-" }.to_owned(),
            event.decision.value.as_str().to_owned(),
            match event.plain_stdout.value {
                PlainStdout::Context => "context",
                PlainStdout::CompactPrompt => "compaction prompt",
                PlainStdout::User => "user",
                PlainStdout::Path => "the path",
                PlainStdout::DebugLog => "-",
            }
            .to_owned(),
            format!("{} s", f64::from(event.timeout_ms.value) / 1000.0),
        ]
    });
    Ok(ui.print_table(head, rows)?)
}
