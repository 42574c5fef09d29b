//! Finds the request id in a line that cannot be parsed, so that the waiting client gets an answer.
//!
//! The id can be the last member (the JavaScript SDK writes it there), in a line that is too long to be kept or is not
//! valid UTF-8. So a byte scanner looks for it, which only knows where strings and brackets end. A wrong guess would
//! answer another request, so anything that is not clearly an id is ignored.

use rmcp::model::{NumberOrString, RequestId};
use serde_json::Value;

/// The maximum length of an id, in bytes; a longer one is ignored.
const LONGEST: usize = 200;

/// A scanner for the id of a request.
#[derive(Default)]
pub(super) struct Name {
    /// The number of open brackets.
    depth: usize,
    within: Within,
    part: Part,
    /// The text of the current key or of the id.
    text: Vec<u8>,
    found: Vec<Vec<u8>>,
}

#[derive(Default, PartialEq, Eq)]
enum Within {
    #[default]
    Json,
    Text,
    /// After a backslash.
    Escape,
}

/// The current part of a member of the outermost object.
#[derive(Default, PartialEq, Eq)]
enum Part {
    #[default]
    Key,
    /// The value of `id`.
    Name,
    Value,
}

impl Name {
    /// Scans the next bytes.
    pub(super) fn look(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.see(*byte);
        }
    }

    fn see(&mut self, byte: u8) {
        let outermost = self.depth == 1;
        match (&self.within, byte) {
            (Within::Escape, _) | (Within::Json, b'"') => {
                self.within = Within::Text;
                self.keep(byte);
            }
            (Within::Text, _) => {
                match byte {
                    b'\\' => self.within = Within::Escape,
                    b'"' => self.within = Within::Json,
                    _ => {}
                }
                self.keep(byte);
            }
            (Within::Json, b'{' | b'[') => {
                // Keeping the bracket makes the id invalid: an object or array cannot be one.
                self.keep(byte);
                self.depth += 1;
            }
            (Within::Json, b'}' | b']') => {
                if outermost {
                    self.settle();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            (Within::Json, b':') if outermost => {
                let is_id = self.text.trim_ascii() == br#""id""#;
                self.part = if is_id { Part::Name } else { Part::Value };
                self.text.clear();
            }
            (Within::Json, b',') if outermost => self.settle(),
            (Within::Json, _) => self.keep(byte),
        }
    }

    /// Keeps a byte of a key or of the id.
    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.part != Part::Value && self.text.len() <= LONGEST {
            self.text.push(byte);
        }
    }

    /// Ends a member of the outermost object.
    fn settle(&mut self) {
        let text = std::mem::take(&mut self.text);
        // Two ids are ambiguous; further ones need not be kept.
        if self.part == Part::Name && self.found.len() < 2 {
            self.found.push(text);
        }
        self.part = Part::Key;
    }

    /// Returns the id if there is exactly one.
    pub(super) fn found(&self) -> Option<RequestId> {
        let [text] = self.found.as_slice() else { return None };
        match serde_json::from_slice(text).ok().filter(|_| text.len() <= LONGEST)? {
            Value::Number(number) => number.as_i64().map(NumberOrString::Number),
            Value::String(text) => Some(NumberOrString::String(text.into())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn found(text: &[u8]) -> Value {
        let mut name = Name::default();
        name.look(text);
        match name.found() {
            None => Value::Null,
            Some(NumberOrString::Number(number)) => number.into(),
            Some(NumberOrString::String(text)) => (*text).into(),
        }
    }

    #[test]
    fn a_name_is_found_wherever_it_stands() {
        for (text, name) in [
            (&br#"{"jsonrpc":"2.0","id":7,"params":{"a":"\xff"}}"#[..], json!(7)),
            (
                b"{\"params\":{\"id\":1,\"a\":\"\xff \x00\"}, \"id\" : \"x,}\\\"y\" }",
                json!("x,}\"y"),
            ),
            (br#"{"params":[[[[[[{"id":1}]]]]]],"id":-3}"#, json!(-3)),
            (br#"{"a":"\",\"id\":5,\"","id":6,"b":"#, json!(6)),
            (br#"{"params":"id","id":8}"#, json!(8)),
        ] {
            assert_eq!(found(text), name, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn what_is_not_plainly_a_name_is_none() {
        for text in [
            &br#"{"id":1,"id":2}"#[..],
            br#"{"id":1"#,
            br#"{"id":1.5}"#,
            br#"{"id":{"id":1}}"#,
            br#"{"id":[1]}"#,
            br#"{"id":null}"#,
            b"{\"id\":\"\xff\"}",
            br#"[{"id":1}]"#,
            br#"{"params":{"id":1}}"#,
            br#"{"ID":1}"#,
            br#""id":1"#,
            br#"{"id" "id":1 2}"#,
            b"}}}]]]",
            b"",
        ] {
            assert_eq!(found(text), Value::Null, "{}", String::from_utf8_lossy(text));
        }
        let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(10_000));
        assert_eq!(found(long.as_bytes()), Value::Null);
    }

    proptest! {
        #[test]
        fn it_is_what_a_reader_of_json_finds(
            id in prop_oneof![any::<i64>().prop_map(Value::from), ".{0,20}".prop_map(Value::from)],
            text in any::<String>(),
            last in any::<bool>(),
        ) {
            let rest = json!({ "id": text, "list": [text, { "id": 1 }] });
            let sent = if last {
                format!(r#"{{"params":{rest},"id":{id}}}"#)
            } else {
                format!(r#"{{"id":{id},"params":{rest}}}"#)
            };
            prop_assert_eq!(found(sent.as_bytes()), id);
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            found(&bytes);
        }
    }
}
