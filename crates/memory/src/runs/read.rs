//! From a command and what it printed to an outcome, or to the reason why there is none.
//!
//! The exit status comes first, as far as the command line lets it through; the text second. Where the two contradict
//! each other, or neither says anything, nobody knows how it went: `passed` is never a guess.

use super::line::{self, Ran, Status};
use super::report::{Failure, Report, Runner};
use super::runners::named;
use super::{Counts, Kind, Verdict, script, signature, tells, text};

/// What was seen of a command that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The command line.
    pub command: &'a str,
    /// The exit status of the line, where it is known.
    pub exit: Option<i32>,
    /// What it printed, stdout and stderr in whatever order.
    pub output: &'a [u8],
    /// Whether some of what it printed is missing.
    pub cut: bool,
}

/// What a run said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What was run.
    pub kind: Kind,
    /// With what.
    pub runner: String,
    /// How it went.
    pub verdict: Verdict,
    /// How many, where the text says so.
    pub counts: Option<Counts>,
    /// What failed, by the runner's names.
    pub failing: Vec<String>,
    /// The shape of the failure; none of a text that was cut.
    pub signature: Option<String>,
    /// The exit status, where it is the run's own.
    pub exit: Option<i32>,
    /// How long it says it took, in milliseconds.
    pub duration: Option<u64>,
    /// How the verdict came about.
    pub because: &'static str,
    /// What failed, as far as the text tells.
    pub failures: Vec<Failure>,
    /// Whether some of the text is missing.
    pub cut: bool,
    /// Whether everything that failed is among the failures.
    pub whole: bool,
}

/// Why most commands are no outcome.
pub(crate) const NO_RUN: &str =
    "no command in it is a run of tests, a build or a check that is waited for";

