//! A JavaScript error and its stack, as several runners print them.

use crate::report::ReportedFailure;
use crate::scan::{self, CodePlace};

/// The parts of an error read so far: name, first line of the message, and innermost place in the project.
#[derive(Debug, Default, Clone)]
pub(super) struct JsStack {
    error: Option<String>,
    message: Option<String>,
    frame: Option<String>,
    line: Option<u32>,
}

impl JsStack {
    /// Returns true if neither name nor message was read.
    pub(super) fn is_empty(&self) -> bool {
        self.error.is_none() && self.message.is_none()
    }

    /// Reads a line: `TypeError: x is not a function`, then `    at f (/home/a/b.js:3:14)`.
    pub(super) fn take(&mut self, line: &str) {
        let text = line.trim();
        if let Some(at) = text.strip_prefix("at ") {
            self.add_place(parse_stack_place(at));
        } else if !text.is_empty() && self.message.is_none() {
            self.set_error_line(text);
        }
    }

    /// Sets name and message from one line.
    pub(super) fn set_error_line(&mut self, text: &str) {
        let (error, message) = scan::split_error(text).map_or((None, text), |(e, m)| (Some(e), m));
        if let Some(error) = error {
            self.set_name(error);
        }
        self.message = Some(message.to_owned());
    }

    /// Sets the name, if it is printed separately.
    pub(super) fn set_name(&mut self, error: &str) {
        self.error = Some(error.to_owned());
    }

    /// Adds a place; the innermost comes first.
    pub(super) fn add_place(&mut self, place: Option<CodePlace<'_>>) {
        let own = place.filter(|place| self.frame.is_none() && scan::is_project_file(place.path));
        if let Some(place) = own {
            self.frame = Some(place.path.to_owned());
            self.line = place.line;
        }
    }

    /// Builds the failure.
    pub(super) fn failure(self, test: Option<String>) -> ReportedFailure {
        ReportedFailure {
            test,
            error: self.error,
            message: self.message,
            frame: self.frame,
            line: self.line,
            ..ReportedFailure::default()
        }
    }
}

/// Parses `name (path:3:14)`, `async path:3:14` and `path:3:14`.
pub(super) fn parse_stack_place(text: &str) -> Option<CodePlace<'_>> {
    let text = match text.strip_suffix(')') {
        Some(text) => text.rsplit_once('(')?.1,
        // The last line may open the braces of the error's fields.
        None => text.strip_suffix(" {").unwrap_or(text),
    };
    let text = text.strip_suffix(')').map_or(Some(text), |text| Some(text.rsplit_once('(')?.1))?;
    let text = text.strip_prefix("async ").unwrap_or(text);
    // `webpack:///./cypress/e2e/till.cy.js:8:7`, in a bundle.
    let bundled = text.strip_prefix("webpack://").and_then(|rest| rest.split_once("/./"));
    let text = bundled.map_or(text, |(_, path)| path);
    let (place, rest) = scan::parse_located_prefix(text.strip_prefix("file://").unwrap_or(text))?;
    rest.is_empty().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_in_brackets_or_without() {
        for (text, path) in [
            ("total (/home/a/shop.js:3:28)", Some("/home/a/shop.js")),
            ("Array.map (<anonymous>)", None),
            ("async file:///home/a/b.mjs:3:14", Some("/home/a/b.mjs")),
            ("run (/home/a/c.js:1:2) {", Some("/home/a/c.js")),
            ("node:internal/main:1:2", Some("node:internal/main")),
            ("Context.eval (webpack:///./cypress/a.cy.js:8:7)", Some("cypress/a.cy.js")),
            ("words", None),
        ] {
            assert_eq!(parse_stack_place(text).map(|place| place.path), path, "{text}");
        }
    }

    #[test]
    fn first_project_place_is_kept() {
        let mut stack = JsStack::default();
        for line in [
            "TypeError: x is not a function",
            "    at f (/p/node_modules/x/y.js:1:2)",
            "    at g (/p/a.js:7:2)",
            "    at h (/p/b.js:1:2)",
        ] {
            stack.take(line);
        }
        let failure = stack.failure(None);
        assert_eq!(failure.error.as_deref(), Some("TypeError"));
        assert_eq!(failure.message.as_deref(), Some("x is not a function"));
        assert_eq!(failure.frame.as_deref(), Some("/p/a.js"));
        assert_eq!(failure.line, Some(7));
    }
}
