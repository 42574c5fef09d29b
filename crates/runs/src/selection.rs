//! The selection of a run, and the decision if a passed run must have executed a test that failed before.
//!
//! A failure ends when a run that executed its test passes, for any spelling of the run: the same command, the whole
//! suite, or a run that selects the test by name, file, package or keyword. A run with a selection that is not
//! understood ends no failure: if in doubt, a failure stays open.

mod pattern;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::command_line::CommandFolder;
use super::place::{RunPlace, has_path, test_binary};
use super::read::Invocation;
use super::table::{self, FlagEffect, NamePattern, Operands, Runner, RunnerArguments};
use rutter_redact::Clean;

/// Maximum size of a manifest that is read.
const MAX_MANIFEST_BYTES: u64 = 64 * 1024;

/// The tests, packages and settings of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestSelection {
    /// The runner's name, or that of a task if its runner is unknown: `pytest`, `npm test`.
    pub program: Clean,
    /// The folder, relative to the root of the checkout; empty for the root.
    pub folder: Clean,
    /// The arguments that select or set something, sorted. A flag has its value joined by `=`.
    pub arguments: Vec<Clean>,
    /// True if the run may have ended at its first failure.
    pub stops: bool,
    /// The task that started it, with the arguments passed to it: `make test`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Clean>,
    /// True if some arguments are unknown because a task did not print its command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// The only crate that is tested, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<Clean>,
}

/// The parts of a failure that matter for coverage.
#[derive(Debug, Clone, Copy, Default)]
pub struct FailedTest<'a> {
    /// The test, by the runner's name; a path in it is relative to the root of the checkout.
    pub test: Option<&'a str>,
    /// The package, crate or file around the test.
    pub scope: Option<&'a str>,
    /// The file of the error, relative to the root of the checkout.
    pub file: Option<&'a str>,
    /// True if the code does not compile, so that any run that compiles it covers the failure.
    pub is_compile_error: bool,
}

/// The certainty that a run executed a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// The run did not, or nothing shows that it did.
    No,
    /// The run selected everything that the failing run selected, by another command. It executed the test unless it
    /// ran fewer tests.
    IfAsMany,
    /// The run selected a part that contains the test. It executed the test unless more tests are skipped than before.
    IfNoMoreSkipped,
    /// The run selected this very test, and a skipped test would look the same.
    IfNoneSkipped,
    /// The run selected this very test, and all others count as skipped.
    IfSomePassed,
    /// The run executed the test.
    Yes,
}

impl TestSelection {
    /// Builds the selection of an invocation. `place` is the checkout and the working directory of the line.
    pub fn new(invocation: &Invocation, place: &RunPlace<'_>) -> Self {
        let runner = table::find_runner_by_name(&invocation.program);
        let unknown = runner.map_or(&table::UNKNOWN_ARGUMENTS, |runner| runner.arguments);
        let words = invocation.arguments.clone();
        let ParsedArguments { mut arguments, stops } =
            parse_arguments(unknown, &invocation.program, words);
        arguments.sort();
        arguments.dedup();
        let mut folder = folder_of_run(place, &invocation.folder);
        // `--manifest-path server/Cargo.toml` is equivalent to `cd server`.
        arguments.retain(|argument| match argument.strip_prefix("--manifest-path=") {
            Some(manifest) if !manifest.starts_with('/') => {
                let (parent, _) = manifest.rsplit_once('/').unwrap_or_default();
                folder = join_path(&folder, parent);
                false
            }
            _ => true,
        });
        Self {
            program: Clean::new(&invocation.program),
            folder: Clean::new(&folder),
            arguments: arguments.iter().map(|argument| Clean::new(argument)).collect(),
            stops,
            task: invocation.task.as_deref().map(Clean::new),
            is_partial: invocation.is_partial,
            package: None,
        }
        .with_package(place.root)
    }

    fn with_package(self, root: &Path) -> Self {
        let package = self.crate_name(root).map(|name| Clean::new(&name));
        Self { package, ..self }
    }

