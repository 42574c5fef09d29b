//! make, and the C compilers it calls.
//!
//! A make that did its work says nothing of it, so only "nothing to be done" is a success by the text.

use crate::runs::report::{Failure, Report, Runner};
use crate::runs::scan::{file, number};
use crate::runs::{Kind, Verdict};

pub(super) static RUNNER: Runner = Runner { name: "make", kind: Kind::Build, tells: &[], read };

fn read(text: &str) -> Report {
    let mut failures: Vec<Failure> = Vec::new();
    let mut failed = None;
    let mut done = 0_usize;
    let mut other = 0_usize;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(what) = stopped(line) {
            failed = failed.or(Some(what));
        } else if let Some(failure) = complaint(line) {
            if failures.iter().rev().take(64).all(|other| *other != failure) {
                failures.push(failure);
            }
        } else if up_to_date(line) {
            done += 1;
        } else {
            other += 1;
        }
    }
    let verdict = match failed {
        Some(_) => Verdict::Failed,
        None if done > 0 && other == 0 && failures.is_empty() => Verdict::Passed,
        // An error of the compiler without make's own word: make may have been told to go on, or the text is cut.
        None => Verdict::Unknown,
    };
    if verdict != Verdict::Failed {
        failures.clear();
    } else if failures.is_empty() {
        failures.extend(failed.map(target));
    }
    Report { verdict, counts: None, failures, duration: None }
}

/// What follows `make[1]: *** `, which make says only of an error that it does not ignore.
fn stopped(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("make").or_else(|| line.strip_prefix("gmake"))?;
    let rest = match rest.strip_prefix('[') {
        Some(level) => number(level)?.1.strip_prefix(']')?,
        None => rest,
    };
    let what = rest.strip_prefix(": *** ")?;
    (!what.starts_with("Waiting for unfinished jobs")).then_some(what)
}

/// `make: Nothing to be done for 'all'.` and `make: 'ledger' is up to date.`
fn up_to_date(line: &str) -> bool {
    line.strip_prefix("make: ").is_some_and(|rest| {
        (rest.starts_with("Nothing to be done for ") && rest.ends_with('.'))
            || rest.ends_with(" is up to date.")
    })
}

/// An error of the compiler or the linker. Most lines have no colon, and searching them for words is dear.
fn complaint(line: &str) -> Option<Failure> {
    if !line.contains(':') {
        return None;
    }
    if line.contains("error: ") {
        return compiler(line).or_else(|| linker(line));
    }
    line.contains(REFERENCE).then(|| linker(line))?
}

/// What the linker misses.
const REFERENCE: &str = "undefined reference to ";

/// `book.c:1:25: error: ‘total’ undeclared (first use in this function)`.
fn compiler(line: &str) -> Option<Failure> {
    let (place, message) =
        line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "))?;
    let frame = file(place)?;
    // Compilers name the line, and the column where they know it; a message of a program's own seldom has that form.
    (!place.starts_with(' ')).then(|| Failure {
        test: None,
        error: None,
        message: Some(message.to_owned()),
        frame: (!frame.starts_with("/usr/")).then(|| frame.to_owned()),
        ..Failure::default()
    })
}

/// ``main.c:(.text+0x5): undefined reference to `rows'``, or lld's `ld.lld: error: undefined symbol: rows`.
fn linker(line: &str) -> Option<Failure> {
    let (place, what) = match line.find(REFERENCE) {
        Some(at) => line.split_at_checked(at)?,
        None => line
            .split_once(": error: ")
            .filter(|(_, what)| what.starts_with("undefined symbol: "))?,
    };
    let place = place.strip_prefix("/usr/bin/ld: ").unwrap_or(place);
    let file = place.split_once(":(").map(|(file, _)| file.to_owned());
    let error = Some("undefined reference".to_owned());
    Some(Failure {
        test: None,
        error,
        message: Some(what.to_owned()),
        frame: file,
        ..Failure::default()
    })
}

/// `[Makefile:11: test] Error 1`: the target, as nobody else said why.
fn target(what: &str) -> Failure {
    let message = match what.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((place, why)) => {
            let target = place.rsplit(": ").next().unwrap_or(place);
            format!("{target}: {why}")
        }
        None => what.to_owned(),
    };
    Failure { message: Some(message), ..Failure::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixtures() {
        crate::runs::cases::check("make");
    }

    #[test]
    fn a_target_is_named_without_its_line() {
        assert_eq!(target("[Makefile:11: test] Error 1").message.as_deref(), Some("test: Error 1"));
        assert_eq!(target("[test] Error 1").message.as_deref(), Some("test: Error 1"));
    }
}
