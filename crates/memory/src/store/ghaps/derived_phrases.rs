//! Phrases that nobody wrote: the errors of the run that a GHAP was compared with.
//!
//! A prompt with the same error then finds the lesson. Only an error that tells something, and in other words than the
//! lesson, is worth a phrase. The names of tests and files are left out: prompts about another matter name them too.

use rusqlite::Connection;

use crate::episode::error_words::{count_content, is_content, prose_words};
use crate::store::StoreResult;
use crate::{Clean, Id, Limit};

/// Maximum number of derived phrases of a lesson.
const MAX_DERIVED_PHRASES: usize = 3;
/// Minimum number of different words in an error that say what it is about.
const MIN_TELLING_WORDS: usize = 3;
/// Minimum number of these words that the lesson does not have.
const MIN_NEW_WORDS: usize = 2;
/// Maximum number of failures of a run that are read.
const MAX_READ_FAILURES: u32 = 8;

/// Returns the errors of the failures that a run had or ended, for a lesson with the text `said`.
pub(super) fn derive_phrases(
    connection: &Connection,
    said: &str,
    outcome: Id,
) -> StoreResult<Vec<Clean>> {
    let mut errors = connection.prepare_cached(
        "SELECT DISTINCT error FROM episode JOIN (SELECT id AS run FROM outcome WHERE uid = ?1)
         WHERE first = run OR last = run OR closed = run ORDER BY episode.id LIMIT ?2",
    )?;
    let errors = errors.query_map((outcome, MAX_READ_FAILURES), |row| row.get(0))?;
    let known: Vec<String> = prose_words(said).collect();
    let mut phrases: Vec<Clean> = Vec::new();
    for error in errors {
        let error: Clean = error?;
        if phrases.len() < MAX_DERIVED_PHRASES && is_telling(&error, &known) {
            phrases.extend(shorten_to_phrase(&error).filter(|phrase| !phrases.contains(phrase)));
        }
    }
    Ok(phrases)
}

/// Returns true if an error says what it is about, and not only in words that are `known`.
fn is_telling(error: &str, known: &[String]) -> bool {
    // The type of an error names a class, not a situation.
    let is_type = |word: &String| word.ends_with("error") || word.ends_with("exception");
    let mut words: Vec<String> = prose_words(error).filter(|word| !is_type(word)).collect();
    if count_content(&words) < MIN_TELLING_WORDS {
        return false;
    }
    words.retain(|word| is_content(word) && !known.contains(word));
    count_content(&words) >= MIN_NEW_WORDS
}

/// Returns the whole words of an error that a phrase has room for; None if there are none.
fn shorten_to_phrase(error: &str) -> Option<Clean> {
    let mut text = String::new();
    let mut length = 0;
    for word in error.split_whitespace() {
        length += word.chars().count() + usize::from(!text.is_empty());
        if length > Limit::Phrase.characters() {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    (!text.is_empty()).then(|| Clean::new(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telling_errors_are_chosen() {
        let known: Vec<String> = prose_words("the pool of redis clients leaks").collect();
        for (error, telling) in [
            ("redis.exceptions.ConnectionError: max number of clients reached", true),
            ("AssertionError: assert 3 == 1", false),
            ("ValueError: redis clients pool", false),
            ("KeyError: 'total'", false),
            ("", false),
        ] {
            assert_eq!(is_telling(error, &known), telling, "{error}");
        }
    }

    #[test]
    fn phrase_has_whole_words() {
        let long = "überlauf ".repeat(40);
        let phrase = shorten_to_phrase(&long).unwrap();
        assert!(phrase.chars().count() <= Limit::Phrase.characters(), "{phrase}");
        assert!(phrase.ends_with("überlauf") && phrase.len() > 100, "{phrase}");
        assert_eq!(shorten_to_phrase("a\n b"), Some(Clean::new("a b")));
        assert_eq!(shorten_to_phrase(&"x".repeat(161)), None);
    }
}
