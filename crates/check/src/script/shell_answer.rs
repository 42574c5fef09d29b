//! Answers that a shell command prints: `echo`, `printf`, here-documents and `jq -n`.

use std::ops::Range;

use serde_json::Value;

use super::object::{AnswerForm, AnswerLiteral, Node, has_placed_placeholders, read_node};
use super::shell::{Heredoc, Part, Quote, SimpleCommand, Word};
use super::tokens::{PLACEHOLDER, Syntax, tokenize};

/// Returns the text that `echo` or `printf` prints, true if it has placeholders, and the position of its words.
/// `keeps_escapes` tells that `echo` does not interpret backslashes.
pub(super) fn printed_text(
    command: &SimpleCommand,
    keeps_escapes: bool,
) -> Option<(String, bool, Range<usize>)> {
    let words = &command.words[1..];
    let (first, last) = (words.first()?, words.last()?);
    let range = first.range.start..last.range.end;
    // Unquoted braces and expansions make more than one word.
    if matches!(first.parts.first()?, Part::Text { quote: Quote::None, .. }) {
        return None;
    }
    if command.name()? == "printf" {
        return printf_text(words).map(|(text, has)| (text, has, range));
    }
    let mut text = String::new();
    let mut has_placeholders = false;
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        let (part, has) = word_text(word);
        text.push_str(&part);
        has_placeholders |= has;
    }
    (keeps_escapes || !text.contains('\\')).then_some((text, has_placeholders, range))
}

/// Returns the text of a word with placeholders for its expansions.
fn word_text(word: &Word) -> (String, bool) {
    let mut text = String::new();
    let mut has_placeholders = false;
    for part in &word.parts {
        if let Part::Text { text: own, .. } = part {
            text.push_str(own);
        } else {
            text.push_str(PLACEHOLDER);
            has_placeholders = true;
        }
    }
    (text, has_placeholders)
}

fn printf_text(words: &[Word]) -> Option<(String, bool)> {
    let format = words.first()?.literal()?;
    if let ("%s" | "%s\\n", [_, word]) = (format.as_str(), words) {
        return Some(word_text(word));
    }
    let mut text = String::new();
    let mut has_placeholders = false;
    let mut signs = format.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '%' => match signs.next()? {
                '%' => text.push('%'),
                's' => {
                    text.push_str(PLACEHOLDER);
                    has_placeholders = true;
                }
                'd' => {
                    text.push('0');
                    has_placeholders = true;
                }
                _ => return None,
            },
            '\\' => match signs.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                escaped @ ('\\' | '"' | '\'') => text.push(escaped),
                _ => return None,
            },
            _ => text.push(sign),
        }
    }
    Some((text, has_placeholders))
}

/// Returns the answer that a printed text is.
pub(super) fn answer_from_text(
    text: &str,
    has_placeholders: bool,
    range: Range<usize>,
    form: AnswerForm,
) -> Option<AnswerLiteral> {
    let trimmed = text.trim();
    if !trimmed.starts_with('{') || !trimmed.ends_with('}') {
        return None;
    }
    if let Ok(value) = serde_json::from_str::<Value>(trimmed) {
        let keys: Vec<String> = value.as_object()?.keys().cloned().collect();
        if keys.is_empty() {
            return None;
        }
        let is_certain = !has_placeholders || has_placed_placeholders(&value);
        let stdout = is_certain.then(|| text.to_owned());
        let value = is_certain.then_some(value);
        return Some(AnswerLiteral { range, keys, value, stdout, has_placeholders, form });
    }
    let node = read_text_node(trimmed);
    if has_placeholders {
        return node?.to_answer(range).map(|answer| answer.with_form(form));
    }
    // Text that is no JSON, although it looks like an object with quoted keys.
    let Some(Node::Object(members)) = node else {
        let looks_like_json = trimmed[1..].trim_start().starts_with('"') && trimmed.contains("\":");
        let stdout = Some(text.to_owned());
        return looks_like_json.then_some(AnswerLiteral {
            range,
            keys: Vec::new(),
            value: None,
            stdout,
            has_placeholders,
            form,
        });
    };
    let keys: Vec<String> = members.into_iter().map(|(key, _)| key).collect();
    let stdout = Some(text.to_owned());
    (!keys.is_empty()).then_some(AnswerLiteral {
        range,
        keys,
        value: None,
        stdout,
        has_placeholders,
        form,
    })
}

