//! The reason for the failure of a Rust test, from its output.

use std::collections::HashMap;

use super::panics::{RustPanic, failure_from_panics, parse_project_place};
use super::rustc;
use crate::report::ReportedFailure;

/// Builds a failure with a name and no reason.
pub(super) fn named_failure(test: &str) -> ReportedFailure {
    ReportedFailure { test: Some(test.to_owned()), ..ReportedFailure::default() }
}

/// Finds the reason in the captured output of a test: a panic, a compiler error of its doc test, or the error it
/// returned.
pub(super) fn failure_from_output(test: &str, lines: &[&str]) -> Option<ReportedFailure> {
    for line in lines {
        if let Some(note) = line.strip_prefix("note: test did not panic as expected at ") {
            let message = Some("test did not panic as expected".to_owned());
            let error = Some("should_panic".to_owned());
            return Some(
                ReportedFailure { error, message, ..named_failure(test) }
                    .with_place(parse_project_place(note)),
            );
        }
    }
    let panics = RustPanic::parse_all(lines.iter().copied());
    if let Some(failure) = failure_from_panics(test, panics.iter()) {
        return Some(failure);
    }
    if lines.contains(&"Couldn't compile the test.")
        && let Some(failure) = rustc::collect_errors(lines.iter().copied()).into_iter().next()
    {
        return Some(ReportedFailure { test: Some(test.to_owned()), ..failure });
    }
    let error = lines.iter().rev().find_map(|line| line.strip_prefix("Error: "))?;
    let end = error.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    let kind = error.get(..end.unwrap_or(error.len())).filter(|kind| !kind.is_empty());
    Some(ReportedFailure {
        error: kind.map(str::to_owned),
        message: Some(error.to_owned()),
        ..named_failure(test)
    })
}

/// The panics of a whole text. With --nocapture they can be anywhere, and only the name of the thread identifies the
/// test.
pub(super) struct LoosePanics<'a>(HashMap<&'a str, Vec<RustPanic<'a>>>);

impl<'a> LoosePanics<'a> {
    /// Collects the panics, by thread.
    pub(super) fn collect(text: &'a str) -> Self {
        let mut threads: HashMap<&str, Vec<RustPanic>> = HashMap::new();
        let mut before: Option<RustPanic> = None;
        for panic in RustPanic::parse_all(text.lines()) {
            // The panic before it may be the cause that it passes on.
            threads.entry(panic.thread).or_default().extend(before.into_iter().chain([panic]));
            before = Some(panic);
        }
        Self(threads)
    }

    /// Returns the failure of a test.
    pub(super) fn failure_of(&self, test: &str) -> Option<ReportedFailure> {
        failure_from_panics(test, self.0.get(test)?.iter())
    }

    /// Returns the failure of the test with a stack overflow, which ends the process.
    pub(super) fn overflow_failure(&self) -> Option<ReportedFailure> {
        let mut threads = self.0.iter();
        threads.find_map(|(thread, panics)| {
            panics
                .last()
                .filter(|panic| panic.overflow)
                .and_then(|_| failure_from_panics(thread, panics.iter()))
        })
    }
}
