//! What the Rust compiler and cargo around it complain about; cargo build, check and clippy are nothing else.

use super::panics::own;
use crate::runs::Verdict;
use crate::runs::report::{Failure, Report};
use crate::runs::scan::{self, quoted};

/// Errors that only say that there were errors.
const ECHOES: &[&str] = &[
    "could not compile `",
    "aborting due to ",
    "test failed, to rerun pass ",
    "doctest failed, to rerun pass ",
    "test run failed",
    "no tests to run",
    "build failed",
];

/// Reads a build: it passed where cargo says that it finished and nobody complained.
pub(super) fn read(text: &str) -> Report {
    let failures = errors(text.lines());
    let failed = !failures.is_empty() || text.lines().any(|line| error(line).is_some());
    let finished = text.lines().rev().find_map(finished);
    Report {
        verdict: match (failed, finished) {
            (true, _) => Verdict::Failed,
            (false, Some(_)) => Verdict::Passed,
            (false, None) => Verdict::Unknown,
        },
        counts: None,
        failures,
        duration: finished.and_then(took),
    }
}

/// The time in ``    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.56s``.
fn finished(line: &str) -> Option<&str> {
    let (_, time) = line.strip_prefix("    Finished ")?.split_once(" target(s) in ")?;
    time.strip_suffix('s')
}

/// `0.56` or `2m 21`, as milliseconds.
fn took(time: &str) -> Option<u64> {
    let (minutes, seconds) = time.split_once("m ").unwrap_or(("0", time));
    let minutes: u64 = minutes.parse().ok()?;
    scan::seconds(seconds)?.checked_add(minutes.checked_mul(60_000)?)
}

/// The errors among the diagnostics, each once: a library and its tests are compiled both, and both complain.
pub(super) fn errors<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Failure> {
    let mut found: Vec<Failure> = Vec::new();
    let mut open: Option<Failure> = None;
    for line in lines {
        if let Some((code, message, place)) = error(line) {
            found.extend(open.take());
            if only_says_so(message) {
                continue;
            }
            open = Some(Failure {
                test: None,
                error: code.map(str::to_owned),
                message: Some(message.to_owned()),
                frame: place.and_then(own).map(str::to_owned),
                ..Failure::default()
            });
        } else if line.starts_with("warning") || line.starts_with("For more information about ") {
            found.extend(open.take());
        } else if let Some(failure) = &mut open {
            detail(failure, line);
        }
    }
    found.extend(open);
    let mut once: Vec<Failure> = Vec::new();
    for failure in found {
        // A thousand errors of one kind are one mistake; looking through all of them would be quadratic.
        if once.iter().rev().take(64).all(|other| *other != failure) {
            once.push(failure);
        }
    }
    once
}

/// A line of a diagnostic after its first: where it is, and which lint it was.
fn detail(failure: &mut Failure, line: &str) {
    let line = line.trim_start();
    if let Some(place) = line.strip_prefix("--> ") {
        if failure.frame.is_none() {
            failure.frame = own(place).map(str::to_owned);
        }
    } else if failure.error.is_none() && line.starts_with("= ") {
        failure.error = lint(line);
    } else if line.starts_with("thread '") && failure.frame.is_none() {
        failure.frame =
            line.split_once(" panicked at ").and_then(|(_, place)| own(place)).map(str::to_owned);
    }
}

/// The lint that a note names. Clippy repeats the address of its page under every finding, but the level only once.
fn lint(note: &str) -> Option<String> {
    if let Some((_, page)) = note.split_once("rust-clippy/")
        && let Some((_, name)) = page.split_once("index.html#")
    {
        return Some(format!("clippy::{name}"));
    }
    let level = quoted(note, '`')?;
    let name =
        level.strip_prefix("-D ").or_else(|| level.strip_prefix("#[deny(")?.strip_suffix(")]"))?;
    (name != "warnings").then(|| name.replace('-', "_"))
}

/// Code, message and place of the first line of an error: `error[E0308]: mismatched types`, or with the place before it
/// in the short form.
fn error(line: &str) -> Option<(Option<&str>, &str, Option<&str>)> {
    let (place, rest) = if let Some(rest) = line.strip_prefix("error") {
        (None, rest)
    } else {
        if line.starts_with(' ') || !line.contains(':') {
            return None;
        }
        let (place, rest) = line.split_once(": error")?;
        let short = place.ends_with(|c: char| c.is_ascii_digit());
        if !short {
            return None;
        }
        (Some(place), rest)
    };
    let label = |message| if place.is_some() { unlabelled(message) } else { message };
    if let Some(message) = rest.strip_prefix(": ") {
        return Some((None, label(message), place));
    }
    let (code, message) = rest.strip_prefix('[')?.split_once("]: ")?;
    let message = label(message);
    Some((Some(code), message, place))
}

/// An error that is none: also `1 target failed:` at the end of a run that went on, or nextest on the cargo that it called.
fn only_says_so(message: &str) -> bool {
    ECHOES.iter().any(|echo| message.starts_with(echo))
        || message.ends_with(" target failed:")
        || message.ends_with(" targets failed:")
        || (message.starts_with("command `") && message.contains("` exited with code "))
}

/// The message without the label that the short form puts behind it: `mismatched types: expected `u8`, found `i64``.
fn unlabelled(message: &str) -> &str {
    let mut code = false;
    let end = message.match_indices(['`', ':']).find_map(|(at, mark)| {
        code ^= mark == "`";
        (!code && message[at..].starts_with(": ")).then_some(at)
    });
    &message[..end.unwrap_or(message.len())]
}

/// Whether cargo said that a package does not compile.
pub(super) fn uncompiled(line: &str) -> bool {
    line.strip_prefix("error: could not compile `").is_some_and(|rest| rest.contains("` "))
}
