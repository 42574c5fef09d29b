//! What has to change in a settings file.
//!
//! Two steps, each a list of edits of the text. *Mending* goes through the entries of ours that are there: one that is
//! right stays, a group that is ours alone becomes what it should be where it stands, the rest goes, with groups,
//! events and the `hooks` that are empty because of that. *Adding* puts what is still missing at the ends.

use std::fmt;
use std::ops::Range;

use serde_json::{Map, Value};

use super::layout::{Edit, Entry, Layout, apply};
use super::outline::{Item, Outline, Shape, position};
use super::table::{Group, is_ours};

/// Why a settings file is left alone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    line: usize,
    column: usize,
    what: String,
}

impl Malformed {
    pub(super) fn at(text: &str, at: usize, what: impl Into<String>) -> Self {
        let (line, column) = position(text, at);
        Self { line, column, what: what.into() }
    }
}

/// As the end of a path: `:3:7: …`.
impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}:{}: {}", self.line, self.column, self.what)
    }
}

/// A text with rutter in it.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) text: String,
    /// The edits that made it, where nothing of ours was there before: only then can taking them back leave what the
    /// user had.
    pub(super) edits: Option<Vec<Edit>>,
}

/// Whether a text has an entry of ours, right or wrong.
pub(crate) fn is_installed(text: &str) -> Result<bool, Malformed> {
    Ok(Settings::read(text)?.is_some_and(|settings| settings.has_ours()))
}

/// The text with exactly these groups of ours in it.
pub(crate) fn install(text: &str, wanted: &[Group]) -> Result<Installed, Malformed> {
    let Some(settings) = Settings::read(text)? else {
        let edit = Edit { range: 0..text.len(), text: fresh(wanted) };
        return Ok(Installed { text: edit.text.clone(), edits: Some(vec![edit]) });
    };
    let (mending, missing) = settings.mend(wanted);
    if mending.is_empty() {
        let edits = settings.add(&missing);
        let text = apply(text, &edits);
        return Ok(Installed { text, edits: (!settings.has_ours()).then_some(edits) });
    }
    let mended = apply(text, &mending);
    let added = match Settings::read(&mended)? {
        Some(settings) => apply(&mended, &settings.add(&missing)),
        None => mended,
    };
    Ok(Installed { text: added, edits: None })
}

/// Whether a text says nothing: it is blank, or an object without members.
pub(crate) fn is_empty(text: &str) -> bool {
    let mut solid = text.chars().filter(|c| !matches!(c, ' ' | '\t' | '\n' | '\r'));
    matches!((solid.next(), solid.next(), solid.next()), (None, ..) | (Some('{'), Some('}'), None))
}

/// The text without anything of ours.
pub(crate) fn uninstall(text: &str) -> Result<String, Malformed> {
    Ok(match Settings::read(text)? {
        Some(settings) => apply(text, &settings.mend(&[]).0),
        None => text.to_owned(),
    })
}

/// A file of its own.
fn fresh(wanted: &[Group]) -> String {
    let mut hooks = Map::new();
    for (event, groups) in by_event(&wanted.iter().collect::<Vec<_>>()) {
        hooks.insert(event.to_owned(), groups.into());
    }
    let root = Value::Object(Map::from_iter([("hooks".to_owned(), hooks.into())]));
    Layout::new().pretty(&(None, root), "") + "\n"
}

/// Groups under the names of their events, in the order of the events.
pub(super) fn by_event(groups: &[&Group]) -> Vec<(&'static str, Vec<Value>)> {
    let mut events: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for group in groups {
        let name = group.event.as_str();
        match events.iter_mut().find(|(event, _)| *event == name) {
            Some((_, values)) => values.push(group.value.clone()),
            None => events.push((name, vec![group.value.clone()])),
        }
    }
    events
}

/// A settings file, as far as it is about hooks.
struct Settings<'a> {
    outline: Outline<'a>,
    layout: Layout,
    root: Range<usize>,
    hooks: Option<Range<usize>>,
    events: Vec<Event>,
}

