//! The part of `rutter contract answer`, `field` and `adapt` that `quick.rs` does not handle: mistakes in their arguments, and
//! the settings for an adapted hook.

use rutter_check::adapt::registered_events;
use rutter_contract::answer::{AnswerPart, answer_parts};
use rutter_contract::spec::MatcherValues;
use rutter_contract::table::event_spec;
use rutter_contract::version::Contract;
use rutter_contract::{EventName, find_nearest};
use serde_json::{Map, Value, json};

use crate::cli::author::{AdaptArgs, AnswerArgs, FieldArgs};
use crate::environment;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

/// Returns the mistake of arguments that give no answer.
pub(super) fn describe_answer_mistake(args: &AnswerArgs) -> CommandError {
    let takes = answer_parts(args.event, Contract::newest()).join(", ");
    let message = match &args.answer {
        Some(answer) if !AnswerPart::NAMES.contains(&answer.as_str()) => {
            format!("there is no answer of this name; {} takes {takes}", args.event)
        }
        Some(answer) => format!(
            "`{answer}` needs a text: `rutter contract answer {} {answer} TEXT`",
            args.event
        ),
        None => format!("which answer? {} takes {takes}", args.event),
    };
    CommandError::Usage(message)
}

/// Returns the mistake of arguments that name no field.
pub(super) fn describe_field_mistake(_args: &FieldArgs) -> CommandError {
    let message = "give one field with dots between its keys, for example `tool_input.command`";
    CommandError::Usage(message.to_owned())
}

/// Prints the settings that register an adapted hook. Without `--print-settings`, the event is the mistake.
pub(super) fn print_adapted_settings(args: &AdaptArgs, ui: &mut Ui<'_>) -> CommandResult {
    let Some(events) = registered_events(&args.event) else {
        let names = EventName::ALL.into_iter().map(|event| (event.as_str(), event));
        let near = find_nearest(&args.event, names);
        let near = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        let message = format!("there is no such event; {near}`rutter contract events` lists them");
        return Err(CommandError::Usage(message));
    };
    let words = ["contract", "adapt", &args.event, "--"].into_iter().map(str::to_owned);
    let words: Vec<String> = words.chain(args.command.iter().cloned()).collect();
    let handler =
        json!({ "type": "command", "command": environment::agent_command(), "args": words });
    let mut hooks = Map::new();
    for event in events {
        let mut group = Map::new();
        if matches!(event_spec(event).matcher.values, MatcherValues::Tools) {
            group.insert("matcher".to_owned(), json!("*"));
        }
        group.insert("hooks".to_owned(), json!([handler]));
        hooks.insert(event.as_str().to_owned(), json!([Value::Object(group)]));
    }
    ui.print_json(&json!({ "hooks": hooks }))
}
