//! The line before a Bash command that is known to fail here, with the variant that works.
//!
//! The command is run either way, and the agent reads the line together with its result.

use std::path::Path;

use rutter_contract::input::RawPayload;
use rutter_memory::fingerprints::Fingerprints;
use rutter_memory::store::{command_fingerprint, program_fingerprint};
use rutter_memory::{Clean, Id};
use rutter_runs::command_form::CommandForm;
use rutter_runs::command_line::{CommandLine, ParsedCommand};
use rutter_runs::place::RunPlace;
use rutter_runs::shell::Joiner;

use super::{HookCall, HookResult};
use crate::bash_call::BashCall;
use crate::command_message::render_command_lesson;
use crate::command_result::MAX_LINE_BYTES;

/// Maximum number of commands of a line that are looked up.
const MAX_COMMANDS: usize = 16;

fn looked_up_commands(line: &CommandLine) -> impl Iterator<Item = &ParsedCommand> {
    line.commands.iter().filter(|one| one.joiner != Joiner::Substitution).take(MAX_COMMANDS)
}

/// Returns true if the file has a command of a line that is run in a folder.
pub(crate) fn is_failing(known: &Fingerprints, command: &str, cwd: &Path) -> bool {
    if command.len() > MAX_LINE_BYTES {
        return false;
    }
    let line = CommandLine::parse(command);
    let place = RunPlace { root: cwd, folder: "" };
    let mut forms = looked_up_commands(&line).filter_map(|one| CommandForm::new(one, &place));
    forms.any(|form| known.contains(program_fingerprint(&form.program)))
        && possible_shapes(command, cwd)
            .into_iter()
            .any(|shape| known.contains(command_fingerprint(shape)))
}

/// Returns the shapes that the commands of a line may have in the database. The root of the checkout is not known, so
/// each folder above the command's may be it.
pub(crate) fn possible_shapes(command: &str, cwd: &Path) -> Vec<u64> {
    if command.len() > MAX_LINE_BYTES {
        return Vec::new();
    }
    let line = CommandLine::parse(&Clean::new(command));
    let entered = line.absolute_folder();
    let folder = entered.as_deref().unwrap_or(cwd);
    let places = || {
        folder.ancestors().filter_map(|root| {
            let folder = folder.strip_prefix(root).ok()?.to_str()?;
            Some(RunPlace { root, folder })
        })
    };
    looked_up_commands(&line)
        .flat_map(|one| places().filter_map(|place| CommandForm::new(one, &place)))
        .map(|form| form.fingerprint())
        .collect()
}

/// Returns the lesson about a command of the line that is known to fail here, as its row and the line to show.
pub(crate) fn find_failing_command(
    wire: &RawPayload<'_>,
    call: &mut HookCall,
    result: &mut HookResult,
) -> Option<(Id, String)> {
    let command = BashCall::command_text(wire).filter(|command| command.len() <= MAX_LINE_BYTES)?;
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
