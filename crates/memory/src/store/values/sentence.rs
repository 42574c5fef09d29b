//! Sentences, and comparisons of their meaning.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::Clean;
use crate::value;
use rutter_search::cluster::{Axis, MeanDirection};
use rutter_search::embed::{Vector, embed};

/// Minimum similarity of texts about exactly the same subject.
const MIN_SAME_SIMILARITY: f32 = 0.8;
/// Minimum similarity of texts about the same subject, which may say the opposite.
const MIN_SUBJECT_SIMILARITY: f32 = 0.45;
/// Words without meaning in a comparison.
const FILLER_WORDS: [&str; 9] =
    ["a", "an", "the", "all", "and", "please", "always", "just", "also"];
/// Words with an order that matters: swapping the text before and after them changes the meaning.
const ORDER_WORDS: [&str; 26] = [
    "before", "after", "over", "under", "instead", "than", "rather", "from", "to", "into", "with",
    "without", "until", "unless", "except", "but", "only", "if", "when", "while", "not", "no",
    "never", "or", "above", "below",
];
/// Maximum number of additional words in a sentence that says the same as another.
const MAX_EXTRA_WORDS: usize = 2;

/// The mean of sentences. It does not depend on the store, so that sentences with the same meaning are recognised
/// everywhere.
pub(super) static SENTENCE_MEAN: LazyLock<MeanDirection> =
    LazyLock::new(|| MeanDirection::from_texts(Axis::Surprise, []));

/// Returns the vector of a text without the mean of all texts.
pub(super) fn centered_vector(common: &MeanDirection, text: &str) -> Option<Vector> {
    common.subtract_from(&embed(text)?)
}

/// A sentence.
pub(crate) struct Sentence {
    pub(crate) text: Clean,
    /// Vector without the mean of sentences; None if none of the words is known.
    pub(crate) vector: Option<Vector>,
}

impl Sentence {
    pub(crate) fn new(text: &Clean) -> Self {
        Self { text: text.clone(), vector: centered_vector(&SENTENCE_MEAN, text) }
    }

    /// Returns the similarity of two sentences.
    fn nearness(&self, other: &Self) -> f32 {
        match (&self.vector, &other.vector) {
            (Some(one), Some(other)) => one.cosine(other),
            _ => 0.0,
        }
    }

    /// Returns true if both say the same with the same words, or with a few more. Similarity alone is not enough:
    /// `raise the size` and `lower the size` have nearly the same vector. The order counts if a word such as `before`
    /// depends on it.
    pub(super) fn says_same(&self, other: &Self) -> bool {
        if value::are_opposed(&self.text, &other.text)
            || numbers_in(&self.text) != numbers_in(&other.text)
        {
            return false;
        }
        let (one, another) = (content_words(&self.text), content_words(&other.text));
        if one == another {
            return true;
        }
        let parts =
            |words: &[String]| words.iter().any(|word| ORDER_WORDS.contains(&word.as_str()));
        if parts(&one) || parts(&another) || one.is_empty() || another.is_empty() {
            return false;
        }
        let (one, another): (BTreeSet<&String>, BTreeSet<&String>) =
            (one.iter().collect(), another.iter().collect());
        let (few, many) = if one.len() < another.len() { (one, another) } else { (another, one) };
        few.is_subset(&many)
            && many.len() - few.len() <= MAX_EXTRA_WORDS
            && self.nearness(other) >= MIN_SAME_SIMILARITY
    }

    /// Returns true if showing one makes the other unnecessary.
    pub(super) fn makes_redundant(&self, other: &Self) -> bool {
        self.says_same(other) || self.nearness(other) >= MIN_SAME_SIMILARITY
    }

    /// Returns true if both are about the same subject, even if they disagree.
    pub(super) fn is_about(&self, other: &Self) -> bool {
        self.nearness(other) >= MIN_SUBJECT_SIMILARITY
    }

    /// Returns true if both are about the same subject and seem to say the opposite.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        value::are_opposed(&self.text, &other.text) && self.is_about(other)
    }
}

/// Returns the words of a sentence without fillers.
fn content_words(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !(sign.is_alphanumeric() || "'\u{2019}_".contains(sign)));
    let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.filter(|word| !FILLER_WORDS.contains(&word.as_str())).collect()
}

/// Returns every word of a text in lower case, so that punctuation and capitals make no difference.
pub(super) fn lowercase_words(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Returns the numbers in a text: three times is not five times.
fn numbers_in(text: &str) -> BTreeSet<&str> {
    text.split(|sign: char| !sign.is_ascii_digit()).filter(|number| !number.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Sentence {
        Sentence::new(&Clean::new(text))
    }

    #[test]
    fn recognises_same_meaning() {
        let same = |one: &str, other: &str| said(one).says_same(&said(other));
        assert!(same("Pin the dependencies.", "pin the  dependencies"));
        assert!(same(
            "pin direct dependencies and commit the lock file",
            "commit the lock file and pin all direct dependencies",
        ));
        assert!(!same("mock the payment client", "never mock the payment client"));
        assert!(!same("pin direct dependencies", "release the connection in finally"));
        assert!(!same("raise the size of the pool", "lower the size of the pool"));
        assert!(!same("retry 3 times", "retry 5 times"));
        for (one, other) in [
            ("prefer a lock over a flag", "prefer a flag over a lock"),
            ("log the error before the retry", "log the error after the retry"),
            ("use a pool instead of a thread", "use a thread instead of a pool"),
            ("write it with the lock held", "write it without the lock held"),
            (
                "After an error, release it in finally",
                "After an error, never release it in finally",
            ),
        ] {
            assert!(!same(one, other), "{one} | {other}");
            assert!(same(one, &one.to_uppercase()), "{one}");
        }
        assert!(!same(
            "release it in a finally block",
            "Don\u{2019}t release it in a finally block"
        ));
    }

    #[test]
    fn contradiction_needs_same_subject() {
        let against = |one: &str, other: &str| said(one).contradicts(&said(other));
        assert!(against("always mock the payment client", "never mock the payment client"));
        assert!(!against("pin direct dependencies", "never hold the connection"));
        assert!(!against("never mock the payment client", "do not mock the payment client"));
    }
}
