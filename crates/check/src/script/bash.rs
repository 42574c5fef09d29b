//! Hook scripts for a shell, and inline commands: payload keys, printed answers, and exits.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::jq;
use super::object::{AnswerForm, AnswerLiteral};
use super::payload::{KeyRead, find_unsent_keys};
use super::python;
use super::rewrite::prints_rewrite;
use super::shell::{
    BlockKind, Part, Redirect, Separator, ShellText, SimpleCommand, Word, parse_shell,
};
use super::shell_answer::{answer_from_heredoc, answer_from_jq, answer_from_text, printed_text};
use super::variables::is_never_set;
use super::{NoiseBeforeAnswer, ScriptContext, ScriptReport, UnsetVariable};

mod exits;
mod input_test;

/// The kind of shell text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShellKind {
    /// A command of a handler.
    Command,
    /// A script for bash.
    Bash,
    /// A script for another shell.
    Sh,
}

/// Reads shell text. The report is empty if the text cannot be read to the end.
pub(super) fn read_shell(text: &str, kind: ShellKind, context: &ScriptContext<'_>) -> ScriptReport {
    let Some(shell) = parse_shell(text) else { return ScriptReport::default() };
    let reader = ShellReader::new(text, kind, &shell);
    let answers = reader.find_answers();
    let can_deny = answers.iter().any(|(_, answer)| answer.is_denial());
    let noise = answers.iter().filter_map(|(index, answer)| reader.find_noise(*index, answer));
    ScriptReport {
        is_read: true,
        unsent_keys: find_unsent_keys(&reader.find_key_reads(), text, &[], context),
        unset_variables: reader.find_unset_variables(context),
        noise: noise.collect(),
        exits: reader.find_exits(can_deny),
        answers: answers.into_iter().map(|(_, answer)| answer).collect(),
        rewrites_input: reader.prints_rewrite(),
        bash_syntax: shell.bash_syntax.clone(),
    }
}

struct ShellReader<'a> {
    text: &'a str,
    kind: ShellKind,
    shell: &'a ShellText,
    /// Functions whose output may go elsewhere, or that nothing calls.
    captured_functions: BTreeSet<&'a str>,
    /// True if the output of the whole script goes elsewhere.
    is_redirected: bool,
}

impl<'a> ShellReader<'a> {
    fn new(text: &'a str, kind: ShellKind, shell: &'a ShellText) -> Self {
        let functions = shell.blocks.iter().filter_map(|block| match &block.kind {
            BlockKind::Function(name) => Some(name.as_str()),
            _ => None,
        });
        let functions: BTreeSet<&str> = functions.collect();
        let is_redirected = shell.commands.iter().any(|command| {
            command.name().as_deref() == Some("exec") && command.redirect(1).is_some()
        });
        let called: BTreeSet<String> =
            shell.commands.iter().filter_map(SimpleCommand::name).collect();
        let uncertain = functions
            .iter()
            .filter(|name| shell.has_unread_parts || !called.contains(**name))
            .copied()
            .collect();
        let mut reader = Self { text, kind, shell, captured_functions: uncertain, is_redirected };
        loop {
            let captured = shell.commands.iter().filter_map(|command| {
                let name = command.name()?;
                let function = functions.get(name.as_str())?;
                reader.is_captured(command).then_some(*function)
            });
            let captured: BTreeSet<&str> =
                captured.chain(reader.captured_functions.iter().copied()).collect();
            if captured.len() == reader.captured_functions.len() {
                return reader;
            }
            reader.captured_functions = captured;
        }
    }

    /// Returns true if a command prints an answer with `updatedInput` as output of the hook.
    fn prints_rewrite(&self) -> bool {
        let mut printing = self.shell.commands.iter().filter(|command| !self.is_captured(command));
        printing.any(|command| prints_rewrite(self.text, command))
    }

    /// Returns true if the output of a command may not be output of the hook.
    fn is_captured(&self, command: &SimpleCommand) -> bool {
        self.is_redirected
            || command.after == Separator::Pipe
            || command.redirect(1).is_some()
            || self.shell.blocks_around(command).any(|block| {
                block.is_captured
                    || matches!(&block.kind, BlockKind::Function(name)
                        if self.captured_functions.contains(name.as_str()))
            })
    }

    /// Returns true if a command may not read the input of the script.
    fn is_fed(&self, command: &SimpleCommand) -> bool {
        command.before == Separator::Pipe
            || command.redirect(0).is_some()
            || self
                .shell
                .blocks_around(command)
                .any(|block| block.is_fed || matches!(block.kind, BlockKind::Function(_)))
    }

