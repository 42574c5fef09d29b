//! One-line references to fixes, lessons and memories.
//!
//! A reference names a row and its gist. It does not replace the row: the whole fix is still shown when the same
//! failure comes back.

use std::fmt::Write as _;

use crate::fix_message::{NOT_CLAIMED, has_instruction};
use rutter_memory::Time;
use rutter_memory::change::{Change, ChangeKind};
use rutter_memory::episode::{Episode, best_change};
use rutter_memory::ghap::{Ghap, GhapStatus};
use rutter_memory::quote::{
    escape_in_line, format_age, quote_in_backticks, reads_like_instruction, truncate_start,
};
use rutter_memory::store::ProjectLesson;
use rutter_runs::clues::own_name;

/// Maximum number of tokens of a test name.
const TEST_TOKENS: usize = 12;
/// Maximum number of tokens of an error.
const ERROR_TOKENS: usize = 14;
/// Maximum length of a path in quarters of a token. The end of a longer path is shown.
const PATH_CHARS: usize = 44;
/// Maximum number of tokens of a changed line, a goal or a lesson.
const TEXT_TOKENS: usize = 20;
/// Maximum number of tokens of a lesson in a list.
const LESSON_TOKENS: usize = 16;
/// Maximum number of tokens of a lesson in a notice for the user.
const NOTICE_TOKENS: usize = 30;
/// Starts of comment and import lines, which do not change what the code does.
const MINOR_LINES: [&str; 10] =
    ["//", "# ", "#include", "/*", "* ", "-- ", "import ", "from ", "use ", "\"\"\""];

/// Describes a fixed failure as recent work; None if no line of the fix can be shown.
pub(crate) fn describe_recent_fix(episode: &Episode, now: Time) -> Option<String> {
    let ending = episode.ending.as_ref()?;
    let change = best_change(ending)?;
    let when = format_age(ending.at, now);
    Some(format!("Fixed {when}: {}{}", describe_failure(episode), describe_change(change, None)?))
}

/// Describes a resolved GHAP as recent work; None for an abandoned or active one.
pub(crate) fn describe_recent_ghap(ghap: &Ghap, now: Time) -> Option<String> {
    let resolution = ghap.resolution.as_ref()?;
    let ended = match ghap.status {
        GhapStatus::Confirmed => "Confirmed",
        GhapStatus::Falsified => "Falsified",
        GhapStatus::Abandoned | GhapStatus::Active => return None,
    };
    let goal = quote_in_backticks(&ghap.goal, TEXT_TOKENS);
    let mut text = format!("{ended} {}: goal {goal}", format_age(resolution.at, now));
    let lesson = resolution.lesson.as_ref();
    let learnt = lesson.and_then(|lesson| lesson.takeaway.as_ref().or(lesson.what_worked.as_ref()));
    if let Some(learnt) = learnt {
        let _ = write!(text, ", lesson {}", quote_in_backticks(learnt, TEXT_TOKENS));
    }
    Some(text)
}

/// Describes a failure that is still open, for a prompt that names one of its files.
pub(crate) fn describe_open_failure(episode: &Episode, file: &str, now: Time) -> String {
    format!(
        "{}: still failing: {}, last seen {}",
        quote_path(file),
        describe_failure(episode),
        format_age(episode.seen, now)
    )
}

/// Describes the last fix in a file, for a prompt that names the file; None if no change in it is certain to be the
/// fix.
pub(crate) fn describe_last_fix(episode: &Episode, file: &str, now: Time) -> Option<String> {
    let ending = episode.ending.as_ref()?;
    let change = ending.fix.iter().find(|change| {
        change.kind == ChangeKind::Edit && change.is_certain && &*change.name == file
    })?;
    let when = format_age(ending.at, now);
    let text = describe_change(change, Some(file))?;
    Some(format!("{}: last fix {when}, for {}{text}", quote_path(file), describe_failure(episode)))
}

/// Describes a lesson by its id and its first words.
pub(crate) fn describe_lesson(lesson: &ProjectLesson) -> String {
    format!("{}: {}", lesson.row.short(), quote_in_backticks(&lesson.text, LESSON_TOKENS))
}

