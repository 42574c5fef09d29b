//! The event counts of the last days, and registered events that never occurred.

use rutter_contract::EventName;
use rutter_hooks::tally::{self, DAYS};
use rutter_memory::Time;
use serde::Serialize;

use super::codes;
use super::entry::Entry;
use super::finding::Finding;
use super::memory::strange_files;
use crate::environment::Environment;

/// Count of another event above which the absence of an event is significant.
const OFTEN: u64 = 100;

/// The events of every session of some length. Other events need a subagent or a long conversation.
const USUAL: [EventName; 7] = [
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
pub(crate) struct Came {
    pub(crate) event: EventName,
    pub(crate) times: u64,
    pub(crate) last: Time,
}

/// Returns the counts of all events. Adds a finding for each registered event that never occurred while others did.
pub(crate) fn examine(
    env: &Environment,
    entries: &[&Entry],
    findings: &mut Vec<Finding>,
) -> Vec<Came> {
    // The check of the data directory reports an unreadable file.
    let files = env.files();
    let strange = strange_files(&files).contains(&files.tally());
    let seen = if strange { Vec::new() } else { tally::read(&files, env.now).unwrap_or_default() };
    let came: Vec<Came> = seen
        .into_iter()
        .map(|seen| Came { event: seen.event, times: seen.times, last: seen.last })
        .collect();
    let most = came.iter().max_by_key(|came| came.times).filter(|came| came.times >= OFTEN);
    let Some(most) = most else { return came };
    for event in USUAL {
        let registered = entries.iter().any(|entry| entry.event == event);
        let times = came.iter().find(|came| came.event == event).map_or(0, |came| came.times);
        if registered && times == 0 {
            let what = format!("{event}: never seen in {DAYS} days, {} {}", most.times, most.event);
            findings.push(Finding::new(&codes::EVENT_UNSEEN, what));
        }
    }
    came
}
