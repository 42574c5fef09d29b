//! A rule and its documentation page.

use super::context::LintContext;
use super::finding::{LintFinding, Severity};

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
