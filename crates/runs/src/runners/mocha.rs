//! Mocha: `  3 passing (13ms)`, optionally `  1 pending` and `  2 failing`, then each failure in detail.
//!
//! A test can print such lines. They are certain if as many passes were shown above as they count; a tail of the output
//! shows fewer, and is trusted only without more certain lines and without the start of the run, an empty line. Names
//! are `describe > test`; `--grep` has blanks instead.

use super::count_sums;
use super::stack::JsStack;
use super::tree::{self, SuiteTree};
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::{RunKind, TestCounts, Verdict, scan};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "mocha",
    RunKind::Test,
    &[" passing (", " failing\n", "Exception during run: "],
    read_output,
);

/// Marks of a pass, which depend on the system.
const PASS_MARKS: [char; 3] = ['✔', '✓', '√'];

/// A run by its closing lines, and the failures below them.
#[derive(Debug, Default)]
struct MochaRun {
    counts: TestCounts,
    milliseconds: Option<u64>,
    failures: Vec<ReportedFailure>,
    /// True if no empty line follows: `failing` may have been cut off.
    cut: bool,
    /// True if only the number of failures is known.
    is_partial: bool,
}

#[derive(Default)]
struct MochaParser<'a> {
    passed: PassedTests,
    suites: SuiteTree<'a>,
    /// Number of passes shown since the last closing lines.
    shown: u32,
    failing: bool,
    sure: Vec<MochaRun>,
    unsure: Option<MochaRun>,
    /// True if the last closing lines were certain.
    is_sure: bool,
    open: Option<(Vec<String>, bool, JsStack)>,
    broken: Vec<ReportedFailure>,
    cut: bool,
}

fn read_output(text: &str) -> OutputReport {
    let mut reading = MochaParser::default();
    let from_start = text.starts_with("\n\n");
    let mut lines = text.lines();
    let mut above = "";
    while let Some(line) = lines.next() {
        if above.is_empty()
            && let Some((run, more)) = parse_summary(line, lines.clone())
        {
            reading.close_run(run);
            for _ in 0..more {
                lines.next();
            }
        } else {
            reading.read_line(line);
        }
        above = line;
    }
    reading.report(from_start)
}

/// Parses the closing lines that start with this one. Returns the number of lines after it as well.
fn parse_summary<'a>(
    first: &str,
    mut rest: impl Iterator<Item = &'a str>,
) -> Option<(MochaRun, usize)> {
    let (passed, time) = scan::split_amount(first.strip_prefix("  ")?)?;
    let time = time.strip_prefix("passing (")?.strip_suffix(')')?;
    let milliseconds = match time.strip_suffix("ms") {
        Some(time) => scan::parse_decimal(time, 1)?,
        None => scan::parse_decimal(time.strip_suffix(['s', 'm', 'h'])?, 1000)?,
    };
    // `2m` are minutes, without seconds.
    let milliseconds = milliseconds * if time.ends_with('m') { 60 } else { 1 };
    let mut run = MochaRun { milliseconds: Some(milliseconds), ..MochaRun::default() };
    run.counts.passed = passed;
    let mut more = 0;
    loop {
        let line = rest.next();
        match line.and_then(|line| line.strip_prefix("  ")).and_then(scan::split_amount) {
            Some((number, "pending")) => run.counts.skipped = number,
            Some((number, "failing")) => run.counts.failed = number,
            _ => {
                run.cut = line.is_none_or(|line| !line.is_empty());
                return Some((run, more));
            }
        }
        more += 1;
    }
}

/// Counts the passes in a progress line.
fn count_passes(line: &str) -> u32 {
    let text = line.trim_start();
    if text.starts_with(PASS_MARKS) {
        return 1;
    }
    // The dot reporter.
    let dots = text.len() < line.len() && text.bytes().all(|byte| b".,!".contains(&byte));
    if dots { u32::try_from(text.matches('.').count()).unwrap_or(0) } else { 0 }
}

