//! The values of a file with the byte range of each key and value.
//!
//! Rules need the position of everything that an author wrote, also of what the client ignores. Duplicate keys are kept.

use std::ops::Range;

use rutter_contract::javascript::{self, JsonKind, JsonNode};

use crate::settings::{JsonOutline, JsonType};

/// Depth to which values are kept. Hooks are six levels deep.
const MAX_TREE_DEPTH: usize = 12;

/// A value and its range in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceNode {
    /// The byte range of the value.
    pub range: Range<usize>,
    /// The value.
    pub value: SourceValue,
}

/// A value with positions.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as written.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<SourceNode>),
    /// An object, in order and with duplicate keys.
    Object(Vec<SourceMember>),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceMember {
    /// The key.
    pub key: String,
    /// The byte range of the key, with its quotes.
    pub key_range: Range<usize>,
    /// The value.
    pub node: SourceNode,
}

impl SourceMember {
    /// Returns the range from the key to the end of the value.
    pub fn range(&self) -> Range<usize> {
        self.key_range.start..self.node.range.end
    }
}

impl SourceNode {
    /// Builds the tree of a JSON text. Returns None if the text is not JSON.
    pub fn parse_json(text: &str) -> Option<Self> {
        let (outline, root) = JsonOutline::parse(text).ok()?;
        Some(build_node(&outline, root, MAX_TREE_DEPTH))
    }

    /// Returns the members of an object; empty for other values.
    pub fn members(&self) -> &[SourceMember] {
        match &self.value {
            SourceValue::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns the items of an array; empty for other values.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            SourceValue::List(items) => items,
            _ => &[],
        }
    }

    /// Returns the effective member of an object: the last one with this key.
    pub fn member(&self, key: &str) -> Option<&SourceMember> {
        self.members().iter().rfind(|member| member.key == key)
    }

    /// Returns the value of the effective member of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.member(key).map(|member| &member.node)
    }

    /// Returns the text of a string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            SourceValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a boolean.
    pub fn flag(&self) -> Option<bool> {
        match self.value {
            SourceValue::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    /// Returns a number.
    pub fn number(&self) -> Option<f64> {
        match &self.value {
            SourceValue::Number(number) => number.parse().ok(),
            _ => None,
        }
    }

    /// Returns true if the value is an object.
    pub fn is_object(&self) -> bool {
        matches!(self.value, SourceValue::Object(_))
    }
}

fn build_node(outline: &JsonOutline<'_>, range: Range<usize>, depth: usize) -> SourceNode {
    let deeper = depth.checked_sub(1);
    let value = match (outline.json_type(&range), deeper) {
        (JsonType::Object, Some(deeper)) => {
            let members = outline.items(&range).into_iter().filter_map(|item| {
                let key_range = item.range.start..key_end(outline, item.range.start);
                let node = build_node(outline, item.value, deeper);
                Some(SourceMember { key: item.key?, key_range, node })
            });
            SourceValue::Object(members.collect())
        }
        (JsonType::List, Some(deeper)) => {
            let items = outline.items(&range);
            let items = items.into_iter().map(|item| build_node(outline, item.value, deeper));
            SourceValue::List(items.collect())
        }
        (JsonType::Object, None) => SourceValue::Object(Vec::new()),
        (JsonType::List, None) => SourceValue::List(Vec::new()),
        (JsonType::Other, _) => match javascript::parse(outline.slice(&range)) {
            Ok(JsonNode { kind: JsonKind::Text(text), .. }) => SourceValue::Text(text),
            Ok(JsonNode { kind: JsonKind::Number(number), .. }) => SourceValue::Number(number),
            Ok(JsonNode { kind: JsonKind::Bool(flag), .. }) => SourceValue::Bool(flag),
            _ => SourceValue::Null,
        },
    };
    SourceNode { range, value }
}

/// Returns the end of the key that begins at an offset.
fn key_end(outline: &JsonOutline<'_>, start: usize) -> usize {
    let rest = outline.text.get(start..).unwrap_or_default();
    javascript::parse_first(rest).map_or(start, |(_, length)| start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_ranges_and_duplicate_keys() {
        let text = r#"{ "a": [1, "x"], "b" : {"c": true}, "a": null }"#;
        let root = SourceNode::parse_json(text).unwrap();
        let keys: Vec<&str> =
            root.members().iter().map(|member| &text[member.key_range.clone()]).collect();
        assert_eq!(keys, ["\"a\"", "\"b\"", "\"a\""]);
        assert_eq!(root.get("a").unwrap().value, SourceValue::Null);
        assert_eq!(&text[root.members()[0].node.items()[1].range.clone()], "\"x\"");
        assert_eq!(&text[root.members()[1].range()], r#""b" : {"c": true}"#);
        assert_eq!(root.get("b").unwrap().get("c").unwrap().flag(), Some(true));
        assert_eq!(SourceNode::parse_json("{,}"), None);
    }

    #[test]
    fn deep_values_are_cut() {
        let text = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let mut node = &SourceNode::parse_json(&text).unwrap();
        let mut depth = 0;
        while let Some(inner) = node.items().first() {
            (node, depth) = (inner, depth + 1);
        }
        assert_eq!(depth, MAX_TREE_DEPTH);
    }
}
