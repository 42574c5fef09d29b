//! The reason for the failure of a Go test: a line that it logged, or the panic that ended its package.

use std::collections::{HashMap, HashSet};

use super::super::go_errors;
use super::{GoTestResult, GoTestStatus};
use crate::report::ReportedFailure;
use crate::scan::{self, CodePlace, has_extension};

/// Maximum number of log lines that are kept of one test.
const MAX_LOG_LINES: usize = 200;

/// The log lines of the tests of a package, and the failures of finished packages.
#[derive(Default)]
pub(super) struct GoTestLog<'a> {
    test: Option<&'a str>,
    lines: HashMap<&'a str, Vec<GoLogLine<'a>>>,
    /// Lines before the first test name. With `-v` they belong to the first test that ends; its start is cut off.
    headless: Vec<GoLogLine<'a>>,
    first_to_end: Option<&'a str>,
    panic: Option<&'a str>,
    /// The lines of the panic's stack.
    stack: Vec<&'a str>,
    /// `exit status 3`, printed at the end of a package's process.
    exit: Option<&'a str>,
    failures: Vec<ReportedFailure>,
    seen: HashSet<(Option<&'a str>, &'a str)>,
    /// The folder of the standard library, from its frames in a stack.
    root: Option<&'a str>,
    /// True if a package ended with a panic.
    pub(super) panicked_ever: bool,
}

/// A line `    ledger_test.go:12: Add(1, 2) = 4, want 3`.
struct GoLogLine<'a> {
    place: CodePlace<'a>,
    message: &'a str,
    /// The lines below it with deeper indentation, if it has no message.
    below: Vec<&'a str>,
}

impl<'a> GoTestLog<'a> {
    /// Records the end of a test, which may be printed before or after its log lines.
    pub(super) fn end_test(&mut self, test: &'a str) {
        if self.test.is_none() {
            self.first_to_end = Some(test);
        }
        self.test = Some(test);
    }

    /// Sets the test that logs the next lines.
    pub(super) fn set_test(&mut self, test: &'a str) {
        self.test = Some(test);
    }

    pub(super) fn read_line(&mut self, line: &'a str) {
        if self.panic.is_some() {
            self.stack.push(line);
            if self.root.is_none() {
                self.root = go_errors::standard_library_root(line);
            }
        } else if let Some(message) =
            line.strip_prefix("panic: ").or_else(|| line.strip_prefix("fatal error: "))
        {
            let end = message.find(" [recovered").unwrap_or(message.len());
            self.panic = Some(&message[..end]);
        } else if line.starts_with("exit status ") {
            self.exit = Some(line);
        } else if line.starts_with("    ") {
            let lines = match self.test {
                Some(test) => self.lines.entry(test).or_default(),
                None => &mut self.headless,
            };
            add_line(lines, line.trim_start());
        }
    }

    /// Returns true if the process of the package ended early, by an exit or a panic.
    pub(super) fn has_crashed(&self) -> bool {
        self.exit.is_some() || self.has_panicked()
    }

    /// Returns true if a panic with its stack was seen in this package.
    pub(super) fn has_panicked(&self) -> bool {
        self.panic.is_some() && self.stack.iter().any(|line| line.starts_with("goroutine "))
    }

