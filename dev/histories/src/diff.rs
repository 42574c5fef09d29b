//! Line diffs in the forms that the client and git use.

use std::fmt::Write as _;

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// Unchanged lines around a change, as the client and git show them.
const CONTEXT_LINES: usize = 3;

/// A part of a diff with its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffHunk {
    /// First line in the old text.
    pub old_start: usize,
    /// Number of lines in the old text.
    pub old_lines: usize,
    /// First line in the new text.
    pub new_start: usize,
    /// Number of lines in the new text.
    pub new_lines: usize,
    /// Lines with ` `, `-` or `+` in front.
    pub lines: Vec<String>,
}

/// Computes the hunks between two texts.
pub fn diff_hunks(old: &str, new: &str) -> Vec<DiffHunk> {
    let diff = TextDiff::from_lines(old, new);
    let mut hunks = Vec::new();
    for group in diff.grouped_ops(CONTEXT_LINES) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let old_range = first.old_range().start..last.old_range().end;
        let new_range = first.new_range().start..last.new_range().end;
        let mut lines = Vec::new();
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            lines.push(format!("{sign}{}", change.value().trim_end_matches('\n')));
        }
        hunks.push(DiffHunk {
            old_start: range_start(&old_range),
            old_lines: old_range.len(),
            new_start: range_start(&new_range),
            new_lines: new_range.len(),
            lines,
        });
    }
    hunks
}

/// Returns the first line number of a range as diffs count it: the line before the range if it is empty.
fn range_start(range: &std::ops::Range<usize>) -> usize {
    if range.is_empty() { range.start } else { range.start + 1 }
}

/// Returns the hunks as the client's `structuredPatch`.
pub fn structured_patch(old: &str, new: &str) -> Value {
    diff_hunks(old, new)
        .into_iter()
        .map(|hunk| {
            json!({
                "oldStart": hunk.old_start, "oldLines": hunk.old_lines,
                "newStart": hunk.new_start, "newLines": hunk.new_lines,
                "lines": hunk.lines,
            })
        })
        .collect()
}

/// Returns a patch of one file that `git apply` accepts.
pub fn unified_patch(path: &str, old: &str, new: &str) -> String {
    let mut text = format!("--- a/{path}\n+++ b/{path}\n");
    for hunk in diff_hunks(old, new) {
        let _ = writeln!(
            text,
            "@@ -{},{} +{},{} @@",
            hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines
        );
        for line in hunk.lines {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

/// Returns the removed (`-`) and added (`+`) lines, each with its sign and in the order of the diff.
pub fn changed_lines(old: &str, new: &str) -> Vec<String> {
    let hunks = diff_hunks(old, new);
    hunks.into_iter().flat_map(|hunk| hunk.lines).filter(|line| !line.starts_with(' ')).collect()
}
