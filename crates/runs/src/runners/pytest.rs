//! pytest, with xdist and pytest-cov.
//!
//! The last line of a session counts, `=== 1 failed, 3 passed in 0.12s ===`, and a test can print a similar line. So a
//! session with a header must end in a rule at least as wide as the header, and a passing one with as many tests as
//! were collected. Without a header (`-q`, or `| tail`) the line must follow the end of the progress or be in one of
//! pytest's sections. Expected failures count as skipped, unexpected passes as passed, errors as failed. Names are node
//! ids: `tests/test_a.py::TestX::test_b[param]`.

mod failures;
mod summary;

use self::failures::PytestFailures;
use self::summary::PytestSummary;
use super::traceback;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::{RunKind, TestCounts, Verdict, scan};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "pytest",
    RunKind::Test,
    &[
        "passed in ",
        "failed in ",
        "skipped in ",
        "deselected in ",
        "error in ",
        "errors in ",
        "warning in ",
        "warnings in ",
        "rerun in ",
        "ran in ",
        " FAILURES ",
        " ERRORS ",
        "FAILED ",
        "FAILED[",
        "\nSUBFAILED",
        "ERROR ",
        "ERROR[",
        "\nINTERNALERROR> ",
        "\nFAIL Required ",
        "\nImportError while loading conftest ",
        "Fatal Python error: ",
    ],
    read_output,
);

/// The part of a session that a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionPart {
    Progress,
    /// `FAILURES` and `ERRORS`.
    Failures,
    /// `short test summary info`.
    Short,
    Coverage,
    /// Warnings, durations, output of plugins.
    Other,
}

/// The session being read.
struct PytestSession {
    /// The width of the header; None without a header.
    width: Option<usize>,
    /// The number of tests that should run.
    expected: Option<u32>,
    part: SessionPart,
    /// The last trusted summary.
    summary: Option<PytestSummary>,
    /// A summary of the right form with a wrong number or place.
    doubtful: Option<PytestSummary>,
    /// True if the session was stopped: Ctrl-C, too many failures, errors during collection.
    stopped: bool,
    /// True if progress reached its end since the last summary.
    complete: bool,
}

impl PytestSession {
    fn new(width: Option<usize>) -> Self {
        Self {
            width,
            expected: None,
            part: SessionPart::Progress,
            summary: None,
            doubtful: None,
            stopped: false,
            complete: false,
        }
    }

    fn is_untouched(&self) -> bool {
        self.width.is_none() && self.summary.is_none() && self.part == SessionPart::Progress
    }
}

struct PytestParser<'a> {
    session: PytestSession,
    /// The number of open sessions inside the captured output of a test that runs pytest itself.
    inner: u32,
    failures: PytestFailures<'a>,
    passed: PassedTests,
    total: PytestSummary,
    closed: u32,
    doubt: bool,
    /// Failures of the whole run.
    broken: Vec<ReportedFailure>,
    failed: bool,
}

fn read_output(text: &str) -> OutputReport {
    let mut reading = PytestParser {
        session: PytestSession::new(None),
        inner: 0,
        failures: PytestFailures::default(),
        passed: PassedTests::default(),
        total: PytestSummary::default(),
        closed: 0,
        doubt: false,
        broken: Vec::new(),
        failed: false,
    };
    let mut lines = text.lines();
    // The line above, and the last line that was not empty.
    let (mut above, mut said) = (None, None);
    while let Some(line) = lines.next() {
        let is_only = said.is_none()
            && above.is_none()
            && lines.clone().all(|line| line.is_empty() || scan::is_timing(line));
        reading.read_line(line, is_only, said, &lines);
        if !line.is_empty() {
            said = Some(line);
        }
        above = Some(line);
    }
    reading.report()
}

impl<'a> PytestParser<'a> {
    fn read_line(
        &mut self,
        line: &'a str,
        only: bool,
        said: Option<&str>,
        rest: &std::str::Lines<'a>,
    ) {
        match line.bytes().next() {
            Some(b'=') => {
                if let Some(title) = scan::parse_rule_title(line, '=') {
                    self.read_rule(title, line.chars().count(), only, said);
                }
            }
            // The bang lines are as wide as the rules; no session is narrower than this.
            Some(b'!') if self.inner == 0 && line.len() >= 20 => {
                self.session.stopped |= scan::parse_rule_title(line, '!').is_some();
            }
            Some(b'0'..=b'9' | b'n') if line.ends_with('s') && line.contains(" in ") => {
                if self.inner == 0
                    && let Some(summary) = PytestSummary::parse(line)
                {
                    self.read_quiet_summary(summary, only, said);
                }
            }
            Some(b'I') if line.starts_with("INTERNALERROR> ") => {
                self.failed = true;
                self.failures.read_internal(&line["INTERNALERROR> ".len()..]);
            }
            Some(b'I') if line.starts_with("ImportError while loading conftest ") => {
                self.failed = true;
                self.session.part = SessionPart::Failures;
                self.failures.start_run();
            }
            _ => {}
        }
        if let Some(failure) = traceback::parse_fatal_error(line, rest.clone()) {
            self.failed = true;
            self.broken.push(failure);
        }
        if self.inner > 0 {
            return;
        }
        if said.is_none() && self.session.is_untouched() && failures::is_short_summary(line) {
            // The text starts within the list of failures.
            self.session.part = SessionPart::Short;
        }
        match self.session.part {
            SessionPart::Progress => self.read_progress(line),
            SessionPart::Failures => self.failures.take(line, self.session.width),
            SessionPart::Short => self.failures.read_short(line),
            SessionPart::Coverage => {
                self.failed |= line.starts_with("FAIL Required test coverage of ");
            }
            SessionPart::Other => {}
        }
    }

