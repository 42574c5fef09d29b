//! Closed vocabularies: one list defines the type, its spelling everywhere, and an error that lists every value.

use thiserror::Error;

/// A word that is not in the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{found}` is no {what}; the values are: {}", values.join(", "))]
pub struct UnknownChoice {
    /// Name of the vocabulary.
    pub what: &'static str,
    /// The rejected word, redacted and cut to a length that fits a message.
    pub found: String,
    /// The accepted words.
    pub values: &'static [&'static str],
}

impl UnknownChoice {
    pub fn new(what: &'static str, found: &str, values: &'static [&'static str]) -> Self {
        Self { what, found: crate::Clean::new(found).chars().take(60).collect(), values }
    }
}

/// Defines an enum with one spelling per variant: on the command line, in JSON and in the database.
#[macro_export]
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
            /// Spellings of the values.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// Returns the spelling of the value.
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

        impl $crate::macros::serde::Serialize for $name {
            fn serialize<S: $crate::macros::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::macros::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::macros::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as $crate::macros::serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err($crate::macros::serde::de::Error::custom)
            }
        }

        $crate::choice_sql!($name);
    };
}

/// Implements reading from and writing to SQLite for a type that `choice!` defines.
#[cfg(feature = "sqlite")]
#[doc(hidden)]
#[macro_export]
macro_rules! choice_sql {
    ($name:ident) => {
        impl $crate::macros::rusqlite::ToSql for $name {
            fn to_sql(
                &self,
            ) -> $crate::macros::rusqlite::Result<$crate::macros::rusqlite::types::ToSqlOutput<'_>>
            {
                Ok(self.as_str().into())
            }
        }

        impl $crate::macros::rusqlite::types::FromSql for $name {
            fn column_result(
                value: $crate::macros::rusqlite::types::ValueRef<'_>,
            ) -> $crate::macros::rusqlite::types::FromSqlResult<Self> {
                value.as_str()?.parse().map_err(|error| {
                    $crate::macros::rusqlite::types::FromSqlError::Other(Box::new(error))
                })
            }
        }
    };
}

/// Does nothing: the types of `choice!` are stored only in crates that enable the feature `sqlite`.
#[cfg(not(feature = "sqlite"))]
#[doc(hidden)]
#[macro_export]
macro_rules! choice_sql {
    ($name:ident) => {};
}

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
    fn values_round_trip() {
        for wind in Wind::ALL {
            assert_eq!(wind.to_string().parse(), Ok(*wind));
            let json = serde_json::to_string(wind).unwrap();
            assert_eq!(serde_json::from_str::<Wind>(&json).unwrap(), *wind);
        }
    }

    #[test]
    fn error_lists_known_values() {
        let error = "west".parse::<Wind>().unwrap_err();
        assert_eq!(error.to_string(), "`west` is no wind; the values are: north, south");
    }
}
