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
    "--no-cov",
    "--disable-warnings",
    "--capture",
    "--timeout",
    "-timeout",
    "-count",
    "--noEmit",
    "--locked",
    "--offline",
    "--run",
    "--",
    "run",
    ".",
];
/// The same, with a value behind them.
const SHOWING_WITH_VALUE: &[&str] = &[
    "-j",
    "--jobs",
    "--test-threads",
    "--tb",
    "--durations",
    "--reporter",
    "--format",
    "--timeout",
    "-timeout",
];
/// Options whose value stands behind them.
const VALUED: &[&str] = &[
    "-p",
    "--package",
    "--test",
    "--bin",
    "--example",
    "--bench",
    "--features",
    "--manifest-path",
    "--profile",
    "--skip",
    "--exclude",
    "-D",
    "-W",
    "-A",
    "-k",
    "-m",
    "-c",
    "--config",
    "--deselect",
    "--ignore",
    "-t",
    "--testNamePattern",
    "--testPathPattern",
    "--testPathPatterns",
    "--project",
    "--prefix",
    "-C",
    "-run",
    "-tags",
    "-g",
    "--grep",
    "--filter",
    "-R",
    "-E",
    "--select",
];
/// Options that only take something away: a run without them has all of it.
const NARROWING: &[&str] = &[
    "-k",
    "--deselect",
    "--ignore",
    "--lf",
    "--last-failed",
    "--sw",
    "--stepwise",
    "--lib",
    "--bin",
    "--bins",
    "--test",
    "--tests",
    "--doc",
    "--skip",
    "--exact",
    "-t",
    "--testNamePattern",
    "--testPathPattern",
    "--testPathPatterns",
    "--onlyChanged",
    "--onlyFailures",
    "--changed",
    "-run",
    "-g",
    "--grep",
    "--filter",
    "-R",
    "-E",
];
/// Options by which pytest begins with what failed before, or runs nothing else.
const FAILED_BEFORE: &[&str] = &["--lf", "--last-failed", "--ff", "--failed-first"];
/// Options by which a run ends at its first failure.
const STOPPING: &[&str] = &[
    "-x",
    "--exitfirst",
    "--maxfail",
    "--bail",
    "-b",
    "--failfast",
    "-failfast",
    "--fail-fast",
    "--stop-on-failure",
    "--sw",
    "--stepwise",
    "-f",
];
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
        let raw = line::find(command)?;
        // In a single word a password is a word like any other; in its line it stands behind its option.
        let found = line::find(&Clean::new(command)).unwrap_or(raw);
        let program = match found.ran {
            Ran::Runner(name) => name.to_owned(),
            Ran::Script { name, .. } => name,
        };
        let mut stops = !PATIENT.contains(&program.as_str());
        let mut arguments = asked(&program, found.words, &mut stops);
        for words in found.earlier {
            arguments.extend(asked(&program, words, &mut stops));
            // Of several runs in one line nobody can say which it was, nor where each of them ran.
            let mark = if found.moves { "-&&" } else { "&&" };
            arguments.push(Clean::new(mark));
        }
        arguments.sort();
        arguments.dedup();
        let folder = Clean::new(&entered(folder, found.folder.as_deref()));
        Some(Self { program: Clean::new(&program), folder, arguments, stops })
    }

    /// What a command was asked for that the user has said is a run: nobody knows more than that it is the same line.
    pub fn named(name: &str, command: &str, folder: &str) -> Self {
        Self {
            program: Clean::new(name),
            folder: Clean::new(folder),
            arguments: vec![Clean::new(command.trim())],
            stops: true,
        }
    }

    /// Whether a run that was asked for this must have met a failure that another run had, of this test.
    pub fn covers(&self, other: &Self, test: Option<&str>) -> bool {
        if self.folder != other.folder {
            return false;
        }
        if self.program != other.program {
            // What does not compile fails whatever is done with it next.
            return test.is_none()
                && self.arguments == other.arguments
                && compiles_as_well(&self.program, &other.program);
        }
        if self.arguments == other.arguments {
            return true;
        }
        let program = self.program.as_str();
        let (options, names) = self.parts();
        let (their_options, their_names) = other.parts();
        let cargo = program.starts_with("cargo ");
        let everywhere = cargo && options.iter().any(|option| is_workspace(option));
        // What the other was set to, this one must be set to as well: features, packages, levels, files of settings.
        let set_alike = their_options.iter().all(|option| {
            let name = option.split('=').next().unwrap_or(option);
            options.contains(option)
                || (NARROWING.contains(&name)
                    && !(name == "--filter" && is_package_manager(program)))
                || (everywhere && matches!(name, "-p" | "--package"))
        });
        // And it must not leave anything out.
        let exact = cargo && options.contains(&"--exact");
        let left_out = options.iter().any(|option| {
            !(their_options.contains(option)
                || (cargo && is_workspace(option))
                || (exact && *option == "--exact")
                || (program == "pytest" && FAILED_BEFORE.contains(option)))
        });
        if !set_alike || left_out {
            return false;
        }
        if program.starts_with("go ") {
            // No argument means the package of the folder.
            return names == ["..."];
        }
        if names.is_empty() {
            return true;
        }
        let Some(test) = test else { return false };
        let selects =
            |name: &&str| if exact { *name == test } else { selects(program, name, test) };
        // Behind an option that we do not know a name may be its value.
        names.iter().any(selects)
            && (options.is_empty()
                || names.iter().all(|name| selects(name) || their_names.contains(name)))
    }

    /// Its options, each with its value, and the names.
    fn parts(&self) -> (Vec<&str>, Vec<&str>) {
        self.arguments.iter().map(Clean::as_str).partition(|argument| argument.starts_with('-'))
    }

    /// Whether all of its tests have run although some failed.
    pub fn went_on(&self) -> bool {
        !self.stops
    }
}

