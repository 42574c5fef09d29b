//! Compares the hooks in a settings file with the wanted ones.
//!
//! A correct group of ours stays, a group with only our handlers is replaced in place, and all other handlers of ours
//! are removed.

use std::ops::Range;

use rutter_check::settings::{JsonItem, JsonOutline, JsonType};
use serde_json::Value;

use super::document::{EditableDocument, EntryAddition, MalformedFile};
use super::places::ContentDiff;
use super::table::{HookGroup, is_our_hook};
use rutter_check::text_edit::TextEdit;

/// Settings key of the hooks.
pub(super) const HOOKS_KEY: &str = "hooks";

struct EventGroups {
    name: String,
    groups: Vec<ExistingGroup>,
}

/// An existing matcher group.
struct ExistingGroup {
    range: Range<usize>,
    /// Parsed value of the group. Null if serde_json rejects it, which does not happen to groups of ours.
    value: Value,
    /// Empty if the group has no array of handlers, or is not a group at all. Such content is left alone.
    handlers: Vec<ExistingHandler>,
}

struct ExistingHandler {
    item: JsonItem,
    ours: bool,
}

/// Compares the existing hooks with the wanted groups.
pub(super) fn compare_hooks(
    document: &EditableDocument<'_>,
    wanted: &[HookGroup],
) -> Result<ContentDiff, MalformedFile> {
    let events = read_events(document)?;
    let ours = events
        .iter()
        .flat_map(|event| &event.groups)
        .any(|group| group.handlers.iter().any(|handler| handler.ours));
    let mut missing: Vec<&HookGroup> = wanted.iter().collect();
    let (mut replaced, mut gone) = (Vec::new(), Vec::new());
    for event in &events {
        plan_event_changes(document, event, &mut missing, &mut replaced, &mut gone);
    }
    let missing = missing.into_iter().map(group_addition).collect();
    Ok(ContentDiff { ours, replaced, gone, missing })
}

/// Returns the addition of a group under its event.
pub(super) fn group_addition(group: &HookGroup) -> EntryAddition {
    EntryAddition {
        path: vec![HOOKS_KEY.to_owned(), group.event.as_str().to_owned()],
        entry: (None, group.value.clone()),
    }
}

/// Reads the events and their groups. Fails on a duplicate event, of which the client would ignore one.
fn read_events(document: &EditableDocument<'_>) -> Result<Vec<EventGroups>, MalformedFile> {
    let outline = &document.outline;
    let (hooks, depth) = document.resolve_path(&[HOOKS_KEY.to_owned()], JsonType::Object)?;
    let mut events: Vec<EventGroups> = Vec::new();
    for item in if depth == 1 { outline.items(&hooks) } else { Vec::new() } {
        let name = item.key.clone().unwrap_or_default();
        if events.iter().any(|event| event.name == name) {
            return Err(document.duplicate_key_error(&item, &name));
        }
        if outline.json_type(&item.value) != JsonType::List {
            let what = format!("`{name}` must be an array of matcher groups, `[ … ]`");
            return Err(MalformedFile::at_offset(outline.text, item.value.start, what));
        }
        let groups = outline.items(&item.value).into_iter();
        let groups = groups.map(|group| ExistingGroup::parse(outline, group.range)).collect();
        events.push(EventGroups { name, groups });
    }
    Ok(events)
}

/// Collects the replacements and removals of our handlers for an event.
fn plan_event_changes(
    document: &EditableDocument<'_>,
    event: &EventGroups,
    missing: &mut Vec<&HookGroup>,
    replaced: &mut Vec<TextEdit>,
    gone: &mut Vec<Range<usize>>,
) {
    let mut of_event = |fits: &dyn Fn(&HookGroup) -> bool| {
        let place =
            missing.iter().position(|group| group.event.as_str() == event.name && fits(group));
        place.map(|place| missing.remove(place))
    };
    // Correct groups are matched first, at any position.
    let right: Vec<bool> = event
        .groups
        .iter()
        .map(|group| of_event(&|wanted| group.is_correct(wanted)).is_some())
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
            replaced.push(document.layout.replace_value(&document.outline, &group.range, value));
        } else {
            gone.push(group.range.clone());
        }
    }
}

impl ExistingGroup {
    fn parse(outline: &JsonOutline<'_>, range: Range<usize>) -> Self {
        let list = outline.member(&range, "hooks").unwrap_or(range.end..range.end);
        let handlers = match outline.json_type(&list) {
            JsonType::List => outline.items(&list),
            JsonType::Object | JsonType::Other => Vec::new(),
        };
        let handlers = handlers.into_iter().map(|item| {
            let value = serde_json::from_str(outline.slice(&item.value)).unwrap_or(Value::Null);
            ExistingHandler { ours: is_our_hook(&value), item }
        });
        Self {
            handlers: handlers.collect(),
            value: serde_json::from_str(outline.slice(&range)).unwrap_or(Value::Null),
            range,
        }
    }

    /// Returns true if the group has the wanted matcher and, of our handlers, exactly the wanted one. It may also have
    /// handlers of others.
    fn is_correct(&self, wanted: &HookGroup) -> bool {
        let ours = self.handlers.iter().filter(|handler| handler.ours).count();
        let handlers = self.value["hooks"].as_array();
        ours == 1
            && self.value.get("matcher") == wanted.value.get("matcher")
            && handlers.is_some_and(|handlers| handlers.contains(&wanted.value["hooks"][0]))
    }
}
