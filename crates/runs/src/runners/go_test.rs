//! go test: one line per package, and with `-v` or on failure one line per test, subtests indented below their parents.
//!
//! Without `-v` the output has no numbers of tests, so the report has no counts. A parent fails with its subtests; only
//! the innermost tests are counted and named as failures.
//!
//! With `-v` a test can print anything between `=== RUN` and its result. So while a test runs, a failing package and
//! the result of a test that was never started are trusted only if the text ends before the running test does.

mod events;
mod log;

use std::borrow::Cow;
use std::collections::HashSet;

use log::GoTestLog;

use super::go_errors;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan;
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "go test",
    RunKind::Test,
    &[
        "FAIL\n",
        "FAIL\t",
        "--- FAIL: ",
        "\nok  \t",
        "goroutine ",
        "\n=== RUN   ",
        ".go:",
        "\npackage ",
        "\timports ",
        "\ngo: ",
        "\n{\"Time\":",
        "\n{\"Action\":",
    ],
    read_output,
);

/// The outcome of one test.
#[derive(Clone, Copy, PartialEq)]
enum GoTestStatus {
    Passed,
    Failed,
    Skipped,
}

/// A line `--- FAIL: TestAdd/small (0.00s)`.
struct GoTestResult<'a> {
    went: GoTestStatus,
    test: &'a str,
    /// True if results of its subtests follow.
    is_parent: bool,
    /// True if it was printed while another test ran, for a test that was not started: a test may have printed it.
    is_doubtful: bool,
    /// The package of the next package line.
    package: Option<&'a str>,
}

/// The line `PASS` that ends the output of a test binary.
#[derive(Default)]
struct PassLine {
    /// True if it was the last line of a binary.
    is_last: bool,
    /// True if the line of a package with tests followed it.
    seen: bool,
}

struct GoTestParser<'a> {
    results: Vec<GoTestResult<'a>>,
    started: HashSet<&'a str>,
    starts: usize,
    /// Tests that were started and have neither ended nor paused.
    running: HashSet<&'a str>,
    /// Index of the first result since the last package line.
    segment: usize,
    log: GoTestLog<'a>,
    /// True if tests ran in a package.
    ran: bool,
    failed: bool,
    /// `PASS` lines that were printed while no test was running.
    pass: PassLine,
    /// The line of a failing package that was printed while a test ran: the package failed unless that test continues.
    /// Empty for the last `FAIL`, which names no package.
    suspended: Option<&'a str>,
    /// True if a test printed a line like that of a failing package.
    doubt: bool,
    millis: u64,
}

fn read_output(text: &str) -> OutputReport {
    let text = events::join_event_output(text).map_or(Cow::Borrowed(text), Cow::Owned);
    let mut reading = GoTestParser {
        results: Vec::new(),
        started: HashSet::new(),
        starts: 0,
        running: HashSet::new(),
        segment: 0,
        log: GoTestLog::default(),
        ran: false,
        failed: false,
        pass: PassLine::default(),
        suspended: None,
        doubt: false,
        millis: 0,
    };
    for line in text.lines() {
        reading.read_line(line);
    }
    reading.report(&text)
}

impl<'a> GoTestParser<'a> {
    fn read_line(&mut self, line: &'a str) {
        if let Some(rest) = line.strip_prefix("=== ") {
            if let Some(test) = rest.strip_prefix("RUN   ") {
                self.starts += 1;
                self.started.insert(test);
                self.resume(test);
            } else if let Some(test) =
                rest.strip_prefix("CONT  ").or_else(|| rest.strip_prefix("NAME  "))
            {
                // Its start may be above a cut.
                self.resume(test);
            } else if let Some(test) = rest.strip_prefix("PAUSE ") {
                self.running.remove(test);
            }
        } else if let Some((went, test)) = parse_result(line) {
            self.read_result(went, test);
        } else if !self.read_package(line) {
            self.log.read_line(line);
        }
    }

