//! One-line references to what was fixed, learnt or remembered.
//!
//! A reference names a row and its gist. It does not replace the row: the whole fix is still shown when the same failure
//! comes back.

use std::fmt::Write as _;

use crate::fix_message::NOT_CLAIMED;
use rutter_memory::Time;
use rutter_memory::change::{Change, Sort};
use rutter_memory::episode::{Episode, best_change};
use rutter_memory::ghap::{Ghap, Status};
use rutter_memory::quote::{ago, cite, end_of, in_line, reads_like_instruction};
use rutter_runs::clues::own_name;

/// Tokens of the name of a test.
const TEST_TOKENS: usize = 12;
/// Tokens of an error.
const ERROR_TOKENS: usize = 14;
/// Quarters of a token of a path, whose end is shown.
const PATH_CHARS: usize = 44;
/// Tokens of the changed line, of a goal, of a lesson.
const TEXT_TOKENS: usize = 20;
/// Tokens of a lesson that the user is told of.
const NOTICE_TOKENS: usize = 30;
/// Beginnings of lines that explain or bring in code and do not change what it does.
const MINOR_LINES: [&str; 10] =
    ["//", "# ", "#include", "/*", "* ", "-- ", "import ", "from ", "use ", "\"\"\""];

/// Describes a fixed failure as recent work; None if no line of the fix can be shown.
pub(crate) fn recent_fix(episode: &Episode, now: Time) -> Option<String> {
    let ending = episode.ending.as_ref()?;
    let change = best_change(ending)?;
    let when = ago(ending.at, now);
    Some(format!("Fixed {when}: {}{}", failure(episode), describe(change, None)?))
}

/// Describes a resolved GHAP as recent work; None for one that was given up or is active.
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

/// Describes the last fix of a file, for a prompt that names the file; None if no line in it is known to be the fix.
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

/// Says to the user in one line how a failure was fixed before; None if no line of the fix can be shown.
pub(crate) fn fix_notice(episode: &Episode) -> Option<String> {
    let change = best_change(episode.ending.as_ref()?)?;
    let of = episode.test.as_deref().map_or_else(
        || cite(&episode.error, ERROR_TOKENS),
        |test| cite(own_name(test), TEST_TOKENS),
    );
    Some(format!("earlier fix of {of}{}", describe(change, None)?))
}

/// Says to the user in one line what was learnt or remembered.
pub(crate) fn lesson_notice(lesson: &str) -> String {
    format!("from earlier work: {}", cite(lesson, NOTICE_TOKENS))
}

/// The test and the error of a failure.
fn failure(episode: &Episode) -> String {
    let error = cite(&episode.error, ERROR_TOKENS);
    match episode.test.as_deref() {
        Some(test) if episode.error.is_empty() => cite(own_name(test), TEST_TOKENS),
        Some(test) => format!("{} ({error})", cite(own_name(test), TEST_TOKENS)),
        None => error,
    }
}

/// A path in backticks; a long one without its beginning.
fn path(file: &str) -> String {
    format!("`{}`", end_of(&in_line(file), PATH_CHARS))
}

/// Describes a change, to follow the description of a failure: its file unless that was named already, and the line that
/// says most. One that is not certain is not called the fix.
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

/// The line of a change that says most: one that came and is code, else any that came, else one that went. For a command,
/// the command; for another way to run one, the difference.
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
