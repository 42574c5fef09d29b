//! The same hook twice on one event.

use std::collections::HashMap;

use rutter_contract::EventName;

use crate::lint::rule::lint_rule;
use crate::lint::{HandlerNode, LintContext, LintFinding, Severity, SourceNode};

lint_rule! {
    /// The same command is registered twice for the same event.
    ///
    /// The client runs equal entries of settings once, even if they stand in several files, so one of them is superfluous.
    /// The same command in a plugin and in settings runs twice.
    ///
    /// ```json
    /// { "hooks": { "Stop": [
    ///   { "hooks": [{ "type": "command", "command": "./check.sh" }] },
    ///   { "hooks": [{ "type": "command", "command": "./check.sh" }] }
    /// ] } }
    /// ```
    ///
    /// Entries with another `if`, or under another matcher, are not the same. The rule is a remark for entries that run once
    /// and a warning for entries that run twice.
    HANDLER_TWICE = "handler-twice", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    let mut seen: HashMap<HandlerKey<'_>, bool> = HashMap::new();
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers().filter(|handler| handler.is_type("command")) {
            let Some(key) = HandlerKey::new(handler) else { continue };
            let Some(in_plugin) = seen.get(&key) else {
                seen.insert(key, file.is_plugin());
                continue;
            };
            let Some(command) = handler.node.member("command") else { continue };
            let runs_twice = *in_plugin != file.is_plugin();
            let message = if runs_twice {
                format!("this command runs twice on {}: in a plugin and in settings", handler.event)
            } else {
                format!(
                    "this command is registered twice on {}; the client runs it once",
                    handler.event
                )
            };
            let severity = if runs_twice { Severity::Warning } else { Severity::Info };
            let finding = LintFinding::new(
                &HANDLER_TWICE,
                index,
                command.range(),
                message,
                "remove one of them",
            );
            findings.push(finding.with_severity(severity));
        }
    }
}

/// What the client compares of two hooks.
#[derive(Debug, PartialEq, Eq, Hash)]
struct HandlerKey<'a> {
    event: EventName,
    matcher: &'a str,
    command: &'a str,
    condition: &'a str,
    args: Option<Vec<&'a str>>,
}

impl<'a> HandlerKey<'a> {
    fn new(handler: HandlerNode<'a>) -> Option<Self> {
        let args = handler.node.get("args");
        Some(Self {
            event: handler.event,
            matcher: handler.matcher().unwrap_or_default(),
            command: handler.text("command")?,
            condition: handler.text("if").unwrap_or_default(),
            args: args.map(|args| args.items().iter().filter_map(SourceNode::text).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::HANDLER_TWICE;
    use crate::lint::testing::LintCase;

    fn case(first: &str, second: &str) -> LintCase {
        LintCase::settings(&format!(r#"{{"hooks": {{"PreToolUse": [{first}, {second}]}}}}"#))
    }

    #[test]
    fn finds_equal_commands() {
        let group = r#"{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}"#;
        assert_eq!(case(group, group).marked(&HANDLER_TWICE), ["\"command\": \"true\""]);
        let other = group.replace("Bash", "Edit");
        assert!(case(group, &other).marked(&HANDLER_TWICE).is_empty());
        let filtered = group.replace("\"type\"", "\"if\": \"Bash(git *)\", \"type\"");
        assert!(case(group, &filtered).marked(&HANDLER_TWICE).is_empty());
    }
}
