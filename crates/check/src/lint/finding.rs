//! A finding: the mistake, its place, the advice and the fix.

use std::ops::Range;

use serde::{Serialize, Serializer};

use super::rule::LintRule;
use crate::text_edit::TextEdit;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A hook does not run, its answer is lost, or the client skips a file.
    Error,
    /// A hook probably does not do what its author expects.
    Warning,
    /// A remark. The configuration works.
    Info,
}

impl Severity {
    /// Returns the name in output and documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// A mistake in a file.
#[derive(Debug, Clone)]
pub struct LintFinding {
    /// The rule that found it.
    pub rule: &'static LintRule,
    /// The severity, which may be lower than that of the rule.
    pub severity: Severity,
    /// Index of the file in the context.
    pub file: usize,
    /// The byte range in the text of the file. Empty at 0 if the finding is about the file as a whole.
    pub range: Range<usize>,
    /// What is wrong and what the client does because of it.
    pub message: String,
    /// What to write instead.
    pub help: String,
    /// True if the client skips the whole file because of it.
    pub voids_file: bool,
    /// The edit that corrects the mistake. None if the intent is not certain.
    pub fix: Option<LintFix>,
}

/// Edits that correct a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFix {
    /// The edits of the text, sorted and without overlap.
    pub edits: Vec<TextEdit>,
}

impl LintFinding {
    /// Creates a finding with the severity of its rule.
    pub fn new(
        rule: &'static LintRule,
        file: usize,
        range: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            rule,
            severity: rule.severity,
            file,
            range,
            message: message.into(),
            help: help.into(),
            voids_file: false,
            fix: None,
        }
    }

    /// Sets another severity.
    #[must_use]
    pub fn with_severity(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }

    /// Adds a fix of one edit.
    #[must_use]
    pub fn with_edit(self, range: Range<usize>, text: impl Into<String>) -> Self {
        self.with_edits(vec![TextEdit { range, text: text.into() }])
    }

    /// Adds a fix. The edits must be sorted and must not overlap.
    #[must_use]
    pub fn with_edits(self, edits: Vec<TextEdit>) -> Self {
        Self { fix: Some(LintFix { edits }), ..self }
    }

    /// Marks a finding for which the client skips the whole file.
    #[must_use]
    pub fn voiding_file(self, voids_file: bool) -> Self {
        Self { voids_file, ..self }
    }
}

impl Serialize for LintRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id)
    }
}
