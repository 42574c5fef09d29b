//! Byte ranges of the values and fields of a document, for any format that is read into a tree of JSON values.

use std::collections::HashMap;
use std::ops::Range;

use rutter_contract::javascript::{self, JsonKind, JsonNode};

/// A field of an object, with its byte ranges in the text of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldSpan {
    /// The key.
    pub key: String,
    /// The key as written, with its quotes.
    pub key_range: Range<usize>,
    /// The value.
    pub value_range: Range<usize>,
}

/// A key that occurs again in the same object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RepeatedKey {
    /// JSON pointer to the object.
    pub(super) parent: String,
    /// The key.
    pub(super) key: String,
    /// The previous occurrence, from the key to the end of the value.
    pub(super) first: Range<usize>,
    /// The repetition.
    pub(super) second: Range<usize>,
}

/// Byte ranges of all values of a document, by the offsets at which they start.
#[derive(Debug, Clone, Default)]
pub(super) struct DocumentSpans {
    ends: HashMap<usize, usize>,
    fields: HashMap<usize, Vec<FieldSpan>>,
    repeated: Vec<RepeatedKey>,
}

/// The fields of an object that is being read.
#[derive(Debug, Default)]
pub(super) struct ObjectFields {
    list: Vec<FieldSpan>,
    last: HashMap<String, Range<usize>>,
}

/// The fields of an object that is being read, and the key of its next value.
type OpenObject = (ObjectFields, Option<(String, Range<usize>)>);

/// A container that is being read.
struct OpenContainer {
    start: usize,
    /// None for an array.
    object: Option<OpenObject>,
    items: usize,
}

impl DocumentSpans {
    /// Finds the ranges of a valid JSON text, in one pass and without recursion.
    pub(super) fn from_json(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut spans = Self::default();
        let mut open: Vec<OpenContainer> = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let start = at;
            match byte {
                b'{' | b'[' => {
                    let object = (*byte == b'{').then(OpenObject::default);
                    open.push(OpenContainer { start, object, items: 0 });
                    at += 1;
                }
                b'}' | b']' => {
                    at += 1;
                    let Some(closed) = open.pop() else { continue };
                    if let Some((fields, _)) = closed.object {
                        spans.add_object(closed.start, fields);
                    }
                    spans.add_json_value(&mut open, closed.start..at);
                }
                b'"' => {
                    at = string_end(bytes, at);
                    match open.last_mut() {
                        Some(OpenContainer { object: Some((_, key @ None)), .. }) => {
                            let text = text.get(start..at).unwrap_or_default();
                            let name = match javascript::parse_first(text) {
                                Ok((JsonNode { kind: JsonKind::Text(name), .. }, _)) => name,
                                _ => String::new(),
                            };
                            *key = Some((name, start..at));
                        }
                        _ => spans.add_json_value(&mut open, start..at),
                    }
                }
                b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => at += 1,
                _ => {
                    let is_end = |byte: &u8| b"{}[]\",: \t\n\r".contains(byte);
                    at = bytes[at..].iter().position(is_end).map_or(bytes.len(), |end| at + end);
                    spans.add_json_value(&mut open, start..at);
                }
            }
        }
        spans
    }

    fn add_json_value(&mut self, open: &mut [OpenContainer], range: Range<usize>) {
        self.add_value(range.clone());
        let Some((top, above)) = open.split_last_mut() else { return };
        top.items += 1;
        let Some((fields, key)) = &mut top.object else { return };
        let Some((key, key_range)) = key.take() else { return };
        let field = FieldSpan { key, key_range, value_range: range };
        self.add_field(fields, field, || {
            above.iter().map(|one| match &one.object {
                Some((_, Some((key, _)))) => pointer_part(key),
                _ => pointer_part(&one.items.to_string()),
            })
        });
    }

    /// Records the range of a value.
    pub(super) fn add_value(&mut self, range: Range<usize>) {
        self.ends.insert(range.start, range.end);
    }

    /// Records a field of an object that is being read. `path` returns the parts of the JSON pointer to the object.
    pub(super) fn add_field<I: Iterator<Item = String>>(
        &mut self,
        fields: &mut ObjectFields,
        field: FieldSpan,
        path: impl FnOnce() -> I,
    ) {
        let range = field.key_range.start..field.value_range.end;
        if let Some(first) = fields.last.insert(field.key.clone(), range.clone()) {
            let (parent, key) = (path().collect(), field.key.clone());
            self.repeated.push(RepeatedKey { parent, key, first, second: range });
        }
        fields.list.push(field);
    }

    /// Records an object that has been read.
    pub(super) fn add_object(&mut self, start: usize, fields: ObjectFields) {
        self.fields.insert(start, fields.list);
    }

    /// Returns the range of the value that starts at an offset.
    pub(super) fn value_range(&self, at: usize) -> Range<usize> {
        at..self.ends.get(&at).copied().unwrap_or(at)
    }

    /// Returns the fields of the object that starts at an offset, in order and including repeated keys.
    pub(super) fn fields(&self, at: usize) -> &[FieldSpan] {
        self.fields.get(&at).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the repeated keys, in the order of the text.
    pub(super) fn repeated_keys(&self) -> &[RepeatedKey] {
        &self.repeated
    }

    /// Replaces every offset by another one: the starts of ranges, and their ends.
    pub(super) fn map_offsets(
        self,
        map: impl Fn(usize) -> usize,
        map_end: impl Fn(usize) -> usize,
    ) -> Self {
        let range = |range: Range<usize>| {
            let start = map(range.start);
            start..map_end(range.end).max(start)
        };
        let field = |field: FieldSpan| FieldSpan {
            key_range: range(field.key_range),
            value_range: range(field.value_range),
            ..field
        };
        Self {
            ends: self
                .ends
                .into_iter()
                .map(|(start, end)| range(start..end))
                .map(|range| (range.start, range.end))
                .collect(),
            fields: self
                .fields
                .into_iter()
                .map(|(start, list)| (map(start), list.into_iter().map(field).collect()))
                .collect(),
            repeated: self
                .repeated
                .into_iter()
                .map(|one| RepeatedKey {
                    first: range(one.first),
                    second: range(one.second),
                    ..one
                })
                .collect(),
        }
    }
}

