//! Hook scripts in Python: payload keys, printed answers, and exits.

use std::ops::Range;

use super::exits::{ExitFacts, ExitLiteral, mentions_decision, says_denied, says_warning};
use super::object::{AnswerForm, AnswerLiteral, read_node};
use super::payload::{KeyRead, find_unsent_keys};
use super::program::{ProgramReader, are_in_different_members, takes_arguments, written_keys};
use super::python_flow::PythonFlow;
use super::python_names::{PayloadNames, find_payload_names, read_key};
use super::rewrite::builds_rewrite;
use super::shell_answer::answer_from_text;
use super::tokens::{Syntax, TokenKind, Tokens, tokenize};
use super::variables::is_never_set;
use super::{NoiseBeforeAnswer, ScriptContext, ScriptReport, UnsetVariable};

/// Reads a Python script. The report is empty if its tokens cannot be read.
pub(super) fn read_python(text: &str, context: &ScriptContext<'_>) -> ScriptReport {
    let Some(tokens) = tokenize(text, Syntax::Python) else { return ScriptReport::default() };
    let reader = PythonReader { tokens: &tokens };
    let reads = find_token_reads(&tokens);
    let answers = reader.find_answers();
    let exits = reader.find_exits(answers.iter().any(|(_, answer)| answer.is_denial()));
    let noise = answers.iter().filter_map(|(print, answer)| reader.find_noise(*print, answer));
    ScriptReport {
        is_read: true,
        unsent_keys: find_unsent_keys(&reads, text, &written_keys(&tokens, &reads), context),
        unset_variables: reader.find_unset_variables(context),
        noise: noise.collect(),
        exits,
        answers: answers.into_iter().map(|(_, answer)| answer).collect(),
        rewrites_input: builds_rewrite(&tokens),
        bash_syntax: Vec::new(),
    }
}

/// Returns the payload keys that Python text reads.
pub(super) fn find_key_reads(text: &str) -> Vec<KeyRead> {
    tokenize(text, Syntax::Python).map_or_else(Vec::new, |tokens| find_token_reads(&tokens))
}

fn find_token_reads(tokens: &Tokens<'_>) -> Vec<KeyRead> {
    let program = ProgramReader { tokens };
    let PayloadNames { payloads, inputs } = find_payload_names(tokens);
    let mut reads = Vec::new();
    for name in &payloads {
        let own: Vec<(usize, KeyRead)> = (0..tokens.tokens.len())
            .filter(|at| program.is_variable(*at, name))
            .filter_map(|at| Some((at, read_key(tokens, at, false)?)))
            .collect();
        // A key that the script tests for or sets is not one that it relies on.
        reads.extend(with_alternatives(tokens, own, |key| program.is_tested_or_set(name, key)));
    }
    for name in inputs {
        let own: Vec<(usize, KeyRead)> = (0..tokens.tokens.len())
            .filter(|at| program.is_variable(*at, name))
            .filter_map(|at| Some((at, read_key(tokens, at, true)?)))
            .collect();
        reads.extend(with_alternatives(tokens, own, |key| program.is_tested_or_set(name, key)));
    }
    reads
}

/// Adds to each read the other keys of its statement, as far as they are not values of other members of an object.
fn with_alternatives(
    tokens: &Tokens<'_>,
    reads: Vec<(usize, KeyRead)>,
    is_excluded: impl Fn(&str) -> bool,
) -> Vec<KeyRead> {
    let keys: Vec<(usize, String)> =
        reads.iter().map(|(at, read)| (*at, read.key.clone())).collect();
    reads
        .into_iter()
        .filter(|(_, read)| !is_excluded(&read.key))
        .map(|(at, mut read)| {
            let statement = tokens.tokens[at].statement;
            let others = keys.iter().filter(|(other, key)| {
                tokens.tokens[*other].statement == statement
                    && *key != read.key
                    && !are_in_different_members(tokens, at, *other)
            });
            read.alternatives = others.map(|(_, key)| key.clone()).collect();
            read
        })
        .collect()
}

struct PythonReader<'a> {
    tokens: &'a Tokens<'a>,
}

