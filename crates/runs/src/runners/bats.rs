//! Bats, in its two forms: TAP, which it prints into a pipe, and pretty, which it prints to a terminal.
//!
//! A failing test is named by its description; its file is below it. In the pretty form a line is overwritten several
//! times, so that the mark of a test can be anywhere in it.

use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, CodePlace};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "bats",
    RunKind::Test,
    &["\n1..", "\nnot ok ", "\n# bats warning: ", " ✗ ", " failures", " failure"],
    read_output,
);

#[derive(Default)]
struct BatsParser {
    /// The number of tests in all plans.
    planned: Option<u32>,
    counts: TestCounts,
    failures: Vec<ReportedFailure>,
    passed: PassedTests,
    /// True if the next details belong to the last failure.
    is_open: bool,
    /// True if a failure has words that only Bats prints: a place, or the warning that fewer tests ran than planned.
    is_certain: bool,
    summary: Option<TestCounts>,
    /// True if a point has a hyphen, which other programs print.
    is_foreign: bool,
}

fn read_output(text: &str) -> OutputReport {
    let mut reading = BatsParser::default();
    let mut above = "";
    for line in text.lines() {
        reading.read_line(line, above);
        above = line;
    }
    reading.report()
}

impl BatsParser {
    fn read_line(&mut self, line: &str, above: &str) {
        if let Some(plan) = line.strip_prefix("1..").and_then(|plan| plan.parse::<u32>().ok()) {
            self.planned = Some(self.planned.unwrap_or(0).saturating_add(plan));
        } else if let Some(rest) = line.strip_prefix("not ok ") {
            self.read_point(rest, false);
        } else if let Some(rest) = line.strip_prefix("ok ") {
            self.read_point(rest, true);
        } else if let Some((_, name)) = line.rsplit_once(" ✗ ") {
            self.add_failure(name);
        } else if let Some((_, name)) = line.rsplit_once(" ✓ ") {
            self.is_open = false;
            self.passed.add(None, || name.to_owned());
        } else if line.starts_with("# bats warning: Executed ") {
            self.is_certain = true;
        } else if let Some(counts) =
            parse_summary(line).filter(|_| !above.starts_with("Finished in "))
        {
            // `mix test` prints the same numbers below the time.
            self.summary = Some(counts);
            self.is_open = false;
        } else if self.is_open {
            self.read_detail(line.trim_start_matches(['#', ' ']));
        }
    }

    /// Reads a TAP point: `1 adds two numbers # skip not yet`.
    fn read_point(&mut self, rest: &str, is_ok: bool) {
        let Some((_, name)) = scan::split_number(rest) else { return };
        let Some(name) = name.strip_prefix(' ') else { return };
        if name.starts_with("- ") {
            self.is_foreign = true;
            return;
        }
        let (name, directive) = name.split_once(" # ").unwrap_or((name, ""));
        if directive.to_ascii_lowercase().starts_with("skip") {
            self.counts.skipped += 1;
            self.is_open = false;
            return;
        }
        // With `--timing`.
        let name = match name.rsplit_once(" in ") {
            Some((name, time))
                if time.strip_suffix("ms").is_some_and(|ms| ms.parse::<u32>().is_ok()) =>
            {
                name
            }
            _ => name,
        };
        if is_ok {
            self.counts.passed += 1;
            self.is_open = false;
            self.passed.add(None, || name.to_owned());
        } else {
            self.counts.failed += 1;
            self.add_failure(name);
        }
    }

    fn add_failure(&mut self, name: &str) {
        self.is_open = self.failures.len() < scan::MAX_FAILURES;
        if self.is_open {
            self.failures.push(ReportedFailure {
                test: Some(name.to_owned()),
                ..ReportedFailure::default()
            });
        }
    }

    /// Reads `(in test file test/a.bats, line 6)` and `` `[ "$output" = "4" ]' failed ``.
    fn read_detail(&mut self, text: &str) {
        let Some(failure) = self.failures.last_mut() else { return };
        if let Some(place) = parse_bats_place(text) {
            self.is_certain = true;
            if failure.frame.is_none() {
                failure.scope = Some(place.path.to_owned());
                failure.set_place(place);
            }
        } else if failure.message.is_none()
            && (text.starts_with('`') || text.contains(": syntax error"))
        {
            failure.message = Some(text.to_owned());
        }
    }

    fn report(self) -> OutputReport {
        let Self { failures, passed, .. } = self;
        let is_whole = self.planned.is_some_and(|planned| {
            planned > 0 && planned == self.counts.passed + self.counts.failed + self.counts.skipped
        });
        let counts = self.summary.or(Some(self.counts).filter(|_| is_whole));
        let is_failed = counts.is_some_and(|counts| counts.failed > 0) || self.is_certain;
        let is_ours = !self.is_foreign
            && (self.planned.is_some() || self.summary.is_some() || self.is_certain);
        let verdict = match counts {
            _ if !is_ours => return OutputReport::unknown(),
            _ if is_failed => Verdict::Failed,
            Some(counts) if counts.passed > 0 && failures.is_empty() => Verdict::Passed,
            _ => Verdict::Unknown,
        };
        let failures = if verdict == Verdict::Failed { failures } else { Vec::new() };
        OutputReport::new(verdict, counts, passed, failures)
    }
}

/// Parses `(in test file test/a.bats, line 6)` and ``(from function `setup' in test file test/a.bats, line 10)``.
fn parse_bats_place(text: &str) -> Option<CodePlace<'_>> {
    let (_, rest) = text.strip_prefix('(')?.split_once("in test file ")?;
    let (path, line) = rest.rsplit_once(", line ")?;
    Some(CodePlace::new(path, line.trim_end_matches([')', ','])))
}

/// Parses a complete `5 tests, 2 failures, 1 skipped`.
fn parse_summary(line: &str) -> Option<TestCounts> {
    let mut parts = line.split(", ").map(scan::split_amount);
    let (tests, word) = parts.next()??;
    if !matches!(word, "tests" | "test") {
        return None;
    }
    let mut counts = TestCounts::default();
    let mut has_failures = false;
    for part in parts {
        match part? {
            (number, "failures" | "failure") => (counts.failed, has_failures) = (number, true),
            (number, "skipped") => counts.skipped = number,
            (_, "not run") => {}
            _ => return None,
        }
    }
    counts.passed = tests.checked_sub(counts.failed)?.checked_sub(counts.skipped)?;
    has_failures.then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyphenated_points_are_not_bats() {
        assert_eq!(read_output("1..1\nok 1 adds\n").verdict, Verdict::Passed);
        assert_eq!(read_output("1..1\nok 1 - adds\n").verdict, Verdict::Unknown);
        assert_eq!(read_output("1..2\nok 1 adds\n").verdict, Verdict::Unknown);
        assert_eq!(read_output("1..0\n").verdict, Verdict::Unknown);
    }

    #[test]
    fn summary_is_the_whole_line() {
        assert_eq!(
            parse_summary("1 test, 0 failures"),
            Some(TestCounts { passed: 1, ..TestCounts::default() })
        );
        for line in
            ["5 tests", "5 tests, 2 errors", "so 5 tests, 2 failures", "1 tests, 2 failures"]
        {
            assert_eq!(parse_summary(line), None, "{line}");
        }
    }
}
