//! Where the things of a JSON text stand.
//!
//! The text is read by the contract's own `JSON.parse`, so what is malformed here is what the client refuses, and what
//! it takes (half an emoji, a number beyond all bounds) is taken here.

use std::ops::Range;

use rutter_contract::javascript::{self, Kind, NotJson};

/// An element of an array, or a member of an object.
pub(crate) struct Item {
    /// The key of a member.
    pub(crate) key: Option<String>,
    /// All of it: from the key to the end of the value.
    pub(crate) range: Range<usize>,
    /// Its value.
    pub(crate) value: Range<usize>,
}

/// What a value is, by its first character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Object,
    List,
    Other,
}

/// A JSON text.
#[derive(Clone, Copy)]
pub(crate) struct Outline<'a> {
    pub(crate) text: &'a str,
}

impl<'a> Outline<'a> {
    /// The outline of a text, and its one value.
    pub(crate) fn read(text: &'a str) -> Result<(Self, Range<usize>), NotJson> {
        let root = javascript::parse(text)?;
        Ok((Self { text }, root.at..text.trim_end_matches([' ', '\t', '\n', '\r']).len()))
    }

    pub(crate) fn shape(&self, value: &Range<usize>) -> Shape {
        match self.text.as_bytes().get(value.start) {
            Some(b'{') => Shape::Object,
            Some(b'[') => Shape::List,
            _ => Shape::Other,
        }
    }

    /// What an array or object holds, in order, and a key as often as it is written.
    pub(crate) fn items(&self, container: &Range<usize>) -> Vec<Item> {
        let members = match self.shape(container) {
            Shape::Object => true,
            Shape::List => false,
            Shape::Other => return Vec::new(),
        };
        let mut items = Vec::new();
        let mut at = container.start + 1;
        // The text is known to be JSON, so what is no value any more is the closing bracket.
        while let Some((kind, first)) = self.value_at(at) {
            let (key, value) = match kind {
                Kind::Text(key) if members => {
                    let colon = self.skip_space(first.end);
                    let Some((_, value)) = self.value_at(colon + 1) else { break };
                    (Some(key), value)
                }
                _ => (None, first.clone()),
            };
            let range = first.start..value.end;
            at = self.skip_space(range.end) + 1;
            items.push(Item { key, range, value });
            if at >= container.end {
                break;
            }
        }
        items
    }

    /// The member of an object that counts: the last of its name.
    pub(crate) fn member(&self, object: &Range<usize>, key: &str) -> Option<Range<usize>> {
        let items = self.items(object);
        items.into_iter().rfind(|item| item.key.as_deref() == Some(key)).map(|item| item.value)
    }

    /// The text of a value.
    pub(crate) fn slice(&self, range: &Range<usize>) -> &'a str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// The value that begins at or behind a place.
    fn value_at(&self, at: usize) -> Option<(Kind, Range<usize>)> {
        let (node, end) = javascript::parse_first(self.text.get(at..)?).ok()?;
        Some((node.kind, at + node.at..at + end))
    }

    fn skip_space(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        self.text.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()
    }
}

/// Line and column of a byte, both from 1 and columns in characters, as editors count.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_where_it_stands() {
        let text = "\n{ \"a\" : [1, {\"b\":[]} ,\"\\ud83d\"] ,\"a\":-1e999, \"\\u0063\":{}}\r\n";
        let (outline, root) = Outline::read(text).unwrap();
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

    #[test]
    fn places_are_counted_as_editors_do() {
        assert_eq!(position("", 0), (1, 1));
        assert_eq!(position("a\r\nßc", 3 + 2), (2, 2));
        assert_eq!(position("a\n", 2), (2, 1));
    }
}
