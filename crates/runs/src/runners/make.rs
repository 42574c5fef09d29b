//! make, and the C compilers it calls.
//!
//! A successful make prints no message about it, so by the text only "nothing to be done" is a success.

use super::diagnostics;
use crate::report::{OutputReader, OutputReport, ReportedFailure};
use crate::scan::{self, split_number};
use crate::{RunKind, Verdict};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("make", RunKind::Build, &["make: ", "]: *** ", "\nmake["], read_output);

fn read_output(text: &str) -> OutputReport {
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut failed = None;
    let mut done = 0_usize;
    let mut other = 0_usize;
    for line in text.lines().filter(|line| !line.is_empty() && !scan::is_timing(line)) {
        if let Some(what) = parse_stop_message(line) {
            failed = failed.or(Some(what));
        } else if let Some(failure) = parse_compiler_error(line) {
            if failures.iter().rev().take(64).all(|other| *other != failure) {
                failures.push(failure);
            }
        } else if is_up_to_date(line) {
            done += 1;
        } else {
            other += 1;
        }
    }
    let verdict = match failed {
        Some(_) => Verdict::Failed,
        None if done > 0 && other == 0 && failures.is_empty() => Verdict::Passed,
        // A compiler error without make's message: make may have been told to continue, or the text is truncated.
        None => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        failures.clear();
    } else if failures.is_empty() {
        failures = read_inner_failures(text);
        if failures.is_empty() {
            failures.extend(failed.map(target_failure));
        }
    }
    OutputReport { verdict, counts: None, failures, passed: Vec::new(), duration: None }
}

/// Returns the text after `make[1]: *** `, which make prints only for an error that it does not ignore.
fn parse_stop_message(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("make").or_else(|| line.strip_prefix("gmake"))?;
    let rest = match rest.strip_prefix('[') {
        Some(level) => split_number(level)?.1.strip_prefix(']')?,
        None => rest,
    };
    let what = rest.strip_prefix(": *** ")?;
    (!what.starts_with("Waiting for unfinished jobs")).then_some(what)
}

/// Returns true for `make: Nothing to be done for 'all'.` and `make: 'ledger' is up to date.`
fn is_up_to_date(line: &str) -> bool {
    line.strip_prefix("make: ").is_some_and(|rest| {
        (rest.starts_with("Nothing to be done for ") && rest.ends_with('.'))
            || rest.ends_with(" is up to date.")
    })
}

/// Parses an error of the compiler or the linker, in a file of any kind.
fn parse_compiler_error(line: &str) -> Option<ReportedFailure> {
    if !line.contains(':') {
        return None;
    }
    let found = diagnostics::parse_diagnostic(line).or_else(|| {
        line.contains("error: ").then(|| diagnostics::parse_compiler_error(line)).flatten()
    })?;
    let failure = ReportedFailure {
        error: found.error.map(str::to_owned),
        message: Some(found.message.to_owned()),
        ..ReportedFailure::default()
    };
    Some(failure.with_place(found.place))
}

/// Returns the failures of another runner that make called: of tests, or of a linter.
fn read_inner_failures(text: &str) -> Vec<ReportedFailure> {
    let told = super::select_readers(text).into_iter();
    let others = told.filter(|runner| !matches!(runner.name, "make" | "cmake"));
    let failed =
        others.map(|runner| (runner.read)(text)).filter(|report| report.verdict == Verdict::Failed);
    failed.map(|report| report.failures).find(|failures| !failures.is_empty()).unwrap_or_default()
}

/// Builds a failure from the target of `[Makefile:11: test] Error 1`, if no other line has a reason.
fn target_failure(what: &str) -> ReportedFailure {
    let message = match what.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((place, why)) => {
            let target = place.rsplit(": ").next().unwrap_or(place);
            format!("{target}: {why}")
        }
        None => what.to_owned(),
    };
    ReportedFailure { message: Some(message), ..ReportedFailure::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_failures_come_first() {
        let text = "pytest -q\nF                                                    [100%]\n\
            ======= short test summary info =======\nFAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed in 0.02s\nmake: *** [Makefile:3: test] Error 1\n";
        let report = read_output(text);
        assert_eq!(report.verdict, Verdict::Failed);
        let tests: Vec<_> = report.failures.iter().filter_map(|one| one.test.as_deref()).collect();
        assert_eq!(tests, ["tests/test_a.py::test_b"]);
    }

    #[test]
    fn target_is_named_without_line() {
        assert_eq!(
            target_failure("[Makefile:11: test] Error 1").message.as_deref(),
            Some("test: Error 1")
        );
        assert_eq!(target_failure("[test] Error 1").message.as_deref(), Some("test: Error 1"));
    }
}
