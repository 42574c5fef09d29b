//! Adds entries to a JSON text of the user and removes them, without parsing and rewriting it.
//!
//! This module does not know the meaning of entries. A *path* is the list of keys from the root to an object or array.
//! An [`EntryAddition`] is an entry to append there, together with missing containers on the path. Removal is the reverse,
//! and also removes containers that become empty.

use std::fmt;
use std::ops::Range;

use rutter_check::settings::{JsonItem, JsonOutline, JsonType, line_and_column};
use rutter_check::text_edit::TextEdit;
use serde_json::{Map, Value};

use super::layout::{JsonLayout, NewEntry};

/// The reason for which a file is left unchanged.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MalformedFile {
    line: usize,
    column: usize,
    what: String,
    /// True if the client cannot parse the file either.
    unreadable: bool,
}

impl MalformedFile {
    pub(super) fn at_offset(text: &str, at: usize, what: impl Into<String>) -> Self {
        let (line, column) = line_and_column(text, at);
        Self { line, column, what: what.into(), unreadable: false }
    }

    pub(super) fn unreadable(text: &str, at: usize, what: impl Into<String>) -> Self {
        Self { unreadable: true, ..Self::at_offset(text, at, what) }
    }

    /// Returns true if the client cannot parse the file either.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.unreadable
    }
}

/// Formats the position and the reason as the continuation of a path: `:3:7: …`.
impl fmt::Display for MalformedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}:{}: {}", self.line, self.column, self.what)
    }
}

/// An entry to append to the object or array at the end of a path.
#[derive(Debug, Clone)]
pub(super) struct EntryAddition {
    pub(super) path: Vec<String>,
    pub(super) entry: NewEntry,
}

/// A JSON text with an object as its root.
pub(super) struct EditableDocument<'a> {
    pub(super) outline: JsonOutline<'a>,
    pub(super) layout: JsonLayout,
    pub(super) root: Range<usize>,
}

impl<'a> EditableDocument<'a> {
    /// Parses a text. Returns `None` for a blank text.
    pub(super) fn parse(text: &'a str) -> Result<Option<Self>, MalformedFile> {
        if text.trim_matches([' ', '\t', '\n', '\r']).is_empty() {
            return Ok(None);
        }
        let (outline, root) = JsonOutline::parse(text).map_err(|error| {
            let what = format!("this is not JSON: expected {}", error.expected);
            MalformedFile::unreadable(text, error.at, what)
        })?;
        if outline.json_type(&root) != JsonType::Object {
            return Err(MalformedFile::at_offset(
                text,
                root.start,
                "this must be an object, `{ … }`",
            ));
        }
        Ok(Some(Self { layout: JsonLayout::detect(&outline, &root), outline, root }))
    }

    /// Returns the object or array at the end of a path, and the number of keys that lead to it: all of them, or fewer
    /// if the rest is missing. Fails if a key on the path is a duplicate or leads to a value of another type.
    pub(super) fn resolve_path(
        &self,
        path: &[String],
        last: JsonType,
    ) -> Result<(Range<usize>, usize), MalformedFile> {
        let mut container = self.root.clone();
        for (depth, key) in path.iter().enumerate() {
            let Some(item) = self.unique_member(&container, key)? else {
                return Ok((container, depth));
            };
            let shape = if depth + 1 == path.len() { last } else { JsonType::Object };
            if self.outline.json_type(&item.value) != shape {
                let kind = if shape == JsonType::List {
                    "an array, `[ … ]`"
                } else {
                    "an object, `{ … }`"
                };
                let what = format!("`{key}` must be {kind}");
                return Err(MalformedFile::at_offset(self.outline.text, item.value.start, what));
            }
            container = item.value;
        }
        Ok((container, path.len()))
    }

    /// Returns the member of an object with this key. Fails if the key is a duplicate.
    pub(super) fn unique_member(
        &self,
        object: &Range<usize>,
        key: &str,
    ) -> Result<Option<JsonItem>, MalformedFile> {
        let named = |item: &JsonItem| item.key.as_deref() == Some(key);
        let mut items = self.outline.items(object).into_iter().filter(named);
        let first = items.next();
        match items.next() {
            None => Ok(first),
            Some(second) => Err(self.duplicate_key_error(&second, key)),
        }
    }

    /// Returns the error for a duplicate key.
    pub(super) fn duplicate_key_error(&self, item: &JsonItem, key: &str) -> MalformedFile {
        let what = format!(
            "`{key}` occurs a second time, and the client ignores the first; merge them \
                     into one"
        );
        MalformedFile::at_offset(self.outline.text, item.range.start, what)
    }

    /// Returns the edits that add the missing entries, in the order of the text.
    pub(super) fn plan_additions(&self, missing: &[EntryAddition]) -> Vec<TextEdit> {
        let mut edits = Vec::new();
        self.plan_additions_below(&self.root, 0, &missing.iter().collect::<Vec<_>>(), &mut edits);
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }

