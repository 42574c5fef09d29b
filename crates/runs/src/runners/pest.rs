//! Pest, and `php artisan test`, which prints the same. Written from the documented forms.
//!
//! A test is named as printed: `Tests\Feature\TillTest > it opens`.

use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, CodePlace};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("pest", RunKind::Test, &["  Tests:  ", "   FAILED  ", "\n  • "], read_output);

fn read_output(text: &str) -> OutputReport {
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut passed = PassedTests::default();
    let mut class: Option<&str> = None;
    let mut is_open = false;
    let mut counts: Option<TestCounts> = None;
    let mut duration = None;
    for line in text.lines() {
        if let Some(name) =
            line.strip_prefix("   PASS  ").or_else(|| line.strip_prefix("   FAIL  "))
        {
            (class, is_open) = (Some(name.trim()), false);
        } else if let Some((test, error)) = parse_heading(line) {
            is_open = failures.len() < scan::MAX_FAILURES;
            if is_open {
                let error = error.map(str::to_owned);
                failures.push(ReportedFailure {
                    test: Some(test.to_owned()),
                    error,
                    ..ReportedFailure::default()
                });
            }
        } else if let Some(list) = line.strip_prefix("  Tests:") {
            counts = parse_counts(list.trim()).or(counts);
            is_open = false;
        } else if let Some(time) =
            line.strip_prefix("  Duration:").or_else(|| line.strip_prefix("  Time:"))
        {
            duration = time.trim().strip_suffix('s').and_then(scan::parse_seconds);
        } else if let Some((name, class)) = line.strip_prefix("  ✓ ").zip(class) {
            // The time is at the right.
            let name = name.split_once("  ").map_or(name, |(name, _)| name);
            passed.add(None, || format!("{class} > {name}"));
        } else if let Some(failure) = failures.last_mut().filter(|_| is_open) {
            read_detail(failure, line);
        }
    }
    let verdict = match counts {
        Some(TestCounts { failed: 1.., .. }) => Verdict::Failed,
        Some(TestCounts { passed: 1.., .. }) if failures.is_empty() => Verdict::Passed,
        None if failures.iter().any(|failure| failure.frame.is_some()) => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        failures.clear();
    }
    OutputReport { verdict, counts, passed: passed.without_failed(&failures), failures, duration }
}

/// Parses `   FAILED  Tests\Feature\TillTest > it opens    RuntimeException`, and `  • Tests\… > it opens` of older
/// versions.
fn parse_heading(line: &str) -> Option<(&str, Option<&str>)> {
    let rest = line.strip_prefix("   FAILED  ").or_else(|| line.strip_prefix("  • "))?.trim_end();
    let (test, error) = match rest.rsplit_once("  ") {
        Some((test, error)) => (test.trim_end(), Some(error)),
        None => (rest, None),
    };
    (test.contains(" > ") && test.contains('\\')).then_some((test, error))
}

/// Reads a line below the heading: the message, and `  at tests/Feature/TillTest.php:8`.
fn read_detail(failure: &mut ReportedFailure, line: &str) {
    let Some(text) = line.strip_prefix("  ") else { return };
    if let Some(place) = text.strip_prefix("at ").and_then(scan::parse_place) {
        if failure.frame.is_none() && !place.path.contains("vendor/") {
            failure.set_place(place);
        }
    } else if failure.frame.is_none()
        && failure.message.is_some()
        && let Some(place) = parse_numbered_frame(text)
    {
        // `  1   tests/Feature/TillTest.php:8`, for a stack that starts in a library.
        failure.set_place(place);
    } else if failure.message.is_none() && !text.trim().is_empty() && !text.starts_with('─') {
        failure.message = Some(text.trim().to_owned());
    }
}

/// Parses `1   tests/Feature/TillTest.php:8`, if it is in the project's code.
fn parse_numbered_frame(text: &str) -> Option<CodePlace<'_>> {
    let (_, rest) = scan::split_number(text)?;
    let place = scan::parse_place(rest.strip_prefix("   ").or_else(|| rest.strip_prefix("  "))?)?;
    (!place.path.contains("vendor") && scan::has_extension(place.path, "php")).then_some(place)
}

/// Parses `1 failed, 1 skipped, 2 passed (3 assertions)`.
fn parse_counts(list: &str) -> Option<TestCounts> {
    let list = list.split_once(" (").map_or(list, |(list, _)| list);
    let mut counts = TestCounts::default();
    for part in list.split(", ") {
        let (number, word) = scan::split_amount(part)?;
        match word {
            "failed" => counts.failed = number,
            "passed" => counts.passed = number,
            "skipped" | "todos" | "todo" | "incomplete" => {
                counts.skipped = counts.skipped.saturating_add(number);
            }
            "warnings" | "warning" | "deprecated" | "risky" | "notices" | "pending" => {}
            _ => return None,
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_all_versions() {
        let new = parse_heading(
            "   FAILED  Tests\\Feature\\TillTest > it opens           RuntimeException  ",
        );
        assert_eq!(new, Some(("Tests\\Feature\\TillTest > it opens", Some("RuntimeException"))));
        assert_eq!(
            parse_heading("  • Tests\\Feature\\TillTest > it opens").map(|one| one.1),
            Some(None)
        );
        assert_eq!(parse_heading("  • a point"), None);
    }
}
