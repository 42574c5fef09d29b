//! Which run a command line is about, and whether the exit status is that run's own.
//!
//! The status of a line is that of its last command: a pipe shows `tail`'s, `|| true` nobody's. So a run is found
//! together with what its line lets through of how it ended.

use super::Kind;
use crate::ghap::expect::command::shell::{Joiner, Simple, commands};
use crate::ghap::expect::command::wrapped::unwrapped;

/// What was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ran {
    /// A runner that we know by name.
    Runner(&'static str),
    /// Somebody's own script, which may run anything: `npm test`, `make check`.
    Script { name: String, kind: Kind },
}

/// What the status of the line says about the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// It is the run's own.
    Own,
    /// It is the run's own, if the run was reached: something before it may have failed.
    OwnIfReached,
    /// Zero means that the run succeeded; anything else may be another command's.
    ZeroOnly,
    /// It says nothing.
    Hidden,
}

/// A run in a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) ran: Ran,
    pub(crate) status: Status,
    /// What it printed went through a program that may have kept some of it: `grep`.
    pub(crate) filtered: bool,
}

/// The last run of a line; none when there is none, or nobody waits for it.
pub(crate) fn find(line: &str) -> Option<Found> {
    let commands = commands(line);
    let (at, ran) = commands.iter().enumerate().rev().find_map(|(at, simple)| {
        recognise(&unwrapped(simple.words.clone())).map(|ran| (at, ran))
    })?;
    if commands[at].joiner == Joiner::Background {
        return None;
    }
    let pipefail = commands[..at].iter().any(|simple| {
        simple.words.first().is_some_and(|word| word == "set")
            && simple.words.iter().any(|word| word == "pipefail")
    });
    let negated = commands[at].words.first().is_some_and(|word| word == "!");
    let filtered = is_filtered(&commands[at..]);
    let status = if negated { Status::Hidden } else { status(&commands, at, pipefail, filtered) };
    Some(Found { ran, status, filtered })
}

/// Programs that pass on all they read, and `tail`, which leaves the summary.
const WHOLE: &[&str] = &["cat", "tee", "tail", "less", "more", "ts"];

/// Whether a run is piped through anything that may drop lines of it.
fn is_filtered(commands: &[Simple]) -> bool {
    let pipes = commands.iter().take_while(|simple| simple.joiner == Joiner::Pipe).count();
    commands[1..].iter().take(pipes).any(|simple| {
        !unwrapped(simple.words.clone()).first().is_some_and(|word| WHOLE.contains(&word.as_str()))
    })
}

fn status(commands: &[Simple], at: usize, pipefail: bool, filtered: bool) -> Status {
    let mut behind = commands[at..].iter();
    // Where all of a pipe counts, `grep` that finds nothing fails as well.
    let mut own = !filtered;
    for simple in behind.by_ref() {
        match simple.joiner {
            Joiner::End => break,
            Joiner::And => own = false,
            Joiner::Pipe if pipefail => {}
            _ => return Status::Hidden,
        }
    }
    let before = &commands[..at];
    // `cd x && …` hardly ever fails; a build before a test does.
    let harmless = |simple: &Simple| {
        simple.words.first().is_some_and(|word| {
            matches!(
                word.as_str(),
                "cd" | "pushd"
                    | "export"
                    | "source"
                    | "."
                    | "set"
                    | "true"
                    | "echo"
                    | "mkdir"
                    | "sleep"
            )
        })
    };
    let guarded = before.iter().any(|simple| simple.joiner == Joiner::And && !harmless(simple));
    let alternative = before.last().is_some_and(|simple| simple.joiner == Joiner::Or);
    match (own, guarded, alternative) {
        (_, _, true) => Status::Hidden,
        (true, false, _) => Status::Own,
        (true, true, _) => Status::OwnIfReached,
        (false, ..) => Status::ZeroOnly,
    }
}

