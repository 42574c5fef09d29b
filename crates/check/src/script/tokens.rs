//! Tokens of Python, JavaScript and jq: enough to find calls, keys and object literals.
//!
//! Comments are left out. Text that cannot be split with certainty gives None.

use std::ops::Range;

/// Text that stands for the value of an expression inside a string.
pub const PLACEHOLDER: &str = "…";

/// The syntax of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Python,
    JavaScript,
    Jq,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    Name,
    Number,
    /// A string with its value. Expressions in it are replaced by [`PLACEHOLDER`].
    Text {
        value: String,
        has_placeholders: bool,
    },
    /// An operator or a delimiter.
    Sign,
    /// A regular expression.
    Regex,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) range: Range<usize>,
    /// Number of the statement. Python: a logical line. JavaScript: the text between two of `;`, `{` and `}`.
    pub(super) statement: usize,
    /// Indentation of the logical line.
    pub(super) indent: usize,
}

/// A tokenized text.
#[expect(clippy::struct_field_names, reason = "the text is its tokens")]
pub(super) struct Tokens<'a> {
    pub(super) source: &'a str,
    pub(super) syntax: Syntax,
    pub(super) tokens: Vec<Token>,
}

impl Tokens<'_> {
    /// Returns the source of the token at an index, empty behind the end.
    pub(super) fn text(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| &self.source[token.range.clone()])
    }

    /// Returns true if the tokens from `index` on are the given names and signs.
    pub(super) fn has_sequence(&self, index: usize, expected: &[&str]) -> bool {
        expected.iter().enumerate().all(|(offset, text)| {
            self.tokens.get(index + offset).is_some_and(|token| {
                !matches!(token.kind, TokenKind::Text { .. } | TokenKind::Regex)
            }) && self.text(index + offset) == *text
        })
    }

    /// Returns true if the token is a name.
    pub(super) fn is_name(&self, index: usize) -> bool {
        self.tokens.get(index).is_some_and(|token| token.kind == TokenKind::Name)
    }

    /// Returns the value of a string without expressions.
    pub(super) fn plain_text(&self, index: usize) -> Option<&str> {
        match &self.tokens.get(index)?.kind {
            TokenKind::Text { value, has_placeholders: false } => Some(value),
            _ => None,
        }
    }

    /// Returns true if the token is this sign or name.
    pub(super) fn is(&self, index: usize, text: &str) -> bool {
        self.has_sequence(index, &[text])
    }

    /// Returns the index of the bracket that closes the one at `open`.
    pub(super) fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for index in open..self.tokens.len() {
            if self.tokens[index].kind != TokenKind::Sign {
                continue;
            }
            match self.text(index) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(index);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

const SIGNS: [&str; 33] = [
    "===", "!==", "**=", "//=", "...", "??=", "||=", "&&=", ">>>", "=>", "->", "==", "!=", "<=",
    ">=", "?.", "??", "||", "&&", ":=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "**", "++",
    "--", "<<", ">>",
];

struct Lexer<'a> {
    source: &'a str,
    syntax: Syntax,
    at: usize,
    depth: usize,
    statement: usize,
    indent: usize,
    tokens: Vec<Token>,
}