    /// Returns the crate that a cargo run tests, if it is only one: named by `-p`, or by the manifest of its folder.
    fn crate_name(&self, root: &Path) -> Option<String> {
        let runner = self.runner().filter(|runner| runner.family == "cargo")?;
        let parts = SelectionParts::new(runner.arguments, &self.arguments);
        match parts.packages.as_slice() {
            [package] => Some((*package).to_owned()),
            [] if !parts.everything => manifest_package(&root.join(self.folder.as_str())),
            _ => None,
        }
    }

    /// Returns true if cargo ran it.
    pub fn is_cargo(&self) -> bool {
        self.runner().is_some_and(|runner| runner.family == "cargo")
    }

    fn runner(&self) -> Option<&'static Runner> {
        table::find_runner_by_name(&self.program)
    }

    /// Returns true if all selected tests ran although some failed.
    pub fn ran_all_tests(&self) -> bool {
        !self.stops
    }

    /// Returns true if both are the same command, regardless of its spelling.
    pub fn is_same_command(&self, other: &Self) -> bool {
        self.program == other.program
            && self.folder == other.folder
            && self.arguments == other.arguments
            && (self.task == other.task || !(self.is_partial || other.is_partial))
    }

    /// Determines if a run with this selection must have executed a failed test of a run with the selection `other`.
    pub fn covers(&self, other: &Self, failed: &FailedTest<'_>) -> Coverage {
        if self.is_same_command(other) {
            return Coverage::Yes;
        }
        let (Some(runner), Some(their)) = (self.runner(), other.runner()) else {
            return Coverage::No;
        };
        if runner.family != their.family || !can_cover(runner, their, failed) || self.is_partial {
            return Coverage::No;
        }
        let parts = SelectionParts::new(runner.arguments, &self.arguments);
        let theirs = SelectionParts::new(their.arguments, &other.arguments);
        if !parts.has_settings_of(&theirs) || parts.leaves_out(&theirs, failed) {
            return Coverage::No;
        }
        // Additional settings may leave tests out, so the numbers of tests must be compared.
        let has_more = parts.has_more_settings(&theirs) && !other.is_partial;
        let reruns_failed =
            parts.narrows.iter().any(|narrow| matches!(*narrow, "--lf" | "--last-failed"));
        match parts.selected_part(runner, self, &theirs, other, failed) {
            SelectedPart::Other => Coverage::No,
            SelectedPart::Everything if has_more => Coverage::IfAsMany,
            _ if has_more => Coverage::No,
            _ if reruns_failed => Coverage::Yes,
            SelectedPart::Everything => Coverage::IfAsMany,
            SelectedPart::Part => Coverage::IfNoMoreSkipped,
            SelectedPart::Test if runner.arguments.counts_others_as_skipped => {
                Coverage::IfSomePassed
            }
            SelectedPart::Test => Coverage::IfNoneSkipped,
        }
    }
}

/// Returns true if a success of `runner` is evidence about a failure of the runner `their`.
fn can_cover(runner: &Runner, their: &Runner, failed: &FailedTest<'_>) -> bool {
    if failed.test.is_some() {
        return runner.is_test() && their.is_test();
    }
    if runner == their {
        return true;
    }
    if !failed.is_compile_error {
        return false;
    }
    match (runner.name, their.name) {
        // Linting or type checking alone does not build.
        (
            "cargo test" | "cargo nextest",
            "cargo build" | "cargo check" | "cargo test" | "cargo nextest",
        )
        | ("cargo build" | "cargo clippy", "cargo check")
        // Only test and vet compile the test files.
        | ("go test" | "go vet" | "golangci-lint" | "gotestsum", _) => true,
        ("go build", _) => failed.file.is_some_and(|file| !file.ends_with("_test.go")),
        _ => runner.is_test() && their.is_test(),
    }
}

/// The part of the tests around a failure that a selection includes.
enum SelectedPart {
    /// Everything below its folder.
    Everything,
    /// A part that contains the failure.
    Part,
    /// The test itself, by its name.
    Test,
    /// Other tests.
    Other,
}

