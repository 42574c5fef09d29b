//! The output of one test binary, from `running 3 tests` to `test result: …`.

use crate::Counts;
use crate::scan::{self, counted};

/// The part of a section that a line belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// The results.
    Results,
    /// The output of tests, which is never trusted.
    Captured,
    /// The list of names at the end.
    Names,
}

/// The output of one test binary.
pub(super) struct Section<'a> {
    announced: u32,
    /// The name of the binary, if cargo printed it.
    pub(super) binary: Option<String>,
    part: Part,
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
    pub(super) ended: Option<Summary>,
    /// True if a line looks like a summary but cannot be one.
    noise: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Summary {
    pub(super) ok: bool,
    pub(super) counts: Counts,
    pub(super) millis: u64,
}

impl<'a> Section<'a> {
    pub(super) fn new(announced: u32, binary: Option<String>) -> Self {
        Self {
            announced,
            binary,
            part: Part::Results,
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

    pub(super) fn read(&mut self, line: &'a str) {
        if let Some(summary) = summary(line) {
            if self.ends_with(summary) {
                self.ended = Some(summary);
            } else {
                self.noise = true;
            }
        }
        match self.part {
            Part::Results => match line {
                "failures:" | "successes:" => self.part = Part::Captured,
                _ => self.result(line),
            },
            Part::Captured | Part::Names => match line {
                "failures:" | "successes:" => {
                    self.part = Part::Names;
                    self.names.clear();
                }
                _ => self.captured(line),
            },
        }
    }

    /// Returns true behind the results, in the output of tests, which is not trusted.
    pub(super) fn captures(&self) -> bool {
        self.part != Part::Results
    }

    /// Reads a line among the results: `test name ... ok`, or progress in dots.
    fn result(&mut self, line: &'a str) {
        if let Some((name, said)) =
            line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
        {
            let name = name.strip_suffix(" - should panic").unwrap_or(name);
            match said.rsplit(' ').next() {
                _ if said.starts_with("ignored") => self.results += 1,
                Some("ok") => self.pass(name),
                Some("FAILED") => self.fail(name),
                _ if said.starts_with("bench: ") => self.results += 1,
                _ => self.open = Some(name),
            }
        } else if line == "ok"
            && let Some(name) = self.open.take()
        {
            self.pass(name);
        } else if line == "FAILED"
            && let Some(name) = self.open.take()
        {
            self.fail(name);
        } else if let Some(name) = line.strip_suffix(" --- FAILED") {
            // Dots may precede it in its line.
            let dots = name.len() - name.trim_start_matches(['.', 'i']).len();
            self.results = self.results.saturating_add(u32::try_from(dots).unwrap_or(0));
            self.fail(&name[dots..]);
        } else {
            let dots = line.split(' ').next().unwrap_or_default();
            if dots.bytes().all(|dot| matches!(dot, b'.' | b'i' | b'F')) {
                self.results = self.results.saturating_add(u32::try_from(dots.len()).unwrap_or(0));
            }
        }
    }

    fn pass(&mut self, name: &'a str) {
        self.results += 1;
        self.passed.push(name);
    }

    fn fail(&mut self, name: &'a str) {
        self.results += 1;
        self.failed.push(name);
    }

    /// Reads a line after the results.
    fn captured(&mut self, line: &'a str) {
        if let Some(name) =
            line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            self.part = Part::Captured;
            self.captured.push((name, Vec::new()));
        } else if self.part == Part::Names && line.starts_with("    ") {
            self.names.push(line.trim());
        } else if self.part == Part::Names && !line.is_empty() {
            // A test printed such a list.
            self.part = Part::Captured;
        } else if let Some((_, lines)) = self.captured.last_mut() {
            lines.push(line);
        }
    }

    /// Returns true if a summary can belong to this section.
    fn ends_with(&self, summary: Summary) -> bool {
        let Counts { passed, failed, skipped } = summary.counts;
        let sum = passed.checked_add(failed).and_then(|sum| sum.checked_add(skipped));
        let named = match self.part {
            Part::Results => summary.ok,
            Part::Captured => false,
            Part::Names => summary.ok || u32::try_from(self.names.len()) == Ok(failed),
        };
        sum == Some(self.announced)
            && self.results >= self.announced
            && named
            && summary.ok == (failed == 0)
    }

    /// Returns true if the text was truncated after a test had failed.
    pub(super) fn surely_failed(&self) -> bool {
        self.ended.is_none() && !self.failed.is_empty() && !self.noise
    }

    pub(super) fn failing(&self) -> &[&'a str] {
        if self.ended.is_some_and(|summary| !summary.ok) { &self.names } else { &self.failed }
    }
}

/// Parses a complete `test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
pub(super) fn summary(line: &str) -> Option<Summary> {
    let (said, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let ok = match said {
        "ok" => true,
        "FAILED" => false,
        _ => return None,
    };
    let (list, time) = rest.split_once("; finished in ")?;
    let counts = Counts {
        passed: counted(list, "passed")?.checked_add(counted(list, "measured")?)?,
        failed: counted(list, "failed")?,
        skipped: counted(list, "ignored")?,
    };
    Some(Summary { ok, counts, millis: scan::seconds(time.strip_suffix('s')?)? })
}
