//! Adds entries to a JSON text of the user and removes them, without parsing and rewriting it.
//!
//! This module does not know the meaning of entries. A *path* is the list of keys from the root to an object or array.
//! An [`Addition`] is an entry to append there, together with missing containers on the path. Removal is the reverse,
//! and also removes containers that become empty.

use std::fmt;
use std::ops::Range;

use serde_json::{Map, Value};

use super::layout::{Edit, Entry, Layout};
use super::outline::{Item, Outline, Shape, position};

/// The reason for which a file is left unchanged.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    line: usize,
    column: usize,
    what: String,
    /// True if the client cannot parse the file either.
    unreadable: bool,
}

impl Malformed {
    pub(super) fn at(text: &str, at: usize, what: impl Into<String>) -> Self {
        let (line, column) = position(text, at);
        Self { line, column, what: what.into(), unreadable: false }
    }

    pub(super) fn unreadable(text: &str, at: usize, what: impl Into<String>) -> Self {
        Self { unreadable: true, ..Self::at(text, at, what) }
    }

    /// Returns true if the client cannot parse the file either.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.unreadable
    }
}

/// Formats the position and the reason as the continuation of a path: `:3:7: …`.
impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}:{}: {}", self.line, self.column, self.what)
    }
}

/// An entry to append to the object or array at the end of a path.
#[derive(Debug, Clone)]
pub(super) struct Addition {
    pub(super) path: Vec<String>,
    pub(super) entry: Entry,
}

/// A JSON text with an object as its root.
pub(super) struct Document<'a> {
    pub(super) outline: Outline<'a>,
    pub(super) layout: Layout,
    pub(super) root: Range<usize>,
}

impl<'a> Document<'a> {
    /// Parses a text. Returns `None` for a blank text.
    pub(super) fn read(text: &'a str) -> Result<Option<Self>, Malformed> {
        if text.trim_matches([' ', '\t', '\n', '\r']).is_empty() {
            return Ok(None);
        }
        let (outline, root) = Outline::read(text).map_err(|error| {
            let what = format!("this is not JSON: expected {}", error.expected);
            Malformed::unreadable(text, error.at, what)
        })?;
        if outline.shape(&root) != Shape::Object {
            return Err(Malformed::at(text, root.start, "this has to be an object, `{ … }`"));
        }
        Ok(Some(Self { layout: Layout::of(&outline, &root), outline, root }))
    }

    /// Returns the object or array at the end of a path, and the number of keys that lead to it: all of them, or fewer
    /// if the rest is missing. Fails if a key on the path is a duplicate or leads to a value of another type.
    pub(super) fn reach(
        &self,
        path: &[String],
        last: Shape,
    ) -> Result<(Range<usize>, usize), Malformed> {
        let mut container = self.root.clone();
        for (depth, key) in path.iter().enumerate() {
            let Some(item) = self.only(&container, key)? else { return Ok((container, depth)) };
            let shape = if depth + 1 == path.len() { last } else { Shape::Object };
            if self.outline.shape(&item.value) != shape {
                let kind = if shape == Shape::List {
                    "an array, `[ … ]`"
                } else {
                    "an object, `{ … }`"
                };
                let what = format!("`{key}` has to be {kind}");
                return Err(Malformed::at(self.outline.text, item.value.start, what));
            }
            container = item.value;
        }
        Ok((container, path.len()))
    }

    /// Returns the member of an object with this key. Fails if the key is a duplicate.
    pub(super) fn only(&self, object: &Range<usize>, key: &str) -> Result<Option<Item>, Malformed> {
        let named = |item: &Item| item.key.as_deref() == Some(key);
        let mut items = self.outline.items(object).into_iter().filter(named);
        let first = items.next();
        match items.next() {
            None => Ok(first),
            Some(second) => Err(self.second(&second, key)),
        }
    }

    /// Returns the error for a duplicate key.
    pub(super) fn second(&self, item: &Item, key: &str) -> Malformed {
        let what =
            format!("a second `{key}`, for which the client forgets the first; make them one");
        Malformed::at(self.outline.text, item.range.start, what)
    }

    /// Returns the edits that add the missing entries, in the order of the text.
    pub(super) fn add(&self, missing: &[Addition]) -> Vec<Edit> {
        let mut edits = Vec::new();
        self.add_below(&self.root, 0, &missing.iter().collect::<Vec<_>>(), &mut edits);
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }

    fn add_below(
        &self,
        container: &Range<usize>,
        depth: usize,
        missing: &[&Addition],
        edits: &mut Vec<Edit>,
    ) {
        let mut new: Vec<Entry> = Vec::new();
        for (key, below) in by_key(missing, depth) {
            match key {
                None => new.extend(below.iter().map(|addition| addition.entry.clone())),
                Some(key) => match self.outline.member(container, key) {
                    Some(value) => self.add_below(&value, depth + 1, &below, edits),
                    None => new.push((Some(key.to_owned()), built(&below, depth + 1))),
                },
            }
        }
        if !new.is_empty() {
            edits.push(self.layout.append(&self.outline, container, &new));
        }
    }

    /// Returns the edits that remove items, each with one adjacent comma. Also removes containers that become empty if
    /// `vanishes` returns true for their path. The index of an array item counts as its key.
    pub(super) fn prune(
        &self,
        gone: &[Range<usize>],
        vanishes: &dyn Fn(&[String]) -> bool,
    ) -> Vec<Edit> {
        let mut edits = Vec::new();
        self.prune_below(&self.root, &mut Vec::new(), gone, vanishes, &mut edits);
        edits
    }

    /// Returns true if the container itself must be removed. Adds no edits inside it in that case.
    fn prune_below(
        &self,
        container: &Range<usize>,
        path: &mut Vec<String>,
        gone: &[Range<usize>],
        vanishes: &dyn Fn(&[String]) -> bool,
        edits: &mut Vec<Edit>,
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
                let goes = self.prune_below(&item.value, path, gone, vanishes, &mut inside);
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
        edits.extend(cut(&items, &marks, container));
        false
    }
}

/// Returns the text of a new file with these entries only.
pub(super) fn fresh(missing: &[Addition]) -> String {
    let root = built(&missing.iter().collect::<Vec<_>>(), 0);
    Layout::new().pretty(&(None, root), "") + "\n"
}

/// Groups additions by their key at this depth, in the order of the keys. None means that the path ends here.
fn by_key<'m>(missing: &[&'m Addition], depth: usize) -> Vec<(Option<&'m str>, Vec<&'m Addition>)> {
    let mut keys: Vec<(Option<&str>, Vec<&Addition>)> = Vec::new();
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
fn built(missing: &[&Addition], depth: usize) -> Value {
    let mut list = Vec::new();
    let mut members = Map::new();
    for (key, below) in by_key(missing, depth) {
        match key {
            Some(key) => drop(members.insert(key.to_owned(), built(&below, depth + 1))),
            None => {
                for Addition { entry: (key, value), .. } in below {
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
fn cut(items: &[Item], gone: &[bool], container: &Range<usize>) -> Vec<Edit> {
    let nothing = |range| Edit { range, text: String::new() };
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
