//! Errors of the Rust compiler and of cargo. cargo build, check and clippy print nothing else of interest.

use super::panics::parse_project_place;
use crate::Verdict;
use crate::report::{OutputReport, ReportedFailure};
use crate::scan::{self, first_quoted};

/// Errors that only report that there were errors.
const ECHO_MESSAGES: &[&str] = &[
    "could not compile `",
    "aborting due to ",
    "test failed, to rerun pass ",
    "doctest failed, to rerun pass ",
    "test run failed",
    "no tests to run",
    "build failed",
];

/// Starts of errors of cargo and the linker that have neither a place nor a code.
const WITHOUT_PLACE: &[&str] = &[
    "linking with `",
    "failed to run custom build command for `",
    "failed to load manifest ",
    "failed to parse manifest ",
    "failed to parse lock file ",
    "failed to select a version ",
    "failed to get `",
    "failed to download ",
    "failed to load source for dependency ",
    "failed to resolve patches ",
    "failed to verify the checksum ",
    "no matching package ",
    "could not find `Cargo.toml` ",
    "no bin target named `",
    "no test target named `",
    "no example target named `",
    "no bench target named `",
    "no library targets found ",
    "cannot specify features ",
    "cannot update the lock file ",
    "the lock file ",
    "cyclic package dependency",
    "package ID specification `",
    "rustc ",
];

/// The keywords of [`read_build_output`].
pub(super) const KEYWORDS: &[&str] =
    &["\nerror[", "\nerror: ", ": error[", ": error: ", "\n    Finished "];

/// Reads a build: it passed if cargo reports that it finished, and no error was printed.
pub(super) fn read_build_output(text: &str) -> OutputReport {
    let failures = collect_errors(text.lines());
    let failed = !failures.is_empty() || text.lines().any(reports_failure);
    let finished = text.lines().rev().find_map(parse_finished);
    OutputReport {
        verdict: match (failed, finished) {
            (true, _) => Verdict::Failed,
            (false, Some(_)) => Verdict::Passed,
            (false, None) => Verdict::Unknown,
        },
        failures,
        duration: finished.and_then(parse_duration),
        ..OutputReport::unknown()
    }
}

/// Returns true if cargo or rustc reports errors, which may be above a cut.
fn reports_failure(line: &str) -> bool {
    reports_uncompiled(line) || line.starts_with("error: aborting due to ")
}

/// Parses the time in ``    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.56s``.
fn parse_finished(line: &str) -> Option<&str> {
    let (_, time) = line.strip_prefix("    Finished ")?.split_once(" target(s) in ")?;
    time.strip_suffix('s')
}

/// Parses `0.56` or `2m 21` to milliseconds.
fn parse_duration(time: &str) -> Option<u64> {
    let (minutes, seconds) = time.split_once("m ").unwrap_or(("0", time));
    let minutes: u64 = minutes.parse().ok()?;
    scan::parse_seconds(seconds)?.checked_add(minutes.checked_mul(60_000)?)
}

/// An error that is being read.
struct OpenRustError {
    failure: ReportedFailure,
    /// True if the error has a code or a place, or is in [`WITHOUT_PLACE`]. Other programs print `error: ` too.
    is_certain: bool,
}

/// Collects the errors, each once: a library and its tests are both compiled and print the same errors.
pub(super) fn collect_errors<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<ReportedFailure> {
    let mut found: Vec<ReportedFailure> = Vec::new();
    let mut open: Option<OpenRustError> = None;
    let finish = |open: &mut Option<OpenRustError>| {
        open.take().filter(|open| open.is_certain).map(|open| open.failure)
    };
    for line in lines {
        if let Some((code, message, place)) = parse_error(line) {
            found.extend(finish(&mut open));
            if is_echo(message) {
                continue;
            }
            let failure = ReportedFailure {
                error: code.map(str::to_owned),
                message: Some(message.to_owned()),
                ..ReportedFailure::default()
            };
            let is_certain = code.is_some()
                || place.is_some()
                || WITHOUT_PLACE.iter().any(|start| message.starts_with(start));
            open = Some(OpenRustError {
                failure: failure.with_place(place.and_then(parse_project_place)),
                is_certain,
            });
        } else if line.starts_with("warning") || line.starts_with("For more information about ") {
            found.extend(finish(&mut open));
        } else if let Some(open) = &mut open {
            read_detail(open, line);
        }
    }
    found.extend(finish(&mut open));
    let mut once: Vec<ReportedFailure> = Vec::new();
    for failure in found {
        // A thousand equal errors are one mistake; comparing all of them would be quadratic.
        if once.iter().rev().take(64).all(|other| *other != failure) {
            once.push(failure);
        }
    }
    once
}