/// What the words of a run ask for, beside what only changes how it is shown.
fn asked(program: &str, mut words: Vec<String>, stops: &mut bool) -> Vec<Clean> {
    words.retain(|word| !word.starts_with('+'));
    words.drain(..words.len().min(1));
    // `ruff check` is `ruff`.
    let own = program.split(' ').skip(1).chain((program == "ruff").then_some("check"));
    for part in own {
        if let Some(at) = words.iter().position(|word| word == part) {
            words.remove(at);
        }
    }
    let mut arguments = Vec::new();
    let mut words = words.into_iter().flat_map(|word| single(program, word)).peekable();
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or(&word);
        if STOPPING.contains(&name) && !(program == "tsc" && name == "-b") {
            *stops = true;
        } else if GOING_ON.contains(&name) && program != "pytest" && program != "unittest" {
            *stops = false;
        } else if SHOWING_WITH_VALUE.contains(&word.as_str())
            || (word == "-n" && program == "pytest")
        {
            words.next();
        } else if name == "--color" {
            // With some a value stands behind it.
            words.next_if(|next| {
                matches!(next.as_str(), "auto" | "always" | "never" | "yes" | "no")
            });
        } else if word == "workspace" && program.starts_with("yarn ") {
            let value = words.next().unwrap_or_default();
            arguments.push(Clean::new(&format!("--workspace={value}")));
        } else if VALUED.contains(&word.as_str()) {
            let value = words.next().unwrap_or_default();
            arguments.push(Clean::new(&format!("{word}={value}")));
        } else if !SHOWING.contains(&name) && !SHOWING.contains(&word.as_str()) && !is_jobs(&word) {
            arguments.push(Clean::new(word.trim_start_matches("./")));
        }
    }
    arguments.retain(|argument| !argument.is_empty());
    arguments
}

