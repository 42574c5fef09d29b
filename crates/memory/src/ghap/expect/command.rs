//! A command line as the runs in it, seen through what is wrapped around them.

use super::names::{self, Name};
use crate::runs::old_runners::{EXCLUDING, NARROWING, NARROWING_ALONE, PLAIN, RUNNERS, WHOLE};
use crate::runs::shell;
use crate::runs::wrapped::{is_assignment, spell_out, split_flags, unwrapped};

/// One run of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// How it starts: `cargo test`, `npm build`.
    start: Vec<String>,
    /// Its language, when it is a runner that we know; `any` for one of every language.
    language: Option<&'static str>,
    tests: bool,
    /// The rest, in order.
    arguments: Vec<String>,
}

/// Whether a span of code is a command that we know.
pub(crate) fn is_command(text: &str) -> bool {
    read(text).iter().any(Run::is_known)
}

/// Whether a flag is followed by its value.
pub(super) fn takes_value(flag: &str) -> bool {
    NARROWING.contains(&flag)
        || EXCLUDING.contains(&flag)
        || matches!(flag, "--features" | "-n" | "-j" | "-F")
}

/// The runs of a command line, without what only moves about or shows things.
pub(super) fn read(line: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    for simple in shell::commands(line) {
        runs.extend(Run::of(simple.words));
    }
    runs
}

impl Run {
    fn of(words: Vec<String>) -> Option<Self> {
        let mut words = unwrapped(words);
        let head = words.first()?.clone();
        if matches!(head.as_str(), "cd" | "pushd" | "export" | "source" | "set" | "echo") {
            return None;
        }
        spell_out(&mut words);
        let known = RUNNERS.iter().find(|(start, ..)| starts_with(&words, start));
        let (length, language, tests) = match known {
            Some((start, language, tests)) => {
                let own = start.last() == Some(&"*");
                let named = words.get(1).map_or("", String::as_str);
                let testing = ["test", "tests", "check", "spec", "verify", "ci"]
                    .iter()
                    .any(|word| named.split([':', '-', '_']).any(|part| part == *word));
                (start.len(), Some(*language), *tests && (!own || testing))
            }
            None => (1, None, false),
        };
        let arguments = words.split_off(length);
        Some(Self { start: words, language, tests, arguments: split_flags(arguments) })
    }

    pub(super) fn is_known(&self) -> bool {
        self.language.is_some()
    }

    /// Whether this is the wanted run, perhaps with other flags, but no narrower and no wider.
    pub(super) fn is_the_same_as(&self, wanted: &Self) -> bool {
        if self.start != wanted.start {
            return false;
        }
        let mut left = wanted.arguments.iter().filter(|word| *word != "--").peekable();
        let mut extra = Vec::new();
        for word in &self.arguments {
            if left.peek().is_some_and(|wanted| same_word(wanted, word)) {
                left.next();
            } else {
                extra.push(word.clone());
            }
        }
        let all = left.next().is_none();
        all && Self { arguments: extra, ..self.clone() }.is_whole()
    }

    /// Whether a test of this name ran, as far as the command tells.
    pub(super) fn includes_test(&self, name: &str) -> bool {
        let target = &names::parts(name)[..];
        let excluded =
            self.excluded().any(|word| words_of(word).any(|part| target.contains(&part)));
        if !self.tests || !self.is_for(name) || excluded {
            return false;
        }
        let mut filters = self.filters().peekable();
        if filters.peek().is_none() {
            return self.is_whole();
        }
        filters.any(|filter| {
            let parts = names::parts(filter);
            let last = target.last().copied().unwrap_or_default();
            // `-k "test_a or test_b"`, a longer name of it, a folder, file or module around it, a piece of its name.
            !filter.contains("not ")
                && (words_of(filter).any(|word| word == last)
                    || names::is_within(target, &parts)
                    || (!parts.is_empty()
                        && target.starts_with(&parts)
                        && target.len() > parts.len())
                    || (names::classify(filter) != Name::File
                        && !filter.contains('/')
                        && name.contains(filter)))
        })
    }

    /// Whether this file's code ran, as far as the command tells.
    pub(super) fn includes_file(&self, target: &str) -> bool {
        let target = target.trim_start_matches("./");
        let stem = target
            .rsplit('/')
            .next()
            .and_then(|last| last.split_once('.'))
            .map_or("", |(stem, _)| stem);
        let excluded = self
            .excluded()
            .any(|word| names::is_within(&names::parts(word), &names::parts(target)));
        if excluded {
            return false;
        }
        if self.is_whole() && self.is_for(target) {
            return true;
        }
        let path: Vec<&str> = target.split('/').collect();
        let mut words = self.arguments.iter().map(|word| names::without_line(word));
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
        let script = self.start.first().is_some_and(|head| head.trim_start_matches("./") == target);
        let binary = self.arguments.windows(2).any(|pair| pair[0] == "--test" && pair[1] == stem);
        named || script || (binary && names::languages(target) == ["rust"])
    }

    /// Whether nothing narrows it.
    fn is_whole(&self) -> bool {
        self.filters().next().is_none()
            && self.excluded().next().is_none()
            && !self.arguments.iter().any(|word| NARROWING_ALONE.contains(&word.as_str()))
    }

    /// What the run was narrowed to: values of flags that do it, and plain arguments.
    fn filters(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().enumerate().filter_map(|(at, word)| {
            let before = at.checked_sub(1).map_or("", |before| self.arguments[before].as_str());
            if word.starts_with('-')
                || is_assignment(word)
                || WHOLE.contains(&word.trim_end_matches('/'))
                || EXCLUDING.contains(&before)
            {
                return None;
            }
            let narrowed = NARROWING.contains(&before);
            // Behind a flag that we do not know stands its value, unless it looks like something to run.
            let value = before.starts_with('-') && !PLAIN.contains(&before) && !narrowed;
            let run = word.contains("::") || names::classify(word) != Name::Other;
            (!value || run).then_some(word.as_str())
        })
    }

    fn excluded(&self) -> impl Iterator<Item = &str> {
        let pairs = self.arguments.windows(2);
        pairs.filter(|pair| EXCLUDING.contains(&pair[0].as_str())).map(|pair| pair[1].as_str())
    }

    /// Whether it runs the language of this name.
    fn is_for(&self, name: &str) -> bool {
        let languages = names::languages(name);
        let fits = |own: &str| own == "any" || languages.is_empty() || languages.contains(&own);
        self.language.is_some_and(fits)
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

fn same_word(one: &str, other: &str) -> bool {
    one.trim_start_matches("./").trim_end_matches('/')
        == other.trim_start_matches("./").trim_end_matches('/')
}

fn starts_with(words: &[String], start: &[&str]) -> bool {
    words.len() >= start.len()
        && start
            .iter()
            .zip(words)
            .all(|(start, word)| start == word || (*start == "*" && !word.starts_with('-')))
}
