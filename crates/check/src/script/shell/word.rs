//! Words, expansions and redirections of shell text.

use std::ops::Range;

use super::{
    Assignment, BashConstruct, BlockKind, ListEnd, PendingHeredoc, Reader, Redirect, Separator,
    VariableUse,
};

/// The quotes around a part of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Quote {
    None,
    Single,
    Double,
}

/// A part of a word.
#[derive(Debug, Clone)]
pub(in super::super) enum Part {
    /// Text, with escapes resolved.
    Text { text: String, quote: Quote },
    /// `$name` or `${name…}`; `modifier` is the text behind the name in braces.
    Variable { name: String, range: Range<usize>, quote: Quote, modifier: String },
    /// `$(…)`; `block` is None where the text was not read.
    Substitution { block: Option<usize> },
    /// `$((…))` and process substitutions.
    Other,
}

/// A word of a command.
#[derive(Debug, Clone)]
pub(in super::super) struct Word {
    pub(in super::super) range: Range<usize>,
    pub(in super::super) parts: Vec<Part>,
}

impl Word {
    /// Returns the text of a word without expansions.
    pub(in super::super) fn literal(&self) -> Option<String> {
        let mut literal = String::new();
        for part in &self.parts {
            let Part::Text { text, .. } = part else { return None };
            literal.push_str(text);
        }
        Some(literal)
    }

    /// Returns the name of the variable if the word is nothing else.
    pub(in super::super) fn variable(&self) -> Option<&str> {
        match &self.parts[..] {
            [Part::Variable { name, modifier, .. }] if modifier.is_empty() => Some(name),
            _ => None,
        }
    }

    /// Returns the block of the substitution if the word is nothing else.
    pub(in super::super) fn substitution(&self) -> Option<usize> {
        match &self.parts[..] {
            [Part::Substitution { block }] => *block,
            _ => None,
        }
    }
}

