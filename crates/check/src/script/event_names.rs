//! The events that a text names.

use rutter_contract::EventName;

use crate::adapt::registered_events;

/// Names of events in other documentation.
const OTHER_NAMES: [&str; 2] = ["PreToolCall", "PostToolCall"];

/// Returns the events that a text names.
pub fn find_named_events(text: &str) -> Vec<EventName> {
    EventName::ALL.into_iter().filter(|event| names_event(text, event.as_str())).collect()
}

/// Returns the events that a text names, also by the names of other documentation.
pub fn find_meant_events(text: &str) -> Vec<EventName> {
    let mut events = find_named_events(text);
    for name in OTHER_NAMES.into_iter().filter(|name| names_event(text, name)) {
        let meant = registered_events(name).and_then(|events| events.first().copied());
        events.extend(meant.filter(|meant| !events.contains(meant)));
    }
    events
}

/// Returns true if a text names an event. A name of one word must be quoted, because it may be an ordinary word.
fn names_event(text: &str, event: &str) -> bool {
    let is_one_word = event.chars().filter(char::is_ascii_uppercase).count() < 2;
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    text.match_indices(event).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + event.len()..]);
        let is_quoted = before.ends_with(['"', '\'']) && behind.starts_with(['"', '\'']);
        is_quoted || (!is_one_word && !before.ends_with(is_part) && !behind.starts_with(is_part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_by_whole_names() {
        assert!(names_event("case PreToolUse) deny;;", "PreToolUse"));
        assert!(names_event("if event == 'Stop':", "Stop"));
        assert!(!names_event("# Stop here", "Stop"));
        assert!(!names_event("PostToolUseFailure", "PostToolUse"));
    }

    #[test]
    fn other_names_mean_events() {
        let text = "\"hookEventName\": \"PreToolCall\"";
        assert_eq!(find_named_events(text), []);
        assert_eq!(find_meant_events(text), [EventName::PreToolUse]);
    }
}