fn read_text_node(text: &str) -> Option<Node> {
    let tokens = tokenize(text, Syntax::JavaScript)?;
    let (node, end) = read_node(&tokens, 0)?;
    (end == tokens.tokens.len()).then_some(node)
}

/// Returns the answer in the body of a here-document.
pub(super) fn answer_from_heredoc(source: &str, heredoc: &Heredoc) -> Option<AnswerLiteral> {
    let body = source.get(heredoc.body.clone())?;
    let mut text = String::new();
    let mut has_placeholders = false;
    let mut rest = body;
    while let Some(sign) = rest.chars().next() {
        if heredoc.is_literal || !matches!(sign, '$' | '`' | '\\') {
            text.push(sign);
            rest = &rest[sign.len_utf8()..];
            continue;
        }
        if sign == '\\' {
            let escaped = rest[1..].chars().next()?;
            match escaped {
                '$' | '`' | '\\' => text.push(escaped),
                '\n' => {}
                _ => text.extend([sign, escaped]),
            }
            rest = &rest[1 + escaped.len_utf8()..];
            continue;
        }
        let length = expansion_length(rest)?;
        text.push_str(if length == 1 { "$" } else { PLACEHOLDER });
        has_placeholders |= length > 1;
        rest = &rest[length..];
    }
    let form = AnswerForm::Heredoc { is_literal: heredoc.is_literal };
    answer_from_text(&text, has_placeholders, heredoc.body.clone(), form)
}

/// Returns the length of the expansion at the start of a text, 1 for a plain dollar.
pub(super) fn expansion_length(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix('`') {
        return rest.find('`').map(|end| end + 2);
    }
    let rest = &text[1..];
    let (open, close) = match rest.chars().next() {
        Some('(') => ('(', ')'),
        Some('{') => ('{', '}'),
        // A positional or special parameter has a name of one sign.
        Some('0'..='9' | '@' | '*' | '#' | '?' | '$' | '!' | '-') => return Some(2),
        _ => {
            let length = super::shell::name_length(rest);
            return Some(1 + length);
        }
    };
    let mut depth = 0_usize;
    for (index, sign) in rest.char_indices() {
        if sign == open {
            depth += 1;
        } else if sign == close {
            depth -= 1;
            if depth == 0 {
                return Some(index + 2);
            }
        }
    }
    None
}

/// Returns the answer that `jq -n '{…}'` prints.
pub(super) fn answer_from_jq(command: &SimpleCommand) -> Option<AnswerLiteral> {
    let mut is_null_input = false;
    let mut filter = None;
    let mut words = command.words[1..].iter();
    while let Some(word) = words.next() {
        match word.literal().as_deref() {
            Some("--arg" | "--argjson" | "--slurpfile" | "--rawfile") => {
                words.next();
                words.next();
            }
            Some("--null-input") => is_null_input = true,
            Some("--indent" | "-L") => drop(words.next()),
            Some("--args" | "--jsonargs" | "--from-file") => return None,
            Some(option) if option.starts_with("--") => {}
            Some(option) if option.starts_with('-') && option.len() > 1 => {
                // Raw output of a text is not JSON, and that of an object is.
                is_null_input |= option.contains('n');
                if option.contains('f') {
                    return None;
                }
            }
            _ if filter.is_none() => filter = Some(word),
            _ => return None,
        }
    }
    let filter = filter.filter(|_| is_null_input)?;
    let source = filter.literal()?;
    let tokens = tokenize(&source, Syntax::Jq)?;
    let (node, end) = read_node(&tokens, 0)?;
    let answer = (end == tokens.tokens.len()).then(|| node.to_answer(filter.range.clone()))??;
    Some(answer.with_form(AnswerForm::JqFilter))
}
