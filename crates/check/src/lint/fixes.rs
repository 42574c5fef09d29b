//! Selects and applies the fixes of findings. Writing files belongs to the caller.

use super::context::LintContext;
use super::file::LintFile;
use super::rule::LintFinding;
use super::{LintRule, run_rules};
use crate::text_edit::{TextEdit, apply_edits};

/// Times that fixes are applied to a file: a fix may uncover a mistake inside the corrected part.
const MAX_FIX_PASSES: usize = 16;

/// Returns the text of a file after all fixes of its findings, and of those that they uncover. Returns None if there is
/// nothing to correct.
///
/// Findings of the rules in `is_disabled` are not corrected.
pub fn fix_file(
    context: &LintContext<'_>,
    index: usize,
    findings: &[LintFinding],
    is_disabled: &dyn Fn(&LintRule, &LintFile) -> bool,
) -> Option<String> {
    let file = context.files.get(index)?;
    let own = findings.iter().filter(|finding| finding.file == index);
    let edits = select_edits(file, own);
    if edits.is_empty() {
        return None;
    }
    let mut text = apply_edits(&file.text, &edits);
    if file.is_script {
        return Some(text);
    }
    for _ in 1..MAX_FIX_PASSES {
        let changed = file.with_text(&text, context.contract);
        // Faults of a plugin are about the file as it was, so they are not repeated.
        let again = LintContext::new(vec![changed], Vec::new(), context.contract, context.machine);
        let findings = run_rules(&again, is_disabled);
        let Some(changed) = again.files.first() else { break };
        let edits = select_edits(changed, findings.iter().filter(|finding| finding.file == 0));
        if edits.is_empty() {
            break;
        }
        text = apply_edits(&changed.text, &edits);
    }
    Some(text)
}

/// Returns the edits of the fixes that fit the file and do not overlap an earlier one, sorted.
pub fn select_edits<'a>(
    file: &LintFile,
    findings: impl Iterator<Item = &'a LintFinding>,
) -> Vec<TextEdit> {
    let mut edits: Vec<TextEdit> = Vec::new();
    let fixes = findings.filter_map(|finding| finding.fix.as_ref());
    for fix in fixes.filter(|fix| file.can_take(fix)) {
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
    edits.sort_by_key(|edit| edit.range.start);
    edits
}
