//! Groups and hooks that the client cannot load.

use rutter_contract::EventName;

use super::entry_flat;
use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFile, LintFinding, SourceMember, SourceNode};
use crate::settings::{EntryFault, EntryFieldType, HookFaultKind, LoadFault, entry_types};

lint_rule! {
    /// The client cannot load a group or a hook, so it never runs.
    ///
    /// A hook needs a `type` that the client knows, the fields of that type, and values of the right types. The client skips
    /// a wrong hook and runs the others.
    ///
    /// **Under PreToolUse and PermissionRequest one wrong hook makes the client skip the whole file**, with permissions,
    /// environment and every other hook: the hook could have been what protects the rest. Clients before about 2.1.325 do so
    /// on every event. A plugin with such a hook is not loaded. Issue anthropics/claude-code#75081 is about this; it still
    /// holds on 2.1.325.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "hooks": [{ "command": "./guard.sh", "timeout": "30" }] }] } }
    /// ```
    ///
    /// `--fix` adds a missing `type` to a hook with a `command`, removes the quotes of a number, and puts a single hook into
    /// an array.
    ENTRY_INVALID = "entry-invalid", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for (fault, at) in file.hook_faults() {
            let HookFaultKind::Unloadable { event, reason, .. } = &fault.kind else { continue };
            let Some(node) = file.node_at(at) else { continue };
            let is_flat = *reason == LoadFault::GroupHooksNotList { found: None }
                && ["command", "prompt", "url", "server", "script"]
                    .iter()
                    .any(|field| node.get(field).is_some());
            if is_flat {
                continue;
            }
            let message = format!("{}; {}", describe(*event, reason), file.skip_note(fault));
            let help = advice(reason, node);
            let place = match reason {
                LoadFault::GroupHooksNotList { found: Some(_) } => node.member("hooks"),
                _ => None,
            };
            let range = place.map_or_else(|| node.range.clone(), SourceMember::range);
            let finding = LintFinding::new(&ENTRY_INVALID, index, range, message, help)
                .voiding_file(fault.skips_file);
            findings.push(add_fix(finding, reason, node, file));
        }
    }
}

fn describe(event: EventName, reason: &LoadFault) -> String {
    match reason {
        LoadFault::GroupNotObject { found } => {
            format!("{event}: a matcher group must be an object, not {found}")
        }
        LoadFault::GroupHooksNotList { found: Some(found) } => {
            format!("{event}: `hooks` of a matcher group must be an array, not {found}")
        }
        LoadFault::GroupHooksNotList { found: None } => {
            format!("{event}: a matcher group without `hooks`")
        }
        LoadFault::MatcherNotText { found } => {
            format!("{event}: `matcher` must be a string, not {found}")
        }
        LoadFault::Entry(fault) => format!("{event}: {fault}"),
    }
}

fn advice(reason: &LoadFault, node: &SourceNode) -> String {
    let types = || entry_types().collect::<Vec<_>>().join(", ");
    match reason {
        LoadFault::GroupNotObject { .. } => "write { \"hooks\": [ … ] }".to_owned(),
        LoadFault::GroupHooksNotList { .. } => {
            "write \"hooks\": [ { \"type\": \"command\", \"command\": \"…\" } ]".to_owned()
        }
        LoadFault::MatcherNotText { .. } => {
            "write one string; `A|B` matches several names".to_owned()
        }
        LoadFault::Entry(EntryFault::NoType) if node.get("command").is_some() => {
            "add \"type\": \"command\"".to_owned()
        }
        LoadFault::Entry(
            EntryFault::NoType | EntryFault::TypeNotText { .. } | EntryFault::UnknownType { .. },
        ) => format!("`type` is one of {}", types()),
        LoadFault::Entry(EntryFault::NotObject { .. }) => {
            "write { \"type\": \"command\", \"command\": \"…\" }".to_owned()
        }
        LoadFault::Entry(EntryFault::MissingField { field, .. }) => format!("add `{field}`"),
        LoadFault::Entry(EntryFault::WrongField { wanted, .. }) => {
            format!("write {}", wanted.description())
        }
    }
}