    /// Adds the failures of a finished package, and clears the log of its tests.
    pub(super) fn end_package(&mut self, results: &[GoTestResult<'a>], package: Option<&'a str>) {
        let first = self.failures.len();
        let failing = results
            .iter()
            .filter(|one| one.went == GoTestStatus::Failed && !one.is_parent && !one.is_doubtful);
        for GoTestResult { test, .. } in failing {
            if self.seen.insert((package, test)) && self.failures.len() < scan::MAX_FAILURES {
                let headless = || Some(&self.headless).filter(|_| self.first_to_end == Some(test));
                let lines = self.lines.get(test).or_else(headless);
                let failure = lines.and_then(|lines| choose_reason(lines));
                let test = Some((*test).to_owned());
                self.failures.push(ReportedFailure { test, ..failure.unwrap_or_default() });
            }
        }
        if self.has_panicked() {
            self.panicked_ever = true;
            self.add_panic(first);
        } else if first == self.failures.len()
            && let Some(exit) = self.exit
        {
            self.failures.push(ReportedFailure {
                error: Some(exit.to_owned()),
                ..ReportedFailure::default()
            });
        }
        for failure in &mut self.failures[first..] {
            failure.scope = package.map(str::to_owned);
        }
        self.lines.clear();
        self.headless.clear();
        self.first_to_end = None;
        self.stack.clear();
        (self.test, self.panic, self.exit) = (None, None, None);
    }

    /// Adds the panic to the failure of the test that it ended, or as a separate failure.
    fn add_panic(&mut self, first: usize) {
        let test = self.test_in_stack();
        let own = |frame| go_errors::parse_project_place(frame, self.root);
        let place = self.stack.iter().filter_map(|line| line.strip_prefix('\t')).find_map(own);
        let panic = ReportedFailure {
            error: Some("panic".to_owned()),
            message: self.panic.map(str::to_owned),
            ..ReportedFailure::default()
        }
        .with_place(place);
        let failures = &mut self.failures[first..];
        let is_its = |failure: &ReportedFailure| {
            let name = failure.test.as_deref().unwrap_or_default();
            test.is_some_and(|test| name.split('/').next() == Some(test))
        };
        let at = failures.iter().rposition(is_its).or_else(|| {
            // It belongs to the last failed test if that has no message, unless the stack names another test.
            failures.len().checked_sub(1).filter(|at| failures[*at].message.is_none())
        });
        match at {
            Some(at) => failures[at] = ReportedFailure { test: failures[at].test.take(), ..panic },
            None => self.failures.push(ReportedFailure { test: test.map(str::to_owned), ..panic }),
        }
    }

    /// Finds the test of `example.com/ledger.TestRemote.func1(…)` in the stack.
    fn test_in_stack(&self) -> Option<&'a str> {
        self.stack.iter().find_map(|line| {
            let call = line.strip_prefix("created by ").unwrap_or(line);
            let call = call.rsplit('/').next()?;
            let name = call.split(['.', '(', ' ']).nth(1)?;
            let rest = name.strip_prefix("Test")?;
            (!line.starts_with('\t') && rest.starts_with(|c: char| !c.is_lowercase()))
                .then_some(name)
        })
    }

    pub(super) fn into_failures(self) -> Vec<ReportedFailure> {
        self.failures
    }
}

/// Adds a line of a test's output, as a new log line or below the last one.
fn add_line<'a>(lines: &mut Vec<GoLogLine<'a>>, text: &'a str) {
    if let Some(place) = scan::parse_place(text).filter(|place| has_extension(place.path, "go"))
        && !place.path.contains(' ')
        && let Some((_, message)) =
            text.get(place.path.len()..).and_then(|rest| rest.split_once(": "))
    {
        if lines.len() == MAX_LOG_LINES {
            lines.remove(0);
        }
        lines.push(GoLogLine { place, message: message.trim(), below: Vec::new() });
    } else if let Some(last) = lines.last_mut()
        && last.message.is_empty()
        && last.below.len() < MAX_LOG_LINES
        && !text.is_empty()
    {
        last.below.push(text);
    }
}

/// The likelihood that a log line is the failed assertion, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum AssertionLikelihood {
    /// Progress, from a helper or from the test.
    Chatter,
    /// A line of a test file without a word about a failure.
    Plain,
    /// A line of another file with a word about an error.
    HelperError,
    /// A line of a test file with a word about an error.
    Error,
    /// A line of a test file with a word about an expectation.
    Assertion,
}

