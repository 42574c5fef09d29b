//! Memories: texts that a person or an agent asked to remember.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::applies_when::{PhraseError, validate_phrases};
use crate::project::ProjectKey;
use crate::{Clean, Id, Limit, TextError, Time};
use rutter_redact::choice;

/// Maximum number of tags of a memory.
pub const MAX_TAGS: usize = 20;

choice! {
    /// The kind of a memory.
    MemoryCategory, "category" {
        /// A preference of the user.
        Preference = "preference",
        /// A fact.
        Fact = "fact",
        /// An event.
        Event = "event",
        /// The usual way to do something here.
        Workflow = "workflow",
        /// The context of the work.
        Context = "context",
        /// A mistake and its solution.
        Error = "error",
        /// A decision and its reason.
        Decision = "decision",
    }
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Id of the row.
    pub id: Id,
    /// The project in which it holds; everywhere if None.
    pub project: Option<ProjectKey>,
    /// The kind of memory.
    pub category: MemoryCategory,
    /// The text to remember.
    pub text: Clean,
    /// Importance from 0 to 1.
    pub importance: f64,
    /// Words to find it by.
    pub tags: Vec<Clean>,
    /// When it applies, in the words of a user who needs it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applies_when: Vec<Clean>,
    /// Time when it was written.
    pub created: Time,
    /// Time of the last change.
    pub changed: Time,
}

/// The reason why a memory is invalid.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MemoryError {
    /// The text or a tag is empty or too long.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The phrases that say when it applies are invalid.
    #[error(transparent)]
    Phrases(#[from] PhraseError),
    /// The importance is out of range.
    #[error("importance must be a number from 0 to 1, not {0}")]
    Importance(f64),
    /// There are too many tags.
    #[error("there are {0} tags; at most {MAX_TAGS} are allowed")]
    Tags(usize),
    /// A tag has invalid characters.
    #[error("`{0}` is not a tag: use letters, digits, `-`, `_` and `.`")]
    Tag(String),
}

/// Validates the text of a memory.
pub fn validate_memory_text(text: &str) -> Result<Clean, MemoryError> {
    Ok(Clean::within(text, "the memory", Limit::Memory)?)
}

/// Validates an importance.
pub fn validate_importance(value: f64) -> Result<f64, MemoryError> {
    // NaN is not in the range either.
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(MemoryError::Importance(value)) }
}

/// Validates tags and removes duplicates.
pub fn validate_tags<S: AsRef<str>>(tags: &[S]) -> Result<Vec<Clean>, MemoryError> {
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
    if kept.len() > MAX_TAGS { Err(MemoryError::Tags(kept.len())) } else { Ok(kept) }
}

/// Importance of a preference that is shown at the start of every session of its project.
pub const STANDING_IMPORTANCE: f64 = 1.0;

impl MemoryCategory {
    /// Returns the importance of a memory if none is given. A preference should be followed from the start.
    pub const fn default_importance(self) -> f64 {
        match self {
            Self::Preference => STANDING_IMPORTANCE,
            _ => 0.5,
        }
    }
}

impl Memory {
    /// Validates an imported memory like one that is typed in.
    pub fn validate(&self) -> Result<(), MemoryError> {
        validate_memory_text(&self.text)?;
        validate_importance(self.importance)?;
        validate_tags(&self.tags.iter().map(Clean::as_str).collect::<Vec<_>>())?;
        validate_phrases(&self.applies_when)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn importance_is_a_share() {
        assert_eq!(validate_importance(0.0), Ok(0.0));
        assert_eq!(validate_importance(1.0), Ok(1.0));
        for wrong in [-0.1, 1.1, f64::INFINITY] {
            assert_eq!(validate_importance(wrong), Err(MemoryError::Importance(wrong)));
        }
        assert!(validate_importance(f64::NAN).is_err());
    }

    #[test]
    fn tags_are_words() {
        assert_eq!(validate_tags(&["ci", "ci", "rust-1.95"]).unwrap().len(), 2);
        assert_eq!(validate_tags(&["two words"]), Err(MemoryError::Tag("two words".into())));
        let many: Vec<String> = (0..21).map(|n| format!("t{n}")).collect();
        assert_eq!(validate_tags(&many), Err(MemoryError::Tags(21)));
        assert!(validate_tags(&["x".repeat(51)]).is_err());
    }
}
