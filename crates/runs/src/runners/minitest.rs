//! minitest, alone or through rake and Rails.

use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, find_count};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "minitest",
    RunKind::Test,
    &[" skips\n", "Failure:\n", "Error:\n"],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut summaries: Vec<TestCounts> = Vec::new();
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut passed = PassedTests::default();
    let mut finished = None;
    let mut heading = "";
    let mut open = false;
    for line in text.lines() {
        if let Some(counts) = parse_summary(line) {
            summaries.push(counts);
            open = false;
        } else if let Some(rest) = line.strip_prefix("Finished in ") {
            finished = rest.split_once("s, ").and_then(|(time, _)| scan::parse_seconds(time));
        } else if line.ends_with(" Failure:")
            || line.ends_with(" Error:")
            || line == "Failure:"
            || line == "Error:"
        {
            heading = line;
            open = false;
        } else if !heading.is_empty() {
            // The line below the heading names the test; class and message, or the message alone, follow it.
            if let Some(failure) = parse_test_line(line) {
                failures.push(failure);
                open = true;
            }
            heading = "";
        } else if let Some(test) = parse_verbose_pass(line) {
            passed.add(None, || test.to_owned());
        } else if let Some(place) =
            line.strip_prefix("bin/rails test ").or_else(|| line.strip_prefix("rails test "))
        {
            // Rails prints the command to run the test again.
            if let Some(failure) = failures.last_mut().filter(|_| open) {
                failure.scope = scan::file_of_place(place).map(str::to_owned);
            }
            open = false;
        } else if line.ends_with(" Skipped:") {
            open = false;
        } else if let Some(failure) = failures.last_mut().filter(|_| open) {
            read_detail(failure, line);
        }
    }
    let sum = match summaries.as_slice() {
        // Rake runs one process per task, each with a summary; two summaries of one process look the same.
        [counts] => Some(*counts),
        _ => None,
    };
    let failed = summaries.iter().any(|counts| counts.failed > 0);
    let verdict = match sum {
        Some(TestCounts { failed: 0, passed: 1.., .. })
            if failures.is_empty() && finished.is_some() =>
        {
            Verdict::Passed
        }
        _ if failed => Verdict::Failed,
        None if summaries.is_empty() && !failures.is_empty() => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        failures.clear();
    }
    let duration = finished.filter(|_| sum.is_some());
    OutputReport {
        verdict,
        counts: sum,
        passed: passed.without_failed(&failures),
        failures,
        duration,
    }
}

/// Parses a complete `3 runs, 2 assertions, 1 failures, 0 errors, 1 skips`.
fn parse_summary(line: &str) -> Option<TestCounts> {
    if !line.ends_with(" skips") {
        return None;
    }
    let runs = find_count(line, "runs")?;
    let failed = find_count(line, "failures")?.checked_add(find_count(line, "errors")?)?;
    let skipped = find_count(line, "skips")?;
    let passed = runs.checked_sub(failed)?.checked_sub(skipped)?;
    Some(TestCounts { passed, failed, skipped })
}

/// Parses the test of `TestLedger#test_adds = 0.00 s = .`, which is printed with `--verbose`.
fn parse_verbose_pass(line: &str) -> Option<&str> {
    let (test, time) = line.strip_suffix(" s = .")?.rsplit_once(" = ")?;
    scan::parse_seconds(time).filter(|_| test.contains('#') && !test.contains(' ')).map(|_| test)
}

/// Parses `TestLedger#test_adds [test/l_test.rb:4]:`. Only a failed assertion has a place.
fn parse_test_line(line: &str) -> Option<ReportedFailure> {
    let line = line.strip_suffix(':')?;
    let (test, place) = match line.split_once(" [") {
        Some((test, place)) => (test, place.strip_suffix(']').and_then(scan::parse_place)),
        None => (line, None),
    };
    test.contains('#').then(|| {
        ReportedFailure { test: Some(test.to_owned()), ..ReportedFailure::default() }
            .with_place(place)
    })
}

fn read_detail(failure: &mut ReportedFailure, line: &str) {
    if failure.message.is_none() {
        let class = |c: &&str| c.starts_with(|c: char| c.is_ascii_uppercase()) && !c.contains(' ');
        // An assertion has its place above, so `Expected: 4` does not start with a class.
        match line.split_once(": ").filter(|(kind, _)| failure.frame.is_none() && class(kind)) {
            Some((kind, message)) => {
                failure.error = Some(kind.to_owned());
                failure.message = Some(message.to_owned());
            }
            None if !line.is_empty() => failure.message = Some(line.trim().to_owned()),
            None => {}
        }
    } else if failure.frame.is_none()
        && let Some(place) = line.strip_prefix("    ")
        && !place.starts_with("/usr/")
        && !place.contains("/gems/")
        && let Some(place) = scan::parse_place(place)
    {
        failure.set_place(place);
    }
}
