//! Writes a corrected answer in the language and layout of the literal that it replaces.

use serde_json::Value;

use super::super::tokens::Syntax;
use super::symbols::{SymbolicAnswer, TextPart, split_symbols};
use super::tree::{Dialect, SourceNode};

/// The layout of an object.
struct Layout {
    /// The line break with the indentation of the members and that of the closing brace. None for an object on one line.
    lines: Option<[String; 2]>,
    /// Additional indentation of each level.
    unit: String,
    colon: &'static str,
    comma: &'static str,
    /// The space inside the braces of an object on one line.
    padding: &'static str,
    has_last_comma: bool,
}

/// A writer for the parts of an answer.
pub(super) struct AnswerWriter<'a> {
    pub(super) source: &'a str,
    pub(super) dialect: Dialect,
    pub(super) answer: &'a SymbolicAnswer,
    /// The symbols that were written, in their order.
    written: Vec<usize>,
}

impl<'a> AnswerWriter<'a> {
    pub(super) fn new(source: &'a str, dialect: Dialect, answer: &'a SymbolicAnswer) -> Self {
        Self { source, dialect, answer, written: Vec::new() }
    }

    /// Writes an object in the place of another one. Returns None if a part cannot be written there.
    pub(super) fn write_answer(&mut self, value: &Value, old: &SourceNode) -> Option<String> {
        let layout = self.find_layout(old)?;
        let text = self.write_value(value, "", &layout, 0)?;
        // No text of the author is lost.
        if (0..self.answer.symbols.len()).any(|index| !self.written.contains(&index)) {
            return None;
        }
        let is_printf = matches!(self.dialect, Dialect::Json { is_printf: true, .. });
        // The arguments of `printf` stay in their order.
        let computed = |index: &usize| self.answer.symbols[*index].is_computed;
        let written: Vec<usize> = self.written.iter().copied().filter(computed).collect();
        let all: Vec<usize> = (0..self.answer.symbols.len()).filter(computed).collect();
        (!is_printf || written == all).then_some(text)
    }

    fn find_layout(&self, old: &SourceNode) -> Option<Layout> {
        let source = self.source;
        let text = source.get(old.range.clone())?;
        let first = old.members().first()?;
        let head = source.get(old.range.start..first.key_range.start)?;
        let behind = source.get(first.key_range.end..first.node.range.start).unwrap_or(": ");
        let has_space = behind.contains(' ') || !behind.contains(':');
        let mut lines = None;
        let mut unit = "  ".to_owned();
        if head.contains('\n') {
            let indent = |at: usize| {
                let line = &source[source[..at].rfind('\n').map_or(0, |end| end + 1)..];
                line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned()
            };
            let (inner, outer) = (indent(first.key_range.start), indent(old.range.end - 1));
            let added = inner.strip_prefix(&outer).filter(|added| !added.is_empty());
            added.unwrap_or("  ").clone_into(&mut unit);
            lines = Some([format!("\n{inner}"), format!("\n{outer}")]);
        }
        let last = old.members().last()?;
        let tail = source.get(last.node.range.end..old.range.end)?;
        Some(Layout {
            lines,
            unit,
            colon: if has_space { ": " } else { ":" },
            comma: if has_space { ", " } else { "," },
            padding: if text[1..].starts_with(' ') { " " } else { "" },
            has_last_comma: tail.contains(',') && !matches!(self.dialect, Dialect::Json { .. }),
        })
    }

    /// Encodes JSON text for the place of the answer.
    fn encode(&self, text: &str) -> String {
        match self.dialect {
            Dialect::Json { quoting, is_printf, .. } => quoting.encode(text, is_printf),
            Dialect::Program { .. } => text.to_owned(),
        }
    }