/// Reads a run; or says why it is no outcome.
pub fn read(seen: &Seen<'_>) -> Result<Reading, &'static str> {
    let found = line::find(seen.command).ok_or(NO_RUN)?;
    let exit = match found.status {
        Status::Hidden => None,
        Status::ZeroOnly => seen.exit.filter(|exit| *exit == 0),
        Status::Own | Status::OwnIfReached => seen.exit,
    };
    match exit {
        Some(126 | 127) => return Err("it could not be started"),
        Some(124) if seen.command.contains("timeout") => return Err("it ran out of time"),
        Some(exit) if exit > 128 => return Err("a signal or a time-out ended it"),
        _ => {}
    }
    let text = text::plain(seen.output);
    let (runner, kind, report) = match &found.ran {
        Ran::Runner(name) => {
            let runner = named(name).ok_or("there is no reader for this runner")?;
            (runner.name.to_owned(), runner.kind, (runner.read)(&text))
        }
        Ran::Script { name, kind } => match runner_behind(&text) {
            Some(runner) => (runner.name.to_owned(), runner.kind, (runner.read)(&text)),
            None => (name.clone(), *kind, read_script(&text, *kind)),
        },
    };
    let cut = seen.cut || found.filtered;
    Ok(concluded((runner, kind, report), found.status, exit, cut, !found.trimmed))
}

/// Reads a command that the user has said is a run, by the name that was given for it.
pub fn read_named(seen: &Seen<'_>, name: &str) -> Result<Reading, &'static str> {
    // Of a line with more in it nobody knows whose exit status it has.
    let (status, exit) = if seen.command.contains(['|', ';', '&', '\n']) {
        (Status::Hidden, None)
    } else {
        (Status::Own, seen.exit)
    };
    if exit.is_some_and(|exit| matches!(exit, 126 | 127) || exit > 128) {
        return Err("it could not be started, or a signal or a time-out ended it");
    }
    let kind = if name.contains("build") { Kind::Build } else { Kind::Test };
    let report = read_script(&text::plain(seen.output), kind);
    Ok(concluded((name.to_owned(), kind, report), status, exit, seen.cut, true))
}

/// What comes of what was run, how it ended, and what it printed.
fn concluded(
    (runner, kind, report): (String, Kind, Report),
    status: Status,
    exit: Option<i32>,
    cut: bool,
    whole: bool,
) -> Reading {
    let (verdict, because) = decide(status, exit, &report, &runner, cut);
    let failed = verdict == Verdict::Failed;
    let mut failing = Vec::new();
    if failed {
        for test in report.failures.iter().filter_map(|failure| failure.test.as_ref()) {
            if !failing.contains(test) {
                failing.push(test.clone());
            }
        }
    }
    Reading {
        kind,
        runner,
        verdict,
        counts: report.counts,
        failing,
        signature: if failed && !cut { signature::of(&report.failures) } else { None },
        exit,
        duration: report.duration,
        because,
        failures: if failed { report.failures } else { Vec::new() },
        cut,
        whole: !cut && whole,
    }
}

/// The runner behind a script, where the package manager printed the command that it ran.
fn runner_behind(text: &str) -> Option<&'static Runner> {
    let found = line::find(script::script(text).command?)?;
    match found.ran {
        Ran::Runner(name) => named(name),
        Ran::Script { .. } => None,
    }
}

/// What a script of unknown content printed, if the readers that understand it agree.
fn read_script(text: &str, kind: Kind) -> Report {
    let reports = tells::telling(text, kind).into_iter().map(|runner| (runner.read)(text));
    let mut reports = reports.filter(Report::is_known);
    let Some(first) = reports.next() else { return Report::unknown() };
    if reports.all(|report| report.verdict == first.verdict) { first } else { Report::unknown() }
}

fn decide(
    status: Status,
    exit: Option<i32>,
    report: &Report,
    runner: &str,
    cut: bool,
) -> (Verdict, &'static str) {
    let nothing = report.counts.is_some_and(|counts| counts.passed + counts.failed == 0);
    match (exit, report.verdict) {
        (Some(0), Verdict::Failed) => {
            (Verdict::Unknown, "it exited with 0, and its text says that something failed")
        }
        (Some(0), _) if nothing => (Verdict::Unknown, "nothing ran"),
        (Some(0), _) => (Verdict::Passed, "it exited with 0"),
        (Some(code), _) if ran_nothing(runner, code) => {
            (Verdict::Unknown, "its exit status says that nothing ran")
        }
        (Some(_), Verdict::Failed) => {
            (Verdict::Failed, "it failed by its exit status and by its text")
        }
        (Some(_), _) if status == Status::OwnIfReached => (
            Verdict::Unknown,
            "the line failed, and perhaps before the run: its text does not say that it failed",
        ),
        (Some(_), _) => (Verdict::Failed, "its exit status is not 0"),
        // Of several parts each has its summary: the one that failed may be missing.
        (None, Verdict::Passed) if cut => {
            (Verdict::Unknown, "the exit status is hidden, and some of the text is missing")
        }
        (None, Verdict::Passed) => {
            (Verdict::Passed, "the exit status is hidden; its summary says that it passed")
        }
        (None, Verdict::Failed) => {
            (Verdict::Failed, "the exit status is hidden; its text says that it failed")
        }
        (None, Verdict::Unknown) => {
            (Verdict::Unknown, "the exit status is hidden, and the text does not say")
        }
    }
}

/// Exit statuses by which a runner says that it ran no test.
fn ran_nothing(runner: &str, code: i32) -> bool {
    matches!((runner, code), ("pytest", 4 | 5) | ("unittest", 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(command: &str, exit: Option<i32>, output: &str) -> Option<Verdict> {
        read(&Seen { command, exit, output: output.as_bytes(), cut: false })
            .ok()
            .map(|reading| reading.verdict)
    }

    const GREEN: &str = "\nrunning 2 tests\ntest a ... ok\ntest b ... ok\n\n\
                         test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";
    const RED: &str = "\nrunning 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\n\n\
                       thread 'a' panicked at src/lib.rs:5:9:\nboom\n\n\nfailures:\n    a\n\n\
                       test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";
    const EMPTY: &str = "\nrunning 0 tests\n\n\
                         test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n\n";

    #[test]
    fn the_exit_status_comes_first_and_passed_is_never_a_guess() {
        use Verdict::{Failed, Passed, Unknown};
        for (command, exit, output, expected) in [
            ("cargo test", Some(0), GREEN, Some(Passed)),
            ("cargo test", Some(101), RED, Some(Failed)),
            ("cargo test", Some(101), "", Some(Failed)),
            ("cargo test", Some(0), RED, Some(Unknown)),
            ("cargo test nothing", Some(0), EMPTY, Some(Unknown)),
            ("cargo test | tail -3", Some(0), GREEN, Some(Passed)),
            ("cargo test | tail -3", Some(0), RED, Some(Failed)),
            ("cargo test | tail -3", Some(0), "half of it", Some(Unknown)),
            ("cargo test | grep ok", Some(0), GREEN, Some(Unknown)),
            ("cargo test | grep -i fail", Some(0), RED, Some(Failed)),
            ("cargo test | grep -i fail", Some(1), "", Some(Unknown)),
            ("set -o pipefail; cargo test | grep -i fail", Some(1), "", Some(Unknown)),
            ("set -o pipefail; cargo test | grep ok", Some(0), GREEN, Some(Passed)),
            ("cargo test || true", Some(0), RED, Some(Failed)),
            ("cargo test || true", Some(0), "", Some(Unknown)),
            ("cargo test && git push", Some(1), GREEN, Some(Passed)),
            ("cargo test && git push", Some(1), "", Some(Unknown)),
            ("cargo build && cargo test", Some(101), "the build went wrong", Some(Unknown)),
            ("cargo build && cargo test", Some(101), RED, Some(Failed)),
            ("pytest", Some(5), "no tests ran in 0.01s", Some(Unknown)),
            ("cargo test", Some(127), "", None),
            ("cargo test", Some(143), "", None),
            ("timeout 5 cargo test", Some(124), "", None),
            ("ls", Some(0), "", None),
            ("make test", Some(0), "", Some(Passed)),
            ("make test", Some(2), RED, Some(Failed)),
            ("make test | tail", Some(0), "ok", Some(Unknown)),
            (
                "npm test | cat",
                Some(0),
                "\n> shop@1.0.0 test\n> cargo test\n\nhalf of it",
                Some(Unknown),
            ),
        ] {
            assert_eq!(verdict(command, exit, output), expected, "{command} {exit:?} {output:.20}");
        }
    }

    #[test]
    fn a_text_that_was_cut_has_no_signature() {
        let seen =
            Seen { command: "cargo test", exit: Some(101), output: RED.as_bytes(), cut: false };
        let whole = read(&seen).unwrap();
        assert_eq!(whole.failing, ["a"]);
        assert_eq!(whole.signature.as_deref(), Some("a | panicked | boom | lib.rs"));
        assert_eq!(read(&Seen { cut: true, ..seen }).unwrap().signature, None);
    }
}
