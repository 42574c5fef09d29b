//! Text that may be stored.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use crate::escape::without_sequences;
use crate::{redact, redact_by_line};

/// Text without secrets.
///
/// The store, the spool and the log accept no other type, and every constructor calls [`redact`]. Deserialization
/// redacts as well, so an import or a spool file of an older version with fewer rules cannot bring a secret in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(transparent)]
pub struct Clean(String);

impl Clean {
    /// Removes secrets, and control characters except line breaks and tabs: stored text is shown on terminals, where an
    /// escape sequence could act.
    pub fn new(text: &str) -> Self {
        Self(redact(&visible_text(text)).into_owned())
    }

    /// Redacts a text and keeps its number of lines, so that lines can be found by number.
    pub fn by_line(text: &str) -> Self {
        Self(redact_by_line(&visible_text(text)).into_owned())
    }

    /// Redacts a text that must be neither empty nor longer than a limit.
    pub fn within(text: &str, what: &'static str, limit: Limit) -> Result<Self, TextError> {
        let text = Self::new(text.trim());
        if text.is_empty() {
            return Err(TextError::Empty { what });
        }
        let length = text.chars().count();
        if length > limit.characters() {
            return Err(TextError::TooLong { what, length, limit: limit.characters() });
        }
        Ok(text)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Removes control characters except line breaks and tabs.
fn visible_text(text: &str) -> Cow<'_, str> {
    let visible = |c: char| !c.is_control() || c == '\n' || c == '\t';
    if text.chars().all(visible) {
        return Cow::Borrowed(text);
    }
    let text = without_sequences(&text.replace("\r\n", "\n"));
    Cow::Owned(text.chars().filter(|c| visible(*c)).collect())
}

/// Maximum length of a text in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A goal, a hypothesis, an action, a prediction, a target.
    Short,
    /// A result, a surprise, a cause, a lesson, a note.
    Long,
    /// A memory.
    Memory,
    /// A tag.
    Tag,
    /// A phrase that says when a lesson applies.
    Phrase,
}

impl Limit {
    /// Returns the number of characters.
    pub const fn characters(self) -> usize {
        match self {
            Self::Short => 1_000,
            Self::Long => 2_000,
            Self::Memory => 10_000,
            Self::Tag => 50,
            Self::Phrase => 160,
        }
    }
}

/// A text that is rejected as it is. No text is cut silently.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextError {
    /// The text is empty.
    #[error("{what} is empty; say what it is")]
    Empty {
        /// Name of the text.
        what: &'static str,
    },
    /// The text is too long.
    #[error("{what} has {length} characters; at most {limit} are allowed, so shorten it")]
    TooLong {
        /// Name of the text.
        what: &'static str,
        /// Its number of characters.
        length: usize,
        /// The accepted number of characters.
        limit: usize,
    },
}

impl Deref for Clean {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Clean {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Clean {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for Clean {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(&Cow::<'de, str>::deserialize(deserializer)?))
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

    use super::Clean;

    impl ToSql for Clean {
        fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
            self.0.to_sql()
        }
    }

    impl FromSql for Clean {
        // Text in the store was redacted when it was written.
        fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
            String::column_result(value).map(Self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_count_characters() {
        assert_eq!(
            Clean::within("  ", "the goal", Limit::Short),
            Err(TextError::Empty { what: "the goal" })
        );
        assert!(Clean::within(&"ä".repeat(1_000), "the goal", Limit::Short).is_ok());
        let error = Clean::within(&"ä".repeat(1_001), "the goal", Limit::Short).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the goal has 1001 characters; at most 1000 are allowed, so shorten it"
        );
    }

    #[test]
    fn removes_terminal_sequences() {
        assert_eq!(Clean::new("a\u{1b}[31mred\u{7} \u{9b}2J\tb\r\nc\0").as_str(), "ared \tb\nc");
    }
}