impl PythonReader<'_> {
    /// Returns the answers, each with the index of the token that prints it.
    fn find_answers(&self) -> Vec<(usize, AnswerLiteral)> {
        let tokens = self.tokens;
        let source = tokens.source;
        if source.contains("redirect_stdout") || source.contains("sys.stdout =") {
            return Vec::new();
        }
        let takes_arguments = takes_arguments(tokens);
        let mut answers = Vec::new();
        for at in 0..tokens.tokens.len() {
            let open = if tokens.has_sequence(at, &["print", "("]) && !self.follows_dot(at) {
                at + 1
            } else if tokens.has_sequence(at, &["sys", ".", "stdout", ".", "write", "("]) {
                at + 5
            } else if tokens.has_sequence(at, &["json", ".", "dump", "("]) {
                at + 3
            } else {
                continue;
            };
            let Some(answer) = self.read_print(at, open) else { continue };
            if takes_arguments && !answer.has_known_key() {
                continue;
            }
            answers.push((at, answer));
        }
        answers
    }

    fn follows_dot(&self, at: usize) -> bool {
        at > 0 && (self.tokens.is(at - 1, ".") || self.tokens.is(at - 1, "def"))
    }

    fn read_print(&self, print: usize, open: usize) -> Option<AnswerLiteral> {
        let tokens = self.tokens;
        let close = tokens.closing(open)?;
        let has_file = (open..close).any(|at| tokens.has_sequence(at, &["file", "="]));
        if has_file {
            return None;
        }
        let is_dump = tokens.has_sequence(print, &["json", ".", "dump", "("]);
        let value = if is_dump {
            let end = close.checked_sub(3)?;
            // Options such as `indent` may follow the stream.
            let to_stdout =
                (open..=end).any(|at| tokens.has_sequence(at, &[",", "sys", ".", "stdout"]));
            to_stdout.then_some(open + 1)?
        } else if tokens.has_sequence(open + 1, &["json", ".", "dumps", "("]) {
            let inner_close = tokens.closing(open + 4)?;
            let is_whole = inner_close + 1 == close
                || tokens.is(inner_close + 1, ",")
                || tokens.is(inner_close + 1, "+");
            is_whole.then_some(open + 5)?
        } else {
            let TokenKind::Text { value, has_placeholders } = &tokens.tokens.get(open + 1)?.kind
            else {
                return None;
            };
            if open + 2 != close {
                return None;
            }
            let range = tokens.tokens[open + 1].range.clone();
            return answer_from_text(value, *has_placeholders, range, AnswerForm::Text);
        };
        self.read_literal(print, value)
    }

    /// Reads a literal, or the literal that a variable was set to in the same block.
    fn read_literal(&self, print: usize, value: usize) -> Option<AnswerLiteral> {
        let tokens = self.tokens;
        if tokens.is(value, "{") {
            let (node, end) = read_node(tokens, value)?;
            return node
                .to_answer(tokens.tokens[value].range.start..tokens.tokens[end - 1].range.end);
        }
        if !tokens.is_name(value) || !(tokens.is(value + 1, ")") || tokens.is(value + 1, ",")) {
            return None;
        }
        let name = tokens.text(value);
        let indent = tokens.tokens[print].indent;
        let is_first =
            print == 0 || tokens.tokens[print - 1].statement != tokens.tokens[print].statement;
        if !is_first {
            return None;
        }
        let last = (0..print).rev().find(|at| tokens.is(*at, name))?;
        let is_assignment = tokens.has_sequence(last + 1, &["=", "{"])
            && tokens.tokens[last].indent == indent
            && (last == 0 || tokens.tokens[last - 1].statement != tokens.tokens[last].statement);
        let stays_in_block = tokens.tokens[last..print].iter().all(|token| token.indent >= indent);
        if !is_assignment || !stays_in_block {
            return None;
        }
        let (node, end) = read_node(tokens, last + 2)?;
        let is_whole = tokens.tokens[end].statement != tokens.tokens[last].statement;
        let range = tokens.tokens[last + 2].range.start..tokens.tokens[end - 1].range.end;
        is_whole.then(|| node.to_answer(range))?
    }

    /// Returns a `print` of plain text in the same block before an answer.
    fn find_noise(&self, print: usize, answer: &AnswerLiteral) -> Option<NoiseBeforeAnswer> {
        let tokens = self.tokens;
        let indent = tokens.tokens[print].indent;
        let is_start =
            |at: usize| at == 0 || tokens.tokens[at - 1].statement != tokens.tokens[at].statement;
        if !is_start(print) {
            return None;
        }
        let mut at = print;
        while at > 0 {
            at -= 1;
            if tokens.tokens[at].indent < indent {
                return None;
            }
            if tokens.tokens[at].indent == indent
                && is_start(at)
                && tokens.has_sequence(at, &["print", "("])
            {
                let close = tokens.closing(at + 1)?;
                let has_file = (at..close).any(|at| tokens.has_sequence(at, &["file", "="]));
                let TokenKind::Text { value, .. } = &tokens.tokens.get(at + 2)?.kind else {
                    continue;
                };
                if !has_file && value.trim_start().starts_with(char::is_alphabetic) {
                    let range = tokens.tokens[at].range.start..tokens.tokens[close].range.end;
                    return Some(NoiseBeforeAnswer { range, answer: answer.range.clone() });
                }
            }
        }
        None
    }

    fn find_exits(&self, has_denial: bool) -> ExitFacts {
        let tokens = self.tokens;
        let flow = PythonFlow::new(tokens);
        let has_decision = mentions_decision(tokens.source);
        let mut facts = ExitFacts { has_denial, ..ExitFacts::default() };
        let add_exit = |facts: &mut ExitFacts, at: usize, last: usize, code: i32| {
            let range = tokens.tokens[at].range.start..tokens.tokens[last].range.end;
            let reason = self.stderr_statement_before(at);
            let text = reason.as_ref().map(|range| &tokens.source[range.clone()]);
            let says_denied = text.is_some_and(says_denied);
            let tests_input = text.is_some_and(|text| !says_warning(text))
                && !has_decision
                && flow.is_under_input_test(at);
            facts.exits.push(ExitLiteral { range, code, reason, says_denied, tests_input });
        };
        for at in 0..tokens.tokens.len() {
            let open = if tokens.has_sequence(at, &["sys", ".", "exit", "("])
                || tokens.has_sequence(at, &["os", ".", "_exit", "("])
            {
                at + 3
            } else if (tokens.has_sequence(at, &["exit", "("])
                || tokens.has_sequence(at, &["quit", "("])
                || tokens.has_sequence(at, &["SystemExit", "("]))
                && !self.follows_dot(at)
            {
                at + 1
            } else {
                continue;
            };
            let Some(close) = tokens.closing(open) else { continue };
            let code = tokens.text(open + 1).parse().ok().filter(|_| close == open + 2);
            if let Some(code) = code {
                add_exit(&mut facts, at, close, code);
            } else if let Some(returns) = flow.returned_codes(open + 1, close) {
                for (at, code) in returns {
                    add_exit(&mut facts, at, at + 1, code);
                }
            } else if close > open + 1 {
                facts.has_computed_exit = true;
            }
        }
        facts
    }

    /// Returns the statement before that of a token, if it prints to stderr.
    fn stderr_statement_before(&self, at: usize) -> Option<Range<usize>> {
        let tokens = &self.tokens.tokens;
        let (own, indent) = (tokens[at].statement, tokens[at].indent);
        let first = tokens[..at].iter().position(|token| token.statement == own).unwrap_or(at);
        let last = first.checked_sub(1)?;
        let statement = tokens[last].statement;
        let start = tokens.iter().position(|token| token.statement == statement)?;
        let text = &self.tokens.source[tokens[start].range.start..tokens[last].range.end];
        let writes = (text.starts_with("print(") && text.contains("sys.stderr"))
            || text.starts_with("sys.stderr.write(");
        (writes && tokens[start].indent == indent)
            .then(|| tokens[start].range.start..tokens[last].range.end)
    }

    fn find_unset_variables(&self, context: &ScriptContext<'_>) -> Vec<UnsetVariable> {
        let tokens = self.tokens;
        if tokens.source.contains("stdin") {
            return Vec::new();
        }
        let mut found = Vec::new();
        for at in 0..tokens.tokens.len() {
            let key = if tokens.has_sequence(at, &["os", ".", "environ", "["])
                || tokens.has_sequence(at, &["os", ".", "getenv", "("])
            {
                at + 4
            } else if tokens.has_sequence(at, &["os", ".", "environ", ".", "get", "("]) {
                at + 6
            } else {
                continue;
            };
            let Some(name) = tokens.plain_text(key) else { continue };
            // A default, as far as it is not empty, and an assignment.
            let has_default = tokens.is(key + 1, ",")
                && !matches!(tokens.text(key + 2), "\"\"" | "''" | "None" | "\"{}\"" | "'{}'");
            let is_set = tokens.has_sequence(key + 1, &["]", "="]);
            let behind = tokens.closing(key - 1).map_or(key, |close| close + 1);
            let is_alternative = at > 0 && tokens.is(at - 1, "or") || tokens.is(behind, "or");
            let is_certain = !has_default && !is_set && !is_alternative;
            if is_certain && is_never_set(name) && !context.variables.contains(&name) {
                let range = tokens.tokens[key].range.clone();
                found.push(UnsetVariable { range, name: name.to_owned() });
            }
        }
        found
    }
}
