//! RSpec. A failing example is named by its description, as `rspec -e` accepts it: its line changes with every edit.

use std::collections::HashMap;

use super::tree::{self, SuiteTree};
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, file_of_place, find_count, split_number};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader =
    OutputReader::new("rspec", RunKind::Test, &[" example", "Failure/Error:"], read_output);

/// The line `4 examples, 1 failure, 2 pending`, and the time above it.
#[derive(Clone, Copy)]
struct RspecSummary {
    counts: TestCounts,
    /// Number of files that could not be loaded.
    outside: u32,
    millis: Option<u64>,
    /// True if the line above is cut off.
    is_headless: bool,
}

fn read_output(text: &str) -> OutputReport {
    let mut output = RspecOutput::default();
    for line in text.lines() {
        output.read_line(line);
    }
    output.finish(text)
}

/// The output of RSpec, as far as it was read.
#[derive(Default)]
struct RspecOutput<'a> {
    documentation: DocumentationTree<'a>,
    summaries: usize,
    last_summary: Option<RspecSummary>,
    /// The failed examples of the last list only: an example may have printed one before.
    failed_examples: Vec<&'a str>,
    /// The files of those examples.
    files: HashMap<&'a str, &'a str>,
    /// The failures below numbered names.
    details: HashMap<&'a str, ReportedFailure>,
    /// Files that could not be loaded.
    load_failures: Vec<ReportedFailure>,
    block: RspecBlock<'a>,
    /// Number of dots of the progress format.
    dots: usize,
    /// True if output follows the last summary that only comes before one.
    continues_after_summary: bool,
    /// True if there is output above a summary; an example may have printed a summary as the first line.
    has_output_above_summary: bool,
    /// Number of lines that are not empty.
    written_lines: usize,
    previous_line: &'a str,
}

impl<'a> RspecOutput<'a> {
    fn read_line(&mut self, line: &'a str) {
        self.documentation.read_line(line);
        if let Some(summary) = parse_summary(line, self.previous_line, self.written_lines == 0) {
            self.summaries += 1;
            self.has_output_above_summary |= self.written_lines > 1;
            self.last_summary = Some(summary);
            self.failed_examples.clear();
            self.continues_after_summary = false;
            self.block = RspecBlock::None;
        } else if !line.is_empty() && line.bytes().all(|dot| matches!(dot, b'.' | b'F' | b'*')) {
            self.dots += line.len();
            self.continues_after_summary = self.last_summary.is_some();
        } else if line == "Failures:" {
            self.continues_after_summary = self.last_summary.is_some();
        } else if let Some((place, name)) =
            line.strip_prefix("rspec ").and_then(|rest| rest.split_once(" # "))
        {
            self.failed_examples.push(name);
            self.files.extend(file_of_place(place).map(|file| (name, file)));
        } else if line.starts_with("An error occurred while loading ") {
            self.load_failures.push(ReportedFailure::default());
            self.block = RspecBlock::Outside;
        } else if let Some(name) = parse_numbered(line) {
            self.block = RspecBlock::Example(name);
        } else {
            let failure = match self.block {
                RspecBlock::None => None,
                RspecBlock::Outside => self.load_failures.last_mut(),
                RspecBlock::Example(name) => Some(self.details.entry(name).or_default()),
            };
            if let Some(failure) = failure {
                read_detail(failure, line, self.previous_line);
            }
        }
        self.previous_line = line;
        self.written_lines += usize::from(!line.is_empty());
    }

    fn finish(mut self, text: &'a str) -> OutputReport {
        // Pending examples are listed in the same form; only failures have a message.
        self.details.retain(|_, failure| failure.message.is_some());
        let summary = self.last_summary;
        let counts = summary.map(|summary| summary.counts).filter(|counts| {
            usize::try_from(counts.failed).is_ok_and(|failed| failed == self.failed_examples.len())
        });
        let verdict = self.verdict(counts.is_some());
        let has_load_failures = summary.is_some_and(|summary| summary.outside > 0);
        let is_clear = !has_load_failures && (self.summaries == 1 || verdict == Verdict::Failed);
        let failures = match verdict {
            Verdict::Failed => self.take_failures(text),
            _ => Vec::new(),
        };
        OutputReport {
            verdict,
            counts: counts.filter(|_| is_clear),
            passed: self.documentation.passed.without_failed(&failures),
            failures,
            duration: summary.and_then(|summary| summary.millis).filter(|_| is_clear),
        }
    }

    /// Returns the verdict. `is_listed` is true if the list of failed examples is as long as the last summary says.
    fn verdict(&self, is_listed: bool) -> Verdict {
        let Some(summary) = self.last_summary else {
            return if self.details.is_empty() { Verdict::Unknown } else { Verdict::Failed };
        };
        let has_failed_examples = summary.counts.failed > 0 && (is_listed || summary.is_headless);
        if summary.outside > 0 || has_failed_examples {
            Verdict::Failed
        } else if self.summaries == 1
            && self.has_output_above_summary
            && !self.continues_after_summary
            && summary.is_success(self.dots)
        {
            Verdict::Passed
        } else {
            Verdict::Unknown
        }
    }