/// The arguments of a selection, grouped by effect.
struct SelectionParts<'a> {
    arguments: &'static RunnerArguments,
    sets: Vec<&'a str>,
    names: Vec<&'a str>,
    paths: Vec<&'a str>,
    packages: Vec<&'a str>,
    excludes: Vec<&'a str>,
    narrows: Vec<&'a str>,
    everything: bool,
    operands: Vec<&'a str>,
}

impl<'a> SelectionParts<'a> {
    fn new(arguments: &'static RunnerArguments, given: &'a [Clean]) -> Self {
        let mut parts = Self {
            arguments,
            sets: Vec::new(),
            names: Vec::new(),
            paths: Vec::new(),
            packages: Vec::new(),
            excludes: Vec::new(),
            narrows: Vec::new(),
            everything: false,
            operands: Vec::new(),
        };
        for argument in given.iter().map(Clean::as_str) {
            if !argument.starts_with('-') {
                parts.operands.push(argument);
                continue;
            }
            let (flag, value) = argument.split_once('=').unwrap_or((argument, ""));
            match arguments.effect(flag).0 {
                FlagEffect::SelectsName => parts.names.push(value),
                FlagEffect::SelectsPath => parts.paths.push(value),
                FlagEffect::SelectsPackage => parts.packages.push(value),
                FlagEffect::Excludes => parts.excludes.push(argument),
                FlagEffect::Narrows => parts.narrows.push(argument),
                FlagEffect::Everything => parts.everything = true,
                FlagEffect::Sets => parts.sets.push(argument),
                FlagEffect::Shows | FlagEffect::StopsEarly | FlagEffect::GoesOn => {}
            }
        }
        parts
    }

    /// Returns true if it has all features, tags and configuration of another.
    fn has_settings_of(&self, other: &Self) -> bool {
        other.sets.iter().all(|set| self.sets.contains(set))
    }

    fn has_more_settings(&self, other: &Self) -> bool {
        self.sets.iter().any(|set| !other.sets.contains(set))
    }

    /// Returns true if the run leaves out tests that may include the failure.
    fn leaves_out(&self, other: &Self, failed: &FailedTest<'_>) -> bool {
        let test = failed.test.unwrap_or_default();
        let excluded = self.excludes.iter().any(|exclude| {
            let value = exclude.split_once('=').map_or("", |(_, value)| value);
            let apart = self.arguments.operands == Operands::Paths
                && !value.is_empty()
                && !value.contains(['*', '?'])
                && !test.is_empty()
                && !is_below(test, value.trim_start_matches("./"));
            !other.excludes.contains(exclude) && !apart
        });
        let narrowed = self.narrows.iter().any(|narrow| {
            let (flag, value) = narrow.split_once('=').unwrap_or((narrow, ""));
            // These fit: only failing tests, which include this one; the test binary of the failure; a full name.
            let in_binary = || {
                failed.scope.map(test_binary) == Some(value)
                    || failed.file.is_some_and(|file| file.ends_with(&format!("tests/{value}.rs")))
            };
            // A library is compiled for each of its test binaries.
            let in_library = || {
                failed.is_compile_error
                    && flag != "--doc"
                    && failed.file.is_some_and(|file| {
                        let inside = file.rsplit_once("src/").map(|(_, inside)| inside);
                        inside.is_some_and(|file| file != "main.rs" && !file.starts_with("bin/"))
                    })
            };
            let fits = matches!(flag, "--lf" | "--last-failed" | "--exact")
                || (flag == "--test" && in_binary())
                || in_library();
            !other.narrows.contains(narrow) && !fits
        });
        excluded || narrowed
    }

