//! The exits of a script.

use std::ops::Range;

/// Facts about the ways in which a script ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct ExitFacts {
    /// The exits with a literal code.
    pub exits: Vec<ExitLiteral>,
    /// True if a code is computed, or if another program replaces the script.
    pub has_computed_exit: bool,
    /// True if the script prints a literal answer that denies, asks, blocks or stops.
    pub has_denial: bool,
    /// True if a failing command ends the script: `set -e`.
    pub sets_errexit: bool,
    /// True if the script sets a trap.
    pub has_trap: bool,
}

/// An exit with a literal code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitLiteral {
    /// Position of the exit.
    pub range: Range<usize>,
    /// The exit code.
    pub code: i32,
    /// The statement directly before the exit, if it writes to stderr.
    pub reason: Option<Range<usize>>,
    /// True if this statement says that something is denied or blocked.
    pub says_denied: bool,
    /// True if the exit is reached only if the input of the tool matches a pattern.
    pub tests_input: bool,
}

impl ExitFacts {
    /// Returns true if the script exits with a code.
    pub fn has_exit(&self, code: i32) -> bool {
        self.exits.iter().any(|exit| exit.code == code)
    }

    /// Returns the exits with 1 that are meant to block: a reason is written to stderr before, which says so or depends on
    /// the input of the tool, and no exit with 2 shows that the author knows the difference.
    pub fn failed_blocks(&self) -> impl Iterator<Item = &ExitLiteral> {
        let is_known = self.has_exit(2) || self.has_computed_exit || self.has_denial;
        self.exits.iter().filter(move |exit| {
            !is_known && exit.code == 1 && (exit.says_denied || exit.tests_input)
        })
    }
}

/// Returns true if a text says that something is denied or blocked.
pub(super) fn says_denied(text: &str) -> bool {
    const WORDS: [&str; 8] = [
        "blocked",
        "blocking",
        "denied",
        "not allowed",
        "forbidden",
        "prohibited",
        "refusing",
        "rejected",
    ];
    let text = text.to_ascii_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

/// Returns true if a text only warns.
pub(super) fn says_warning(text: &str) -> bool {
    const WORDS: [&str; 5] = ["warn", "careful", "consider", "remind", "note:"];
    let text = text.to_ascii_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

/// Returns true if a text may print a decision: its exit code then does not have to block.
pub(super) fn mentions_decision(text: &str) -> bool {
    text.contains("permissionDecision") || text.contains("\"decision") || text.contains("'decision")
}
