//! The TAP form: points with a YAML block below, indented by four blanks per level.

use super::super::stack::{self, Stack};
use crate::report::{Failure, PassedTests};
use crate::scan;

#[derive(Default)]
pub(super) struct Reading {
    /// The names of the tests around the line, outermost first.
    path: Vec<String>,
    open: Option<Point>,
    failures: Vec<Failure>,
    /// The error of a test file that broke off, which is printed as comments before its point.
    aside: Stack,
}

/// A failed point.
struct Point {
    name: String,
    /// The file of `location`.
    file: Option<String>,
    indent: usize,
    /// True if the YAML block has begun.
    begun: bool,
    key: Option<Key>,
    stack: Stack,
    has_name: bool,
    kind: Kind,
}

/// The kind of a failed point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Test,
    /// A whole file.
    File,
    /// A test that failed only with its subtests, which have their own points.
    Parent,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Error,
    Stack,
    Other,
}

impl Reading {
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
            self.path.push(unescaped(name));
        } else if let Some(rest) = text.strip_prefix("not ok ") {
            self.start(rest, indent);
        } else if let Some(rest) = text.strip_prefix("ok ") {
            self.aside = Stack::default();
            if let Some((_, name)) = rest.split_once(" - ").filter(|_| !is_directive(rest)) {
                passed.add(None, || self.path_of(name, indent));
            }
        } else if let Some(comment) = text.strip_prefix("# ") {
            // `Name: …` begins an error; only then frames matter.
            if scan::error(comment).is_some_and(|(_, message)| !message.is_empty())
                || !self.aside.is_empty()
            {
                self.aside.take(comment);
            }
        }
    }

    /// Returns the path of a point in the tests around it.
    fn path_of(&self, name: &str, indent: usize) -> String {
        let name = unescaped(name);
        let around = self.path.iter().take(indent / 4).map(String::as_str);
        around.chain([name.as_str()]).collect::<Vec<_>>().join(" > ")
    }

    fn start(&mut self, rest: &str, indent: usize) {
        let Some((_, name)) = rest.split_once(" - ") else { return };
        if is_directive(name) || self.failures.len() >= scan::MOST {
            return;
        }
        self.open = Some(Point {
            name: self.path_of(name, indent),
            file: None,
            indent,
            begun: false,
            key: None,
            stack: Stack::default(),
            has_name: false,
            kind: Kind::Test,
        });
    }

    pub(super) fn take_failures(&mut self) -> Vec<Failure> {
        // A point that is truncated within its block is still a failure.
        if let Some(point) = self.open.take().filter(|point| point.begun) {
            self.failures.extend(point.failure(&mut self.aside));
        }
        std::mem::take(&mut self.failures)
    }
}

impl Point {
    /// Reads a line of the block. Returns true at its end; None if the line does not belong to a block.
    fn take(&mut self, text: &str, indent: usize) -> Option<bool> {
        if !self.begun {
            self.begun = text == "---" && indent == self.indent + 2;
            return self.begun.then_some(false);
        }
        if indent != self.indent + 2 || text.is_empty() {
            match self.key {
                Some(Key::Error) if self.stack.is_empty() => self.stack.take(text),
                Some(Key::Stack) => self.stack.place(stack::place(text)),
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
            "error" => Key::Error,
            "stack" => Key::Stack,
            _ => Key::Other,
        });
        let quoted = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
        match (key, quoted) {
            ("error", Some(error)) => self.stack.say(&error.replace("''", "'")),
            ("name", Some(name)) => {
                self.has_name = true;
                self.stack.name(name);
            }
            ("location", Some(place)) => self.file = scan::file(place).map(str::to_owned),
            ("failureType", Some("subtestsFailed")) => self.kind = Kind::Parent,
            ("exitCode", _) => self.kind = Kind::File,
            _ => {}
        }
        Some(false)
    }

    fn failure(self, aside: &mut Stack) -> Option<Failure> {
        if self.kind == Kind::Parent {
            return None;
        }
        let aside = std::mem::take(aside);
        let stack = if self.kind == Kind::File && !aside.is_empty() { aside } else { self.stack };
        let mut failure = stack.failure(Some(self.name));
        failure.scope = self.file.filter(|_| self.kind == Kind::Test);
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
fn unescaped(name: &str) -> String {
    name.replace("\\#", "#").replace("\\\\", "\\")
}
