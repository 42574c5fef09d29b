//! The lines of a certain fix, and edits that remove them.

use std::collections::BTreeSet;

use super::{Episode, EpisodeEndingKind};
use crate::change::{Change, ChangeKind, Hunk, is_trivial_file};

/// Minimum length of a line that says something, without whitespace.
const MIN_TELLING_BYTES: usize = 8;
/// The same for a line that suffices alone.
const MIN_DISTINCTIVE_BYTES: usize = 12;
/// Minimum length of a word.
const MIN_WORD_BYTES: usize = 3;
/// Number of removed lines above which an edit rewrites a file rather than takes back a fix.
const MAX_REMOVED_LINES: usize = 40;

/// Returns the hunks of a fix that is certain, each with its file, whose removal is worth a message: they add two lines
/// that say something, or one that is distinctive.
pub(crate) fn guarded_hunks(fix: &[Change]) -> impl Iterator<Item = (&str, Hunk)> {
    fix.iter()
        .filter(|change| {
            change.kind == ChangeKind::Edit && change.is_certain && !is_trivial_file(&change.name)
        })
        .flat_map(|change| change.hunks().into_iter().map(move |hunk| (change.name.as_str(), hunk)))
        .filter(|(file, hunk)| !hunk.is_trivial(file) && is_recognizable(hunk))
}

impl Episode {
    /// Returns true if an edit of a file removes all lines that the fix of this episode added at one place, and does not
    /// replace them by similar ones. `before` and `after` are the whole file.
    ///
    /// An edit that puts back what the fix had replaced counts as well, however similar it is.
    pub fn is_fix_removed(&self, file: &str, before: &str, after: &str) -> bool {
        let Some(ending) = &self.ending else { return false };
        if ending.how != EpisodeEndingKind::Fixed {
            return false;
        }
        let (before, after) = (trimmed_lines(before), trimmed_lines(after));
        guarded_hunks(&ending.fix)
            .any(|(changed, hunk)| changed == file && is_hunk_removed(&hunk, &before, &after))
    }
}

fn is_hunk_removed(hunk: &Hunk, before: &[&str], after: &[&str]) -> bool {
    let block: Vec<&str> = non_blank_lines(&hunk.added).collect();
    let telling: Vec<&str> = telling_lines(&hunk.added).collect();
    let was_there = before.windows(block.len()).any(|lines| *lines == *block);
    if !was_there || telling.iter().any(|line| after.contains(line)) {
        return false;
    }
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) =
        (before.iter().copied().collect(), after.iter().copied().collect());
    if old.difference(&new).count() > MAX_REMOVED_LINES {
        return false;
    }
    let replaced: Vec<&str> = telling_lines(&hunk.removed).collect();
    let is_taken_back = !replaced.is_empty()
        && replaced.iter().all(|line| new.contains(line))
        && !replaced.iter().all(|line| old.contains(line));
    is_taken_back
        || !new.difference(&old).any(|line| telling.iter().any(|added| is_similar(line, added)))
}

fn trimmed_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

fn non_blank_lines(lines: &[String]) -> impl Iterator<Item = &str> {
    lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty())
}

/// Returns the lines that say something: not a bracket, not a single word.
fn telling_lines(lines: &[String]) -> impl Iterator<Item = &str> {
    non_blank_lines(lines)
        .filter(|line| size(line) >= MIN_TELLING_BYTES && words(line).next().is_some())
}

fn is_recognizable(hunk: &Hunk) -> bool {
    let is_distinctive =
        |line: &str| size(line) >= MIN_DISTINCTIVE_BYTES && distinct_words(line).len() >= 2;
    telling_lines(&hunk.added).count() >= 2 || telling_lines(&hunk.added).any(is_distinctive)
}

fn size(line: &str) -> usize {
    line.bytes().filter(|byte| !byte.is_ascii_whitespace()).count()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|sign: char| !sign.is_alphanumeric() && sign != '_')
        .filter(|word| word.len() >= MIN_WORD_BYTES && word.chars().any(char::is_alphabetic))
}

fn distinct_words(line: &str) -> BTreeSet<&str> {
    words(line).collect()
}

/// Returns true if a line has at least half of the words of another.
fn is_similar(line: &str, other: &str) -> bool {
    let (line, other) = (distinct_words(line), distinct_words(other));
    2 * line.intersection(&other).count() >= other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "def total(items):\n    if not items:\n        raise EmptyCart(items)\n    \
                          return sum(items)\n\ndef tax(items):\n    return 0\n";

    fn hunk(removed: &[&str], added: &[&str]) -> Hunk {
        let own = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
        Hunk { removed: own(removed), added: own(added), ..Hunk::default() }
    }

    #[track_caller]
    fn assert_removed(hunk: &Hunk, after: &str, expected: bool) {
        let (before, after) = (trimmed_lines(BEFORE), trimmed_lines(after));
        assert_eq!(is_hunk_removed(hunk, &before, &after), expected);
    }

    fn guard() -> Hunk {
        hunk(&[], &["    if not items:", "        raise EmptyCart(items)"])
    }

    #[test]
    fn removal_is_found() {
        let after = BEFORE.replace("    if not items:\n        raise EmptyCart(items)\n", "");
        assert_removed(&guard(), &after, true);
        // In another place of the file.
        assert_removed(&guard(), &BEFORE.replace("return 0", "return 1"), false);
    }

    #[test]
    fn moved_lines_stay() {
        let moved = "    if not items:\n        raise EmptyCart(items)\n";
        let after = format!("{}{moved}", BEFORE.replace(moved, ""));
        assert_removed(&guard(), &after, false);
    }

    #[test]
    fn rewording_is_no_removal() {
        let after = BEFORE.replace("raise EmptyCart(items)", "raise EmptyCart(len(items))");
        assert_removed(&guard(), &after, false);
        let both = after.replace("if not items:", "if not list(items):");
        assert_removed(&guard(), &both, false);
    }

    #[test]
    fn partial_removal_is_none() {
        let after = BEFORE.replace("        raise EmptyCart(items)\n", "        pass\n");
        assert_removed(&guard(), &after, false);
    }

    #[test]
    fn taken_back_fix_is_found() {
        let fix = hunk(&["    return sum(items) * 0.9"], &["    return sum(items)"]);
        assert_removed(&fix, &BEFORE.replace("sum(items)", "sum(items) * 0.9"), true);
        // Another similar line is not what the fix had replaced.
        assert_removed(&fix, &BEFORE.replace("sum(items)", "sum(items) * 0.8"), false);
    }

    #[test]
    fn rewritten_file_is_no_removal() {
        let long = (0..60).map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat();
        let (before, fix) = (format!("{BEFORE}{long}"), guard());
        assert!(!is_hunk_removed(&fix, &trimmed_lines(&before), &["nothing"]));
    }

    #[test]
    fn absent_lines_cannot_be_removed() {
        let other = hunk(&[], &["    check_every_item(items)", "    log_total(items)"]);
        assert_removed(&other, "", false);
    }

    #[test]
    fn trivial_lines_are_not_guarded() {
        for added in [&["}"][..], &["else:", "}"], &["x = 1", "y = 2"], &["    return a"]] {
            assert!(!is_recognizable(&hunk(&[], added)), "{added:?}");
        }
        for added in [&["    return sum(items)"][..], &["if not found:", "continue;  "]] {
            assert!(is_recognizable(&hunk(&[], added)), "{added:?}");
        }
    }
}
