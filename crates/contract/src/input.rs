//! Types for the payloads that the client writes to a hook's stdin.
//!
//! [`RawPayload`] finds single fields in a payload without allocating a tree, for a hook that must decide within
//! microseconds whether an event concerns it. [`Input`] deserializes a whole payload into the type of its
//! event. The types use the client's field names, have `Option` for fields that the client omits, and keep
//! unknown fields in `unknown`, so that reading and writing a payload loses nothing.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::event::HookEvent;
use crate::name::EventName;

mod choices;
mod events;
mod shapes;
mod wire;

pub use choices::*;
pub use events::*;
pub use shapes::*;
pub use wire::RawPayload;

/// The payload of an event that is not in the table. A newer client may send one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct OtherInput {
    /// All fields of the payload.
    pub fields: Map<String, Value>,
}

impl OtherInput {
    /// Returns the name of the event.
    pub fn hook_event_name(&self) -> &str {
        self.fields.get("hook_event_name").and_then(Value::as_str).unwrap_or_default()
    }
}

/// An error in reading a payload. Unknown events and unknown fields are not errors.
#[derive(Debug)]
pub enum ParseError {
    /// Invalid JSON, or JSON of the wrong types for its event; the message has line and column.
    Json(serde_json::Error),
    /// JSON that is not an object.
    NotAnObject,
    /// An object without a `hook_event_name` that is a string.
    NoEventName,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => {
                write!(f, "the payload could not be read: {}", message_without_data(error))
            }
            Self::NotAnObject => f.write_str("the payload is not a JSON object"),
            Self::NoEventName => f.write_str("the payload has no `hook_event_name`"),
        }
    }
}

impl std::error::Error for ParseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            Self::NotAnObject | Self::NoEventName => None,
        }
    }
}

impl From<serde_json::Error> for ParseError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

impl Input {
    /// Parses a payload from the client's bytes.
    pub fn parse(stdin: &[u8]) -> Result<Self, ParseError> {
        let wire = RawPayload::parse(stdin)?;
        let name = wire.hook_event_name().ok_or(ParseError::NoEventName)?;
        let read = |json: &[u8]| match name.parse::<EventName>() {
            Ok(event) => Self::read(event, json),
            Err(_) => Ok(Self::Other(OtherInput { fields: serde_json::from_slice(json)? })),
        };
        Ok(read(wire.bytes()).or_else(|error| {
            wire::without_lone_surrogates(wire.bytes()).map_or(Err(error), |json| read(&json))
        })?)
    }

    /// Returns the event, or `None` if the table does not have it.
    pub fn event(&self) -> Option<EventName> {
        self.hook_event_name().parse().ok()
    }
}

impl RawPayload<'_> {
    /// Deserializes the whole payload as type `E`; returns `None` if it belongs to another event.
    pub fn parse_as<E: HookEvent>(&self) -> Option<Result<E, ParseError>> {
        if self.hook_event_name()? != E::NAME.as_str() {
            return None;
        }
        let read = serde_json::from_slice(self.bytes());
        let read = read.or_else(|error| {
            wire::without_lone_surrogates(self.bytes())
                .map_or(Err(error), |json| serde_json::from_slice(&json))
        });
        Some(read.map_err(ParseError::from))
    }
}

/// Returns the message of a JSON error without the offending value, which is the user's data.
fn message_without_data(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!("line {}, column {}", error.line(), error.column());
    match error.classify() {
        serde_json::error::Category::Data if !text.starts_with("missing field") => {
            let expected = text.rsplit_once("expected ").map_or("another value", |(_, rest)| rest);
            let expected = expected.split(" at line").next().unwrap_or(expected);
            format!("expected {expected} at {place}")
        }
        _ => text,
    }
}

/// Deserializes a present value: `null` becomes `Some(Null)`, whereas serde's default makes it `None`.
fn deserialize_present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests;