/// Splits a text into tokens.
pub(super) fn tokenize(source: &str, syntax: Syntax) -> Option<Tokens<'_>> {
    let indent = source.len() - source.trim_start_matches([' ', '\t']).len();
    let mut lexer =
        Lexer { source, syntax, at: 0, depth: 0, statement: 0, indent, tokens: Vec::new() };
    if syntax != Syntax::Jq && source.starts_with("#!") {
        lexer.skip_line();
    }
    while lexer.read_token()? {}
    Some(Tokens { source, syntax, tokens: lexer.tokens })
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let (statement, indent) = (self.statement, self.indent);
        self.tokens.push(Token { kind, range: start..self.at, statement, indent });
    }

    /// Reads the next token. Returns false at the end of the text.
    fn read_token(&mut self) -> Option<bool> {
        let start = self.at;
        let rest = self.rest();
        let Some(sign) = rest.chars().next() else { return Some(false) };
        match sign {
            '\n' => {
                self.at += 1;
                if self.syntax == Syntax::Python && self.depth == 0 {
                    self.statement += 1;
                    let line = self.rest();
                    self.indent = line.len() - line.trim_start_matches([' ', '\t']).len();
                }
            }
            '\\' if rest[1..].starts_with('\n') => self.at += 2,
            '#' if self.syntax != Syntax::JavaScript => self.skip_line(),
            '/' if self.syntax == Syntax::JavaScript && rest.starts_with("//") => self.skip_line(),
            '/' if self.syntax == Syntax::JavaScript && rest.starts_with("/*") => {
                self.at += rest.find("*/")? + 2;
            }
            '/' if self.syntax == Syntax::JavaScript && self.can_start_regex() => {
                self.skip_regex()?;
                self.push(TokenKind::Regex, start);
            }
            '"' => self.read_text("")?,
            '\'' if self.syntax != Syntax::Jq => self.read_text("")?,
            '`' if self.syntax == Syntax::JavaScript => self.read_template()?,
            _ if sign.is_whitespace() || sign == '\u{feff}' => self.at += sign.len_utf8(),
            _ if sign.is_ascii_digit() => {
                let is_part = |sign: char| sign.is_alphanumeric() || matches!(sign, '.' | '_');
                self.at += rest.find(|sign| !is_part(sign)).unwrap_or(rest.len());
                self.push(TokenKind::Number, start);
            }
            _ if is_name_sign(sign) => {
                let length = rest.find(|sign| !is_name_sign(sign)).unwrap_or(rest.len());
                let prefix = rest[..length].to_ascii_lowercase();
                let is_prefix = self.syntax == Syntax::Python
                    && length <= 2
                    && prefix.chars().all(|sign| matches!(sign, 'r' | 'b' | 'f' | 'u'))
                    && rest[length..].starts_with(['"', '\'']);
                if is_prefix {
                    self.read_text(&prefix)?;
                } else {
                    self.at += length;
                    self.push(TokenKind::Name, start);
                }
            }
            _ => {
                let known = SIGNS.iter().find(|known| rest.starts_with(**known));
                self.at += known.map_or(sign.len_utf8(), |known| known.len());
                match sign {
                    '(' | '[' | '{' => self.depth += 1,
                    ')' | ']' | '}' => self.depth = self.depth.checked_sub(1)?,
                    _ => {}
                }
                let ends_statement = match self.syntax {
                    Syntax::Python => sign == ';' && self.depth == 0,
                    Syntax::JavaScript => matches!(sign, ';' | '{' | '}'),
                    Syntax::Jq => false,
                };
                self.statement += usize::from(ends_statement);
                self.push(TokenKind::Sign, start);
            }
        }
        Some(true)
    }

    /// Reads a string. `prefix` are the letters in front of it.
    fn read_text(&mut self, prefix: &str) -> Option<()> {
        let start = self.at;
        self.at += prefix.len();
        let rest = self.rest();
        let quote = if self.syntax == Syntax::Python && rest.starts_with("\"\"\"") {
            "\"\"\""
        } else if self.syntax == Syntax::Python && rest.starts_with("'''") {
            "'''"
        } else if rest.starts_with('"') {
            "\""
        } else {
            "'"
        };
        self.at += quote.len();
        let (is_raw, is_format) = (prefix.contains('r'), prefix.contains('f'));
        let mut value = String::new();
        let mut has_placeholders = false;
        loop {
            let rest = self.rest();
            if rest.starts_with(quote) {
                self.at += quote.len();
                break;
            }
            let sign = rest.chars().next()?;
            if sign == '\n' && quote.len() == 1 && self.syntax != Syntax::Jq {
                return None;
            }
            if is_format && sign == '{' && !rest.starts_with("{{") {
                self.at += 1;
                self.skip_expression('{', '}')?;
                value.push_str(PLACEHOLDER);
                has_placeholders = true;
            } else if is_format && (rest.starts_with("{{") || rest.starts_with("}}")) {
                value.push(sign);
                self.at += 2;
            } else if self.syntax == Syntax::Jq && rest.starts_with("\\(") {
                self.at += 2;
                self.skip_expression('(', ')')?;
                value.push_str(PLACEHOLDER);
                has_placeholders = true;
            } else if sign == '\\' {
                let escaped = rest[1..].chars().next()?;
                if is_raw {
                    value.push('\\');
                    value.push(escaped);
                } else {
                    push_escape(&mut value, escaped);
                }
                self.at += 1 + escaped.len_utf8();
            } else {
                value.push(sign);
                self.at += sign.len_utf8();
            }
        }
        self.push(TokenKind::Text { value, has_placeholders }, start);
        Some(())
    }

    /// Skips the rest of an expression up to the bracket that closes it.
    fn skip_expression(&mut self, open: char, close: char) -> Option<()> {
        let length = expression_length(self.rest(), open, close, 0)?;
        self.at += length;
        Some(())
    }

    fn read_template(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        let mut value = String::new();
        let mut has_placeholders = false;
        loop {
            let rest = self.rest();
            let sign = rest.chars().next()?;
            if sign == '`' {
                self.at += 1;
                break;
            }
            if rest.starts_with("${") {
                self.at += 2;
                self.skip_expression('{', '}')?;
                value.push_str(PLACEHOLDER);
                has_placeholders = true;
            } else if sign == '\\' {
                let escaped = rest[1..].chars().next()?;
                push_escape(&mut value, escaped);
                self.at += 1 + escaped.len_utf8();
            } else {
                value.push(sign);
                self.at += sign.len_utf8();
            }
        }
        self.push(TokenKind::Text { value, has_placeholders }, start);
        Some(())
    }

    /// Returns true if a slash starts a regular expression here.
    fn can_start_regex(&self) -> bool {
        let Some(last) = self.tokens.last() else { return true };
        match last.kind {
            TokenKind::Sign => !matches!(&self.source[last.range.clone()], ")" | "]" | "}"),
            TokenKind::Name => matches!(
                &self.source[last.range.clone()],
                "return" | "typeof" | "case" | "in" | "of" | "delete" | "void" | "throw" | "await"
            ),
            _ => false,
        }
    }

    fn skip_regex(&mut self) -> Option<()> {
        let (mut is_escaped, mut in_class) = (false, false);
        for (index, sign) in self.rest().char_indices().skip(1) {
            if is_escaped {
                is_escaped = false;
                continue;
            }
            match sign {
                '\n' => return None,
                '\\' => is_escaped = true,
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => {
                    let flags = &self.rest()[index + 1..];
                    let length = flags.find(|sign: char| !sign.is_ascii_lowercase());
                    self.at += index + 1 + length.unwrap_or(flags.len());
                    return Some(());
                }
                _ => {}
            }
        }
        None
    }
}

