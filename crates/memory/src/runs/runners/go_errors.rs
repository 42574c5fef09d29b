//! What the Go compiler and vet complain about, and whose code a place is in.

use crate::runs::Verdict;
use crate::runs::report::{Failure, Report};
use crate::runs::scan::{file, has_extension, number};

/// Reads a build. Go says nothing when all is well, so the text alone never shows a success.
pub(super) fn read(text: &str) -> Report {
    let failures = errors(text);
    let verdict = if failures.is_empty() { Verdict::Unknown } else { Verdict::Failed };
    Report { verdict, failures, ..Report::unknown() }
}

/// The complaints, each once.
pub(super) fn errors(text: &str) -> Vec<Failure> {
    let mut found: Vec<Failure> = Vec::new();
    for line in text.lines() {
        if let Some(failure) = error(line)
            && found.iter().rev().take(64).all(|other| *other != failure)
        {
            found.push(failure);
        }
    }
    found
}

/// `./ledger.go:8:25: undefined: missing`, at the start of its line and with a column, as tests print none.
fn error(line: &str) -> Option<Failure> {
    let line = line.strip_prefix("vet: ").unwrap_or(line);
    if line.starts_with([' ', '\t']) {
        return None;
    }
    let file = file(line).filter(|file| has_extension(file, "go"))?;
    let (_, rest) = number(line.get(file.len() + 1..)?)?;
    let (_, rest) = number(rest.strip_prefix(':')?)?;
    let message = rest.strip_prefix(": ")?.to_owned();
    Some(Failure {
        test: None,
        error: None,
        message: Some(message),
        frame: Some(file.to_owned()),
        ..Failure::default()
    })
}

/// The file of a frame of a stack, where it is the project's own.
pub(super) fn own<'a>(place: &'a str, root: Option<&str>) -> Option<&'a str> {
    let file = file(place)?;
    let foreign = root.is_some_and(|root| file.starts_with(root))
        || file.contains("/pkg/mod/")
        || file.contains("/vendor/")
        || file == "_testmain.go";
    (!foreign).then_some(file)
}

/// Where the standard library stands, by the frame of it that every test has.
pub(super) fn root(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let place = line.strip_prefix('\t')?;
        let at = place.find("/src/testing/").or_else(|| place.find("/src/runtime/"))?;
        place.get(..at + "/src/".len())
    })
}