/// Short options of pytest stand in one word: `-xvs`. What it reports at the end (`-rfE`) is only shown.
fn single(program: &str, word: String) -> Vec<String> {
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

/// With these `--filter` names a package, not a test.
fn is_package_manager(program: &str) -> bool {
    matches!(program.split(' ').next(), Some("npm" | "pnpm" | "yarn" | "bun"))
}

fn is_workspace(option: &str) -> bool {
    matches!(option, "--workspace" | "--all")
}

/// Whether a program cannot succeed where another, which only compiles, fails.
fn compiles_as_well(program: &str, other: &str) -> bool {
    matches!(
        (program, other),
        ("cargo test" | "cargo nextest", "cargo build" | "cargo check")
            | ("cargo build" | "cargo clippy", "cargo check")
    )
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
            ("ruff check .", "ruff check"),
            ("tsc", "npx tsc --noEmit"),
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
            ("cargo clippy", "cargo clippy -- -D warnings"),
            ("mypy", "mypy --strict"),
            ("ruff check", "ruff check --select ALL"),
            ("tsc", "tsc -b"),
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
            // What it was set to otherwise, the other run need not have met.
            ("pytest tests/a.py -k name", "pytest tests/a.py -k total", "tests/a.py::total", false),
            ("pytest", "pytest -k total", "tests/a.py::total", true),
            ("pytest", "pytest -m slow", "tests/a.py::total", false),
            ("pytest tests/a.py", "pytest -m slow", "tests/a.py::total", false),
            ("cargo test -p b parse", "cargo test -p a", "parse::x", false),
            ("cargo test -p a parse", "cargo test -p a", "parse::x", true),
            ("cargo test -p a", "cargo test -p a parse", "parse::x", true),
            ("cargo test", "cargo test --features x", "parse::x", false),
            ("cargo test parse", "cargo test --features x", "parse::x", false),
            ("cargo test", "cargo test -- --ignored", "parse::x", false),
            ("cargo test", "cargo test --test it parse", "parse::x", true),
            ("cargo test --workspace", "cargo test -p a", "parse::x", true),
            ("cargo test parse::x -- --exact", "cargo test", "parse::x", true),
            ("cargo test parse -- --exact", "cargo test", "parse::x", false),
            ("npx jest", "npx jest --config e2e.js", "cart adds", false),
            ("rspec --color spec/a_spec.rb", "rspec", "Cart adds", false),
            ("pytest tests/a.py -xvs", "pytest -q -rf", "tests/a.py::total", true),
            ("pytest --lf", "pytest", "tests/a.py::total", true),
            ("go test ./...", "go test ./cart -run TestX", "TestX", true),
            ("go test -count=1 ./...", "go test ./...", "TestX", true),
            ("cargo test -p b", "cargo test -p a && cargo test -p b", "parse::x", false),
            ("pytest", "pytest tests/a.py && pytest tests/b.py", "tests/a.py::total", true),
            ("pnpm test", "pnpm --filter web test", "cart adds", false),
            ("yarn test", "yarn workspace web test", "cart adds", false),
            ("npm test", "(cd a && npm test) && (cd b && npm test)", "cart adds", false),
        ] {
            let covers = selection(green).covers(&selection(red), Some(test));
            assert_eq!(covers, expected, "{green} after {red}");
        }
    }

    #[test]
    fn what_compiles_for_a_test_compiles() {
        for (green, red, test, expected) in [
            ("cargo test", "cargo check", None, true),
            ("cargo test -p a", "cargo build -p a", None, true),
            ("cargo test -p a", "cargo build", None, false),
            ("cargo check", "cargo test", None, false),
            ("cargo test", "cargo check", Some("a::b"), false),
            ("cargo test", "cargo clippy", None, false),
        ] {
            assert_eq!(
                selection(green).covers(&selection(red), test),
                expected,
                "{green} after {red}"
            );
        }
    }

    #[test]
    fn some_runs_end_at_their_first_failure() {
        for (command, stops) in [
            ("pytest", false),
            ("pytest -x", true),
            ("pytest --maxfail=2", true),
            ("pytest -xvs tests/a.py", true),
            ("go test -failfast ./...", true),
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