    fn plan_additions_below(
        &self,
        container: &Range<usize>,
        depth: usize,
        missing: &[&EntryAddition],
        edits: &mut Vec<TextEdit>,
    ) {
        let mut new: Vec<NewEntry> = Vec::new();
        for (key, below) in group_by_key(missing, depth) {
            match key {
                None => new.extend(below.iter().map(|addition| addition.entry.clone())),
                Some(key) => match self.outline.member(container, key) {
                    Some(value) => self.plan_additions_below(&value, depth + 1, &below, edits),
                    None => new.push((Some(key.to_owned()), build_value(&below, depth + 1))),
                },
            }
        }
        if !new.is_empty() {
            edits.push(self.layout.append_entries(&self.outline, container, &new));
        }
    }

    /// Returns the edits that remove items, each with one adjacent comma. Also removes containers that become empty if
    /// `vanishes` returns true for their path. The index of an array item counts as its key.
    pub(super) fn plan_removals(
        &self,
        gone: &[Range<usize>],
        vanishes: &dyn Fn(&[String]) -> bool,
    ) -> Vec<TextEdit> {
        let mut edits = Vec::new();
        self.plan_removals_below(&self.root, &mut Vec::new(), gone, vanishes, &mut edits);
        edits
    }

    /// Returns true if the container itself must be removed. Adds no edits inside it in that case.
    fn plan_removals_below(
        &self,
        container: &Range<usize>,
        path: &mut Vec<String>,
        gone: &[Range<usize>],
        vanishes: &dyn Fn(&[String]) -> bool,
        edits: &mut Vec<TextEdit>,
    ) -> bool {
        let items = self.outline.items(container);
        let mut inside = Vec::new();
        let mut marks = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let holds =
                |gone: &Range<usize>| item.value.start <= gone.start && gone.end <= item.value.end;
            marks.push(if gone.contains(&item.range) {
                true
            } else if gone.iter().any(holds) {
                path.push(item.key.clone().unwrap_or_else(|| number.to_string()));
                let goes = self.plan_removals_below(&item.value, path, gone, vanishes, &mut inside);
                path.pop();
                goes
            } else {
                false
            });
        }
        if !path.is_empty() && !marks.is_empty() && !marks.contains(&false) && vanishes(path) {
            return true;
        }
        edits.append(&mut inside);
        edits.extend(removal_edits(&items, &marks, container));
        false
    }
}

/// Returns the text of a new file with these entries only.
pub(super) fn new_file_text(missing: &[EntryAddition]) -> String {
    let root = build_value(&missing.iter().collect::<Vec<_>>(), 0);
    JsonLayout::new().format_lines(&(None, root), "") + "\n"
}

/// Groups additions by their key at this depth, in the order of the keys. None means that the path ends here.
fn group_by_key<'m>(
    missing: &[&'m EntryAddition],
    depth: usize,
) -> Vec<(Option<&'m str>, Vec<&'m EntryAddition>)> {
    let mut keys: Vec<(Option<&str>, Vec<&EntryAddition>)> = Vec::new();
    for addition in missing {
        let key = addition.path.get(depth).map(String::as_str);
        match keys.iter_mut().find(|(there, _)| *there == key) {
            Some((_, below)) => below.push(addition),
            None => keys.push((key, vec![addition])),
        }
    }
    keys
}

/// Builds an object or array from additions.
fn build_value(missing: &[&EntryAddition], depth: usize) -> Value {
    let mut list = Vec::new();
    let mut members = Map::new();
    for (key, below) in group_by_key(missing, depth) {
        match key {
            Some(key) => drop(members.insert(key.to_owned(), build_value(&below, depth + 1))),
            None => {
                for EntryAddition { entry: (key, value), .. } in below {
                    match key {
                        Some(key) => drop(members.insert(key.clone(), value.clone())),
                        None => list.push(value.clone()),
                    }
                }
            }
        }
    }
    if list.is_empty() { members.into() } else { list.into() }
}

/// Returns the edits that remove items from an array or object, each with one adjacent comma.
fn removal_edits(items: &[JsonItem], gone: &[bool], container: &Range<usize>) -> Vec<TextEdit> {
    let nothing = |range| TextEdit { range, text: String::new() };
    let Some(first_kept) = gone.iter().position(|gone| !gone) else {
        return match items {
            [] => Vec::new(),
            _ => vec![nothing(container.start + 1..container.end - 1)],
        };
    };
    let marked = gone.iter().enumerate().filter(|(_, gone)| **gone).map(|(place, _)| place);
    marked
        .map(|place| {
            nothing(if place < first_kept {
                items[place].range.start..items[place + 1].range.start
            } else {
                items[place - 1].range.end..items[place].range.end
            })
        })
        .collect()
}
