//! The object literal of an answer with the places of its keys and values.

use std::ops::Range;

use serde_json::Value;

use super::super::ScriptLanguage;
use super::super::object::{AnswerForm, AnswerLiteral, Node, read_node};
use super::super::tokens::{Syntax, TokenKind, Tokens, tokenize};
use super::decoded::{DecodedText, Quoting};

/// The language in which an object is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// JSON inside a text.
    Json { quoting: Quoting, is_printf: bool, has_last_comma: bool },
    /// A literal of a program. `quote` is that of its strings; None for bare keys.
    Program { syntax: Syntax, quote: char, has_bare_keys: bool },
}

/// A value in the script.
#[derive(Debug)]
pub(super) struct SourceNode {
    pub(super) kind: SourceKind,
    /// The whole value.
    pub(super) range: Range<usize>,
    /// The part that can be moved: the text between the quotes of JSON, or all of it.
    pub(super) inner: Range<usize>,
}

#[derive(Debug)]
pub(super) enum SourceKind {
    Object(Vec<SourceMember>),
    /// Text. None if a part of it is computed.
    Text(Option<String>),
    /// Another literal value.
    Literal(Value),
    Expression,
}

#[derive(Debug)]
pub(super) struct SourceMember {
    pub(super) key: String,
    pub(super) key_range: Range<usize>,
    pub(super) node: SourceNode,
}

impl SourceNode {
    pub(super) fn members(&self) -> &[SourceMember] {
        match &self.kind {
            SourceKind::Object(members) => members,
            _ => &[],
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&SourceNode> {
        self.members().iter().find(|member| member.key == key).map(|member| &member.node)
    }
}

/// Reads the object of an answer. None if it is not certain where its parts are.
pub(super) fn read_tree(
    source: &str,
    answer: &AnswerLiteral,
    language: ScriptLanguage,
) -> Option<(SourceNode, Dialect)> {
    let range = answer.range.clone();
    let (decoded, is_printf) = match answer.form {
        AnswerForm::Object => {
            let syntax = match language {
                ScriptLanguage::Python => Syntax::Python,
                _ => Syntax::JavaScript,
            };
            return read_program(source, range, syntax);
        }
        AnswerForm::JqFilter => {
            let word = source.get(range.clone())?;
            let is_quoted = word.len() > 2
                && word.starts_with('\'')
                && word.ends_with('\'')
                && !word[1..word.len() - 1].contains('\'');
            return is_quoted
                .then(|| read_program(source, range.start + 1..range.end - 1, Syntax::Jq))?;
        }
        AnswerForm::Echo => (DecodedText::join(DecodedText::from_words(source, range)?), false),
        AnswerForm::Printf => {
            let mut words = DecodedText::from_words(source, range)?.into_iter();
            let format = words.next()?;
            if matches!(format.text.as_str(), "%s" | "%s\\n") {
                (words.next()?, false)
            } else {
                (format.into_printed()?, true)
            }
        }
        AnswerForm::Heredoc { is_literal } => {
            (DecodedText::from_heredoc(source, range, is_literal)?, false)
        }
        AnswerForm::Text => (DecodedText::from_program(source, range)?, false),
    };
    let mut reader = JsonReader { decoded: &decoded, at: 0, quoting: None, has_last_comma: false };
    reader.skip_space();
    let node = reader.read_value()?;
    reader.skip_space();
    (reader.at == decoded.text.len() && matches!(node.kind, SourceKind::Object(_))).then_some(())?;
    let quoting = reader.quoting.filter(|quoting| *quoting != Quoting::Unquoted)?;
    let has_last_comma = reader.has_last_comma;
    Some((node, Dialect::Json { quoting, is_printf, has_last_comma }))
}

fn read_program(
    source: &str,
    range: Range<usize>,
    syntax: Syntax,
) -> Option<(SourceNode, Dialect)> {
    let tokens = tokenize(source.get(range.clone())?, syntax)?;
    let mut reader = ProgramTree { tokens: &tokens, offset: range.start };
    let (node, end) = reader.read_object(0)?;
    (end == tokens.tokens.len()).then_some(())?;
    let first = node.members().first()?;
    let has_bare_keys = !source.get(first.key_range.clone())?.ends_with(['"', '\'']);
    let texts = tokens.tokens.iter().filter(|token| matches!(token.kind, TokenKind::Text { .. }));
    let quotes = texts.filter_map(|token| tokens.source[token.range.clone()].chars().last());
    let quote = quotes.into_iter().find(|quote| *quote != '`').unwrap_or('"');
    Some((node, Dialect::Program { syntax, quote, has_bare_keys }))
}

struct ProgramTree<'a> {
    tokens: &'a Tokens<'a>,
    offset: usize,
}

impl ProgramTree<'_> {
    fn place(&self, first: usize, end: usize) -> Option<Range<usize>> {
        let tokens = &self.tokens.tokens;
        let (start, end) =
            (tokens.get(first)?.range.start, tokens.get(end.checked_sub(1)?)?.range.end);
        Some(self.offset + start..self.offset + end)
    }

