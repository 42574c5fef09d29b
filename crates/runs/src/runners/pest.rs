//! Pest, and `php artisan test`, which prints the same. Written from the documented forms.
//!
//! A test is named as printed: `Tests\Feature\TillTest > it opens`.

use crate::report::{Failure, PassedTests, Report, Runner};
use crate::scan::{self, Place};
use crate::{Counts, Kind, Verdict};

pub(super) static RUNNER: Runner = Runner {
    name: "pest",
    kind: Kind::Test,
    tells: &["  Tests:  ", "   FAILED  ", "\n  • "],
    silent_on_success: false,
    read: read_output,
};

fn read_output(text: &str) -> Report {
    let mut failures: Vec<Failure> = Vec::new();
    let mut passed = PassedTests::default();
    let mut class: Option<&str> = None;
    let mut is_open = false;
    let mut counts: Option<Counts> = None;
    let mut duration = None;
    for line in text.lines() {
        if let Some(name) =
            line.strip_prefix("   PASS  ").or_else(|| line.strip_prefix("   FAIL  "))
        {
            (class, is_open) = (Some(name.trim()), false);
        } else if let Some((test, error)) = heading(line) {
            is_open = failures.len() < scan::MOST;
            if is_open {
                let error = error.map(str::to_owned);
                failures.push(Failure { test: Some(test.to_owned()), error, ..Failure::default() });
            }
        } else if let Some(list) = line.strip_prefix("  Tests:") {
            counts = numbers(list.trim()).or(counts);
            is_open = false;
        } else if let Some(time) =
            line.strip_prefix("  Duration:").or_else(|| line.strip_prefix("  Time:"))
        {
            duration = time.trim().strip_suffix('s').and_then(scan::seconds);
        } else if let Some((name, class)) = line.strip_prefix("  ✓ ").zip(class) {
            // The time is at the right.
            let name = name.split_once("  ").map_or(name, |(name, _)| name);
            passed.add(None, || format!("{class} > {name}"));
        } else if let Some(failure) = failures.last_mut().filter(|_| is_open) {
            detail(failure, line);
        }
    }
    let verdict = match counts {
        Some(Counts { failed: 1.., .. }) => Verdict::Failed,
        Some(Counts { passed: 1.., .. }) if failures.is_empty() => Verdict::Passed,
        None if failures.iter().any(|failure| failure.frame.is_some()) => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        failures.clear();
    }
    Report { verdict, counts, passed: passed.without(&failures), failures, duration }
}

/// Parses `   FAILED  Tests\Feature\TillTest > it opens    RuntimeException`, and `  • Tests\… > it opens` of older
/// versions.
fn heading(line: &str) -> Option<(&str, Option<&str>)> {
    let rest = line.strip_prefix("   FAILED  ").or_else(|| line.strip_prefix("  • "))?.trim_end();
    let (test, error) = match rest.rsplit_once("  ") {
        Some((test, error)) => (test.trim_end(), Some(error)),
        None => (rest, None),
    };
    (test.contains(" > ") && test.contains('\\')).then_some((test, error))
}

/// Reads a line below the heading: the message, and `  at tests/Feature/TillTest.php:8`.
fn detail(failure: &mut Failure, line: &str) {
    let Some(text) = line.strip_prefix("  ") else { return };
    if let Some(place) = text.strip_prefix("at ").and_then(scan::place) {
        if failure.frame.is_none() && !place.path.contains("vendor/") {
            failure.set_place(place);
        }
    } else if failure.frame.is_none()
        && failure.message.is_some()
        && let Some(place) = numbered(text)
    {
        // `  1   tests/Feature/TillTest.php:8`, for a stack that starts in a library.
        failure.set_place(place);
    } else if failure.message.is_none() && !text.trim().is_empty() && !text.starts_with('─') {
        failure.message = Some(text.trim().to_owned());
    }
}

/// Parses `1   tests/Feature/TillTest.php:8`, if it is in the project's code.
fn numbered(text: &str) -> Option<Place<'_>> {
    let (_, rest) = scan::number(text)?;
    let place = scan::place(rest.strip_prefix("   ").or_else(|| rest.strip_prefix("  "))?)?;
    (!place.path.contains("vendor") && scan::has_extension(place.path, "php")).then_some(place)
}

/// Parses `1 failed, 1 skipped, 2 passed (3 assertions)`.
fn numbers(list: &str) -> Option<Counts> {
    let list = list.split_once(" (").map_or(list, |(list, _)| list);
    let mut counts = Counts::default();
    for part in list.split(", ") {
        let (number, word) = scan::amount(part)?;
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
        let new =
            heading("   FAILED  Tests\\Feature\\TillTest > it opens           RuntimeException  ");
        assert_eq!(new, Some(("Tests\\Feature\\TillTest > it opens", Some("RuntimeException"))));
        assert_eq!(heading("  • Tests\\Feature\\TillTest > it opens").map(|one| one.1), Some(None));
        assert_eq!(heading("  • a point"), None);
    }
}
