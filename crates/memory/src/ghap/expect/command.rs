//! Splits a command line into runs, to compare them with a prediction.

use super::names::{self, NameKind};
use rutter_runs::command_line::{CommandLine, ParsedCommand};
use rutter_runs::table::{self, FlagEffect, RunnerArguments};

/// A run in a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandRun {
    /// The runner or task in a uniform spelling: `cargo test`, `npm build`; for an unknown program its first word.
    name: String,
    /// Language of a known runner; `any` if it runs every language.
    language: Option<&'static str>,
    is_test: bool,
    /// The effects of its flags.
    flags: RunnerFlags,
    /// The words after its start, in order; `--flag=value` as two.
    arguments: Vec<String>,
}

/// The flags of a runner.
#[derive(Debug, Clone, Copy)]
struct RunnerFlags(&'static RunnerArguments);

impl PartialEq for RunnerFlags {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for RunnerFlags {}

/// Arguments that select everything.
const WHOLE_ARGUMENTS: &[&str] = &["./...", "...", ".", "tests", "test", "spec", "//..."];

impl RunnerFlags {
    /// Returns true if a flag, with or without a value, narrows the run.
    fn narrows(self, flag: &str) -> bool {
        let effect = self.0.effect(flag).0;
        matches!(
            effect,
            FlagEffect::SelectsName
                | FlagEffect::SelectsPath
                | FlagEffect::SelectsPackage
                | FlagEffect::Narrows
        )
    }

    fn excludes(self, flag: &str) -> bool {
        self.0.effect(flag).0 == FlagEffect::Excludes
    }

    fn takes_value(self, flag: &str) -> bool {
        self.0.effect(flag).1
    }
}

/// Returns true if a code span is a known command.
pub(crate) fn is_command(text: &str) -> bool {
    parse_runs(text).iter().any(CommandRun::is_known)
}

/// Returns the runs in a command line, without commands such as `cd` and `echo`.
pub(super) fn parse_runs(line: &str) -> Vec<CommandRun> {
    CommandLine::parse(line).commands.iter().filter_map(CommandRun::new).collect()
}

impl CommandRun {
    fn new(command: &ParsedCommand) -> Option<Self> {
        let words = &command.words;
        if matches!(command.program(), "" | "cd" | "pushd" | "export" | "source" | "set" | "echo") {
            return None;
        }
        if let Some(found) = table::find_predictable(words) {
            let runner = found.runner;
            // Both run the same tests.
            let name = if runner.name == "cargo nextest" { "cargo test" } else { runner.name };
            return Some(Self {
                name: name.to_owned(),
                language: Some(runner.language),
                is_test: runner.is_test(),
                flags: RunnerFlags(runner.arguments),
                arguments: split_flags(&words[found.arguments.min(words.len())..]),
            });
        }
        let flags = RunnerFlags(&table::UNKNOWN_ARGUMENTS);
        if let Some(task) = table::find_task(words).filter(|task| {
            table::task_language(command.program()).is_some() && task.name != command.words[0]
        }) {
            return Some(Self {
                name: task.name,
                language: table::task_language(command.program()),
                is_test: task.kind == Some(rutter_runs::RunKind::Test),
                flags,
                arguments: split_flags(&words[task.arguments.min(words.len())..]),
            });
        }
        Some(Self {
            name: words.first()?.clone(),
            language: None,
            is_test: false,
            flags,
            arguments: split_flags(&words[1..]),
        })
    }

    pub(super) fn is_known(&self) -> bool {
        self.language.is_some()
    }

    /// Returns true if this is the wanted run, possibly with other flags, but neither narrower nor wider.
    pub(super) fn matches_run(&self, wanted: &Self) -> bool {
        if self.name != wanted.name {
            return false;
        }
        let mut left = wanted.arguments.iter().filter(|word| *word != "--").peekable();
        let mut extra = Vec::new();
        for word in &self.arguments {
            if left.peek().is_some_and(|wanted| is_same_argument(wanted, word)) {
                left.next();
            } else {
                extra.push(word.clone());
            }
        }
        let all = left.next().is_none();
        all && Self { arguments: extra, ..self.clone() }.is_unfiltered()
    }

    /// Returns true if a test of this name ran, as far as the command shows.
    pub(super) fn includes_test(&self, name: &str) -> bool {
        let target = &names::split_test_name(name)[..];
        let excluded = self
            .excluded_names()
            .any(|word| identifiers_in(word).any(|part| target.contains(&part)));
        if !self.is_test || !self.runs_language_of(name) || excluded {
            return false;
        }
        let mut filters = self.filters().peekable();
        if filters.peek().is_none() {
            return self.is_unfiltered();
        }
        filters.any(|filter| {
            let parts = names::split_test_name(filter);
            let last = target.last().copied().unwrap_or_default();
            // `-k "test_a or test_b"`, a longer form of the name, a folder, file or module around it, or a part of the
            // name.
            !filter.contains("not ")
                && (identifiers_in(filter).any(|word| word == last)
                    || names::is_within(target, &parts)
                    || (!parts.is_empty()
                        && target.starts_with(&parts)
                        && target.len() > parts.len())
                    || (names::classify(filter) != NameKind::File
                        && !filter.contains('/')
                        && name.contains(filter)))
        })
    }

    /// Returns true if the code of this file ran, as far as the command shows.
    pub(super) fn includes_file(&self, target: &str) -> bool {
        let target = target.trim_start_matches("./");
        let stem = target
            .rsplit('/')
            .next()
            .and_then(|last| last.split_once('.'))
            .map_or("", |(stem, _)| stem);
        let excluded = self.excluded_names().any(|word| {
            names::is_within(&names::split_test_name(word), &names::split_test_name(target))
        });
        if excluded {
            return false;
        }
        if self.is_unfiltered() && self.runs_language_of(target) {
            return true;
        }
        let path: Vec<&str> = target.split('/').collect();
        let mut words = self.arguments.iter().map(|word| names::strip_line_number(word));
        let named = words.any(|word| {
            let word = word.split("::").next().unwrap_or(word).trim_start_matches("./");
            let word = word.trim_end_matches("...").trim_end_matches('/');
            let parts: Vec<&str> = word.split('/').filter(|part| !part.is_empty()).collect();
            !parts.is_empty()
                && !word.starts_with('-')
                && (parts == path
                    || (word.contains('.') && (parts.ends_with(&path) || path.ends_with(&parts)))
                    || (path.starts_with(&parts) && self.is_known()))
        });
        let script = self.name.trim_start_matches("./") == target;
        let binary = self.arguments.windows(2).any(|pair| pair[0] == "--test" && pair[1] == stem);
        named || script || (binary && names::possible_languages(target) == ["rust"])
    }

    /// Returns true if no argument narrows the run.
    fn is_unfiltered(&self) -> bool {
        self.filters().next().is_none()
            && self.excluded_names().next().is_none()
            && !self.arguments.iter().any(|word| {
                let alone = self.flags.narrows(word)
                    || matches!(word.as_str(), "--collect-only" | "--no-run" | "--list");
                word.starts_with('-') && alone && !self.flags.takes_value(word)
            })
    }

    /// Returns the filters of the run: values of narrowing flags, and plain arguments.
    fn filters(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().enumerate().filter_map(|(at, word)| {
            let before = at.checked_sub(1).map_or("", |before| self.arguments[before].as_str());
            let is_flag = before.starts_with('-') && before != "--";
            if word.starts_with('-')
                || is_assignment(word)
                || WHOLE_ARGUMENTS.contains(&word.trim_end_matches('/'))
                || (is_flag && self.flags.excludes(before))
            {
                return None;
            }
            if !is_flag || (self.flags.narrows(before) && self.flags.takes_value(before)) {
                return Some(word.as_str());
            }
            // The value of a flag that configures something is not a filter. A word after an unknown flag is its value,
            // unless it looks like something to run.
            let known = self.flags.takes_value(before);
            let unknown = !self.flags.0.is_listed(before);
            let run = word.contains("::") || names::classify(word) != NameKind::Other;
            (!known && (!unknown || run)).then_some(word.as_str())
        })
    }

    fn excluded_names(&self) -> impl Iterator<Item = &str> {
        let pairs = self.arguments.windows(2);
        pairs
            .filter(|pair| pair[0].starts_with('-') && self.flags.excludes(&pair[0]))
            .map(|pair| pair[1].as_str())
    }

    /// Returns true if the run is for the language of this name.
    fn runs_language_of(&self, name: &str) -> bool {
        let languages = names::possible_languages(name);
        let fits = |own: &str| own == "any" || languages.is_empty() || languages.contains(&own);
        self.language.is_some_and(fits)
    }
}

fn identifiers_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

fn is_same_argument(one: &str, other: &str) -> bool {
    one.trim_start_matches("./").trim_end_matches('/')
        == other.trim_start_matches("./").trim_end_matches('/')
}

/// Returns true for `NAME=value`.
fn is_assignment(word: &str) -> bool {
    let (name, _) = word.split_once('=').unwrap_or(("", ""));
    !name.is_empty() && name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
}

/// Splits `--flag=value` into two words.
fn split_flags(words: &[String]) -> Vec<String> {
    let mut split = Vec::with_capacity(words.len());
    for word in words {
        match word.split_once('=') {
            Some((flag, value)) if flag.starts_with('-') => {
                split.extend([flag.to_owned(), value.to_owned()]);
            }
            _ => split.push(word.clone()),
        }
    }
    split
}
