//! The runs of a command line: the programs that run tests, builds or checks, the meaning of the line's exit status for
//! each, and the part of its output that is shown.

use super::command_line::{CommandLine, ParsedCommand};
use super::shell::{Joiner, RedirectedStream, RedirectionTarget};
use super::table::{self, FoundRunner, RunTask};

/// Maximum number of runs read from one line.
const MAX_RUNS: usize = 8;

/// The runner or task that a command starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunProgram {
    /// A runner that is known by name.
    Runner(FoundRunner),
    /// A task or script, which may run anything.
    Task(RunTask),
}

/// The meaning of the line's exit status for one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatusMeaning {
    /// The line has the exit status of the run.
    Own,
    /// The line has the exit status of the run, unless a command before it failed.
    OwnIfReached,
    /// Zero means that the run succeeded; any other status may belong to another command.
    ZeroOnly,
    /// The status is unrelated to the run.
    Hidden,
}

/// A program that filters the output of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFilter {
    /// Keeps at most this number of first lines; None if the number is unknown.
    Head(Option<usize>),
    /// Keeps the last lines.
    Tail(Option<usize>),
    /// Keeps some lines: `grep`, `awk`.
    Some,
}

/// The part of a run's output that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShownOutput {
    /// True if nothing is shown: the output went to a file that the line does not print.
    pub is_lost: bool,
    /// True if standard error is not shown.
    pub loses_errors: bool,
    /// Filters that the output passes through, in order.
    pub filters: Vec<OutputFilter>,
}

/// A run in a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRun {
    /// The runner or task.
    pub program: RunProgram,
    /// The position of the command in the line.
    pub at: usize,
    /// The meaning of the line's exit status for the run.
    pub status: ExitStatusMeaning,
    /// The part of the output that is shown.
    pub shown: ShownOutput,
}

/// Returns the runs of a line, in order. Includes tasks and scripts that may be runs, but no run in the background.
pub fn find_runs(line: &CommandLine) -> Vec<FoundRun> {
    let found = line.commands.iter().enumerate().filter_map(|(at, command)| {
        let program = table::find_runner(&command.words)
            .map(RunProgram::Runner)
            .or_else(|| table::find_task(&command.words).map(RunProgram::Task))?;
        if is_in_background(line, at) {
            return None;
        }
        let shown = trace_output(line, at);
        let status = exit_status_meaning(line, at, &shown);
        Some(FoundRun { program, at, status, shown })
    });
    found.take(MAX_RUNS).collect()
}

/// Returns a command that looks like a test, a build or a check by its words, but is unknown: `platformio test`.
pub fn find_unknown_run(line: &CommandLine) -> Option<String> {
    line.commands.iter().find_map(|command| {
        let [program, rest @ ..] = command.words.as_slice() else { return None };
        let is_plain = |word: &str| {
            word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte))
        };
        let verb = rest.iter().take(2).find(|word| !word.starts_with('-') && is_plain(word))?;
        let known = table::is_known_program(program) || super::wrappers::takes_data(program);
        (!known && is_plain(program) && table::kind_of_name(verb).is_some())
            .then(|| format!("{program} {verb}"))
    })
}

impl FoundRun {
    /// Returns true if the command line alone shows that it is a test, a build or a check.
    pub fn is_certain(&self) -> bool {
        match &self.program {
            RunProgram::Runner(_) => true,
            RunProgram::Task(task) => task.kind.is_some(),
        }
    }
}

/// Returns true if the shell does not wait for the command, or for the pipe that it starts.
fn is_in_background(line: &CommandLine, at: usize) -> bool {
    let end = line.commands[at..].iter().find(|command| command.joiner != Joiner::Pipe);
    end.is_some_and(|command| command.joiner == Joiner::Background)
}

/// Returns the commands that a command is piped into.
fn piped_commands(line: &CommandLine, at: usize) -> &[ParsedCommand] {
    let length = line.commands[at..].iter().take_while(|one| one.joiner == Joiner::Pipe).count();
    &line.commands[at + 1..(at + 1 + length).min(line.commands.len())]
}

fn trace_output(line: &CommandLine, at: usize) -> ShownOutput {
    let mut shown = ShownOutput::default();
    let command = &line.commands[at];
    let mut file = None;
    for redirection in &command.redirections {
        let path = match &redirection.target {
            RedirectionTarget::File(path) | RedirectionTarget::Append(path) => path,
            // `2>&1` sends errors to the output.
            RedirectionTarget::Descriptor(_) | RedirectionTarget::Text(_) => continue,
        };
        let output =
            matches!(redirection.stream, RedirectedStream::Output | RedirectedStream::Both);
        let errors = matches!(redirection.stream, RedirectedStream::Error | RedirectedStream::Both);
        shown.loses_errors |= errors;
        if output {
            file = Some(path.as_str());
            shown.is_lost = true;
        }
    }
    let errors_follow = command.redirections.iter().any(|redirection| {
        redirection.stream == RedirectedStream::Error
            && matches!(redirection.target, RedirectionTarget::Descriptor(_))
    });
    // A later command that prints that file shows the run's output.
    if let Some(file) = file.filter(|file| *file != "/dev/null") {
        let printing = line.commands[at + 1..].iter().find(|later| {
            later.words.len() > 1 && later.words[1..].iter().any(|word| word == file)
        });
        if let Some(printing) = printing {
            let filters = output_filter(printing);
            let prints = filters.is_some() || matches!(printing.program(), "cat" | "less" | "bat");
            shown.is_lost = !prints;
            shown.loses_errors |= !(errors_follow
                || command.redirections.iter().any(|one| one.stream == RedirectedStream::Both));
            shown.filters.extend(filters);
        }
    }
    shown.filters.extend(piped_commands(line, at).iter().filter_map(output_filter));
    shown
}

