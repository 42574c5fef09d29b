//! Parses the product's texts: lessons, the lines that they show, and the checks that they are about.

use std::collections::{BTreeMap, BTreeSet};

use super::HEDGE;
use crate::truth::{CheckName, FailureSighting, plain_text};

/// Minimum length of a part of a cut line that still identifies the line.
const MIN_PART_LENGTH: usize = 8;

/// The correctness of a shown line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A line of the fix.
    Right,
    /// A line that came with the fix.
    Neutral,
    /// A line or command that is unrelated to this failure.
    Wrong(String),
    /// A line that is shown without a claim.
    Hedged(Box<Self>),
}

/// A shown line of a change.
#[derive(Debug)]
pub(super) struct ShownLine {
    /// The line as it is shown.
    pub(super) text: String,
    /// Lines of the history that it matches, with their signs.
    pub(super) matches: Vec<String>,
    /// True if it is shown without a claim.
    pub(super) is_hedged: bool,
}

/// A lesson in a text.
#[derive(Debug, Default)]
pub(super) struct LessonBlock {
    /// Checks that the lesson names: several, if packages have tests of the same name.
    pub(super) owners: Vec<usize>,
    /// Lines that are not part of a change.
    pub(super) heading: String,
    /// The whole text.
    pub(super) whole: String,
    /// Lines of changes.
    pub(super) lines: Vec<ShownLine>,
    /// Lines that look like lines of a change, but do not occur in the history.
    pub(super) unknown: Vec<String>,
}

/// Splits a text into lessons. A line that names another failing check starts a new one.
pub(super) fn split_lessons(
    text: &str,
    sightings: &[&FailureSighting],
    known: &BTreeMap<String, usize>,
) -> Vec<LessonBlock> {
    let mut blocks: Vec<LessonBlock> = Vec::new();
    let mut is_hedged = false;
    for line in text.lines() {
        let shown = diff_line(line, known);
        let owners = if shown.is_none() { owners_of(line, sightings) } else { Vec::new() };
        let begins = blocks.last().is_none_or(|block| {
            !owners.is_empty() && !block.owners.is_empty() && block.owners != owners
        });
        if begins {
            blocks.push(LessonBlock::default());
            is_hedged = false;
        }
        let Some(block) = blocks.last_mut() else { continue };
        if block.owners.is_empty() {
            block.owners = owners;
        }
        block.whole.push_str(line);
        block.whole.push('\n');
        match shown {
            Some(matches) if matches.is_empty() => block.unknown.push(line.trim().to_owned()),
            Some(matches) => {
                block.lines.push(ShownLine { text: line.trim().to_owned(), matches, is_hedged });
            }
            None => {
                block.heading.push_str(line);
                block.heading.push('\n');
                if line.to_lowercase().contains(HEDGE) {
                    is_hedged = true;
                } else if line.trim_end().ends_with(':') && !line.starts_with("> @@ ") {
                    is_hedged = false;
                }
                for quoted in line.split('`').skip(1).step_by(2) {
                    let matches = lines_with_text(quoted, known);
                    if !matches.is_empty() {
                        block.lines.push(ShownLine { text: quoted.to_owned(), matches, is_hedged });
                    }
                }
            }
        }
    }
    blocks
}

/// Returns the lines of the history that a line of a text matches, or None if it is not a line of a change.
fn diff_line(line: &str, known: &BTreeMap<String, usize>) -> Option<Vec<String>> {
    let trimmed = line.trim_start();
    let unquoted = trimmed.strip_prefix('>').map(str::trim_start);
    let rest = unquoted.unwrap_or(trimmed);
    let sign = rest.chars().next().filter(|sign| matches!(sign, '+' | '-'))?;
    let content = plain_text(&rest[1..]);
    let same: Vec<&String> = known.keys().filter(|line| is_same(&content, &line[1..])).collect();
    let mut matches: Vec<String> =
        same.iter().filter(|line| line.starts_with(sign)).map(|line| (*line).clone()).collect();
    // A line that was cut before the differing part matches both the removed and the added line.
    let is_cut = content.contains('…') || content.contains("...");
    let texts: BTreeSet<&str> = same.iter().map(|line| &line[1..]).collect();
    if is_cut && texts.len() > 1 {
        matches.clear();
    }
    // A list with dashes is not a diff.
    if matches.is_empty() && unquoted.is_none() {
        return None;
    }
    Some(matches)
}

