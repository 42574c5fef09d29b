//! YAML, read into the same tree as JSON, with byte offsets.
//!
//! Scalars get the types of the YAML 1.2 core schema, as in the client: `no` is a string. Measured on clients 2.1.325
//! and 2.1.197: aliases and merge keys (`<<`) work, and of duplicate keys the last one counts.

use std::collections::HashMap;
use std::ops::Range;

use rutter_contract::javascript::{JsonKind, JsonNode};
use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::spans::{DocumentSpans, FieldSpan, ObjectFields, pointer_part};

/// Depth to which the tree is kept. Deeper containers stay empty, as in the tree of a JSON text.
const MAX_KEPT_DEPTH: usize = 16;
/// Largest number of values that aliases may add. A short text can define an exponential number of them.
const MAX_ALIASED_VALUES: usize = 100_000;
/// Key of a field whose values become fields of the object that contains it.
const MERGE_KEY: &str = "<<";

/// A YAML text as a tree.
#[derive(Debug)]
pub(super) struct YamlTree {
    /// The value. Offsets are those of the text.
    pub(super) root: JsonNode,
    /// The ranges of all values and fields.
    pub(super) spans: DocumentSpans,
}

/// The reason for which a text is not YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct YamlError {
    /// Byte offset.
    pub(super) at: usize,
    /// The parser's message.
    pub(super) message: String,
}

/// Parses a YAML text of one document. Returns a null node for an empty text, and a list for several documents.
pub(super) fn parse_yaml(text: &str) -> Result<YamlTree, YamlError> {
    let offsets = CharacterOffsets::new(text);
    let mut builder = TreeBuilder { text, offsets, ..TreeBuilder::default() };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| YamlError {
            at: builder.offsets.byte(error.marker().index()),
            message: error.info().to_owned(),
        })?;
        builder.add_event(event, span)?;
    }
    let mut roots = builder.roots;
    let root = match roots.len() {
        0 => JsonNode { kind: JsonKind::Null, at: 0 },
        1 => roots.remove(0),
        _ => JsonNode { kind: JsonKind::List(Vec::new()), at: 0 },
    };
    Ok(YamlTree { root, spans: builder.spans })
}

/// The byte offsets of the characters of a text.
#[derive(Debug, Default)]
struct CharacterOffsets {
    /// None for a text in ASCII.
    starts: Option<Vec<usize>>,
    length: usize,
}

impl CharacterOffsets {
    fn new(text: &str) -> Self {
        let starts =
            (!text.is_ascii()).then(|| text.char_indices().map(|(start, _)| start).collect());
        Self { starts, length: text.len() }
    }

    fn byte(&self, character: usize) -> usize {
        let known = self.starts.as_ref().map(|starts| starts.get(character).copied());
        known.unwrap_or(Some(character)).unwrap_or(self.length).min(self.length)
    }
}

#[derive(Default)]
struct TreeBuilder<'a> {
    text: &'a str,
    offsets: CharacterOffsets,
    open: Vec<OpenNode>,
    roots: Vec<JsonNode>,
    spans: DocumentSpans,
    /// The nodes with anchors, with the ends of their ranges.
    anchors: HashMap<usize, (JsonNode, usize)>,
    aliased: usize,
}

/// A container that is being read.
struct OpenNode {
    start: usize,
    anchor: usize,
    /// End of the last value.
    end: usize,
    content: OpenContent,
}

enum OpenContent {
    List(Vec<JsonNode>),
    Object {
        members: Vec<(String, JsonNode)>,
        merged: Vec<JsonNode>,
        fields: ObjectFields,
        key: Option<(String, Range<usize>)>,
    },
}

