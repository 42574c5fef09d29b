//! Points in time: milliseconds in the store, RFC 3339 everywhere else.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use thiserror::Error;

/// The start of year 1 in milliseconds. Earlier years have a notation that not every parser reads.
const MIN_MILLIS: i64 = -62_135_596_800_000;

/// A point in time, to the millisecond, always UTC.
///
/// A clock may be set back during a session, so this type does not assume that a later event has a later time: negative
/// spans become zero, and times that must not go back are set with [`Time::max`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(i64);

impl Time {
    /// Converts milliseconds since 1970; values outside of the calendar become the nearest valid time.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(MIN_MILLIS, Timestamp::MAX.as_second() * 1_000))
    }

    /// Returns the milliseconds since 1970.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Returns the span since an earlier time; zero if that time is in the future.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0).max(0).unsigned_abs())
    }

    /// Returns the time that is earlier by `span`.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.0.saturating_sub(millis))
    }
}

/// Conversion of file times, for example.
impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Self {
        let millis = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => millis(after),
            Err(before) => -millis(before.duration()),
        })
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::from_millisecond(self.0) {
            // Always with milliseconds, so that texts sort by time and columns align.
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The error for a text that is not an RFC 3339 time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a time must be RFC 3339, like 2026-11-15T08:00:00.000Z")]
pub struct ParseTimeError;

impl FromStr for Time {
    type Err = ParseTimeError;

    fn from_str(text: &str) -> Result<Self, ParseTimeError> {
        let time: Timestamp = text.parse().map_err(|_| ParseTimeError)?;
        Ok(Self(time.as_millisecond()))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

    use super::Time;

    impl ToSql for Time {
        fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
            self.0.to_sql()
        }
    }

    impl FromSql for Time {
        fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
            Ok(Self::from_millis(value.as_i64()?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_round_trips() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_763_208_825_120, "2025-11-15T12:13:45.120Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            let time = Time::from_millis(millis);
            assert_eq!(time.to_string(), text);
            let json = serde_json::to_string(&time).unwrap();
            assert_eq!(serde_json::from_str::<Time>(&json).unwrap(), time);
        }
    }

    #[test]
    fn the_ends_of_the_calendar_survive() {
        for millis in [i64::MIN, i64::MAX] {
            let time = Time::from_millis(millis);
            let json = serde_json::to_string(&time).unwrap();
            assert_eq!(serde_json::from_str::<Time>(&json).unwrap(), time, "{json}");
        }
    }

    #[test]
    fn spans_are_never_negative() {
        let (early, late) = (Time::from_millis(1_000), Time::from_millis(5_000));
        assert_eq!(late.since(early), Duration::from_secs(4));
        assert_eq!(early.since(late), Duration::ZERO);
    }
}
