//! `once` outside of skills.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};
use crate::settings::SettingsSource;

lint_rule! {
    /// `once` has no effect outside of a skill, so the hook runs every time.
    ///
    /// The client honours `once: true` only in the frontmatter of a skill. In settings, plugins and agents it accepts the
    /// field and ignores it.
    ///
    /// ```json
    /// { "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": "./setup.sh", "once": true }] }] } }
    /// ```
    ///
    /// Let the hook keep a marker file of its own, named by the `session_id` of its input.
    ONCE_IGNORED = "once-ignored", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        if file.whose == SettingsSource::Skill {
            continue;
        }
        for handler in file.handlers() {
            let Some(once) = handler.node.member("once") else { continue };
            if once.node.flag() == Some(true) {
                let message = "`once` has no effect here: the hook runs every time";
                let help = "keep a marker file in the hook, named by `session_id`";
                findings.push(LintFinding::new(&ONCE_IGNORED, index, once.range(), message, help));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ONCE_IGNORED;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_once_in_settings() {
        let marked = |fields| LintCase::command("SessionStart", fields).marked(&ONCE_IGNORED);
        assert_eq!(marked("\"command\": \"true\", \"once\": true"), ["\"once\": true"]);
        assert!(marked("\"command\": \"true\", \"once\": false").is_empty());
    }
}
