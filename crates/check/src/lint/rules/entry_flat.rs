//! Hooks without the group around them.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFile, LintFinding, SourceNode};
use crate::settings::{EntryFault, HookFaultKind, LoadFault};

lint_rule! {
    /// A hook stands directly under its event, without the group around it, so it never runs.
    ///
    /// An event has groups, and a group has its hooks in an array `hooks`. The client ignores a group without that array.
    /// Under PreToolUse and PermissionRequest it skips the whole file. Issue anthropics/claude-code#49990 is about this; it
    /// still holds on 2.1.325.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "matcher": "Bash", "type": "command", "command": "./guard.sh" }] } }
    /// ```
    ///
    /// Write `{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./guard.sh" }] }`. `--fix` does it, and adds a
    /// missing `type` to a hook with a `command`.
    ENTRY_FLAT = "entry-flat", Error, check
}

/// Fields that only a hook has.
const HOOK_FIELDS: &[&str] = &["command", "prompt", "url", "server", "script"];

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for (fault, at) in file.hook_faults() {
            let HookFaultKind::Unloadable { event, reason, .. } = &fault.kind else { continue };
            let Some(node) = file.node_at(at) else { continue };
            let flat = *reason == LoadFault::GroupHooksNotList { found: None }
                && HOOK_FIELDS.iter().any(|field| node.get(field).is_some());
            if !flat {
                continue;
            }
            let message = format!(
                "this hook of {event} is not in the `hooks` array of a group; {}",
                file.skip_note(fault)
            );
            let help = "write { \"hooks\": [ { … } ] }, with the matcher beside `hooks`";
            let finding = LintFinding::new(&ENTRY_FLAT, index, node.range.clone(), message, help)
                .voiding_file(fault.skips_file);
            findings.push(match wrapped_hook(node, file) {
                Some(text) => finding.with_edit(node.range.clone(), text),
                None => finding,
            });
        }
    }
}

/// Returns true if an entry without a type is certainly a command.
pub(super) fn lacks_only_type(node: &SourceNode, reason: &LoadFault) -> bool {
    *reason == LoadFault::Entry(EntryFault::NoType) && is_plain_command(node)
}

fn is_plain_command(node: &SourceNode) -> bool {
    node.get("command").and_then(SourceNode::text).is_some()
        && ["prompt", "url", "server"].iter().all(|field| node.get(field).is_none())
}

/// Returns the hook inside a group. Everything but the matcher goes into the hook.
fn wrapped_hook(node: &SourceNode, file: &LintFile) -> Option<String> {
    let has_type = node.get("type").and_then(SourceNode::text).is_some();
    if !has_type && !is_plain_command(node) {
        return None;
    }
    let (mut group, mut hook) = (Vec::new(), Vec::new());
    if !has_type {
        hook.push("\"type\": \"command\"");
    }
    for member in node.members() {
        let part = file.text.get(member.range())?;
        if member.key == "matcher" { group.push(part) } else { hook.push(part) }
    }
    let hook = format!("\"hooks\": [{{ {} }}]", hook.join(", "));
    group.push(&hook);
    Some(format!("{{ {} }}", group.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::ENTRY_FLAT;
    use crate::lint::testing::LintCase;

    #[test]
    fn flat_hooks_are_wrapped() {
        let text = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "type": "command", "command": "true"}]}}"#;
        let case = LintCase::settings(text);
        assert!(case.messages(&ENTRY_FLAT)[0].contains("skips the whole file"));
        let fixed = r#"{"hooks": {"PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "true" }] }]}}"#;
        assert_eq!(case.fixed(&ENTRY_FLAT), fixed);
        assert!(LintCase::settings(fixed).all().is_empty());
    }

    #[test]
    fn missing_type_is_added() {
        let case = LintCase::settings(r#"{"hooks": {"Stop": [{"command": "true"}]}}"#);
        let fixed =
            r#"{"hooks": {"Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }]}}"#;
        assert_eq!(case.fixed(&ENTRY_FLAT), fixed);
    }

    #[test]
    fn uncertain_hooks_have_no_fix() {
        let text = r#"{"hooks": {"Stop": [{"script": "check.sh"}]}}"#;
        let case = LintCase::settings(text);
        assert_eq!(case.marked(&ENTRY_FLAT), [r#"{"script": "check.sh"}"#]);
        assert_eq!(case.fixed(&ENTRY_FLAT), text);
    }
}
