//! Branches of shell text that are entered only if the input of a tool matches a pattern.

use std::collections::BTreeSet;

use super::super::jq;
use super::super::shell::{BranchTest, Separator, SimpleCommand, Word};
use super::{ShellReader, jq_filter, printed_variable};

impl ShellReader<'_> {
    /// Returns the variables that hold a part of `tool_input` wherever they are set.
    pub(super) fn input_variables(&self) -> BTreeSet<String> {
        let payloads = self.payload_variables();
        let mut names =
            self.variables_holding(|block| self.is_tool_input_block(block, &payloads), |_| false);
        // The variable of a loop has other values.
        names.retain(|name| !self.text.contains(&format!("for {name} ")));
        names
    }

    /// Returns true for a substitution whose output is a part of `tool_input`: `$(printf '%s' "$input" | jq -r
    /// '.tool_input.command')`.
    fn is_tool_input_block(&self, block: usize, payloads: &BTreeSet<String>) -> bool {
        let has_inner = self.shell.blocks.iter().any(|inner| inner.parent == Some(block));
        let mut own = self.shell.commands.iter().enumerate().filter(|(_, command)| {
            command.block == block && !(command.words.is_empty() && command.redirects.is_empty())
        });
        let Some((index, command)) = own.find(|(_, command)| command.after != Separator::Pipe)
        else {
            return false;
        };
        let reads_input = command.name().as_deref() == Some("jq")
            && self.reads_payload(index, payloads)
            && jq_filter(command).and_then(Word::literal).is_some_and(|filter| {
                let paths = jq::read_paths(&filter);
                !paths.is_empty()
                    && paths.iter().all(|path| path.path.len() > 1 && path.path[0] == "tool_input")
            });
        !has_inner && reads_input && own.all(|(_, command)| command.before == Separator::Or)
    }

    /// Returns true if a command is in a branch that is entered only if one of the variables matches a pattern.
    pub(super) fn is_under_input_test(
        &self,
        command: &SimpleCommand,
        variables: &BTreeSet<String>,
    ) -> bool {
        let is_input = |name: &str| variables.contains(name);
        match self.shell.branch_tests.get(&command.block) {
            Some(BranchTest::Patterns { subject, patterns }) => {
                subject.variable().is_some_and(is_input)
                    && !patterns.is_empty()
                    && patterns
                        .iter()
                        .all(|word| word.literal().is_some_and(|text| is_pattern(&text)))
            }
            Some(BranchTest::Condition(block)) => self.is_match_condition(*block, is_input),
            None => false,
        }
    }

    /// Returns true for the conditions `printf '%s' "$name" | grep -q …`, `grep -q … <<< "$name"` and
    /// `[[ $name == pattern ]]`.
    fn is_match_condition(&self, block: usize, is_input: impl Fn(&str) -> bool) -> bool {
        let own: Vec<&SimpleCommand> =
            self.shell.commands.iter().filter(|command| command.block == block).collect();
        let Some(first) = own.first() else { return false };
        // A `!` in front negates the condition.
        let is_first = |start: usize| {
            let before = self.text[..start].trim_end();
            before.ends_with("if") && before.len() < start
        };
        match &own[..] {
            [printer, grep] => {
                is_first(first.range.start)
                    && printer.after == Separator::Pipe
                    && printer.before == Separator::Sequence
                    && printed_variable(printer).is_some_and(is_input)
                    && grep.redirect(0).is_none()
                    && is_positive_grep(grep)
            }
            [one] if !one.words.is_empty() => {
                is_first(one.range.start)
                    && is_positive_grep(one)
                    && one.redirect(0).is_some_and(|redirect| {
                        redirect.operator == "<<<"
                            && redirect.target.variable().is_some_and(is_input)
                    })
            }
            [one] => {
                let before = &self.text[..one.range.start];
                let Some(start) = before.rfind("[[") else { return false };
                is_first(start)
                    && one.before == Separator::Sequence
                    && one.after == Separator::Sequence
                    && is_match_test(&before[start + 2..], is_input)
            }
            [] | [_, _, _, ..] => false,
        }
    }
}

/// Returns true for a pattern that has letters or digits, so that a missing value does not match it: neither the empty
/// text nor `null`.
fn is_pattern(text: &str) -> bool {
    let mut is_escaped = false;
    let mut bracket_depth = 0_usize;
    let mut has_letters = false;
    for sign in text.chars() {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => bracket_depth += 1,
            ']' => bracket_depth = bracket_depth.saturating_sub(1),
            _ => has_letters |= bracket_depth == 0 && sign.is_alphanumeric(),
        }
    }
    let is_missing_value = |part: &str| {
        matches!(part.trim_matches(['^', '$', '"', ' ']), "" | "null") && part != "^" && part != "$"
    };
    has_letters
        && !text.contains("!(")
        && !text.contains("(?!")
        && !text.split('|').any(is_missing_value)
}

/// Returns true for `grep` with a literal pattern and without `-v`.
fn is_positive_grep(command: &SimpleCommand) -> bool {
    let words: Option<Vec<String>> = command.words[1..].iter().map(Word::literal).collect();
    let Some(words) = words.filter(|_| {
        matches!(command.name().as_deref(), Some("grep" | "egrep" | "fgrep"))
            && command.after == Separator::Sequence
    }) else {
        return false;
    };
    let (options, patterns): (Vec<&str>, Vec<&str>) = words
        .iter()
        .map(String::as_str)
        .filter(|word| !matches!(*word, "-e" | "--"))
        .partition(|word| word.starts_with('-'));
    let is_known = |option: &&str| option[1..].chars().all(|letter| "qEFPiwxoe".contains(letter));
    options.iter().all(is_known) && matches!(patterns[..], [pattern] if is_pattern(pattern))
}

/// Returns true for the text `"$name" == pattern ]]`, also with other operators that match a pattern.
fn is_match_test(text: &str, is_input: impl Fn(&str) -> bool) -> bool {
    let Some(text) = text.trim_end().strip_suffix("]]") else { return false };
    let Some((word, rest)) = text.trim().split_once(char::is_whitespace) else { return false };
    let Some(name) = word.trim_matches('"').strip_prefix('$') else { return false };
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let rest = rest.trim_start();
    let pattern = ["==", "=~", "="].iter().find_map(|operator| rest.strip_prefix(operator));
    // A `$` in front of a space or a bracket is an anchor.
    let has_expansion = rest.match_indices('$').any(|(at, _)| {
        rest[at + 1..].starts_with(|sign: char| sign.is_alphanumeric() || "_{(".contains(sign))
    });
    is_input(name)
        && !rest.contains("||")
        && !has_expansion
        && pattern.is_some_and(|pattern| is_pattern(pattern.trim()))
}
