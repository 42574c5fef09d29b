//! Events whose value is no list of groups.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding, SourceNode};
use crate::settings::HookFaultKind;

lint_rule! {
    /// The value of an event is not a list of matcher groups, so its hooks never run.
    ///
    /// An event has an array of groups, and a group has an array of hooks. A single group without the array is ignored.
    /// Under PreToolUse and PermissionRequest, newer clients then skip the whole file.
    ///
    /// ```json
    /// { "hooks": { "Stop": { "hooks": [{ "type": "command", "command": "./check.sh" }] } } }
    /// ```
    ///
    /// Write `"Stop": [{ "hooks": [ … ] }]`. `--fix` adds the missing brackets.
    EVENT_NOT_LIST = "event-not-list", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for (fault, at) in file.hook_faults() {
            let HookFaultKind::EventNotList { event, found } = &fault.kind else { continue };
            let Some(node) = file.node_at(at) else { continue };
            let message = format!(
                "`{event}` must be an array of matcher groups, not {found}; {}",
                file.skip_note(fault)
            );
            let help = format!("write \"{event}\": [ {{ \"hooks\": [ … ] }} ]");
            let finding =
                LintFinding::new(&EVENT_NOT_LIST, index, node.range.clone(), message, help)
                    .voiding_file(fault.skips_file);
            findings.push(match wrapped_value(node, &file.text) {
                Some(text) => finding.with_edit(node.range.clone(), text),
                None => finding,
            });
        }
    }
}

/// Returns the value with the missing brackets: of a single group, or of a single hook.
fn wrapped_value(node: &SourceNode, text: &str) -> Option<String> {
    let value = text.get(node.range.clone())?;
    if node.get("hooks").is_some_and(|hooks| !hooks.items().is_empty()) {
        return Some(format!("[{value}]"));
    }
    let is_hook = node.get("type").is_some() && node.get("matcher").is_none();
    is_hook.then(|| format!("[{{\"hooks\": [{value}]}}]"))
}

#[cfg(test)]
mod tests {
    use super::EVENT_NOT_LIST;
    use crate::lint::testing::LintCase;

    #[test]
    fn single_groups_and_hooks_are_wrapped() {
        let group = r#"{"hooks": {"Stop": {"hooks": [{"type": "command", "command": "true"}]}}}"#;
        let case = LintCase::settings(group);
        assert_eq!(case.marked(&EVENT_NOT_LIST).len(), 1);
        let fixed = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
        assert_eq!(case.fixed(&EVENT_NOT_LIST), fixed);
        assert!(LintCase::settings(fixed).all().is_empty());
        let hook = r#"{"hooks": {"Stop": {"type": "command", "command": "true"}}}"#;
        assert_eq!(LintCase::settings(hook).fixed(&EVENT_NOT_LIST), fixed);
    }

    #[test]
    fn guards_void_the_file() {
        let case = LintCase::settings(r#"{"hooks": {"PreToolUse": "./guard.sh"}}"#);
        let messages = case.messages(&EVENT_NOT_LIST);
        assert!(messages[0].contains("skips the whole file"), "{messages:?}");
        assert_eq!(case.fixed(&EVENT_NOT_LIST), r#"{"hooks": {"PreToolUse": "./guard.sh"}}"#);
    }
}
