//! The table of programs that run tests, builds and checks, and the recognition of their command lines.
//!
//! A row contains everything that is known about a runner by its name: the starts of its command lines, the effect of
//! its flags on the selection of tests, and the reader of its output. Nothing else in the project lists runners or
//! flags.

mod arguments;
mod rows;
mod tasks;

pub use arguments::{
    FlagEffect, NamePattern, Operands, RunnerArguments, UNKNOWN_ARGUMENTS, usually_takes_value,
};
pub use tasks::{RunTask, find_task, kind_of_name, task_language};

use super::RunKind;
use super::report::OutputReader as Reader;
use super::runners;
use rows::ROWS;

/// A program that runs tests, builds or checks.
#[derive(Debug)]
pub struct Runner {
    /// The common name: `pytest`, `cargo test`.
    pub name: &'static str,
    /// The kind of run; None for a program such as `cargo run`, about which a GHAP may make a prediction, but which is
    /// not a test, build or check.
    pub kind: Option<RunKind>,
    /// The language of the code that it runs; `any` for every language.
    pub language: &'static str,
    /// The words that its command lines start with, in each spelling.
    pub starts: &'static [&'static str],
    /// Words of which one is required: `black` changes files, `black --check` checks them. `*test` matches any word
    /// with that ending.
    pub only_with: &'static [&'static str],
    /// The arguments and their effects.
    pub arguments: &'static RunnerArguments,
    /// The name of the reader of its output. Without such a reader the exit status alone decides.
    pub reader: &'static str,
    /// The family. Runners of one family have the same test names, so that a run of one can cover a failure of another.
    pub family: &'static str,
    /// True if it prints one summary that includes failures, so that this line alone is enough.
    pub has_one_summary: bool,
    /// Exit statuses that mean that it ran no test.
    pub ran_nothing: &'static [i32],
}

impl PartialEq for Runner {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Runner {}

impl Runner {
    /// Returns the reader of its output.
    pub fn reader(&self) -> Option<&'static Reader> {
        runners::find_reader(self.reader)
    }

    /// Returns true if it runs tests.
    pub fn is_test(&self) -> bool {
        self.kind == Some(RunKind::Test)
    }
}

/// A runner recognised at the start of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundRunner {
    /// The row.
    pub runner: &'static Runner,
    /// Number of words in its start.
    pub words: usize,
    /// The position of the first argument.
    pub arguments: usize,
}

/// Returns the runner with a name.
pub fn find_runner_by_name(name: &str) -> Option<&'static Runner> {
    ROWS.iter().find(|runner| runner.name == name)
}

/// Options with which a runner only describes itself, or the tests that it would run.
const DESCRIBING_FLAGS: &[&str] = &[
    "--help",
    "--version",
    "--collect-only",
    "--co",
    "--no-run",
    "--list",
    "-list",
    "--listTests",
    "--list-tests",
    "--show-config",
    "--showConfig",
    "--dry-run",
    "--just-print",
    "--print-config",
    "-showsdks",
    "-showBuildSettings",
    "-version",
];

/// Returns true if the words ask a runner for a description instead of a run.
fn only_describes(words: &[String]) -> bool {
    let is_short = |word: &str| match words.first().map_or("", String::as_str) {
        "make" | "just" | "rake" | "task" | "ctest" | "ninja" => matches!(word, "-n" | "-N"),
        "tsc" | "eslint" => word == "-v",
        "cargo" | "pytest" | "go" | "npm" | "jest" | "vitest" | "mocha" => word == "-h",
        _ => false,
    };
    words[1..].iter().any(|word| DESCRIBING_FLAGS.contains(&word.as_str()) || is_short(word))
}

/// Options of a package manager or build tool that come before its verb and take a value.
const VALUED_BEFORE_VERB: &[&str] = &[
    "-C",
    "--prefix",
    "--cwd",
    "--dir",
    "--directory",
    "--filter",
    "-F",
    "-w",
    "--workspace",
    "--config",
    "-c",
    "--project",
    "-f",
    "--file",
    "-s",
];

