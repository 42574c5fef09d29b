//! Python's own unittest.
//!
//! A run ends in a rule of 70 dashes, `Ran N tests in …s`, an empty line and `OK` or `FAILED (…)`, in exactly this
//! order; a test may print some of them, but not all. Expected failures count as skipped: they are not evidence about
//! the current code. Names have the form that `python -m unittest` accepts: `tests.test_a.TestX.test_b`.

use super::traceback::{self, Traceback};
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::{RunKind, TestCounts, Verdict, scan};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "unittest",
    RunKind::Test,
    &["\nRan ", "\nFAIL: ", "\nERROR: ", "\nUNEXPECTED SUCCESS: ", "Fatal Python error: "],
    read_output,
);

const RULE_WIDTH: usize = 70;

/// The last lines of a run.
struct UnittestSummary {
    ran: u32,
    fine: bool,
    failed: u32,
    skipped: u32,
    milliseconds: Option<u64>,
}

fn read_output(text: &str) -> OutputReport {
    let mut reading = UnittestParser::default();
    let mut lines = text.lines();
    let mut before = "";
    while let Some(line) = lines.next() {
        if is_rule(line, b'-')
            && let Some(mut summary) = parse_summary(lines.clone())
        {
            reading.finish_failure();
            // A truncated last line may have only `OK`.
            summary.fine &= !is_all_skipped(before);
            reading.close_run(&summary);
            // Skips the rest of the summary.
            lines.nth(2);
        } else if let Some(failure) = traceback::parse_fatal_error(line, lines.clone()) {
            reading.failures.push(failure);
        } else if let Some(test) = parse_verbose_pass(line, before) {
            reading.passed.add(None, || test);
        } else if is_rule(before, b'=') {
            reading.start_failure(line);
        } else if is_rule(line, b'=') {
            reading.finish_failure();
        } else if let Some((_, _, trace)) = &mut reading.open {
            trace.take(line);
        }
        before = line;
    }
    reading.report()
}

fn is_rule(line: &str, mark: u8) -> bool {
    line.len() == RULE_WIDTH && line.bytes().all(|byte| byte == mark)
}

/// Returns true if a progress line shows only skipped tests.
fn is_all_skipped(line: &str) -> bool {
    !line.is_empty() && line.bytes().all(|byte| byte == b's')
}

/// Parses the summary after its rule.
fn parse_summary<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<UnittestSummary> {
    let ran = lines.next()?.strip_prefix("Ran ")?;
    if !lines.next()?.is_empty() {
        return None;
    }
    let said = lines.next()?;
    let (ran, words) = scan::split_amount(ran)?;
    let time = words.strip_prefix("tests in ").or_else(|| words.strip_prefix("test in "))?;
    let (verdict, details) = said.split_once(" (").unwrap_or((said, ")"));
    let mut summary = UnittestSummary {
        ran,
        fine: verdict == "OK",
        failed: 0,
        skipped: 0,
        milliseconds: scan::parse_seconds(time.strip_suffix('s')?),
    };
    if !matches!(verdict, "OK" | "FAILED" | "NO TESTS RAN") {
        return None;
    }
    for (what, number) in
        details.strip_suffix(')')?.split(", ").filter_map(|part| part.split_once('='))
    {
        let number = number.parse::<u32>().ok()?;
        let sum = match what {
            "failures" | "errors" | "unexpected successes" => &mut summary.failed,
            "skipped" | "expected failures" => &mut summary.skipped,
            _ => return None,
        };
        *sum = sum.saturating_add(number);
    }
    Some(summary)
}

/// Parses `test_a (tests.test_x.TestX.test_a)`, before Python 3.11 without the test in the brackets. Returns the name,
/// and true if it is that of a fixture.
fn parse_full_name(title: &str) -> Option<(String, bool)> {
    let (name, rest) = title.split_once(" (")?;
    let (place, _) = rest.split_once(')')?;
    let fixture = name.starts_with("setUp") || name.starts_with("tearDown");
    let test = if let Some(module) = place.strip_prefix("unittest.loader.") {
        // A module that could not be imported appears as a test that always fails.
        module.strip_prefix("_FailedTest.").unwrap_or(name).to_owned()
    } else if fixture || place.rsplit('.').next() == Some(name) {
        place.to_owned()
    } else {
        format!("{place}.{name}")
    };
    Some((test, fixture))
}

/// Parses the test of `test_a (tests.test_x.TestX.test_a) ... ok`. With a docstring, the name is on the line above and
/// the docstring before the result.
fn parse_verbose_pass(line: &str, above: &str) -> Option<String> {
    let title = line.strip_suffix(" ... ok")?;
    let name = |title: &str| {
        let named = title.ends_with(')') && !title.split(" (").next()?.contains(' ');
        parse_full_name(title).filter(|_| named).map(|(test, _)| test)
    };
    name(title).or_else(|| name(above))
}

