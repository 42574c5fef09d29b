//! Writes the fixes of findings into the files.

use rutter_check::lint::{LintFile, LintRule, fix_file};
use rutter_check::settings::remove_recorder;
use rutter_memory::quote::PathLine as _;

use super::{DisabledRules, LintRun};
use crate::cli::lint::LintArgs;
use crate::install::{FileChange, FileContents};
use crate::ui::{Ui, format_count};
use crate::{CommandError, CommandResult};

/// Shows the fixes of all files, asks where a person is present, and writes them. Returns true if a file was written.
pub(super) fn fix_files(
    run: &LintRun<'_>,
    disabled: &DisabledRules,
    args: &LintArgs,
    ui: &mut Ui<'_>,
) -> CommandResult<bool> {
    let mut changes = Vec::new();
    let files = run.parts.iter().flat_map(|part| {
        part.context.files.iter().enumerate().map(move |(index, file)| (part, index, file))
    });
    for (part, index, file) in files.filter(|(.., file)| run.can_write(file)) {
        let is_disabled = |rule: &LintRule, file: &LintFile| disabled.contains(rule, file);
        let fixed = fix_file(&part.context, index, &part.findings, &is_disabled);
        let Some(text) = fixed else { continue };
        let contents = FileContents::load(&file.path)?;
        let is_recorded = contents.decode().is_ok_and(|text| {
            remove_recorder(text.body).is_some_and(|removed| removed.entries > 0)
        });
        if is_recorded {
            ui.print_note(&format!(
                "{} is not corrected while its hooks are recorded; run `rutter contract record off` first",
                file.path.to_line()
            ))?;
            continue;
        }
        let mark = if contents.bytes().is_some_and(|bytes| bytes.starts_with("\u{feff}".as_bytes()))
        {
            "\u{feff}"
        } else {
            ""
        };
        let after = [mark, &text].concat().into_bytes();
        changes.push(FileChange::new(contents, Some(after)));
    }
    if changes.is_empty() {
        ui.print_note("there is nothing that --fix can correct with certainty")?;
        return Ok(false);
    }
    if args.dry_run || (ui.terminal && !args.yes) {
        for change in &changes {
            change.print_diff(ui)?;
        }
    }
    if args.dry_run {
        return Ok(false);
    }
    if ui.terminal && !args.yes {
        let files = format_count(changes.len() as u64, "file");
        write!(ui.err, "Write these corrections to {files}? [y/N] ")?;
        ui.err.flush()?;
        let answer = ui.read_line()?.unwrap_or_default();
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            writeln!(ui.err, "nothing was changed")?;
            return Err(CommandError::Declined);
        }
    }
    for change in &changes {
        change.apply()?;
        writeln!(ui.err, "corrected {}", change.path().to_line())?;
    }
    Ok(true)
}
