//! Phrases that say when a lesson applies, in the words of a user who has the problem again.
//!
//! They are indexed with the lesson's text, so that a prompt finds it that names the symptom in other words.

use thiserror::Error;

use crate::same_words::has_same_words;
use crate::{Clean, Limit, TextError};

/// Maximum number of phrases of a lesson.
pub const MAX_PHRASES: usize = 6;

/// The reason why phrases are invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PhraseError {
    /// A phrase is too long.
    #[error(transparent)]
    Text(#[from] TextError),
    /// There are too many phrases.
    #[error("there are {0} phrases in applies_when; at most {MAX_PHRASES} are allowed")]
    Count(usize),
}

/// Validates phrases. Removes empty ones and duplicates, and puts each on one line.
pub fn validate_phrases<S: AsRef<str>>(phrases: &[S]) -> Result<Vec<Clean>, PhraseError> {
    let mut kept: Vec<Clean> = Vec::new();
    for phrase in phrases {
        let phrase = phrase.as_ref().split_whitespace().collect::<Vec<_>>().join(" ");
        if phrase.is_empty() {
            continue;
        }
        let phrase = Clean::within(&phrase, "a phrase of applies_when", Limit::Phrase)?;
        if !kept.iter().any(|known| has_same_words(known, &phrase)) {
            kept.push(phrase);
        }
    }
    if kept.len() > MAX_PHRASES { Err(PhraseError::Count(kept.len())) } else { Ok(kept) }
}

/// Adds phrases to known ones, without duplicates and up to [`MAX_PHRASES`].
pub(crate) fn unite_phrases(known: &[Clean], added: &[Clean]) -> Vec<Clean> {
    let mut all = known.to_vec();
    for phrase in added {
        if all.len() < MAX_PHRASES && !all.iter().any(|known| has_same_words(known, phrase)) {
            all.push(phrase.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_short_and_distinct() {
        let phrases = validate_phrases(&[" CI hangs\n  forever ", "ci hangs forever!", "", "b"]);
        assert_eq!(phrases.unwrap(), ["CI hangs forever".into(), Clean::from("b")]);
        assert!(validate_phrases(&["ä".repeat(160)]).is_ok());
        assert!(matches!(validate_phrases(&["ä".repeat(161)]), Err(PhraseError::Text(_))));
        let many: Vec<String> = (0..7).map(|n| format!("phrase {n}")).collect();
        assert_eq!(validate_phrases(&many), Err(PhraseError::Count(7)));
    }

    #[test]
    fn united_phrases_stay_within_limit() {
        let clean = |range: std::ops::Range<u32>| -> Vec<Clean> {
            range.map(|n| Clean::new(&format!("phrase {n}"))).collect()
        };
        assert_eq!(unite_phrases(&clean(0..4), &clean(2..9)), clean(0..6));
    }
}