    fn read_object(&mut self, open: usize) -> Option<(SourceNode, usize)> {
        let tokens = self.tokens;
        tokens.is(open, "{").then_some(())?;
        let mut members = Vec::new();
        let mut at = open + 1;
        while !tokens.is(at, "}") {
            let key = match &tokens.tokens.get(at)?.kind {
                TokenKind::Text { value, has_placeholders: false } => value.clone(),
                TokenKind::Name if tokens.syntax != Syntax::Python => tokens.text(at).to_owned(),
                _ => return None,
            };
            let key_range = self.place(at, at + 1)?;
            let (node, next) = if tokens.is(at + 1, ":") {
                self.read_value(at + 2)?
            } else {
                let range = key_range.clone();
                (SourceNode { kind: SourceKind::Expression, inner: range.clone(), range }, at + 1)
            };
            members.push(SourceMember {
                key: key.trim_start_matches('$').to_owned(),
                key_range,
                node,
            });
            at = if tokens.is(next, ",") { next + 1 } else { next };
            (at > next || tokens.is(at, "}")).then_some(())?;
        }
        let range = self.place(open, at + 1)?;
        let kind = SourceKind::Object(members);
        Some((SourceNode { kind, inner: range.clone(), range }, at + 1))
    }

    fn read_value(&mut self, at: usize) -> Option<(SourceNode, usize)> {
        let (node, next) = read_node(self.tokens, at)?;
        if matches!(node, Node::Object(_)) && self.tokens.is(at, "{") {
            return self.read_object(at);
        }
        let range = self.place(at, next)?;
        let kind = match node {
            Node::Scalar(Value::String(text)) => SourceKind::Text(Some(text)),
            Node::Template(_) => SourceKind::Text(None),
            Node::Scalar(value) => SourceKind::Literal(value),
            _ => SourceKind::Expression,
        };
        Some((SourceNode { kind, inner: range.clone(), range }, next))
    }
}

/// A reader for JSON in a decoded text.
struct JsonReader<'a> {
    decoded: &'a DecodedText,
    at: usize,
    /// The quotes around the signs of the object, all of which have the same.
    quoting: Option<Quoting>,
    /// True if a comma follows the last member, which is not JSON.
    has_last_comma: bool,
}

impl JsonReader<'_> {
    fn rest(&self) -> &str {
        &self.decoded.text[self.at..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    /// Consumes a sign of the object.
    fn eat(&mut self, sign: char) -> Option<()> {
        self.rest().starts_with(sign).then_some(())?;
        let quoting = self.decoded.quoting(self.at)?;
        (*self.quoting.get_or_insert(quoting) == quoting).then_some(())?;
        self.at += 1;
        Some(())
    }

    fn read_value(&mut self) -> Option<SourceNode> {
        let start = self.at;
        let (kind, inner) = match self.rest().chars().next()? {
            '{' => (SourceKind::Object(self.read_members()?), None),
            '"' => {
                let (text, inner) = self.read_text()?;
                (SourceKind::Text(text), Some(inner))
            }
            _ if self.decoded.is_expression(self.at) => {
                while self.decoded.is_expression(self.at) {
                    self.at += 1;
                }
                (SourceKind::Expression, None)
            }
            _ => {
                let mut stream =
                    serde_json::Deserializer::from_str(self.rest()).into_iter::<Value>();
                let value = stream.next()?.ok()?;
                let end = self.at + stream.byte_offset();
                let is_certain = (self.at..end).all(|at| !self.decoded.is_expression(at));
                self.at = end;
                let kind = SourceKind::Literal(value);
                (if is_certain { kind } else { SourceKind::Expression }, None)
            }
        };
        let range = self.decoded.source_range(start..self.at)?;
        let inner = inner.unwrap_or_else(|| range.clone());
        Some(SourceNode { kind, range, inner })
    }

    fn read_members(&mut self) -> Option<Vec<SourceMember>> {
        self.eat('{')?;
        let mut members = Vec::new();
        self.skip_space();
        while self.eat('}').is_none() {
            let start = self.at;
            let (key, _) = self.read_text()?;
            let key_range = self.decoded.source_range(start..self.at)?;
            self.skip_space();
            self.eat(':')?;
            self.skip_space();
            let node = self.read_value()?;
            members.push(SourceMember { key: key?, key_range, node });
            self.skip_space();
            if self.eat(',').is_some() {
                self.skip_space();
                self.has_last_comma |= self.rest().starts_with('}');
            } else if !self.rest().starts_with('}') {
                return None;
            }
        }
        Some(members)
    }

    /// Reads a string. Returns its value, None if a part is computed, and the place between its quotes.
    fn read_text(&mut self) -> Option<(Option<String>, Range<usize>)> {
        let open = self.at;
        self.eat('"')?;
        let (start, mut is_computed) = (self.at, false);
        loop {
            let sign = self.rest().chars().next()?;
            if self.decoded.is_expression(self.at) {
                is_computed = true;
            } else if sign == '"' {
                break;
            } else if sign == '\\' {
                self.at += 1;
            }
            self.at += self.rest().chars().next()?.len_utf8();
        }
        let end = self.at;
        self.eat('"')?;
        let inner = self.decoded.source_range(open..self.at).and_then(|_| {
            if start == end {
                self.decoded.source_range(start..end)
            } else {
                // Between the quotes, including what opens and closes other quotes of the shell.
                let before = self.decoded.source_range(open..start)?.end;
                let behind = self.decoded.source_range(end..self.at)?.start;
                Some(before..behind)
            }
        })?;
        let text = serde_json::from_str(&self.decoded.text[open..self.at]).ok();
        // A text with a raw line break is not JSON.
        (is_computed || text.is_some()).then_some(())?;
        Some((text.filter(|_| !is_computed), inner))
    }
}