/// Returns the runner that these words start, for a run or for a description.
fn find_row(words: &[String]) -> Option<FoundRunner> {
    let head = words.first().map(|word| word.rsplit('/').next().unwrap_or(word))?;
    let fits = |runner: &'static Runner, start: &'static str| -> Option<FoundRunner> {
        let mut parts = start.split(' ');
        if parts.next()? != head {
            return None;
        }
        let (mut at, mut count) = (1, 1);
        for part in parts {
            // Options may come before a verb, but not before a flag that is part of the start: `node --test`.
            if !part.starts_with('-') {
                while let Some(option) = words.get(at).filter(|word| word.starts_with(['-', '+'])) {
                    let valued = VALUED_BEFORE_VERB.contains(&option.as_str());
                    at += if valued { 2 } else { 1 };
                }
                if words.get(at)? != part {
                    return None;
                }
                at += 1;
            } else if !words[1..].iter().any(|word| word == part) {
                return None;
            }
            count += 1;
        }
        let has = |wanted: &&str| {
            words[1..].iter().any(|word| match wanted.strip_prefix('*') {
                Some(end) => word.ends_with(end),
                None => word == wanted,
            })
        };
        let wanted = runner.only_with.is_empty() || runner.only_with.iter().any(has);
        wanted.then_some(FoundRunner { runner, words: count, arguments: at })
    };
    // The longest start wins: `cargo nextest run` over `cargo`.
    ROWS.iter()
        .flat_map(|runner| runner.starts.iter().filter_map(move |start| fits(runner, start)))
        .max_by_key(|found| (found.words, !found.runner.only_with.is_empty()))
}

/// Returns the runner that these words start, including programs about which a GHAP may only make predictions.
pub fn find_predictable(words: &[String]) -> Option<FoundRunner> {
    find_row(words)
}

/// Returns the runner that these words start, if they start a run and not only a description.
pub fn find_runner(words: &[String]) -> Option<FoundRunner> {
    find_row(words).filter(|found| found.runner.kind.is_some() && !only_describes(words))
}

/// Returns true if these words run tests, a build or a check.
pub fn is_run(words: &[String]) -> bool {
    find_runner(words).is_some() || find_task(words).is_some_and(|task| task.kind.is_some())
}

/// Returns true if a program is in the table or runs tasks.
pub fn is_known_program(program: &str) -> bool {
    tasks::is_task_runner(program)
        || ROWS.iter().any(|runner| {
            runner.starts.iter().any(|start| start.split(' ').next() == Some(program))
        })
}

/// Returns the folder that an option gives the program: `make -C web`, `npm --prefix web`.
pub fn folder_option(words: &[String]) -> Option<&str> {
    let options: &[&str] = match words.first()?.as_str() {
        "make" | "ninja" | "go" | "cmake" => &["-C", "--directory"],
        "npm" => &["--prefix"],
        "pnpm" => &["-C", "--dir"],
        "yarn" | "bun" => &["--cwd"],
        "just" => &["-d", "--working-directory"],
        "mise" => &["-C", "--cd"],
        "gradle" => &["-p", "--project-dir"],
        "mix" | "task" => &["-d", "--dir"],
        _ => return None,
    };
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        if options.contains(&word.as_str()) {
            return rest.next().map(String::as_str);
        }
        let joined = word.split_once('=').filter(|(flag, _)| options.contains(flag));
        if let Some((_, value)) = joined {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn starts_are_recognised() {
        for (line, expected) in [
            ("pytest -q", Some("pytest")),
            ("cargo t", Some("cargo test")),
            ("cargo +nightly test -p x", Some("cargo test")),
            ("cargo nextest run", Some("cargo nextest")),
            ("cargo nextest list", None),
            ("go -C api test ./...", Some("go test")),
            ("node --test test/", Some("node --test")),
            ("node app.js", None),
            ("black --check .", Some("black")),
            ("black .", None),
            ("cargo fmt --check", Some("cargo fmt")),
            ("cargo fmt", None),
            ("pytest --collect-only", None),
            ("cargo run", None),
            ("golangci-lint run ./...", Some("golangci-lint")),
            ("playwright test", Some("playwright test")),
            ("dotnet build", Some("dotnet build")),
            ("manage.py test shop", Some("manage.py test")),
            ("gcc -o x x.c", Some("gcc")),
            ("xcodebuild -scheme A test", Some("xcodebuild test")),
            ("xcodebuild -scheme A", Some("xcodebuild")),
        ] {
            let found = find_runner(&split_words(line)).map(|found| found.runner.name);
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = ROWS.iter().map(|runner| runner.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ROWS.len());
        for reader in runners::RUNNERS {
            assert!(
                ROWS.iter().any(|runner| runner.reader == reader.name),
                "no row has the reader of {}",
                reader.name
            );
        }
    }
}
