//! Playwright, with its list, line and dot reporters.
//!
//! A run ends in a block of numbers, `  3 failed` with the names below, `  1 flaky`, `  1 skipped` and
//! `  3 passed (7.4s)`, each only if it is not zero. A test may print such lines, but nothing of a run follows the
//! block. Names are `file > describe > test`; the project, which is most often a browser, is the scope. A flaky test
//! counts as passed.

use super::count_sums;
use super::stack::JsStack;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, CodePlace};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "playwright test",
    RunKind::Test,
    &[" passed (", " failed\n", " interrupted\n", " flaky\n", " › ", "\nError: No tests found"],
    read_output,
);

/// A test as the reporters print it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PlaywrightTitle<'a> {
    project: Option<&'a str>,
    /// The file and the first line of the test.
    place: CodePlace<'a>,
    /// The suites and the test, separated as printed.
    path: &'a str,
}

/// The numbers at the end of a run.
#[derive(Debug, Default, Clone)]
struct PlaywrightSummary<'a> {
    counts: TestCounts,
    milliseconds: Option<u64>,
    /// The titles below `failed`.
    failed: Vec<PlaywrightTitle<'a>>,
    /// True if the last number was that of failures, so that their titles follow.
    is_listing: bool,
}

#[derive(Default)]
struct PlaywrightParser<'a> {
    announced: Option<u32>,
    /// The failure with its details being read.
    open: Option<(PlaywrightTitle<'a>, JsStack)>,
    told: Vec<(PlaywrightTitle<'a>, JsStack)>,
    /// True if the list reporter printed a cross.
    crossed: bool,
    passed: PassedTests,
    /// The block being read.
    block: Option<PlaywrightSummary<'a>>,
    closed: Vec<PlaywrightSummary<'a>>,
    /// Number of blocks of earlier runs.
    earlier: usize,
    /// An error outside of all tests.
    broken: Option<ReportedFailure>,
    is_empty: bool,
}

fn read_output(text: &str) -> OutputReport {
    let mut reading = PlaywrightParser::default();
    for line in text.lines() {
        reading.read_line(line);
    }
    reading.report()
}

impl<'a> PlaywrightParser<'a> {
    fn read_line(&mut self, line: &'a str) {
        if let Some((number, word, time)) = parse_number_line(line) {
            self.finish_failure();
            let block = self.block.get_or_insert_default();
            block.is_listing = word == "failed" || word == "interrupted";
            let sum = match word {
                "passed" | "flaky" => &mut block.counts.passed,
                "failed" | "interrupted" => &mut block.counts.failed,
                _ => &mut block.counts.skipped,
            };
            *sum = sum.saturating_add(number);
            if time.is_some() {
                block.milliseconds = time;
                self.closed.extend(self.block.take());
            }
            return;
        }
        if let Some(block) = &mut self.block {
            if let Some(title) = line.strip_prefix("    ").and_then(parse_title) {
                if block.is_listing && block.failed.len() < scan::MAX_FAILURES {
                    block.failed.push(title);
                }
                return;
            }
            if !line.is_empty() {
                // Without a pass, no time ends the block.
                self.closed.extend(self.block.take());
            }
        }
        self.read_run_line(line);
    }

    /// Reads a line before the numbers.
    fn read_run_line(&mut self, line: &'a str) {
        if let Some(tests) = line.strip_prefix("Running ").and_then(scan::split_amount) {
            if tests.1.contains(" using ") {
                self.announced = Some(self.announced.unwrap_or(0).saturating_add(tests.0));
                self.earlier = self.closed.len();
            }
        } else if let Some(title) = parse_heading(line) {
            self.drop_printed_blocks();
            self.finish_failure();
            self.open = Some((title, JsStack::default()));
        } else if let Some(rest) = line.strip_prefix("  ✓  ").or_else(|| line.strip_prefix("  ok "))
        {
            if let Some(title) = parse_marked(rest) {
                self.drop_printed_blocks();
                self.passed.add(title.project, || title.name());
            }
        } else if let Some(rest) = line.strip_prefix("  ✘  ").or_else(|| line.strip_prefix("  x  "))
        {
            if parse_marked(rest).is_some() {
                self.drop_printed_blocks();
                self.crossed = true;
            }
        } else if line == "Error: No tests found" {
            self.is_empty = true;
        } else if let Some((_, stack)) = &mut self.open {
            if line.starts_with("    Retry #") {
                self.finish_failure();
            } else if line.starts_with("    ") && !is_source(line) {
                stack.take(line);
            }
        } else if self.announced.is_none()
            && self.broken.is_none()
            && let Some((error, message)) =
                scan::split_error(line).filter(|(error, _)| error.ends_with("Error"))
        {
            let (error, message) = (Some(error.to_owned()), Some(message.to_owned()));
            self.broken = Some(ReportedFailure { error, message, ..ReportedFailure::default() });
        }
    }

    /// Drops the blocks since the start of the run: as the run continues, a test printed them.
    fn drop_printed_blocks(&mut self) {
        self.closed.truncate(self.earlier);
    }

    fn finish_failure(&mut self) {
        if let Some((title, stack)) = self.open.take()
            && self.told.len() < scan::MAX_FAILURES
            && !stack.is_empty()
        {
            self.told.push((title, stack));
        }
    }

    fn report(mut self) -> OutputReport {
        self.finish_failure();
        // Without a pass, no time ends the block.
        self.closed.extend(self.block.take());
        self.closed.retain(|block| block.counts.passed > 0 || block.counts.failed > 0);
        let mut counts = TestCounts::default();
        let mut duration = None;
        for block in &self.closed {
            count_sums::add_counts(&mut counts, block.counts);
            count_sums::add_duration(&mut duration, block.milliseconds);
        }
        let is_closed = !self.closed.is_empty();
        let mut failures: Vec<ReportedFailure> = Vec::new();
        let listed: Vec<PlaywrightTitle<'_>> =
            self.closed.iter().flat_map(|block| block.failed.clone()).collect();
        if is_closed {
            for title in listed {
                let at = self.told.iter().position(|(told, _)| *told == title);
                let stack = at.map(|at| self.told.swap_remove(at).1).unwrap_or_default();
                failures.push(title.failure(stack));
            }
        } else {
            failures.extend(self.told.drain(..).map(|(title, stack)| title.failure(stack)));
        }
        let is_whole =
            self.announced.is_none_or(|announced| announced <= count_sums::total_tests(counts));
        let verdict = if counts.failed > 0 || !failures.is_empty() || (self.crossed && !is_closed) {
            Verdict::Failed
        } else if self.is_empty && self.broken.is_some() {
            failures.extend(self.broken);
            Verdict::Failed
        } else if is_closed && counts.passed > 0 && is_whole {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        let counts = is_closed.then_some(counts);
        OutputReport {
            verdict,
            counts,
            passed: self.passed.without_failed(&failures),
            failures,
            duration,
        }
    }
}

impl PlaywrightTitle<'_> {
    fn name(&self) -> String {
        format!("{} > {}", self.place.path, self.path.replace(" › ", " > "))
    }

    fn failure(&self, stack: JsStack) -> ReportedFailure {
        let scope = self.project.map(str::to_owned);
        let failure = ReportedFailure { scope, ..stack.failure(Some(self.name())) };
        // A timeout has no stack.
        let place = Some(self.place).filter(|_| failure.frame.is_none());
        failure.with_place(place)
    }
}

/// Parses `  3 failed`, `  2 did not run` and `  3 passed (7.4s)` into number, word and time.
fn parse_number_line(line: &str) -> Option<(u32, &str, Option<u64>)> {
    let (number, rest) = scan::split_amount(line.strip_prefix("  ")?)?;
    match rest {
        "failed" | "flaky" | "skipped" | "did not run" | "interrupted" => {
            Some((number, rest, None))
        }
        _ => {
            let time = rest.strip_prefix("passed (")?.strip_suffix(')')?;
            Some((number, "passed", Some(parse_milliseconds(time)?)))
        }
    }
}

/// Parses `812ms`, `7.4s`, `1.2m` and `1.1h`.
fn parse_milliseconds(time: &str) -> Option<u64> {
    if let Some(time) = time.strip_suffix("ms") {
        return scan::parse_decimal(time, 1);
    }
    let (number, unit) = time.split_at_checked(time.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    scan::parse_seconds(number)?.checked_mul(unit)
}

/// Parses `[chromium] › e2e/shop.spec.ts:2:1 › till › opens`, with a rule after it in a heading.
fn parse_title(text: &str) -> Option<PlaywrightTitle<'_>> {
    let text = text.trim_end_matches('─').trim_end();
    let (project, text) = match text.strip_prefix('[').and_then(|text| text.split_once("] › ")) {
        Some((project, text)) => (Some(project), text),
        None => (None, text),
    };
    let (place, path) = text.split_once(" › ")?;
    let (place, rest) = scan::parse_located_prefix(place)?;
    (rest.is_empty() && !path.is_empty()).then_some(PlaywrightTitle { project, place, path })
}

/// Parses `  1) [chromium] › e2e/shop.spec.ts:2:1 › adds up ─────`.
fn parse_heading(line: &str) -> Option<PlaywrightTitle<'_>> {
    let (_, rest) = scan::split_number(line.strip_prefix("  ")?)?;
    parse_title(rest.strip_prefix(") ")?)
}