    fn read_progress(&mut self, line: &'a str) {
        if line.ends_with("[100%]") {
            self.session.complete = true;
        }
        if self.session.expected.is_none() && self.session.width.is_some() {
            self.session.expected = summary::parse_expected(line);
        }
        self.failures.take_progress(line);
        if let Some(id) = failures::parse_progress(line, "PASSED") {
            self.passed.add(None, || id.to_owned());
        }
    }

    fn read_rule(&mut self, title: &str, width: usize, only: bool, said: Option<&str>) {
        if title == "test session starts" {
            if self.session.part != SessionPart::Progress && self.session.summary.is_none() {
                self.inner += 1;
            } else {
                self.close_session();
                self.session = PytestSession::new(Some(width));
            }
            return;
        }
        let fits = self.session.width.is_none_or(|own| own <= width);
        let summary = PytestSummary::parse(title);
        if self.inner > 0 {
            self.inner -= u32::from(summary.is_some());
            return;
        }
        if !fits {
            return;
        }
        let Some(summary) = summary else {
            self.failures.finish();
            self.session.part = match title {
                "FAILURES" | "ERRORS" => SessionPart::Failures,
                "short test summary info" => SessionPart::Short,
                "tests coverage" => SessionPart::Coverage,
                _ => SessionPart::Other,
            };
            return;
        };
        if self.session.width.is_none() {
            self.read_quiet_summary(summary, only, said);
        } else if summary.failed > 0
            || self.session.expected.is_none_or(|expected| expected == summary.total())
        {
            self.session.summary = Some(summary);
        } else {
            self.session.doubtful = Some(summary);
        }
    }

    /// Reads a summary without a header before it.
    fn read_quiet_summary(&mut self, summary: PytestSummary, only: bool, said: Option<&str>) {
        let said = said.unwrap_or_default();
        let follows = said.ends_with("[100%]")
            || (summary.total() > 0
                && summary::count_progress_letters(said) == Some(summary.total()));
        if self.session.width.is_some() {
            // Within a session with a header a test printed it; after the session it can belong to another run.
            if self.session.summary.is_none() || !follows {
                return;
            }
        } else if !(follows
            || only
            || said.starts_with("-- Docs: https://docs.pytest.org")
            || self.session.part != SessionPart::Progress
            || summary.total() == 0)
        {
            self.session.doubtful = Some(summary);
            return;
        }
        // After progress since the last summary, or after a session with a header, this is another run.
        if self.session.summary.is_some() && (self.session.complete || self.session.width.is_some())
        {
            self.close_session();
            self.session = PytestSession::new(None);
        }
        self.session.summary = Some(summary);
        self.session.complete = false;
    }

    fn close_session(&mut self) {
        self.failures.finish();
        let session = &self.session;
        // A summary with failures is trusted at any place if no other ends the session.
        let failed = session.doubtful.filter(|summary| summary.failed > 0);
        let Some(summary) = session.summary.or(failed) else {
            // A stopped session may still have printed its numbers.
            if let Some(summary) = session.doubtful.filter(|_| session.stopped) {
                self.total.add(summary);
                self.closed += 1;
            }
            self.doubt |= !session.is_untouched() || session.doubtful.is_some();
            return;
        };
        self.total.add(summary);
        self.closed += 1;
        self.doubt |= session.stopped;
    }

    fn report(mut self) -> OutputReport {
        self.close_session();
        let counts = (self.closed > 0).then_some(TestCounts {
            passed: self.total.passed,
            failed: self.total.failed,
            skipped: self.total.skipped,
        });
        let mut failures = self.failures.into_list();
        failures.append(&mut self.broken);
        let verdict = if self.failed || self.total.failed > 0 || !failures.is_empty() {
            Verdict::Failed
        } else if !self.doubt && self.total.passed > 0 {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        let passed = self.passed.without_failed(&failures);
        OutputReport { verdict, counts, failures, passed, duration: self.total.milliseconds }
    }
}

#[cfg(test)]
mod tests;