    fn resume(&mut self, test: &'a str) {
        if !test.is_empty() {
            self.running.insert(test);
            self.log.set_test(test);
        }
    }

    fn read_result(&mut self, went: GoTestStatus, test: &'a str) {
        let was_running = self.running.remove(test);
        if was_running {
            // Its subtests end with it; their results follow.
            self.running.retain(|other| !is_subtest(other, test));
            self.doubt |= self.suspended.take().is_some();
        }
        let is_doubtful = !was_running && !self.started.contains(test) && !self.running.is_empty();
        if let Some(last) = self.results.last_mut()
            && is_subtest(test, last.test)
        {
            last.is_parent = true;
        } else if let Some((parent, _)) = test.rsplit_once('/') {
            // A sibling of the last test: their parent is marked already, unless it is in between.
            mark_parent(&mut self.results, parent);
        }
        let is_parent = false;
        self.results.push(GoTestResult { went, test, is_parent, is_doubtful, package: None });
        if !is_doubtful {
            self.log.end_test(test);
        }
    }

    /// Reads a line about a package: `ok  \tpackage\t0.002s`, `FAIL\tpackage [build failed]`, or the last `FAIL`.
    fn read_package(&mut self, line: &'a str) -> bool {
        if let Some(rest) = line.strip_prefix("ok  \t") {
            self.ran |= has_run_tests(rest);
            self.pass.seen |= self.pass.is_last && has_run_tests(rest);
            if self.running.is_empty() {
                self.end_package(rest);
            }
        } else if let Some(rest) = line.strip_prefix("FAIL\t") {
            if self.running.is_empty() || self.log.has_crashed() {
                self.failed = true;
                self.running.clear();
                self.end_package(rest);
            } else {
                self.suspended = Some(rest);
            }
        } else if line == "FAIL" {
            if self.running.is_empty() {
                self.failed = true;
            } else {
                self.suspended = self.suspended.or(Some(""));
            }
        } else {
            self.pass.is_last |= line == "PASS" && self.running.is_empty();
            return line == "PASS" || line.starts_with("?   \t");
        }
        self.pass.is_last = false;
        true
    }

    /// Assigns the results since the last package line to the package of this line.
    fn end_package(&mut self, rest: &'a str) {
        let name = rest.split(['\t', ' ']).next().filter(|name| !name.is_empty());
        let results = &mut self.results[self.segment..];
        for result in results.iter_mut() {
            result.package = name;
        }
        // Without a certain failure the doubtful ones are used.
        if results.iter().all(|result| result.is_doubtful || result.went != GoTestStatus::Failed) {
            for result in results.iter_mut() {
                result.is_doubtful = false;
            }
        }
        self.log.end_package(results, name);
        self.segment = self.results.len();
        let time = rest.split('\t').nth(1).and_then(|time| time.split(' ').next());
        let took = time.and_then(|time| time.strip_suffix('s')).and_then(scan::parse_seconds);
        self.millis = self.millis.saturating_add(took.unwrap_or(0));
    }

    fn report(mut self, text: &str) -> OutputReport {
        if let Some(rest) = self.suspended.take() {
            self.failed = true;
            self.end_package(rest);
        }
        let is_verbose = self.starts > 0;
        // Truncated within a package: only certain results count.
        let panicked = self.log.has_panicked();
        let rest = &self.results[self.segment..];
        self.log.end_package(rest, None);
        let is_whole = !self.log.panicked_ever
            && is_verbose
            && self.starts == self.results.len()
            && self.results.iter().all(|result| self.started.contains(result.test));
        let ran_none = !self.ran && self.results.is_empty() && text.contains("[no tests to run]");
        let counts = if ran_none {
            Some(TestCounts::default())
        } else {
            is_whole.then(|| count_results(&self.results))
        };
        let names_failure = self.results.iter().any(|result| {
            result.went == GoTestStatus::Failed && !result.is_doubtful && !self.doubt
        });
        let errors = go_errors::collect_errors(text);
        let is_unloaded = errors.is_unloaded && !self.ran && self.results.is_empty();
        let is_failed =
            self.failed || panicked || names_failure || errors.under_header || is_unloaded;
        let has_passed = match counts {
            Some(counts) => counts.passed > 0,
            // A start or a result is cut off. The last `FAIL` of a failing run would still be there.
            None => !is_verbose || self.pass.seen,
        };
        let is_clean = self.ran && !self.doubt;
        let verdict = match (is_failed, is_clean && has_passed) {
            (true, _) => Verdict::Failed,
            (false, true) => Verdict::Passed,
            (false, false) => Verdict::Unknown,
        };
        let failures = if verdict == Verdict::Failed {
            let mut failures = if self.failed || errors.under_header || is_unloaded {
                errors.list
            } else {
                Vec::new()
            };
            failures.extend(self.log.into_failures());
            failures
        } else {
            Vec::new()
        };
        OutputReport {
            verdict,
            counts,
            passed: passed_tests(&self.results).without_failed(&failures),
            failures,
            duration: (verdict != Verdict::Unknown).then_some(self.millis),
        }
    }
}

