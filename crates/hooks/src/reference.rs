//! One-line references to fixes, lessons and memories.
//!
//! A reference names a row and its gist. It does not replace the row: the whole fix is still shown when the same
//! failure comes back.

use std::fmt::Write as _;

use crate::fix_message::NOT_CLAIMED;
use rutter_memory::Time;
use rutter_memory::change::{Change, Sort};
use rutter_memory::episode::{Episode, best_change};
use rutter_memory::ghap::{Ghap, Status};
use rutter_memory::quote::{ago, cite, end_of, in_line, reads_like_instruction};
use rutter_runs::clues::own_name;

/// Maximum number of tokens of a test name.
const TEST_TOKENS: usize = 12;
/// Maximum number of tokens of an error.
const ERROR_TOKENS: usize = 14;
/// Maximum length of a path in quarters of a token. The end of a longer path is shown.
const PATH_CHARS: usize = 44;
/// Maximum number of tokens of a changed line, a goal or a lesson.
const TEXT_TOKENS: usize = 20;
/// Maximum number of tokens of a lesson in a notice for the user.
const NOTICE_TOKENS: usize = 30;
/// Starts of comment and import lines, which do not change what the code does.
const MINOR_LINES: [&str; 10] =
    ["//", "# ", "#include", "/*", "* ", "-- ", "import ", "from ", "use ", "\"\"\""];

/// Describes a fixed failure as recent work; None if no line of the fix can be shown.
pub(crate) fn recent_fix(episode: &Episode, now: Time) -> Option<String> {
    let ending = episode.ending.as_ref()?;
    let change = best_change(ending)?;
    let when = ago(ending.at, now);
    Some(format!("Fixed {when}: {}{}", failure(episode), describe(change, None)?))
}

/// Describes a resolved GHAP as recent work; None for an abandoned or active one.
pub(crate) fn recent_ghap(ghap: &Ghap, now: Time) -> Option<String> {
    let resolution = ghap.resolution.as_ref()?;
    let ended = match ghap.status {
        Status::Confirmed => "Confirmed",
        Status::Falsified => "Falsified",
        Status::Abandoned | Status::Active => return None,
    };
    let goal = cite(&ghap.goal, TEXT_TOKENS);
    let mut text = format!("{ended} {}: goal {goal}", ago(resolution.at, now));
    let lesson = resolution.lesson.as_ref();
    let learnt = lesson.and_then(|lesson| lesson.takeaway.as_ref().or(lesson.what_worked.as_ref()));
    if let Some(learnt) = learnt {
        let _ = write!(text, ", lesson {}", cite(learnt, TEXT_TOKENS));
    }
    Some(text)
}

/// Describes a failure that is still open, for a prompt that names one of its files.
pub(crate) fn open_failure(episode: &Episode, file: &str, now: Time) -> String {
    format!(
        "{}: still failing: {}, last seen {}",
        path(file),
        failure(episode),
        ago(episode.seen, now)
    )
}

/// Describes the last fix in a file, for a prompt that names the file; None if no change in it is certain to be the
/// fix.
pub(crate) fn last_fix(episode: &Episode, file: &str, now: Time) -> Option<String> {
    let ending = episode.ending.as_ref()?;
    let change = ending
        .fix
        .iter()
        .find(|change| change.sort == Sort::Edit && change.is_certain && &*change.name == file)?;
    let when = ago(ending.at, now);
    let text = describe(change, Some(file))?;
    Some(format!("{}: last fix {when}, for {}{text}", path(file), failure(episode)))
}

/// Renders an earlier fix in one line for the user; None if no line of the fix can be shown.
pub(crate) fn fix_notice(episode: &Episode) -> Option<String> {
    let change = best_change(episode.ending.as_ref()?)?;
    let of = episode.test.as_deref().map_or_else(
        || cite(&episode.error, ERROR_TOKENS),
        |test| cite(own_name(test), TEST_TOKENS),
    );
    Some(format!("earlier fix of {of}{}", describe(change, None)?))
}

/// Renders a lesson or memory in one line for the user.
pub(crate) fn lesson_notice(lesson: &str) -> String {
    format!("from earlier work: {}", cite(lesson, NOTICE_TOKENS))
}

/// Describes a failure by its test and error.
fn failure(episode: &Episode) -> String {
    let error = cite(&episode.error, ERROR_TOKENS);
    match episode.test.as_deref() {
        Some(test) if episode.error.is_empty() => cite(own_name(test), TEST_TOKENS),
        Some(test) => format!("{} ({error})", cite(own_name(test), TEST_TOKENS)),
        None => error,
    }
}

/// Returns a path in backticks; a long one without its start.
fn path(file: &str) -> String {
    format!("`{}`", end_of(&in_line(file), PATH_CHARS))
}

/// Describes a change, as a continuation of the description of a failure: its file unless that was named already, and
/// its most informative line. An uncertain change is not called the fix.
fn describe(change: &Change, named_file: Option<&str>) -> Option<String> {
    let line = changed_line(change)?;
    let is_named = named_file == Some(&*change.name);
    let file = if is_named { String::new() } else { format!(" in {}", path(&change.name)) };
    Some(match (change.sort, change.is_certain) {
        (Sort::Edit, true) if is_named => format!(": {line}"),
        (Sort::Edit, true) => format!(",{file}: {line}"),
        (Sort::Edit, false) => format!(", {NOT_CLAIMED}{file}: {line}"),
        (Sort::Command, true) => format!(", by {line}"),
        (Sort::Command, false) => format!(", {NOT_CLAIMED} by a command: {line}"),
        (Sort::Invocation, _) => format!(", it passed {line}"),
    })
}

/// Returns the most informative line of a change: an added line of code, else a removed line of code, else any added or
/// removed line. For a command it is the command; for a changed invocation, the difference.
fn changed_line(change: &Change) -> Option<String> {
    if change.sort != Sort::Edit {
        return Some(cite(&change.name, TEXT_TOKENS));
    }
    let hunks = change.hunks();
    let says = |line: &&String| {
        line.trim().chars().filter(|sign| sign.is_alphanumeric()).count() > 1
            && !reads_like_instruction(line)
    };
    let is_code =
        |line: &&String| !MINOR_LINES.iter().any(|start| line.trim_start().starts_with(start));
    let mut came = hunks.iter().flat_map(|hunk| &hunk.added).filter(says);
    let mut went = hunks.iter().flat_map(|hunk| &hunk.removed).filter(says);
    let first_came = came.clone().next();
    let first_went = went.clone().next();
    if let Some(line) = came.find(is_code) {
        return Some(cite(line, TEXT_TOKENS));
    }
    if let Some(line) = went.find(is_code) {
        return Some(format!("removed {}", cite(line, TEXT_TOKENS)));
    }
    match (first_came, first_went) {
        (Some(line), _) => Some(cite(line, TEXT_TOKENS)),
        (None, Some(line)) => Some(format!("removed {}", cite(line, TEXT_TOKENS))),
        (None, None) => None,
    }
}