impl TreeBuilder<'_> {
    fn add_event(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        let start = self.offsets.byte(span.start.index());
        let end = self.offsets.byte(span.end.index()).max(start);
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                let tag = tag.as_ref().filter(|tag| tag.is_yaml_core_schema());
                let is_text = style != ScalarStyle::Plain
                    || tag.is_some_and(|tag| tag.suffix == "str")
                    || self.text.get(start..end).is_some_and(|text| text.starts_with('!'));
                let text = value.into_owned();
                let kind = if is_text { JsonKind::Text(text.clone()) } else { plain_scalar(&text) };
                self.add_node(JsonNode { kind, at: start }, start..end, Some(text), anchor);
            }
            Event::SequenceStart(anchor, _) => {
                let content = OpenContent::List(Vec::new());
                self.open.push(OpenNode { start, anchor, end: start, content });
            }
            Event::MappingStart(anchor, _) => {
                let content = OpenContent::Object {
                    members: Vec::new(),
                    merged: Vec::new(),
                    fields: ObjectFields::default(),
                    key: None,
                };
                self.open.push(OpenNode { start, anchor, end: start, content });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close_container(end),
            Event::Alias(anchor) => {
                let Some((node, _)) = self.anchors.get(&anchor) else {
                    let message = "an alias stands inside its own anchor".to_owned();
                    return Err(YamlError { at: start, message });
                };
                let depth = self.open.len() + node_height(node);
                let node = if depth > MAX_KEPT_DEPTH { empty_node(node) } else { node.clone() };
                self.aliased += count_nodes(&node);
                if self.aliased > MAX_ALIASED_VALUES {
                    let message = "aliases repeat too many values".to_owned();
                    return Err(YamlError { at: start, message });
                }
                let key = node.text().map(str::to_owned);
                self.add_node(node, start..end, key, 0);
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn close_container(&mut self, event_end: usize) {
        let Some(open) = self.open.pop() else { return };
        // The end of a block is only known as the start of what follows it.
        let first = self.text.as_bytes().get(open.start);
        let end = if matches!(first, Some(b'{' | b'[')) { event_end } else { open.end };
        let kind = match open.content {
            OpenContent::List(items) => JsonKind::List(items),
            OpenContent::Object { mut members, merged, fields, .. } => {
                self.spans.add_object(open.start, fields);
                for (key, node) in merged.into_iter().flat_map(merged_members) {
                    if !members.iter().any(|(name, _)| *name == key) {
                        members.push((key, node));
                    }
                }
                JsonKind::Object(members)
            }
        };
        let node = JsonNode { kind, at: open.start };
        self.add_node(node, open.start..end.max(open.start), None, open.anchor);
    }

    /// Adds a value to its container. `key` is its text if it may be a key.
    fn add_node(
        &mut self,
        node: JsonNode,
        range: Range<usize>,
        key: Option<String>,
        anchor: usize,
    ) {
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), range.end));
        }
        let depth = self.open.len();
        let Some((top, above)) = self.open.split_last_mut() else {
            self.spans.add_value(range);
            self.roots.push(node);
            return;
        };
        top.end = top.end.max(range.end);
        match &mut top.content {
            OpenContent::List(items) => {
                add_value_span(&mut self.spans, &node, &range);
                if depth <= MAX_KEPT_DEPTH {
                    items.push(node);
                }
            }
            OpenContent::Object { members, merged, fields, key: name } => {
                let Some((name, key_range)) = name.take() else {
                    *name = Some((key.unwrap_or_default(), range));
                    return;
                };
                add_value_span(&mut self.spans, &node, &range);
                let field = FieldSpan { key: name.clone(), key_range, value_range: range };
                self.spans.add_field(fields, field, || above.iter().map(OpenNode::path_part));
                if depth > MAX_KEPT_DEPTH {
                    return;
                }
                if name == MERGE_KEY && !matches!(node.kind, JsonKind::Text(_)) {
                    merged.push(node);
                } else if let Some((_, old)) = members.iter_mut().find(|(key, _)| *key == name) {
                    *old = node;
                } else {
                    members.push((name, node));
                }
            }
        }
    }
}

impl OpenNode {
    /// Returns the part of a JSON pointer that leads to the open value inside this container.
    fn path_part(&self) -> String {
        match &self.content {
            OpenContent::List(items) => pointer_part(&items.len().to_string()),
            OpenContent::Object { key: Some((key, _)), .. } => pointer_part(key),
            OpenContent::Object { key: None, .. } => String::new(),
        }
    }
}

/// Records the range of a value. An alias keeps the position and range of its anchor.
fn add_value_span(spans: &mut DocumentSpans, node: &JsonNode, range: &Range<usize>) {
    if node.at == range.start {
        spans.add_value(range.clone());
    }
}