/// Returns the filter of a command; None if it passes everything on.
fn output_filter(command: &ParsedCommand) -> Option<OutputFilter> {
    match command.program() {
        "cat" | "tee" | "less" | "more" | "ts" | "nl" | "bat" | "sponge" => None,
        "head" => Some(OutputFilter::Head(line_count(command))),
        "tail" => Some(OutputFilter::Tail(line_count(command))),
        _ => Some(OutputFilter::Some),
    }
}

/// Returns the number of lines that `head` or `tail` keeps; None if it counts in another way.
fn line_count(command: &ParsedCommand) -> Option<usize> {
    let mut words = command.words[1..].iter();
    let mut count = Some(10);
    while let Some(word) = words.next() {
        let value = match word.as_str() {
            "-n" | "--lines" => words.next().map(String::as_str),
            flag if flag.starts_with("-n") => Some(&flag[2..]),
            flag if flag.starts_with("--lines=") => Some(&flag[8..]),
            flag if flag.starts_with('-') && flag.len() > 1 => Some(&flag[1..]),
            _ => continue,
        };
        // `-n +5` and `-n -5` keep another part, `-c` counts bytes.
        let is_number = |value: &&str| value.bytes().all(|byte| byte.is_ascii_digit());
        count = value.filter(is_number).and_then(|value| value.parse().ok());
    }
    count
}

