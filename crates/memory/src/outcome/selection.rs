//! What a run was asked to run: two runs that were asked for the same are the same command, however they were typed.
//!
//! A failure is over when a run that must have met it was green. That is the same command again, the whole suite, or a
//! run that selects the failing test by its name. Anything else proves nothing: on doubt an episode stays open.

use serde::{Deserialize, Serialize};

use super::line::{self, Ran};
use crate::Clean;

/// Options that change what is printed or how fast, not what is run.
const SHOWING: &[&str] = &[
    "-v",
    "-vv",
    "-vvv",
    "-q",
    "-qq",
    "-s",
    "-l",
    "-ra",
    "-rA",
    "--verbose",
    "--quiet",
    "--silent",
    "--no-header",
    "--nocapture",
    "--no-capture",
    "--show-output",
    "--no-color",
    "--color",
    "--colors",
    "--no-summary",
    "--tb",
    "--durations",
    "--reporter",
    "--reporters",
    "--format",
    "--expand",
    "--progress",
    "--no-progress",
    "--message-format",
    "--output-on-failure",
    "--trace",
    "--full-trace",
    "--showlocals",
    "--watch=false",
    "--watchAll=false",
    "--ci",
    "--runInBand",
    "--forceExit",
    "--detectOpenHandles",
    "--no-coverage",
    "--",
    "run",
];
/// The same, with a value behind them.
const SHOWING_WITH_VALUE: &[&str] = &[
    "-j",
    "-n",
    "--jobs",
    "--test-threads",
    "--tb",
    "--durations",
    "--reporter",
    "--format",
    "--color",
];
/// Options by which a run ends at its first failure.
const STOPPING: &[&str] =
    &["-x", "--exitfirst", "--maxfail", "--bail", "-b", "--failfast", "--fail-fast", "-f"];
/// Options by which it goes on.
const GOING_ON: &[&str] = &["--no-fail-fast", "-k", "--keep-going"];
/// Runners that go on after a failure unless they are told to stop.
const PATIENT: &[&str] = &[
    "pytest",
    "unittest",
    "jest",
    "vitest",
    "mocha",
    "node --test",
    "bun test",
    "rspec",
    "phpunit",
    "prove",
    "ctest",
    "dotnet test",
    "go test",
    "tsc",
    "eslint",
    "ruff",
    "flake8",
    "mypy",
    "pyright",
];
/// Where no argument means less than everything: the package of the folder.
const PACKAGE_BY_PACKAGE: &[&str] = &[
    "go test",
    "go build",
    "go vet",
    "cargo test",
    "cargo nextest",
    "cargo build",
    "cargo check",
    "cargo clippy",
];

/// What a run was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// What was started: `pytest`, `npm test`.
    pub program: Clean,
    /// Where, from the root of the checkout; empty is the root itself.
    pub folder: Clean,
    /// What it was given that selects, sorted.
    pub arguments: Vec<Clean>,
    /// Whether it may have ended at its first failure.
    pub stops: bool,
}

impl Selection {
    /// What the run in a command line was asked for. `folder` is where the line was typed, from the root of the checkout.
    pub fn of(command: &str, folder: &str) -> Option<Self> {
        let found = line::find(command)?;
        let program = match found.ran {
            Ran::Runner(name) => name.to_owned(),
            Ran::Script { name, .. } => name,
        };
        let mut words = found.words;
        words.retain(|word| !word.starts_with('+'));
        words.drain(..words.len().min(1));
        for part in program.split(' ').skip(1) {
            if let Some(at) = words.iter().position(|word| word == part) {
                words.remove(at);
            }
        }
        let mut stops = !PATIENT.contains(&program.as_str());
        let mut arguments = Vec::new();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let name = word.split('=').next().unwrap_or(&word);
            if STOPPING.contains(&name) {
                stops = true;
            } else if GOING_ON.contains(&name) && program != "pytest" && program != "unittest" {
                stops = false;
            } else if SHOWING_WITH_VALUE.contains(&word.as_str()) {
                words.next();
            } else if !SHOWING.contains(&name)
                && !SHOWING.contains(&word.as_str())
                && !is_jobs(&word)
            {
                arguments.push(Clean::new(word.trim_start_matches("./")));
            }
        }
        arguments.retain(|argument| !argument.is_empty());
        arguments.sort();
        arguments.dedup();
        let folder = Clean::new(&entered(folder, found.folder.as_deref()));
        Some(Self { program: Clean::new(&program), folder, arguments, stops })
    }

    /// Whether a run that was asked for this must have met a failure that another run had, of this test.
    pub fn covers(&self, other: &Self, test: Option<&str>) -> bool {
        if self.program != other.program || self.folder != other.folder {
            return false;
        }
        if self.arguments == other.arguments {
            return true;
        }
        let program = self.program.as_str();
        if self.arguments.is_empty() {
            // A package that was named may not be the one that is meant without a name.
            let names_package = other.arguments.iter().any(|argument| {
                matches!(
                    argument.as_str(),
                    "-p" | "--package" | "--workspace" | "--all" | "--manifest-path"
                ) || argument.contains("..")
            });
            return !names_package && !program.starts_with("go ");
        }
        let Some(test) = test else { return false };
        let (options, names): (Vec<&Clean>, Vec<&Clean>) =
            self.arguments.iter().partition(|argument| argument.starts_with('-'));
        options.iter().all(|option| other.arguments.contains(option))
            && names.iter().any(|name| selects(program, name, test))
    }

    /// Whether all of its tests have run although some failed.
    pub fn went_on(&self) -> bool {
        !self.stops
    }
}

