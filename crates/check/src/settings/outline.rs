//! The positions of values in a JSON text.
//!
//! The text is parsed by the contract's `JSON.parse`, so this module accepts and rejects the same texts as the client.
//! It also accepts lone surrogates and numbers out of range.

use std::ops::Range;

use rutter_contract::javascript::{self, JsonKind, JsonNode, JsonSyntaxError};

/// An element of an array, or a member of an object.
#[derive(Debug)]
pub struct JsonItem {
    /// The key of a member.
    pub key: Option<String>,
    /// The whole item: from the key to the end of the value.
    pub range: Range<usize>,
    /// The value without the key.
    pub value: Range<usize>,
}

/// The type of a value, by its first character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonType {
    /// An object.
    Object,
    /// An array.
    List,
    /// Any other value.
    Other,
}

/// A JSON text.
#[derive(Debug, Clone, Copy)]
pub struct JsonOutline<'a> {
    /// The whole text.
    pub text: &'a str,
}

impl<'a> JsonOutline<'a> {
    /// Parses a text, and returns its outline and the range of its root value.
    pub fn parse(text: &'a str) -> Result<(Self, Range<usize>), JsonSyntaxError> {
        let root = javascript::parse(text)?;
        Ok((Self { text }, root.at..text.trim_end_matches([' ', '\t', '\n', '\r']).len()))
    }

    /// Returns the type of the value at a range.
    pub fn json_type(&self, value: &Range<usize>) -> JsonType {
        match self.text.as_bytes().get(value.start) {
            Some(b'{') => JsonType::Object,
            Some(b'[') => JsonType::List,
            _ => JsonType::Other,
        }
    }

    /// Returns the items of an array or object, in order and including duplicate keys.
    pub fn items(&self, container: &Range<usize>) -> Vec<JsonItem> {
        let members = match self.json_type(container) {
            JsonType::Object => true,
            JsonType::List => false,
            JsonType::Other => return Vec::new(),
        };
        let mut items = Vec::new();
        let mut at = self.skip_space(container.start + 1);
        // The text is valid JSON, so the ends of values can be found without parsing them again.
        while at + 1 < container.end {
            let start = at;
            let mut value = start..self.value_end(start);
            let mut key = None;
            if members {
                key = match javascript::parse_first(self.slice(&value)) {
                    Ok((JsonNode { kind: JsonKind::Text(key), .. }, _)) => Some(key),
                    _ => break,
                };
                let colon = self.skip_space(value.end);
                value.start = self.skip_space(colon + 1);
                value.end = self.value_end(value.start);
            }
            at = self.skip_space(self.skip_space(value.end) + 1);
            items.push(JsonItem { key, range: start..value.end, value });
        }
        items
    }

    /// Returns the effective member of an object: the last one with this key.
    pub fn member(&self, object: &Range<usize>, key: &str) -> Option<Range<usize>> {
        let items = self.items(object);
        items.into_iter().rfind(|item| item.key.as_deref() == Some(key)).map(|item| item.value)
    }

    /// Returns the text of a range.
    pub fn slice(&self, range: &Range<usize>) -> &'a str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Returns the end of the value that begins at this offset.
    fn value_end(&self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth) = (start, 0_usize);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    at += 1;
                    while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                    if depth == 0 {
                        return at + 1;
                    }
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' | b',' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return at,
                b'}' | b']' if depth == 1 => return at + 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        bytes.len()
    }

    fn skip_space(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        self.text.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_item_ranges() {
        let text = "\n{ \"a\" : [1, {\"b\":[]} ,\"\\ud83d\"] ,\"a\":-1e999, \"\\u0063\":{}}\r\n";
        let (outline, root) = JsonOutline::parse(text).unwrap();
        assert_eq!(outline.slice(&root), text.trim());
        let items = outline.items(&root);
        let seen: Vec<_> = items
            .iter()
            .map(|item| (item.key.as_deref().unwrap(), outline.slice(&item.value)))
            .collect();
        assert_eq!(seen, [("a", "[1, {\"b\":[]} ,\"\\ud83d\"]"), ("a", "-1e999"), ("c", "{}")]);
        assert_eq!(outline.slice(&items[1].range), "\"a\":-1e999");
        let inner: Vec<_> =
            outline.items(&items[0].value).iter().map(|item| outline.slice(&item.range)).collect();
        assert_eq!(inner, ["1", "{\"b\":[]}", "\"\\ud83d\""]);
        assert_eq!(outline.member(&root, "a"), Some(items[1].value.clone()));
        assert!(outline.items(&items[1].value).is_empty());
        assert!(outline.items(&items[2].value).is_empty());
    }
}
