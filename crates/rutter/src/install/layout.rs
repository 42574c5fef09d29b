//! Formats new entries in the style of the file around them.

use std::io;
use std::ops::Range;

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use serde_json::{Value, json};

use super::outline::{Item, Outline};

/// The formatting style of a file.
pub(super) struct Layout {
    newline: &'static str,
    /// A level of indentation.
    step: String,
    /// True if a filled array or object spans several lines.
    lines: bool,
    /// True if a space follows `:` and `,`.
    blanks: bool,
}

/// A replacement of a range of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// Applies edits, which must be sorted and must not overlap.
pub(super) fn apply(text: &str, edits: &[Edit]) -> String {
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

/// A new entry: its key, if it goes into an object, and its value.
pub(super) type Entry = (Option<String>, Value);

impl Layout {
    /// Returns the layout of a new file, which is the client's own style.
    pub(super) fn new() -> Self {
        Self { newline: "\n", step: "  ".to_owned(), lines: true, blanks: true }
    }

    /// Detects the layout of a file.
    pub(super) fn of(outline: &Outline<'_>, root: &Range<usize>) -> Self {
        let inside = outline.slice(root);
        let newline = match outline.text.find('\n') {
            Some(at) if outline.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let first = outline.items(root).into_iter().next();
        let lead = first.as_ref().map_or("", |first| lead(outline, root, first));
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
    pub(super) fn append(
        &self,
        outline: &Outline<'_>,
        container: &Range<usize>,
        entries: &[Entry],
    ) -> Edit {
        let items = outline.items(container);
        let Some(last) = items.last() else { return self.fill(outline, container, entries) };
        let mut text = String::new();
        match lead(outline, container, last).rsplit_once('\n') {
            Some((_, indent)) => {
                for entry in entries {
                    text += ",";
                    text += self.newline;
                    text += indent;
                    text += &self.pretty(entry, indent);
                }
            }
            None => {
                for entry in entries {
                    text += if self.blanks { ", " } else { "," };
                    text += &self.flat(entry);
                }
            }
        }
        Edit { range: last.range.end..last.range.end, text }
    }

    /// Returns the edit that replaces a value.
    pub(super) fn replace(
        &self,
        outline: &Outline<'_>,
        range: &Range<usize>,
        value: Value,
    ) -> Edit {
        let text = if outline.slice(range).contains('\n') {
            self.pretty(&(None, value), indent_at(outline, range.start))
        } else {
            self.flat(&(None, value))
        };
        Edit { range: range.clone(), text }
    }

    /// Returns the edit that fills an empty array or object. Whitespace in it is removed.
    fn fill(&self, outline: &Outline<'_>, container: &Range<usize>, entries: &[Entry]) -> Edit {
        let range = container.start + 1..container.end - 1;
        if !self.lines {
            let flat: Vec<_> = entries.iter().map(|entry| self.flat(entry)).collect();
            return Edit { range, text: flat.join(if self.blanks { ", " } else { "," }) };
        }
        let outer = indent_at(outline, container.start);
        let indent = format!("{outer}{}", self.step);
        let entries: Vec<_> = entries
            .iter()
            .map(|entry| format!("{}{indent}{}", self.newline, self.pretty(entry, &indent)))
            .collect();
        Edit { range, text: format!("{}{}{outer}", entries.join(","), self.newline) }
    }

    /// Formats an entry on several lines, all but the first indented.
    pub(super) fn pretty(&self, (key, value): &Entry, indent: &str) -> String {
        let text = written(value, PrettyFormatter::with_indent(self.step.as_bytes()));
        let text = text.replace('\n', &format!("{}{indent}", self.newline));
        match key {
            Some(key) => format!("{}: {text}", json!(key)),
            None => text,
        }
    }

    /// Formats an entry on one line.
    fn flat(&self, (key, value): &Entry) -> String {
        let (text, colon) =
            if self.blanks { (written(value, Blanks), ": ") } else { (value.to_string(), ":") };
        match key {
            Some(key) => format!("{}{colon}{text}", json!(key)),
            None => text,
        }
    }
}

/// Returns the whitespace between an item and the preceding bracket or comma.
fn lead<'a>(outline: &Outline<'a>, container: &Range<usize>, item: &Item) -> &'a str {
    let before = outline.slice(&(container.start..item.range.start));
    &before[before.trim_end_matches([' ', '\t', '\n', '\r']).len()..]
}

/// Returns the indentation of the line at an offset.
fn indent_at<'a>(outline: &Outline<'a>, at: usize) -> &'a str {
    let before = &outline.text[..at];
    let line = &before[before.rfind('\n').map_or(0, |newline| newline + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn written(value: &Value, formatter: impl Formatter) -> String {
    let mut bytes = Vec::new();
    let done = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    debug_assert!(done.is_ok(), "nothing can go wrong in memory");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A formatter for one line with spaces after `:` and `,`.
struct Blanks;

impl Formatter for Blanks {
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
