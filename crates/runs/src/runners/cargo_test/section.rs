//! The output of one test binary, from `running 3 tests` to `test result: …`.

use crate::TestCounts;
use crate::scan::{self, find_count};

/// The part of a section that a line belongs to.
#[derive(Clone, Copy, PartialEq)]
enum SectionPart {
    /// The results.
    Results,
    /// The output of tests, which is never trusted.
    Captured,
    /// The list of names at the end.
    Names,
}

/// The output of one test binary.
pub(super) struct TestBinaryOutput<'a> {
    announced: u32,
    /// The name of the binary, if cargo printed it.
    pub(super) binary: Option<String>,
    part: SectionPart,
    /// Results seen so far.
    results: u32,
    failed: Vec<&'a str>,
    /// Tests with a line `test name ... ok`.
    pub(super) passed: Vec<&'a str>,
    names: Vec<&'a str>,
    /// The test that is running; with one thread its name is printed before its result.
    pub(super) open: Option<&'a str>,
    /// Output of failing tests: name and lines.
    pub(super) captured: Vec<(&'a str, Vec<&'a str>)>,
    /// The summary, once it was read.
    pub(super) ended: Option<SectionSummary>,
    /// True if a line looks like a summary but cannot be one.
    noise: bool,
}

#[derive(Clone, Copy)]
pub(super) struct SectionSummary {
    pub(super) ok: bool,
    pub(super) counts: TestCounts,
    pub(super) millis: u64,
}

impl<'a> TestBinaryOutput<'a> {
    pub(super) fn new(announced: u32, binary: Option<String>) -> Self {
        Self {
            announced,
            binary,
            part: SectionPart::Results,
            results: 0,
            failed: Vec::new(),
            passed: Vec::new(),
            names: Vec::new(),
            open: None,
            captured: Vec::new(),
            ended: None,
            noise: false,
        }
    }

    pub(super) fn read_line(&mut self, line: &'a str) {
        if let Some(summary) = parse_summary(line) {
            if self.accepts_summary(summary) {
                self.ended = Some(summary);
            } else {
                self.noise = true;
            }
        }
        match self.part {
            SectionPart::Results => match line {
                "failures:" | "successes:" => self.part = SectionPart::Captured,
                _ => self.read_result(line),
            },
            SectionPart::Captured | SectionPart::Names => match line {
                "failures:" | "successes:" => {
                    self.part = SectionPart::Names;
                    self.names.clear();
                }
                _ => self.read_captured(line),
            },
        }
    }

    /// Returns true after the results, in the output of tests, which is not trusted.
    pub(super) fn is_past_results(&self) -> bool {
        self.part != SectionPart::Results
    }

    /// Reads a line among the results: `test name ... ok`, or progress in dots.
    fn read_result(&mut self, line: &'a str) {
        if let Some((name, said)) =
            line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
        {
            let name = name.strip_suffix(" - should panic").unwrap_or(name);
            match said.rsplit(' ').next() {
                _ if said.starts_with("ignored") => self.results += 1,
                Some("ok") => self.add_passed(name),
                Some("FAILED") => self.add_failed(name),
                _ if said.starts_with("bench: ") => self.results += 1,
                _ => self.open = Some(name),
            }
        } else if line == "ok"
            && let Some(name) = self.open.take()
        {
            self.add_passed(name);
        } else if line == "FAILED"
            && let Some(name) = self.open.take()
        {
            self.add_failed(name);
        } else if let Some(name) = line.strip_suffix(" --- FAILED") {
            // Dots may precede it in its line.
            let dots = name.len() - name.trim_start_matches(['.', 'i']).len();
            self.results = self.results.saturating_add(u32::try_from(dots).unwrap_or(0));
            self.add_failed(&name[dots..]);
        } else {
            let dots = line.split(' ').next().unwrap_or_default();
            if dots.bytes().all(|dot| matches!(dot, b'.' | b'i' | b'F')) {
                self.results = self.results.saturating_add(u32::try_from(dots.len()).unwrap_or(0));
            }
        }
    }

    fn add_passed(&mut self, name: &'a str) {
        self.results += 1;
        self.passed.push(name);
    }

    fn add_failed(&mut self, name: &'a str) {
        self.results += 1;
        self.failed.push(name);
    }

    /// Reads a line after the results.
    fn read_captured(&mut self, line: &'a str) {
        if let Some(name) =
            line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            self.part = SectionPart::Captured;
            self.captured.push((name, Vec::new()));
        } else if self.part == SectionPart::Names && line.starts_with("    ") {
            self.names.push(line.trim());
        } else if self.part == SectionPart::Names && !line.is_empty() {
            // A test printed such a list.
            self.part = SectionPart::Captured;
        } else if let Some((_, lines)) = self.captured.last_mut() {
            lines.push(line);
        }
    }

    /// Returns true if a summary can belong to this section.
    fn accepts_summary(&self, summary: SectionSummary) -> bool {
        let TestCounts { passed, failed, skipped } = summary.counts;
        let sum = passed.checked_add(failed).and_then(|sum| sum.checked_add(skipped));
        let named = match self.part {
            SectionPart::Results => summary.ok,
            SectionPart::Captured => false,
            SectionPart::Names => summary.ok || u32::try_from(self.names.len()) == Ok(failed),
        };
        sum == Some(self.announced)
            && self.results >= self.announced
            && named
            && summary.ok == (failed == 0)
    }

    /// Returns true if the text was truncated after a test had failed.
    pub(super) fn has_certain_failure(&self) -> bool {
        self.ended.is_none() && !self.failed.is_empty() && !self.noise
    }

    pub(super) fn failing_tests(&self) -> &[&'a str] {
        if self.ended.is_some_and(|summary| !summary.ok) { &self.names } else { &self.failed }
    }
}

/// Parses a complete `test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
pub(super) fn parse_summary(line: &str) -> Option<SectionSummary> {
    let (said, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let ok = match said {
        "ok" => true,
        "FAILED" => false,
        _ => return None,
    };
    let (list, time) = rest.split_once("; finished in ")?;
    let counts = TestCounts {
        passed: find_count(list, "passed")?.checked_add(find_count(list, "measured")?)?,
        failed: find_count(list, "failed")?,
        skipped: find_count(list, "ignored")?,
    };
    Some(SectionSummary { ok, counts, millis: scan::parse_seconds(time.strip_suffix('s')?)? })
}
