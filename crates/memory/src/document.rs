//! Turns rows of the memory into searchable texts, one for each axis.

use crate::Clean;
use crate::episode::{Episode, EpisodeEndingKind};
use crate::ghap::Ghap;
use crate::memory::Memory;
pub use rutter_search::document::{Axis, DocumentKind};

/// The texts of a row by axis.
pub type AxisTexts = Vec<(Axis, String)>;

/// Returns the text of a memory.
pub(crate) fn memory_texts(memory: &Memory) -> AxisTexts {
    let tags: Vec<&str> = memory.tags.iter().map(Clean::as_str).collect();
    let phrases = join_phrases(&memory.applies_when);
    vec![(Axis::Full, join_nonempty(&[&memory.text, &tags.join(" "), &phrases]))]
}

/// Returns the texts of a resolved GHAP. An open GHAP has no lesson yet and returns none.
pub fn ghap_texts(ghap: &Ghap) -> AxisTexts {
    let Some(resolution) = &ghap.resolution else { return Vec::new() };
    let or_none = |text: Option<&Clean>| text.map(Clean::as_str).unwrap_or_default().to_owned();
    let surprise = or_none(resolution.surprise.as_ref());
    let cause = resolution.root_cause.as_ref();
    let cause_text = or_none(cause.map(|cause| &cause.text));
    let lesson = resolution.lesson.as_ref();
    let worked = or_none(lesson.and_then(|lesson| lesson.what_worked.as_ref()));
    let takeaway = or_none(lesson.and_then(|lesson| lesson.takeaway.as_ref()));
    let full = join_nonempty(&[
        &ghap.goal,
        &ghap.hypothesis,
        &ghap.action,
        &ghap.prediction,
        &resolution.result,
        &surprise,
        &cause_text,
        &worked,
        &takeaway,
        &join_phrases(&resolution.applies_when),
    ]);
    let mut texts = vec![(Axis::Full, full)];
    let strategy = ghap.strategy.as_str().replace('-', " ");
    texts.push((
        Axis::Strategy,
        join_nonempty(&[&strategy, &ghap.goal, &ghap.action, &resolution.result, &worked]),
    ));
    if !surprise.is_empty() {
        texts.push((Axis::Surprise, surprise));
    }
    if let Some(cause) = cause {
        texts.push((
            Axis::RootCause,
            join_nonempty(&[&cause.category.as_str().replace('-', " "), &cause_text]),
        ));
    }
    texts
}

/// Returns the text of a fixed episode. Other episodes are never shown and return none.
pub(crate) fn episode_texts(episode: &Episode) -> AxisTexts {
    let Some(ending) =
        episode.ending.as_ref().filter(|ending| ending.how == EpisodeEndingKind::Fixed)
    else {
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
    vec![(Axis::Full, join_nonempty(&parts))]
}

/// Returns the phrases that say when a row applies, one in each line. They end its text on the axis `full`.
pub(crate) fn join_phrases(phrases: &[Clean]) -> String {
    phrases.iter().map(Clean::as_str).collect::<Vec<_>>().join("\n")
}

fn join_nonempty(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("\n")
}