/// `-j8`
fn is_jobs(word: &str) -> bool {
    word.strip_prefix("-j").is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether a name on the command line stands for a test, by what the runner does with it.
fn selects(program: &str, name: &str, test: &str) -> bool {
    if PACKAGE_BY_PACKAGE.contains(&program) {
        return program.starts_with("cargo ") && test.contains(name);
    }
    match program {
        "pytest" => test.strip_prefix(name).is_some_and(|rest| {
            rest.is_empty() || name.ends_with('/') || rest.starts_with(['/', ':', '['])
        }),
        "unittest" => {
            let name = name.trim_end_matches(".py").replace('/', ".");
            test.split([' ', '(', ')']).any(|part| {
                part.strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        }
        _ => false,
    }
}

/// A folder after a `cd`. The client tells where its shell is after the line, so the way may have been gone already.
fn entered(folder: &str, into: Option<&str>) -> String {
    let Some(into) = into.map(|into| into.trim_start_matches("./").trim_end_matches('/')) else {
        return folder.to_owned();
    };
    if into.is_empty() || into == "." || into.starts_with(['/', '~', '$']) || into.contains("..") {
        return folder.to_owned();
    }
    match folder {
        "" => into.to_owned(),
        _ if folder == into || folder.ends_with(&format!("/{into}")) => folder.to_owned(),
        _ => format!("{folder}/{into}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(command: &str) -> Selection {
        Selection::of(command, "").unwrap_or_else(|| panic!("{command}"))
    }

    #[test]
    fn what_is_typed_otherwise_may_be_the_same() {
        for (one, other) in [
            ("pytest", "python -m pytest -q --tb=short 2>&1 | tail -5"),
            ("pytest tests/a.py", "uv run pytest -x ./tests/a.py -v"),
            ("cargo test", "RUST_BACKTRACE=1 cargo test -- --nocapture"),
            ("cargo test parse", "cargo +nightly test parse --no-fail-fast -j 4"),
            ("npm test", "npm test --silent"),
            ("npx vitest run", "vitest --reporter=verbose"),
            ("node --test test/", "node --test test/ || true"),
            ("cd api && pytest", "cd api; pytest -v"),
            ("make -j8 test", "make test"),
        ] {
            let (one, other) = (selection(one), selection(other));
            assert_eq!(
                (&one.program, &one.folder, &one.arguments),
                (&other.program, &other.folder, &other.arguments)
            );
        }
    }

    #[test]
    fn what_selects_otherwise_is_another() {
        for (one, other) in [
            ("pytest tests/a.py", "pytest tests/b.py"),
            ("pytest -k total", "pytest -k name"),
            ("pytest", "python -m unittest"),
            ("cargo test -p a", "cargo test -p b"),
            ("npm test", "npm run test:unit"),
            ("cd api && pytest", "cd web && pytest"),
            ("npm run lint", "npm run build"),
        ] {
            let (one, other) = (selection(one), selection(other));
            assert!(!one.covers(&other, None), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_run_covers_what_it_must_have_met() {
        for (green, red, test, expected) in [
            ("pytest", "pytest tests/a.py", "tests/a.py::test_x", true),
            ("pytest tests/a.py", "pytest", "tests/a.py::test_x", true),
            ("pytest tests/", "pytest", "tests/a.py::test_x", true),
            ("pytest tests/a.py::test_x", "pytest", "tests/a.py::test_x", true),
            ("pytest tests/a.py::test_x", "pytest", "tests/a.py::test_x_y", false),
            ("pytest tests/b.py", "pytest", "tests/a.py::test_x", false),
            ("pytest tests/a.py -k other", "pytest", "tests/a.py::test_x", false),
            ("pytest tests/a.py tests/b.py", "pytest tests/b.py", "tests/b.py::test_x", true),
            ("cargo test", "cargo test parse", "parse::tests::empty", true),
            ("cargo test parse", "cargo test", "parse::tests::empty", true),
            ("cargo test other", "cargo test", "parse::tests::empty", false),
            ("cargo test", "cargo test -p core", "parse::tests::empty", false),
            ("cargo test -p core", "cargo test", "parse::tests::empty", false),
            ("cargo test --lib", "cargo test", "parse::tests::empty", false),
            ("go test", "go test ./...", "TestX", false),
            ("go test ./...", "go test ./...", "TestX", true),
            (
                "python -m unittest tests.test_a",
                "python -m unittest",
                "test_x (tests.test_a.A.test_x)",
                true,
            ),
            (
                "python -m unittest tests.test_b",
                "python -m unittest",
                "test_x (tests.test_a.A.test_x)",
                false,
            ),
            ("npx jest", "npx jest cart", "cart adds", true),
            ("npx jest cart", "npx jest", "cart adds", false),
        ] {
            let covers = selection(green).covers(&selection(red), Some(test));
            assert_eq!(covers, expected, "{green} after {red}");
        }
    }

    #[test]
    fn some_runs_end_at_their_first_failure() {
        for (command, stops) in [
            ("pytest", false),
            ("pytest -x", true),
            ("pytest --maxfail=2", true),
            ("cargo test", true),
            ("cargo test --no-fail-fast", false),
            ("go test ./...", false),
            ("npm test", true),
            ("make test", true),
        ] {
            assert_eq!(selection(command).stops, stops, "{command}");
        }
    }

    #[test]
    fn a_way_that_was_gone_already_is_not_gone_twice() {
        for (folder, into, expected) in [
            ("", None, ""),
            ("", Some("api"), "api"),
            ("api", Some("api"), "api"),
            ("services/api", Some("./api/"), "services/api"),
            ("web", Some("api"), "web/api"),
            ("api", Some(".."), "api"),
            ("api", Some("/elsewhere"), "api"),
        ] {
            assert_eq!(entered(folder, into), expected, "{folder} {into:?}");
        }
    }
}