/// The runner that these words start.
fn recognise(words: &[String]) -> Option<Ran> {
    let words: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !word.starts_with('+')).collect();
    let tool = *words.first()?;
    let first = words.get(1).copied().unwrap_or_default();
    let any = |names: &[&str]| words[1..].iter().any(|word| names.contains(word));
    let name = match (tool, first) {
        ("cargo", "test" | "t") => "cargo test",
        ("cargo", "nextest") if any(&["run", "r"]) => "cargo nextest",
        ("cargo", "build" | "b") => "cargo build",
        ("cargo", "check" | "c") => "cargo check",
        ("cargo", "clippy") => "cargo clippy",
        ("go", "test") => "go test",
        ("go", "build" | "install") => "go build",
        ("go", "vet") => "go vet",
        ("pytest" | "py.test", _) => "pytest",
        ("unittest", _) => "unittest",
        ("jest", _) => "jest",
        ("vitest", _) => "vitest",
        ("mocha", _) => "mocha",
        ("node", _) if any(&["--test"]) => "node --test",
        ("bun", "test") => "bun test",
        ("tsc" | "vue-tsc", _) => "tsc",
        ("eslint", _) => "eslint",
        ("ruff", "check" | "") => "ruff",
        ("flake8", _) => "flake8",
        ("mypy", _) => "mypy",
        ("pyright" | "basedpyright", _) => "pyright",
        ("vite", "build") => "vite build",
        ("webpack", _) => "webpack",
        ("rspec", _) => "rspec",
        ("phpunit", _) => "phpunit",
        ("prove", _) => "prove",
        ("ctest", _) => "ctest",
        ("dotnet", "test") => "dotnet test",
        ("mvn", _) if any(&["test", "verify", "package", "install", "integration-test"]) => "mvn",
        ("gradle", _)
            if words[1..].iter().any(|word| {
                word.to_lowercase().ends_with("test") || matches!(*word, "check" | "build")
            }) =>
        {
            "gradle"
        }
        (
            "npm" | "pnpm" | "yarn" | "bun" | "just" | "rake" | "task" | "make" | "tox" | "nox"
            | "bazel" | "mix" | "swift" | "deno" | "sbt",
            _,
        ) => {
            return script(tool, &words[1..]);
        }
        _ => return own_script(tool),
    };
    Some(Ran::Runner(name))
}

/// A script by the name that its author gave it. One that says nothing about what it does is none of ours.
fn script(tool: &str, arguments: &[&str]) -> Option<Ran> {
    let mut words =
        arguments.iter().copied().filter(|word| !word.starts_with('-') && !word.contains('='));
    let mut name = words.next();
    if matches!(name, Some("run" | "run-script" | "exec")) {
        name = words.next();
    }
    let kind = match (tool, name) {
        ("tox" | "nox", _) | ("npm", Some("t" | "tst")) => Kind::Test,
        // `make` alone builds.
        ("make", None) => Kind::Build,
        (_, Some(name)) => kind_of(name)?,
        (_, None) => return None,
    };
    let name = name.map_or_else(|| tool.to_owned(), |name| format!("{tool} {name}"));
    Some(Ran::Script { name, kind })
}

/// `./run-tests.sh`, `scripts/test`: a path whose last part says what it does.
fn own_script(tool: &str) -> Option<Ran> {
    let (_, last) = tool.rsplit_once('/')?;
    let stem = last.split('.').next().unwrap_or(last);
    kind_of(stem).map(|kind| Ran::Script { name: tool.to_owned(), kind })
}

