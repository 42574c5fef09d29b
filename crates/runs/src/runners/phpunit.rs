//! PHPUnit.

use crate::report::{OutputReader, OutputReport, ReportedFailure};
use crate::scan::{self, CodePlace, split_number};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "phpunit",
    RunKind::Test,
    &[
        "\nOK (",
        "\nOK, but ",
        "\nFAILURES!\n",
        "\nERRORS!\n",
        "\nWARNINGS!\n",
        "\nPHP ",
        "\nThere was ",
        "\nThere were ",
    ],
    read_output,
);

/// The result by the last lines of a run.
#[derive(Clone, Copy)]
struct PhpunitSummary {
    ok: bool,
    counts: TestCounts,
}

fn read_output(text: &str) -> OutputReport {
    let mut summaries = 0_usize;
    let mut last: Option<PhpunitSummary> = None;
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut fatal: Option<ReportedFailure> = None;
    let mut took = None;
    let mut bad = false;
    let mut above = "";
    for line in text.lines() {
        if let Some(summary) = parse_summary(line, above) {
            summaries += 1;
            last = Some(summary);
            bad = false;
        } else if let Some(time) = line.strip_prefix("Time: ") {
            took = time.split_once(", ").and_then(|(time, _)| parse_clock(time));
            // Only dots and output of tests come before it.
            last = None;
            failures.clear();
        } else if let Some(section) = parse_section_heading(line) {
            bad = section;
        } else if let Some(test) = parse_numbered_test(line).filter(|_| bad) {
            failures.push(ReportedFailure {
                test: Some(test.to_owned()),
                ..ReportedFailure::default()
            });
        } else if let Some(failure) = failures.last_mut().filter(|_| bad) {
            read_detail(failure, line);
        } else if fatal.is_none() {
            fatal = parse_crash(line);
        }
        above = line;
    }
    let verdict = match last {
        Some(summary) if !summary.ok && summary.counts.failed > 0 => Verdict::Failed,
        Some(summary)
            if summary.ok && summaries == 1 && took.is_some() && summary.counts.passed > 0 =>
        {
            Verdict::Passed
        }
        None if fatal.is_some() || (took.is_some() && !failures.is_empty()) => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        failures.clear();
    } else if last.is_none() {
        failures.extend(fatal);
    }
    let counts = last.map(|summary| summary.counts);
    OutputReport {
        verdict,
        counts,
        failures,
        passed: Vec::new(),
        duration: took.filter(|_| last.is_some()),
    }
}

/// Parses `OK (5 tests, 5 assertions)`, or the line of numbers below a word in capitals.
fn parse_summary(line: &str, above: &str) -> Option<PhpunitSummary> {
    if let Some(rest) = line.strip_prefix("OK (") {
        let (passed, rest) = split_number(rest)?;
        let whole = rest.starts_with(" test")
            && (rest.ends_with(" assertions)") || rest.ends_with(" assertion)"));
        return whole.then_some(PhpunitSummary {
            ok: true,
            counts: TestCounts { passed, ..TestCounts::default() },
        });
    }
    let ok = above.starts_with("OK, but ");
    if !ok && !["FAILURES!", "ERRORS!", "WARNINGS!"].contains(&above) {
        return None;
    }
    let list = line.strip_suffix('.')?;
    let some = |name: &str| {
        let value = list
            .split(", ")
            .find_map(|part| part.strip_prefix(name)?.strip_prefix(": ")?.parse().ok());
        value.unwrap_or(0_u32)
    };
    list.strip_prefix("Tests: ")?;
    let failed = some("Errors").checked_add(some("Failures"))?;
    let skipped = some("Skipped").checked_add(some("Incomplete"))?;
    let passed = some("Tests").checked_sub(failed)?.checked_sub(skipped)?;
    Some(PhpunitSummary { ok, counts: TestCounts { passed, failed, skipped } })
}

/// Parses the heading of a section, `There were 2 failures:`. Returns true if it lists failures; skipped, risky and
/// incomplete tests have sections too.
fn parse_section_heading(line: &str) -> Option<bool> {
    let rest = line.strip_prefix("There was ").or_else(|| line.strip_prefix("There were "))?;
    let (_, kind) = split_number(rest)?;
    kind.ends_with(':')
        .then_some(matches!(kind, " error:" | " errors:" | " failure:" | " failures:"))
}

/// Parses the test of `2) LedgerTest::testRows with data set "two" (-2)`, without the data.
fn parse_numbered_test(line: &str) -> Option<&str> {
    let test = split_number(line)?.1.strip_prefix(") ").filter(|test| test.contains("::"))?;
    let Some((name, set)) = test.split_once(" with data set ") else { return Some(test) };
    let end = match set.strip_prefix('"') {
        Some(inside) => inside.find('"')? + 2,
        None => set.find(' ').unwrap_or(set.len()),
    };
    test.get(..name.len() + " with data set ".len() + end)
}

fn read_detail(failure: &mut ReportedFailure, line: &str) {
    if failure.message.is_none() && !line.is_empty() {
        let kind = line
            .split_once(": ")
            .filter(|(kind, _)| kind.ends_with("Exception") || kind.ends_with("Error"));
        failure.error = kind.map(|(kind, _)| kind.to_owned());
        failure.message = Some(kind.map_or(line, |(_, message)| message).to_owned());
    } else if failure.frame.is_none()
        && let Some(place) = scan::parse_place(line)
        && (place.path.starts_with(['/', '.']) || place.path.contains(":\\"))
        && !place.path.contains("/vendor/")
        && !place.path.starts_with("/usr/share/php/")
    {
        failure.set_place(place);
    }
}

/// Parses `PHP Fatal error:  Uncaught ParseError: syntax error in /home/ada/project/tests/LedgerTest.php:2`.
fn parse_crash(line: &str) -> Option<ReportedFailure> {
    let rest = line
        .strip_prefix("PHP Fatal error:  ")
        .or_else(|| line.strip_prefix("PHP Parse error:  "))?;
    let (said, place) = rest.rsplit_once(" in ").unwrap_or((rest, ""));
    let said = said.strip_prefix("Uncaught ").unwrap_or(said);
    let (error, message) = said.split_once(": ").unwrap_or(("Fatal error", said));
    let place = match place.split_once(" on line ") {
        Some((path, line)) => Some(CodePlace::new(path, line)),
        None => scan::parse_place(place),
    };
    let failure = ReportedFailure {
        error: Some(error.to_owned()),
        message: Some(message.to_owned()),
        ..ReportedFailure::default()
    };
    Some(failure.with_place(place))
}

/// Parses `00:00.003` to milliseconds.
fn parse_clock(time: &str) -> Option<u64> {
    let (minutes, seconds) = time.rsplit_once(':')?;
    let minutes = minutes
        .split(':')
        .try_fold(0_u64, |sum, part| sum.checked_mul(60)?.checked_add(part.parse().ok()?))?;
    scan::parse_seconds(seconds)?.checked_add(minutes.checked_mul(60_000)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_excludes_data() {
        assert_eq!(
            parse_numbered_test("1) A::b with data set \"two\" (-2)"),
            Some("A::b with data set \"two\"")
        );
        assert_eq!(
            parse_numbered_test("1) A::b with data set #0 (1, 2)"),
            Some("A::b with data set #0")
        );
        assert_eq!(parse_numbered_test("1) A::b"), Some("A::b"));
    }
}