#[derive(Default)]
struct UnittestParser {
    failures: Vec<ReportedFailure>,
    passed: PassedTests,
    /// The failure being read: name, true if it is a test that ran, and traceback.
    open: Option<(String, bool, Traceback)>,
    /// Number of tests that failed since the last summary. A test with several failed subtests counts once.
    ran_badly: u32,
    counts: Option<TestCounts>,
    milliseconds: Option<u64>,
    good: u32,
    bad: u32,
    last_is_bad: bool,
}

impl UnittestParser {
    /// Reads a heading: `FAIL: test_a (tests.test_x.TestX.test_a)`, before Python 3.11 without the name in the
    /// brackets.
    fn start_failure(&mut self, line: &str) {
        let Some((word, title)) = line.split_once(": ") else { return };
        if !matches!(word, "FAIL" | "ERROR" | "UNEXPECTED SUCCESS") {
            return;
        }
        let Some((test, fixture)) = parse_full_name(title) else { return };
        let mut trace = Traceback::default();
        if word == "UNEXPECTED SUCCESS" {
            trace.take("Traceback (most recent call last)");
            trace.take("UnexpectedSuccess");
        }
        self.open = Some((test, !fixture, trace));
    }

    fn finish_failure(&mut self) {
        let Some((test, ran, trace)) = self.open.take() else { return };
        // Subtests follow each other.
        if self.failures.last().is_none_or(|failure| failure.test.as_ref() != Some(&test)) {
            self.ran_badly += u32::from(ran);
            if self.failures.len() < scan::MAX_FAILURES {
                self.failures.push(trace.failure(Some(test)));
            }
        }
    }

    fn close_run(&mut self, summary: &UnittestSummary) {
        let bad = !summary.fine && summary.failed > 0;
        let good = summary.fine && summary.failed == 0 && summary.ran > summary.skipped;
        self.bad += u32::from(bad);
        self.good += u32::from(good);
        self.last_is_bad = bad;
        let broken = self.ran_badly.min(summary.failed);
        let counts = self.counts.get_or_insert_default();
        let fine = summary.ran.saturating_sub(summary.skipped).saturating_sub(broken);
        counts.passed = counts.passed.saturating_add(fine);
        counts.failed = counts.failed.saturating_add(summary.failed);
        counts.skipped = counts.skipped.saturating_add(summary.skipped);
        if let Some(more) = summary.milliseconds {
            self.milliseconds = Some(self.milliseconds.unwrap_or(0).saturating_add(more));
        }
        self.ran_badly = 0;
    }

    fn report(mut self) -> OutputReport {
        self.finish_failure();
        let verdict = if !self.failures.is_empty() || self.last_is_bad {
            Verdict::Failed
        } else if self.bad == 0 && self.good > 0 {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        let Self { counts, failures, passed, milliseconds, .. } = self;
        let passed = passed.without_failed(&failures);
        OutputReport { verdict, counts, failures, passed, duration: milliseconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "----------------------------------------------------------------------";

    #[test]
    fn old_python_names_are_parsed() {
        let mut reading = UnittestParser::default();
        reading.start_failure("FAIL: test_a (tests.test_x.TestX)");
        reading.finish_failure();
        assert_eq!(reading.failures[0].test.as_deref(), Some("tests.test_x.TestX.test_a"));
    }

    #[test]
    fn broken_summary_is_ignored() {
        for text in [
            "Ran 2 tests in 0.1s\n\nOK\n".to_owned(),
            format!("{RULE}\nRan 2 tests in 0.1s\nOK\n"),
            format!("{RULE}\nRan 2 tests in 0.1s\n\n"),
            format!("{RULE}\nRan 2 tests in 0.1s\n\nOK so far\n"),
            format!("{RULE}\nRan 0 tests in 0.1s\n\nOK\n"),
            format!("{RULE}\nRan 0 tests in 0.1s\n\nNO TESTS RAN\n"),
        ] {
            assert_eq!(read_output(&text).verdict, Verdict::Unknown, "{text}");
        }
        let whole = format!("{RULE}\nRan 2 tests in 0.1s\n\nOK (skipped=1)\n");
        assert_eq!(
            read_output(&whole).counts,
            Some(TestCounts { passed: 1, failed: 0, skipped: 1 })
        );
        assert_eq!(read_output(&whole).verdict, Verdict::Passed);
    }

    #[test]
    fn later_pass_hides_no_failure() {
        let text = format!(
            "{RULE}\nRan 1 test in 0.1s\n\nFAILED (errors=1)\n{RULE}\nRan 1 test in 0.1s\n\nOK\n"
        );
        assert_eq!(read_output(&text).verdict, Verdict::Unknown);
    }
}
