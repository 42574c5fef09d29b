//! Ids of rows: UUIDv7s that are the same on every machine. Users see the last characters.

use std::fmt;
use std::str::FromStr;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::{NoContext, Timestamp, Uuid};

use crate::Time;

/// Number of characters that users see. Four billion values: two rows of one store hardly ever share them.
const SHORT_ID_CHARS: usize = 8;
/// Minimum number of characters that a user has to type; fewer would match by accident.
const MIN_ID_CHARS: usize = 4;

/// The id of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Id(Uuid);

impl Id {
    /// Creates an id. The time only keeps rows together that were written together; the rest is random, so a clock that
    /// was set back creates no duplicate.
    pub fn new(now: Time) -> Self {
        let millis = now.millis().max(0).unsigned_abs();
        let nanos = u32::try_from(millis % 1_000).unwrap_or_default() * 1_000_000;
        Self(Uuid::new_v7(Timestamp::from_unix(NoContext, millis / 1_000, nanos)))
    }

    /// Returns the id that stands for a text which has no id of its own: always the same one for the same text.
    pub(crate) fn for_text(text: &str) -> Self {
        let sum =
            |prefix: &str| rutter_redact::checksum::fnv1a(format!("{prefix}{text}").as_bytes());
        Self(Uuid::from_u64_pair(sum(""), sum("\u{0}")))
    }

    /// Returns the end of the id, which users see. The beginning is the time, which is the same for all rows of a day.
    pub fn short(self) -> String {
        let text = self.0.simple().to_string();
        text[text.len() - SHORT_ID_CHARS..].to_owned()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Id {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        text.parse().map(Self).map_err(|_| InvalidId)
    }
}

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_bytes().as_slice().into())
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Uuid::column_result(value).map(Self)
    }
}

/// The text that a user types to identify a row: the whole id, or a suffix that no other row has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdSuffix(String);

impl IdSuffix {
    /// Returns true if the id ends with this suffix.
    pub fn matches(&self, id: Id) -> bool {
        id.0.simple().to_string().ends_with(&self.0)
    }

    /// Returns the hexadecimal digits without dashes.
    pub(crate) fn hex(&self) -> &str {
        &self.0
    }
}

impl From<Id> for IdSuffix {
    fn from(id: Id) -> Self {
        Self(id.0.simple().to_string())
    }
}

impl fmt::Display for IdSuffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The typed text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "an id must be the last {MIN_ID_CHARS} to 32 hexadecimal digits of a full id, as the \
         lists show it"
)]
pub struct InvalidId;

impl FromStr for IdSuffix {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let hex: String =
            text.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
        let fits =
            (MIN_ID_CHARS..=32).contains(&hex.len()) && hex.bytes().all(|b| b.is_ascii_hexdigit());
        if fits { Ok(Self(hex)) } else { Err(InvalidId) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffix_matches_id() {
        let id = Id::new(Time::from_millis(1_763_208_825_120));
        for text in
            [id.short(), id.to_string(), id.to_string().to_uppercase(), id.short()[4..].to_owned()]
        {
            assert!(text.parse::<IdSuffix>().unwrap().matches(id), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_suffixes() {
        for text in ["", "abc", "xyzw", "0123456789abcdef0123456789abcdef0", "abcd efgh"] {
            assert_eq!(text.parse::<IdSuffix>(), Err(InvalidId), "{text}");
        }
    }

    #[test]
    fn ids_are_unique_and_ordered() {
        let now = Time::from_millis(1_763_208_825_120);
        assert_ne!(Id::new(now), Id::new(now));
        assert!(Id::new(now) < Id::new(Time::from_millis(now.millis() + 1)));
        // A clock before 1970 must not make it fail.
        assert_ne!(Id::new(Time::from_millis(-5)), Id::new(Time::from_millis(-5)));
    }
}
