//! Vitest.
//!
//! A run closes with `Test Files`, `Tests`, optionally `Errors`, `Start at` and `Duration`, right-aligned, each with
//! its total in brackets. If a worker dies, only the totals show it: `Tests  4 passed (6)`. So a run passed only if the
//! numbers add up. A test may log such lines, but below its own heading and before its file is announced, so closing
//! lines must not count more tests than were announced. If Vitest detects an agent, it announces only failures and does
//! not show the log of passing tests. An error outside of tests and a suite that could not run count as failed. Names
//! are `file > describe > test`, or the file alone.

use super::stack::{self, JsStack};
use super::{count_sums, tree};
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::{RunKind, TestCounts, Verdict, scan};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "vitest",
    RunKind::Test,
    &[" Test Files  ", "      Tests  ", "⎯"],
    read_output,
);

/// The closing lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct VitestSummary {
    counts: TestCounts,
    files_failed: u32,
    errors: u32,
    /// True if every file and every test is accounted for.
    whole: bool,
    milliseconds: Option<u64>,
    lines: usize,
}

/// The state of a run before its closing lines.
#[derive(Default)]
struct VitestRun {
    /// Number of announced tests.
    announced: u32,
    /// True if the log of tests is shown.
    logs: bool,
    /// The index of its closing lines, if it has closed; if it closes again, a test printed the first ones.
    closed: Option<usize>,
}

#[derive(Default)]
struct VitestParser {
    open: Option<(Option<String>, JsStack)>,
    failures: Vec<ReportedFailure>,
    closings: Vec<VitestSummary>,
    /// True within the list of failures, which has rules; a `FAIL` printed by a test has none above it.
    listing: bool,
    /// Number of suites that failed as a whole.
    suites: u32,
    is_suites: bool,
    failed: bool,
    /// The number of failures in a single closing line.
    partial: u32,
    passed: PassedTests,
    /// The file of the tests listed below it.
    file: Option<String>,
    /// The run, if its start was shown.
    run: Option<VitestRun>,
}

fn read_output(text: &str) -> OutputReport {
    let mut reading = VitestParser::default();
    let mut lines = text.lines();
    let mut above = "";
    while let Some(line) = lines.next() {
        // Up to version 1 the rule below an error outside of tests is right above.
        if (above.is_empty() || above.starts_with('⎯'))
            && let Some(closing) = parse_summary(line, lines.clone())
        {
            reading.close_run(closing);
            lines.nth(closing.lines - 2);
        } else {
            reading.partial = reading.partial.max(count_failures(line));
            reading.read_line(line);
        }
        above = line;
    }
    reading.report()
}

/// Parses the closing lines that start with this one.
fn parse_summary<'a>(
    first: &'a str,
    mut rest: impl Iterator<Item = &'a str>,
) -> Option<VitestSummary> {
    let (files, files_whole) = parse_counts(first.strip_prefix(" Test Files  ")?)?;
    let (counts, tests_whole) = parse_counts(rest.next()?.strip_prefix("      Tests  ")?)?;
    let mut closing = VitestSummary {
        counts,
        files_failed: files.failed,
        whole: files_whole && tests_whole,
        lines: 4,
        ..VitestSummary::default()
    };
    let mut line = rest.next()?;
    while !line.starts_with("   Start at  ") {
        // Type errors and the like.
        let (name, value) = line.trim_start().split_once("  ")?;
        match name {
            "Errors" => closing.errors = scan::split_amount(value)?.0,
            "Type Errors" => closing.whole &= value.trim() == "no errors",
            _ => return None,
        }
        closing.lines += 1;
        line = rest.next()?;
    }
    let time = rest.next()?.strip_prefix("   Duration  ")?;
    let time = time.split_once(' ').map_or(time, |(time, _)| time);
    closing.milliseconds = match time.strip_suffix("ms") {
        Some(time) => scan::parse_decimal(time, 1),
        None => time.strip_suffix('s').and_then(scan::parse_seconds),
    };
    Some(closing)
}

/// Returns the number of failures in a closing line, if the others are cut off or filtered out.
fn count_failures(line: &str) -> u32 {
    let rest = line.strip_prefix(" Test Files  ").or_else(|| line.strip_prefix("      Tests  "));
    rest.and_then(parse_counts).map_or(0, |(counts, _)| counts.failed)
}

