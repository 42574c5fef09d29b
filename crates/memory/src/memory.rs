//! What a person or an agent asked to remember.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::project::ProjectKey;
use crate::{Clean, Id, Limit, TextError, Time};
use rutter_redact::choice;

/// The most tags that one memory may have.
pub const TAGS: usize = 20;

choice! {
    /// What kind of thing is remembered.
    Category, "category" {
        /// How somebody likes it done.
        Preference = "preference",
        /// Something that is so.
        Fact = "fact",
        /// Something that happened.
        Event = "event",
        /// How a thing is done here.
        Workflow = "workflow",
        /// What surrounds the work.
        Context = "context",
        /// A mistake and its way out.
        Error = "error",
        /// What was decided, and why.
        Decision = "decision",
    }
}

/// Something to remember.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Its identity.
    pub id: Id,
    /// Where it holds; none is everywhere.
    pub project: Option<ProjectKey>,
    /// What kind of thing it is.
    pub category: Category,
    /// What is remembered.
    pub text: Clean,
    /// From 0 to 1.
    pub importance: f64,
    /// Words to find it by.
    pub tags: Vec<Clean>,
    /// When it was written.
    pub created: Time,
    /// When it was last changed.
    pub changed: Time,
}

/// A memory that cannot be kept as it was given.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MemoryError {
    /// Its text or a tag.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Its importance.
    #[error("importance is a number from 0 to 1, not {0}")]
    Importance(f64),
    /// Its tags.
    #[error("there are {0} tags; at most {TAGS} are kept")]
    Tags(usize),
    /// One tag.
    #[error("`{0}` is no tag: letters, digits, `-`, `_` and `.` make one")]
    Tag(String),
}

/// Checks a text for a memory.
pub fn text(text: &str) -> Result<Clean, MemoryError> {
    Ok(Clean::within(text, "the memory", Limit::Memory)?)
}

/// Checks an importance.
pub fn importance(value: f64) -> Result<f64, MemoryError> {
    // Not a number is not in the range either.
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(MemoryError::Importance(value)) }
}

/// Checks tags; the same one twice is one.
pub fn tags<S: AsRef<str>>(tags: &[S]) -> Result<Vec<Clean>, MemoryError> {
    let mut kept: Vec<Clean> = Vec::new();
    for tag in tags {
        let tag = Clean::within(tag.as_ref(), "a tag", Limit::Tag)?;
        if !tag.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)) {
            return Err(MemoryError::Tag(tag.to_string()));
        }
        if !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    if kept.len() > TAGS { Err(MemoryError::Tags(kept.len())) } else { Ok(kept) }
}

/// The importance of a preference that every session of its project begins with.
pub const STANDING_IMPORTANCE: f64 = 1.0;

impl Category {
    /// The importance of a memory whose importance is not given. A preference is meant to be followed from the start.
    pub const fn default_importance(self) -> f64 {
        match self {
            Self::Preference => STANDING_IMPORTANCE,
            _ => 0.5,
        }
    }
}

/// Returns true if two texts have the same words in the same order. Case, spaces and punctuation make no difference.
pub(crate) fn has_same_words(one: &str, other: &str) -> bool {
    let words = |text: &'_ str| -> Vec<String> {
        let words = text.split(|sign: char| !sign.is_alphanumeric());
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    // Most texts differ in the first letter that counts.
    let first = |text: &str| {
        let letter = text.chars().find(|sign| sign.is_alphanumeric());
        letter.map(|sign| sign.to_lowercase().to_string())
    };
    match (first(one), first(other)) {
        // Without words the signs are all there is.
        (None, None) => one.trim() == other.trim(),
        (one_first, other_first) => one_first == other_first && words(one) == words(other),
    }
}

impl Memory {
    /// Holds a memory from elsewhere to the same limits as one that is typed in.
    pub fn check(&self) -> Result<(), MemoryError> {
        text(&self.text)?;
        importance(self.importance)?;
        tags(&self.tags.iter().map(Clean::as_str).collect::<Vec<_>>())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn importance_is_a_share() {
        assert_eq!(importance(0.0), Ok(0.0));
        assert_eq!(importance(1.0), Ok(1.0));
        for wrong in [-0.1, 1.1, f64::INFINITY] {
            assert_eq!(importance(wrong), Err(MemoryError::Importance(wrong)));
        }
        assert!(importance(f64::NAN).is_err());
    }

    #[test]
    fn same_words_ignore_case_space_and_punctuation() {
        for (one, other, expected) in [
            ("Use tabs, not spaces.", "use  tabs not\nSPACES", true),
            ("Use `pnpm`", "use pnpm!", true),
            ("Use tabs, not spaces", "Use spaces, not tabs", false),
            ("Use tabs", "Use tabs here", false),
            ("Python 3.12", "Python 312", false),
            ("naïve Größe", "NAÏVE größe", true),
            ("++", "++ ", true),
            ("++", "--", false),
            ("++", "a", false),
        ] {
            assert_eq!(has_same_words(one, other), expected, "{one}: {other}");
        }
    }

    #[test]
    fn tags_are_words() {
        assert_eq!(tags(&["ci", "ci", "rust-1.95"]).unwrap().len(), 2);
        assert_eq!(tags(&["two words"]), Err(MemoryError::Tag("two words".into())));
        let many: Vec<String> = (0..21).map(|n| format!("t{n}")).collect();
        assert_eq!(tags(&many), Err(MemoryError::Tags(21)));
        assert!(tags(&["x".repeat(51)]).is_err());
    }
}
