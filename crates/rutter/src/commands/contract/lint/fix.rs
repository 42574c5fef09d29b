//! Writes the fixes of findings into the files.

use rutter_check::lint::{LintContext, LintFile, LintFinding, run_rules};
use rutter_check::text_edit::{TextEdit, apply_edits};
use rutter_memory::quote::PathLine as _;

use super::{DisabledRules, LintRun};
use crate::cli::lint::LintArgs;
use crate::install::{FileChange, FileContents};
use crate::ui::{Ui, format_count};
use crate::{CommandError, CommandResult};

/// Times that the rules run on a corrected file: a fix may uncover a mistake inside the corrected part.
const MAX_FIX_PASSES: usize = 8;

/// Shows the fixes of all files, asks where a person is present, and writes them. Returns true if a file was written.
pub(super) fn fix_files(
    run: &LintRun<'_>,
    disabled: &DisabledRules,
    with_plugins: bool,
    args: &LintArgs,
    ui: &mut Ui<'_>,
) -> CommandResult<bool> {
    let mut changes = Vec::new();
    for (index, file) in run.context.files.iter().enumerate() {
        if file.is_plugin() && !with_plugins {
            continue;
        }
        let Some(text) = fixed_text(run, disabled, index) else { continue };
        let contents = FileContents::load(&file.path)?;
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

/// Returns the corrected text of a file. Returns None if there is nothing to correct.
fn fixed_text(run: &LintRun<'_>, disabled: &DisabledRules, index: usize) -> Option<String> {
    let LintContext { files, contract, machine, .. } = &run.context;
    let file = files.get(index)?;
    let findings = run.findings.iter().filter(|finding| finding.file == index);
    let mut text = apply_fixes(file, &file.text, findings)?;
    for _ in 0..MAX_FIX_PASSES {
        if file.is_script {
            break;
        }
        let corrected = file.with_text(&text, *contract);
        // Faults of a plugin are about the file as it was, so they are not repeated.
        let context = LintContext::new(vec![corrected], Vec::new(), *contract, machine);
        let mut findings = run_rules(&context, &|rule, file| disabled.contains(rule, file));
        findings.retain(|finding| finding.file == 0);
        match apply_fixes(file, &text, findings.iter()) {
            Some(next) => text = next,
            None => break,
        }
    }
    Some(text)
}

/// Applies the fixes that do not overlap an earlier one. Returns None if there are none.
fn apply_fixes<'a>(
    file: &LintFile,
    text: &str,
    findings: impl Iterator<Item = &'a LintFinding>,
) -> Option<String> {
    let mut edits: Vec<TextEdit> = Vec::new();
    for fix in findings.filter_map(|finding| finding.fix.as_ref()) {
        if !file.can_take(fix) {
            continue;
        }
        let overlaps = |edit: &TextEdit| {
            edits.iter().any(|known| {
                edit.range.start < known.range.end && known.range.start < edit.range.end
                    || edit.range.start == known.range.start
            })
        };
        if !fix.edits.iter().any(overlaps) {
            edits.extend(fix.edits.iter().cloned());
        }
    }
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|edit| edit.range.start);
    Some(apply_edits(text, &edits))
}