/// Returns the lines of the history with the quoted text, with any sign.
fn lines_with_text(quoted: &str, known: &BTreeMap<String, usize>) -> Vec<String> {
    let content = plain_text(quoted);
    if content.len() < MIN_PART_LENGTH {
        return Vec::new();
    }
    known.keys().filter(|line| is_same(&content, &line[1..])).cloned().collect()
}

/// Returns true if a shown text is this line, whole or cut with an ellipsis.
fn is_same(shown: &str, line: &str) -> bool {
    if shown == line {
        return !line.is_empty();
    }
    let parts: Vec<&str> =
        shown.split('…').flat_map(|part| part.split("...")).map(str::trim).collect();
    if parts.len() < 2 {
        return false;
    }
    let long = parts.iter().map(|part| part.len()).max().unwrap_or_default();
    let mut rest = line;
    for part in parts.iter().filter(|part| !part.is_empty()) {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    long >= MIN_PART_LENGTH.min(line.len())
}

/// Returns the failing checks that a line names. The longest name wins.
fn owners_of(line: &str, sightings: &[&FailureSighting]) -> Vec<usize> {
    let is_named = |sighting: &FailureSighting| match &sighting.name {
        CheckName::Test(leaf) => {
            let cut = line.split('`').skip(1).step_by(2).any(|quoted| {
                quoted.strip_prefix('…').is_some_and(|end| {
                    end.len() >= MIN_PART_LENGTH && (leaf.ends_with(end) || is_test_name(end, leaf))
                })
            });
            line.contains(leaf.as_str()) || cut
        }
        CheckName::Finding(texts) => texts.iter().all(|text| line.contains(text.as_str())),
    };
    let length = |sighting: &FailureSighting| match &sighting.name {
        CheckName::Test(leaf) => leaf.len(),
        CheckName::Finding(_) => 1,
    };
    let named: Vec<&FailureSighting> =
        sightings.iter().copied().filter(|at| is_named(at)).collect();
    let longest = named.iter().map(|sighting| length(sighting)).max().unwrap_or_default();
    named.iter().filter(|at| length(at) == longest).map(|sighting| sighting.check).collect()
}

/// Returns true if the full name of a test ends with this name.
pub(super) fn is_test_name(full: &str, leaf: &str) -> bool {
    full.strip_suffix(leaf).is_some_and(|before| {
        before.chars().next_back().is_none_or(|sign| !sign.is_alphanumeric() && sign != '_')
    })
}

/// Returns true if a text quotes a command, or its beginning.
pub(super) fn names_command(heading: &str, command: &str) -> bool {
    let first = plain_text(command.lines().next().unwrap_or_default());
    heading.split('`').skip(1).step_by(2).any(|quoted| {
        let quoted = plain_text(quoted);
        let start = quoted.trim_end_matches(['…', '.', ' ']);
        start.len() >= 9.min(first.len()) && first.starts_with(start) && start.contains(' ')
    })
}

/// Returns true if a text contains any of several lines.
pub(super) fn has_any(text: &str, lines: &BTreeSet<String>) -> bool {
    let known: BTreeMap<String, usize> = lines.iter().map(|line| (line.clone(), 0)).collect();
    text.lines().any(|line| {
        diff_line(line, &known).is_some_and(|matches| !matches.is_empty())
            || line
                .split('`')
                .skip(1)
                .step_by(2)
                .any(|quoted| !lines_with_text(quoted, &known).is_empty())
    })
}
