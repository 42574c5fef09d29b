//! Matching of row texts against the words that a user wants forgotten.

use crate::Clean;
use crate::command_episode::{CommandDifference, CommandEpisode};
use crate::episode::Episode;
use crate::ghap::Ghap;
use crate::memory::Memory;
use crate::outcome::Outcome;

/// Returns the words of a query in lower case.
pub(super) fn query_words(query: &str) -> Vec<String> {
    query.split_whitespace().map(str::to_lowercase).collect()
}

pub(super) fn ghap_texts(ghap: &Ghap) -> Vec<&str> {
    let mut texts: Vec<&str> = vec![&ghap.goal, &ghap.hypothesis, &ghap.action, &ghap.prediction];
    texts.extend(ghap.target.as_deref());
    for revision in &ghap.revisions {
        texts.extend([
            revision.hypothesis.as_str(),
            revision.action.as_str(),
            revision.prediction.as_str(),
        ]);
    }
    texts.extend(ghap.notes.iter().map(|note| note.text.as_str()));
    if let Some(resolution) = &ghap.resolution {
        texts.push(&resolution.result);
        texts.extend(resolution.surprise.as_deref());
        texts.extend(resolution.root_cause.as_ref().map(|cause| cause.text.as_str()));
        let lesson = resolution.lesson.as_ref();
        texts.extend(lesson.and_then(|lesson| lesson.what_worked.as_deref()));
        texts.extend(lesson.and_then(|lesson| lesson.takeaway.as_deref()));
        texts.extend(resolution.applies_when.iter().map(Clean::as_str));
    }
    texts
}

pub(super) fn memory_texts(memory: &Memory) -> Vec<&str> {
    let words = memory.tags.iter().chain(&memory.applies_when);
    std::iter::once(memory.text.as_str()).chain(words.map(Clean::as_str)).collect()
}

pub(super) fn outcome_texts(outcome: &Outcome) -> Vec<&str> {
    let mut texts = vec![outcome.command.as_str(), outcome.runner.as_str()];
    texts.extend(outcome.failing.iter().map(Clean::as_str));
    texts.extend(outcome.signature.as_deref());
    texts
}

pub(super) fn episode_texts(episode: &Episode) -> Vec<&str> {
    let mut texts = vec![
        episode.error.as_str(),
        episode.signature.as_str(),
        episode.selection.program.as_str(),
        episode.selection.folder.as_str(),
    ];
    texts.extend(episode.selection.arguments.iter().map(Clean::as_str));
    texts.extend(episode.test.as_deref());
    texts.extend(episode.scope.as_deref());
    texts.extend(episode.selection.task.as_deref());
    texts.extend(episode.file.as_deref());
    for change in episode.ending.iter().flat_map(|ending| &ending.fix) {
        texts.extend([change.name.as_str(), change.patch.as_str()]);
        texts.extend(change.made_by.as_deref());
        texts.extend(change.reason.as_deref());
    }
    texts
}

/// Returns the texts of a command episode.
pub(super) fn command_texts(episode: &CommandEpisode) -> Vec<&str> {
    let mut texts =
        vec![episode.command.as_str(), &episode.error, &episode.signature, &episode.root];
    if let Some(variant) = episode.variant() {
        let CommandDifference { removed, added, folder, before } = &variant.difference;
        texts.push(&variant.command);
        texts.extend(removed.iter().chain(added).chain(folder).chain(before).map(Clean::as_str));
    }
    texts
}

/// Returns true if every word occurs in one of the texts as a whole word: forgetting `cat` must not forget every
/// category.
pub(super) fn contains_words(texts: &[&str], words: &[String]) -> bool {
    let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
    words.iter().all(|word| texts.iter().any(|text| contains_word(text, word)))
}

fn contains_word(text: &str, word: &str) -> bool {
    let open = |outside: Option<char>, inside: Option<char>| {
        !(outside.is_some_and(char::is_alphanumeric) && inside.is_some_and(char::is_alphanumeric))
    };
    // Try every position, because matches may overlap.
    text.char_indices().any(|(start, _)| {
        text[start..].strip_prefix(word).is_some_and(|rest| {
            open(text[..start].chars().next_back(), word.chars().next())
                && open(rest.chars().next(), word.chars().next_back())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_whole_words_ignoring_case() {
        for (text, word, expected) in [
            ("the Acme client", "acme", true),
            ("acme_corp", "acme", true),
            ("category", "cat", false),
            ("concatenate, cat", "cat", true),
            ("see --force here", "--force", true),
            ("see --forced here", "--force", false),
            ("übung macht", "übung", true),
            ("xa-a-a", "a-a", true),
            ("", "x", false),
        ] {
            assert_eq!(contains_words(&[text], &[word.to_owned()]), expected, "{text} / {word}");
        }
    }

    #[test]
    fn all_words_required_across_fields() {
        let words = ["acme".to_owned(), "invoice".to_owned()];
        assert!(contains_words(&["the acme client", "wants an Invoice"], &words));
        assert!(!contains_words(&["the acme client"], &words));
    }
}
