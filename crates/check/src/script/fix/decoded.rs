//! Text inside a script, decoded as the script's language does, with the place of each byte.

use std::ops::Range;

use super::super::shell_answer::expansion_length;
use super::super::tokens::PLACEHOLDER;

/// The quotes around a text, which decide how new text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Shell text without quotes. New text cannot be written there.
    Unquoted,
    /// `'…'` in a shell.
    ShellSingle,
    /// `"…"` in a shell.
    ShellDouble,
    /// The body of a here-document.
    Heredoc,
    /// A string of Python or JavaScript.
    Program { quote: char, is_format: bool },
}

/// A decoded text.
#[derive(Debug, Default)]
pub(super) struct DecodedText {
    pub(super) text: String,
    /// The place of each byte in the script.
    sources: Vec<Range<usize>>,
    /// The quotes around each byte. None for the placeholder of an expression.
    quotings: Vec<Option<Quoting>>,
}

impl DecodedText {
    fn push(&mut self, sign: char, source: Range<usize>, quoting: Quoting) {
        self.text.push(sign);
        for _ in 0..sign.len_utf8() {
            self.sources.push(source.clone());
            self.quotings.push(Some(quoting));
        }
    }

    fn push_expression(&mut self, source: Range<usize>) {
        self.text.push_str(PLACEHOLDER);
        for _ in 0..PLACEHOLDER.len() {
            self.sources.push(source.clone());
            self.quotings.push(None);
        }
    }

    /// Returns the place of a part in the script.
    pub(super) fn source_range(&self, part: Range<usize>) -> Option<Range<usize>> {
        if part.is_empty() {
            let before = self.sources.get(part.start.checked_sub(1)?)?;
            return Some(before.end..before.end);
        }
        Some(self.sources.get(part.start)?.start..self.sources.get(part.end - 1)?.end)
    }

    /// Returns true if the byte belongs to the placeholder of an expression.
    pub(super) fn is_expression(&self, at: usize) -> bool {
        self.quotings.get(at) == Some(&None)
    }

    /// Returns the quotes around a byte.
    pub(super) fn quoting(&self, at: usize) -> Option<Quoting> {
        self.quotings.get(at).copied().flatten()
    }

    /// Decodes the words behind `echo`, each as a text of its own.
    pub(super) fn from_words(source: &str, range: Range<usize>) -> Option<Vec<Self>> {
        let mut words = vec![Self::default()];
        let mut at = range.start;
        while at < range.end {
            let rest = source.get(at..range.end)?;
            let sign = rest.chars().next()?;
            let word = words.last_mut()?;
            match sign {
                ' ' | '\t' => {
                    at += 1;
                    if !word.text.is_empty() {
                        words.push(Self::default());
                    }
                }
                '\\' if rest[1..].starts_with('\n') => at += 2,
                '\'' => {
                    let end = rest[1..].find('\'')? + 1;
                    for (index, sign) in rest[1..end].char_indices() {
                        let start = at + 1 + index;
                        word.push(sign, start..start + sign.len_utf8(), Quoting::ShellSingle);
                    }
                    at += end + 1;
                }
                '"' => at = word.read_double(source, at + 1, range.end)?,
                '$' | '`' => {
                    let length = expansion_length(rest)?;
                    word.push_expression(at..at + length);
                    at += length;
                }
                _ => {
                    word.push(sign, at..at + sign.len_utf8(), Quoting::Unquoted);
                    at += sign.len_utf8();
                }
            }
        }
        Some(words)
    }

    /// Reads text up to the closing double quote. Returns the place behind it.
    fn read_double(&mut self, source: &str, start: usize, end: usize) -> Option<usize> {
        let mut at = start;
        loop {
            let rest = source.get(at..end)?;
            let sign = rest.chars().next()?;
            match sign {
                '"' => return Some(at + 1),
                '\\' if rest[1..].starts_with('\n') => at += 2,
                '\\' if rest[1..].starts_with(['"', '\\', '$', '`']) => {
                    let escaped = rest[1..].chars().next()?;
                    self.push(escaped, at..at + 2, Quoting::ShellDouble);
                    at += 2;
                }
                '$' | '`' => at = self.read_expansion(rest, at, Quoting::ShellDouble)?,
                _ => {
                    self.push(sign, at..at + sign.len_utf8(), Quoting::ShellDouble);
                    at += sign.len_utf8();
                }
            }
        }
    }

    fn read_expansion(&mut self, rest: &str, at: usize, quoting: Quoting) -> Option<usize> {
        let length = expansion_length(rest)?;
        if length == 1 {
            self.push('$', at..at + 1, quoting);
        } else {
            self.push_expression(at..at + length);
        }
        Some(at + length)
    }

    /// Joins words with a space, as `echo` does.
    pub(super) fn join(words: Vec<Self>) -> Self {
        let mut joined = Self::default();
        for word in words.into_iter().filter(|word| !word.text.is_empty()) {
            if let Some(last) = joined.sources.last().map(|last| last.end..last.end) {
                joined.push(' ', last, Quoting::Unquoted);
            }
            joined.text.push_str(&word.text);
            joined.sources.extend(word.sources);
            joined.quotings.extend(word.quotings);
        }
        joined
    }

