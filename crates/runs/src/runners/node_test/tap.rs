//! The TAP form: points with a YAML block below, indented by four blanks per level.

use super::super::stack::{self, JsStack};
use crate::report::{PassedTests, ReportedFailure};
use crate::scan;

#[derive(Default)]
pub(super) struct TapParser {
    /// The names of the tests around the line, outermost first.
    path: Vec<String>,
    open: Option<TapPoint>,
    failures: Vec<ReportedFailure>,
    /// The error of a test file that broke off, which is printed as comments before its point.
    aside: JsStack,
}

/// A failed point.
struct TapPoint {
    name: String,
    /// The file of `location`.
    file: Option<String>,
    indent: usize,
    /// True if the YAML block has begun.
    begun: bool,
    key: Option<TapYamlKey>,
    stack: JsStack,
    has_name: bool,
    kind: PointKind,
}

/// The kind of a failed point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PointKind {
    Test,
    /// A whole file.
    File,
    /// A test that failed only with its subtests, which have their own points.
    Parent,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TapYamlKey {
    Error,
    Stack,
    Other,
}

impl TapParser {
    pub(super) fn take(&mut self, line: &str, passed: &mut PassedTests) {
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        if let Some(point) = &mut self.open {
            match point.take(text, indent) {
                Some(false) => return,
                Some(true) => {
                    let point = self.open.take();
                    self.failures.extend(point.and_then(|point| point.failure(&mut self.aside)));
                    return;
                }
                None => self.open = None,
            }
        }
        if let Some(name) = text.strip_prefix("# Subtest: ") {
            self.path.truncate(indent / 4);
            self.path.push(unescape_name(name));
        } else if let Some(rest) = text.strip_prefix("not ok ") {
            self.start_point(rest, indent);
        } else if let Some(rest) = text.strip_prefix("ok ") {
            self.aside = JsStack::default();
            if let Some((_, name)) = rest.split_once(" - ").filter(|_| !is_directive(rest)) {
                passed.add(None, || self.path_of(name, indent));
            }
        } else if let Some(comment) = text.strip_prefix("# ") {
            // `Name: …` begins an error; only then frames matter.
            if scan::split_error(comment).is_some_and(|(_, message)| !message.is_empty())
                || !self.aside.is_empty()
            {
                self.aside.take(comment);
            }
        }
    }

    /// Returns the path of a point in the tests around it.
    fn path_of(&self, name: &str, indent: usize) -> String {
        let name = unescape_name(name);
        let around = self.path.iter().take(indent / 4).map(String::as_str);
        around.chain([name.as_str()]).collect::<Vec<_>>().join(" > ")
    }

    fn start_point(&mut self, rest: &str, indent: usize) {
        let Some((_, name)) = rest.split_once(" - ") else { return };
        if is_directive(name) || self.failures.len() >= scan::MAX_FAILURES {
            return;
        }
        self.open = Some(TapPoint {
            name: self.path_of(name, indent),
            file: None,
            indent,
            begun: false,
            key: None,
            stack: JsStack::default(),
            has_name: false,
            kind: PointKind::Test,
        });
    }

    pub(super) fn take_failures(&mut self) -> Vec<ReportedFailure> {
        // A point that is truncated within its block is still a failure.
        if let Some(point) = self.open.take().filter(|point| point.begun) {
            self.failures.extend(point.failure(&mut self.aside));
        }
        std::mem::take(&mut self.failures)
    }
}

impl TapPoint {
    /// Reads a line of the block. Returns true at its end; None if the line does not belong to a block.
    fn take(&mut self, text: &str, indent: usize) -> Option<bool> {
        if !self.begun {
            self.begun = text == "---" && indent == self.indent + 2;
            return self.begun.then_some(false);
        }
        if indent != self.indent + 2 || text.is_empty() {
            match self.key {
                Some(TapYamlKey::Error) if self.stack.is_empty() => self.stack.take(text),
                Some(TapYamlKey::Stack) => self.stack.add_place(stack::parse_stack_place(text)),
                _ => {}
            }
            return Some(false);
        }
        if text == "..." {
            return Some(true);
        }
        let Some((key, value)) = text.split_once(':') else { return Some(false) };
        let value = value.trim();
        self.key = Some(match key {
            "error" => TapYamlKey::Error,
            "stack" => TapYamlKey::Stack,
            _ => TapYamlKey::Other,
        });
        let quoted = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
        match (key, quoted) {
            ("error", Some(error)) => self.stack.set_error_line(&error.replace("''", "'")),
            ("name", Some(name)) => {
                self.has_name = true;
                self.stack.set_name(name);
            }
            ("location", Some(place)) => self.file = scan::file_of_place(place).map(str::to_owned),
            ("failureType", Some("subtestsFailed")) => self.kind = PointKind::Parent,
            ("exitCode", _) => self.kind = PointKind::File,
            _ => {}
        }
        Some(false)
    }

    fn failure(self, aside: &mut JsStack) -> Option<ReportedFailure> {
        if self.kind == PointKind::Parent {
            return None;
        }
        let aside = std::mem::take(aside);
        let stack =
            if self.kind == PointKind::File && !aside.is_empty() { aside } else { self.stack };
        let mut failure = stack.failure(Some(self.name));
        failure.scope = self.file.filter(|_| self.kind == PointKind::Test);
        // The name is omitted for a plain `Error`.
        if !self.has_name && failure.frame.is_some() && failure.error.is_none() {
            failure.error = Some("Error".to_owned());
        }
        Some(failure)
    }
}

/// Returns true if a point is marked as skipped or todo.
fn is_directive(text: &str) -> bool {
    text.contains(" # TODO") || text.contains(" # SKIP")
}

/// Removes the backslashes that keep `#` from starting a directive.
fn unescape_name(name: &str) -> String {
    name.replace("\\#", "#").replace("\\\\", "\\")
}
