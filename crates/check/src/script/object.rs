//! Object literals of Python, JavaScript and jq, and the answers that a script prints.

use std::ops::Range;

use rutter_contract::table::UNIVERSAL_OUTPUT;
use serde_json::{Map, Number, Value};

use super::tokens::{PLACEHOLDER, Syntax, TokenKind, Tokens};

/// Keys of an answer whose value is text. An expression there is taken for text.
pub(super) const TEXT_KEYS: [&str; 9] = [
    "reason",
    "message",
    "permissionDecisionReason",
    "additionalContext",
    "systemMessage",
    "stopReason",
    "sessionTitle",
    "displayContent",
    "classifierContext",
];

/// Keys of other programs' answers, which the client drops at the top level whatever their values are. An expression there
/// is taken for text, too.
const DROPPED_KEYS: [&str; 6] =
    ["context", "content", "message", "prompt", "type", "permissionDecision"];

/// Depth of nested literals at which the reader gives up.
const MAX_DEPTH: usize = 40;

/// A JSON object that a script prints as its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerLiteral {
    /// Position of the literal in the script.
    pub range: Range<usize>,
    /// The keys of the object.
    pub keys: Vec<String>,
    /// The object. Expressions inside strings, and expressions as values of text keys, are replaced by
    /// [`PLACEHOLDER`]. None if another value is an expression, or if the text is not JSON.
    pub value: Option<Value>,
    /// The printed text, if it is certain except for placeholders.
    pub stdout: Option<String>,
    /// True if `value` or `stdout` has placeholders.
    pub has_placeholders: bool,
    /// The form in the script.
    pub(super) form: AnswerForm,
}

/// The form in which a script has an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerForm {
    /// An object literal of Python or JavaScript.
    Object,
    /// A string of Python or JavaScript with JSON in it.
    Text,
    /// The words behind `echo`.
    Echo,
    /// The words behind `printf`.
    Printf,
    /// The body of a here-document. `is_literal` tells that nothing in it is expanded.
    Heredoc { is_literal: bool },
    /// The filter of `jq -n`.
    JqFilter,
}

impl AnswerLiteral {
    pub(super) fn with_form(self, form: AnswerForm) -> Self {
        Self { form, ..self }
    }

    /// Returns true if the answer denies, asks, blocks or stops.
    pub fn is_denial(&self) -> bool {
        self.value.as_ref().is_some_and(is_denial)
    }

    /// Returns true if the object has a key that the client knows in answers.
    pub fn has_known_key(&self) -> bool {
        self.keys.iter().any(|key| {
            matches!(key.as_str(), "decision" | "reason" | "hookSpecificOutput")
                || UNIVERSAL_OUTPUT.iter().any(|field| field.name == key)
        })
    }
}

/// A value in a literal.
#[derive(Debug)]
pub(super) enum Node {
    Object(Vec<(String, Node)>),
    List(Vec<Node>),
    Scalar(Value),
    /// Text with placeholders.
    Template(String),
    Expression,
}

impl Node {
    /// Returns the node as JSON, and true if it has placeholders. None if a value is unknown.
    fn to_value(&self, key: &str) -> Option<(Value, bool)> {
        match self {
            Self::Scalar(value) => Some((value.clone(), false)),
            Self::Template(text) => {
                TEXT_KEYS.contains(&key).then(|| (Value::String(text.clone()), true))
            }
            Self::Expression => {
                TEXT_KEYS.contains(&key).then(|| (Value::String(PLACEHOLDER.to_owned()), true))
            }
            Self::List(nodes) => {
                let mut has_placeholders = false;
                let mut values = Vec::new();
                for node in nodes {
                    let (value, has) = node.to_value("")?;
                    has_placeholders |= has;
                    values.push(value);
                }
                Some((Value::Array(values), has_placeholders))
            }
            Self::Object(members) => {
                let mut has_placeholders = false;
                let mut map = Map::new();
                for (key, node) in members {
                    let (value, has) = node.to_value(key)?;
                    has_placeholders |= has;
                    map.insert(key.clone(), value);
                }
                Some((Value::Object(map), has_placeholders))
            }
        }
    }

