//! Matchers that match more names than they list.

use rutter_contract::spec::MatcherValues;
use rutter_contract::table;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};
use crate::matcher::{MatcherKind, MatcherReach};

lint_rule! {
    /// A matcher looks like a list of names, but is a regular expression that matches more tools.
    ///
    /// `Edit|Write` is a list of exact names. `(Edit|Write)` is a regular expression, which may match anywhere in a name: it
    /// also runs for NotebookEdit. So does `Edit.*`, which need not begin at the start of a name.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "matcher": "(Edit|Write)", "hooks": [{ "type": "command", "command": "./guard.sh" }] }] } }
    /// ```
    ///
    /// Write the list without parentheses, or `^(Edit|Write)$`.
    MATCHER_BROAD = "matcher-broad", Info, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for group in file.groups() {
            let Some(member) = group.node.member("matcher") else { continue };
            let Some(text) = member.node.text() else { continue };
            let spec = table::event_spec(group.event);
            let Some(read) = context.matcher(group.event, text) else { continue };
            let (MatcherKind::Pattern(_), MatcherReach::Known(values), MatcherValues::Tools) =
                (read.matcher.kind(), &read.reach, spec.matcher.values)
            else {
                continue;
            };
            let Some((named, is_prefix)) = listed_names(text) else { continue };
            // Old names of a tool and lists of notes are what an author means by a name in them.
            let is_surprise = |value: &&str| {
                let contains = named.iter().any(|name| value.contains(name));
                let expected = if is_prefix {
                    named.iter().any(|name| value.starts_with(name))
                } else {
                    named.contains(value) || *value == "TodoWrite"
                };
                contains && !expected
            };
            let more: Vec<&str> = values.iter().copied().filter(is_surprise).collect();
            if !more.is_empty() && named.iter().all(|name| values.contains(name)) {
                let message =
                    format!("this is a regular expression: it also matches {}", more.join(", "));
                let help = format!("write `{}` to match only these names", named.join("|"));
                findings.push(LintFinding::new(
                    &MATCHER_BROAD,
                    index,
                    member.node.range.clone(),
                    message,
                    help,
                ));
            }
        }
    }
}

/// Returns the names of a text such as `(Edit|Write)` or `^Edit|Write`, or the one of `Edit.*`, and true for the latter.
/// Returns None for any other expression.
fn listed_names(text: &str) -> Option<(Vec<&str>, bool)> {
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
    if let Some(name) = text.strip_suffix(".*").filter(is_name) {
        return Some((vec![name], true));
    }
    let text = text.strip_prefix(".*").filter(is_name).unwrap_or(text);
    let text = text.trim_start_matches('^').trim_end_matches('$');
    let text = text.strip_prefix("(?:").or_else(|| text.strip_prefix('(')).unwrap_or(text);
    let text = text.strip_suffix(')').unwrap_or(text);
    let names: Vec<&str> =
        text.split('|').map(|name| name.trim_start_matches('^').trim_end_matches('$')).collect();
    names.iter().all(is_name).then_some((names, false))
}

#[cfg(test)]
mod tests {
    use super::MATCHER_BROAD;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_unanchored_lists() {
        let messages = |matcher| LintCase::matcher("PreToolUse", matcher).messages(&MATCHER_BROAD);
        assert!(messages("(Edit|Write)")[0].contains("NotebookEdit"));
        assert!(messages("Edit.*")[0].contains("NotebookEdit"));
        assert!(messages(".*Edit")[0].contains("NotebookEdit"));
        assert!(messages("Write.*")[0].contains("TodoWrite"));
        for matcher in [
            "Edit|Write",
            "^(Edit|Write)$",
            ".*Edit.*",
            "^Edit.*",
            "mcp__.*",
            "(Bash)",
            "Bash.*",
            "(Write)",
        ] {
            assert!(messages(matcher).is_empty(), "{matcher}: {:?}", messages(matcher));
        }
    }
}
