//! Names in a list that match nothing, beside others that do.

use rutter_contract::spec::{EventSpec, MatcherValues};
use rutter_contract::table;
use rutter_contract::version::Contract;

use super::matcher_never::{describe_name, name_edits};
use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding, Severity};
use crate::matcher::{MatcherReach, NameState, known_values};

lint_rule! {
    /// A list in a matcher has a name that never matches, beside others that do.
    ///
    /// The hooks run for the other names. A tool that the client no longer has is a remark: such names often stay in a list
    /// for older clients. Another mistake is a warning: `bash|Edit` does not run for Bash.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "matcher": "Edit|Wrte", "hooks": [{ "type": "command", "command": "./guard.sh" }] }] } }
    /// ```
    ///
    /// `--fix` corrects upper and lower case.
    MATCHER_DEAD_NAME = "matcher-dead-name", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for group in file.groups() {
            let Some(member) = group.node.member("matcher") else { continue };
            let Some(text) = member.node.text() else { continue };
            let spec = table::event_spec(group.event);
            let Some(read) = context.matcher(group.event, text) else { continue };
            let matcher = &read.matcher;
            if matches!(read.reach, MatcherReach::Never(_)) {
                continue;
            }
            let is_tool_event = matches!(spec.matcher.values, MatcherValues::Tools);
            for (name, state) in matcher.name_states() {
                let (message, help, severity) = match state {
                    NameState::Unknown { nearest: Some(near) }
                        if is_tool_event && is_plain_name(name) =>
                    {
                        (
                            format!("no client is known to have a tool `{name}`"),
                            format!("write `{near}` if you mean that tool"),
                            Severity::Warning,
                        )
                    }
                    NameState::Unknown { .. }
                        if longer_value(name, spec, context.contract).is_some() =>
                    {
                        let longer = longer_value(name, spec, context.contract).unwrap_or_default();
                        (
                            format!(
                                "names are compared exactly: `{name}` does not match `{longer}`"
                            ),
                            format!("write `{longer}`"),
                            Severity::Warning,
                        )
                    }
                    state if state.never_matches() => {
                        let (message, help) = describe_name(name, state, group);
                        let retired = matches!(state, NameState::Retired { .. });
                        (message, help, if retired { Severity::Info } else { Severity::Warning })
                    }
                    _ => continue,
                };
                let finding = LintFinding::new(
                    &MATCHER_DEAD_NAME,
                    index,
                    member.node.range.clone(),
                    message,
                    help,
                )
                .with_severity(severity);
                let edits = name_edits(matcher, member)
                    .filter(|_| matches!(state, NameState::WrongCase(_)));
                findings.push(match edits {
                    Some(edits) => finding.with_edits(edits),
                    None => finding,
                });
            }
        }
    }
}

/// Returns the known value of a list that begins or ends with a name: an author expects a part to match.
fn longer_value(name: &str, spec: &EventSpec, contract: Contract) -> Option<&'static str> {
    if !matches!(spec.matcher.values, MatcherValues::List(_)) || name.is_empty() {
        return None;
    }
    let known = known_values(spec, contract).into_iter();
    let mut longer = known.filter(|value| {
        value.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'))
            || value.strip_suffix(name).is_some_and(|rest| rest.ends_with('_'))
    });
    longer.next()
}

/// Returns true if a name has the form of a built-in tool: MCP tools have other forms.
fn is_plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::MATCHER_DEAD_NAME;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_dead_names() {
        let messages =
            |matcher| LintCase::matcher("PreToolUse", matcher).messages(&MATCHER_DEAD_NAME);
        assert!(messages("Edit|MultiEdit|Write")[0].contains("no tool `MultiEdit` any more"));
        assert!(messages("bash|Edit")[0].contains("case counts"));
        assert!(messages("Edit|Wrte")[0].contains("no client is known to have a tool `Wrte`"));
        let fixed = LintCase::matcher("PreToolUse", "bash|Edit").fixed(&MATCHER_DEAD_NAME);
        assert!(fixed.contains("\"matcher\": \"Bash|Edit\""), "{fixed}");
    }

    #[test]
    fn parts_of_values_are_found() {
        let messages =
            |event, matcher| LintCase::matcher(event, matcher).messages(&MATCHER_DEAD_NAME);
        assert!(
            messages("Notification", "permission")[0]
                .contains("does not match `permission_prompt`")
        );
        assert!(messages("Notification", "permission_prompt").is_empty());
        assert!(messages("Notification", "something_new").is_empty());
    }

    #[test]
    fn live_names_are_clean() {
        for matcher in ["Edit|Write", "Task|Bash", "mcp__github__create_issue|Bash", "*", "Edit.*"]
        {
            assert!(
                LintCase::matcher("PreToolUse", matcher).marked(&MATCHER_DEAD_NAME).is_empty(),
                "{matcher}"
            );
        }
    }
}
