//! Finds the name of a test, command or file in a text.

use super::command;
use super::names::{self, NameKind};
use super::words::ProseWord;
use rutter_runs::table;

/// The kind of a name, the most specific last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TargetRank {
    File,
    Command,
    Quoted,
    Test,
}

/// Returns the target of a prediction: the name in the prediction, unless that is a file and the action has a more
/// specific one.
pub(super) fn find_target(prediction: &[ProseWord], action: &[ProseWord]) -> Option<String> {
    match (find_most_specific(prediction), find_most_specific(action)) {
        (Some((TargetRank::File, _)), Some((rank, named))) if rank > TargetRank::File => {
            Some(named)
        }
        (Some((_, named)), _) | (None, Some((_, named))) => Some(named),
        (None, None) => None,
    }
}

/// Returns true if a word by itself names a test, a file or a command.
pub(super) fn names_a_run(word: &ProseWord) -> bool {
    names::classify(&word.text) != NameKind::Other || (word.code && command::is_command(&word.text))
}

fn find_most_specific(words: &[ProseWord]) -> Option<(TargetRank, String)> {
    let mut best: Option<(TargetRank, String)> = None;
    let mut at = 0;
    while at < words.len() {
        let (found, length) = find_name_at(words, at);
        if let Some((rank, name)) = found
            && best.as_ref().is_none_or(|(other, _)| *other < rank)
        {
            best = Some((rank, name));
        }
        at += length;
    }
    best
}

/// Returns the name at a position, and its number of words.
fn find_name_at(words: &[ProseWord], at: usize) -> (Option<(TargetRank, String)>, usize) {
    let word = &words[at];
    if word.code && command::is_command(&word.text) {
        let test = find_only_test(word.text.split_whitespace());
        let found = test.unwrap_or_else(|| (TargetRank::Quoted, word.text.clone()));
        return (Some(found), 1);
    }
    let length = if word.code { 0 } else { command_length(&words[at..]) };
    if length > 0 {
        let texts: Vec<&str> =
            words[at..at + length].iter().map(|word| word.text.as_str()).collect();
        let found = find_only_test(texts.iter().copied());
        return (Some(found.unwrap_or_else(|| (TargetRank::Command, texts.join(" ")))), length);
    }
    let text = word.text.strip_suffix("()").unwrap_or(&word.text);
    let rank = match names::classify(text) {
        NameKind::Test => TargetRank::Test,
        NameKind::File => TargetRank::File,
        NameKind::Other if names::may_name_a_test(text) && is_next_to_test_word(words, at) => {
            TargetRank::Test
        }
        NameKind::Other => return (None, 1),
    };
    (Some((rank, names::strip_line_number(text).to_owned())), 1)
}

/// Returns the test that a command names, if it is the only one. A file contains tests but is not one.
fn find_only_test<'a>(words: impl Iterator<Item = &'a str>) -> Option<(TargetRank, String)> {
    let mut tests = words
        .map(|word| word.trim_matches(['"', '\'', '^', '$']))
        .filter(|word| names::classify(word) == NameKind::Test);
    let test = tests.next()?;
    tests.next().is_none().then(|| (TargetRank::Test, test.to_owned()))
}

fn is_next_to_test_word(words: &[ProseWord], at: usize) -> bool {
    let test = ["test", "testcase", "spec"];
    let before = at.checked_sub(1).map(|before| &words[before]);
    let after = words.get(at + 1);
    before.is_some_and(|word| word.is_any(&test)) || after.is_some_and(|word| word.is_any(&test))
}

/// Returns the number of words at the start that are a command as it would be typed; 0 if they are not.
fn command_length(words: &[ProseWord]) -> usize {
    let text = |at: usize| {
        let word = words.get(at).filter(|word| !word.code);
        // A comma ends the command.
        word.filter(|word| at == 0 || word.gap == super::words::WordGap::Space)
            .map_or("", |word| &word.text)
    };
    let mut length = match (text(0), text(1)) {
        ("uv" | "poetry" | "pipenv" | "hatch" | "pdm", "run")
        | ("bundle" | "pnpm" | "yarn", "exec") => 2,
        ("npx" | "bunx", _) => 1,
        (python, "-m") if python.starts_with("python") => 2,
        _ => 0,
    };
    let wrapped = length > 0;
    let (head, next) = (text(length), text(length + 1));
    length += match head {
        "cargo" | "go" | "dotnet" | "mvn" | "gradle" | "./gradlew" | "./mvnw" | "npm" | "pnpm"
        | "yarn" | "bun" | "deno" | "mix" | "swift" | "sbt" | "bazel" | "rake" | "node"
        | "bats" | "make"
            if starts_a_run(head, next, text(length + 2)) =>
        {
            if matches!(
                (head, next),
                ("npm" | "pnpm" | "yarn" | "bun", "run") | ("cargo", "nextest")
            ) {
                3
            } else {
                2
            }
        }
        "pytest" | "jest" | "vitest" | "mocha" | "rspec" | "phpunit" | "ctest" | "tox" | "nox"
        | "tsc" | "eslint" | "mypy" | "pyright" | "unittest" => 1,
        _ if wrapped && !head.is_empty() && !head.starts_with('-') => 1,
        _ => return 0,
    };
    while is_argument(text(length)) {
        let flag = text(length).starts_with('-') && !text(length).contains('=');
        let value =
            flag && table::usually_takes_value(text(length)) && !text(length + 1).is_empty();
        length += if value { 2 } else { 1 };
    }
    length
}

fn starts_a_run(head: &str, next: &str, after: &str) -> bool {
    let verbs: &[&str] = match head {
        "cargo" if next == "nextest" => return after == "run",
        "npm" | "pnpm" | "yarn" | "bun" if next == "run" => return !after.is_empty(),
        // "make test pass" is English, "make test passes" is not.
        "make"
            if matches!(
                after,
                "pass" | "fail" | "succeed" | "work" | "green" | "run" | "suite"
            ) =>
        {
            return false;
        }
        "make" => &["test", "tests", "check", "lint", "build", "all", "ci", "verify"],
        "cargo" => &["test", "build", "check", "clippy", "bench", "run", "doc", "fmt"],
        "go" => &["test", "build", "vet", "run"],
        "npm" | "pnpm" | "yarn" | "bun" => &["test", "build", "lint", "typecheck"],
        "node" => &["--test"],
        "mvn" | "./mvnw" => &["test", "verify", "package", "compile", "install"],
        "gradle" | "./gradlew" => &["test", "build", "check", "assemble"],
        _ => &["test", "build", "spec"],
    };
    verbs.contains(&next)
}

/// Returns true if a word of a sentence still belongs to the command before it.
fn is_argument(word: &str) -> bool {
    let flag = word.starts_with('-') && word.len() > 1;
    let path = word.starts_with("./") || (word.contains('/') && !word.contains("://"));
    flag || path || word.contains("::") || names::classify(word) != NameKind::Other
}