fn exit_status_meaning(line: &CommandLine, at: usize, shown: &ShownOutput) -> ExitStatusMeaning {
    let commands = &line.commands;
    if commands[at].is_condition {
        return ExitStatusMeaning::Hidden;
    }
    let pipefail = commands[..at].iter().any(|command| {
        command.program() == "set" && command.words.iter().any(|word| word == "pipefail")
    });
    // Under `pipefail`, a `grep` that finds nothing fails too, and so may a program when `head` closes the pipe.
    let mut own = !shown.filters.iter().any(|filter| !matches!(filter, OutputFilter::Tail(_)));
    let mut in_own_pipe = true;
    for command in &commands[at..] {
        match command.joiner {
            Joiner::End => break,
            Joiner::And => (own, in_own_pipe) = (false, false),
            // A command joined by `&&` runs only if the run succeeded, even if it has a pipe.
            Joiner::Pipe if pipefail || !in_own_pipe => {}
            _ => return ExitStatusMeaning::Hidden,
        }
    }
    // `;` starts a new list, independent of the commands before it.
    let begins = commands[..at]
        .iter()
        .rposition(|command| matches!(command.joiner, Joiner::Then | Joiner::Background))
        .map_or(0, |last| last + 1);
    let before = &commands[begins..at];
    let may_fail = |command: &ParsedCommand| {
        command.joiner == Joiner::And
            && !matches!(
                command.program(),
                "cd" | "pushd"
                    | "export"
                    | "source"
                    | "."
                    | "set"
                    | "true"
                    | "echo"
                    | "mkdir"
                    | "sleep"
                    | ""
            )
    };
    let is_alternative = before.last().is_some_and(|command| command.joiner == Joiner::Or);
    match (own, before.iter().any(may_fail), is_alternative) {
        (_, _, true) => ExitStatusMeaning::Hidden,
        (true, false, _) => ExitStatusMeaning::Own,
        (true, true, _) => ExitStatusMeaning::OwnIfReached,
        (false, ..) => ExitStatusMeaning::ZeroOnly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_runs(line: &str) -> Vec<FoundRun> {
        find_runs(&CommandLine::parse(line))
    }

    fn program_name(run: &FoundRun) -> &str {
        match &run.program {
            RunProgram::Runner(found) => found.runner.name,
            RunProgram::Task(task) => &task.name,
        }
    }

    #[test]
    fn statuses_of_single_runs() {
        for (line, expected, status) in [
            ("pytest", "pytest", ExitStatusMeaning::Own),
            ("cd api && python -m pytest -q tests/", "pytest", ExitStatusMeaning::Own),
            ("cd api; FOO=1 uv run pytest", "pytest", ExitStatusMeaning::Own),
            ("timeout 60 python3 -m unittest discover", "unittest", ExitStatusMeaning::Own),
            ("cargo +nightly test -p x -- --nocapture", "cargo test", ExitStatusMeaning::Own),
            ("cargo test | tail -3", "cargo test", ExitStatusMeaning::Hidden),
            ("set -o pipefail; cargo test 2>&1 | tail", "cargo test", ExitStatusMeaning::Own),
            ("set -o pipefail; cargo test | grep ok", "cargo test", ExitStatusMeaning::ZeroOnly),
            ("cargo test || true", "cargo test", ExitStatusMeaning::Hidden),
            ("cargo test; echo $?", "cargo test", ExitStatusMeaning::Hidden),
            ("cargo test && git push", "cargo test", ExitStatusMeaning::ZeroOnly),
            ("go build && ./app help | head", "go build", ExitStatusMeaning::ZeroOnly),
            ("go build | head && ls", "go build", ExitStatusMeaning::Hidden),
            ("git pull && cargo test", "cargo test", ExitStatusMeaning::OwnIfReached),
            ("test -e x || pytest", "pytest", ExitStatusMeaning::Hidden),
            ("if pytest; then echo ok; fi", "pytest", ExitStatusMeaning::Hidden),
            ("out=$(pytest -q); echo \"$out\"", "pytest", ExitStatusMeaning::Hidden),
            ("npx vitest run", "vitest", ExitStatusMeaning::Own),
            ("npm test", "npm test", ExitStatusMeaning::Own),
            ("make -j8 test", "make test", ExitStatusMeaning::Own),
            ("./run_tests.sh -x", "run_tests.sh", ExitStatusMeaning::Own),
            ("docker compose run --rm app pytest", "pytest", ExitStatusMeaning::Own),
            ("mise run test:ci", "mise test:ci", ExitStatusMeaning::Own),
            ("gradle --continue test", "gradle", ExitStatusMeaning::Own),
            ("mvn -q -pl core clean test", "mvn", ExitStatusMeaning::Own),
            ("cmake --build build -j4", "cmake", ExitStatusMeaning::Own),
            ("pnpm --filter web exec vitest run", "vitest", ExitStatusMeaning::Own),
            ("uvx ty check", "ty", ExitStatusMeaning::Own),
            ("rtk go test ./...", "go test", ExitStatusMeaning::Own),
        ] {
            let found = found_runs(line);
            assert_eq!(found.len(), 1, "{line}: {found:?}");
            assert_eq!((program_name(&found[0]), found[0].status), (expected, status), "{line}");
        }
    }

    #[test]
    fn all_runs_of_line_are_found() {
        let found = found_runs("mise run fmt && ruff check . && pytest -q | tail -5; go vet ./...");
        let names: Vec<&str> = found.iter().map(program_name).collect();
        assert_eq!(names, ["mise fmt", "ruff", "pytest", "go vet"]);
        assert_eq!(found[1].status, ExitStatusMeaning::Hidden);
        assert_eq!(found[3].status, ExitStatusMeaning::Own);
    }

    #[test]
    fn lines_without_runs() {
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
            "make -n test",
            "pytest --collect-only -q",
            "which pytest && pytest --version",
            "cargo test --no-run",
            "cargo test -- --list",
            "npx jest --listTests",
            "tsc -v",
            "vim tests/test_a.py",
            "git stash && git log --oneline | head",
        ] {
            assert_eq!(found_runs(line).iter().filter(|run| run.is_certain()).count(), 0, "{line}");
        }
    }

    #[test]
    fn unknown_runs_are_noticed() {
        for (line, expected) in [
            ("platformio test -e native", Some("platformio test")),
            ("cd x && kedro lint", Some("kedro lint")),
            ("pytest", None),
            ("git test", None),
            ("mkdir test", None),
            ("npm run dev", None),
            ("terraform plan", None),
        ] {
            assert_eq!(find_unknown_run(&CommandLine::parse(line)).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn finds_filters_of_output() {
        use OutputFilter::{Head, Some as Kept, Tail};
        for (line, lost, errors, filters) in [
            ("pytest 2>&1 | tail -5", false, false, &[Tail(Some(5))][..]),
            ("pytest | head -n 20", false, false, &[Head(Some(20))]),
            ("pytest | head", false, false, &[Head(Some(10))]),
            ("pytest | tail -n +3", false, false, &[Tail(None)]),
            ("pytest | grep -v x | tail -n3", false, false, &[Kept, Tail(Some(3))]),
            ("go build ./... 2>/dev/null", false, true, &[]),
            ("pytest > out.txt 2>&1; tail -20 out.txt", false, false, &[Tail(Some(20))]),
            ("pytest > out.txt 2>&1", true, false, &[]),
            ("pytest &> out.txt; echo done", true, true, &[]),
            ("pytest | tee log | cat", false, false, &[]),
        ] {
            let shown = found_runs(line).remove(0).shown;
            assert_eq!(
                (shown.is_lost, shown.loses_errors, shown.filters.as_slice()),
                (lost, errors, filters),
                "{line}"
            );
        }
    }
}
