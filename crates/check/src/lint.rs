//! Finds mistakes in the configuration of hooks that the client does not report.
//!
//! A *rule* finds one kind of mistake. Each rule has a file in `rules/` with its page, its check and its cases. The
//! *context* of a run has the files, the contract of a client version, and what is known about the machine.
//!
//! The module reads no environment and writes no file. Callers collect the files, render the findings and apply the fixes.

mod context;
mod file;
mod fixes;
#[cfg(test)]
mod properties;
mod readings;
mod rule;
mod rules;
#[cfg(test)]
mod testing;
mod tree;

pub use context::{LintContext, ReadMatcher};
pub use file::{GroupNode, HandlerNode, HandlerPlace, LintFile, LintFix, LintMachine};
pub use fixes::{fix_file, select_edits};
pub use readings::{CommandReading, ScriptReading};
pub use rule::{LintFinding, LintRule, Severity};
pub use rules::RULES;
pub use tree::{SourceMember, SourceNode, SourceValue};

/// Runs all rules. Returns the findings, the most severe of each file first.
///
/// Findings of the rules in `disabled` are dropped; so are findings in a file that one of its patterns names.
pub fn run_rules(
    context: &LintContext<'_>,
    is_disabled: &dyn Fn(&LintRule, &LintFile) -> bool,
) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for rule in RULES {
        let first = findings.len();
        (rule.check)(context, &mut findings);
        debug_assert!(
            findings[first..].iter().all(|finding: &LintFinding| finding.rule.id == rule.id)
        );
    }
    findings.retain(|finding| {
        context.files.get(finding.file).is_none_or(|file| !is_disabled(finding.rule, file))
    });
    findings.sort_by_key(|finding| {
        (!finding.voids_file, finding.file, finding.range.start, finding.severity, finding.rule.id)
    });
    findings
}
