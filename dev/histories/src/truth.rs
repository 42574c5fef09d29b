//! The truth about a history: what failed and why, what fixed it, and what should be said when it comes back.

use std::collections::{BTreeMap, BTreeSet};

/// The reason why a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A bug of the project, by its index.
    Bug(usize),
    /// A missing environment.
    Environment,
    /// Chance.
    Chance,
}

/// The end of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resolution {
    /// A change fixed it.
    Fixed,
    /// Another command does not have it.
    Command,
    /// It went without a reason.
    Flaky,
    /// The test was removed, renamed or skipped.
    Removed,
}

/// One failure, from the run that first showed it to the run that no longer has it.
#[derive(Debug, Clone)]
pub struct FailureTruth {
    /// The check.
    pub check: usize,
    /// The checkout.
    pub checkout: usize,
    /// Cause of the failure; the last one if it changed.
    pub cause: Cause,
    /// Step that showed it first.
    pub opened: usize,
    /// True if a failing run named the check in its visible output.
    pub is_named: bool,
    /// True if a failing run showed the package of the check.
    pub is_placed: bool,
    /// Steps of runs that executed the check and failed in it.
    pub failed_at: Vec<usize>,
    /// Steps of runs that executed the check and passed it. It may be closed at these, and later until it fails again.
    pub passed_at: Vec<usize>,
    /// Step after which it must be closed: a run that is known to have executed and passed the check.
    pub required_at: Option<usize>,
    /// Step since which the test is removed, renamed or skipped.
    pub removed_at: Option<usize>,
    /// End of the failure.
    pub resolution: Option<Resolution>,
    /// Session in which it ended.
    pub session: usize,
    /// Texts by which an episode about it is recognised: the name of the test, or all texts of a finding.
    pub name: Name,
    /// Kinds of mess that it met.
    pub tags: BTreeSet<String>,
    /// True if the evidence cannot tell the fix from other changes.
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

/// The name of a check in the words of its runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// A test: its own name without file, class or module.
    Test(String),
    /// Something without a test: texts of which an episode must have all.
    Finding(Vec<String>),
}

/// The text that is expected when a failure is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expectation {
    /// The earlier fix, first.
    Show,
    /// The earlier fix, or the changes without a claim: the evidence is thin.
    ShowOrHedge,
    /// Nothing, or the earlier fix of the same test with the remark that it failed in another way.
    OtherCause,
    /// Nothing: nothing was learnt about this failure.
    Silence,
    /// Anything that is right: it was fixed in this session, shown before, or closed on weak evidence.
    Free,
}

/// A failure in a run, and what should be said about it.
#[derive(Debug, Clone)]
pub struct Sighting {
    /// Step of the run.
    pub step: usize,
    /// Session and agent that see it.
    pub context: (usize, Option<String>),
    /// The check.
    pub check: usize,
    /// The cause.
    pub cause: Cause,
    /// Name of the check.
    pub name: Name,
    /// The expected text.
    pub expectation: Expectation,
    /// Causes that the output does not tell from this one: of a test of the same name in another package, or of the same
    /// test if the error is not shown.
    pub lookalikes: Vec<Cause>,
    /// Kinds of mess behind it: of the earlier failure and of the return itself.
    pub tags: BTreeSet<String>,
    /// Name of the tool of this run.
    pub tool: &'static str,
}

/// The part of a change in a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It fixes a bug.
    Fix(usize),
    /// It belongs to the fix of a bug without being the fix.
    Companion(usize),
    /// It was meant to fix a bug, and does not.
    Attempt(usize),
    /// It takes an attempt back.
    Undo(usize),
    /// It brings a bug in.
    Break(usize),
    /// It has nothing to do with any failure.
    Unrelated,
}

/// A change of files.
#[derive(Debug, Clone)]
pub struct ChangeTruth {
    /// Step of the change.
    pub step: usize,
    /// Checkout.
    pub checkout: usize,
    /// Part that it plays.
    pub role: Role,
    /// Files that it touches.
    pub files: Vec<String>,
    /// Lines that went (`-`) and came (`+`), normalised.
    pub lines: Vec<String>,
    /// The command that made it, if one did.
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
    /// True if the run failed, whatever its command line shows of that.
    pub is_failed: bool,
}

/// The truth about a history.
#[derive(Debug, Clone, Default)]
pub struct Truth {
    /// Every run.
    pub runs: Vec<RunTruth>,
    /// Failures in the order in which they were first shown.
    pub failures: Vec<FailureTruth>,
    /// Failing checks of every run.
    pub sightings: Vec<Sighting>,
    /// Every change.
    pub changes: Vec<ChangeTruth>,
    /// For each bug, the lines of its fix.
    pub right: BTreeMap<Cause, BTreeSet<String>>,
    /// For each bug, lines that belong to its fix without being it.
    pub neutral: BTreeMap<Cause, BTreeSet<String>>,
    /// Text that the right command has and the failing one lacks.
    pub remedy: Option<String>,
    /// Green runs that did not execute an open failure's check: step and failure.
    pub uncovered: Vec<(usize, usize)>,
    /// Commands that changed files, or might be taken for a fix, and are none.
    pub wrong_commands: Vec<String>,
}

/// Normalises a line of a diff: its sign, and its text as [`plain`] has it.
pub fn normalised(line: &str) -> String {
    let (sign, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
    format!("{sign}{}", plain(rest))
}

/// Returns a text with single blanks, and with the signs that a quotation may replace replaced.
pub fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('`', "'").replace('‹', "<")
}