fn kind_of(name: &str) -> Option<Kind> {
    let parts = || name.split([':', '-', '_', '.']).map(str::to_lowercase);
    let says = |words: &[&str]| parts().any(|part| words.contains(&part.as_str()));
    match () {
        () if says(&["test", "tests", "spec", "specs", "unit", "e2e", "verify", "ci"]) => {
            Some(Kind::Test)
        }
        () if says(&["typecheck", "types", "tsc"]) => Some(Kind::Typecheck),
        () if says(&["lint", "eslint", "clippy"]) => Some(Kind::Lint),
        () if says(&["build", "compile", "all", "dist"]) => Some(Kind::Build),
        () if says(&["check"]) => Some(Kind::Test),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_through_whatever_is_around_them() {
        for (line, runner, status) in [
            ("pytest", "pytest", Status::Own),
            ("cd api && python -m pytest -q tests/", "pytest", Status::Own),
            ("cd api; FOO=1 uv run pytest", "pytest", Status::Own),
            ("timeout 60 python3 -m unittest discover", "unittest", Status::Own),
            ("cargo +nightly test -p x -- --nocapture", "cargo test", Status::Own),
            ("cargo nextest run", "cargo nextest", Status::Own),
            ("cargo build && cargo test", "cargo test", Status::OwnIfReached),
            ("cargo test && echo done", "cargo test", Status::ZeroOnly),
            ("cargo test && git commit -m x", "cargo test", Status::ZeroOnly),
            ("cargo test 2>&1 | tail -5", "cargo test", Status::Hidden),
            ("set -o pipefail; cargo test | tail", "cargo test", Status::Own),
            ("set -euo pipefail && cargo test |& tee log", "cargo test", Status::Own),
            ("cargo test || true", "cargo test", Status::Hidden),
            ("(cargo test) || true", "cargo test", Status::Hidden),
            ("cargo test; echo $?", "cargo test", Status::Hidden),
            ("! cargo test", "cargo test", Status::Hidden),
            ("make || cargo test", "cargo test", Status::Hidden),
            ("bash -lc 'cd x && npx jest'", "jest", Status::Own),
            ("npx vitest run", "vitest", Status::Own),
            ("node --test test/", "node --test", Status::Own),
            ("go test ./... -run X", "go test", Status::Own),
            ("./gradlew :app:test", "gradle", Status::Own),
            ("./mvnw -q test", "mvn", Status::Own),
            ("npx tsc --noEmit", "tsc", Status::Own),
        ] {
            let found = find(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((found.ran, found.status), (Ran::Runner(runner), status), "{line}");
        }
    }

    #[test]
    fn every_reader_is_found_and_can_be_predicted() {
        for runner in crate::outcome::runners::RUNNERS {
            // It is a library: `rake test` and `ruby test/a.rb` do not tell.
            if runner.name == "minitest" {
                continue;
            }
            // A script's name has its goal behind it, and `make` alone is also a word.
            let is_it = |line: &String| match find(line).map(|found| found.ran) {
                Some(Ran::Runner(name)) => name == runner.name,
                Some(Ran::Script { name, .. }) => name.starts_with(runner.name),
                None => false,
            };
            let mut lines = ["", " run", " test", " all"]
                .map(|more| format!("{}{more}", runner.name))
                .into_iter();
            let known =
                lines.any(|line| is_it(&line) && crate::ghap::expect::command::is_command(&line));
            assert!(known, "{}", runner.name);
        }
    }

    #[test]
    fn what_went_through_a_filter_is_not_all() {
        for (line, filtered, status) in [
            ("cargo test", false, Status::Own),
            ("cargo test 2>&1 | tail -5", false, Status::Hidden),
            ("cargo test | tee log | tail", false, Status::Hidden),
            ("cargo test | grep ok", true, Status::Hidden),
            ("cargo test 2>&1 | tail -30 | grep -v warning", true, Status::Hidden),
            ("cargo test | head -50", true, Status::Hidden),
            ("set -o pipefail; cargo test | tee log", false, Status::Own),
            ("set -o pipefail; cargo test | grep result", true, Status::ZeroOnly),
            ("cargo test && ls | grep x", false, Status::Hidden),
            ("ls | grep x; cargo test", false, Status::Own),
            ("bash -c 'cargo test' | grep ok", true, Status::Hidden),
        ] {
            let found = find(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((found.filtered, found.status), (filtered, status), "{line}");
        }
    }

    #[test]
    fn scripts_say_by_their_name_what_they_do() {
        for (line, name, kind) in [
            ("npm test", "npm test", Kind::Test),
            ("npm run test:unit -- --watch=false", "npm test:unit", Kind::Test),
            ("yarn build", "yarn build", Kind::Build),
            ("pnpm run lint", "pnpm lint", Kind::Lint),
            ("pnpm -r typecheck", "pnpm typecheck", Kind::Typecheck),
            ("make -j8 check", "make check", Kind::Test),
            ("make", "make", Kind::Build),
            ("tox -e py311", "tox py311", Kind::Test),
            ("./scripts/test", "scripts/test", Kind::Test),
        ] {
            let found = find(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(found.ran, Ran::Script { name: name.to_owned(), kind }, "{line}");
        }
    }

    #[test]
    fn what_is_no_run_is_none() {
        for line in [
            "",
            "ls -la",
            "git commit -m 'cargo test'",
            "echo pytest",
            "grep -r cargo test",
            "cat pytest.ini",
            "npm install",
            "npm start",
            "cargo fmt",
            "cargo test &",
            "pytest & sleep 1",
            "make clean",
            "vim tests/test_a.py",
            "python app.py",
        ] {
            assert_eq!(find(line), None, "{line}");
        }
    }
}
