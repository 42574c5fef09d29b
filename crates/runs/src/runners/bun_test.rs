//! Bun's test runner: a file and its tests, the details of each failure before its name, then a block of numbers and
//! `Ran 7 tests across 2 files.`, after an empty line. Names are `file > describe > test`, or the file alone.

use std::collections::HashSet;

use super::count_sums;
use super::stack::JsStack;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::{RunKind, TestCounts, Verdict, scan};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "bun test",
    RunKind::Test,
    &[
        " across ",
        " fail\n",
        " fail ",
        " errors\n",
        "\nBailed out after ",
        "\n(fail) ",
        "\n✗ ",
        "\n# Unhandled error between tests",
    ],
    read_output,
);

/// Marks of a failed test, without and with colour.
const FAIL_MARKS: [&str; 2] = ["(fail) ", "✗ "];
const PASS_MARKS: [&str; 2] = ["(pass) ", "✓ "];
const SKIP_MARKS: [&str; 4] = ["(skip) ", "(todo) ", "» ", "✎ "];

/// Builds `file > describe > test` from a line such as `(pass) describe > test [0.12ms]`.
fn full_name(file: Option<&str>, name: &str) -> String {
    let name = name.rsplit_once(" [").map_or(name, |(name, _)| name);
    file.map_or_else(|| name.to_owned(), |file| format!("{file} > {name}"))
}

#[derive(Default)]
struct BunParser<'a> {
    file: Option<&'a str>,
    stack: JsStack,
    failures: Vec<ReportedFailure>,
    passed: PassedTests,
    /// For each failure, true if its line ends in a time, which tests do not print.
    timed: Vec<bool>,
    names: HashSet<String>,
    /// Index of the first failure of the current run.
    from: usize,
    outside: bool,
    counts: Option<TestCounts>,
    /// A block without an empty line before it. It counts only without another block.
    loose: Option<BunSummary>,
    duration: Option<u64>,
    bailed: bool,
}

/// The numbers that close a run.
#[derive(Clone, Copy, Default)]
struct BunSummary {
    counts: TestCounts,
    milliseconds: Option<u64>,
    /// Number of lines.
    lines: usize,
    /// True if no line is missing, and the numbers add up.
    is_whole: bool,
    /// True if it starts with the number of failures, so that only the lines above are missing.
    is_tail: bool,
    /// True if a wrapper that shows only the last lines has indented it.
    is_indented: bool,
}

fn read_output(text: &str) -> OutputReport {
    let mut reading = BunParser::default();
    let mut lines = text.lines();
    let mut above = "";
    let mut is_first = true;
    while let Some(line) = lines.next() {
        if let Some(block) = parse_summary(line, lines.clone()) {
            if block.is_whole && above.is_empty() {
                reading.close(block.counts, block.milliseconds);
                lines.nth(block.lines - 2);
            } else if block.counts.failed > 0
                || (block.is_whole && may_precede_summary(above, &block))
                || (block.is_tail && is_first)
            {
                reading.loose = Some(block);
            }
        } else {
            reading.read_line(line, above);
        }
        is_first = false;
        above = line;
    }
    reading.report()
}

/// Returns true if a block may follow this line without an empty line: the log of an error.
fn may_precede_summary(above: &str, block: &BunSummary) -> bool {
    let above = above.trim_start();
    above.starts_with("error:") || above.starts_with("at ") || block.is_indented
}

/// Parses the block that starts with this line. Its first lines may be cut off.
fn parse_summary<'a>(first: &'a str, rest: impl Iterator<Item = &'a str>) -> Option<BunSummary> {
    let (_, first_word) = scan::split_amount(first.trim_start())?;
    let is_first = matches!(first_word, "pass" | "fail" | "skip" | "todo" | "error" | "errors");
    if !is_first {
        return None;
    }
    let mut block = BunSummary { is_indented: first.starts_with("  "), ..BunSummary::default() };
    let counts = &mut block.counts;
    let mut errors = 0;
    for line in std::iter::once(first).chain(rest) {
        let text = line.trim_start();
        if let Some(ran) = text.strip_prefix("Ran ") {
            let (number, words) = scan::split_amount(ran)?;
            let (across, time) = words.split_once(" across ")?;
            let time = time.rsplit_once('[')?.1.strip_suffix(']')?;
            block.milliseconds = match time.strip_suffix("ms") {
                Some(time) => scan::parse_decimal(time, 1),
                None => time.strip_suffix('s').and_then(scan::parse_seconds),
            };
            let adds_up = across.starts_with("test") && count_sums::total_tests(*counts) == number;
            counts.failed = counts.failed.max(errors);
            block.is_whole = adds_up && first_word == "pass";
            block.is_tail = first_word == "fail" && across.starts_with("test") && number > 0;
            block.lines += 1;
            return Some(block).filter(|block| adds_up || block.lines > 1);
        }
        let Some((number, word)) = scan::split_amount(text) else { break };
        match word {
            "pass" => counts.passed = number,
            "fail" => counts.failed = number,
            "skip" | "todo" => counts.skipped = counts.skipped.checked_add(number)?,
            "error" | "errors" => errors = number,
            "expect() calls" | "filtered out" => {}
            _ if word.starts_with("snapshots") => {}
            _ => break,
        }
        block.lines += 1;
    }
    // Truncated or filtered: ` 3 fail` alone is enough, a pass is not.
    let is_failed = counts.failed > 0 && first.starts_with(' ') && !block.is_indented;
    is_failed.then_some(block)
}

