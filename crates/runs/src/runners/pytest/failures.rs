//! The failures of a session: each in detail, and again in the short summary with its full name.

use std::collections::{HashMap, HashSet};

use super::super::traceback::{self, Traceback};
use crate::report::ReportedFailure;
use crate::scan::{self, CodePlace};

/// A failure in detail.
#[derive(Debug, Default)]
struct DetailedFailure<'a> {
    /// The heading: `TestX.test_b[param]`, `ERROR at setup of test_b`; None if the whole run failed.
    name: Option<&'a str>,
    /// The first file of the project in it, which is that of the test, except with fixtures.
    first: Option<&'a str>,
    frame: Option<CodePlace<'a>>,
    error: Option<&'a str>,
    message: Option<&'a str>,
    /// True within lines marked with `E`; their last group has the exception that was not caught.
    marked: bool,
    settled: bool,
    captured: bool,
    native: Traceback,
}

/// A line of the short summary after its first word, not split yet: `tests/test_a.py::test_b - AssertionError: …`.
struct ShortSummaryLine<'a>(&'a str);

#[derive(Default)]
pub(super) struct PytestFailures<'a> {
    told: Vec<DetailedFailure<'a>>,
    open: Option<DetailedFailure<'a>>,
    short: Vec<ShortSummaryLine<'a>>,
    progress: Vec<&'a str>,
    root: Option<&'a str>,
}

/// Returns true if a line is from the short summary.
pub(super) fn is_short_summary(line: &str) -> bool {
    parse_listed(line).is_some_and(|id| id.contains("::") || id.contains(".py"))
}

/// Parses the id of a progress line with this word: `a.py::test_b FAILED [ 50%]`, or from a worker
/// `[gw0] [ 50%] FAILED a.py::test_b`.
pub(super) fn parse_progress<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    if !line.contains("::") {
        return None;
    }
    if let Some((_, worker)) = line.strip_prefix("[gw").and_then(|line| line.split_once("%] ")) {
        return worker.strip_prefix(word)?.strip_prefix(' ');
    }
    let line = line.strip_suffix("%]")?.rsplit_once('[')?.0.trim_end();
    line.strip_suffix(word)?.strip_suffix(' ')
}

fn parse_listed(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
    // pytest 9 prints the subtest before the name of the test.
    rest.or_else(|| line.strip_prefix("SUBFAILED")?.split_once(") ").map(|(_, rest)| rest))
}

impl<'a> PytestFailures<'a> {
    /// Reads a line among the failures in detail.
    pub(super) fn take(&mut self, line: &'a str, width: Option<usize>) {
        if line.starts_with('_')
            && let Some(name) = scan::parse_rule_title(line, '_')
            && width.is_none_or(|width| width <= line.chars().count())
        {
            self.finish();
            self.open = Some(DetailedFailure { name: Some(name), ..DetailedFailure::default() });
        } else if let Some(told) = &mut self.open {
            told.take(line);
        }
    }

    /// Begins a failure of the whole run, which is printed like that of a test.
    pub(super) fn start_run(&mut self) {
        self.finish();
        self.open = Some(DetailedFailure::default());
    }

    /// Reads a line of a traceback of pytest itself.
    pub(super) fn read_internal(&mut self, line: &'a str) {
        self.open.get_or_insert_default().native.take(line);
    }

    /// Reads a line of the short summary.
    pub(super) fn read_short(&mut self, line: &'a str) {
        if let Some(rest) = parse_listed(line).filter(|_| self.short.len() < scan::MAX_FAILURES) {
            self.short.push(ShortSummaryLine(rest));
        }
    }

    /// Reads a line of the progress: `a.py::test_b FAILED [ 50%]`, or from a worker `[gw0] [ 50%] FAILED a.py::test_b`.
    pub(super) fn take_progress(&mut self, line: &'a str) {
        if let Some(root) = line.strip_prefix("rootdir: ") {
            self.root.get_or_insert(root);
        }
        let id = parse_progress(line, "FAILED").or_else(|| parse_progress(line, "ERROR"));
        if self.progress.len() < scan::MAX_FAILURES {
            self.progress.extend(id);
        }
    }

    pub(super) fn finish(&mut self) {
        let told = self.open.take();
        if self.told.len() < scan::MAX_FAILURES {
            self.told.extend(told);
        }
    }

    pub(super) fn into_list(mut self) -> Vec<ReportedFailure> {
        self.finish();
        let mut unnamed: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, told) in self.told.iter().enumerate().rev() {
            if let Some(name) = told.name {
                unnamed.entry(common_name(name)).or_default().push(index);
            }
        }
        let mut names: Vec<Option<String>> = vec![None; self.told.len()];
        let mut rest = Vec::new();
        for ShortSummaryLine(line) in &self.short {
            if let Some((id, index)) = claim_failure(line, &mut unnamed) {
                names[index] = Some(id.to_owned());
            } else {
                rest.push(listed_failure(line));
            }
        }
        for id in &self.progress {
            let already = self.short.iter().any(|ShortSummaryLine(line)| line.starts_with(id));
            if already {
                continue;
            }
            match claim_failure(id, &mut unnamed) {
                Some((id, index)) => names[index] = Some(id.to_owned()),
                None => rest.push(ReportedFailure {
                    test: Some((*id).to_owned()),
                    ..ReportedFailure::default()
                }),
            }
        }
        let root = self.root;
        let told = self.told.into_iter().zip(names).map(|(told, name)| told.failure(name, root));
        let mut seen = HashSet::new();
        told.chain(rest)
            .filter(|failure| failure.test.as_ref().is_none_or(|test| seen.insert(test.clone())))
            .collect()
    }
}

