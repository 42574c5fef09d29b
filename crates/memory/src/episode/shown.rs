//! Chooses the changes that are shown for a fixed episode.

use super::{Episode, EpisodeEnding};
use crate::change::{Change, ChangeKind, Hunk, is_repeatable};

/// Maximum number of shown changes.
const MAX_CHANGES: usize = 3;

/// The reason for recalling an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecurrenceKind {
    /// The same failure.
    Failure,
    /// The same test with another failure.
    Test,
}

/// Returns the best change of an ending that can be shown. It is the fix only if it is certain.
pub fn best_change(ending: &EpisodeEnding) -> Option<&Change> {
    ShownFix::choose(ending)?.changes.first().copied()
}

/// Returns true if the fix of an episode is certain, or None if no change can be shown.
pub fn can_show(episode: &Episode) -> Option<bool> {
    ShownFix::choose(episode.ending.as_ref()?).map(|shown| shown.is_certain)
}

/// The changes of an ending that are shown.
pub struct ShownFix<'a> {
    /// The changes, the best first.
    pub changes: Vec<&'a Change>,
    /// Files that were changed as well.
    pub others: Vec<&'a str>,
    /// True if the changes are known to be the fix.
    pub is_certain: bool,
}

impl<'a> ShownFix<'a> {
    /// Chooses the changes to show. Returns None if no line of a change can be shown.
    pub fn choose(ending: &'a EpisodeEnding) -> Option<Self> {
        let can_show = |change: &&Change| match change.kind {
            // A comment or an import alone is not informative, unless it is known to be the fix.
            ChangeKind::Edit => change.hunks().iter().any(|hunk| {
                has_content(hunk) && (change.is_certain || !hunk.is_trivial(&change.name))
            }),
            ChangeKind::Command => is_repeatable(&change.name),
            ChangeKind::Invocation => true,
        };
        let is_certain = ending.fix.iter().any(|change| change.is_certain && can_show(&change));
        let mut changes: Vec<&Change> = ending
            .fix
            .iter()
            .filter(can_show)
            .filter(|change| change.is_certain || !is_certain)
            .collect();
        // If the fix is not certain, the best edit is shown as an example and the other files are named. A different
        // invocation of the command comes in addition.
        let is_edit = changes.first().is_none_or(|change| change.kind != ChangeKind::Invocation);
        changes.truncate(match (is_certain, is_edit) {
            (true, _) => MAX_CHANGES,
            (false, true) => 1,
            (false, false) => 2,
        });
        if changes.is_empty() {
            return None;
        }
        let mut others: Vec<&str> = Vec::new();
        for change in ending.fix.iter().filter(|change| change.kind == ChangeKind::Edit) {
            let name = change.name.as_str();
            let shown = changes.iter().any(|one| one.name == change.name);
            if !shown && !others.contains(&name) {
                others.push(name);
            }
        }
        Some(Self { changes, others, is_certain })
    }
}

fn has_content(hunk: &Hunk) -> bool {
    hunk.lines().any(|line| !line.trim().is_empty())
}