/// Builds the failure of a test from its output, for a wrapper that groups the output by test.
pub(super) fn build_failure(test: &str, package: &str, lines: &[&str]) -> ReportedFailure {
    let mut log = GoTestLog::default();
    log.set_test(test);
    for line in lines.iter().filter(|line| parse_result(line).is_none()) {
        log.read_line(line);
    }
    let went = GoTestStatus::Failed;
    let result = GoTestResult { went, test, is_parent: false, is_doubtful: false, package: None };
    log.end_package(&[result], Some(package));
    log.into_failures().into_iter().next().unwrap_or_default()
}

fn passed_tests(results: &[GoTestResult<'_>]) -> PassedTests {
    let mut passed = PassedTests::default();
    for result in results.iter().filter(|one| one.went == GoTestStatus::Passed && !one.is_doubtful)
    {
        passed.add(result.package, || result.test.to_owned());
    }
    passed
}

/// Returns true for `TestAdd/small` below `TestAdd`.
fn is_subtest(test: &str, parent: &str) -> bool {
    test.strip_prefix(parent).is_some_and(|rest| rest.starts_with('/'))
}

/// Marks the last test with a name as a parent.
fn mark_parent(results: &mut [GoTestResult<'_>], parent: &str) {
    for result in results.iter_mut().rev() {
        if result.test == parent {
            result.is_parent = true;
        }
        if !result.test.contains('/') {
            break;
        }
    }
}

/// Returns true if tests ran in a package, by the text after `ok`. A truncated line may lack the note that none did.
fn has_run_tests(rest: &str) -> bool {
    let mut fields = rest.split('\t').skip(1);
    let time = fields.next().is_some_and(|time| {
        time == "(cached)" || time.strip_suffix('s').and_then(scan::parse_seconds).is_some()
    });
    time && fields
        .all(|field| field.ends_with(" of statements") || field.ends_with("[no statements]"))
}

fn parse_result(line: &str) -> Option<(GoTestStatus, &str)> {
    let rest = line.trim_start_matches(' ').strip_prefix("--- ")?;
    let (went, rest) = rest.split_once(": ")?;
    let went = match went {
        "PASS" => GoTestStatus::Passed,
        "FAIL" => GoTestStatus::Failed,
        "SKIP" => GoTestStatus::Skipped,
        _ => return None,
    };
    let (test, time) = rest.rsplit_once(" (")?;
    scan::parse_seconds(time.strip_suffix("s)")?).map(|_| (went, test))
}

fn count_results(results: &[GoTestResult<'_>]) -> TestCounts {
    let count = |went| {
        let leaves = results.iter().filter(|one| one.went == went && !one.is_parent).count();
        u32::try_from(leaves).unwrap_or(u32::MAX)
    };
    TestCounts {
        passed: count(GoTestStatus::Passed),
        failed: count(GoTestStatus::Failed),
        skipped: count(GoTestStatus::Skipped),
    }
}

#[cfg(test)]
mod tests;