struct Event {
    name: String,
    value: Range<usize>,
    groups: Vec<Found>,
}

/// A group that is there.
struct Found {
    range: Range<usize>,
    /// As the client reads it; nothing where serde_json does not, which nothing of ours is.
    value: Value,
    /// Its array of handlers. Empty where it is none, and for what is no group at all: strangers are left alone.
    list: Range<usize>,
    handlers: Vec<Handler>,
}

struct Handler {
    item: Item,
    ours: bool,
}

impl<'a> Settings<'a> {
    /// Reads a text; `None` for a blank one, which the client takes for no settings.
    fn read(text: &'a str) -> Result<Option<Self>, Malformed> {
        if text.trim_matches([' ', '\t', '\n', '\r']).is_empty() {
            return Ok(None);
        }
        let (outline, root) = Outline::read(text).map_err(|error| {
            Malformed::at(text, error.at, format!("this is not JSON: expected {}", error.expected))
        })?;
        if outline.shape(&root) != Shape::Object {
            return Err(Malformed::at(text, root.start, "settings are an object, `{ … }`"));
        }
        let mut hooks = None;
        for item in outline.items(&root) {
            if item.key.as_deref() != Some("hooks") {
                continue;
            }
            if hooks.replace(item.value.clone()).is_some() {
                let what =
                    "a second `hooks`, for which the client forgets the first; make them one";
                return Err(Malformed::at(text, item.range.start, what));
            }
            if outline.shape(&item.value) != Shape::Object {
                let what = "`hooks` has to be an object, `{ … }`";
                return Err(Malformed::at(text, item.value.start, what));
            }
        }
        let mut events: Vec<Event> = Vec::new();
        for item in hooks.iter().flat_map(|hooks| outline.items(hooks)) {
            let name = item.key.unwrap_or_default();
            if events.iter().any(|event| event.name == name) {
                let what = format!(
                    "a second `{name}`, for which the client forgets the first; make them one"
                );
                return Err(Malformed::at(text, item.range.start, what));
            }
            if outline.shape(&item.value) != Shape::List {
                let what = format!("`{name}` has to be an array of matcher groups, `[ … ]`");
                return Err(Malformed::at(text, item.value.start, what));
            }
            let groups = outline.items(&item.value).into_iter();
            let groups = groups.map(|group| Found::read(outline, group.range)).collect();
            events.push(Event { name, value: item.value, groups });
        }
        Ok(Some(Self { outline, layout: Layout::of(&outline, &root), root, hooks, events }))
    }

    fn has_ours(&self) -> bool {
        let mut groups = self.events.iter().flat_map(|event| &event.groups);
        groups.any(|group| group.handlers.iter().any(|handler| handler.ours))
    }