/// Renders an earlier fix in one line for the user; None if no line of the fix can be shown.
pub(crate) fn fix_notice(episode: &Episode) -> Option<String> {
    let change = best_change(episode.ending.as_ref()?)?;
    let of = episode.test.as_deref().map_or_else(
        || quote_in_backticks(&episode.error, ERROR_TOKENS),
        |test| quote_in_backticks(own_name(test), TEST_TOKENS),
    );
    Some(format!("earlier fix of {of}{}", describe_change(change, None)?))
}

/// Renders a lesson or memory in one line for the user.
pub(crate) fn lesson_notice(lesson: &str) -> String {
    format!("from earlier work: {}", quote_in_backticks(lesson, NOTICE_TOKENS))
}

/// Describes a failure by its test and error.
pub(crate) fn describe_failure(episode: &Episode) -> String {
    let error = quote_in_backticks(&episode.error, ERROR_TOKENS);
    match episode.test.as_deref() {
        Some(test) if episode.error.is_empty() => quote_in_backticks(own_name(test), TEST_TOKENS),
        Some(test) => format!("{} ({error})", quote_in_backticks(own_name(test), TEST_TOKENS)),
        None => error,
    }
}

/// Returns a path in backticks; a long one without its start.
pub(crate) fn quote_path(file: &str) -> String {
    format!("`{}`", truncate_start(&escape_in_line(file), PATH_CHARS))
}

/// Describes a change, as a continuation of the description of a failure: its file unless that was named already, and
/// its most informative line. An uncertain change is not called the fix. If a part of the change reads like instructions,
/// only its file is named; if its name does, nothing is.
fn describe_change(change: &Change, named_file: Option<&str>) -> Option<String> {
    if reads_like_instruction(&change.name) {
        return None;
    }
    let is_named = named_file == Some(&*change.name);
    let file = if is_named { String::new() } else { format!(" in {}", quote_path(&change.name)) };
    if change.kind == ChangeKind::Edit && has_instruction(&change.hunks()) {
        return Some(match change.is_certain {
            true if is_named => String::new(),
            true => format!(",{file}"),
            false => format!(", {NOT_CLAIMED}{file}"),
        });
    }
    let line = most_informative_line(change)?;
    Some(match (change.kind, change.is_certain) {
        (ChangeKind::Edit, true) if is_named => format!(": {line}"),
        (ChangeKind::Edit, true) => format!(",{file}: {line}"),
        (ChangeKind::Edit, false) => format!(", {NOT_CLAIMED}{file}: {line}"),
        (ChangeKind::Command, true) => format!(", by {line}"),
        (ChangeKind::Command, false) => format!(", {NOT_CLAIMED} by a command: {line}"),
        (ChangeKind::Invocation, _) => format!(", it passed {line}"),
    })
}

/// Returns the most informative line of a change: an added line of code, else a removed line of code, else any added or
/// removed line. For a command it is the command; for a changed invocation, the difference.
fn most_informative_line(change: &Change) -> Option<String> {
    if change.kind != ChangeKind::Edit {
        return Some(quote_in_backticks(&change.name, TEXT_TOKENS));
    }
    let hunks = change.hunks();
    let says =
        |line: &&String| line.trim().chars().filter(|sign| sign.is_alphanumeric()).count() > 1;
    let is_code =
        |line: &&String| !MINOR_LINES.iter().any(|start| line.trim_start().starts_with(start));
    let mut came = hunks.iter().flat_map(|hunk| &hunk.added).filter(says);
    let mut went = hunks.iter().flat_map(|hunk| &hunk.removed).filter(says);
    let first_came = came.clone().next();
    let first_went = went.clone().next();
    if let Some(line) = came.find(is_code) {
        return Some(quote_in_backticks(line, TEXT_TOKENS));
    }
    if let Some(line) = went.find(is_code) {
        return Some(format!("removed {}", quote_in_backticks(line, TEXT_TOKENS)));
    }
    match (first_came, first_went) {
        (Some(line), _) => Some(quote_in_backticks(line, TEXT_TOKENS)),
        (None, Some(line)) => Some(format!("removed {}", quote_in_backticks(line, TEXT_TOKENS))),
        (None, None) => None,
    }
}