    fn selected_part(
        &self,
        runner: &Runner,
        own: &TestSelection,
        theirs: &Self,
        other: &TestSelection,
        failed: &FailedTest<'_>,
    ) -> SelectedPart {
        let folder = own.folder.as_str();
        // A file that does not compile or load fails before names are matched.
        let is_whole_file = failed.is_compile_error || failed.test.is_some_and(is_file);
        let exact = self.narrows.contains(&"--exact");
        let packages = self.selects_package(own, theirs, other, failed);
        let operands: Vec<bool> = self
            .operands
            .iter()
            .chain(&self.paths)
            .filter(|_| !(is_whole_file && runner.arguments.operands == Operands::NameParts))
            .map(|operand| Self::operand_selects(runner, folder, operand, exact, failed))
            .collect();
        let selected = operands.is_empty() || operands.contains(&true);
        if !packages || !selected {
            return SelectedPart::Other;
        }
        if self.names.is_empty() || is_whole_file {
            let by_name = runner.arguments.operands == Operands::NameParts
                || self.operands.iter().any(|operand| operand.contains("::"));
            return match (operands.is_empty(), by_name) {
                (true, _) if !self.names.is_empty() || !self.operands.is_empty() => {
                    SelectedPart::Part
                }
                (true, _) => SelectedPart::Everything,
                (false, true) => SelectedPart::Test,
                (false, false) => SelectedPart::Part,
            };
        }
        let Some(test) = failed.test else { return SelectedPart::Other };
        let accepts = |pattern: &&str| match self.arguments.pattern {
            NamePattern::Keywords => pattern::keywords_match(pattern, test),
            NamePattern::Regex => pattern::regex_matches(pattern, &test_title(test)),
            NamePattern::GoRun => pattern::go_run_matches(pattern, test),
            NamePattern::Opaque => None,
        };
        let all = self.names.iter().all(|pattern| accepts(pattern) == Some(true));
        if all { SelectedPart::Test } else { SelectedPart::Other }
    }

    /// Returns true if the packages of the run include that of the failure.
    fn selects_package(
        &self,
        own: &TestSelection,
        theirs: &Self,
        other: &TestSelection,
        failed: &FailedTest<'_>,
    ) -> bool {
        let folder = own.folder.as_str();
        let same_folder = folder == other.folder.as_str();
        if self.arguments.operands == Operands::GoPackages {
            // Operands name the packages; without any it is the package of the folder.
            return !self.operands.is_empty() || go_package_selects(folder, ".", failed);
        }
        if !self.packages.is_empty() {
            let in_file = |package: &str| {
                failed.file.is_some_and(|file| file.split('/').any(|part| part == package))
            };
            let names = |package: &&str| {
                failed.scope.is_some_and(|scope| same_package(scope, package))
                    || (failed.is_compile_error && in_file(package))
                    || (same_folder && theirs.packages.contains(package))
            };
            return self.packages.iter().any(names);
        }
        if self.everything {
            return is_inside(&other.folder, folder);
        }
        if self.arguments.runs_all_below {
            let place = failed.test.filter(|test| has_path(test)).or(failed.file);
            return match place {
                Some(place) => is_inside(place, folder),
                None => same_folder,
            };
        }
        // A file in the folder, or the name of the crate, shows that the failure is in the package of the folder.
        let in_folder =
            !folder.is_empty() && failed.file.is_some_and(|file| is_inside(file, folder));
        let has_name = own.package.as_deref().zip(failed.scope);
        if in_folder || has_name.is_some_and(|(package, scope)| same_package(scope, package)) {
            return true;
        }
        // A single package: the same folder, and the other run names no package.
        same_folder && (theirs.packages.is_empty() && !theirs.everything)
    }

    fn operand_selects(
        runner: &Runner,
        folder: &str,
        operand: &str,
        exact: bool,
        failed: &FailedTest<'_>,
    ) -> bool {
        let place = failed.test.filter(|test| has_path(test)).or(failed.file).unwrap_or_default();
        match runner.arguments.operands {
            Operands::Paths => {
                // `-p web/tsconfig.json` is the project of its folder.
                let operand = operand.strip_suffix("tsconfig.json").unwrap_or(operand);
                let path = join_path(folder, operand);
                // `spec/a_spec.rb:12` is a line, from which the test cannot be determined.
                !place.is_empty() && is_below(place, &path)
            }
            Operands::PathParts => {
                let file = place.split(" > ").next().unwrap_or(place);
                let wanted = join_path(folder, operand);
                !file.is_empty()
                    && !operand.contains(['*', '(', '[', '\\', '^', '$'])
                    && is_inside(file, folder)
                    && (file.contains(wanted.as_str())
                        || file.contains(operand.trim_start_matches("./")))
            }
            Operands::NameParts => {
                let Some(test) = failed.test else { return false };
                if exact { test == operand } else { test.contains(operand) }
            }
            Operands::GoPackages => go_package_selects(folder, operand, failed),
            Operands::DottedNames => {
                let Some(test) = failed.test else { return false };
                let name = operand.trim_end_matches(".py").replace('/', ".");
                let dotted = dotted_name(test);
                dotted
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            }
            Operands::Targets => false,
        }
    }
}