    /// Returns true if a command reads the whole input of the script and prints it.
    fn prints_input(&self, command: &SimpleCommand) -> bool {
        let words: Option<Vec<String>> = command.words.iter().map(Word::literal).collect();
        let Some(words) = words else { return false };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let reads_stdin = |redirect: &Redirect| {
            redirect.operator == "<" && redirect.target.literal().as_deref() == Some("/dev/stdin")
        };
        match &words[..] {
            [] => command.assignments.is_empty() && command.redirect(0).is_some_and(reads_stdin),
            ["cat"] | ["cat", "-" | "/dev/stdin"] | ["timeout", _, "cat"] => !self.is_fed(command),
            _ => false,
        }
    }

    /// Returns true if a block is a substitution such as `$(cat)` or `$(cat || true)`.
    fn is_input_block(&self, block: usize) -> bool {
        let mut own = self.shell.commands.iter().filter(|command| {
            command.block == block && !(command.words.is_empty() && command.redirects.is_empty())
        });
        let has_inner = self.shell.blocks.iter().any(|inner| inner.parent == Some(block));
        !has_inner
            && own
                .next()
                .is_some_and(|first| first.after != Separator::Pipe && self.prints_input(first))
            && own.all(|command| command.before == Separator::Or)
    }

    /// Returns the variables that hold the payload wherever they are set.
    fn payload_variables(&self) -> BTreeSet<String> {
        self.variables_holding(|block| self.is_input_block(block), |read| !self.is_fed(read))
    }

    /// Returns the variables that are set only to the output of wanted substitutions and by wanted calls of `read`. The
    /// argument of `is_wanted` is the index of a block.
    fn variables_holding(
        &self,
        is_wanted: impl Fn(usize) -> bool,
        is_wanted_read: impl Fn(&SimpleCommand) -> bool,
    ) -> BTreeSet<String> {
        let mut holds_wanted: BTreeMap<String, bool> = BTreeMap::new();
        for command in &self.shell.commands {
            for assignment in &command.assignments {
                let block = assignment.value.as_ref().and_then(Word::substitution);
                let holds = block.is_some_and(&is_wanted);
                *holds_wanted.entry(assignment.name.clone()).or_insert(true) &= holds;
            }
            match command.name().as_deref() {
                Some("local" | "export" | "declare" | "readonly" | "typeset") => {
                    for word in &command.words[1..] {
                        let Some((name, value)) = declared_variable(word) else { continue };
                        let holds = match value {
                            [Part::Substitution { block: Some(block) }] => is_wanted(*block),
                            _ => false,
                        };
                        *holds_wanted.entry(name).or_insert(true) &= holds;
                    }
                }
                Some("read") => {
                    let in_condition = self
                        .shell
                        .blocks_around(command)
                        .any(|block| block.kind == BlockKind::Condition);
                    let names: Vec<String> = command.words[1..]
                        .iter()
                        .filter_map(Word::literal)
                        .filter(|word| !word.is_empty() && !word.starts_with('-'))
                        .collect();
                    let holds = !in_condition && names.len() == 1 && is_wanted_read(command);
                    for name in names {
                        *holds_wanted.entry(name).or_insert(true) &= holds;
                    }
                }
                _ => {}
            }
        }
        holds_wanted.into_iter().filter_map(|(name, holds)| holds.then_some(name)).collect()
    }

    /// Returns true if the input of a command is the payload.
    fn reads_payload(&self, index: usize, variables: &BTreeSet<String>) -> bool {
        let command = &self.shell.commands[index];
        if let Some(redirect) = command.redirect(0) {
            let variable = redirect.target.variable();
            return redirect.operator == "<<<"
                && command.before != Separator::Pipe
                && variable.is_some_and(|name| variables.contains(name));
        }
        if command.before != Separator::Pipe {
            return !self.is_fed(command) && !self.is_in_loop(command);
        }
        let Some(previous) = self.shell.commands[..index]
            .iter()
            .rev()
            .find(|previous| previous.block == command.block)
        else {
            return false;
        };
        if previous.after != Separator::Pipe || previous.before == Separator::Pipe {
            return false;
        }
        if self.prints_input(previous) && !self.is_in_loop(previous) {
            return true;
        }
        printed_variable(previous).is_some_and(|name| variables.contains(name))
    }

    /// Returns true if the command may run more than once, or reads lines of a loop.
    fn is_in_loop(&self, command: &SimpleCommand) -> bool {
        self.shell.blocks_around(command).any(|block| {
            matches!(block.kind, BlockKind::Branch | BlockKind::Condition | BlockKind::Function(_))
        })
    }