    /// The edits that put right, or take away, what is there of ours, and which of the wanted are not there.
    fn mend<'w>(&self, wanted: &'w [Group]) -> (Vec<Edit>, Vec<&'w Group>) {
        let mut missing: Vec<&Group> = wanted.iter().collect();
        let mut edits = Vec::new();
        let mut gone_events = Vec::new();
        for event in &self.events {
            let mut of_event = |fits: &dyn Fn(&Group) -> bool| {
                let place = missing
                    .iter()
                    .position(|group| group.event.as_str() == event.name && fits(group));
                place.map(|place| missing.remove(place))
            };
            // What is right already claims its place first, wherever it stands.
            let right: Vec<bool> = event
                .groups
                .iter()
                .map(|group| of_event(&|wanted| group.is_right(wanted)).is_some())
                .collect();
            let mut gone = Vec::new();
            for (group, right) in event.groups.iter().zip(right) {
                let ours = group.handlers.iter().filter(|handler| handler.ours).count();
                let mut leaves = false;
                if ours > 0 && !right {
                    let alone = ours == group.handlers.len();
                    match if alone { of_event(&|_| true) } else { None } {
                        Some(wanted) => {
                            let value = wanted.value.clone();
                            edits.push(self.layout.replace(&self.outline, &group.range, value));
                        }
                        None if alone => leaves = true,
                        None => {
                            let (items, ours): (Vec<_>, Vec<_>) = group
                                .handlers
                                .iter()
                                .map(|handler| (&handler.item, handler.ours))
                                .unzip();
                            edits.extend(cut(&items, &ours, &group.list));
                        }
                    }
                }
                gone.push(leaves);
            }
            let all = !gone.is_empty() && gone.iter().all(|gone| *gone);
            gone_events.push(all);
            if !all {
                let items = self.outline.items(&event.value);
                edits.extend(cut(&items.iter().collect::<Vec<_>>(), &gone, &event.value));
            }
        }
        if let Some(hooks) = &self.hooks
            && gone_events.contains(&true)
        {
            // The edits inside of events that go are none: everything in them goes.
            if gone_events.contains(&false) {
                let items = self.outline.items(hooks);
                edits.extend(cut(&items.iter().collect::<Vec<_>>(), &gone_events, hooks));
            } else {
                let items = self.outline.items(&self.root);
                let gone: Vec<_> = items.iter().map(|item| item.value == *hooks).collect();
                edits.extend(cut(&items.iter().collect::<Vec<_>>(), &gone, &self.root));
            }
        }
        edits.sort_by_key(|edit| edit.range.start);
        (edits, missing)
    }

    /// The edits that add groups.
    fn add(&self, missing: &[&Group]) -> Vec<Edit> {
        let mut edits = Vec::new();
        let mut new_events: Vec<Entry> = Vec::new();
        for (name, values) in by_event(missing) {
            match self.events.iter().find(|event| event.name == name) {
                Some(event) => {
                    let entries: Vec<Entry> =
                        values.into_iter().map(|value| (None, value)).collect();
                    edits.push(self.layout.append(&self.outline, &event.value, &entries));
                }
                None => new_events.push((Some(name), values.into())),
            }
        }
        if !new_events.is_empty() {
            edits.push(if let Some(hooks) = &self.hooks {
                self.layout.append(&self.outline, hooks, &new_events)
            } else {
                let events: Map<String, Value> = new_events
                    .into_iter()
                    .map(|(name, value)| (name.unwrap_or_default().to_owned(), value))
                    .collect();
                self.layout.append(&self.outline, &self.root, &[(Some("hooks"), events.into())])
            });
        }
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }
}

impl Found {
    fn read(outline: Outline<'_>, range: Range<usize>) -> Self {
        let list = outline.member(&range, "hooks").unwrap_or(range.end..range.end);
        let handlers = match outline.shape(&list) {
            Shape::List => outline.items(&list),
            Shape::Object | Shape::Other => Vec::new(),
        };
        let handlers = handlers.into_iter().map(|item| {
            let value = serde_json::from_str(outline.slice(&item.value)).unwrap_or(Value::Null);
            Handler { ours: is_ours(&value), item }
        });
        Self {
            handlers: handlers.collect(),
            value: serde_json::from_str(outline.slice(&range)).unwrap_or(Value::Null),
            list,
            range,
        }
    }

    /// Whether it has the one handler of ours that is wanted, under the matcher that is wanted. Somebody else's may
    /// stand beside it.
    fn is_right(&self, wanted: &Group) -> bool {
        let ours = self.handlers.iter().filter(|handler| handler.ours).count();
        let handlers = self.value["hooks"].as_array();
        ours == 1
            && self.value.get("matcher") == wanted.value.get("matcher")
            && handlers.is_some_and(|handlers| handlers.contains(&wanted.value["hooks"][0]))
    }
}

/// The edits that take items out of an array or object, each with one of the commas around it.
fn cut(items: &[&Item], gone: &[bool], container: &Range<usize>) -> Vec<Edit> {
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
