//! A JSON text of somebody else's, as a place to put things into and to take them from.
//!
//! Nothing here knows what the things are. A *path* is the keys that lead from the root to an object or array, an
//! [`Addition`] is what is to be at the end of one, with whatever is missing on the way; taking out goes the other way
//! round, and takes what is empty because of that.

use std::fmt;
use std::ops::Range;

use serde_json::{Map, Value};

use super::layout::{Edit, Entry, Layout};
use super::outline::{Item, Outline, Shape, position};

/// Why a file is left alone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    line: usize,
    column: usize,
    what: String,
    /// Whether the client cannot read it either.
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

    /// Whether the client cannot read it either.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.unreadable
    }
}

/// As the end of a path: `:3:7: …`.
impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}:{}: {}", self.line, self.column, self.what)
    }
}

/// Something that is to be in the object or array that a path leads to, at its end.
#[derive(Debug, Clone)]
pub(super) struct Addition {
    pub(super) path: Vec<String>,
    pub(super) entry: Entry,
}

/// A JSON text whose value is an object.
pub(super) struct Document<'a> {
    pub(super) outline: Outline<'a>,
    pub(super) layout: Layout,
    pub(super) root: Range<usize>,
}

impl<'a> Document<'a> {
    /// Reads a text; `None` for a blank one, which says nothing.
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

    /// The object or array at the end of a path, and how many keys of the path lead there: all of them, or less where
    /// the rest is missing. Refused where a key is written twice on the way, or leads to something else.
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

    /// The member of an object that has a name. Refused where there are two of them.
    pub(super) fn only(&self, object: &Range<usize>, key: &str) -> Result<Option<Item>, Malformed> {
        let named = |item: &Item| item.key.as_deref() == Some(key);
        let mut items = self.outline.items(object).into_iter().filter(named);
        let first = items.next();
        match items.next() {
            None => Ok(first),
            Some(second) => Err(self.second(&second, key)),
        }
    }

    /// What is wrong about a key that is there twice.
    pub(super) fn second(&self, item: &Item, key: &str) -> Malformed {
        let what =
            format!("a second `{key}`, for which the client forgets the first; make them one");
        Malformed::at(self.outline.text, item.range.start, what)
    }

    /// The edits that add what is missing, in the order of the text.
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

    /// The edits that take out items, each with one of the commas around it, and whatever holds nothing because of that
    /// and is to vanish then, by its path. In an array the number of an item is its key.
    pub(super) fn prune(
        &self,
        gone: &[Range<usize>],
        vanishes: &dyn Fn(&[String]) -> bool,
    ) -> Vec<Edit> {
        let mut edits = Vec::new();
        self.prune_below(&self.root, &mut Vec::new(), gone, vanishes, &mut edits);
        edits
    }

    /// Whether the container itself is to go; then the edits inside of it are none.
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

/// A text of its own with nothing but this in it.
pub(super) fn fresh(missing: &[Addition]) -> String {
    let root = built(&missing.iter().collect::<Vec<_>>(), 0);
    Layout::new().pretty(&(None, root), "") + "\n"
}

/// Additions by the key that they go on with, in the order of the keys; without one, they are there.
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

/// The object or array that holds additions and nothing else.
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

/// The edits that take items out of an array or object, each with one of the commas around it.
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
