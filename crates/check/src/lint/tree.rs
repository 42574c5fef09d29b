//! The values of a file with the byte range of each key and value.
//!
//! Rules need the position of everything that an author wrote, also of what the client ignores.

use std::ops::Range;

use rutter_contract::javascript::{JsonKind, JsonNode};

use crate::settings::ClientDocument;

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
    /// An object, in order. Of duplicate keys the last value counts.
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
    /// Builds the tree of a document: JSON, or the frontmatter of a markdown file.
    pub fn from_document(document: &ClientDocument) -> Self {
        build_node(document, &document.root)
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

    /// Returns a member of an object.
    pub fn member(&self, key: &str) -> Option<&SourceMember> {
        self.members().iter().rfind(|member| member.key == key)
    }

    /// Returns the value of a member of an object.
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

fn build_node(document: &ClientDocument, node: &JsonNode) -> SourceNode {
    let value = match &node.kind {
        JsonKind::Null => SourceValue::Null,
        JsonKind::Bool(flag) => SourceValue::Bool(*flag),
        JsonKind::Number(number) => SourceValue::Number(number.clone()),
        JsonKind::Text(text) => SourceValue::Text(text.clone()),
        JsonKind::List(items) => {
            SourceValue::List(items.iter().map(|item| build_node(document, item)).collect())
        }
        JsonKind::Object(members) => {
            let spans = document.field_spans(node);
            let members = members.iter().filter_map(|(key, node)| {
                let span = spans.iter().rfind(|span| span.key == *key)?;
                let node = build_node(document, node);
                Some(SourceMember { key: key.clone(), key_range: span.key_range.clone(), node })
            });
            SourceValue::Object(members.collect())
        }
    };
    SourceNode { range: document.value_range(node), value }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rutter_contract::version::Contract;

    use super::*;
    use crate::settings::LoadedDocument;

    fn parse(name: &str, text: &str) -> SourceNode {
        let contract = Contract::newest();
        let loaded = if Path::new(name).extension().is_some_and(|extension| extension == "md") {
            LoadedDocument::parse_frontmatter(Path::new(name), text.as_bytes(), contract)
        } else {
            LoadedDocument::parse(Path::new(name), text.as_bytes())
        };
        let LoadedDocument::Document(document) = loaded else { panic!("{loaded:?}") };
        SourceNode::from_document(&document)
    }

    #[test]
    fn keeps_ranges_of_json() {
        let text = r#"{ "a": [1, "x"], "b" : {"c": true}, "d": null }"#;
        let root = parse("a.json", text);
        let keys: Vec<&str> =
            root.members().iter().map(|member| &text[member.key_range.clone()]).collect();
        assert_eq!(keys, ["\"a\"", "\"b\"", "\"d\""]);
        assert_eq!(&text[root.members()[0].node.items()[1].range.clone()], "\"x\"");
        assert_eq!(&text[root.members()[1].range()], r#""b" : {"c": true}"#);
        assert_eq!(root.get("b").unwrap().get("c").unwrap().flag(), Some(true));
        assert_eq!(root.get("d").unwrap().value, SourceValue::Null);
    }

    #[test]
    fn keeps_ranges_of_frontmatter() {
        let text = "---\nhooks:\n  Stop:\n    - matcher: 'a b'\n---\n";
        let root = parse("/p/.claude/agents/a.md", text);
        let group = &root.get("hooks").unwrap().get("Stop").unwrap().items()[0];
        let member = group.member("matcher").unwrap();
        assert_eq!(&text[member.key_range.clone()], "matcher");
        assert_eq!(&text[member.node.range.clone()], "'a b'");
        assert_eq!(member.node.text(), Some("a b"));
    }
}