    fn find_key_reads(&self) -> Vec<KeyRead> {
        let variables = self.payload_variables();
        let mut reads = Vec::new();
        for (index, command) in self.shell.commands.iter().enumerate() {
            match command.name().as_deref() {
                Some("jq") => {
                    let Some(filter) = jq_filter(command) else { continue };
                    let Some(text) = filter.literal() else { continue };
                    if !self.reads_payload(index, &variables) {
                        continue;
                    }
                    for path in jq::read_paths(&text) {
                        reads.extend(key_reads(&path.path, &path.alternatives, &filter.range));
                    }
                }
                Some("python3" | "python") => {
                    let [_, option, code] = &command.words[..] else { continue };
                    let Some(code_text) = code.literal() else { continue };
                    if option.literal().as_deref() != Some("-c")
                        || !self.reads_payload(index, &variables)
                    {
                        continue;
                    }
                    for mut read in python::find_key_reads(&code_text) {
                        read.range = code.range.clone();
                        reads.push(read);
                    }
                }
                _ => {}
            }
        }
        reads
    }

    fn find_unset_variables(&self, context: &ScriptContext<'_>) -> Vec<UnsetVariable> {
        let commands = &self.shell.commands;
        let mut known: BTreeSet<String> =
            context.variables.iter().map(|name| (*name).to_owned()).collect();
        for command in commands {
            known.extend(command.assignments.iter().map(|assignment| assignment.name.clone()));
            for word in &command.words {
                known.extend(declared_variable(word).map(|(name, _)| name));
            }
            if command.name().as_deref() == Some("read") {
                known.extend(command.words.iter().filter_map(Word::literal));
            }
            if matches!(command.name().as_deref(), Some("source" | "." | "eval")) {
                return Vec::new();
            }
        }
        if self.kind != ShellKind::Command
            && commands.iter().any(|command| self.may_read_input(command))
        {
            return Vec::new();
        }
        let found = self.shell.variables.iter().filter(|variable| {
            is_never_set(&variable.name)
                && !known.contains(&variable.name)
                && !has_fallback(&variable.modifier)
        });
        found
            .map(|variable| UnsetVariable {
                range: variable.range.clone(),
                name: variable.name.clone(),
            })
            .collect()
    }

    /// Returns true if a command may read the payload.
    fn may_read_input(&self, command: &SimpleCommand) -> bool {
        if command.before == Separator::Pipe || command.redirect(0).is_some_and(is_other_input) {
            return false;
        }
        let Some(name) = command.name() else { return !command.words.is_empty() };
        let base = name.rsplit('/').next().unwrap_or(&name);
        match base {
            "cat" => command.words.len() == 1 || self.prints_input(command),
            "" => command.redirect(0).is_some(),
            "jq" => jq_filter(command).is_some(),
            "read" | "mapfile" | "readarray" | "tee" | "dd" | "head" | "timeout" | "node"
            | "bun" | "deno" | "ruby" | "perl" | "bash" | "sh" | "zsh" | "npx" | "uv" | "uvx"
            | "exec" => true,
            _ => base.starts_with("python") || name.contains('/'),
        }
    }

    /// Returns the answers that the script prints, each with the index of its command.
    fn find_answers(&self) -> Vec<(usize, AnswerLiteral)> {
        let mut answers = Vec::new();
        for (index, command) in self.shell.commands.iter().enumerate() {
            if self.is_captured(command) {
                continue;
            }
            let answer = match command.name().as_deref() {
                Some(name @ ("echo" | "printf")) => {
                    let form = if name == "echo" { AnswerForm::Echo } else { AnswerForm::Printf };
                    printed_text(command, self.kind == ShellKind::Bash).and_then(
                        |(text, has_placeholders, range)| {
                            answer_from_text(&text, has_placeholders, range, form)
                        },
                    )
                }
                Some("cat") if command.words.len() == 1 => command
                    .redirect(0)
                    .and_then(|redirect| redirect.heredoc.as_ref())
                    .and_then(|heredoc| answer_from_heredoc(self.text, heredoc)),
                Some("jq") => answer_from_jq(command),
                _ => None,
            };
            answers.extend(answer.map(|answer| (index, answer)));
        }
        answers
    }

