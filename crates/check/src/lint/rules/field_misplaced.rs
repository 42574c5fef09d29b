//! Fields that stand one level too high or too low.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// A field stands on the wrong level, so the client ignores it.
    ///
    /// `matcher` belongs to the group, beside `hooks`. `timeout`, `if`, `async` and the other fields belong to the hook. A
    /// matcher inside the hook does not filter: the hook runs for every tool.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "hooks": [{ "matcher": "Bash", "type": "command", "command": "./guard.sh" }] }] } }
    /// ```
    ///
    /// Move the field.
    FIELD_MISPLACED = "field-misplaced", Warning, check
}

/// Fields of a hook that are meant for the hook if they stand in its group.
const HOOK_FIELDS: &[&str] = &[
    "command",
    "args",
    "timeout",
    "if",
    "async",
    "asyncRewake",
    "once",
    "onFailure",
    "shell",
    "statusMessage",
    "prompt",
    "url",
];

/// Returns true if a field belongs to a group.
pub(super) fn is_group_field(key: &str) -> bool {
    matches!(key, "matcher" | "hooks")
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers() {
            for member in handler.node.members().iter().filter(|member| is_group_field(&member.key))
            {
                let message = if member.key == "matcher" && handler.group.get("matcher").is_none() {
                    "`matcher` inside a hook is ignored: the hook runs every time".to_owned()
                } else {
                    format!("`{}` inside a hook is ignored", member.key)
                };
                let help = format!("write `{}` in the group, beside `hooks`", member.key);
                findings.push(LintFinding::new(
                    &FIELD_MISPLACED,
                    index,
                    member.range(),
                    message,
                    help,
                ));
            }
        }
        for group in file.groups().filter(|group| group.node.get("hooks").is_some()) {
            for member in group.node.members() {
                if HOOK_FIELDS.contains(&member.key.as_str()) {
                    let message = format!("`{}` in a matcher group is ignored", member.key);
                    let help = format!("write `{}` in each hook of the group", member.key);
                    findings.push(LintFinding::new(
                        &FIELD_MISPLACED,
                        index,
                        member.range(),
                        message,
                        help,
                    ));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FIELD_MISPLACED;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_fields_on_wrong_level() {
        let case = LintCase::command("PreToolUse", "\"command\": \"true\", \"matcher\": \"Bash\"");
        assert_eq!(case.marked(&FIELD_MISPLACED), ["\"matcher\": \"Bash\""]);
        assert!(case.messages(&FIELD_MISPLACED)[0].contains("runs every time"));
        let text = r#"{"hooks": {"Stop": [{"timeout": 5, "hooks": [{"type": "command", "command": "true"}]}]}}"#;
        assert_eq!(LintCase::settings(text).marked(&FIELD_MISPLACED), ["\"timeout\": 5"]);
        assert_eq!(LintCase::settings(text).all(), ["field-misplaced 1:22"]);
    }
}
