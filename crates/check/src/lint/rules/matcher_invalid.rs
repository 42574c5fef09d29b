//! Matchers that are no valid regular expression.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};
use crate::matcher::MatcherKind;

lint_rule! {
    /// A matcher is not a valid regular expression of JavaScript, so its hooks never run.
    ///
    /// A matcher of letters, digits, `_`, `-`, spaces, `,` and `|` is a list of exact names. Any other text is a regular
    /// expression, and the client reports an invalid one only in its debug log. Forms of other languages are invalid:
    /// `(?i)`, `(?P<name>…)`, `\Z`, `a++`.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "matcher": "(?i)bash", "hooks": [{ "type": "command", "command": "./guard.sh" }] }] } }
    /// ```
    ///
    /// Write a list of names, `*` for every value, or a valid expression. `--fix` replaces `**` and `*` forms that can only
    /// mean every value.
    MATCHER_INVALID = "matcher-invalid", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for group in file.groups() {
            let Some(member) = group.node.member("matcher") else { continue };
            let Some(text) = member.node.text() else { continue };
            let Some(read) = context.matcher(group.event, text) else { continue };
            let MatcherKind::InvalidPattern { reason } = read.matcher.kind() else { continue };
            let message = format!(
                "this matcher is not a valid JavaScript regular expression ({reason}): its hooks never run"
            );
            let help = advice(text);
            let finding =
                LintFinding::new(&MATCHER_INVALID, index, member.node.range.clone(), message, help);
            let means_all = !text.is_empty() && text.chars().all(|c| c == '*');
            findings.push(if means_all {
                finding.with_edit(member.node.range.clone(), "\"*\"")
            } else {
                finding
            });
        }
    }
}

fn advice(text: &str) -> &'static str {
    if text.starts_with("(?i)") {
        "JavaScript has no `(?i)`; write the names with their upper and lower case"
    } else if text.contains("(?P<") {
        "JavaScript writes named groups as `(?<name>…)`; a matcher needs none"
    } else if text.starts_with(['*', '+', '?']) {
        "write `*` alone for every value, or `.*` before a name"
    } else {
        "write a list of names such as `Edit|Write`, or a valid expression"
    }
}

#[cfg(test)]
mod tests {
    use super::MATCHER_INVALID;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_invalid_expressions() {
        for matcher in ["[", "(?i)bash", "**", "*Edit", "(?P<x>Edit)", "Edit++"] {
            let case = LintCase::matcher("PreToolUse", matcher);
            assert_eq!(case.marked(&MATCHER_INVALID), [format!("\"{matcher}\"")]);
        }
        assert!(
            LintCase::matcher("PreToolUse", "**")
                .fixed(&MATCHER_INVALID)
                .contains("\"matcher\": \"*\"")
        );
    }

    #[test]
    fn valid_and_ignored_matchers_are_clean() {
        for (event, matcher) in
            [("PreToolUse", "Edit|Write"), ("PreToolUse", "^mcp__.*__write$"), ("Stop", "[")]
        {
            assert!(
                LintCase::matcher(event, matcher).marked(&MATCHER_INVALID).is_empty(),
                "{matcher}"
            );
        }
    }
}
