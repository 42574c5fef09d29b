//! Finds the request id in a line that cannot be parsed, so that the waiting client gets an answer.
//!
//! The id can be the last member (the JavaScript SDK writes it there), in a line that is too long to be kept or is not
//! valid UTF-8. So a byte scanner looks for it, which only knows where strings and brackets end. A wrong guess would
//! answer another request, so anything that is not clearly an id is ignored.

use rmcp::model::{NumberOrString, RequestId};
use serde_json::Value;

/// The maximum length of an id, in bytes; a longer one is ignored.
const MAX_ID_BYTES: usize = 200;

/// A scanner for the id of a request.
#[derive(Default)]
pub(super) struct RequestIdScanner {
    /// The number of open brackets.
    depth: usize,
    within: ScanState,
    part: MemberPart,
    /// The text of the current key or of the id.
    text: Vec<u8>,
    found: Vec<Vec<u8>>,
}

#[derive(Default, PartialEq, Eq)]
enum ScanState {
    #[default]
    Json,
    Text,
    /// After a backslash.
    Escape,
}

/// The current part of a member of the outermost object.
#[derive(Default, PartialEq, Eq)]
enum MemberPart {
    #[default]
    Key,
    /// The value of `id`.
    Name,
    Value,
}

impl RequestIdScanner {
    /// Scans the next bytes.
    pub(super) fn scan(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.scan_byte(*byte);
        }
    }

    fn scan_byte(&mut self, byte: u8) {
        let outermost = self.depth == 1;
        match (&self.within, byte) {
            (ScanState::Escape, _) | (ScanState::Json, b'"') => {
                self.within = ScanState::Text;
                self.push_byte(byte);
            }
            (ScanState::Text, _) => {
                match byte {
                    b'\\' => self.within = ScanState::Escape,
                    b'"' => self.within = ScanState::Json,
                    _ => {}
                }
                self.push_byte(byte);
            }
            (ScanState::Json, b'{' | b'[') => {
                // Keeping the bracket makes the id invalid: an object or array cannot be one.
                self.push_byte(byte);
                self.depth += 1;
            }
            (ScanState::Json, b'}' | b']') => {
                if outermost {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            (ScanState::Json, b':') if outermost => {
                let is_id = self.text.trim_ascii() == br#""id""#;
                self.part = if is_id { MemberPart::Name } else { MemberPart::Value };
                self.text.clear();
            }
            (ScanState::Json, b',') if outermost => self.end_member(),
            (ScanState::Json, _) => self.push_byte(byte),
        }
    }

    /// Keeps a byte of a key or of the id.
    fn push_byte(&mut self, byte: u8) {
        if self.depth == 1 && self.part != MemberPart::Value && self.text.len() <= MAX_ID_BYTES {
            self.text.push(byte);
        }
    }

    /// Ends a member of the outermost object.
    fn end_member(&mut self) {
        let text = std::mem::take(&mut self.text);
        // Two ids are ambiguous; further ones need not be kept.
        if self.part == MemberPart::Name && self.found.len() < 2 {
            self.found.push(text);
        }
        self.part = MemberPart::Key;
    }

    /// Returns the id if there is exactly one.
    pub(super) fn request_id(&self) -> Option<RequestId> {
        let [text] = self.found.as_slice() else { return None };
        match serde_json::from_slice(text).ok().filter(|_| text.len() <= MAX_ID_BYTES)? {
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

    fn request_id(text: &[u8]) -> Value {
        let mut name = RequestIdScanner::default();
        name.scan(text);
        match name.request_id() {
            None => Value::Null,
            Some(NumberOrString::Number(number)) => number.into(),
            Some(NumberOrString::String(text)) => (*text).into(),
        }
    }

    #[test]
    fn finds_id_at_any_position() {
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
            assert_eq!(request_id(text), name, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn ignores_ambiguous_ids() {
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
            assert_eq!(request_id(text), Value::Null, "{}", String::from_utf8_lossy(text));
        }
        let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(10_000));
        assert_eq!(request_id(long.as_bytes()), Value::Null);
    }

    proptest! {
        #[test]
        fn agrees_with_json_parser(
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
            prop_assert_eq!(request_id(sent.as_bytes()), id);
        }

        #[test]
        fn survives_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            request_id(&bytes);
        }
    }
}
