//! Hook scripts in JavaScript and TypeScript: payload keys, printed answers, and exits.

use std::collections::BTreeSet;
use std::ops::Range;

use super::exits::{ExitFacts, ExitLiteral, says_denied};
use super::javascript_flow::FlowReader;
use super::object::{AnswerForm, AnswerLiteral, read_node};
use super::payload::{KeyRead, find_unsent_keys};
use super::program::{ProgramReader, are_in_different_members, takes_arguments, written_keys};
use super::rewrite::builds_rewrite;
use super::shell_answer::answer_from_text;
use super::tokens::{Syntax, TokenKind, Tokens, tokenize};
use super::variables::is_never_set;
use super::{NoiseBeforeAnswer, ScriptContext, ScriptReport, UnsetVariable};

/// Reads a script in JavaScript or TypeScript. The report is empty if its tokens cannot be read.
pub(super) fn read_javascript(text: &str, context: &ScriptContext<'_>) -> ScriptReport {
    let Some(tokens) = tokenize(text, Syntax::JavaScript) else { return ScriptReport::default() };
    let reader = JavaScriptReader { tokens: &tokens };
    let reads = reader.find_key_reads();
    let answers = reader.find_answers();
    let has_denial = answers.iter().any(|(_, answer)| answer.is_denial());
    let noise = answers.iter().filter_map(|(print, answer)| reader.find_noise(*print, answer));
    ScriptReport {
        is_read: true,
        unsent_keys: find_unsent_keys(&reads, text, &written_keys(&tokens, &reads), context),
        unset_variables: reader.find_unset_variables(context),
        noise: noise.collect(),
        exits: reader.find_exits(has_denial),
        answers: answers.into_iter().map(|(_, answer)| answer).collect(),
        rewrites_input: builds_rewrite(&tokens),
        bash_syntax: Vec::new(),
    }
}

struct JavaScriptReader<'a> {
    tokens: &'a Tokens<'a>,
}

impl<'a> JavaScriptReader<'a> {
    /// Returns the index behind an expression that reads all of stdin as text.
    fn stdin_text_end(&self, at: usize) -> Option<usize> {
        let tokens = self.tokens;
        let at = if tokens.is(at, "await") { at + 1 } else { at };
        if tokens.has_sequence(at, &["Bun", ".", "stdin", ".", "text", "(", ")"]) {
            return Some(at + 7);
        }
        let name = if tokens.has_sequence(at, &["fs", "."]) { at + 2 } else { at };
        if !tokens.has_sequence(name, &["readFileSync", "("]) {
            return None;
        }
        let source = tokens.text(name + 2);
        let is_stdin = source == "0"
            || tokens.plain_text(name + 2) == Some("/dev/stdin")
            || tokens.has_sequence(name + 2, &["process", ".", "stdin", ".", "fd"]);
        is_stdin.then(|| tokens.closing(name + 1))?.map(|close| close + 1)
    }

