//! The event counts of the last days, and registered events that never occurred.

use rutter_check::settings::HookEntry;
use rutter_contract::EventName;
use rutter_hooks::event_counts::{self, COUNTED_DAYS};
use rutter_memory::Time;
use serde::Serialize;

use super::codes;
use super::finding::DoctorFinding;
use super::memory::find_special_files;
use crate::environment::Environment;

/// Count of another event above which the absence of an event is significant.
const MIN_SIGNIFICANT_EVENTS: u64 = 100;

/// The events of every session of some length. Other events need a subagent or a long conversation.
const USUAL_EVENTS: [EventName; 7] = [
    EventName::SessionStart,
    EventName::UserPromptSubmit,
    EventName::PreToolUse,
    EventName::PostToolUse,
    EventName::PostToolUseFailure,
    EventName::Stop,
    EventName::SessionEnd,
];

/// An event, its count in the last fortnight, and the time of its last occurrence.
#[derive(Debug, Serialize)]
pub(crate) struct ObservedEvent {
    pub(crate) event: EventName,
    pub(crate) times: u64,
    pub(crate) last: Time,
}

/// Returns the counts of all events. Adds a finding for each registered event that never occurred while others did.
pub(crate) fn check_events(
    env: &Environment,
    entries: &[&HookEntry],
    findings: &mut Vec<DoctorFinding>,
) -> Vec<ObservedEvent> {
    // The check of the data directory reports an unreadable file.
    let files = env.data_dir();
    let strange = find_special_files(&files).contains(&files.event_counts());
    let seen = if strange {
        Vec::new()
    } else {
        event_counts::read_event_counts(&files, env.now).unwrap_or_default()
    };
    let came: Vec<ObservedEvent> = seen
        .into_iter()
        .map(|seen| ObservedEvent { event: seen.event, times: seen.times, last: seen.last })
        .collect();
    let most = came
        .iter()
        .max_by_key(|came| came.times)
        .filter(|came| came.times >= MIN_SIGNIFICANT_EVENTS);
    let Some(most) = most else { return came };
    for event in USUAL_EVENTS {
        let registered = entries.iter().any(|entry| entry.event == event);
        let times = came.iter().find(|came| came.event == event).map_or(0, |came| came.times);
        if registered && times == 0 {
            let what = format!(
                "{event}: not received in {COUNTED_DAYS} days, {} {}",
                most.times, most.event
            );
            findings.push(DoctorFinding::new(&codes::EVENT_UNSEEN, what));
        }
    }
    came
}
