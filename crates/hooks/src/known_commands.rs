//! Looks the commands of a line up in the fingerprint file, which contains those that are known to fail.

use std::path::Path;

use rutter_memory::Clean;
use rutter_memory::fingerprints::Fingerprints;
use rutter_memory::store::{command_fingerprint, program_fingerprint};
use rutter_runs::command_form::CommandForm;
use rutter_runs::command_line::{CommandLine, ParsedCommand};
use rutter_runs::place::RunPlace;
use rutter_runs::shell::Joiner;

/// Maximum number of bytes of a followed command line. A longer one contains a pasted file.
pub(crate) const MAX_COMMAND_BYTES: usize = 8 * 1024;

/// Maximum number of commands of a line that are looked up.
const MAX_COMMANDS: usize = 16;

/// Returns the commands of a line that are looked up.
pub(crate) fn looked_up_commands(line: &CommandLine) -> impl Iterator<Item = &ParsedCommand> {
    line.commands.iter().filter(|one| one.joiner != Joiner::Substitution).take(MAX_COMMANDS)
}

/// Returns true if the file has a command of a line that is run in a folder.
pub(crate) fn is_failing(known: &Fingerprints, command: &str, cwd: &Path) -> bool {
    if command.len() > MAX_COMMAND_BYTES {
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
    if command.len() > MAX_COMMAND_BYTES {
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