/// Converts a heading or a node id to a common form: without file and phase, and with dots.
fn common_name(name: &str) -> String {
    let name = ["ERROR collecting ", "ERROR at setup of ", "ERROR at teardown of "]
        .iter()
        .find_map(|phase| name.strip_prefix(phase))
        .unwrap_or(name);
    // A subtest is named after a blank, a parameter without one.
    let end = name.find([' ', '[']).filter(|&end| name[end..].starts_with(' '));
    name[..end.unwrap_or(name.len())].replace("::", ".")
}

/// Returns the id at the start of a listed line, and the index of the first detailed failure with that name.
fn claim_failure<'a>(
    line: &'a str,
    unnamed: &mut HashMap<String, Vec<usize>>,
) -> Option<(&'a str, usize)> {
    // A parameter may contain the separator, but hardly this often.
    let ends = line.match_indices(" - ").map(|(end, _)| end).take(8).chain([line.len()]);
    for end in ends {
        let id = &line[..end];
        let (file, test) = id.split_once("::").unwrap_or((id, id));
        for name in [test, file] {
            if let Some(index) = unnamed.get_mut(&common_name(name)).and_then(Vec::pop) {
                return Some((id, index));
            }
        }
    }
    None
}

/// Builds a listed failure without details (`--tb=no`). Its text is cut to the width of the terminal, so a message that
/// ends in dots is left out.
fn listed_failure(line: &str) -> ReportedFailure {
    let balanced = |id: &str| {
        id.bytes().filter(|&b| b == b'[').count() == id.bytes().filter(|&b| b == b']').count()
    };
    let mut ends = line.match_indices(" - ").map(|(end, _)| end).take(8);
    let split = ends.find(|&end| balanced(&line[..end]));
    let Some(end) = split else {
        return ReportedFailure { test: Some(line.to_owned()), ..ReportedFailure::default() };
    };
    let (error, message) = split_exception(&line[end + 3..]);
    let message = message.filter(|message| !message.ends_with("..."));
    ReportedFailure {
        test: Some(line[..end].to_owned()),
        error: error.map(str::to_owned),
        message: message.map(str::to_owned),
        frame: None,
        ..ReportedFailure::default()
    }
}

/// Splits a line into error and message. A bare `assert` lost its type.
fn split_exception(text: &str) -> (Option<&str>, Option<&str>) {
    match scan::split_error(text) {
        Some((error, message)) => (Some(error), Some(message)),
        None if text.starts_with("assert ") => (Some("AssertionError"), Some(text)),
        None => (None, Some(text)),
    }
}

impl<'a> DetailedFailure<'a> {
    fn take(&mut self, line: &'a str) {
        if self.captured {
            return;
        }
        let text = line.strip_prefix("E ").map(str::trim_start);
        let was = std::mem::replace(&mut self.marked, text.is_some());
        if let Some(text) = text {
            if !was {
                (self.error, self.message, self.settled) = (None, None, false);
            }
            if let Some(place) = traceback::parse_frame(text) {
                self.place(place);
            } else if !self.settled {
                let (error, message) = split_exception(text);
                self.settled = error.is_some();
                // A syntax error shows the source line before its name.
                if self.settled || self.message.is_none() {
                    (self.error, self.message) = (error, message);
                }
            }
        } else if line.starts_with("---")
            && scan::parse_rule_title(line, '-').is_some_and(|title| title.starts_with("Captured "))
        {
            self.captured = true;
        } else if let Some((place, rest)) = scan::parse_located_prefix(line)
            && !place.path.contains([' ', '\'', '"'])
            && rest.starts_with(": ")
        {
            self.place(place);
        } else {
            if let Some(place) = traceback::parse_frame(line) {
                self.place(place);
            }
            self.native.take(line);
        }
    }

    fn place(&mut self, place: CodePlace<'a>) {
        if scan::is_project_file(place.path) {
            self.first.get_or_insert(place.path);
            self.frame = Some(place);
        }
    }

    fn failure(self, id: Option<String>, root: Option<&str>) -> ReportedFailure {
        let test = id.or_else(|| {
            let name = self.name?;
            let Some(path) = self.first.filter(|_| !name.starts_with("ERROR ")) else {
                return Some(name.strip_prefix("ERROR collecting ").unwrap_or(name).to_owned());
            };
            let (test, param) = name.split_at(name.find('[').unwrap_or(name.len()));
            Some(format!("{}::{}{param}", relative_to_root(path, root), test.replace('.', "::")))
        });
        let mut failure = self.native.failure(test);
        if self.error.is_some() || self.message.is_some() {
            failure.error = self.error.map(str::to_owned);
            failure.message = self.message.map(str::to_owned);
        }
        if let Some(CodePlace { path, line }) = self.frame {
            failure.set_place(CodePlace { path: relative_to_root(path, root), line });
        }
        failure
    }
}

/// Returns a path relative to the root, as most styles of traceback print it, if it is below the root.
fn relative_to_root<'a>(path: &'a str, root: Option<&str>) -> &'a str {
    let below = root.and_then(|root| path.strip_prefix(root)?.strip_prefix(['/', '\\']));
    below.unwrap_or(path)
}
