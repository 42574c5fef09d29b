//! `once` where it has no effect.

use rutter_contract::table;

use crate::lint::rule::lint_rule;
use crate::lint::{HandlerNode, LintContext, LintFile, LintFinding};
use crate::settings::SettingsSource;

lint_rule! {
    /// `once` has no effect here, so the hook runs every time.
    ///
    /// The client honours `once: true` only in the frontmatter of a skill or a command, where the hook runs once in a session.
    /// In settings, plugins and agents it accepts the field and ignores it. On an event with a matcher, such as PostToolUse, it
    /// honours the field only if the matcher is the name of one tool: with `Bash` the hook runs once, with `*`, `Bash|Edit` or
    /// without a matcher every time.
    ///
    /// ```json
    /// { "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": "./setup.sh", "once": true }] }] } }
    /// ```
    ///
    /// Let the hook keep a marker file of its own, named by the `session_id` of its input. In a skill, write a group for each
    /// tool.
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
            } else if lacks_exact_matcher(handler) {
                (
                    format!(
                        "`once` has no effect on {} unless the matcher is one name: the hook runs every time",
                        handler.event
                    ),
                    "write a group for each name, for example with the matcher `Bash`",
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

/// Returns true if a hook is on an event with a matcher, and its matcher is not one name. The client forgets a hook that ran
/// by comparing the matcher with the value of the event, as a text.
fn lacks_exact_matcher(handler: HandlerNode<'_>) -> bool {
    let is_name = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ':'))
    };
    table::event_spec(handler.event).matcher.field.is_some()
        && !handler.matcher().is_some_and(is_name)
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
    fn works_with_one_name_in_skill() {
        let messages = |whose, path, event: &str, matcher: &str| {
            let group = format!("    - matcher: '{matcher}'\n      hooks:\n");
            let hook = "        - type: command\n          command: 'true'\n          once: true\n";
            let text = format!("---\nhooks:\n  {event}:\n{group}{hook}---\n");
            LintCase::empty().with_file(whose, path, &text).messages(&ONCE_IGNORED)
        };
        let skill = |event, matcher| messages(SettingsSource::Skill, "s/SKILL.md", event, matcher);
        assert!(skill("PostToolUse", "")[0].contains("unless the matcher is one name"));
        assert_eq!(skill("PostToolUse", "Edit|Write").len(), 1);
        assert!(skill("PostToolUse", "Bash").is_empty());
        assert!(skill("Stop", "").is_empty());
        let agent = messages(SettingsSource::Agent, ".claude/agents/a.md", "PostToolUse", "Bash");
        assert_eq!(agent, ["`once` has no effect here: the hook runs every time"]);
    }
}
