//! The line before a Bash command that is known to fail here, with the variant that works.
//!
//! The command is run either way, and the agent reads the line together with its result.

use std::path::Path;

use rutter_contract::input::RawPayload;
use rutter_memory::{Clean, Id};
use rutter_runs::command_form::CommandForm;
use rutter_runs::command_line::CommandLine;
use rutter_runs::place::RunPlace;

use super::{HookCall, HookResult};
use crate::bash_call::BashCall;
use crate::command_message::render_command_lesson;
use crate::known_commands::{MAX_COMMAND_BYTES, looked_up_commands};

/// Returns the lesson about a command of the line that is known to fail here, as its row and the line to show.
pub(crate) fn find_failing_command(
    wire: &RawPayload<'_>,
    call: &mut HookCall,
    result: &mut HookResult,
) -> Option<(Id, String)> {
    let command =
        BashCall::command_text(wire).filter(|command| command.len() <= MAX_COMMAND_BYTES)?;
    let line = CommandLine::parse(&Clean::new(&command));
    let root = call.located.root.clone();
    let folder = match line.absolute_folder() {
        // A command in another checkout is not judged.
        Some(entered) if !entered.starts_with(&root) || call.is_excluded(&entered) => return None,
        Some(entered) => Clean::new(&entered.strip_prefix(&root).ok()?.to_string_lossy()),
        None => Clean::new(&call.folder),
    };
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let now = call.env.now;
    let store = call.store().ok()?;
    let run_place = RunPlace { root: Path::new(place.root.as_str()), folder: &folder };
    let forms = looked_up_commands(&line).filter_map(|one| CommandForm::new(one, &run_place));
    for form in forms {
        let lesson = store.recall_before_command(&place, &client, agent.as_ref(), &form, now);
        let Some(lesson) = result.ok_or_log("command", lesson)? else { continue };
        return Some((lesson.episode.id, render_command_lesson(&lesson, now)?));
    }
    None
}
