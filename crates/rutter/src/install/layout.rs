//! Formats new entries in the style of the file around them.

use std::io;
use std::ops::Range;

use rutter_check::settings::{JsonItem, JsonOutline};
use rutter_check::text_edit::TextEdit;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use serde_json::{Value, json};

/// The formatting style of a file.
pub(super) struct JsonLayout {
    newline: &'static str,
    /// A level of indentation.
    step: String,
    /// True if a filled array or object spans several lines.
    lines: bool,
    /// True if a space follows `:` and `,`.
    blanks: bool,
}

/// A new entry: its key, if it goes into an object, and its value.
pub(super) type NewEntry = (Option<String>, Value);

impl JsonLayout {
    /// Returns the layout of a new file, which is the client's own style.
    pub(super) fn new() -> Self {
        Self { newline: "\n", step: "  ".to_owned(), lines: true, blanks: true }
    }

    /// Detects the layout of a file.
    pub(super) fn detect(outline: &JsonOutline<'_>, root: &Range<usize>) -> Self {
        let inside = outline.slice(root);
        let newline = match outline.text.find('\n') {
            Some(at) if outline.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let first = outline.items(root).into_iter().next();
        let lead = first.as_ref().map_or("", |first| leading_space(outline, root, first));
        let step = match lead.rsplit_once('\n') {
            Some((_, step)) if !step.is_empty() => step.to_owned(),
            _ => Self::new().step,
        };
        let blanks = first
            .as_ref()
            .is_none_or(|first| outline.text[..first.value.start].ends_with(char::is_whitespace));
        Self { newline, step, lines: first.is_none() || inside.contains('\n'), blanks }
    }

    /// Returns the edit that appends entries to an array or object.
    pub(super) fn append_entries(
        &self,
        outline: &JsonOutline<'_>,
        container: &Range<usize>,
        entries: &[NewEntry],
    ) -> TextEdit {
        let items = outline.items(container);
        let Some(last) = items.last() else { return self.fill_empty(outline, container, entries) };
        let mut text = String::new();
        match leading_space(outline, container, last).rsplit_once('\n') {
            Some((_, indent)) => {
                for entry in entries {
                    text += ",";
                    text += self.newline;
                    text += indent;
                    text += &self.format_lines(entry, indent);
                }
            }
            None => {
                for entry in entries {
                    text += if self.blanks { ", " } else { "," };
                    text += &self.format_line(entry);
                }
            }
        }
        TextEdit { range: last.range.end..last.range.end, text }
    }

    /// Returns the edit that replaces a value.
    pub(super) fn replace_value(
        &self,
        outline: &JsonOutline<'_>,
        range: &Range<usize>,
        value: Value,
    ) -> TextEdit {
        let text = if outline.slice(range).contains('\n') {
            self.format_lines(&(None, value), indent_at(outline, range.start))
        } else {
            self.format_line(&(None, value))
        };
        TextEdit { range: range.clone(), text }
    }

    /// Returns the edit that fills an empty array or object. Whitespace in it is removed.
    fn fill_empty(
        &self,
        outline: &JsonOutline<'_>,
        container: &Range<usize>,
        entries: &[NewEntry],
    ) -> TextEdit {
        let range = container.start + 1..container.end - 1;
        if !self.lines {
            let flat: Vec<_> = entries.iter().map(|entry| self.format_line(entry)).collect();
            return TextEdit { range, text: flat.join(if self.blanks { ", " } else { "," }) };
        }
        let outer = indent_at(outline, container.start);
        let indent = format!("{outer}{}", self.step);
        let entries: Vec<_> = entries
            .iter()
            .map(|entry| format!("{}{indent}{}", self.newline, self.format_lines(entry, &indent)))
            .collect();
        TextEdit { range, text: format!("{}{}{outer}", entries.join(","), self.newline) }
    }

    /// Formats an entry on several lines, all but the first indented.
    pub(super) fn format_lines(&self, (key, value): &NewEntry, indent: &str) -> String {
        let text = to_json_text(value, PrettyFormatter::with_indent(self.step.as_bytes()));
        let text = text.replace('\n', &format!("{}{indent}", self.newline));
        match key {
            Some(key) => format!("{}: {text}", json!(key)),
            None => text,
        }
    }

    /// Formats an entry on one line.
    fn format_line(&self, (key, value): &NewEntry) -> String {
        let (text, colon) = if self.blanks {
            (to_json_text(value, SpacedFormatter), ": ")
        } else {
            (value.to_string(), ":")
        };
        match key {
            Some(key) => format!("{}{colon}{text}", json!(key)),
            None => text,
        }
    }
}

/// Returns the whitespace between an item and the preceding bracket or comma.
fn leading_space<'a>(
    outline: &JsonOutline<'a>,
    container: &Range<usize>,
    item: &JsonItem,
) -> &'a str {
    let before = outline.slice(&(container.start..item.range.start));
    &before[before.trim_end_matches([' ', '\t', '\n', '\r']).len()..]
}

/// Returns the indentation of the line at an offset.
fn indent_at<'a>(outline: &JsonOutline<'a>, at: usize) -> &'a str {
    let before = &outline.text[..at];
    let line = &before[before.rfind('\n').map_or(0, |newline| newline + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn to_json_text(value: &Value, formatter: impl Formatter) -> String {
    let mut bytes = Vec::new();
    let done = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    debug_assert!(done.is_ok(), "nothing can go wrong in memory");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A formatter for one line with spaces after `:` and `,`.
struct SpacedFormatter;

impl Formatter for SpacedFormatter {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}