    fn write_value(
        &mut self,
        value: &Value,
        key: &str,
        layout: &Layout,
        depth: usize,
    ) -> Option<String> {
        let symbol = match key {
            "hookEventName" => self.answer.event_name,
            "permissionDecision" if value == "ask" => self.answer.decision,
            _ => None,
        };
        if let Some(index) = symbol {
            return self.write_symbol(index);
        }
        match value {
            Value::Object(members) => {
                if let Some((name, _)) = members.iter().next()
                    && let [TextPart::Symbol(index)] = split_symbols(name)[..]
                {
                    return self.write_symbol(index);
                }
                let shift = layout.unit.repeat(depth);
                let mut written = Vec::new();
                for (key, value) in members {
                    let value = self.write_value(value, key, layout, depth + 1)?;
                    written.push(format!("{}{}{value}", self.write_key(key), layout.colon));
                }
                let (before, between, behind) = match &layout.lines {
                    Some([inner, outer]) => (
                        format!("{inner}{shift}"),
                        format!(",{inner}{shift}"),
                        format!("{}{outer}{shift}", if layout.has_last_comma { "," } else { "" }),
                    ),
                    None => (
                        layout.padding.to_owned(),
                        layout.comma.to_owned(),
                        layout.padding.to_owned(),
                    ),
                };
                let [open, close] = ["{", "}"].map(|brace| self.encode(brace));
                Some([open, before, written.join(&between), behind, close].concat())
            }
            Value::String(text) => self.write_text(text),
            other => {
                let is_python =
                    matches!(self.dialect, Dialect::Program { syntax: Syntax::Python, .. });
                Some(match other {
                    Value::Bool(true) if is_python => "True".to_owned(),
                    Value::Bool(false) if is_python => "False".to_owned(),
                    Value::Null if is_python => "None".to_owned(),
                    Value::Array(_) if is_python => return None,
                    _ => self.encode(&other.to_string()),
                })
            }
        }
    }

    /// Returns the key of a text or computed value that was not written.
    pub(super) fn lost_key(&self) -> Option<&'a str> {
        let symbols = self.answer.symbols.iter().enumerate();
        let mut lost = symbols.filter(|(index, _)| !self.written.contains(index));
        lost.next().map(|(_, symbol)| symbol.key.as_str())
    }

    pub(super) fn write_key(&self, key: &str) -> String {
        match self.dialect {
            Dialect::Program { has_bare_keys: true, .. } => key.to_owned(),
            _ => self.write_literal(key),
        }
    }

    /// Writes a text without symbols.
    pub(super) fn write_literal(&self, text: &str) -> String {
        match self.dialect {
            Dialect::Json { .. } => self.encode(&Value::from(text).to_string()),
            Dialect::Program { quote, .. } => {
                let json = Value::from(text).to_string();
                let inner = &json[1..json.len() - 1];
                let inner =
                    if quote == '"' { inner.to_owned() } else { inner.replace("\\\"", "\"") };
                format!(
                    "{quote}{}{quote}",
                    inner.replace('\'', if quote == '\'' { "\\'" } else { "'" })
                )
            }
        }
    }

    fn write_symbol(&mut self, index: usize) -> Option<String> {
        self.written.push(index);
        let symbol = self.answer.symbols.get(index)?;
        let text = self.source.get(symbol.inner.clone())?;
        Some(match self.dialect {
            Dialect::Json { .. } if symbol.is_text => {
                let quote = self.encode("\"");
                format!("{quote}{text}{quote}")
            }
            _ => text.to_owned(),
        })
    }

    fn write_text(&mut self, text: &str) -> Option<String> {
        let parts = split_symbols(text);
        match &parts[..] {
            [TextPart::Symbol(index)] => return self.write_symbol(*index),
            [] | [TextPart::Text(_)] => return Some(self.write_literal(text)),
            _ => {}
        }
        let mut written = Vec::new();
        for part in &parts {
            written.push(match (part, self.dialect) {
                (TextPart::Text(text), Dialect::Json { .. }) => {
                    let json = Value::from(*text).to_string();
                    self.encode(&json[1..json.len() - 1])
                }
                (TextPart::Text(text), Dialect::Program { .. }) => self.write_literal(text),
                (TextPart::Symbol(index), Dialect::Json { .. }) => {
                    self.written.push(*index);
                    let symbol = self.answer.symbols.get(*index)?;
                    // An expression without quotes has quotes of its own.
                    symbol.is_text.then_some(())?;
                    self.source.get(symbol.inner.clone())?.to_owned()
                }
                (TextPart::Symbol(index), Dialect::Program { .. }) => {
                    let text = self.write_symbol(*index)?;
                    let symbol = self.answer.symbols.get(*index)?;
                    let is_simple = symbol.is_text && !symbol.is_computed
                        || text.chars().all(|sign| sign.is_alphanumeric() || "_.$".contains(sign));
                    if is_simple { text } else { format!("({text})") }
                }
            });
        }
        Some(match self.dialect {
            Dialect::Json { .. } => {
                let quote = self.encode("\"");
                format!("{quote}{}{quote}", written.concat())
            }
            Dialect::Program { syntax: Syntax::Jq, .. } => format!("({})", written.join(" + ")),
            Dialect::Program { .. } => written.join(" + "),
        })
    }
}