    /// Returns a value of the top level as JSON. An unknown value of a dropped key is a placeholder.
    fn to_top_value(&self, key: &str) -> Option<(Value, bool)> {
        let value = self.to_value(key);
        if value.is_none() && DROPPED_KEYS.contains(&key) {
            return Some((PLACEHOLDER.into(), true));
        }
        value
    }

    /// Returns an object as the answer at `range`. None for other nodes and for the empty object.
    pub(super) fn to_answer(&self, range: Range<usize>) -> Option<AnswerLiteral> {
        let Self::Object(members) = self else { return None };
        if members.is_empty() {
            return None;
        }
        let keys = members.iter().map(|(key, _)| key.clone()).collect();
        let converted: Option<Vec<(String, Value, bool)>> = members
            .iter()
            .map(|(key, node)| node.to_top_value(key).map(|(value, has)| (key.clone(), value, has)))
            .collect();
        let has_placeholders =
            converted.as_ref().is_none_or(|members| members.iter().any(|(.., has)| *has));
        let value = converted.map(|members| {
            Value::Object(members.into_iter().map(|(key, value, _)| (key, value)).collect())
        });
        let stdout = value.as_ref().map(Value::to_string);
        let form = AnswerForm::Object;
        Some(AnswerLiteral { range, keys, value, stdout, has_placeholders, form })
    }
}

fn is_denial(value: &Value) -> bool {
    let specific = value.get("hookSpecificOutput");
    let decision = |name| specific.and_then(|specific| specific.get(name)).and_then(Value::as_str);
    value.get("decision").and_then(Value::as_str).is_some_and(|text| text != "approve")
        || value.get("continue") == Some(&Value::Bool(false))
        || matches!(decision("permissionDecision"), Some("deny" | "ask"))
        || specific
            .and_then(|specific| specific.pointer("/decision/behavior"))
            .is_some_and(|behavior| behavior == "deny")
}

/// Returns true if all placeholders of an answer are in the values of text keys and of dropped keys.
pub(super) fn has_placed_placeholders(answer: &Value) -> bool {
    match answer {
        Value::Object(members) => members.iter().all(|(key, value)| {
            !key.contains(PLACEHOLDER)
                && (DROPPED_KEYS.contains(&key.as_str()) || is_placed_in(value, key))
        }),
        _ => is_placed_in(answer, ""),
    }
}

fn is_placed_in(value: &Value, key: &str) -> bool {
    match value {
        Value::String(text) => !text.contains(PLACEHOLDER) || TEXT_KEYS.contains(&key),
        Value::Array(items) => items.iter().all(|item| is_placed_in(item, "")),
        Value::Object(members) => members
            .iter()
            .all(|(key, value)| !key.contains(PLACEHOLDER) && is_placed_in(value, key)),
        _ => true,
    }
}

/// Reads the literal at a token. Returns it with the index behind it. None for an object whose keys are not certain.
pub(super) fn read_node(tokens: &Tokens<'_>, index: usize) -> Option<(Node, usize)> {
    read_nested(tokens, index, 0)
}

fn read_nested(tokens: &Tokens<'_>, index: usize, depth: usize) -> Option<(Node, usize)> {
    if depth > MAX_DEPTH {
        return None;
    }
    let (node, next) = read_primary(tokens, index, depth)?;
    if is_end_of_value(tokens, next) {
        return Some((node, next));
    }
    // The value continues: an operator, a call or a condition.
    let is_text = matches!(node, Node::Scalar(Value::String(_)) | Node::Template(_));
    let end = end_of_value(tokens, index)?;
    let has_condition = (next..end).any(|at| {
        ["?", "if", "and", "or", "||", "&&", "??", "==", "===", "in"]
            .iter()
            .any(|sign| tokens.is(at, sign))
    });
    if is_text && !has_condition && (tokens.is(next, "+") || tokens.is(next, "%")) {
        return Some((Node::Template(PLACEHOLDER.to_owned()), end));
    }
    Some((Node::Expression, end))
}

