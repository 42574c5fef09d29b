//! pytest, with xdist and pytest-cov.
//!
//! The last line of a session counts, `=== 1 failed, 3 passed in 0.12s ===`, and a test can print a similar line. So a
//! session with a header must end in a rule at least as wide as the header, and a passing one with as many tests as
//! were collected. Without a header (`-q`, or `| tail`) the line must follow the end of the progress or be in one of
//! pytest's sections. Expected failures count as skipped, unexpected passes as passed, errors as failed. Names are node
//! ids: `tests/test_a.py::TestX::test_b[param]`.

mod failures;
mod summary;

use self::failures::Failures;
use self::summary::Summary;
use super::traceback;
use crate::report::{Failure, PassedTests, Report, Runner};
use crate::{Counts, Kind, Verdict, scan};

pub(super) static RUNNER: Runner = Runner {
    name: "pytest",
    kind: Kind::Test,
    tells: &[
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
    silent_on_success: false,
    read,
};

/// The part of a session that a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
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
struct Session {
    /// The width of the header; None without a header.
    width: Option<usize>,
    /// The number of tests that should run.
    expected: Option<u32>,
    part: Part,
    /// The last trusted summary.
    summary: Option<Summary>,
    /// A summary of the right form with a wrong number or place.
    doubtful: Option<Summary>,
    /// True if the session was stopped: Ctrl-C, too many failures, errors during collection.
    stopped: bool,
    /// True if progress reached its end since the last summary.
    complete: bool,
}

impl Session {
    fn new(width: Option<usize>) -> Self {
        Self {
            width,
            expected: None,
            part: Part::Progress,
            summary: None,
            doubtful: None,
            stopped: false,
            complete: false,
        }
    }

    fn is_untouched(&self) -> bool {
        self.width.is_none() && self.summary.is_none() && self.part == Part::Progress
    }
}

struct Reading<'a> {
    session: Session,
    /// The number of open sessions inside the captured output of a test that runs pytest itself.
    inner: u32,
    failures: Failures<'a>,
    passed: PassedTests,
    total: Summary,
    closed: u32,
    doubt: bool,
    /// Failures of the whole run.
    broken: Vec<Failure>,
    failed: bool,
}

fn read(text: &str) -> Report {
    let mut reading = Reading {
        session: Session::new(None),
        inner: 0,
        failures: Failures::default(),
        passed: PassedTests::default(),
        total: Summary::default(),
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
        reading.take(line, is_only, said, &lines);
        if !line.is_empty() {
            said = Some(line);
        }
        above = Some(line);
    }
    reading.report()
}

impl<'a> Reading<'a> {
    fn take(&mut self, line: &'a str, only: bool, said: Option<&str>, rest: &std::str::Lines<'a>) {
        match line.bytes().next() {
            Some(b'=') => {
                if let Some(title) = scan::ruled(line, '=') {
                    self.take_rule(title, line.chars().count(), only, said);
                }
            }
            // The bang lines are as wide as the rules; no session is narrower than this.
            Some(b'!') if self.inner == 0 && line.len() >= 20 => {
                self.session.stopped |= scan::ruled(line, '!').is_some();
            }
            Some(b'0'..=b'9' | b'n') if line.ends_with('s') && line.contains(" in ") => {
                if self.inner == 0
                    && let Some(summary) = Summary::read(line)
                {
                    self.take_quiet(summary, only, said);
                }
            }
            Some(b'I') if line.starts_with("INTERNALERROR> ") => {
                self.failed = true;
                self.failures.internal(&line["INTERNALERROR> ".len()..]);
            }
            Some(b'I') if line.starts_with("ImportError while loading conftest ") => {
                self.failed = true;
                self.session.part = Part::Failures;
                self.failures.start_run();
            }
            _ => {}
        }
        if let Some(failure) = traceback::fatal(line, rest.clone()) {
            self.failed = true;
            self.broken.push(failure);
        }
        if self.inner > 0 {
            return;
        }
        if said.is_none() && self.session.is_untouched() && failures::is_short(line) {
            // The text starts within the list of failures.
            self.session.part = Part::Short;
        }
        match self.session.part {
            Part::Progress => self.take_progress(line),
            Part::Failures => self.failures.take(line, self.session.width),
            Part::Short => self.failures.take_short(line),
            Part::Coverage => self.failed |= line.starts_with("FAIL Required test coverage of "),
            Part::Other => {}
        }
    }

    fn take_progress(&mut self, line: &'a str) {
        if line.ends_with("[100%]") {
            self.session.complete = true;
        }
        if self.session.expected.is_none() && self.session.width.is_some() {
            self.session.expected = summary::expected(line);
        }
        self.failures.take_progress(line);
        if let Some(id) = failures::progress_of(line, "PASSED") {
            self.passed.add(None, || id.to_owned());
        }
    }

    fn take_rule(&mut self, title: &str, width: usize, only: bool, said: Option<&str>) {
        if title == "test session starts" {
            if self.session.part != Part::Progress && self.session.summary.is_none() {
                self.inner += 1;
            } else {
                self.close();
                self.session = Session::new(Some(width));
            }
            return;
        }
        let fits = self.session.width.is_none_or(|own| own <= width);
        let summary = Summary::read(title);
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
                "FAILURES" | "ERRORS" => Part::Failures,
                "short test summary info" => Part::Short,
                "tests coverage" => Part::Coverage,
                _ => Part::Other,
            };
            return;
        };
        if self.session.width.is_none() {
            self.take_quiet(summary, only, said);
        } else if summary.failed > 0
            || self.session.expected.is_none_or(|expected| expected == summary.ran())
        {
            self.session.summary = Some(summary);
        } else {
            self.session.doubtful = Some(summary);
        }
    }

    /// Reads a summary without a header before it.
    fn take_quiet(&mut self, summary: Summary, only: bool, said: Option<&str>) {
        let said = said.unwrap_or_default();
        let follows = said.ends_with("[100%]")
            || (summary.ran() > 0 && summary::letters(said) == Some(summary.ran()));
        if self.session.width.is_some() {
            // Within a session with a header a test printed it; after the session it can belong to another run.
            if self.session.summary.is_none() || !follows {
                return;
            }
        } else if !(follows
            || only
            || said.starts_with("-- Docs: https://docs.pytest.org")
            || self.session.part != Part::Progress
            || summary.ran() == 0)
        {
            self.session.doubtful = Some(summary);
            return;
        }
        // After progress since the last summary, or after a session with a header, this is another run.
        if self.session.summary.is_some() && (self.session.complete || self.session.width.is_some())
        {
            self.close();
            self.session = Session::new(None);
        }
        self.session.summary = Some(summary);
        self.session.complete = false;
    }

    fn close(&mut self) {
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

    fn report(mut self) -> Report {
        self.close();
        let counts = (self.closed > 0).then_some(Counts {
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
        let passed = self.passed.without(&failures);
        Report { verdict, counts, failures, passed, duration: self.total.milliseconds }
    }
}

#[cfg(test)]
mod tests;
