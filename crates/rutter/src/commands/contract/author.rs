//! Mistakes in the arguments of `rutter contract answer` and `rutter contract field`, which `quick.rs` runs.

use rutter_contract::answer::{AnswerPart, answer_parts};
use rutter_contract::version::Contract;

use crate::CommandError;
use crate::cli::author::{AnswerArgs, FieldArgs};

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
