//! The truth about a history: failures with their causes and fixes, and the text expected when a failure recurs.

use std::collections::{BTreeMap, BTreeSet};

/// The reason why a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureCause {
    /// A bug of the project, by its index.
    Bug(usize),
    /// A missing environment.
    Environment,
    /// A random failure.
    Chance,
}

/// The way a failure ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureEnding {
    /// A change fixed it.
    Fixed,
    /// Another command does not fail.
    Command,
    /// The failure disappeared without a reason.
    Flaky,
    /// The test was removed, renamed or skipped.
    Removed,
}

/// A failure, from the run that first showed it to the run that no longer has it.
#[derive(Debug, Clone)]
pub struct FailureTruth {
    /// The check.
    pub check: usize,
    /// The checkout.
    pub checkout: usize,
    /// Cause of the failure; the last one if it changed.
    pub cause: FailureCause,
    /// Step that showed it first.
    pub opened: usize,
    /// True if a failing run named the check in its visible output.
    pub is_named: bool,
    /// True if a failing run showed the package of the check.
    pub is_placed: bool,
    /// Steps of runs that executed the check and failed in it.
    pub failed_at: Vec<usize>,
    /// Steps of runs that executed the check and passed it. The episode may be closed from there until the next
    /// failure.
    pub passed_at: Vec<usize>,
    /// Step after which the episode must be closed: a run that is known to have executed and passed the check.
    pub required_at: Option<usize>,
    /// Step since which the test is removed, renamed or skipped.
    pub removed_at: Option<usize>,
    /// The way the failure ended.
    pub resolution: Option<FailureEnding>,
    /// Session in which it ended.
    pub session: usize,
    /// Texts that identify an episode about the failure: the name of the test, or all texts of a finding.
    pub name: CheckName,
    /// Kinds of mess around the failure.
    pub tags: BTreeSet<String>,
    /// True if the evidence cannot distinguish the fix from other changes.
    pub is_thin: bool,
}

impl FailureTruth {
    /// Returns true if an episode about this failure may be closed by a run at a step.
    pub fn may_close_at(&self, step: usize) -> bool {
        let last_pass = self.passed_at.iter().copied().filter(|at| *at <= step).max();
        let last_fail = self.failed_at.iter().copied().filter(|at| *at <= step).max();
        last_pass > last_fail
    }
}

/// The name of a check as its runner prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckName {
    /// A test: its name without file, class or module.
    Test(String),
    /// A finding without a test: an episode about it must contain all of these texts.
    Finding(Vec<String>),
}

/// The expected text after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExpectedText {
    /// The earlier fix, first.
    Show,
    /// The earlier fix, or the changes without a claim: the evidence is thin.
    ShowOrHedge,
    /// No text, or the earlier fix of the same test with the remark that it failed in another way.
    OtherCause,
    /// No text: the failure has no earlier fix.
    Silence,
    /// Any correct text: the failure was fixed in this session, shown before, or closed on weak evidence.
    Free,
}

/// A failing check in a run, and the expected text.
#[derive(Debug, Clone)]
pub struct FailureSighting {
    /// Step of the run.
    pub step: usize,
    /// Session and agent of the run.
    pub context: (usize, Option<String>),
    /// The check.
    pub check: usize,
    /// The cause.
    pub cause: FailureCause,
    /// Name of the check.
    pub name: CheckName,
    /// The expected text.
    pub expectation: ExpectedText,
    /// Causes that the output cannot distinguish from this one: of a test of the same name in another package, or of
    /// the same test if the error is not shown.
    pub lookalikes: Vec<FailureCause>,
    /// Kinds of mess: of the earlier failure and of its return.
    pub tags: BTreeSet<String>,
    /// Name of the tool of this run.
    pub tool: &'static str,
}

/// The role of a change in a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeRole {
    /// Fixes a bug.
    Fix(usize),
    /// Belongs to the fix of a bug without being the fix.
    Companion(usize),
    /// A failed attempt to fix a bug.
    Attempt(usize),
    /// Reverts an attempt.
    Undo(usize),
    /// Introduces a bug.
    Break(usize),
    /// Unrelated to any failure.
    Unrelated,
}

/// A change of files.
#[derive(Debug, Clone)]
pub struct ChangeTruth {
    /// Step of the change.
    pub step: usize,
    /// Checkout.
    pub checkout: usize,
    /// Role of the change.
    pub role: ChangeRole,
    /// Files that it touches.
    pub files: Vec<String>,
    /// Removed (`-`) and added (`+`) lines, normalised.
    pub lines: Vec<String>,
    /// The command that made the change, if any.
    pub command: Option<String>,
    /// Kind of change for reports.
    pub kind: String,
}

/// A run of a tool.
#[derive(Debug, Clone)]
pub struct RunTruth {
    /// Step of the run.
    pub step: usize,
    /// Name of the tool.
    pub tool: &'static str,
    /// True if the run failed, even if its command line hides that.
    pub is_failed: bool,
}

/// The truth about a history.
#[derive(Debug, Clone, Default)]
pub struct HistoryTruth {
    /// Every run.
    pub runs: Vec<RunTruth>,
    /// Failures in the order in which they were first shown.
    pub failures: Vec<FailureTruth>,
    /// Failing checks of every run.
    pub sightings: Vec<FailureSighting>,
    /// Every change.
    pub changes: Vec<ChangeTruth>,
    /// For each bug, the lines of its fix.
    pub right: BTreeMap<FailureCause, BTreeSet<String>>,
    /// For each bug, lines that belong to its fix without being the fix.
    pub neutral: BTreeMap<FailureCause, BTreeSet<String>>,
    /// Text that the working command has and the failing one lacks.
    pub remedy: Option<String>,
    /// Green runs that did not execute the check of an open failure: step and failure.
    pub uncovered: Vec<(usize, usize)>,
    /// Commands that changed files or look like a fix, but fixed nothing.
    pub wrong_commands: Vec<String>,
}

/// Normalises a line of a diff: its sign, and its text in the form of [`plain_text`].
pub fn normalise_line(line: &str) -> String {
    let (sign, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
    format!("{sign}{}", plain_text(rest))
}

/// Returns a text with single blanks, and with the same replacements as in quoted text.
pub fn plain_text(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('`', "'").replace('‹', "<")
}