/// Returns true if a package pattern of Go includes the package of a failure.
fn go_package_selects(folder: &str, operand: &str, failed: &FailedTest<'_>) -> bool {
    let (pattern, recursive) = match operand.strip_suffix("...") {
        Some(pattern) => (pattern.trim_end_matches('/'), true),
        None => (operand, false),
    };
    let is_local = operand.starts_with('.') || !operand.contains('.');
    let path = if is_local { join_path(folder, pattern) } else { pattern.to_owned() };
    match (failed.scope, failed.file) {
        (Some(scope), _) if !is_local => {
            scope == path || (recursive && scope.starts_with(&format!("{path}/")))
        }
        // A folder is certain; an import path begins with the unknown name of its module.
        (_, Some(file)) if file.contains('/') => {
            let package = file.rsplit_once('/').map_or("", |(package, _)| package);
            package == path || (recursive && is_inside(package, &path))
        }
        (Some(scope), _) => is_package_in(scope, &path, recursive),
        // A recursive pattern from the root includes every package.
        _ => is_local && recursive && path.is_empty(),
    }
}

/// Returns true if an import path belongs to a folder of the checkout, or to one below it.
fn is_package_in(scope: &str, folder: &str, recursive: bool) -> bool {
    if folder.is_empty() {
        // The root has the shortest import path, but its length is unknown.
        return recursive;
    }
    let scope = format!("/{scope}/");
    let wanted = format!("/{folder}/");
    scope.ends_with(&wanted) || (recursive && scope.contains(&wanted))
}

/// Returns true if both name the same crate, for which `-` and `_` are equal.
fn same_package(one: &str, other: &str) -> bool {
    let plain = |name: &str| name.trim_start_matches("doc ").replace('-', "_");
    let one = plain(one);
    one.split("::").next() == Some(plain(other).as_str())
}

/// Returns true if the name of a test is only that of its file: the file could not be loaded.
pub fn is_file(test: &str) -> bool {
    has_path(test) && !test.contains("::") && !test.contains(" > ")
}

/// Returns the name in the manifest of a crate; None for a workspace that may include other members in a run.
fn manifest_package(folder: &Path) -> Option<String> {
    let path = folder.join("Cargo.toml");
    let size = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    let text = (size <= MAX_MANIFEST_BYTES).then(|| std::fs::read_to_string(path).ok())??;
    if text.contains("default-members") {
        return None;
    }
    let (_, package) = text.split_once("[package]")?;
    let name =
        package.lines().skip(1).take_while(|line| !line.starts_with('[')).find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == "name").then(|| value.trim().trim_matches('"'))
        })?;
    Some(name.to_owned())
}

/// Returns the text that a JavaScript runner matches against a name pattern: the titles without the file, joined by
/// blanks.
fn test_title(test: &str) -> String {
    let titles =
        if has_path(test) { test.split_once(" > ").map_or(test, |(_, rest)| rest) } else { test };
    titles.replace(" > ", " ")
}

/// Returns the name of a Python test in the form of unittest: `tests.test_a.A.test_x`.
fn dotted_name(test: &str) -> String {
    // `test_x (tests.test_a.A.test_x)`
    if let Some((_, inside)) = test.split_once(" (") {
        return inside.trim_end_matches(')').to_owned();
    }
    match test.split_once("::") {
        Some((file, rest)) => {
            let module = file.trim_end_matches(".py").replace('/', ".");
            format!("{module}.{}", rest.replace("::", "."))
        }
        None => test.to_owned(),
    }
}