/// Parses `1 failed | 5 passed | 1 skipped (7)`; also returns true if it adds up. Expected failures count as passed.
fn parse_counts(text: &str) -> Option<(TestCounts, bool)> {
    let mut counts = TestCounts::default();
    if text.trim() == "no tests" {
        return Some((counts, true));
    }
    let (parts, total) = text.strip_suffix(')')?.rsplit_once(" (")?;
    for part in parts.split(" | ") {
        let (number, word) = scan::split_amount(part)?;
        let sum = match word {
            "failed" => &mut counts.failed,
            "passed" | "expected fail" => &mut counts.passed,
            "skipped" | "todo" => &mut counts.skipped,
            _ => return None,
        };
        *sum = sum.checked_add(number)?;
    }
    let all = counts.passed.checked_add(counts.failed)?.checked_add(counts.skipped)?;
    Some((counts, all == total.parse::<u32>().ok()?))
}

/// Counts the tests in a progress line: ` ✓ a.test.js (4 tests) 3ms`, ` ✓ a.test.js > name 2ms`, `··x-`.
fn count_announced(line: &str) -> u32 {
    let dots = |line: &str| line.chars().all(|sign| matches!(sign, '·' | 'x' | '-' | '*'));
    let marks = [" ✓ ", " ❯ ", " × ", " ↓ ", " □ "];
    let Some(rest) = marks.iter().find_map(|mark| line.strip_prefix(mark)) else {
        return if dots(line) { u32::try_from(line.chars().count()).unwrap_or(0) } else { 0 };
    };
    let tests = rest.split_once(" (").and_then(|(_, tests)| scan::split_amount(tests));
    match tests {
        Some((number, word)) if word.starts_with("test") => number,
        _ => u32::from(rest.contains(" > ")),
    }
}

/// Removes the name of a project, which precedes the file as `|unit| `.
fn strip_project(name: &str) -> &str {
    let rest = name.strip_prefix('|').and_then(|name| name.split_once("| "));
    rest.map_or(name, |(_, name)| name)
}

impl VitestParser {
    fn close_run(&mut self, closing: VitestSummary) {
        if self.run.as_ref().is_some_and(|run| {
            run.logs
                && closing.counts.failed == 0
                && run.announced < count_sums::total_tests(closing.counts)
        }) {
            return;
        }
        self.finish_failure();
        self.listing = false;
        if let Some(run) = &mut self.run {
            self.closings.truncate(run.closed.unwrap_or(self.closings.len()));
            run.closed = Some(self.closings.len());
        }
        self.closings.push(closing);
    }

    /// Reads a passed test: ` ✓ a.test.js > suite > test 2ms`, or below its file `   ✓ suite > test 2ms`. Since version
    /// 4 the names of suites are omitted below a file, so only tests outside of suites can be named.
    fn read_passed(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix(" ✓ ") {
            if name.contains(" > ") {
                self.passed.add(None, || strip_project(tree::strip_time(name)).to_owned());
            }
            self.file = None;
        } else if let Some(name) = line.strip_prefix(" ❯ ") {
            let file = name.split_once(" (").map(|(file, _)| strip_project(file.trim_end()));
            self.file = file.map(str::to_owned);
        } else if let (Some(file), Some(name)) = (&self.file, line.strip_prefix("   ✓ ")) {
            self.passed.add(None, || format!("{file} > {}", tree::strip_time(name)));
        }
    }

    fn read_line(&mut self, line: &str) {
        self.read_passed(line);
        if line.starts_with(" RUN  v") {
            self.run = Some(VitestRun::default());
        } else if let Some(run) = &mut self.run {
            run.announced = run.announced.saturating_add(count_announced(line));
            run.logs |= line.starts_with("stdout | ") || line.starts_with("stderr | ");
        }
        if line.starts_with('⎯') {
            self.finish_failure();
            let title = scan::parse_rule_title(line, '⎯').unwrap_or_default();
            let of_tests = title.starts_with("Failed Tests ");
            self.is_suites = title.starts_with("Failed Suites ");
            self.failed |= title.starts_with("Unhandled ");
            match title {
                "Unhandled Error" | "Unhandled Rejection" | "Uncaught Exception" => {
                    self.open = Some((None, JsStack::default()));
                }
                _ => {}
            }
            // A rule such as `⎯⎯[1/2]⎯` separates two failures, also if the title was cut off.
            let is_between = line.trim_matches('⎯').starts_with('[');
            self.listing |= of_tests || self.is_suites || is_between;
        } else if let Some(name) = line.strip_prefix(" FAIL  ").filter(|_| self.listing) {
            // Several tests may share one error; their names follow each other.
            let shared = self.open.as_ref().filter(|(_, stack)| stack.is_empty());
            if let Some(name) = shared.and_then(|(name, _)| name.clone()) {
                self.failures
                    .push(ReportedFailure { test: Some(name), ..ReportedFailure::default() });
                self.suites += u32::from(self.is_suites);
            } else {
                self.finish_failure();
            }
            let name = name.split_once(" [ ").map_or(name, |(file, _)| file);
            self.open = Some((Some(strip_project(name).to_owned()), JsStack::default()));
        } else if let Some((_, stack)) = &mut self.open {
            if let Some(at) = line.strip_prefix(" ❯ ") {
                // `total shop.js:3:28`, or the place alone.
                let place = at.rsplit_once(' ').map_or(at, |(_, place)| place);
                stack.add_place(stack::parse_stack_place(place));
            } else if !line.starts_with("    ") {
                stack.take(line);
            }
        }
    }