impl<'a> BunParser<'a> {
    fn read_line(&mut self, line: &'a str, above: &str) {
        if let Some(name) = FAIL_MARKS.iter().find_map(|mark| line.strip_prefix(mark)) {
            self.add_failure(full_name(self.file, name), name.ends_with("s]"));
        } else if let Some(name) = PASS_MARKS.iter().find_map(|mark| line.strip_prefix(mark)) {
            self.stack = JsStack::default();
            let file = self.file;
            self.passed.add(None, || full_name(file, name));
        } else if SKIP_MARKS.iter().any(|mark| line.starts_with(mark)) {
            self.stack = JsStack::default();
        } else if line == "# Unhandled error between tests" {
            (self.outside, self.stack) = (true, JsStack::default());
        } else if self.outside && line.starts_with("------") && !self.stack.is_empty() {
            self.outside = false;
            let name = self.file.unwrap_or("between tests").to_owned();
            self.add_failure(name, true);
        } else if let Some(file) = line.strip_suffix(':').filter(|_| above.is_empty()) {
            self.file = Some(file).filter(|file| !file.starts_with(' '));
        } else if let Some(why) = line.strip_prefix("  ^ ") {
            if let Some(failure) = self.failures.last_mut() {
                failure.message.get_or_insert_with(|| why.to_owned());
            }
        } else if line.starts_with("Bailed out after ") {
            self.bailed = true;
        } else if let Some(message) = line.strip_prefix("error: ") {
            self.stack = JsStack::default();
            self.stack.set_error_line(message);
            self.stack.set_name("error");
        } else if line.starts_with("      at ")
            || scan::split_error(line).is_some_and(|(_, message)| !message.is_empty())
        {
            self.stack.take(line);
        }
    }

    fn add_failure(&mut self, name: String, is_timed: bool) {
        let stack = std::mem::take(&mut self.stack);
        // Long runs repeat their failures at the end.
        if self.failures.len() < scan::MAX_FAILURES && self.names.insert(name.clone()) {
            self.failures.push(stack.failure(Some(name)));
            self.timed.push(is_timed);
        }
    }

    fn close(&mut self, counts: TestCounts, milliseconds: Option<u64>) {
        if counts.failed == 0 {
            // Tests printed the lines that looked like failures.
            self.failures.truncate(self.from);
            self.timed.truncate(self.from);
        }
        self.from = self.failures.len();
        self.file = None;
        count_sums::add_counts(self.counts.get_or_insert_default(), counts);
        count_sums::add_duration(&mut self.duration, milliseconds);
    }

    fn report(self) -> OutputReport {
        let Self { mut counts, mut failures, passed, mut duration, bailed, from, file, .. } = self;
        if counts.is_none()
            && let Some(block) = self.loose
        {
            counts = block.is_whole.then_some(block.counts);
            duration = block.milliseconds;
        } else if file.is_none() && !bailed && counts.is_some() {
            // Without a file above and numbers below, a test printed it.
            failures.truncate(from);
        } else if file.is_none() && !bailed {
            // Only the filtered lines of failing tests: those of the runner end in a time.
            let mut timed = self.timed.iter();
            failures.retain(|_| timed.next().is_some_and(|timed| *timed));
        }
        let loose = self.loose.filter(|_| self.counts.is_none());
        let failed = loose.is_some_and(|block| block.counts.failed > 0);
        let is_fine = loose.is_some_and(|block| block.is_tail);
        let sums = counts.unwrap_or_default();
        let verdict = if bailed || failed || sums.failed > 0 || !failures.is_empty() {
            Verdict::Failed
        } else if sums.passed > 0 || is_fine {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        OutputReport {
            verdict,
            counts,
            passed: passed.without_failed(&failures),
            failures,
            duration,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_must_add_up() {
        let block = " 2 pass\n 0 fail\nRan 2 tests across 1 file. [5.00ms]\n";
        assert_eq!(read_output(block).verdict, Verdict::Passed);
        assert_eq!(read_output(&format!("text\n{block}")).verdict, Verdict::Unknown);
        assert_eq!(read_output(&block.replace("Ran 2", "Ran 3")).verdict, Verdict::Unknown);
        // A test that logs an error, or a wrapper that shows the last lines.
        for above in ["error: no such row", "      at open (/home/ada/project/a.ts:3:5)"] {
            assert_eq!(read_output(&format!("{above}\n{block}")).verdict, Verdict::Passed);
            assert_eq!(read_output(&format!("{above}\n\n{block}")).verdict, Verdict::Passed);
        }
        let tail = " 0 fail\n 4 expect() calls\nRan 2 tests across 1 file. [5.00ms]\n";
        assert_eq!(read_output(tail).verdict, Verdict::Passed);
        assert_eq!(read_output(&format!("log\n{tail}")).verdict, Verdict::Unknown);
        let indented =
            "OUTPUT (last 3 lines):\n   2 pass\n   0 fail\n  Ran 2 tests across 1 file. [5.00ms]\n";
        assert_eq!(read_output(indented).verdict, Verdict::Passed);
        assert_eq!(read_output(" 2 pass\n 0 fail\n").verdict, Verdict::Unknown);
    }

    #[test]
    fn partial_failures_are_trusted() {
        for text in [
            " 3 fail\n",
            "log\n 12 pass\n 3 fail\n 4 expect() calls\n",
            "log\n 12 pass\n 3 fail\nRan 15 tests across 2 files. [5.00ms]\n",
            " 1 skip\n 3 fail\nRan 15 tests across 2 files. [5.00ms]\n",
        ] {
            assert_eq!(read_output(text).verdict, Verdict::Failed, "{text}");
        }
        let report = read_output("(fail) shop > adds up [0.46ms]\n(fail) shop > opens [1.20s]\n");
        assert_eq!(report.verdict, Verdict::Failed);
        let names: Vec<_> = report.failures.iter().filter_map(|one| one.test.as_deref()).collect();
        assert_eq!(names, ["shop > adds up", "shop > opens"]);
    }
}
