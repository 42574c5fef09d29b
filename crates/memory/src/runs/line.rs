//! Which run a command line is about, and whether the exit status is that run's own.
//!
//! The status of a line is that of its last command: a pipe shows `tail`'s, `|| true` nobody's. So a run is found
//! together with what its line lets through of how it ended.

use std::path::PathBuf;

use super::Kind;
use crate::runs::shell::{Joiner, Simple, commands};
use crate::runs::wrapped::unwrapped;

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
    /// Its words, without what is wrapped around it.
    pub(crate) words: Vec<String>,
    /// Where the line goes before it runs: `cd api && pytest`.
    pub(crate) folder: Option<String>,
    /// What it printed went through a program that may have kept some of it: `grep`.
    pub(crate) filtered: bool,
    /// The same, where it kept the end: `tail`. What it says is right, but may not be all.
    pub(crate) trimmed: bool,
    /// The words of what it ran before with the same runner.
    pub(crate) earlier: Vec<Vec<String>>,
    /// Whether it goes elsewhere between those.
    pub(crate) moves: bool,
}

/// The last run of a line; none when there is none, or nobody waits for it.
pub(crate) fn find(line: &str) -> Option<Found> {
    let commands = commands(line);
    let (at, ran, words) = commands.iter().enumerate().rev().find_map(|(at, simple)| {
        let words = unwrapped(simple.words.clone());
        recognise(&words).map(|ran| (at, ran, words))
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
    let trimmed = goes_through(&commands[at..], |word| word == "tail");
    let status = if negated { Status::Hidden } else { status(&commands, at, pipefail, filtered) };
    let folder = commands[..at].iter().rev().find_map(entered);
    let (mut earlier, mut moves) = (Vec::new(), false);
    for simple in &commands[..at] {
        let words = unwrapped(simple.words.clone());
        moves |= !earlier.is_empty() && entered(simple).is_some();
        if recognise(&words).as_ref() == Some(&ran) {
            earlier.push(words);
        }
    }
    Some(Found { ran, status, words, folder, filtered, trimmed, earlier, moves })
}

/// What a line does before its run.
pub(crate) fn before(line: &str) -> Vec<Simple> {
    let mut commands = commands(line);
    let run = |simple: &Simple| recognise(&unwrapped(simple.words.clone())).is_some();
    commands.truncate(commands.iter().rposition(run).unwrap_or(0));
    commands
}

/// The folder that a line goes to by its full path before it does its work. The client may be somewhere else again when
/// it tells of the line: a shell that left the project is brought back.
pub(crate) fn destination(line: &str) -> Option<PathBuf> {
    let mut commands = commands(line);
    let run = |simple: &Simple| recognise(&unwrapped(simple.words.clone())).is_some();
    commands.truncate(commands.iter().rposition(run).unwrap_or(commands.len()));
    let mut place: Option<PathBuf> = None;
    for folder in commands.iter().filter_map(entered) {
        place = match place {
            _ if folder.starts_with(['~', '$']) => None,
            _ if folder.starts_with('/') => Some(folder.into()),
            place => place.map(|place| place.join(folder)),
        };
    }
    place
}

/// `cd api`
fn entered(simple: &Simple) -> Option<String> {
    match simple.words.as_slice() {
        [cd, folder] if matches!(cd.as_str(), "cd" | "pushd") => Some(folder.clone()),
        _ => None,
    }
}

/// Programs that pass on all they read, and `tail`, which leaves the summary.
const WHOLE: &[&str] = &["cat", "tee", "tail", "less", "more", "ts"];

/// Whether a run is piped through anything that may drop lines of it.
fn is_filtered(commands: &[Simple]) -> bool {
    goes_through(commands, |word| !WHOLE.contains(&word))
}

/// Whether what a run prints goes through such a program.
fn goes_through(commands: &[Simple], is: impl Fn(&str) -> bool) -> bool {
    let pipes = commands.iter().take_while(|simple| simple.joiner == Joiner::Pipe).count();
    commands[1..]
        .iter()
        .take(pipes)
        .any(|simple| is(unwrapped(simple.words.clone()).first().map_or("", String::as_str)))
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

/// Options by which a runner only tells something: what it is, what it would run.
const TELLING: &[&str] = &[
    "--help",
    "-h",
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
];

/// The runner that these words start.
fn recognise(words: &[String]) -> Option<Ran> {
    let words: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !word.starts_with('+')).collect();
    let tool = *words.first()?;
    let first = words.get(1).copied().unwrap_or_default();
    let any = |names: &[&str]| words[1..].iter().any(|word| names.contains(word));
    let telling = match tool {
        "make" | "just" | "rake" | "task" | "ctest" => any(&["-n", "-N"]),
        "tsc" | "eslint" => any(&["-v"]),
        _ => false,
    };
    if telling || any(TELLING) {
        return None;
    }
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
    // What stands behind an option that says where is no name.
    let is_value = |at: usize| {
        let before = at.checked_sub(1).map_or("", |before| arguments[before]);
        let where_to = match tool {
            "make" => matches!(before, "-C" | "-f" | "-I" | "--directory" | "--file"),
            "npm" => matches!(before, "--prefix" | "-w" | "--workspace"),
            "pnpm" => matches!(before, "--filter" | "-F" | "-C" | "--dir"),
            "yarn" => matches!(before, "--cwd" | "workspace"),
            "bun" => matches!(before, "--filter" | "--cwd"),
            "just" | "task" => matches!(before, "-f" | "--justfile" | "-d" | "-t"),
            _ => false,
        };
        where_to || (before == "-j" && arguments[at].bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut words = arguments
        .iter()
        .enumerate()
        .filter(|(at, word)| !word.starts_with('-') && !word.contains('=') && !is_value(*at))
        .map(|(_, word)| *word)
        .filter(|word| !(tool == "yarn" && *word == "workspace"));
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
        for runner in crate::runs::runners::RUNNERS {
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
            ("make -j 8 -C sub test", "make test", Kind::Test),
            ("pnpm --filter web test", "pnpm test", Kind::Test),
            ("npm --prefix web run build", "npm build", Kind::Build),
            ("npm -w web test", "npm test", Kind::Test),
            ("yarn workspace web test", "yarn test", Kind::Test),
            ("make", "make", Kind::Build),
            ("tox -e py311", "tox py311", Kind::Test),
            ("./scripts/test", "scripts/test", Kind::Test),
        ] {
            let found = find(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(found.ran, Ran::Script { name: name.to_owned(), kind }, "{line}");
        }
    }

    #[test]
    fn where_a_line_goes_by_its_full_path() {
        for (line, place) in [
            ("cd /srv/app && pytest", Some("/srv/app")),
            ("cd /srv/app && cd api && pytest; cd /tmp", Some("/srv/app/api")),
            ("cd /srv/app && sed -i s/a/b/ x", Some("/srv/app")),
            ("cd api && pytest", None),
            ("cd /srv && cd ~/app && pytest", None),
            ("pytest", None),
        ] {
            assert_eq!(destination(line), place.map(PathBuf::from), "{line}");
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
            "make -n test",
            "pytest --collect-only -q",
            "which pytest && pytest --version",
            "cargo test --no-run",
            "cargo test -- --list",
            "npx jest --listTests",
            "tsc -v",
            "vim tests/test_a.py",
            "python app.py",
        ] {
            assert_eq!(find(line), None, "{line}");
        }
    }
}