    /// Decodes a text as the format of `printf`.
    pub(super) fn into_printed(self) -> Option<Self> {
        let mut printed = Self::default();
        let mut signs = self.text.char_indices();
        while let Some((at, sign)) = signs.next() {
            let quoting = self.quoting(at)?;
            let start = self.sources.get(at)?.start;
            match sign {
                '%' | '\\' => {
                    let (next, escaped) = signs.next()?;
                    let range = start..self.sources.get(next)?.end;
                    match (sign, escaped) {
                        ('%', 's' | 'd') => printed.push_expression(range),
                        ('\\', 'n') => printed.push('\n', range, quoting),
                        ('\\', 't') => printed.push('\t', range, quoting),
                        ('%', '%') | ('\\', '\\' | '"' | '\'') => {
                            printed.push(escaped, range, quoting);
                        }
                        _ => return None,
                    }
                }
                _ => printed.push(sign, self.sources.get(at)?.clone(), quoting),
            }
        }
        Some(printed)
    }

    /// Decodes the body of a here-document.
    pub(super) fn from_heredoc(
        source: &str,
        range: Range<usize>,
        is_literal: bool,
    ) -> Option<Self> {
        let mut decoded = Self::default();
        let mut at = range.start;
        while at < range.end {
            let rest = source.get(at..range.end)?;
            let sign = rest.chars().next()?;
            match sign {
                '\\' if !is_literal && rest[1..].starts_with('\n') => at += 2,
                '\\' if !is_literal && rest[1..].starts_with(['$', '`', '\\']) => {
                    let escaped = rest[1..].chars().next()?;
                    decoded.push(escaped, at..at + 2, Quoting::Heredoc);
                    at += 2;
                }
                '$' | '`' if !is_literal => {
                    at = decoded.read_expansion(rest, at, Quoting::Heredoc)?;
                }
                _ => {
                    decoded.push(sign, at..at + sign.len_utf8(), Quoting::Heredoc);
                    at += sign.len_utf8();
                }
            }
        }
        Some(decoded)
    }

    /// Decodes a string of Python or JavaScript. None for raw and for long strings.
    pub(super) fn from_program(source: &str, range: Range<usize>) -> Option<Self> {
        let literal = source.get(range.clone())?;
        let open = literal.find(['"', '\'', '`'])?;
        let prefix = literal[..open].to_ascii_lowercase();
        if prefix.contains('r') || literal[open..].starts_with("\"\"\"") || literal.contains("'''")
        {
            return None;
        }
        let quote = literal[open..].chars().next()?;
        let is_format = prefix.contains('f');
        let quoting = Quoting::Program { quote, is_format };
        let mut decoded = Self::default();
        let end = range.end.checked_sub(1)?;
        let mut at = range.start + open + 1;
        while at < end {
            let rest = source.get(at..end)?;
            let sign = rest.chars().next()?;
            let is_expression =
                quote == '`' && rest.starts_with("${") || is_format && rest.starts_with('{');
            if is_format && (rest.starts_with("{{") || rest.starts_with("}}")) {
                decoded.push(sign, at..at + 2, quoting);
                at += 2;
            } else if is_expression {
                let brace = rest.find('{')?;
                let length = brace + closing_brace(&rest[brace..])? + 1;
                decoded.push_expression(at..at + length);
                at += length;
            } else if sign == '\\' {
                let escaped = rest[1..].chars().next()?;
                let value = match escaped {
                    'n' => '\n',
                    't' => '\t',
                    '"' | '\'' | '`' | '\\' | '/' => escaped,
                    _ => return None,
                };
                decoded.push(value, at..at + 2, quoting);
                at += 2;
            } else {
                decoded.push(sign, at..at + sign.len_utf8(), quoting);
                at += sign.len_utf8();
            }
        }
        Some(decoded)
    }
}

/// Returns the index of the brace that closes the one at the start. None if the expression has quoted braces.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, sign) in text.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(index);
                }
            }
            '"' | '\'' | '`' if text[index + 1..].starts_with(['{', '}']) => return None,
            _ => {}
        }
    }
    None
}

impl Quoting {
    /// Writes JSON text in these quotes. `is_format` tells that `printf` reads the text as its format.
    pub(super) fn encode(self, text: &str, is_printf: bool) -> String {
        let mut out = String::new();
        for sign in text.chars() {
            if is_printf && matches!(sign, '%' | '\\') {
                out.push(sign);
            }
            match (self, sign) {
                (Self::ShellDouble, '"' | '$' | '`' | '\\') => out.extend(['\\', sign]),
                (Self::Program { quote, .. }, _) if sign == quote || sign == '\\' => {
                    out.extend(['\\', sign]);
                }
                (Self::Program { .. }, '\n') => out.push_str("\\n"),
                (Self::Program { is_format: true, .. }, '{' | '}') => out.extend([sign, sign]),
                _ => out.push(sign),
            }
        }
        out
    }
}
