//! Jest.
//!
//! A run closes with four lines, `Test Suites:`, `Tests:`, `Snapshots:` and `Time:`. They are certain if as many files
//! were announced (`PASS`, `FAIL`) as they count. A tail of the output shows fewer, and if Jest detects an agent, it
//! announces only failures: such lines must be set apart, and are trusted only without more certain ones.
//! A suite that could not run counts as one more failed test, as Jest does not count its tests. Names are
//! `file > describe > test`, or the file alone.

use std::collections::HashSet;

use super::count_sums;
use super::stack::JsStack;
use super::tree::{self, SuiteTree};
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::{RunKind, TestCounts, Verdict, scan};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "jest",
    RunKind::Test,
    &["Test Suites: ", "\nTests: ", "\nSnapshots: ", "Jest: ", "  ● "],
    read_output,
);

/// The closing lines.
#[derive(Debug, Clone, Copy, Default)]
struct JestSummary {
    suites_failed: u32,
    suites_run: u32,
    tests: TestCounts,
    milliseconds: Option<u64>,
}

#[derive(Default)]
struct JestParser<'a> {
    /// The file with the failures being read.
    file: Option<&'a str>,
    open: Option<(String, JsStack)>,
    failures: Vec<ReportedFailure>,
    names: HashSet<String>,
    /// Number of files announced for the first time since the last closing lines.
    announced: u32,
    repeating: bool,
    /// Number of suites that could not run since the last closing lines.
    unrun: u32,
    from: usize,
    sure: Vec<JestSummary>,
    unsure: Vec<JestSummary>,
    /// A single closing line with failures. It counts only without a run with all closing lines.
    partial: Option<JestPartialSummary>,
    failed: bool,
    doubt: bool,
    passed: PassedTests,
    /// The file of the listed tests.
    listed: Option<&'a str>,
    suites: SuiteTree<'a>,
}

fn read_output(text: &str) -> OutputReport {
    let mut reading = JestParser::default();
    let mut lines = text.lines();
    let mut above = "";
    while let Some(line) = lines.next() {
        if let Some(closing) = parse_summary(line, lines.clone()) {
            reading.close_run(closing, above);
            lines.nth(2);
        } else if let Some(counts) = parse_failed_line(line) {
            reading.partial = Some(counts);
        } else {
            reading.read_line(line);
        }
        above = line;
    }
    reading.report()
}

/// Returns true if closing lines may follow this line: an empty line, or a warning of Node.
fn may_precede_summary(above: &str) -> bool {
    above.is_empty() || above.starts_with("(node:") || above.starts_with("(Use `node --trace-")
}

/// Parses the four lines that start with this one.
fn parse_summary<'a>(
    first: &'a str,
    mut rest: impl Iterator<Item = &'a str>,
) -> Option<JestSummary> {
    let suites = parse_counts(first.strip_prefix("Test Suites: ")?)?;
    let tests = parse_counts(rest.next()?.strip_prefix("Tests: ")?)?;
    rest.next()?.strip_prefix("Snapshots: ")?;
    let time = rest.next()?.strip_prefix("Time: ")?.trim_start();
    let time = time.split_once(" s").map_or(time, |(time, _)| time);
    Some(JestSummary {
        suites_failed: suites.failed,
        suites_run: suites.passed.saturating_add(suites.failed),
        tests,
        milliseconds: scan::parse_seconds(time),
    })
}

/// A single closing line with failures.
#[derive(Debug, Clone, Copy)]
enum JestPartialSummary {
    Tests(TestCounts),
    /// Suites or snapshots.
    Others,
}

/// Parses a closing line with failures: the others may be cut off or filtered out.
fn parse_failed_line(line: &str) -> Option<JestPartialSummary> {
    if let Some(tests) = line.strip_prefix("Tests: ") {
        return parse_counts(tests)
            .filter(|counts| counts.failed > 0)
            .map(JestPartialSummary::Tests);
    }
    let rest = line.strip_prefix("Test Suites: ").or_else(|| line.strip_prefix("Snapshots: "))?;
    let other = parse_counts(rest)?;
    (other.failed > 0).then_some(JestPartialSummary::Others)
}

