//! A payload's top-level keys and raw values, without decoding.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::ParseError;
use crate::{javascript, replace_lone_surrogates};

/// The top level of a payload, borrowed from stdin.
#[derive(Debug)]
pub struct RawPayload<'a> {
    bytes: &'a [u8],
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> RawPayload<'a> {
    /// Parses the top level of a payload. The whole text must be JSON; nested values stay raw.
    pub fn parse(stdin: &'a [u8]) -> Result<Self, ParseError> {
        let stdin = stdin.strip_prefix("\u{feff}".as_bytes()).unwrap_or(stdin);
        let first = stdin.iter().find(|byte| !byte.is_ascii_whitespace());
        if first.is_some_and(|byte| *byte != b'{') {
            // An array or a number is JSON too: parse the text to distinguish it from invalid JSON.
            serde_json::from_slice::<serde::de::IgnoredAny>(stdin)?;
            return Err(ParseError::NotAnObject);
        }
        let WireFields(fields) = serde_json::from_slice(stdin)?;
        Ok(Self { bytes: stdin, fields })
    }

    /// Skims the beginning of a payload that was cut off or is no JSON further on: the top-level fields before that place.
    pub fn parse_head(stdin: &'a [u8]) -> Self {
        let stdin = stdin.strip_prefix("\u{feff}".as_bytes()).unwrap_or(stdin);
        let mut fields = Vec::new();
        // The error says where the payload ends, which is known.
        let mut json = serde_json::Deserializer::from_slice(stdin);
        drop(FieldsVisitor(&mut fields).deserialize(&mut json));
        Self { bytes: stdin, fields }
    }

    /// Returns the payload's bytes, without a byte order mark.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the raw text of a field. Of duplicate keys the last one counts, as in the client.
    pub fn raw(&self, key: &str) -> Option<&'a str> {
        self.fields.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.get())
    }

    /// Returns a field that is a string.
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw(key)?;
        let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
        if inner.contains('\\') {
            let node = javascript::parse(raw).ok()?;
            node.text().map(|text| Cow::Owned(text.to_owned()))
        } else {
            Some(Cow::Borrowed(inner))
        }
    }

    /// Returns the name of the event, in the table or not.
    pub fn hook_event_name(&self) -> Option<Cow<'a, str>> {
        self.text("hook_event_name")
    }

    /// Returns the top-level keys in their original order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(key, _)| &**key)
    }
}

/// Returns a copy of a JSON text without lone surrogates, or `None` if it has none.
pub(super) fn without_lone_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let mut copy = json.to_vec();
    replace_lone_surrogates(&mut copy).then_some(copy)
}

struct WireFields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for WireFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // No payload that was captured has more top-level keys.
        let mut fields = Vec::with_capacity(20);
        FieldsVisitor(&mut fields).deserialize(deserializer)?;
        Ok(Self(fields))
    }
}

/// Collects the fields of an object. Those before an error stay.
struct FieldsVisitor<'f, 'a>(&'f mut Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> DeserializeSeed<'de> for FieldsVisitor<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FieldsVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((WireKey(key), value)) = map.next_entry::<WireKey<'de>, &'de RawValue>()? {
            self.0.push((key, value));
        }
        Ok(())
    }
}

/// A key, borrowed unless it has escapes; deserializing a plain `Cow` would always copy.
struct WireKey<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for WireKey<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = WireKey<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(WireKey(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(WireKey(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(KeyVisitor)
    }
}