/// Parses `12 [chromium] › e2e/shop.spec.ts:2:1 › adds up (retry #1) (16ms)`, the text after the list reporter's mark.
fn parse_marked(rest: &str) -> Option<PlaywrightTitle<'_>> {
    let (_, rest) = scan::split_number(rest.trim_start())?;
    let rest = rest.strip_prefix(' ')?;
    let rest = super::tree::strip_time(rest);
    let rest = rest.rsplit_once(" (retry #").map_or(rest, |(rest, _)| rest);
    parse_title(rest)
}

/// Returns true for a line of quoted code: `    > 3 |   expect(…)`.
fn is_source(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches('>').trim_start();
    text.trim_start_matches(|sign: char| sign.is_ascii_digit()).trim_start().starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_have_a_project_or_none() {
        let parsed = parse_title("[chromium] › e2e/a b.spec.ts:2:1 › till › opens ─────").unwrap();
        assert_eq!(parsed.project, Some("chromium"));
        assert_eq!(parsed.name(), "e2e/a b.spec.ts > till > opens");
        assert_eq!(parse_title("e2e/a.spec.ts:2:1 › opens").unwrap().project, None);
        assert_eq!(parse_title("words › opens"), None);
    }

    #[test]
    fn early_numbers_are_ignored() {
        let fake = "  1 failed\n    [x] › a.spec.ts:1:1 › b\n  ✓  1 a.spec.ts:1:1 › c (1ms)\n\n  1 passed (1.0s)\n";
        assert_eq!(read_output(fake).verdict, Verdict::Passed);
        assert_eq!(
            read_output("  1 failed\n    [x] › a.spec.ts:1:1 › b\n").verdict,
            Verdict::Failed
        );
        assert_eq!(read_output("  2 passed (1.2m)\n").duration, Some(72_000));
    }

    #[test]
    fn fewer_than_announced_is_no_pass() {
        let text = "Running 3 tests using 1 worker\n\n  2 passed (1.0s)\n";
        assert_eq!(read_output(text).verdict, Verdict::Unknown);
    }
}
