//! Why a Rust test failed, by what it printed.

use std::collections::HashMap;

use super::panics::{Panic, blame, own};
use super::rustc;
use crate::report::Failure;

/// A failure of which nothing but the name is known.
pub(super) fn named(test: &str) -> Failure {
    Failure { test: Some(test.to_owned()), ..Failure::default() }
}

/// What the captured output of a test says: a panic, what its doc test's compiler said, or the error it returned.
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

/// The panics of a whole text. With --nocapture they stand anywhere, and only the name of the thread tells whose they
/// are.
pub(super) struct Loose<'a>(HashMap<&'a str, Vec<Panic<'a>>>);

impl<'a> Loose<'a> {
    /// Collects them.
    pub(super) fn of(text: &'a str) -> Self {
        let mut threads: HashMap<&str, Vec<Panic>> = HashMap::new();
        let mut before: Option<Panic> = None;
        for panic in Panic::all(text.lines()) {
            // The one before it may be what it passes on.
            threads.entry(panic.thread).or_default().extend(before.into_iter().chain([panic]));
            before = Some(panic);
        }
        Self(threads)
    }

    /// Why a test failed.
    pub(super) fn why(&self, test: &str) -> Option<Failure> {
        blame(test, self.0.get(test)?.iter())
    }

    /// The test whose stack ran over, as that ends the process.
    pub(super) fn overflow(&self) -> Option<Failure> {
        let mut threads = self.0.iter();
        threads.find_map(|(thread, panics)| {
            panics.last().filter(|panic| panic.overflow).and_then(|_| blame(thread, panics.iter()))
        })
    }
}