/// Adds the fix where the intent is certain.
fn add_fix(
    finding: LintFinding,
    reason: &LoadFault,
    node: &SourceNode,
    file: &LintFile,
) -> LintFinding {
    match reason {
        LoadFault::Entry(EntryFault::NoType) if entry_flat::lacks_only_type(node, reason) => {
            match file.prepend_member(node, "\"type\": \"command\"") {
                Some(edit) => finding.with_edits(vec![edit]),
                None => finding,
            }
        }
        LoadFault::Entry(EntryFault::WrongField { wanted: EntryFieldType::Seconds, .. }) => {
            // `"30"`: only a plain number of seconds.
            let number = node.text().filter(|text| {
                text.parse::<u32>().is_ok_and(|number| number > 0) && !text.starts_with(['+', '0'])
            });
            match number {
                Some(number) => finding.with_edit(node.range.clone(), number),
                None => finding,
            }
        }
        LoadFault::GroupHooksNotList { found: Some("object") } => {
            let Some(hooks) = node.get("hooks") else { return finding };
            let is_hook = hooks.get("type").and_then(SourceNode::text).is_some();
            match file.text.get(hooks.range.clone()).filter(|_| is_hook) {
                Some(text) => finding.with_edit(hooks.range.clone(), format!("[{text}]")),
                None => finding,
            }
        }
        LoadFault::MatcherNotText { found: "array" } => {
            let names: Option<Vec<&str>> = node.items().iter().map(SourceNode::text).collect();
            let is_name = |name: &&str| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            };
            match names.filter(|names| !names.is_empty() && names.iter().all(is_name)) {
                Some(names) => {
                    finding.with_edit(node.range.clone(), format!("\"{}\"", names.join("|")))
                }
                None => finding,
            }
        }
        _ => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::ENTRY_INVALID;
    use crate::lint::testing::LintCase;

    fn stop(group: &str) -> LintCase {
        LintCase::settings(&format!("{{\"hooks\": {{\"Stop\": [{group}]}}}}"))
    }

    #[test]
    fn certain_faults_are_fixed() {
        for (group, fixed) in [
            (
                r#"{"hooks": [{"command": "true"}]}"#,
                r#"{"hooks": [{"type": "command", "command": "true"}]}"#,
            ),
            (
                r#"{"hooks": [{"type": "command", "command": "true", "timeout": "30"}]}"#,
                r#"{"hooks": [{"type": "command", "command": "true", "timeout": 30}]}"#,
            ),
            (
                r#"{"hooks": {"type": "command", "command": "true"}}"#,
                r#"{"hooks": [{"type": "command", "command": "true"}]}"#,
            ),
            (
                r#"{"matcher": ["Edit", "Write"], "hooks": []}"#,
                r#"{"matcher": "Edit|Write", "hooks": []}"#,
            ),
        ] {
            let fixed = format!("{{\"hooks\": {{\"Stop\": [{fixed}]}}}}");
            assert_eq!(stop(group).fixed(&ENTRY_INVALID), fixed, "{group}");
        }
    }

    #[test]
    fn other_faults_are_named() {
        for (group, words) in [
            ("1", "a matcher group must be an object"),
            (r#"{"hooks": [{"type": "script", "command": "x"}]}"#, "unknown `type`"),
            (r#"{"hooks": [{"type": "command"}]}"#, "needs `command`"),
            (r#"{"hooks": [{"type": "command", "command": 1}]}"#, "`command` must be a string"),
            (
                r#"{"hooks": [{"type": "command", "command": "x", "timeout": 0}]}"#,
                "a number over 0",
            ),
        ] {
            let messages = stop(group).messages(&ENTRY_INVALID);
            assert!(messages.len() == 1 && messages[0].contains(words), "{group}: {messages:?}");
        }
    }

    #[test]
    fn older_client_skips_file_on_every_event() {
        let case = || stop(r#"{"hooks": [{"type": "command"}]}"#);
        assert!(case().messages(&ENTRY_INVALID)[0].ends_with("the client skips it"));
        let old = case().on_client("2.1.197").messages(&ENTRY_INVALID);
        assert!(old[0].contains("skips the whole file"), "{old:?}");
    }
}
