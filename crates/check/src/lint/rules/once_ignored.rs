//! `once` where it has no effect.

use rutter_contract::table;

use crate::lint::rule::lint_rule;
use crate::lint::{HandlerNode, LintContext, LintFile, LintFinding};
use crate::settings::SettingsSource;

lint_rule! {
    /// `once` has no effect here, so the hook runs every time.
    ///
    /// The client honours `once: true` only in the frontmatter of a skill or a command, where the hook runs once in a session.
    /// In settings, plugins and agents it accepts the field and ignores it. In a skill or a command it ignores the field for
    /// hooks on an event with a matcher, such as PostToolUse, that have none, an empty one or `*`.
    ///
    /// ```json
    /// { "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": "./setup.sh", "once": true }] }] } }
    /// ```
    ///
    /// Let the hook keep a marker file of its own, named by the `session_id` of its input. In a skill, name the tools as
    /// matcher.
    ONCE_IGNORED = "once-ignored", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers() {
            let Some(once) = handler.node.member("once") else { continue };
            if once.node.flag() != Some(true) {
                continue;
            }
            let (message, help) = if !is_read_in(file) {
                (
                    "`once` has no effect here: the hook runs every time".to_owned(),
                    "keep a marker file in the hook, named by `session_id`",
                )
            } else if lacks_matcher(handler) {
                (
                    format!(
                        "`once` has no effect on {} without a matcher: the hook runs every time",
                        handler.event
                    ),
                    "add a matcher that names the tools, for example `Edit|Write`",
                )
            } else {
                continue;
            };
            findings.push(LintFinding::new(&ONCE_IGNORED, index, once.range(), message, help));
        }
    }
}

/// Returns true if the client reads `once` in a kind of file.
fn is_read_in(file: &LintFile) -> bool {
    matches!(file.whose, SettingsSource::Skill | SettingsSource::Command)
}

/// Returns true if a hook has no matcher on an event that has one.
fn lacks_matcher(handler: HandlerNode<'_>) -> bool {
    table::event_spec(handler.event).matcher.field.is_some()
        && handler.matcher().is_none_or(|matcher| matches!(matcher, "" | "*"))
}

#[cfg(test)]
mod tests {
    use super::ONCE_IGNORED;
    use crate::lint::testing::LintCase;
    use crate::settings::SettingsSource;

    #[test]
    fn finds_once_in_settings() {
        let marked = |fields| LintCase::command("SessionStart", fields).marked(&ONCE_IGNORED);
        assert_eq!(marked("\"command\": \"true\", \"once\": true"), ["\"once\": true"]);
        assert!(marked("\"command\": \"true\", \"once\": false").is_empty());
    }

    #[test]
    fn works_with_matcher_in_skill() {
        let messages = |whose, path, event: &str, matcher: &str| {
            let group = format!("    - matcher: '{matcher}'\n      hooks:\n");
            let hook = "        - type: command\n          command: 'true'\n          once: true\n";
            let text = format!("---\nhooks:\n  {event}:\n{group}{hook}---\n");
            LintCase::empty().with_file(whose, path, &text).messages(&ONCE_IGNORED)
        };
        let skill = |event, matcher| messages(SettingsSource::Skill, "s/SKILL.md", event, matcher);
        assert!(skill("PostToolUse", "")[0].contains("without a matcher"));
        assert!(skill("PostToolUse", "Bash").is_empty());
        assert!(skill("Stop", "").is_empty());
        let agent = messages(SettingsSource::Agent, ".claude/agents/a.md", "PostToolUse", "Bash");
        assert_eq!(agent, ["`once` has no effect here: the hook runs every time"]);
    }
}