    fn finish_failure(&mut self) {
        let Some((name, stack)) = self.open.take() else { return };
        self.suites += u32::from(self.is_suites && name.is_some());
        if self.failures.len() >= scan::MAX_FAILURES {
            return;
        }
        let failure = stack.failure(name);
        if failure.test.is_none() || !self.failures.iter().any(|one| one.test == failure.test) {
            self.failures.push(failure);
        }
    }

    fn report(mut self) -> OutputReport {
        self.finish_failure();
        let mut counts = TestCounts::default();
        let mut duration = None;
        let (mut whole, mut errors) = (true, 0u32);
        for closing in &self.closings {
            count_sums::add_counts(&mut counts, closing.counts);
            errors = errors.saturating_add(closing.errors);
            whole &= closing.whole && (closing.files_failed == 0 || closing.counts.failed > 0);
            count_sums::add_duration(&mut duration, closing.milliseconds);
        }
        let files_failed = self.closings.iter().any(|closing| closing.files_failed > 0);
        counts.failed = counts.failed.saturating_add(self.suites);
        if counts.failed == 0 && files_failed {
            counts.failed = 1;
        }
        let partial = self.partial > 0 && self.closings.is_empty();
        let failed =
            self.failed || partial || errors > 0 || counts.failed > 0 || !self.failures.is_empty();
        let verdict = if failed {
            Verdict::Failed
        } else if whole && counts.passed > 0 {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        let counts = (!self.closings.is_empty()).then_some(counts);
        let passed = self.passed.without_failed(&self.failures);
        OutputReport { verdict, counts, failures: self.failures, passed, duration }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSING: &str = "\n Test Files  1 passed (1)\n      Tests  5 passed (5)\n   Start at  13:15:05\n   Duration  1.5s (x)\n";

    #[test]
    fn reads_summary_without_test_lines() {
        let report = read_output(CLOSING);
        assert_eq!((report.verdict, report.duration), (Verdict::Passed, Some(1500)));
        let logged = format!("\n RUN  v4.1.12 /p\n\nstdout | a.test.js > b\n{CLOSING}");
        assert_eq!(read_output(&logged).verdict, Verdict::Unknown);
        let quiet = format!("\n RUN  v4.1.12 /p\n\n{CLOSING}");
        assert_eq!(read_output(&quiet).verdict, Verdict::Passed);
        let announced = format!("\n RUN  v4.1.12 /p\n\n ✓ a.test.js (5 tests) 2ms\n{CLOSING}");
        assert_eq!(read_output(&announced).verdict, Verdict::Passed);
        assert_eq!(read_output(&announced.repeat(2)).counts.unwrap().passed, 10);
    }

    #[test]
    fn counts_must_add_up() {
        let text = CLOSING.replace("5 passed (5)", "5 passed (6)");
        assert_eq!(read_output(&text).verdict, Verdict::Unknown);
        let text = CLOSING.replace("   Start", "     Errors  1 error\n   Start");
        assert_eq!(read_output(&text).verdict, Verdict::Failed);
    }

    #[test]
    fn progress_counts_tests() {
        assert_eq!(count_announced(" ✓ test/a.test.js (12 tests | 1 skipped) 3ms"), 12);
        assert_eq!(count_announced(" × test/a.test.js > b > c 3ms"), 1);
        assert_eq!(count_announced("··x-"), 4);
        assert_eq!(count_announced("   ✓ inner 1ms"), 0);
        assert_eq!(count_announced(""), 0);
    }
}
