//! RSpec. A failing example is named by its description, as `rspec -e` accepts it: its line changes with every edit.

use std::collections::HashMap;

use super::tree::{self, SuiteTree};
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, file_of_place, find_count, split_number};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader {
    name: "rspec",
    kind: RunKind::Test,
    keywords: &[" example", "Failure/Error:"],
    silent_on_success: false,
    read: read_output,
};

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
    let mut summaries = 0_usize;
    let mut last = None;
    let mut above = "";
    // The names of the last list only: an example may have printed one before.
    let mut names: Vec<&str> = Vec::new();
    let mut files: HashMap<&str, &str> = HashMap::new();
    let mut details: HashMap<&str, ReportedFailure> = HashMap::new();
    let mut outside: Vec<ReportedFailure> = Vec::new();
    let mut block = RspecBlock::None;
    // Dots of the progress format. `goes_on` is true if output follows the summary that only comes before one.
    let mut dots = 0_usize;
    let mut written = 0_usize;
    let mut goes_on = false;
    // True if there is output above the summary; an example may have printed a summary as the first line.
    let mut ran = false;
    let mut documented = DocumentationTree::default();
    for line in text.lines() {
        documented.read_line(line);
        if let Some(summary) = parse_summary(line, above, written == 0) {
            summaries += 1;
            ran |= written > 1;
            last = Some(summary);
            names.clear();
            goes_on = false;
            block = RspecBlock::None;
        } else if !line.is_empty() && line.bytes().all(|dot| matches!(dot, b'.' | b'F' | b'*')) {
            dots += line.len();
            goes_on = last.is_some();
        } else if line == "Failures:" {
            goes_on = last.is_some();
        } else if let Some(name) =
            line.strip_prefix("rspec ").and_then(|rest| rest.split_once(" # "))
        {
            names.push(name.1);
            files.extend(file_of_place(name.0).map(|file| (name.1, file)));
        } else if line.starts_with("An error occurred while loading ") {
            outside.push(ReportedFailure::default());
            block = RspecBlock::Outside;
        } else if let Some(name) = parse_numbered(line) {
            block = RspecBlock::Example(name);
        } else {
            let failure = match block {
                RspecBlock::None => None,
                RspecBlock::Outside => outside.last_mut(),
                RspecBlock::Example(name) => Some(details.entry(name).or_default()),
            };
            if let Some(failure) = failure {
                read_detail(failure, line, above);
            }
        }
        above = line;
        written += usize::from(!line.is_empty());
    }
    // Pending examples are listed in the same form; only failures have a message.
    details.retain(|_, failure| failure.message.is_some());
    let counts = last
        .map(|summary| summary.counts)
        .filter(|counts| usize::try_from(counts.failed).is_ok_and(|failed| failed == names.len()));
    let verdict = match last {
        Some(summary) if summary.outside > 0 => Verdict::Failed,
        Some(summary) if summary.counts.failed > 0 && (counts.is_some() || summary.is_headless) => {
            Verdict::Failed
        }
        Some(summary) if summaries == 1 && ran && !goes_on && summary.is_success(dots) => {
            Verdict::Passed
        }
        None if !details.is_empty() => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    let mut failures = outside;
    if names.is_empty() && last.is_none() {
        names = text
            .lines()
            .filter_map(parse_numbered)
            .filter(|name| details.contains_key(name))
            .collect();
    }
    for name in names {
        let detail = details.remove(name).unwrap_or_default();
        let scope = files.get(name).map(|file| (*file).to_owned());
        failures.push(ReportedFailure { test: Some(name.to_owned()), scope, ..detail });
    }
    if verdict != Verdict::Failed {
        failures.clear();
    }
    let outside = last.is_some_and(|summary| summary.outside > 0);
    let clear = !outside && (summaries == 1 || verdict == Verdict::Failed);
    let duration = last.and_then(|summary| summary.millis).filter(|_| clear);
    let passed = documented.passed.without_failed(&failures);
    OutputReport { verdict, counts: counts.filter(|_| clear), failures, passed, duration }
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
#[derive(Clone, Copy)]
enum RspecBlock<'a> {
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
