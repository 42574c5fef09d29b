//! A rule with its documentation page, and its findings: the mistake, its place, the advice and the fix.

use std::ops::Range;

use serde::{Serialize, Serializer};

use super::context::LintContext;
use super::file::LintFix;
use crate::text_edit::TextEdit;

/// A kind of mistake.
#[derive(Debug)]
pub struct LintRule {
    /// Permanent name: configurations and scripts refer to it.
    pub id: &'static str,
    /// The usual severity of its findings.
    pub severity: Severity,
    /// The lines of its documentation page, in Markdown. The first line is the summary.
    pub docs: &'static [&'static str],
    /// Finds the mistakes in all files of a context.
    pub check: fn(&LintContext<'_>, &mut Vec<LintFinding>),
}

impl LintRule {
    /// Returns the summary: the first line of the page.
    pub fn summary(&self) -> &'static str {
        self.docs.first().map_or("", |line| line.trim())
    }

    /// Returns the documentation page in Markdown, without a heading.
    pub fn page(&self) -> String {
        let mut page = String::new();
        for line in self.docs {
            page.push_str(line.strip_prefix(' ').unwrap_or(line));
            page.push('\n');
        }
        page
    }

    /// Returns true if some findings of the rule have a fix. Its page says which.
    pub fn has_fix(&self) -> bool {
        self.docs.iter().any(|line| line.contains("`--fix`"))
    }
}

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

/// Defines a rule. Its doc comment is its documentation page.
macro_rules! lint_rule {
    ($(#[doc = $doc:literal])* $name:ident = $id:literal, $severity:ident, $check:expr) => {
        $(#[doc = $doc])*
        pub(in crate::lint) static $name: $crate::lint::LintRule = $crate::lint::LintRule {
            id: $id,
            severity: $crate::lint::Severity::$severity,
            docs: &[$($doc),*],
            check: $check,
        };
    };
}

pub(super) use lint_rule;

#[cfg(test)]
mod tests {
    use crate::lint::RULES;

    /// Compares the page of each rule with the source of its check.
    #[test]
    fn pages_name_existing_fixes() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lint/rules");
        for rule in RULES {
            let path = format!("{folder}/{}.rs", rule.id.replace('-', "_"));
            let source = std::fs::read_to_string(&path).unwrap();
            let code = source.split("#[cfg(test)]").next().unwrap_or_default();
            let has_edits = code.contains(".with_edit") || code.contains("LintFix");
            assert_eq!(rule.has_fix(), has_edits, "{path}");
        }
    }

    #[test]
    fn pages_begin_with_a_sentence() {
        for rule in RULES {
            assert!(rule.summary().ends_with('.'), "{}", rule.id);
            assert!(rule.page().lines().count() > 2, "{}", rule.id);
            assert!(rule.page().lines().nth(1) == Some(""), "{}", rule.id);
        }
    }
}
