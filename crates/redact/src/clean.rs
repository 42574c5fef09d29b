//! Text that may be written down.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use crate::escape::without_sequences;
use crate::{redact, redact_by_line};

/// Text without secrets.
///
/// The store, the spool and the log take nothing else, and there is no way to make one that goes around
/// [`redact`]: reading one from JSON redacts as well, so an import or a spool file of an older version with fewer
/// rules cannot bring a secret in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(transparent)]
pub struct Clean(String);

impl Clean {
    /// Takes the secrets out. Control characters go as well, but for line breaks and tabs: stored text is shown on
    /// terminals, and an escape sequence in it could act there.
    pub fn new(text: &str) -> Self {
        Self(redact(&visible_text(text)).into_owned())
    }

    /// The same with as many lines as before, so that each line can be told by its number.
    pub fn by_line(text: &str) -> Self {
        Self(redact_by_line(&visible_text(text)).into_owned())
    }

    /// The same, held to a limit: not empty, and not so long that it would have to be cut.
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

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text without control characters, but for line breaks and tabs.
fn visible_text(text: &str) -> Cow<'_, str> {
    let visible = |c: char| !c.is_control() || c == '\n' || c == '\t';
    if text.chars().all(visible) {
        return Cow::Borrowed(text);
    }
    let text = without_sequences(&text.replace("\r\n", "\n"));
    Cow::Owned(text.chars().filter(|c| visible(*c)).collect())
}

/// How long a text may be, in characters.
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
}

impl Limit {
    /// The number of characters.
    pub const fn characters(self) -> usize {
        match self {
            Self::Short => 1_000,
            Self::Long => 2_000,
            Self::Memory => 10_000,
            Self::Tag => 50,
        }
    }
}

/// A text that cannot be taken as it is. Nothing is cut silently.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextError {
    /// Nothing in it.
    #[error("{what} is empty; say what it is")]
    Empty {
        /// Which text.
        what: &'static str,
    },
    /// Too much in it.
    #[error("{what} has {length} characters; at most {limit} are kept, so shorten it")]
    TooLong {
        /// Which text.
        what: &'static str,
        /// How long it is.
        length: usize,
        /// How long it may be.
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
    fn limits_count_characters_and_say_both_numbers() {
        assert_eq!(
            Clean::within("  ", "the goal", Limit::Short),
            Err(TextError::Empty { what: "the goal" })
        );
        assert!(Clean::within(&"ä".repeat(1_000), "the goal", Limit::Short).is_ok());
        let error = Clean::within(&"ä".repeat(1_001), "the goal", Limit::Short).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the goal has 1001 characters; at most 1000 are kept, so shorten it"
        );
    }

    #[test]
    fn what_a_terminal_would_act_on_is_left_out() {
        assert_eq!(Clean::new("a\u{1b}[31mred\u{7} \u{9b}2J\tb\r\nc\0").as_str(), "ared \tb\nc");
    }
}