/// Reads a line of a diagnostic after its first: the place, or the lint.
fn read_detail(open: &mut OpenRustError, line: &str) {
    let OpenRustError { failure, is_certain } = open;
    let line = line.trim_start();
    // An error about a wrong argument has no place either.
    *is_certain |= line.starts_with("Usage: cargo ");
    if let Some(place) = line.strip_prefix("--> ") {
        *is_certain |= scan::parse_place(place).is_some();
        if failure.frame.is_none()
            && let Some(place) = parse_project_place(place)
        {
            failure.set_place(place);
        }
    } else if failure.error.is_none() && line.starts_with("= ") {
        failure.error = parse_lint(line);
    } else if line.starts_with("thread '")
        && failure.frame.is_none()
        && let Some(place) =
            line.split_once(" panicked at ").and_then(|(_, place)| parse_project_place(place))
    {
        failure.set_place(place);
    }
}

/// Returns the lint that a note names. Clippy repeats the URL of its page below every finding, but the level only once.
fn parse_lint(note: &str) -> Option<String> {
    if let Some((_, page)) = note.split_once("rust-clippy/")
        && let Some((_, name)) = page.split_once("index.html#")
    {
        return Some(format!("clippy::{name}"));
    }
    let level = first_quoted(note, '`')?;
    let name =
        level.strip_prefix("-D ").or_else(|| level.strip_prefix("#[deny(")?.strip_suffix(")]"))?;
    (name != "warnings").then(|| name.replace('-', "_"))
}

/// Parses code, message and place of the first line of an error: `error[E0308]: mismatched types`, in the short form
/// with the place before it.
fn parse_error(line: &str) -> Option<(Option<&str>, &str, Option<&str>)> {
    let (place, rest) = if let Some(rest) = line.strip_prefix("error") {
        (None, rest)
    } else {
        if line.starts_with(' ') || !line.contains(':') {
            return None;
        }
        let (place, rest) = line.split_once(": error")?;
        let path = scan::parse_place(place)
            .filter(|_| place.ends_with(|c: char| c.is_ascii_digit()))?
            .path;
        if !scan::has_extension(path, "rs") && !scan::has_extension(path, "toml") {
            return None;
        }
        (Some(place), rest)
    };
    let label = |message| if place.is_some() { strip_label(message) } else { message };
    if let Some(message) = rest.strip_prefix(": ") {
        return Some((None, label(message), place));
    }
    let (code, message) = rest.strip_prefix('[')?.split_once("]: ")?;
    // Other tools print names of rules there.
    code.strip_prefix('E')?.parse::<u32>().ok()?;
    let message = label(message);
    Some((Some(code), message, place))
}

/// Returns true for a message that only repeats that there were errors, such as `1 target failed:` at the end of a run
/// that continued, or nextest's message about the cargo that it called.
fn is_echo(message: &str) -> bool {
    ECHO_MESSAGES.iter().any(|echo| message.starts_with(echo))
        || message.ends_with(" target failed:")
        || message.ends_with(" targets failed:")
        || (message.starts_with("command `") && message.contains("` exited with code "))
}

/// Removes the label that the short form appends to the message: `mismatched types: expected `u8`, found `i64``.
fn strip_label(message: &str) -> &str {
    let mut code = false;
    let end = message.match_indices(['`', ':']).find_map(|(at, mark)| {
        code ^= mark == "`";
        (!code && message[at..].starts_with(": ")).then_some(at)
    });
    &message[..end.unwrap_or(message.len())]
}

/// Returns true if cargo reports that a package does not compile.
pub(super) fn reports_uncompiled(line: &str) -> bool {
    line.strip_prefix("error: could not compile `").is_some_and(|rest| rest.contains("` "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_need_place_or_code() {
        for text in [
            "error: script \"lint\" exited with code 1\n",
            "error: unrecognized subcommand 'bun'\n\nUsage: shim [OPTIONS] <COMMAND>\n",
            "error: no such row\n",
            "a.c:3:5: error: expected ';'\n",
            "error: failed to push some refs to 'origin'\n",
        ] {
            assert_eq!(read_build_output(text).verdict, Verdict::Unknown, "{text}");
        }
        for text in [
            "error[E0308]: mismatched types\n",
            "error: expected one of `;`\n --> src/lib.rs:3:5\n  |\n",
            "src/lib.rs:3:5: error: expected one of `;`\n",
            "error: linking with `cc` failed: exit status: 1\n",
        ] {
            let report = read_build_output(text);
            assert_eq!((report.verdict, report.failures.len()), (Verdict::Failed, 1), "{text}");
        }
    }

    #[test]
    fn cargo_alone_names_no_failure() {
        let tail = "warning: build failed, waiting for other jobs to finish...\nerror: could not compile `shop` (lib test) due to 2 previous errors\n";
        let report = read_build_output(tail);
        assert_eq!((report.verdict, report.failures.len()), (Verdict::Failed, 0));
    }
}
