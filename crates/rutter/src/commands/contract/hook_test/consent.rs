//! The question before commands run, which is not asked again for the same commands.

use std::collections::BTreeSet;
use std::path::Path;

use rutter_check::settings::read_regular_file;
use rutter_check::tester::HookStart;
use rutter_memory::hook_consent::{digest_hook, has_consent, record_consent};

use crate::ask::confirm;
use crate::cli::hook_test::HookTestArgs;
use crate::ui::{Ui, format_count, one_line};
use crate::{CommandError, CommandResult};

/// Largest file of which the content counts. A command with a larger one is asked about each time.
const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;

/// Asks before commands run in `project`, except those to which the user has agreed before, with the same scripts.
pub(in crate::commands::contract) fn ask_to_run<'a>(
    starts: impl Iterator<Item = &'a HookStart>,
    project: &Path,
    data: &Path,
    args: &HookTestArgs,
    ui: &mut Ui<'_>,
) -> CommandResult {
    if args.yes {
        return Ok(());
    }
    let starts: Vec<&HookStart> = starts.collect();
    let digests: Option<Vec<String>> =
        starts.iter().map(|start| digest_start(start, project, args)).collect();
    if digests.as_deref().is_some_and(|digests| has_consent(data, digests)) {
        return Ok(());
    }
    if !ui.terminal {
        let message =
            "a hook may do anything; read it, then add --yes to run it without a terminal";
        return Err(CommandError::Usage(message.to_owned()));
    }
    let commands: BTreeSet<String> =
        starts.iter().map(|start| one_line(&start.to_line())).collect();
    for command in &commands {
        writeln!(ui.err, "  {command}")?;
    }
    let folder = if args.in_place { "in this folder" } else { "on a copy of this folder" };
    let question = format!("Run {} {folder}?", format_count(commands.len() as u64, "command"));
    if !confirm(&question, ui)? {
        writeln!(ui.err, "nothing was run")?;
        return Err(CommandError::Declined);
    }
    if let Some(digests) = digests
        && let Err(error) = record_consent(data, &digests)
    {
        ui.print_note(&format!("the next run asks again: could not record the answer: {error}"))?;
    }
    Ok(())
}

/// Returns the digest of a command with the content of all files that its words name. None if a file cannot be read.
fn digest_start(start: &HookStart, project: &Path, args: &HookTestArgs) -> Option<String> {
    let line = start.to_line();
    let mode: &[u8] = if args.in_place { b"in place" } else { b"copy" };
    let mut parts = vec![mode.to_vec(), line.clone().into_bytes()];
    let is_end = |sign: char| sign.is_whitespace() || "\"';&|()<>=".contains(sign);
    let folder = project.to_string_lossy();
    for word in line.split(is_end).filter(|word| !word.is_empty()) {
        let word =
            word.replace("${CLAUDE_PROJECT_DIR}", &folder).replace("$CLAUDE_PROJECT_DIR", &folder);
        let path = project.join(word);
        if path.is_file() {
            parts.push(read_regular_file(&path, MAX_FILE_BYTES).ok()?);
        }
    }
    Some(digest_hook(parts.iter().map(Vec::as_slice)))
}