/// Replaces the offsets of a tree.
pub(super) fn map_node(node: JsonNode, map: &impl Fn(usize) -> usize) -> JsonNode {
    let kind = match node.kind {
        JsonKind::List(items) => {
            JsonKind::List(items.into_iter().map(|item| map_node(item, map)).collect())
        }
        JsonKind::Object(members) => {
            let members = members.into_iter().map(|(key, node)| (key, map_node(node, map)));
            JsonKind::Object(members.collect())
        }
        kind => kind,
    };
    JsonNode { kind, at: map(node.at) }
}

/// Returns a part of a JSON pointer, with its slash.
pub(super) fn pointer_part(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Returns the end of the string that starts at an offset, or of the text if the string is not closed.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_ranges_of_fields() {
        let text = r#"{"a": [1, {"b" : "x\"y"}], "é":-1e9 }"#;
        let spans = DocumentSpans::from_json(text);
        assert_eq!(spans.value_range(0), 0..text.len());
        let seen: Vec<_> = spans
            .fields(0)
            .iter()
            .map(|field| (&text[field.key_range.clone()], &text[field.value_range.clone()]))
            .collect();
        assert_eq!(seen, [("\"a\"", "[1, {\"b\" : \"x\\\"y\"}]"), ("\"é\"", "-1e9")]);
        let inner = text.find("{\"b").unwrap();
        assert_eq!(spans.fields(inner)[0].key, "b");
        assert_eq!(&text[spans.value_range(inner)], r#"{"b" : "x\"y"}"#);
    }

    #[test]
    fn finds_repeated_keys_at_any_depth() {
        let text = r#"{"a":{"b/c":[0,{"k":1,"k":2,"\u006b":3}]},"a":4}"#;
        let spans = DocumentSpans::from_json(text);
        let found: Vec<_> = spans
            .repeated_keys()
            .iter()
            .map(|one| (&one.parent[..], &text[one.first.clone()], &text[one.second.clone()]))
            .collect();
        let inner = "/a/b~1c/1";
        assert_eq!(found[0], (inner, "\"k\":1", "\"k\":2"));
        assert_eq!(found[1], (inner, "\"k\":2", "\"\\u006b\":3"));
        assert_eq!((found[2].0, found[2].2), ("", "\"a\":4"));
    }

    #[test]
    fn deep_nesting_takes_linear_time() {
        let text = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(DocumentSpans::from_json(&text).value_range(0), 0..400_000);
    }
}
