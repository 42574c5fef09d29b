//! Panics in the output of a Rust program.

use crate::report::ReportedFailure;
use crate::scan::{CodePlace, parse_place};

/// A panic.
#[derive(Debug, Clone, Copy)]
pub(super) struct RustPanic<'a> {
    /// The name of the thread, which is that of the test if the harness started it.
    pub(super) thread: &'a str,
    message: &'a str,
    place: Option<CodePlace<'a>>,
    /// True if it is a stack overflow instead of a panic.
    pub(super) overflow: bool,
}

impl<'a> RustPanic<'a> {
    /// Returns true if it only passes on the panic of another thread.
    fn is_relayed(&self) -> bool {
        self.message.ends_with("Any { .. }") || self.message == "a scoped thread panicked"
    }

    fn failure(&self, test: &str) -> ReportedFailure {
        ReportedFailure {
            test: Some(test.to_owned()),
            error: Some(if self.overflow { "stack overflow" } else { "panicked" }.to_owned()),
            message: Some(self.message.to_owned()).filter(|message| !message.is_empty()),
            ..ReportedFailure::default()
        }
        .with_place(self.place)
    }

    /// Returns all panics of a text, in order.
    pub(super) fn parse_all(lines: impl Iterator<Item = &'a str>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let mut waiting = false;
        for line in lines {
            let line = line.strip_prefix("    ").unwrap_or(line);
            if waiting {
                waiting = false;
                // A filter may have removed the line with the message.
                if let Some(panic) = found.last_mut().filter(|_| !is_of_harness(line)) {
                    panic.message = line.trim_end();
                }
            } else if let Some(rest) = line.strip_prefix("thread '") {
                if let Some((panic, open)) = Self::parse_first_line(rest) {
                    waiting = open;
                    found.push(panic);
                }
            } else if let Some(place) = line.trim_start().strip_prefix("at ")
                && let Some(panic) = found.last_mut()
                && panic.place.is_none()
            {
                panic.place = parse_project_place(place);
            }
        }
        found
    }

    /// Parses the text after `thread '`. Returns true as well if the message is on the next line (since Rust 1.73).
    fn parse_first_line(rest: &'a str) -> Option<(Self, bool)> {
        if let Some((head, place)) = rest.split_once(" panicked at ") {
            let thread = parse_thread_name(head)?;
            if let Some((message, place)) =
                place.strip_prefix('\'').and_then(|old| old.rsplit_once("', "))
            {
                return Some((
                    Self { thread, message, place: parse_project_place(place), overflow: false },
                    false,
                ));
            }
            return Some((
                Self { thread, message: "", place: parse_project_place(place), overflow: false },
                true,
            ));
        }
        let head = rest.strip_suffix(" has overflowed its stack")?;
        let message = "has overflowed its stack";
        Some((
            Self { thread: parse_thread_name(head)?, message, place: None, overflow: true },
            false,
        ))
    }
}

/// Returns true if a line is from the test harness or cargo, not a message.
fn is_of_harness(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "test result: ",
        "error: test failed",
        "error: could not compile",
        "thread '",
        "note: run with ",
    ];
    let is_result =
        line.starts_with("test ") && (line.ends_with(" ... ok") || line.ends_with(" ... FAILED"));
    is_result || STARTS.iter().any(|start| line.starts_with(start))
}

/// Parses the name in `name' (4711)`; the number of the thread is printed since Rust 1.91.
fn parse_thread_name(head: &str) -> Option<&str> {
    let end = head.rfind('\'')?;
    head.get(..end)
}

/// Parses a place. Returns None if it is in the standard library or in a dependency.
pub(super) fn parse_project_place(text: &str) -> Option<CodePlace<'_>> {
    let CodePlace { path: file, line } = parse_place(text)?;
    let foreign = ["/rustc/", "/.cargo/registry/", "/.cargo/git/", "/rustlib/src/", "/vendor/"];
    let foreign = foreign.iter().any(|part| file.contains(part)) || file.starts_with("library/");
    (!foreign).then(|| CodePlace { path: file.strip_prefix("./").unwrap_or(file), line })
}

/// Returns the failure of a test by its panics. Its last panic counts, as earlier ones were caught; if that only passes
/// on a panic of another thread, the panic of that thread counts.
pub(super) fn failure_from_panics<'a>(
    test: &str,
    panics: impl Iterator<Item = &'a RustPanic<'a>>,
) -> Option<ReportedFailure> {
    let mut own: Option<&RustPanic> = None;
    let mut other: Option<&RustPanic> = None;
    for panic in panics {
        if panic.thread == test {
            own = Some(panic);
        } else if own.is_none() {
            other = Some(panic);
        }
    }
    match (own, other) {
        (Some(own), Some(other)) if own.is_relayed() => Some(other.failure(test)),
        (own, other) => own.or(other).map(|panic| panic.failure(test)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_first_line() {
        let old = "thread 'a::b' panicked at 'no, it's bad', src/lib.rs:3:5";
        let new = "thread 'a::b' (77) panicked at ./src/lib.rs:3:5:\nno, it's bad";
        for text in [old, new] {
            let panics = RustPanic::parse_all(text.lines());
            let failure = failure_from_panics("a::b", panics.iter()).unwrap();
            assert_eq!(failure.message.as_deref(), Some("no, it's bad"));
            assert_eq!(failure.frame.as_deref(), Some("src/lib.rs"));
            assert_eq!(failure.line, Some(3));
        }
    }

    #[test]
    fn dependency_panic_names_caller() {
        let text = "thread 't' (1) panicked at /home/ada/.cargo/registry/src/x/y-1.0.0/src/z.rs:1:1:\nno\n\
            stack backtrace:\n   0: core::x\n             at /rustc/59807/library/core/src/x.rs:1:1\n   \
            1: t\n             at ./src/own.rs:2:2\n   2: u\n             at ./src/outer.rs:2:2\n";
        let panics = RustPanic::parse_all(text.lines());
        assert_eq!(
            failure_from_panics("t", panics.iter()).unwrap().frame.as_deref(),
            Some("src/own.rs")
        );
    }
}