/// Returns true if a test or file is at a path or below it.
fn is_below(place: &str, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    path.is_empty()
        || place.strip_prefix(path).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(['/', ':', '[']) || rest.starts_with(" > ")
        })
}

/// Returns true if a path is in a folder.
fn is_inside(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path == folder
        || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns a path that was typed in a folder, relative to the root of the checkout.
fn join_path(folder: &str, path: &str) -> String {
    let path = path.trim_end_matches('/');
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." && parts.pop().is_some() {
            continue;
        }
        parts.push(part);
    }
    parts.join("/")
}

/// Returns the folder of a run, relative to the root of the checkout.
///
/// The client reports the folder of its shell after the line, so that a `cd` of the line may already be part of it.
fn folder_of_run(place: &RunPlace<'_>, entered: &CommandFolder) -> String {
    let folder = place.folder;
    match entered {
        CommandFolder::Absolute(path) => {
            let inside = place.root.to_str().and_then(|root| path.strip_prefix(root));
            match inside {
                Some(inside) => inside.trim_matches('/').to_owned(),
                None => folder.to_owned(),
            }
        }
        CommandFolder::Relative(path) if !path.is_empty() && !path.starts_with("..") => {
            let gone = folder == path || folder.ends_with(&format!("/{path}"));
            if gone { folder.to_owned() } else { join_path(folder, path) }
        }
        _ => folder.to_owned(),
    }
}

struct ParsedArguments {
    arguments: Vec<String>,
    stops: bool,
}

/// Parses the arguments of a run that select or set something.
fn parse_arguments(table: &RunnerArguments, program: &str, words: Vec<String>) -> ParsedArguments {
    let mut parsed = ParsedArguments { arguments: Vec::new(), stops: table.stops_by_default };
    let mut words = words.into_iter().flat_map(|word| split_short(program, word)).peekable();
    while let Some(word) = words.next() {
        if !word.starts_with('-') || word == "-" {
            // The arguments may begin with a verb such as `run`: `vitest run`.
            let shown = table.effect(&word).0 == FlagEffect::Shows && !word.contains(['/', '.']);
            let is_package = table.operands == Operands::GoPackages;
            let word = if is_package { word.as_str() } else { word.trim_start_matches("./") };
            if !shown && word != "." && !word.is_empty() && !word.starts_with('+') {
                parsed.arguments.push(word.to_owned());
            }
            continue;
        }
        let (flag, joined) = match word.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
            None => (word.clone(), None),
        };
        let (effect, valued) = table.effect(&flag);
        let value = match joined {
            Some(value) => Some(value),
            None if valued => words.next(),
            None => None,
        };
        match effect {
            FlagEffect::Shows => {}
            FlagEffect::StopsEarly => {
                parsed.stops = true;
                // `--stepwise` also skips tests that passed before.
                if table.narrows.split(' ').any(|narrows| narrows == flag) {
                    parsed.arguments.push(flag);
                }
            }
            FlagEffect::GoesOn => parsed.stops = false,
            _ => parsed.arguments.push(match value {
                Some(value) => format!("{flag}={value}"),
                None => flag,
            }),
        }
    }
    parsed
}

/// Splits combined short options of pytest: `-xvs`. Its report options (`-rfE`) only affect output and are dropped.
fn split_short(program: &str, word: String) -> Vec<String> {
    // `-j8`
    let is_jobs = word.strip_prefix("-j").is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    if is_jobs {
        return Vec::new();
    }
    let letters = word.strip_prefix('-').unwrap_or_default();
    if program != "pytest" || letters.len() < 2 || letters.starts_with('-') {
        return vec![word];
    }
    if letters.starts_with('r') && letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Vec::new();
    }
    if letters.bytes().all(|byte| b"vqslx".contains(&byte)) {
        return letters.chars().map(|letter| format!("-{letter}")).collect();
    }
    vec![word]
}

#[cfg(test)]
mod tests;
