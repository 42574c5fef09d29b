//! dotnet test: a line per test project, and the failures above it. Written from the documented forms: that of VSTest,
//! and the summary that the terminal logger of .NET 9 prints instead.

use super::count_sums::sum_counts;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{CodePlace, split_number};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "dotnet test",
    RunKind::Test,
    &["ed!  - ", "\nTest summary: ", "\nTest Run ", "\nBuild FAILED.", "\n  Failed ", "): error "],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut projects: Vec<TestCounts> = Vec::new();
    let mut summary = None;
    let mut started = 0_usize;
    let mut passed = PassedTests::default();
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut part = DotnetFailurePart::None;
    let mut said_failed = false;
    for line in text.lines() {
        if let Some(counts) = parse_project(line) {
            projects.push(counts);
            part = DotnetFailurePart::None;
        } else if let Some(counts) = parse_terminal_summary(line) {
            summary = Some(counts);
        } else if line.starts_with("Test run for ") {
            started += 1;
        } else if let Some(test) = parse_result(line, "  Passed ") {
            passed.add(None, || test.to_owned());
            part = DotnetFailurePart::None;
        } else if let Some(test) = parse_result(line, "  Failed ") {
            failures.push(ReportedFailure {
                test: Some(test.to_owned()),
                ..ReportedFailure::default()
            });
            part = DotnetFailurePart::None;
        } else if let Some(failure) = parse_compiler_error(line) {
            if failures.iter().rev().take(64).all(|other| *other != failure) {
                failures.push(failure);
            }
        } else if line.trim() == "Error Message:" {
            part = DotnetFailurePart::Message;
        } else if line.trim() == "Stack Trace:" {
            part = DotnetFailurePart::Stack;
        } else if line == "Test Run Aborted."
            || line == "Test Run Failed."
            || line == "Build FAILED."
        {
            said_failed = true;
        } else if let Some(failure) = failures.last_mut() {
            part = part.read_line(failure, line);
        }
    }
    let whole = !projects.is_empty() && projects.len() >= started;
    let counts = summary.or_else(|| whole.then(|| sum_counts(projects.iter().copied())));
    let failed = said_failed
        || counts.is_some_and(|counts| counts.failed > 0)
        || projects.iter().any(|counts| counts.failed > 0)
        || failures.iter().any(|failure| failure.test.is_none());
    let verdict = match counts {
        _ if failed => Verdict::Failed,
        Some(counts) if counts.passed > 0 && failures.is_empty() => Verdict::Passed,
        // A test failed, and the text ends before its project.
        None if !failures.is_empty() => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        failures.clear();
    }
    OutputReport::new(verdict, counts, passed, failures)
}

/// The part below a failed test that a line belongs to.
#[derive(Clone, Copy)]
enum DotnetFailurePart {
    None,
    Message,
    Stack,
}

impl DotnetFailurePart {
    fn read_line(self, failure: &mut ReportedFailure, line: &str) -> Self {
        let said = line.trim();
        match self {
            Self::Message if failure.message.is_none() && !said.is_empty() => {
                let kind = said.split_once(" : ").filter(|(kind, _)| kind.ends_with("Exception"));
                failure.error = kind.map(|(kind, _)| kind.to_owned());
                failure.message = Some(kind.map_or(said, |(_, message)| message).to_owned());
            }
            Self::Stack if failure.frame.is_none() => {
                // Only frames of code that was built here have a source file.
                let place =
                    said.split_once(" in ").and_then(|(_, place)| place.rsplit_once(":line "));
                if let Some((path, line)) = place {
                    failure.set_place(CodePlace::new(path, line));
                }
            }
            _ => {}
        }
        self
    }
}

/// Parses `Failed! - Failed: 1, Passed: 2, Skipped: 1, Total: 4, Duration: 12 ms - Ledger.Tests.dll (net8.0)`.
fn parse_project(line: &str) -> Option<TestCounts> {
    let rest = line.strip_prefix("Passed!  - ").or_else(|| line.strip_prefix("Failed!  - "))?;
    let counts = parse_labelled(rest, ["Passed", "Failed", "Skipped", "Total"])?;
    (rest.contains(", Duration: ") && (counts.failed == 0) == line.starts_with("Passed!"))
        .then_some(counts)
}

/// Parses `Test summary: total: 4, failed: 1, succeeded: 2, skipped: 1, duration: 1.5s`.
fn parse_terminal_summary(line: &str) -> Option<TestCounts> {
    let rest = line.strip_prefix("Test summary: ").filter(|rest| rest.ends_with('s'))?;
    parse_labelled(rest, ["succeeded", "failed", "skipped", "total"])
}

/// Parses the numbers after the labels of passed, failed, skipped and all; None if they do not add up.
fn parse_labelled(list: &str, [passed, failed, skipped, total]: [&str; 4]) -> Option<TestCounts> {
    let value = |name: &str| {
        list.split(',').find_map(|part| {
            let rest = part.trim().strip_prefix(name)?.strip_prefix(':')?;
            split_number(rest.trim()).map(|(value, _)| value)
        })
    };
    let counts =
        TestCounts { passed: value(passed)?, failed: value(failed)?, skipped: value(skipped)? };
    let sum = counts.passed.checked_add(counts.failed)?.checked_add(counts.skipped)?;
    (value(total)? == sum).then_some(counts)
}

/// Parses the test of `  Failed Ledger.Tests.LedgerTests.Adds [5 ms]` or `  Passed …`.
fn parse_result<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let (test, time) = line.strip_prefix(word)?.rsplit_once(" [")?;
    (time.ends_with("s]") && !test.is_empty()).then_some(test)
}

/// Parses `/home/ada/Ledger.cs(10,5): error CS0029: Cannot implicitly convert … [/home/ada/Ledger.csproj]`.
pub(super) fn parse_compiler_error(line: &str) -> Option<ReportedFailure> {
    let (place, rest) = line.split_once("): error ")?;
    let (code, message) = rest.split_once(": ")?;
    let (path, numbers) = place.rsplit_once('(')?;
    let message = message.rsplit_once(" [").map_or(message, |(message, _)| message);
    let place = CodePlace::new(path.trim_start(), numbers.split(',').next().unwrap_or_default());
    if code == "TESTERROR" {
        let (test, rest) = message.split_once(" (")?;
        let said = rest.split_once("Error Message: ").map(|(_, said)| said.to_owned());
        let failure = ReportedFailure {
            test: Some(test.to_owned()),
            message: said,
            ..ReportedFailure::default()
        };
        return Some(failure.with_place(Some(place)));
    }
    // The TypeScript compiler has the same form.
    if code.strip_prefix("TS").is_some_and(|digits| digits.parse::<u32>().is_ok()) {
        return None;
    }
    let failure = ReportedFailure {
        error: Some(code.to_owned()),
        message: Some(message.to_owned()),
        ..ReportedFailure::default()
    };
    code.chars().all(char::is_alphanumeric).then(|| failure.with_place(Some(place)))
}