    /// Returns the variables to which stdin handlers append.
    fn appended_names(&self) -> BTreeSet<&'a str> {
        let tokens: &'a Tokens<'a> = self.tokens;
        let has_handler = (0..tokens.tokens.len()).any(|at| {
            tokens.has_sequence(at, &["process", ".", "stdin", ".", "on", "("])
                && tokens.plain_text(at + 6) == Some("data")
                || tokens.has_sequence(at, &["of", "process", ".", "stdin", ")"])
        });
        let other_streams = (0..tokens.tokens.len())
            .any(|at| tokens.is(at, "spawn") || tokens.has_sequence(at, &["stdout", ".", "on"]));
        if !has_handler || other_streams {
            return BTreeSet::new();
        }
        let appended = (0..tokens.tokens.len())
            .filter(|at| tokens.is_name(*at) && tokens.is(at + 1, "+="))
            .filter(|at| *at == 0 || !tokens.is(at - 1, "."));
        let mut names: BTreeSet<&str> = appended.map(|at| tokens.text(at)).collect();
        // One accumulator is certainly that of stdin.
        if names.len() > 1 {
            names.clear();
        }
        names
    }

    fn payload_names(&self) -> BTreeSet<&'a str> {
        let tokens = self.tokens;
        let program = ProgramReader { tokens };
        let appended = self.appended_names();
        let texts = program.names_holding(|at| {
            self.stdin_text_end(at).is_some_and(|end| self.is_statement_end(end))
        });
        let is_parse = |at: usize| {
            if !tokens.has_sequence(at, &["JSON", ".", "parse", "("]) {
                return tokens
                    .has_sequence(at, &["await", "Bun", ".", "stdin", ".", "json", "(", ")"])
                    && self.is_statement_end(at + 8);
            }
            let Some(close) = tokens.closing(at + 3) else { return false };
            let inner = tokens.text(at + 4);
            let is_name = close == at + 5 && (texts.contains(inner) || appended.contains(inner));
            let is_call = self.stdin_text_end(at + 4) == Some(close);
            (is_name || is_call) && self.is_statement_end(close + 1)
        };
        program
            .names_holding(|at| is_parse(at) || program.is_whole_value(at, &["{", "}"]))
            .into_iter()
            .filter(|name| program.is_assigned(name, is_parse) && self.is_declared_once(name))
            .collect()
    }

    /// Returns true if a statement ends in front of a token. A type behind `as` belongs to the end.
    fn is_statement_end(&self, at: usize) -> bool {
        let tokens = self.tokens;
        let mut at = at;
        if tokens.is(at, "as") && tokens.is_name(at + 1) {
            at += 2;
        }
        let Some(token) = tokens.tokens.get(at) else { return true };
        tokens.is(at, ";")
            || at > 0
                && tokens.source[tokens.tokens[at - 1].range.end..token.range.start].contains('\n')
                && !tokens.is(at, ".")
    }

    fn is_declared_once(&self, name: &str) -> bool {
        let tokens = self.tokens;
        let count = (1..tokens.tokens.len())
            .filter(|at| {
                tokens.is(*at, name)
                    && ["const", "let", "var"].iter().any(|word| tokens.is(at - 1, word))
            })
            .count();
        count == 1
    }

    fn find_key_reads(&self) -> Vec<KeyRead> {
        let tokens = self.tokens;
        let program = ProgramReader { tokens };
        let payloads = self.payload_names();
        let mut reads: Vec<(usize, KeyRead)> = Vec::new();
        let mut destructured = Vec::new();
        for name in &payloads {
            for at in (0..tokens.tokens.len()).filter(|at| program.is_variable(*at, name)) {
                let Some(read) = self.read_key(at) else {
                    destructured.extend(self.destructured_keys(at));
                    continue;
                };
                if !program.is_tested_or_set(name, &read.key) {
                    if read.key == "tool_input"
                        && let Some(inner) = self.read_key(at + 2)
                    {
                        reads.push((at, KeyRead { is_tool_input: true, ..inner }));
                    }
                    reads.push((at, read));
                }
            }
        }
        let keys: Vec<(usize, bool, String)> =
            reads.iter().map(|(at, read)| (*at, read.is_tool_input, read.key.clone())).collect();
        reads
            .into_iter()
            .map(|(at, mut read)| {
                let statement = tokens.tokens[at].statement;
                let others = keys.iter().filter(|(other, is_tool_input, key)| {
                    tokens.tokens[*other].statement == statement
                        && !is_tool_input
                        && *key != read.key
                        && !are_in_different_members(tokens, at, *other)
                });
                read.alternatives.extend(others.map(|(_, _, key)| key.clone()));
                read
            })
            .chain(destructured)
            .collect()
    }

    /// Returns the key that `name.key`, `name?.key` or `name["key"]` reads.
    fn read_key(&self, at: usize) -> Option<KeyRead> {
        let tokens = self.tokens;
        let (key, last) =
            if (tokens.is(at + 1, ".") || tokens.is(at + 1, "?.")) && tokens.is_name(at + 2) {
                (tokens.text(at + 2), at + 2)
            } else if tokens.is(at + 1, "[") && tokens.is(at + 3, "]") {
                (tokens.plain_text(at + 2)?, at + 3)
            } else {
                return None;
            };
        // Assignments and calls of methods.
        if tokens.is(last + 1, "=") || tokens.is(last + 1, "(") {
            return None;
        }
        let range = tokens.tokens[at].range.start..tokens.tokens[last].range.end;
        let key = key.to_owned();
        Some(KeyRead { range, is_tool_input: false, key, alternatives: Vec::new() })
    }

    /// Returns the keys of `const { a, b: c = 1 } = name`.
    fn destructured_keys(&self, at: usize) -> Vec<KeyRead> {
        let tokens = self.tokens;
        if at < 3
            || !tokens.is(at - 1, "=")
            || !tokens.is(at - 2, "}")
            || !self.is_statement_end(at + 1)
        {
            return Vec::new();
        }
        let Some(open) = (0..at - 2).rev().find(|open| tokens.is(*open, "{")) else {
            return Vec::new();
        };
        if tokens.closing(open) != Some(at - 2) {
            return Vec::new();
        }
        let mut reads = Vec::new();
        for key in open + 1..at - 2 {
            let is_key = tokens.is_name(key) && (tokens.is(key - 1, ",") || key == open + 1);
            if !is_key {
                continue;
            }
            let range = tokens.tokens[key].range.clone();
            let name = tokens.text(key).to_owned();
            reads.push(KeyRead {
                range,
                is_tool_input: false,
                key: name,
                alternatives: Vec::new(),
            });
        }
        reads
    }

    /// Returns the answers, each with the index of the token that prints it.
    fn find_answers(&self) -> Vec<(usize, AnswerLiteral)> {
        let tokens = self.tokens;
        let takes_arguments = takes_arguments(tokens);
        let is_replaced = (0..tokens.tokens.len()).any(|at| {
            tokens.has_sequence(at, &["console", "="])
                || tokens.has_sequence(at, &["console", ".", "log", "="])
                || tokens.has_sequence(at, &["stdout", ".", "write", "="])
        });
        if is_replaced {
            return Vec::new();
        }
        let mut answers = Vec::new();
        for at in 0..tokens.tokens.len() {
            let Some(open) = self.print_argument(at) else { continue };
            let Some(answer) = self.read_print(open) else { continue };
            if !takes_arguments || answer.has_known_key() {
                answers.push((at, answer));
            }
        }
        answers
    }

    /// Returns the opening parenthesis of a call that prints to stdout.
    fn print_argument(&self, at: usize) -> Option<usize> {
        let is_call = |call: &[&str]| self.tokens.has_sequence(at, call);
        if is_call(&["console", ".", "log", "("]) {
            Some(at + 3)
        } else if is_call(&["process", ".", "stdout", ".", "write", "("]) {
            Some(at + 5)
        } else {
            None
        }
    }

    fn read_print(&self, open: usize) -> Option<AnswerLiteral> {
        let tokens = self.tokens;
        let close = tokens.closing(open)?;
        if !tokens.has_sequence(open + 1, &["JSON", ".", "stringify", "("]) {
            let TokenKind::Text { value, has_placeholders } = &tokens.tokens.get(open + 1)?.kind
            else {
                return None;
            };
            let range = tokens.tokens[open + 1].range.clone();
            return (open + 2 == close)
                .then(|| answer_from_text(value, *has_placeholders, range, AnswerForm::Text))?;
        }
        let inner_close = tokens.closing(open + 4)?;
        let has_last_comma = tokens.is(inner_close + 1, ",") && inner_close + 2 == close;
        if inner_close + 1 != close && !tokens.is(inner_close + 1, "+") && !has_last_comma {
            return None;
        }
        let value = if tokens.is(open + 5, "{") { open + 5 } else { self.literal_of(open + 5)? };
        let (node, end) = read_node(tokens, value)?;
        let range = tokens.tokens[value].range.start..tokens.tokens.get(end - 1)?.range.end;
        node.to_answer(range)
    }

    /// Returns the literal of a variable that is assigned once and mentioned only to print it.
    fn literal_of(&self, at: usize) -> Option<usize> {
        let tokens = self.tokens;
        if !tokens.is_name(at) || !(tokens.is(at + 1, ")") || tokens.is(at + 1, ",")) {
            return None;
        }
        let name = tokens.text(at);
        let mut uses = (0..tokens.tokens.len()).filter(|use_at| tokens.is(*use_at, name));
        let (first, last) = (uses.next()?, uses.next()?);
        let is_declared =
            first > 0 && ["const", "let", "var"].iter().any(|word| tokens.is(first - 1, word));
        (is_declared
            && last == at
            && uses.next().is_none()
            && tokens.has_sequence(first + 1, &["=", "{"]))
        .then_some(first + 2)
    }

    /// Returns a call that prints plain text on every path to an answer.
    fn find_noise(&self, print: usize, answer: &AnswerLiteral) -> Option<NoiseBeforeAnswer> {
        let tokens = self.tokens;
        let flow = FlowReader { tokens };
        let noise = (0..print).find_map(|at| {
            let open = self.print_argument(at)?;
            let close = tokens.closing(open)?;
            let TokenKind::Text { value, .. } = &tokens.tokens.get(open + 1)?.kind else {
                return None;
            };
            let is_text = value.trim_start().starts_with(char::is_alphabetic);
            (is_text && flow.is_always_before(at, print))
                .then(|| tokens.tokens[at].range.start..tokens.tokens[close].range.end)
        })?;
        Some(NoiseBeforeAnswer { range: noise, answer: answer.range.clone() })
    }

    fn find_exits(&self, has_denial: bool) -> ExitFacts {
        let tokens = self.tokens;
        let flow = FlowReader { tokens };
        let mut facts = ExitFacts { has_denial, ..ExitFacts::default() };
        for at in 0..tokens.tokens.len() {
            let is_call = tokens.has_sequence(at, &["process", ".", "exit", "("])
                || tokens.has_sequence(at, &["Deno", ".", "exit", "("]);
            let is_assignment = tokens.has_sequence(at, &["process", ".", "exitCode", "="]);
            if !is_call && !is_assignment {
                continue;
            }
            let code_at = at + 4;
            let is_whole = if is_call {
                tokens.is(code_at + 1, ")")
            } else {
                self.is_statement_end(code_at + 1)
            };
            match tokens.text(code_at).parse() {
                Ok(code) if is_whole => {
                    let range = tokens.tokens[at].range.start..tokens.tokens[code_at].range.end;
                    let reason = self.stderr_statement_before(at);
                    let says_denied = reason
                        .as_ref()
                        .is_some_and(|range| says_denied(&tokens.source[range.clone()]));
                    let tests_input = reason.is_some() && flow.is_under_input_test(at);
                    facts.exits.push(ExitLiteral { range, code, reason, says_denied, tests_input });
                }
                _ => facts.has_computed_exit |= !tokens.is(code_at, ")"),
            }
        }
        facts
    }

    /// Returns the call directly before a token, if it writes to stderr.
    fn stderr_statement_before(&self, at: usize) -> Option<Range<usize>> {
        let tokens = self.tokens;
        let mut last = at.checked_sub(1)?;
        if tokens.is(last, ";") {
            last = last.checked_sub(1)?;
        }
        if !tokens.is(last, ")") {
            return None;
        }
        let start = (0..last).rev().take(200).find(|start| {
            tokens.has_sequence(*start, &["console", ".", "error", "("])
                && tokens.closing(start + 3) == Some(last)
                || tokens.has_sequence(*start, &["process", ".", "stderr", ".", "write", "("])
                    && tokens.closing(start + 5) == Some(last)
        })?;
        Some(tokens.tokens[start].range.start..tokens.tokens[last].range.end)
    }

    fn find_unset_variables(&self, context: &ScriptContext<'_>) -> Vec<UnsetVariable> {
        let tokens = self.tokens;
        // The input of a module is an argument of its functions.
        let is_module = (0..tokens.tokens.len()).any(|at| {
            tokens.is(at, "export") || tokens.has_sequence(at, &["module", ".", "exports"])
        });
        if is_module || tokens.source.contains("stdin") || tokens.source.contains("readFileSync(0")
        {
            return Vec::new();
        }
        let mut found = Vec::new();
        for at in 0..tokens.tokens.len() {
            if !tokens.has_sequence(at, &["process", ".", "env", "."]) {
                continue;
            }
            let name = tokens.text(at + 4);
            let has_default = tokens.is(at + 5, "=")
                || (tokens.is(at + 5, "||") || tokens.is(at + 5, "??"))
                    && !matches!(tokens.text(at + 6), "\"\"" | "''" | "\"{}\"" | "'{}'");
            let is_fallback = at > 0 && (tokens.is(at - 1, "||") || tokens.is(at - 1, "??"));
            if is_never_set(name)
                && !has_default
                && !is_fallback
                && !context.variables.contains(&name)
            {
                let range = tokens.tokens[at].range.start..tokens.tokens[at + 4].range.end;
                found.push(UnsetVariable { range, name: name.to_owned() });
            }
        }
        found
    }
}
