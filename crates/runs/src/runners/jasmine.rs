//! Jasmine on Node: dots, each failure in detail, and `6 specs, 2 failures, 1 pending spec`.
//!
//! A spec is named by its full description, as `--filter` accepts it.

use super::stack::Stack;
use crate::report::{Failure, Report, Runner};
use crate::scan;
use crate::{Counts, Kind, Verdict};

pub(super) static RUNNER: Runner = Runner {
    name: "jasmine",
    kind: Kind::Test,
    tells: &[" specs, ", " spec, "],
    silent_on_success: false,
    read: read_output,
};

fn read_output(text: &str) -> Report {
    let mut failures: Vec<Failure> = Vec::new();
    let mut open: Option<(&str, Stack)> = None;
    let mut is_listing = false;
    let mut counts = None;
    let mut duration = None;
    let finish = |open: &mut Option<(&str, Stack)>, failures: &mut Vec<Failure>| {
        if let Some((name, stack)) = open.take().filter(|(_, stack)| !stack.is_empty())
            && failures.len() < scan::MOST
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
        } else if let Some(found) = summary(line) {
            finish(&mut open, &mut failures);
            (counts, is_listing) = (Some(found), false);
        } else if let Some(time) = line.strip_prefix("Finished in ") {
            duration = time.strip_suffix(" seconds").or_else(|| time.strip_suffix(" second"));
        } else if let Some((_, name)) = scan::number(line).filter(|_| is_listing)
            && let Some(name) = name.strip_prefix(") ")
        {
            finish(&mut open, &mut failures);
            open = Some((name, Stack::default()));
        } else if let Some((_, stack)) = &mut open
            && line.starts_with("    ")
        {
            stack.take(line);
        }
    }
    let verdict = match counts {
        Some(Counts { failed: 1.., .. }) => Verdict::Failed,
        Some(Counts { passed: 1.., .. }) if failures.is_empty() && duration.is_some() => {
            Verdict::Passed
        }
        _ => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        failures.clear();
    }
    let duration = duration.and_then(scan::seconds).filter(|_| counts.is_some());
    Report { verdict, counts, failures, duration, ..Report::unknown() }
}

/// Parses a complete `6 specs, 2 failures, 1 pending spec`.
fn summary(line: &str) -> Option<Counts> {
    let mut parts = line.split(", ");
    let (specs, word) = scan::amount(parts.next()?)?;
    if !matches!(word, "specs" | "spec") {
        return None;
    }
    let (failed, word) = scan::amount(parts.next()?)?;
    let mut skipped = 0;
    for part in parts {
        let (number, word) = scan::amount(part)?;
        match word {
            "pending spec" | "pending specs" => skipped = number,
            "excluded spec" | "excluded specs" => {}
            _ => return None,
        }
    }
    let passed = specs.checked_sub(failed)?.checked_sub(skipped)?;
    matches!(word, "failures" | "failure").then_some(Counts { passed, failed, skipped })
}
