//! The spec form: a tree of marks, and below the numbers each failure in detail, there without its path.

use super::super::stack::JsStack;
use crate::report::{PassedTests, ReportedFailure};
use crate::scan;

/// A failure in the tree.
struct SpecFailure {
    path: String,
    name: String,
    /// True if the line has a time, which only the runner prints, and does not end a suite.
    sure: bool,
    stack: JsStack,
}

#[derive(Default)]
pub(super) struct SpecParser {
    /// The suites around the line, outermost first.
    suites: Vec<String>,
    leaves: Vec<SpecFailure>,
    /// True within the list at the end.
    listing: bool,
    told: Vec<(String, Option<String>, JsStack)>,
    /// The file of `test at test/a.test.js:3:1`, which precedes a failure in the list.
    file: Option<String>,
    aside: JsStack,
}

impl SpecParser {
    pub(super) fn read_line(&mut self, line: &str, passed: &mut PassedTests) {
        if self.listing {
            self.read_detail(line, passed);
            return;
        }
        if line == "Failed tests:" {
            // The dot reporter has no tree.
            self.listing = true;
            return;
        }
        let text = line.trim_start_matches(' ');
        let depth = (line.len() - text.len()) / 2;
        if let Some(name) = text.strip_prefix("▶ ") {
            self.suites.truncate(depth);
            self.suites.push(strip_time(name).0.to_owned());
        } else if let Some(rest) = text.strip_prefix("✖ ") {
            self.add_leaf(rest, depth);
        } else if let Some(rest) = text.strip_prefix("✔ ") {
            self.suites.truncate(depth);
            let (name, timed) = strip_time(rest);
            if timed {
                passed.add(None, || self.path(name));
            }
            self.aside = JsStack::default();
        } else {
            let text = text.strip_prefix("ℹ ").unwrap_or(line);
            if scan::split_error(text).is_some_and(|(_, message)| !message.is_empty()) {
                self.aside = JsStack::default();
                self.aside.take(text);
            } else if text.trim_start().starts_with("at ") && !self.aside.is_empty() {
                self.aside.take(text);
            }
        }
    }

    /// Returns the path of a test in the suites around it.
    fn path(&self, name: &str) -> String {
        let path: Vec<_> = self.suites.iter().map(String::as_str).chain([name]).collect();
        path.join(" > ")
    }

    fn add_leaf(&mut self, rest: &str, depth: usize) {
        // gotestsum prints two blanks after the same mark.
        if rest.ends_with("# TODO") || rest.starts_with(' ') {
            return;
        }
        let (name, timed) = strip_time(rest);
        let ends_suite = self.suites.len() == depth + 1 && self.suites[depth] == name;
        self.suites.truncate(depth);
        if self.leaves.len() >= scan::MAX_FAILURES {
            return;
        }
        self.leaves.push(SpecFailure {
            path: self.path(name),
            name: name.to_owned(),
            sure: timed && !ends_suite,
            stack: std::mem::take(&mut self.aside),
        });
    }

    fn read_detail(&mut self, line: &str, passed: &mut PassedTests) {
        if line == "✖ failing tests:" {
            return;
        }
        if let Some(rest) = line.strip_prefix("✖ ").filter(|_| self.told.len() < scan::MAX_FAILURES)
        {
            self.told.push((strip_time(rest).0.to_owned(), self.file.take(), JsStack::default()));
        } else if let Some(place) = line.strip_prefix("test at ") {
            self.file = scan::file_of_place(place).map(str::to_owned);
        } else if let Some((_, _, stack)) = self.told.last_mut()
            && let Some(text) = line.strip_prefix("  ")
        {
            let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
            stack.take(quoted.unwrap_or(text));
        } else if !line.is_empty() && !self.told.is_empty() {
            // Other output begins, perhaps another run.
            self.listing = false;
            self.read_line(line, passed);
        }
    }

    /// Handles the numbers or the end of the text. The list of failures follows numbers with failures.
    pub(super) fn close_run(&mut self, list_follows: bool, failures: &mut Vec<ReportedFailure>) {
        if list_follows {
            self.listing = true;
            return;
        }
        for (name, file, stack) in std::mem::take(&mut self.told) {
            let sums = stack.clone().failure(None).message;
            if sums.is_some_and(|sums| {
                sums.ends_with("subtest failed") || sums.ends_with("subtests failed")
            }) {
                continue;
            }
            let leaf = self.leaves.iter().position(|leaf| leaf.name == name);
            let Some(leaf) = leaf.map(|leaf| self.leaves.remove(leaf)) else {
                failures.push(ReportedFailure { scope: file, ..stack.failure(Some(name)) });
                continue;
            };
            let failed_whole =
                stack.clone().failure(None).message.as_deref() == Some("test failed");
            let stack = if failed_whole && !leaf.stack.is_empty() { leaf.stack } else { stack };
            failures.push(ReportedFailure { scope: file, ..stack.failure(Some(leaf.path)) });
        }
        let left = std::mem::take(&mut self.leaves).into_iter().filter(|leaf| leaf.sure);
        failures.extend(left.map(|leaf| leaf.stack.failure(Some(leaf.path))));
    }
}

/// Removes the time at the end of a name; also returns true if it had one.
fn strip_time(text: &str) -> (&str, bool) {
    match text.rsplit_once(" (") {
        Some((name, time))
            if time
                .strip_suffix("ms)")
                .is_some_and(|time| scan::parse_decimal(time, 1).is_some()) =>
        {
            (name, true)
        }
        _ => (text, false),
    }
}
