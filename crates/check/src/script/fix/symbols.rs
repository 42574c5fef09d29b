//! The symbolic form of an answer: texts and computed values are replaced by symbols, so that the verdict engine can judge
//! and correct an answer whose texts it does not know.

use std::ops::Range;

use rutter_contract::EventName;
use rutter_contract::table::{UNIVERSAL_OUTPUT, event_spec};
use serde_json::{Map, Value};

use super::super::object::TEXT_KEYS;
use super::tree::{SourceKind, SourceNode};

const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

/// Keys whose value is text in answers of other programs.
const FOREIGN_TEXT_KEYS: [&str; 5] =
    ["context", "content", "prompt", "additional_context", "system_message"];

/// Keys that decide, in the contract and in answers of other programs, with the value that is assumed for a computed one.
const DECIDING_KEYS: [(&str, &str); 4] = [
    ("decision", "block"),
    ("action", "block"),
    ("behavior", "deny"),
    ("permissionDecision", "ask"),
];

/// A part of an answer that keeps its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Symbol {
    /// The key of the value.
    pub(super) key: String,
    /// The part that is moved.
    pub(super) inner: Range<usize>,
    /// True for text between quotes, false for an expression.
    pub(super) is_text: bool,
    /// True if a part of it is computed.
    pub(super) is_computed: bool,
}

/// An answer in its symbolic form.
#[derive(Debug, Default)]
pub(super) struct SymbolicAnswer {
    pub(super) value: Value,
    pub(super) symbols: Vec<Symbol>,
    /// The symbol of a computed `permissionDecision`.
    pub(super) decision: Option<usize>,
    /// The symbol of a computed `hookEventName`.
    pub(super) event_name: Option<usize>,
    /// A key whose computed value decides.
    pub(super) computed_key: Option<String>,
    /// A key with a text that neither the contract nor another known program has.
    pub(super) unknown_text: Option<String>,
}

impl SymbolicAnswer {
    pub(super) fn new(node: &SourceNode, event: EventName) -> Self {
        let mut answer = Self::default();
        answer.value = answer.read(node, "", event);
        answer
    }

    fn add(&mut self, node: &SourceNode, key: &str) -> usize {
        let is_text = matches!(node.kind, SourceKind::Text(_));
        let is_computed = !matches!(node.kind, SourceKind::Text(Some(_)) | SourceKind::Literal(_));
        let (key, inner) = (key.to_owned(), node.inner.clone());
        self.symbols.push(Symbol { key, inner, is_text, is_computed });
        self.symbols.len() - 1
    }

    fn add_text(&mut self, node: &SourceNode, key: &str) -> Value {
        let index = self.add(node, key);
        format!("{OPEN}{index}{CLOSE}").into()
    }

    fn read(&mut self, node: &SourceNode, key: &str, event: EventName) -> Value {
        if key == "updatedInput" && !matches!(node.kind, SourceKind::Literal(_)) {
            let symbol = self.add_text(node, key);
            let name = symbol.as_str().unwrap_or_default().to_owned();
            return Value::Object(Map::from_iter([(name, true.into())]));
        }
        match &node.kind {
            SourceKind::Object(members) => {
                let members = members.iter();
                let read = members.map(|member| {
                    (member.key.clone(), self.read(&member.node, &member.key, event))
                });
                Value::Object(read.collect())
            }
            SourceKind::Literal(value) => value.clone(),
            SourceKind::Text(Some(text)) if !is_text_key(key) || text.is_empty() => {
                if !is_name(key, event) {
                    self.unknown_text.get_or_insert_with(|| key.to_owned());
                }
                text.clone().into()
            }
            SourceKind::Text(Some(_)) => self.add_text(node, key),
            SourceKind::Text(None) | SourceKind::Expression => self.read_computed(node, key, event),
        }
    }

    fn read_computed(&mut self, node: &SourceNode, key: &str, event: EventName) -> Value {
        if key == "hookEventName" {
            self.event_name = Some(self.add(node, key));
            return event.as_str().into();
        }
        if let Some((_, assumed)) = DECIDING_KEYS.iter().find(|(name, _)| *name == key) {
            if key == "permissionDecision" && event == EventName::PreToolUse {
                self.decision = Some(self.add(node, key));
            } else {
                self.computed_key.get_or_insert_with(|| key.to_owned());
            }
            return (*assumed).into();
        }
        let own = event_spec(event).output.into_iter().flatten();
        let is_known = UNIVERSAL_OUTPUT.iter().chain(own).any(|field| field.name == key)
            || matches!(key, "ok" | "async" | "interrupt" | "updatedPermissions");
        if is_known && !is_text_key(key) {
            self.computed_key.get_or_insert_with(|| key.to_owned());
        }
        self.add_text(node, key)
    }
}

/// Returns true if the text of a key is a name, and not a sentence of the author.
fn is_name(key: &str, event: EventName) -> bool {
    const NAMES: [&str; 4] = ["type", "hookEventName", "suggested_action", "event"];
    let own = event_spec(event).output.into_iter().flatten();
    NAMES.contains(&key)
        || is_text_key(key)
        || matches!(key, "ok" | "continue" | "suppressOutput" | "async" | "updatedPermissions")
        || DECIDING_KEYS.iter().any(|(name, _)| *name == key)
        || UNIVERSAL_OUTPUT.iter().chain(own).any(|field| field.name == key)
}

/// Returns true if the value of a key is text.
fn is_text_key(key: &str) -> bool {
    TEXT_KEYS.contains(&key) || FOREIGN_TEXT_KEYS.contains(&key)
}

/// A part of a symbolic text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextPart<'a> {
    Text(&'a str),
    Symbol(usize),
}

/// Splits a text into its symbols and the text between them.
pub(super) fn split_symbols(text: &str) -> Vec<TextPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(OPEN) {
        let behind = &rest[open + OPEN.len_utf8()..];
        let Some(close) = behind.find(CLOSE) else { break };
        let Ok(index) = behind[..close].parse() else { break };
        if open > 0 {
            parts.push(TextPart::Text(&rest[..open]));
        }
        parts.push(TextPart::Symbol(index));
        rest = &behind[close + CLOSE.len_utf8()..];
    }
    if !rest.is_empty() {
        parts.push(TextPart::Text(rest));
    }
    parts
}