/// Returns true if a progress line shows a failure: `    1) adds up`, or `..!` from the dot reporter.
fn is_failing(line: &str) -> bool {
    let text = line.trim_start();
    let numbered = text.split_once(") ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    numbered || (text.contains('!') && text.bytes().all(|byte| b".,!".contains(&byte)))
}

impl<'a> MochaParser<'a> {
    fn close_run(&mut self, run: MochaRun) {
        self.finish_failure();
        self.cut |= run.cut && self.failing;
        self.is_sure = self.shown >= run.counts.passed;
        (self.shown, self.failing) = (0, false);
        if self.is_sure {
            self.sure.push(run);
        } else {
            self.unsure = Some(run);
        }
    }

    fn read_line(&mut self, line: &'a str) {
        if let Some(error) = line.trim_start().strip_prefix("Exception during run: ") {
            let mut stack = JsStack::default();
            stack.take(error);
            self.open = Some((Vec::new(), true, stack));
            return;
        }
        self.shown = self.shown.saturating_add(count_passes(line));
        if self.shown > 0 && line.trim_start().starts_with(PASS_MARKS) {
            // Another run has begun, or a test printed the failures.
            self.finish_failure();
        }
        self.failing |= is_failing(line);
        if line
            .strip_prefix("  ")
            .and_then(scan::split_amount)
            .is_some_and(|(number, word)| number > 0 && word == "failing")
        {
            self.finish_failure();
            (self.shown, self.is_sure) = (0, false);
            self.unsure = Some(MochaRun { is_partial: true, ..MochaRun::default() });
        }
        if self.open.is_none() {
            self.read_listed(line);
        }
        if let Some(title) = parse_heading(line).filter(|_| self.is_listing()) {
            self.finish_failure();
            self.open = Some((Vec::new(), false, JsStack::default()));
            self.add_name_part(title);
        } else if let Some((_, named, stack)) = &mut self.open {
            if *named {
                stack.take(line);
            } else {
                self.add_name_part(line.trim());
            }
        }
    }

    /// Reads a line of the tree: the title of a suite, or a test that passed.
    fn read_listed(&mut self, line: &'a str) {
        let (indent, text) = tree::split_indent(line);
        if let Some(name) = text.strip_prefix(PASS_MARKS) {
            let suites = &self.suites;
            let name = tree::strip_time(name.trim_start());
            self.passed.add(None, || suites.path(indent, name, " > "));
        } else if indent >= 2 && !text.is_empty() {
            self.suites.enter(indent, text);
        }
    }

    /// Adds a part of a name; a colon ends it.
    fn add_name_part(&mut self, title: &str) {
        if let Some((path, named, _)) = &mut self.open {
            *named = title.ends_with(':') || title.is_empty();
            path.push(title.strip_suffix(':').unwrap_or(title).to_owned());
        }
    }

    /// Returns true within the list of failures.
    fn is_listing(&self) -> bool {
        let run = if self.is_sure { self.sure.last() } else { self.unsure.as_ref() };
        run.is_some_and(|run| (run.counts.failed > 0 || run.is_partial) && self.shown == 0)
    }

    fn finish_failure(&mut self) {
        let Some((path, _, stack)) = self.open.take() else { return };
        if path.is_empty() {
            self.broken.push(stack.failure(None));
            return;
        }
        let run = if self.is_sure { self.sure.last_mut() } else { self.unsure.as_mut() };
        if let Some(run) = run.filter(|_| !stack.is_empty())
            && run.failures.len() < scan::MAX_FAILURES
        {
            run.failures.push(stack.failure(Some(path.join(" > "))));
        }
    }

    fn report(mut self, from_start: bool) -> OutputReport {
        self.finish_failure();
        let mut doubt = false;
        if let Some(unsure) = self.unsure.take() {
            if self.sure.is_empty()
                && (!from_start || unsure.is_partial || unsure.counts.failed > 0)
            {
                self.sure.push(unsure);
            } else {
                // Closing lines with failures in detail were a run; without, a test printed them.
                doubt = !unsure.failures.is_empty();
            }
        }
        let mut counts = TestCounts::default();
        let mut duration = None;
        let mut failures = self.broken;
        let is_partial = self.sure.iter().any(|run| run.is_partial);
        for run in &mut self.sure {
            count_sums::add_counts(&mut counts, run.counts);
            count_sums::add_duration(&mut duration, run.milliseconds);
            failures.append(&mut run.failures);
        }
        let verdict = if counts.failed > 0 || is_partial || !failures.is_empty() {
            Verdict::Failed
        } else if counts.passed > 0 && !doubt && !self.cut {
            Verdict::Passed
        } else {
            Verdict::Unknown
        };
        let counts = (!self.sure.is_empty() && !is_partial).then_some(counts);
        OutputReport {
            verdict,
            counts,
            passed: self.passed.without_failed(&failures),
            failures,
            duration,
        }
    }
}

/// Parses the title in `  1) shop`.
fn parse_heading(line: &str) -> Option<&str> {
    let (number, title) = line.strip_prefix("  ")?.split_once(") ")?;
    number.parse::<u32>().ok().map(|_| title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_summary_without_test_lines() {
        assert_eq!(read_output("    ✔ a\n\n\n  2 passing (2ms)\n").verdict, Verdict::Passed);
        assert_eq!(read_output("\n\n  ✔ a\n\n\n  2 passing (2ms)\n").verdict, Verdict::Unknown);
        assert_eq!(read_output("\n\n  ✔ a\n\n\n  1 passing (2m)\n").duration, Some(120_000));
        assert_eq!(read_output("text\n  2 passing (2ms)\n").verdict, Verdict::Unknown);
    }
}