    /// Returns the text that is certainly printed before an answer.
    fn find_noise(&self, index: usize, answer: &AnswerLiteral) -> Option<NoiseBeforeAnswer> {
        let command = &self.shell.commands[index];
        let mut blocks = Vec::new();
        let mut next = Some(command.block);
        while let Some(block) = next {
            blocks.push(block);
            let kind = &self.shell.blocks[block].kind;
            next = self.shell.blocks[block].parent;
            if matches!(kind, BlockKind::Function(_)) {
                break;
            }
        }
        let earlier = self.shell.commands[..index].iter().find(|earlier| {
            blocks.contains(&earlier.block)
                && earlier.before == Separator::Sequence
                && earlier.after == Separator::Sequence
                && !self.is_captured(earlier)
                && prints_noise(earlier)
        })?;
        (command.before == Separator::Sequence).then(|| NoiseBeforeAnswer {
            range: earlier.range.clone(),
            answer: answer.range.clone(),
        })
    }
}

/// Returns the variable whose value `echo` or `printf` prints, if the command prints nothing else.
fn printed_variable(command: &SimpleCommand) -> Option<&str> {
    let word = match (command.name().as_deref(), &command.words[..]) {
        (Some("echo"), [_, word]) => word,
        (Some("echo"), [_, option, word])
            if option.literal().is_some_and(|option| option.starts_with('-')) =>
        {
            word
        }
        (Some("printf"), [_, format, word])
            if format.literal().is_some_and(|format| matches!(&*format, "%s" | "%s\\n")) =>
        {
            word
        }
        _ => return None,
    };
    word.variable()
}

/// Returns true for an input redirection that is not `/dev/stdin`.
fn is_other_input(redirect: &Redirect) -> bool {
    redirect.target.literal().as_deref() != Some("/dev/stdin")
}

/// Returns true if a modifier such as `:-default` gives the variable a value.
fn has_fallback(modifier: &str) -> bool {
    let operand = modifier.strip_prefix(':').unwrap_or(modifier);
    let Some(default) = operand.strip_prefix(['-', '=', '+']) else { return false };
    !matches!(default, "" | "\"\"" | "''")
}

/// Splits a word such as `name="value"`.
fn declared_variable(word: &Word) -> Option<(String, &[Part])> {
    let Some((Part::Text { text, .. }, value)) = word.parts.split_first() else { return None };
    let (name, rest) = text.split_once('=')?;
    let is_name =
        !name.is_empty() && name.bytes().all(|sign| sign.is_ascii_alphanumeric() || sign == b'_');
    is_name.then(|| (name.to_owned(), if rest.is_empty() { value } else { &word.parts[..] }))
}

/// Returns the filter of a jq command that reads its standard input.
fn jq_filter(command: &SimpleCommand) -> Option<&Word> {
    let mut words = command.words[1..].iter();
    let mut filter = None;
    while let Some(word) = words.next() {
        let option = word.literal().filter(|text| text.starts_with('-') && filter.is_none());
        let option = option.or_else(|| word.literal().filter(|text| text.starts_with("--")));
        match option.as_deref() {
            Some("--arg" | "--argjson" | "--slurpfile" | "--rawfile") => {
                words.next();
                words.next();
            }
            Some("--indent" | "-L") => drop(words.next()),
            Some(
                "--null-input" | "--raw-input" | "--slurp" | "--from-file" | "--args"
                | "--jsonargs" | "--stream" | "--seq",
            ) => {
                return None;
            }
            Some(option) if option.starts_with("--") => {}
            Some(option) if option.contains(['n', 'R', 's', 'f']) => return None,
            Some(_) => {}
            None if filter.is_none() => filter = Some(word),
            // A file.
            None => return None,
        }
    }
    filter
}

fn key_reads(path: &[String], alternatives: &[String], range: &Range<usize>) -> Vec<KeyRead> {
    let mut reads = Vec::new();
    for (index, key) in path.iter().take(2).enumerate() {
        if index == 1 && path[0] != "tool_input" {
            break;
        }
        reads.push(KeyRead {
            range: range.clone(),
            is_tool_input: index == 1,
            key: key.clone(),
            alternatives: if index == 0 { alternatives.to_vec() } else { Vec::new() },
        });
    }
    reads
}

/// Returns true if a command certainly prints text that is not JSON.
fn prints_noise(command: &SimpleCommand) -> bool {
    let words = match command.name().as_deref() {
        Some("echo") => &command.words[1..],
        Some("printf") => command.words.get(1..2).unwrap_or_default(),
        _ => return false,
    };
    let first = words
        .iter()
        .find(|word| !word.literal().is_some_and(|text| text.starts_with('-') && text.len() < 4));
    match first.and_then(|word| word.parts.first()) {
        Some(Part::Text { text, .. }) => {
            let text = text.trim_start();
            text.starts_with(|sign: char| sign.is_alphabetic())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
