//! Karma: `Chrome Headless 156.0.0.0 (Linux 0.0.0) shop adds up FAILED` with the reason below, and
//! `Executed 5 of 6 (2 FAILED)`.
//!
//! A test is named by its full description; the browser, without its version, is the scope. Numbers of several browsers
//! are added.

use std::collections::HashMap;

use super::count_sums;
use super::stack::JsStack;
use crate::report::{OutputReader, OutputReport, ReportedFailure};
use crate::scan;
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "karma",
    RunKind::Test,
    &["): Executed ", ") ERROR\n", " FAILED\n", "\nTOTAL: "],
    read_output,
);

/// The last numbers of one browser.
#[derive(Clone, Copy)]
struct KarmaCounts {
    counts: TestCounts,
    is_whole: bool,
    is_error: bool,
}

fn read_output(text: &str) -> OutputReport {
    let mut browsers: HashMap<&str, KarmaCounts> = HashMap::new();
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut open: Option<(&str, Option<&str>, JsStack)> = None;
    let mut is_failed = false;
    for line in text.lines() {
        if line.starts_with(['\t', ' ']) {
            if let Some((_, _, stack)) = &mut open
                && !line.trim_start().starts_with("An error was thrown in ")
            {
                stack.take(line);
            }
            continue;
        }
        if let Some((browser, test, stack)) = open.take()
            && failures.len() < scan::MAX_FAILURES
        {
            let scope = Some(browser_name(browser).to_owned());
            failures.push(ReportedFailure { scope, ..stack.failure(test.map(str::to_owned)) });
        }
        if let Some((browser, numbers)) = line.split_once(": Executed ") {
            if let Some(executed) = parse_executed(numbers) {
                browsers.insert(browser, executed);
            }
        } else if let Some((browser, test)) = parse_failed(line) {
            open = Some((browser, Some(test), JsStack::default()));
        } else if let Some(browser) =
            line.strip_suffix(" ERROR").filter(|browser| is_browser(browser))
        {
            open = Some((browser, None, JsStack::default()));
        } else if let Some((number, "FAILED")) = line
            .strip_prefix("TOTAL: ")
            .and_then(|rest| scan::split_amount(rest.split(", ").next()?))
        {
            is_failed |= number > 0;
        }
    }
    if let Some((browser, test, stack)) = open {
        let scope = Some(browser_name(browser).to_owned());
        failures.push(ReportedFailure { scope, ..stack.failure(test.map(str::to_owned)) });
    }
    let mut counts = TestCounts::default();
    for executed in browsers.values() {
        count_sums::add_counts(&mut counts, executed.counts);
    }
    let is_whole = !browsers.is_empty() && browsers.values().all(|one| one.is_whole);
    let is_error = browsers.values().any(|one| one.is_error);
    let verdict = if is_failed || is_error || counts.failed > 0 || !failures.is_empty() {
        Verdict::Failed
    } else if is_whole && counts.passed > 0 {
        Verdict::Passed
    } else {
        Verdict::Unknown
    };
    let counts = (!browsers.is_empty() && !is_error).then_some(counts);
    OutputReport { verdict, counts, failures, ..OutputReport::unknown() }
}

/// Parses `5 of 6 (2 FAILED) (skipped 1) (0.038 secs / 0.006 secs)` and `2 of 3 (skipped 1) SUCCESS (…)`.
fn parse_executed(text: &str) -> Option<KarmaCounts> {
    let (ran, rest) = scan::split_number(text)?;
    let (all, rest) = scan::split_number(rest.strip_prefix(" of ")?)?;
    let part = |start: &str, end: &str| {
        let (_, rest) = rest.split_once(start)?;
        scan::split_number(rest).filter(|(_, rest)| rest.starts_with(end)).map(|(number, _)| number)
    };
    rest.ends_with(" secs)").then_some(())?;
    let skipped = part("(skipped ", ")").unwrap_or(0);
    let failed = part("(", " FAILED)").unwrap_or(0);
    let is_error = rest.contains(" ERROR (");
    let counts = TestCounts { passed: ran.saturating_sub(failed), failed, skipped };
    // Truncated progress has no failures so far, so all tests must have run.
    let is_whole = ran.saturating_add(skipped) == all && rest.contains(" SUCCESS (");
    Some(KarmaCounts { counts, is_whole, is_error })
}

/// Parses browser and test of `Chrome Headless 156.0.0.0 (Linux 0.0.0) shop adds up FAILED`.
fn parse_failed(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_suffix(" FAILED")?;
    let end = rest.find(") ")? + 1;
    let (browser, test) = (&rest[..end], rest[end + 1..].trim());
    (is_browser(browser) && !test.is_empty()).then_some((browser, test))
}

/// Returns true for a name, a version, and the system with its version in brackets.
fn is_browser(text: &str) -> bool {
    let ends_in_digit = |text: &str| text.ends_with(|sign: char| sign.is_ascii_digit());
    let split = text.strip_suffix(')').and_then(|text| text.split_once(" ("));
    split.is_some_and(|(browser, system)| ends_in_digit(browser) && ends_in_digit(system))
}

/// Returns the name of a browser without its version: `Chrome Headless`.
fn browser_name(browser: &str) -> &str {
    let end = browser.find(|sign: char| sign.is_ascii_digit()).unwrap_or(browser.len());
    browser[..end].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_no_end() {
        let line = |rest: &str| {
            format!("Firefox 1.0 (Linux 0.0.0): Executed {rest} (0.1 secs / 0.1 secs)\n")
        };
        assert_eq!(read_output(&line("1 of 3 SUCCESS")).verdict, Verdict::Unknown);
        assert_eq!(read_output(&line("2 of 3 (skipped 1) SUCCESS")).verdict, Verdict::Passed);
        assert_eq!(read_output(&line("2 of 3 (1 FAILED)")).verdict, Verdict::Failed);
    }
}
