//! The client's search for guard hooks, those of PreToolUse and PermissionRequest, in places where it does not load them.

use rutter_contract::EventName;
use rutter_contract::javascript::{JsonKind, JsonNode};

/// Depth to which the client searches for guard hooks in unexpected places.
pub(super) const MAX_GUARD_SEARCH_DEPTH: usize = 3;

/// Returns true if the client knows an event.
pub(super) fn is_event_name(name: &str) -> bool {
    name.parse::<EventName>().is_ok()
}

/// Returns true if an event guards permissions. The client skips a whole file rather than a single guard hook.
pub(super) fn is_guard_event(event: &str) -> bool {
    matches!(event, "PreToolUse" | "PermissionRequest")
}

/// Returns true if a value may contain hooks.
pub(super) fn may_hold_hooks(node: &JsonNode) -> bool {
    !matches!(&node.kind, JsonKind::Null)
        && !matches!(&node.kind, JsonKind::List(items) if items.is_empty())
}

/// Returns true if a value looks like a matcher group.
pub(super) fn looks_like_group(node: &JsonNode) -> bool {
    let has_matcher = node.get("matcher").is_some();
    if !has_matcher && node.members().iter().any(|(key, _)| is_event_name(key)) {
        return false;
    }
    match node.get("hooks") {
        Some(JsonNode { kind: JsonKind::List(items), .. }) => !items.is_empty(),
        Some(hooks @ JsonNode { kind: JsonKind::Object(_), .. }) => {
            has_matcher || hooks.get("type").and_then(JsonNode::text).is_some()
        }
        _ => false,
    }
}

/// Returns true if a value contains guard hooks or, with `groups`, anything that looks like a matcher group.
pub(super) fn holds_guards(
    node: &JsonNode,
    depth: usize,
    groups: bool,
    unsearched: &[&str],
    in_hooks: bool,
) -> bool {
    let named =
        node.members().iter().any(|(key, value)| is_guard_event(key) && may_hold_hooks(value));
    if named || (groups && looks_like_group(node)) {
        return true;
    }
    let Some(deeper) = depth.checked_sub(1) else { return false };
    match &node.kind {
        JsonKind::List(items) => {
            items.iter().any(|item| holds_guards(item, deeper, groups, unsearched, in_hooks))
        }
        JsonKind::Object(_) if in_hooks && node.get("type").and_then(JsonNode::text).is_some() => {
            false
        }
        JsonKind::Object(members) => members.iter().any(|(key, value)| {
            let in_hooks = key == "hooks" && matches!(value.kind, JsonKind::List(_));
            !unsearched.contains(&key.as_str())
                && holds_guards(value, deeper, groups && !is_event_name(key), unsearched, in_hooks)
        }),
        _ => false,
    }
}
