//! Guard hooks in a place where the client does not run them.

use std::path::Path;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};
use crate::settings::{HookFaultKind, PluginFaultKind};

lint_rule! {
    /// Hooks of PreToolUse or PermissionRequest stand in the wrong place, so the client skips the whole file.
    ///
    /// Newer clients look for these two events, and for anything that looks like a matcher group, in places where hooks do
    /// not belong: at the root of the file, under a name that is no event, inside a group. A hook there could have been what
    /// protects the rest, so the client applies nothing of the file.
    ///
    /// ```json
    /// { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "./guard.sh" }] }], "permissions": { "allow": ["Bash"] } }
    /// ```
    ///
    /// Move them to `hooks`, under the name of the event. Clients before about 2.1.325 ignore such hooks without skipping the
    /// file, so the rule reports nothing for them.
    GUARDS_MISPLACED = "guards-misplaced", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    let lacks_wrapper = |path: &Path| {
        context.plugin_faults.iter().any(|fault| {
            fault.kind == PluginFaultKind::MissingWrapper && fault.location.file == path
        })
    };
    for (index, file) in context.files.iter().enumerate() {
        // The rule plugin-invalid reports it, with a fix.
        if lacks_wrapper(&file.path) {
            continue;
        }
        for (fault, at) in file.hook_faults() {
            let (message, help) = match &fault.kind {
                HookFaultKind::GuardsOutside { key } => (
                    format!("hooks stand under `{key}`, outside `hooks`"),
                    "move them into `hooks`, under the name of their event",
                ),
                HookFaultKind::GuardsUnderUnknownEvent { name } => (
                    format!("`{name}` is not an event, and contains guard hooks or a matcher group"),
                    "put the groups under the name of an event",
                ),
                HookFaultKind::GuardsInGroup => (
                    "hooks of PreToolUse or PermissionRequest stand in the place of a matcher group"
                        .to_owned(),
                    "move them to the event itself",
                ),
                HookFaultKind::HooksIsGroup => (
                    "`hooks` is a single matcher group".to_owned(),
                    "write \"hooks\": { \"EVENT\": [ { … } ] }",
                ),
                _ => continue,
            };
            let message = format!("{message}; {}", file.skip_note(fault));
            let range = file.node_at(at).map_or(at..at, |node| node.range.clone());
            let finding = LintFinding::new(&GUARDS_MISPLACED, index, range, message, help);
            findings.push(finding.voiding_file(fault.skips_file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::GUARDS_MISPLACED;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_guards_in_wrong_places() {
        for text in [
            r#"{"PreToolUse": [{"hooks": []}]}"#,
            r#"{"hooks": {"Guards": {"PreToolUse": [{"hooks": []}]}}}"#,
            r#"{"hooks": {"Stop": [{"PreToolUse": [{"hooks": [1]}]}]}}"#,
            r#"{"hooks": {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}}"#,
        ] {
            let case = LintCase::settings(text);
            assert!(case.messages(&GUARDS_MISPLACED)[0].contains("skips the whole file"), "{text}");
            assert!(
                LintCase::settings(text).on_client("2.1.197").marked(&GUARDS_MISPLACED).is_empty()
            );
        }
    }
}