/// Parses `1 failed, 1 skipped, 1 todo, 5 passed, 8 total` and `1 skipped, 0 of 1 total`; the numbers must add up.
fn parse_counts(text: &str) -> Option<TestCounts> {
    let mut counts = TestCounts::default();
    for part in text.trim_start().split(", ") {
        let (number, word) = scan::split_amount(part)?;
        let sum = match word {
            "failed" => &mut counts.failed,
            "passed" => &mut counts.passed,
            "skipped" | "todo" => &mut counts.skipped,
            "total" => {
                let all = counts.passed.checked_add(counts.failed)?.checked_add(counts.skipped)?;
                return (all == number).then_some(counts);
            }
            // Some suites may not have run.
            _ => return word.strip_prefix("of ")?.ends_with(" total").then_some(counts),
        };
        *sum = sum.checked_add(number)?;
    }
    None
}

/// Returns true if a file contains tests by its name.
fn is_test_file(file: &str) -> bool {
    [".test.", ".spec.", "__tests__/"].iter().any(|part| file.contains(part))
}

impl<'a> JestParser<'a> {
    fn read_line(&mut self, line: &'a str) {
        // Coloured output has a blank around the word.
        let word = line.strip_prefix(' ').unwrap_or(line);
        let announced = word.strip_prefix("PASS ").or_else(|| word.strip_prefix("FAIL "));
        if let Some(rest) = announced {
            self.finish_failure();
            self.announced += u32::from(!self.repeating);
            // `FAIL project test/a.test.js (5.2 s)`
            let rest = rest.split_once(" (").map_or(rest, |(rest, _)| rest);
            let file = rest.rsplit(' ').next();
            self.file = file.filter(|_| word.starts_with('F'));
            self.listed = file.filter(|_| !self.repeating);
            self.suites = SuiteTree::default();
        } else if line == "Summary of all failing tests" {
            self.finish_failure();
            self.repeating = true;
        } else if let Some(title) = line.strip_prefix("  ● ") {
            self.finish_failure();
            self.start_failure(title);
            self.listed = None;
        } else if self.listed.is_some() && self.read_listed(line) {
        } else if line.starts_with("Jest: ") && line.contains(" does not meet ") {
            self.failed = true;
        } else if line.starts_with("    ") {
            if let Some((_, stack)) = &mut self.open
                && !is_source(line)
            {
                stack.take(line);
            }
        } else if !line.is_empty() {
            self.finish_failure();
        }
    }

    /// Reads a line of the tree that `--verbose` prints below a file. Returns false for other lines.
    fn read_listed(&mut self, line: &'a str) -> bool {
        let (indent, text) = tree::split_indent(line);
        if indent < 2 || text.is_empty() {
            self.listed = None;
            return false;
        }
        if let Some(name) = text.strip_prefix("✓ ").or_else(|| text.strip_prefix("√ ")) {
            let (file, suites) = (self.listed.unwrap_or_default(), &self.suites);
            let path = || suites.path(indent, tree::strip_time(name), " > ");
            self.passed.add(None, || format!("{file} > {}", path()));
        } else if !text.starts_with(['✕', '×', '○', '✎', '●']) {
            self.suites.enter(indent, text);
        }
        true
    }

    fn start_failure(&mut self, title: &str) {
        if title.trim_start().starts_with("process.exit called") {
            self.doubt = true;
        }
        let title_path = title.replace(" › ", " > ");
        let name = match self.file {
            Some(file) if title == "Test suite failed to run" => file.to_owned(),
            Some(file) => format!("{file} > {title_path}"),
            // Its file was announced above the cut; the place of the failure may name it.
            None if self.announced == 0 && !title.contains("failed to run") => title_path,
            None => return,
        };
        self.open = Some((name, JsStack::default()));
    }

