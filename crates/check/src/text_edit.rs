//! Replacements of ranges of a text. Every byte outside of them stays.

use std::ops::Range;

/// A replacement of a range of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// The byte range that is replaced; empty to insert.
    pub range: Range<usize>,
    /// The new text; empty to remove.
    pub text: String,
}

/// Applies edits, which must be sorted and must not overlap.
pub fn apply_edits(text: &str, edits: &[TextEdit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&text[at..]);
    out
}
