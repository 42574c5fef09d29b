//! The reason for the failure of a Rust test, from its output.

use std::collections::HashMap;

use super::panics::{Panic, blame, own};
use super::rustc;
use crate::report::Failure;

/// Builds a failure with a name and no reason.
pub(super) fn named(test: &str) -> Failure {
    Failure { test: Some(test.to_owned()), ..Failure::default() }
}

/// Finds the reason in the captured output of a test: a panic, a compiler error of its doc test, or the error it
/// returned.
pub(super) fn inside(test: &str, lines: &[&str]) -> Option<Failure> {
    for line in lines {
        if let Some(note) = line.strip_prefix("note: test did not panic as expected at ") {
            let message = Some("test did not panic as expected".to_owned());
            let error = Some("should_panic".to_owned());
            return Some(Failure { error, message, ..named(test) }.at(own(note)));
        }
    }
    let panics = Panic::all(lines.iter().copied());
    if let Some(failure) = blame(test, panics.iter()) {
        return Some(failure);
    }
    if lines.contains(&"Couldn't compile the test.")
        && let Some(failure) = rustc::errors(lines.iter().copied()).into_iter().next()
    {
        return Some(Failure { test: Some(test.to_owned()), ..failure });
    }
    let error = lines.iter().rev().find_map(|line| line.strip_prefix("Error: "))?;
    let end = error.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    let kind = error.get(..end.unwrap_or(error.len())).filter(|kind| !kind.is_empty());
    Some(Failure { error: kind.map(str::to_owned), message: Some(error.to_owned()), ..named(test) })
}

/// The panics of a whole text. With --nocapture they can be anywhere, and only the name of the thread identifies the
/// test.
pub(super) struct Loose<'a>(HashMap<&'a str, Vec<Panic<'a>>>);

impl<'a> Loose<'a> {
    /// Collects the panics, by thread.
    pub(super) fn of(text: &'a str) -> Self {
        let mut threads: HashMap<&str, Vec<Panic>> = HashMap::new();
        let mut before: Option<Panic> = None;
        for panic in Panic::all(text.lines()) {
            // The panic before it may be the cause that it passes on.
            threads.entry(panic.thread).or_default().extend(before.into_iter().chain([panic]));
            before = Some(panic);
        }
        Self(threads)
    }

    /// Returns the failure of a test.
    pub(super) fn why(&self, test: &str) -> Option<Failure> {
        blame(test, self.0.get(test)?.iter())
    }

    /// Returns the failure of the test with a stack overflow, which ends the process.
    pub(super) fn overflow(&self) -> Option<Failure> {
        let mut threads = self.0.iter();
        threads.find_map(|(thread, panics)| {
            panics.last().filter(|panic| panic.overflow).and_then(|_| blame(thread, panics.iter()))
        })
    }
}