fn is_name_sign(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '_' | '$')
}

fn push_escape(value: &mut String, escaped: char) {
    match escaped {
        'n' => value.push('\n'),
        't' => value.push('\t'),
        'r' => value.push('\r'),
        '\n' => {}
        // The digits behind are kept: no rule looks at them.
        'u' | 'x' | 'U' => value.push_str(PLACEHOLDER),
        _ => value.push(escaped),
    }
}

/// Depth of nested templates at which the tokenizer gives up.
const MAX_TEMPLATE_DEPTH: usize = 20;

/// Returns the length of an expression with the bracket that closes it.
fn expression_length(text: &str, open: char, close: char, nesting: usize) -> Option<usize> {
    let mut depth = 1_usize;
    let mut at = 0;
    while let Some(sign) = text[at..].chars().next() {
        at += sign.len_utf8();
        if sign == open {
            depth += 1;
        } else if sign == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        } else if sign == '\\' {
            at += text[at..].chars().next()?.len_utf8();
        } else if matches!(sign, '"' | '\'' | '`') {
            at += quoted_length(&text[at..], sign, nesting)?;
        }
    }
    None
}

/// Returns the length of the rest of a quoted text, with its closing quote.
fn quoted_length(text: &str, quote: char, nesting: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(sign) = text[at..].chars().next() {
        at += sign.len_utf8();
        if sign == quote {
            return Some(at);
        }
        if sign == '\\' {
            at += text[at..].chars().next()?.len_utf8();
        } else if quote == '`' && sign == '$' && text[at..].starts_with('{') {
            if nesting >= MAX_TEMPLATE_DEPTH {
                return None;
            }
            at += 1 + expression_length(&text[at + 1..], '{', '}', nesting + 1)?;
        }
    }
    None
}