/// Chooses the line with the reason for the failure. If none is clearly the assertion, the failure has no message, and
/// only the file if all lines are from one test file.
fn choose_reason(lines: &[GoLogLine<'_>]) -> Option<ReportedFailure> {
    let ranked = || lines.iter().map(|line| (assertion_likelihood(line), line));
    let (best, line) = ranked().max_by_key(|(likeness, _)| *likeness)?;
    let is_single = ranked().filter(|(likeness, _)| *likeness == best).count() == 1;
    match best {
        AssertionLikelihood::Chatter if lines.len() == 1 && is_test_file(line) => {}
        AssertionLikelihood::Plain if is_single => {}
        AssertionLikelihood::Chatter | AssertionLikelihood::Plain => {
            let path = line.place.path;
            let is_same = lines.iter().all(|line| line.place.path == path) && is_test_file(line);
            let place = is_same.then_some(CodePlace { path, line: None });
            return Some(ReportedFailure::default().with_place(place));
        }
        AssertionLikelihood::HelperError
        | AssertionLikelihood::Error
        | AssertionLikelihood::Assertion => {}
    }
    let message = line.message_text().filter(|message| !message.is_empty());
    Some(ReportedFailure { message, ..ReportedFailure::default() }.with_place(Some(line.place)))
}

fn is_test_file(line: &GoLogLine<'_>) -> bool {
    line.place.path.ends_with("_test.go")
}

fn assertion_likelihood(line: &GoLogLine<'_>) -> AssertionLikelihood {
    /// Words of tests about progress and success.
    const PROGRESS_WORDS: &[&str] =
        &["as expected", "got expected", "successfully", "correctly", "✓", "phase ", "passed"];
    const ASSERTION_WORDS: &[&str] = &[
        "want",
        "expect",
        "got ",
        "got:",
        "got=",
        "should",
        "must ",
        "mismatch",
        "!=",
        "not equal",
        "assert",
        "differ",
    ];
    const ERROR_WORDS: &[&str] = &[
        "error",
        "fail",
        "nil",
        "not ",
        "n't ",
        "cannot",
        "no such",
        "invalid",
        "missing",
        "denied",
        "refused",
        "timeout",
        "timed out",
        "panic",
        "wrong",
        "unable",
        "race detected",
        "deadline",
        "exceeded",
        "err:",
        "err=",
        "unsupported",
        "undefined",
        "unknown",
        "empty",
        "too ",
    ];
    let has = |words: &[&str]| words.iter().any(|word| contains_ignoring_case(line.message, word));
    if !line.below.is_empty() && is_test_file(line) {
        // A table of testify, or the output of a matcher.
        return AssertionLikelihood::Assertion;
    }
    match is_test_file(line) {
        _ if has(PROGRESS_WORDS) => AssertionLikelihood::Chatter,
        true if has(ASSERTION_WORDS) => AssertionLikelihood::Assertion,
        true if has(ERROR_WORDS) => AssertionLikelihood::Error,
        true => AssertionLikelihood::Plain,
        // Helpers often log the output of a program, which contains all of these words.
        false if (has(ASSERTION_WORDS) || has(ERROR_WORDS)) && line.message.len() < 200 => {
            AssertionLikelihood::HelperError
        }
        false => AssertionLikelihood::Chatter,
    }
}

fn contains_ignoring_case(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

impl GoLogLine<'_> {
    /// Returns the message in one line.
    fn message_text(&self) -> Option<String> {
        if self.below.is_empty() {
            return Some(self.message.to_owned());
        }
        // testify: `Error Trace:`, `Error:`, continuation lines without a label, `Test:`, `Messages:`.
        let label = |text: &&&str| text.starts_with("Error:");
        if let Some(at) = self.below.iter().position(|text| label(&text)) {
            let first = self.below[at]["Error:".len()..].trim();
            if !first.ends_with(':') {
                return Some(first.to_owned());
            }
            let more = self.below[at + 1..].iter().map(|text| text.trim());
            let more: Vec<&str> = more
                .take_while(|text| {
                    !["Test:", "Messages:", "Diff:"].iter().any(|end| text.starts_with(end))
                })
                .take(2)
                .collect();
            return Some(format!("{first} {}", more.join(", ")).trim_end().to_owned());
        }
        if self.below.iter().any(|text| text.starts_with("Error Trace:")) {
            return None;
        }
        // gomega: `Expected`, a value, `to equal`, a value.
        let lines: Vec<&str> = self.below.iter().map(|text| text.trim()).take(4).collect();
        Some(if lines[0] == "Expected" { lines.join(" ") } else { lines[0].to_owned() })
    }
}
