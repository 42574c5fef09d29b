//! Compares the hooks in a settings file with the wanted ones.
//!
//! A correct group of ours stays, a group with only our handlers is replaced in place, and all other handlers of ours
//! are removed.

use std::ops::Range;

use serde_json::Value;

use super::document::{Addition, Document, Malformed};
use super::layout::Edit;
use super::outline::{Item, Outline, Shape};
use super::places::Found;
use super::table::{Group, is_ours};

/// Settings key of the hooks.
pub(super) const HOOKS: &str = "hooks";

struct Event {
    name: String,
    groups: Vec<Matcher>,
}

/// An existing matcher group.
struct Matcher {
    range: Range<usize>,
    /// Parsed value of the group. Null if serde_json rejects it, which does not happen to groups of ours.
    value: Value,
    /// Empty if the group has no array of handlers, or is not a group at all. Such content is left alone.
    handlers: Vec<Handler>,
}

struct Handler {
    item: Item,
    ours: bool,
}

/// Compares the existing hooks with the wanted groups.
pub(super) fn look(document: &Document<'_>, wanted: &[Group]) -> Result<Found, Malformed> {
    let events = read(document)?;
    let ours = events
        .iter()
        .flat_map(|event| &event.groups)
        .any(|group| group.handlers.iter().any(|handler| handler.ours));
    let mut missing: Vec<&Group> = wanted.iter().collect();
    let (mut replaced, mut gone) = (Vec::new(), Vec::new());
    for event in &events {
        mend(document, event, &mut missing, &mut replaced, &mut gone);
    }
    let missing = missing.into_iter().map(addition).collect();
    Ok(Found { ours, replaced, gone, missing })
}

/// Returns the addition of a group under its event.
pub(super) fn addition(group: &Group) -> Addition {
    Addition {
        path: vec![HOOKS.to_owned(), group.event.as_str().to_owned()],
        entry: (None, group.value.clone()),
    }
}

/// Reads the events and their groups. Fails on a duplicate event, of which the client would ignore one.
fn read(document: &Document<'_>) -> Result<Vec<Event>, Malformed> {
    let outline = &document.outline;
    let (hooks, depth) = document.reach(&[HOOKS.to_owned()], Shape::Object)?;
    let mut events: Vec<Event> = Vec::new();
    for item in if depth == 1 { outline.items(&hooks) } else { Vec::new() } {
        let name = item.key.clone().unwrap_or_default();
        if events.iter().any(|event| event.name == name) {
            return Err(document.second(&item, &name));
        }
        if outline.shape(&item.value) != Shape::List {
            let what = format!("`{name}` has to be an array of matcher groups, `[ … ]`");
            return Err(Malformed::at(outline.text, item.value.start, what));
        }
        let groups = outline.items(&item.value).into_iter();
        let groups = groups.map(|group| Matcher::read(outline, group.range)).collect();
        events.push(Event { name, groups });
    }
    Ok(events)
}

/// Collects the replacements and removals of our handlers for an event.
fn mend(
    document: &Document<'_>,
    event: &Event,
    missing: &mut Vec<&Group>,
    replaced: &mut Vec<Edit>,
    gone: &mut Vec<Range<usize>>,
) {
    let mut of_event = |fits: &dyn Fn(&Group) -> bool| {
        let place =
            missing.iter().position(|group| group.event.as_str() == event.name && fits(group));
        place.map(|place| missing.remove(place))
    };
    // Correct groups are matched first, at any position.
    let right: Vec<bool> = event
        .groups
        .iter()
        .map(|group| of_event(&|wanted| group.is_right(wanted)).is_some())
        .collect();
    for (group, right) in event.groups.iter().zip(right) {
        let (ours, theirs): (Vec<_>, Vec<_>) =
            group.handlers.iter().partition(|handler| handler.ours);
        if ours.is_empty() || right {
            continue;
        }
        if !theirs.is_empty() {
            gone.extend(ours.iter().map(|handler| handler.item.range.clone()));
        } else if let Some(wanted) = of_event(&|_| true) {
            let value = wanted.value.clone();
            replaced.push(document.layout.replace(&document.outline, &group.range, value));
        } else {
            gone.push(group.range.clone());
        }
    }
}

impl Matcher {
    fn read(outline: &Outline<'_>, range: Range<usize>) -> Self {
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
            range,
        }
    }

    /// Returns true if the group has the wanted matcher and, of our handlers, exactly the wanted one. It may also have
    /// handlers of others.
    fn is_right(&self, wanted: &Group) -> bool {
        let ours = self.handlers.iter().filter(|handler| handler.ours).count();
        let handlers = self.value["hooks"].as_array();
        ours == 1
            && self.value.get("matcher") == wanted.value.get("matcher")
            && handlers.is_some_and(|handlers| handlers.contains(&wanted.value["hooks"][0]))
    }
}