fn read_primary(tokens: &Tokens<'_>, index: usize, depth: usize) -> Option<(Node, usize)> {
    let token = tokens.tokens.get(index)?;
    let text = tokens.text(index);
    Some(match &token.kind {
        TokenKind::Text { .. } => {
            // Adjacent strings are one string in Python.
            let (mut joined, mut is_template, mut next) = (String::new(), false, index);
            while let Some(TokenKind::Text { value, has_placeholders }) =
                tokens.tokens.get(next).map(|token| &token.kind)
            {
                joined.push_str(value);
                is_template |= has_placeholders;
                next += 1;
            }
            let node = if is_template {
                Node::Template(joined)
            } else {
                Node::Scalar(Value::String(joined))
            };
            (node, next)
        }
        TokenKind::Number => {
            let number = text.parse::<Number>().ok();
            (number.map_or(Node::Expression, |number| Node::Scalar(number.into())), index + 1)
        }
        TokenKind::Name => {
            let node = match text {
                "true" | "True" => Node::Scalar(true.into()),
                "false" | "False" => Node::Scalar(false.into()),
                "null" | "None" => Node::Scalar(Value::Null),
                _ => Node::Expression,
            };
            (node, index + 1)
        }
        TokenKind::Sign if text == "{" => read_object(tokens, index, depth)?,
        TokenKind::Sign if text == "[" => {
            let mut items = Vec::new();
            let mut at = index + 1;
            loop {
                if tokens.is(at, "]") {
                    break (Node::List(items), at + 1);
                }
                let (item, next) = read_nested(tokens, at, depth + 1)?;
                items.push(item);
                if tokens.is(next, ",") {
                    at = next + 1;
                } else if tokens.is(next, "]") {
                    at = next;
                } else {
                    // A comprehension.
                    return Some((Node::Expression, tokens.closing(index)? + 1));
                }
            }
        }
        TokenKind::Sign if text == "(" => {
            // Parentheses around adjacent strings.
            let (node, next) = read_nested(tokens, index + 1, depth + 1)?;
            if tokens.is(next, ")") {
                (node, next + 1)
            } else {
                (Node::Expression, tokens.closing(index)? + 1)
            }
        }
        TokenKind::Sign | TokenKind::Regex => (Node::Expression, index + 1),
    })
}

fn read_object(tokens: &Tokens<'_>, index: usize, depth: usize) -> Option<(Node, usize)> {
    let mut members: Vec<(String, Node)> = Vec::new();
    let mut at = index + 1;
    loop {
        if tokens.is(at, "}") {
            return Some((Node::Object(members), at + 1));
        }
        let key = match &tokens.tokens.get(at)?.kind {
            TokenKind::Text { value, has_placeholders: false } => value.clone(),
            // In Python, a name is a variable.
            TokenKind::Name if tokens.syntax != Syntax::Python => tokens.text(at).to_owned(),
            _ => return None,
        };
        let is_name = tokens.is_name(at);
        let (node, next) = if tokens.is(at + 1, ":") {
            read_nested(tokens, at + 2, depth + 1)?
        } else if is_name && (tokens.is(at + 1, ",") || tokens.is(at + 1, "}")) {
            (Node::Expression, at + 1)
        } else {
            return None;
        };
        members.push((key.trim_start_matches('$').to_owned(), node));
        at = if tokens.is(next, ",") {
            next + 1
        } else if tokens.is(next, "}") {
            next
        } else {
            return None;
        };
    }
}

fn is_end_of_value(tokens: &Tokens<'_>, index: usize) -> bool {
    index >= tokens.tokens.len()
        || [",", "}", "]", ")", ";"].iter().any(|sign| tokens.is(index, sign))
        || index > 0 && {
            // The end of a statement in Python, and in JavaScript behind a literal.
            let (last, next) = (&tokens.tokens[index - 1], &tokens.tokens[index]);
            last.statement != next.statement
                || tokens.source[last.range.end..next.range.start].contains('\n')
                    && next.kind == TokenKind::Name
        }
}

/// Returns the index of the token that ends the value at `index`.
fn end_of_value(tokens: &Tokens<'_>, index: usize) -> Option<usize> {
    let mut at = index;
    loop {
        match tokens.text(at) {
            "" => return None,
            "(" | "[" | "{" if tokens.tokens[at].kind == TokenKind::Sign => {
                at = tokens.closing(at)? + 1;
            }
            "," | "}" | "]" | ")" | ";" if tokens.tokens[at].kind == TokenKind::Sign => {
                return Some(at);
            }
            _ => at += 1,
        }
    }
}