/// Returns the members that a merge key adds.
fn merged_members(node: JsonNode) -> Vec<(String, JsonNode)> {
    match node.kind {
        JsonKind::Object(members) => members,
        JsonKind::List(items) => items
            .into_iter()
            .flat_map(|item| match item.kind {
                JsonKind::Object(members) => members,
                _ => Vec::new(),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the value of a plain scalar by the core schema.
fn plain_scalar(text: &str) -> JsonKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return JsonKind::Null,
        "true" | "True" | "TRUE" => return JsonKind::Bool(true),
        "false" | "False" | "FALSE" => return JsonKind::Bool(false),
        _ => {}
    }
    let digits = |prefix, radix| {
        let digits = text.strip_prefix(prefix)?;
        u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
    };
    if let Some(number) = digits("0x", 16).or_else(|| digits("0o", 8)) {
        return JsonKind::Number(number.to_string());
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let starts =
        unsigned.strip_prefix('.').unwrap_or(unsigned).starts_with(|c: char| c.is_ascii_digit());
    let is_number = starts && unsigned.bytes().all(|b| b.is_ascii_digit() || b"eE+-.".contains(&b));
    if is_number && let Ok(number) = text.parse::<f64>() {
        let plain = text.strip_prefix('+').unwrap_or(text);
        let is_json = rutter_contract::javascript::parse(plain).is_ok();
        let number = if is_json { plain.to_owned() } else { number.to_string() };
        return JsonKind::Number(number);
    }
    JsonKind::Text(text.to_owned())
}

fn count_nodes(node: &JsonNode) -> usize {
    1 + match &node.kind {
        JsonKind::List(items) => items.iter().map(count_nodes).sum(),
        JsonKind::Object(members) => members.iter().map(|(_, node)| count_nodes(node)).sum(),
        _ => 0_usize,
    }
}

fn node_height(node: &JsonNode) -> usize {
    1 + match &node.kind {
        JsonKind::List(items) => items.iter().map(node_height).max().unwrap_or_default(),
        JsonKind::Object(members) => {
            members.iter().map(|(_, node)| node_height(node)).max().unwrap_or_default()
        }
        _ => 0,
    }
}

/// Returns a container without its content.
fn empty_node(node: &JsonNode) -> JsonNode {
    let kind = match &node.kind {
        JsonKind::List(_) => JsonKind::List(Vec::new()),
        JsonKind::Object(_) => JsonKind::Object(Vec::new()),
        kind => kind.clone(),
    };
    JsonNode { kind, at: node.at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_bytes() {
        let text = "é: x\nhooks:\n  Stop:\n    - matcher: \"ü\"\n      hooks: [{a: 1}]\n";
        let tree = parse_yaml(text).unwrap();
        let group = tree.root.pointer("/hooks/Stop/0").unwrap();
        assert_eq!(&text[group.at..group.at + 7], "matcher");
        let matcher = group.get("matcher").unwrap();
        assert_eq!(&text[tree.spans.value_range(matcher.at)], "\"ü\"");
        let entry = group.pointer("/hooks/0").unwrap();
        assert_eq!(&text[tree.spans.value_range(entry.at)], "{a: 1}");
        let fields: Vec<_> = tree
            .spans
            .fields(group.at)
            .iter()
            .map(|field| &text[field.key_range.clone()])
            .collect();
        assert_eq!(fields, ["matcher", "hooks"]);
        assert_eq!(text[tree.spans.value_range(group.at)].lines().count(), 2);
    }

    #[test]
    fn scalars_have_core_types() {
        let text =
            "[no, yes, True, ~, '', 5, 0x10, -1.5e3, .5, 1.2.3, '5', !!str 6, +7, e5, 1_000]";
        let tree = parse_yaml(text).unwrap();
        let JsonKind::List(items) = &tree.root.kind else { panic!() };
        let kinds: Vec<_> = items.iter().map(|item| item.kind.name()).collect();
        let (text, number) = ("string", "number");
        assert_eq!(
            kinds,
            [
                text, text, "boolean", "null", text, number, number, number, number, text, text,
                text, number, text, text
            ]
        );
        assert_eq!(items[6].kind, JsonKind::Number("16".to_owned()));
        assert_eq!(items[8].kind, JsonKind::Number("0.5".to_owned()));
    }

    #[test]
    fn aliases_and_merge_keys_are_resolved() {
        let tree = parse_yaml("a: &x {k: 1, l: 2}\nb: {<<: *x, l: 3}\nc: *x\n").unwrap();
        let number = |path: &str| tree.root.pointer(path).unwrap().kind.clone();
        assert_eq!(number("/b/k"), JsonKind::Number("1".to_owned()));
        assert_eq!(number("/b/l"), JsonKind::Number("3".to_owned()));
        assert_eq!(number("/c/l"), JsonKind::Number("2".to_owned()));
    }

    #[test]
    fn exponential_aliases_are_an_error() {
        let lines = (1..40).map(|number| {
            let last = number - 1;
            format!("a{number}: &a{number} [*a{last}, *a{last}, *a{last}]\n")
        });
        let text: String = std::iter::once("a0: &a0 [1, 1]\n".to_owned()).chain(lines).collect();
        let result = parse_yaml(&text);
        // Deeper ones are cut, so the text is read or refused, but never expanded.
        assert!(result.is_err() || count_nodes(&result.unwrap().root) < 2 * MAX_ALIASED_VALUES);
    }

    #[test]
    fn errors_have_positions() {
        let error = parse_yaml("ü: 1\nx: [1\n").unwrap_err();
        assert!(error.at >= 6 && error.at <= "ü: 1\nx: [1\n".len(), "{error:?}");
        assert!(!error.message.is_empty());
    }

    #[test]
    fn last_duplicate_key_counts() {
        let tree = parse_yaml("a: {k: 1, k: 2}\n").unwrap();
        assert_eq!(tree.root.pointer("/a/k").unwrap().kind, JsonKind::Number("2".to_owned()));
        assert_eq!(tree.spans.repeated_keys()[0].parent, "/a");
    }
}