    fn finish_failure(&mut self) {
        let Some((name, stack)) = self.open.take() else { return };
        // Without text below the title it is a log message of a test, or a list of obsolete snapshots.
        if stack.is_empty() || !self.names.insert(name.clone()) {
            return;
        }
        self.unrun += u32::from(self.file == Some(&name));
        let mut failure = stack.failure(Some(name));
        if self.file.is_none() {
            let Some(file) = failure.frame.as_deref().filter(|file| is_test_file(file)) else {
                return;
            };
            failure.test = failure.test.map(|name| format!("{file} > {name}"));
        }
        let message = failure.message.as_deref().unwrap_or_default();
        // Jest omits names without information.
        if failure.error.is_none() && message.starts_with("expect(") {
            failure.error = Some("JestAssertionError".to_owned());
        } else if failure.error.is_none() {
            failure.error = Some("Error".to_owned());
        }
        if self.failures.len() < scan::MAX_FAILURES {
            self.failures.push(failure);
        }
    }

    /// Reads the closing lines. `above` is the line before them: after a quiet run, that is the end of another run.
    fn close_run(&mut self, mut closing: JestSummary, above: &str) {
        let is_sure =
            self.announced >= closing.suites_run || above.starts_with("Ran all test suites");
        if !is_sure && !may_precede_summary(above) {
            if closing.suites_failed > 0 {
                self.doubt = true;
                self.partial = Some(JestPartialSummary::Tests(closing.tests));
            }
            return;
        }
        self.finish_failure();
        if closing.suites_failed == 0 {
            // Tests printed the lines that looked like failures.
            self.failures.truncate(self.from);
            self.unrun = 0;
        }
        let failed = &mut closing.tests.failed;
        *failed = failed.saturating_add(self.unrun);
        if *failed == 0 {
            *failed = closing.suites_failed;
        }
        // Standard output may precede all of standard error and contain similar lines.
        if is_sure {
            self.sure.push(closing);
        } else {
            self.unsure.push(closing);
        }
        self.from = self.failures.len();
        (self.announced, self.unrun, self.repeating, self.file) = (0, 0, false, None);
    }

    fn report(mut self) -> OutputReport {
        self.finish_failure();
        if self.sure.is_empty() {
            self.sure = self.unsure;
        } else {
            self.doubt |= self.unsure.iter().any(|unsure| unsure.tests.failed > 0);
        }
        let mut counts = TestCounts::default();
        let mut duration = None;
        for closing in &self.sure {
            count_sums::add_counts(&mut counts, closing.tests);
            count_sums::add_duration(&mut duration, closing.milliseconds);
        }
        let partial = self.partial.filter(|_| self.sure.is_empty());
        let is_failed = self.failed || counts.failed > 0 || partial.is_some();
        let verdict = if is_failed || !self.failures.is_empty() {
            Verdict::Failed
        } else if counts.passed > 0 && !self.doubt {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        let counts = match partial {
            Some(JestPartialSummary::Tests(counts)) => Some(counts),
            _ => (!self.sure.is_empty()).then_some(counts),
        };
        let passed = self.passed.without_failed(&self.failures);
        OutputReport { verdict, counts, failures: self.failures, passed, duration }
    }
}

/// Returns true if a line shows code: `    > 3 |   it(…)`.
fn is_source(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches("> ").trim_start();
    text.trim_start_matches(|sign: char| sign.is_ascii_digit()).trim_start().starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSING: &str = "Test Suites: 1 passed, 1 total\nTests:       5 passed, 5 total\nSnapshots:   0 total\nTime:        0.2 s\n";

    #[test]
    fn reads_summary_without_test_lines() {
        assert_eq!(read_output(CLOSING).verdict, Verdict::Passed);
        assert_eq!(read_output(&format!("hello\n{CLOSING}")).verdict, Verdict::Unknown);
        let text = format!("PASS a.test.js\n\n{CLOSING}");
        assert_eq!(read_output(&text.repeat(2)).counts.unwrap().passed, 10);
        let failed = CLOSING.replace("passed", "failed");
        assert_eq!(read_output(&format!("{failed}{text}")).verdict, Verdict::Unknown);
        assert_eq!(read_output(&format!("{text}{failed}")).verdict, Verdict::Unknown);
    }

    #[test]
    fn counts_must_add_up() {
        assert_eq!(read_output(&CLOSING.replace("5 total", "6 total")).verdict, Verdict::Unknown);
        assert_eq!(read_output(&CLOSING.replace("Snapshots", "Shots")).verdict, Verdict::Unknown);
        assert_eq!(read_output("Tests: 5 passed, 5 total\n").verdict, Verdict::Unknown);
    }
}