    /// Returns the files that could not be loaded and the failed examples.
    fn take_failures(&mut self, text: &'a str) -> Vec<ReportedFailure> {
        let mut names = std::mem::take(&mut self.failed_examples);
        if names.is_empty() && self.last_summary.is_none() {
            let numbered = text.lines().filter_map(parse_numbered);
            names = numbered.filter(|name| self.details.contains_key(name)).collect();
        }
        let mut failures = std::mem::take(&mut self.load_failures);
        failures.extend(names.into_iter().map(|name| {
            let detail = self.details.remove(name).unwrap_or_default();
            let scope = self.files.get(name).map(|file| (*file).to_owned());
            ReportedFailure { test: Some(name.to_owned()), scope, ..detail }
        }));
        failures
    }
}

/// The tree of `--format documentation`. A line is an example if no line below it has deeper indentation.
#[derive(Default)]
struct DocumentationTree<'a> {
    passed: PassedTests,
    suites: SuiteTree<'a>,
    /// The last line, which is an example unless the next one has deeper indentation.
    last: Option<(usize, &'a str)>,
    /// True after the tree.
    ended: bool,
}

impl<'a> DocumentationTree<'a> {
    fn read_line(&mut self, line: &'a str) {
        let (indent, text) = tree::split_indent(line);
        self.ended |= line.starts_with("Finished in ") || matches!(line, "Failures:" | "Pending:");
        self.ended |= line.starts_with("Pending: (");
        if let Some((above, name)) = self.last.take() {
            if text.is_empty() || indent <= above {
                self.add_example(above, name);
            } else {
                self.suites.enter(above, name);
            }
        }
        if text.is_empty() {
            self.suites.leave(0);
        } else if !self.ended {
            self.last = Some((indent, text));
        }
    }

    fn add_example(&mut self, indent: usize, name: &str) {
        // An example is always in a group.
        if indent > 0 && !name.ends_with(')') {
            let suites = &self.suites;
            self.passed.add(None, || suites.path(indent, name, " "));
        }
    }
}

/// The failure that the lines belong to.
#[derive(Clone, Copy, Default)]
enum RspecBlock<'a> {
    #[default]
    None,
    Outside,
    Example(&'a str),
}

/// Reads a line of a failure: first the expression, then the kind of error or the expectation, then the stack.
fn read_detail(failure: &mut ReportedFailure, line: &str, above: &str) {
    let said = line.trim();
    if said.starts_with("Failure/Error:") {
        failure.message = Some(String::new());
    } else if let Some(place) = said.strip_prefix("# ") {
        if failure.frame.is_none()
            && place.starts_with("./")
            && let Some(place) = scan::parse_place(place)
        {
            failure.set_place(place);
        }
    } else if failure.message.as_deref() == Some("") && !said.is_empty() {
        let class = said.strip_suffix(':').filter(|class| is_class(class));
        if failure.error.is_none() && above.trim().is_empty() && class.is_some() {
            failure.error = class.map(str::to_owned);
        } else if above.trim().is_empty() || failure.error.is_some() {
            failure.message = Some(said.to_owned());
        }
    }
}

/// Returns true for a class such as `ZeroDivisionError` or `JSON::ParserError`.
fn is_class(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == ':' || c == '_')
}

/// Parses the name of `  1) Ledger adds`.
fn parse_numbered(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("  ")?.trim_start();
    split_number(rest)?.1.strip_prefix(") ")
}

impl RspecSummary {
    /// Returns true if nothing failed, and the dots, if any, are as many as the examples.
    fn is_success(&self, dots: usize) -> bool {
        let TestCounts { passed, failed, skipped } = self.counts;
        let all = u64::from(passed) + u64::from(skipped);
        passed > 0 && failed == 0 && (dots == 0 || u64::try_from(dots) == Ok(all))
    }
}

/// Parses `4 examples, 1 failure` below `Finished in …`. The first line of a text may lack that line if it counts
/// failures.
fn parse_summary(line: &str, above: &str, is_first: bool) -> Option<RspecSummary> {
    let took = above.strip_prefix("Finished in ").and_then(|rest| rest.split(' ').next());
    if took.is_none() && !is_first {
        return None;
    }
    let (examples, rest) = split_number(line)?;
    if !rest.starts_with(" example") {
        return None;
    }
    let either = |one, many| find_count(line, one).or_else(|| find_count(line, many));
    let failed = either("failure", "failures")?;
    let skipped = find_count(line, "pending").unwrap_or(0);
    let outside = if line.ends_with(" occurred outside of examples") {
        either("error", "errors")?
    } else {
        0
    };
    let passed = examples.checked_sub(failed)?.checked_sub(skipped)?;
    Some(RspecSummary {
        counts: TestCounts { passed, failed, skipped },
        outside,
        millis: took.and_then(scan::parse_seconds),
        is_headless: took.is_none(),
    })
    .filter(|summary| took.is_some() || failed > 0 || summary.outside > 0)
}
