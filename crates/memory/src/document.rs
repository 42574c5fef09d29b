//! Turns rows of the memory into searchable texts, one for each axis.

use crate::episode::{Episode, How};
use crate::ghap::Ghap;
use crate::memory::Memory;
pub use rutter_search::document::{Axis, Kind};

/// The texts of a row by axis.
pub type Texts = Vec<(Axis, String)>;

/// Returns the text of a memory.
pub(crate) fn of_memory(memory: &Memory) -> Texts {
    let tags: Vec<&str> = memory.tags.iter().map(crate::Clean::as_str).collect();
    vec![(Axis::Full, joined(&[&memory.text, &tags.join(" ")]))]
}

/// Returns the texts of a resolved GHAP. An open GHAP has no lesson yet and returns none.
pub fn of_ghap(ghap: &Ghap) -> Texts {
    let Some(resolution) = &ghap.resolution else { return Vec::new() };
    let or_none =
        |text: Option<&crate::Clean>| text.map(crate::Clean::as_str).unwrap_or_default().to_owned();
    let surprise = or_none(resolution.surprise.as_ref());
    let cause = resolution.root_cause.as_ref();
    let cause_text = or_none(cause.map(|cause| &cause.text));
    let lesson = resolution.lesson.as_ref();
    let worked = or_none(lesson.and_then(|lesson| lesson.what_worked.as_ref()));
    let takeaway = or_none(lesson.and_then(|lesson| lesson.takeaway.as_ref()));
    let full = joined(&[
        &ghap.goal,
        &ghap.hypothesis,
        &ghap.action,
        &ghap.prediction,
        &resolution.result,
        &surprise,
        &cause_text,
        &worked,
        &takeaway,
    ]);
    let mut texts = vec![(Axis::Full, full)];
    let strategy = ghap.strategy.as_str().replace('-', " ");
    texts.push((
        Axis::Strategy,
        joined(&[&strategy, &ghap.goal, &ghap.action, &resolution.result, &worked]),
    ));
    if !surprise.is_empty() {
        texts.push((Axis::Surprise, surprise));
    }
    if let Some(cause) = cause {
        texts.push((
            Axis::RootCause,
            joined(&[&cause.category.as_str().replace('-', " "), &cause_text]),
        ));
    }
    texts
}

/// Returns the text of a fixed episode. Other episodes are never shown and return none.
pub(crate) fn of_episode(episode: &Episode) -> Texts {
    let Some(ending) = episode.ending.as_ref().filter(|ending| ending.how == How::Fixed) else {
        return Vec::new();
    };
    let mut parts: Vec<&str> = Vec::new();
    parts.extend(episode.test.as_deref());
    parts.push(&episode.error);
    parts.extend(episode.file.as_deref());
    for change in &ending.fix {
        parts.push(&change.name);
        parts.push(&change.patch);
    }
    vec![(Axis::Full, joined(&parts))]
}

fn joined(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("\n")
}
