//! Jasmine on Node: dots, each failure in detail, and `6 specs, 2 failures, 1 pending spec`.
//!
//! A spec is named by its full description, as `--filter` accepts it.

use super::stack::JsStack;
use crate::report::{OutputReader, OutputReport, ReportedFailure};
use crate::scan;
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("jasmine", RunKind::Test, &[" specs, ", " spec, "], read_output);

fn read_output(text: &str) -> OutputReport {
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut open: Option<(&str, JsStack)> = None;
    let mut is_listing = false;
    let mut counts = None;
    let mut duration = None;
    let finish = |open: &mut Option<(&str, JsStack)>, failures: &mut Vec<ReportedFailure>| {
        if let Some((name, stack)) = open.take().filter(|(_, stack)| !stack.is_empty())
            && failures.len() < scan::MAX_FAILURES
        {
            failures.push(stack.failure(Some(name.to_owned())));
        }
    };
    for line in text.lines() {
        if line == "Failures:" {
            is_listing = true;
        } else if line == "Pending:" {
            is_listing = false;
            finish(&mut open, &mut failures);
        } else if let Some(found) = parse_summary(line) {
            finish(&mut open, &mut failures);
            (counts, is_listing) = (Some(found), false);
        } else if let Some(time) = line.strip_prefix("Finished in ") {
            duration = time.strip_suffix(" seconds").or_else(|| time.strip_suffix(" second"));
        } else if let Some((_, name)) = scan::split_number(line).filter(|_| is_listing)
            && let Some(name) = name.strip_prefix(") ")
        {
            finish(&mut open, &mut failures);
            open = Some((name, JsStack::default()));
        } else if let Some((_, stack)) = &mut open
            && line.starts_with("    ")
        {
            stack.take(line);
        }
    }
    let verdict = match counts {
        Some(TestCounts { failed: 1.., .. }) => Verdict::Failed,
        Some(TestCounts { passed: 1.., .. }) if failures.is_empty() && duration.is_some() => {
            Verdict::Passed
        }
        _ => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        failures.clear();
    }
    let duration = duration.and_then(scan::parse_seconds).filter(|_| counts.is_some());
    OutputReport { verdict, counts, failures, duration, ..OutputReport::unknown() }
}

/// Parses a complete `6 specs, 2 failures, 1 pending spec`.
fn parse_summary(line: &str) -> Option<TestCounts> {
    let mut parts = line.split(", ");
    let (specs, word) = scan::split_amount(parts.next()?)?;
    if !matches!(word, "specs" | "spec") {
        return None;
    }
    let (failed, word) = scan::split_amount(parts.next()?)?;
    let mut skipped = 0;
    for part in parts {
        let (number, word) = scan::split_amount(part)?;
        match word {
            "pending spec" | "pending specs" => skipped = number,
            "excluded spec" | "excluded specs" => {}
            _ => return None,
        }
    }
    let passed = specs.checked_sub(failed)?.checked_sub(skipped)?;
    matches!(word, "failures" | "failure").then_some(TestCounts { passed, failed, skipped })
}
