//! Closed vocabularies: one list makes the type, its spelling everywhere, and an error that names every value.

use thiserror::Error;

/// A word that is not in the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{found}` is no {what}; the values are: {}", values.join(", "))]
pub struct UnknownChoice {
    /// What was to be chosen.
    pub what: &'static str,
    /// What was said, cut to a length that a message can bear.
    pub found: String,
    /// What can be said.
    pub values: &'static [&'static str],
}

impl UnknownChoice {
    pub(crate) fn new(what: &'static str, found: &str, values: &'static [&'static str]) -> Self {
        Self { what, found: crate::Clean::new(found).chars().take(60).collect(), values }
    }
}

/// Defines an enum whose variants have one spelling: on the command line, in JSON and in the database.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$variant_meta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$variant_meta])* $variant),+
        }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// How the values are spelt.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// How it is spelt everywhere.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownChoice;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::UnknownChoice::new($what, text, Self::NAMES)),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                value.as_str()?.parse().map_err(|error| rusqlite::types::FromSqlError::Other(Box::new(error)))
            }
        }
    };
}

pub(crate) use choice;

#[cfg(test)]
#[expect(unreachable_pub, reason = "the macro makes public types")]
mod tests {
    choice! {
        /// For the tests.
        Wind, "wind" {
            /// From the north.
            North = "north",
            /// From the south.
            South = "south",
        }
    }

    #[test]
    fn every_value_reads_as_it_is_written() {
        for wind in Wind::ALL {
            assert_eq!(wind.to_string().parse(), Ok(*wind));
            let json = serde_json::to_string(wind).unwrap();
            assert_eq!(serde_json::from_str::<Wind>(&json).unwrap(), *wind);
        }
    }

    #[test]
    fn an_unknown_value_is_told_the_known_ones() {
        let error = "west".parse::<Wind>().unwrap_err();
        assert_eq!(error.to_string(), "`west` is no wind; the values are: north, south");
    }
}