impl Reader<'_> {
    /// Reads an assignment, a program call, or a definition of a function.
    #[expect(clippy::option_option, reason = "the outer None is unreadable text")]
    pub(super) fn read_simple(&mut self, block: usize, before: Separator) -> Option<Option<usize>> {
        let command = self.push_command(block, before);
        loop {
            self.skip_blanks();
            if self.read_redirect(command)? {
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                Some(b'(') => {
                    // `name()` defines a function.
                    let own = self.out.commands.get(command)?;
                    let [word] = &own.words[..] else { return None };
                    let name = word.literal()?;
                    self.at += 1;
                    self.skip_blanks();
                    self.eat(")").then_some(())?;
                    self.out.commands.get_mut(command)?.words.clear();
                    return self.read_function(block, name);
                }
                Some(_) => {}
            }
            if self.out.commands.get(command)?.words.is_empty()
                && let Some(assignment) = self.read_assignment(block)?
            {
                self.out.commands.get_mut(command)?.assignments.push(assignment);
                continue;
            }
            let word = self.read_word(block)?;
            if word.range.is_empty() {
                return None;
            }
            self.out.commands.get_mut(command)?.words.push(word);
            // `declare -a names=(…)`
            if self.peek() == Some(b'(') && self.text[..self.at].ends_with('=') {
                self.skip_array(block)?;
            }
        }
        let end = self.at;
        let own = self.out.commands.get_mut(command)?;
        own.range.end = end;
        let name = own.name();
        if name.as_deref() == Some("source") {
            let range = own.words.first()?.range.clone();
            self.out.bash_syntax.push((range, BashConstruct::Source));
        } else if name.as_deref() == Some("set") {
            let pipefail =
                own.words.iter().find(|word| word.literal().as_deref() == Some("pipefail"));
            if let Some(range) = pipefail.map(|word| word.range.clone()) {
                self.out.bash_syntax.push((range, BashConstruct::Pipefail));
            }
        }
        Some(Some(command))
    }

    #[expect(clippy::option_option, reason = "the outer None is unreadable text")]
    fn read_assignment(&mut self, block: usize) -> Option<Option<Assignment>> {
        let rest = self.rest();
        let name_length = name_length(rest);
        if name_length == 0 {
            return Some(None);
        }
        let (name, behind) = rest.split_at(name_length);
        let name = name.to_owned();
        if behind.starts_with('[') {
            let Some(end) = behind.find("]=").or_else(|| behind.find("]+=")) else {
                return Some(None);
            };
            if behind[..end].contains([' ', '\n', ';']) {
                return Some(None);
            }
            self.at += name_length + end + 1;
            self.eat("+");
            self.at += 1;
            self.read_word(block)?;
            return Some(Some(Assignment { name, value: None }));
        }
        let is_added = behind.starts_with("+=");
        if !is_added && !behind.starts_with('=') {
            return Some(None);
        }
        let start = self.at;
        self.at += name_length + 1 + usize::from(is_added);
        if self.peek() == Some(b'(') {
            self.out.bash_syntax.push((start..self.at + 1, BashConstruct::Array));
            self.skip_array(block)?;
            return Some(Some(Assignment { name, value: None }));
        }
        let value = self.read_word(block)?;
        Some(Some(Assignment { name, value: (!is_added).then_some(value) }))
    }

    /// Skips `(…)` behind `name=`.
    fn skip_array(&mut self, block: usize) -> Option<()> {
        self.at += 1;
        loop {
            self.skip_blanks();
            match self.peek()? {
                b')' => break self.at += 1,
                b'\n' => self.skip_newline()?,
                _ => self.skip_word(block)?,
            }
        }
        Some(())
    }

    /// Reads a redirection of a command. Returns false if there is none.
    pub(super) fn read_redirect(&mut self, command: usize) -> Option<bool> {
        const OPERATORS: [&str; 12] =
            ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">"];
        self.skip_blanks();
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let behind = &self.rest()[digits..];
        if behind.starts_with("<(") || behind.starts_with(">(") {
            return Some(false);
        }
        let Some(operator) = OPERATORS.into_iter().find(|operator| behind.starts_with(operator))
        else {
            return Some(false);
        };
        if digits > 0 && operator.starts_with('&') {
            return Some(false);
        }
        let start = self.at;
        let descriptor = match self.rest()[..digits].parse() {
            Ok(descriptor) => descriptor,
            Err(_) if digits > 0 => return None,
            Err(_) => u32::from(!operator.starts_with('<')),
        };
        self.at += digits + operator.len();
        if let Some(construct) = match operator {
            "&>" | "&>>" => Some(BashConstruct::RedirectBoth),
            "<<<" => Some(BashConstruct::HereString),
            _ => None,
        } {
            self.out.bash_syntax.push((start..self.at, construct));
        }
        self.skip_blanks();
        let block = self.out.commands.get(command)?.block;
        let target = self.read_word(block)?;
        let own = self.out.commands.get_mut(command)?;
        if operator == "<<" || operator == "<<-" {
            let is_literal = target
                .parts
                .iter()
                .any(|part| !matches!(part, Part::Text { quote: Quote::None, .. }))
                || self.text.get(target.range.clone())?.contains('\\');
            self.pending.push(PendingHeredoc {
                command,
                redirect: own.redirects.len(),
                delimiter: target.literal()?,
                is_literal,
                strips_tabs: operator == "<<-",
            });
        }
        let operator = if operator == "&>>" { "&>" } else { operator };
        own.redirects.push(Redirect { descriptor, operator, target, heredoc: None });
        Some(true)
    }

    /// Reads a word, which may be empty.
    pub(super) fn read_word(&mut self, block: usize) -> Option<Word> {
        let start = self.at;
        let mut parts = Vec::new();
        let mut text = String::new();
        let flush = |text: &mut String, parts: &mut Vec<Part>| {
            if !text.is_empty() {
                parts.push(Part::Text { text: std::mem::take(text), quote: Quote::None });
            }
        };
        loop {
            let rest = self.rest();
            let Some(sign) = rest.chars().next() else { break };
            match sign {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | ')' => break,
                '(' => {
                    // Outside `[[ … ]]`, a parenthesis in a word is a pattern such as `@(a|b)`, which is not read.
                    if self.at == start {
                        return None;
                    }
                    break;
                }
                '<' | '>' => {
                    if self.at != start || !rest[1..].starts_with('(') {
                        if self.at == start {
                            return None;
                        }
                        break;
                    }
                    self.out
                        .bash_syntax
                        .push((self.at..self.at + 2, BashConstruct::ProcessSubstitution));
                    self.at += 2;
                    let inner = self.add_block(Some(block), BlockKind::Substitution);
                    self.expect_end_of_substitution(inner)?;
                    parts.push(Part::Other);
                }
                '\'' => {
                    flush(&mut text, &mut parts);
                    let end = rest[1..].find('\'')?;
                    let quoted = rest[1..=end].to_owned();
                    self.at += end + 2;
                    parts.push(Part::Text { text: quoted, quote: Quote::Single });
                }
                '"' => {
                    flush(&mut text, &mut parts);
                    self.at += 1;
                    self.read_double_quotes(block, &mut parts)?;
                }
                '$' => {
                    flush(&mut text, &mut parts);
                    self.read_dollar(block, Quote::None, &mut parts)?;
                }
                '`' => {
                    flush(&mut text, &mut parts);
                    self.skip_backquotes(&mut parts)?;
                }
                '\\' => {
                    let escaped = rest[1..].chars().next()?;
                    self.at += 1 + escaped.len_utf8();
                    if escaped != '\n' {
                        text.push(escaped);
                    }
                }
                _ => {
                    text.push(sign);
                    self.at += sign.len_utf8();
                }
            }
        }
        flush(&mut text, &mut parts);
        Some(Word { range: start..self.at, parts })
    }

    fn expect_end_of_substitution(&mut self, block: usize) -> Option<()> {
        (self.read_list(block)? == ListEnd::Paren).then_some(())
    }

    fn read_double_quotes(&mut self, block: usize, parts: &mut Vec<Part>) -> Option<()> {
        let mut text = String::new();
        let first = parts.len();
        loop {
            let rest = self.rest();
            let sign = rest.chars().next()?;
            match sign {
                '"' => {
                    self.at += 1;
                    if !text.is_empty() || parts.len() == first {
                        parts.push(Part::Text { text, quote: Quote::Double });
                    }
                    return Some(());
                }
                '$' | '`' => {
                    if !text.is_empty() {
                        let text = std::mem::take(&mut text);
                        parts.push(Part::Text { text, quote: Quote::Double });
                    }
                    if sign == '$' {
                        self.read_dollar(block, Quote::Double, parts)?;
                    } else {
                        self.skip_backquotes(parts)?;
                    }
                }
                '\\' => {
                    let escaped = rest[1..].chars().next()?;
                    if !matches!(escaped, '$' | '`' | '"' | '\\' | '\n') {
                        text.push('\\');
                    }
                    if escaped != '\n' {
                        text.push(escaped);
                    }
                    self.at += 1 + escaped.len_utf8();
                }
                _ => {
                    text.push(sign);
                    self.at += sign.len_utf8();
                }
            }
        }
    }

    fn skip_backquotes(&mut self, parts: &mut Vec<Part>) -> Option<()> {
        let mut is_escaped = false;
        let length = self.rest()[1..].find(|sign: char| {
            let is_end = sign == '`' && !is_escaped;
            is_escaped = sign == '\\' && !is_escaped;
            is_end
        })?;
        self.at += length + 2;
        self.out.has_unread_parts = true;
        parts.push(Part::Substitution { block: None });
        Some(())
    }

    fn read_dollar(&mut self, block: usize, quote: Quote, parts: &mut Vec<Part>) -> Option<()> {
        let start = self.at;
        let rest = &self.rest()[1..];
        if rest.starts_with("((") {
            let mut depth = 0_usize;
            for (index, sign) in rest.char_indices() {
                match sign {
                    '(' => depth += 1,
                    ')' => depth = depth.checked_sub(1)?,
                    _ => {}
                }
                if depth == 0 {
                    self.at += index + 2;
                    parts.push(Part::Other);
                    return Some(());
                }
            }
            return None;
        }
        if rest.starts_with('(') {
            self.at += 2;
            let inner = self.add_block(Some(block), BlockKind::Substitution);
            self.expect_end_of_substitution(inner)?;
            parts.push(Part::Substitution { block: Some(inner) });
            return Some(());
        }
        if rest.starts_with('{') {
            let end = closing_brace(rest)?;
            let inner = &rest[1..end];
            let prefix = inner.len() - inner.trim_start_matches(['!', '#']).len();
            let length = name_length(&inner[prefix..])
                .max(inner[prefix..].bytes().take_while(u8::is_ascii_digit).count());
            let name = inner[prefix..prefix + length].to_owned();
            let mut modifier = inner[prefix + length..].to_owned();
            if prefix > 0 {
                modifier.insert(0, '!');
            }
            let has_unread = modifier.contains("$(") || modifier.contains('`');
            let is_bash = modifier.starts_with(['/', '^', ','])
                || modifier.strip_prefix(':').is_some_and(|rest| {
                    rest.starts_with(|sign: char| sign.is_ascii_digit() || sign == ' ')
                });
            self.at += end + 2;
            let range = start..self.at;
            self.out.has_unread_parts |= has_unread;
            if is_bash && !name.is_empty() {
                self.out.bash_syntax.push((range.clone(), BashConstruct::Expansion));
            }
            self.push_variable(Part::Variable { name, range, quote, modifier }, parts);
            return Some(());
        }
        if quote == Quote::None && rest.starts_with('\'') {
            // `$'…'` with C escapes.
            let mut is_escaped = false;
            let end = rest[1..].find(|sign: char| {
                let is_end = sign == '\'' && !is_escaped;
                is_escaped = sign == '\\' && !is_escaped;
                is_end
            })?;
            self.at += end + 3;
            parts.push(Part::Other);
            return Some(());
        }
        let length = match rest.bytes().next() {
            Some(sign) if sign.is_ascii_digit() || b"@*#?$!-".contains(&sign) => 1,
            _ => name_length(rest),
        };
        if length == 0 {
            self.at += 1;
            parts.push(Part::Text { text: "$".to_owned(), quote });
            return Some(());
        }
        let name = rest[..length].to_owned();
        self.at += 1 + length;
        let range = start..self.at;
        let modifier = String::new();
        self.push_variable(Part::Variable { name, range, quote, modifier }, parts);
        Some(())
    }

    fn push_variable(&mut self, part: Part, parts: &mut Vec<Part>) {
        if let Part::Variable { name, range, modifier, .. } = &part {
            let (name, range, modifier) = (name.clone(), range.clone(), modifier.clone());
            self.out.variables.push(VariableUse { name, range, modifier });
        }
        parts.push(part);
    }
}

/// Returns the length of the variable name at the start of a text.
pub(in super::super) fn name_length(text: &str) -> usize {
    if text.starts_with(|sign: char| sign.is_ascii_digit()) {
        return 0;
    }
    text.bytes().take_while(|sign| sign.is_ascii_alphanumeric() || *sign == b'_').count()
}

/// Returns the position of the brace that closes the one at the start of a text.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let (mut is_escaped, mut in_single) = (false, false);
    for (index, sign) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match sign {
            '\\' => is_escaped = true,
            '\'' if depth > 0 && in_single => in_single = false,
            '{' if !in_single && (depth == 0 || text[..index].ends_with('$')) => depth += 1,
            '}' if !in_single => {
                depth -= 1;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}
