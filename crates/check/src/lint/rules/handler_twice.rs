//! The same hook twice on one event.

use std::collections::HashMap;

use rutter_contract::EventName;
use rutter_contract::table::event_spec;
use rutter_contract::version::Contract;

use crate::lint::rule::lint_rule;
use crate::lint::{HandlerNode, LintContext, LintFinding, Severity, SourceNode};
use crate::matcher::Matcher;

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
    /// Entries with another `if` both run. Under two matchers that match a common value, the client runs the command once for it.
    /// The rule is a remark for entries that run once and a warning for entries that run twice.
    HANDLER_TWICE = "handler-twice", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    let mut seen: HashMap<HandlerKey<'_>, Vec<(HandlerNode<'_>, bool)>> = HashMap::new();
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers().filter(|handler| handler.is_type("command")) {
            // Hooks of a skill, agent or command run only while it is in use.
            let part = file.whose.is_markdown().then_some(index);
            let Some(key) = HandlerKey::new(handler, part) else { continue };
            let known = seen.entry(key).or_default();
            let same =
                known.iter().find(|(other, _)| may_overlap(*other, handler, context.contract));
            let Some((_, in_plugin)) = same else {
                known.push((handler, file.is_plugin()));
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

/// The fields of a hook that the client compares, without its matcher.
#[derive(Debug, PartialEq, Eq, Hash)]
struct HandlerKey<'a> {
    /// Index of a file whose hooks run only for a part of a session.
    part: Option<usize>,
    event: EventName,
    command: &'a str,
    condition: &'a str,
    args: Option<Vec<&'a str>>,
}

impl<'a> HandlerKey<'a> {
    fn new(handler: HandlerNode<'a>, part: Option<usize>) -> Option<Self> {
        let args = handler.node.get("args");
        Some(Self {
            part,
            event: handler.event,
            command: handler.text("command")?,
            condition: handler.text("if").unwrap_or_default(),
            args: args.map(|args| args.items().iter().filter_map(SourceNode::text).collect()),
        })
    }
}

/// Returns true if the matchers are the same, or certainly match a common value.
fn may_overlap(one: HandlerNode<'_>, other: HandlerNode<'_>, contract: Contract) -> bool {
    if one.matcher().unwrap_or_default() == other.matcher().unwrap_or_default() {
        return true;
    }
    let spec = event_spec(one.event);
    let reach =
        |handler: HandlerNode<'_>| Matcher::parse(handler.matcher(), spec, contract).reach();
    reach(one).has_common_value(&reach(other))
}

#[cfg(test)]
mod tests {
    use super::HANDLER_TWICE;
    use crate::lint::testing::LintCase;
    use crate::settings::SettingsSource;

    fn case(first: &str, second: &str) -> LintCase {
        LintCase::settings(&format!(r#"{{"hooks": {{"PreToolUse": [{first}, {second}]}}}}"#))
    }

    #[test]
    fn finds_equal_commands() {
        let group = r#"{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}"#;
        assert_eq!(case(group, group).marked(&HANDLER_TWICE), ["\"command\": \"true\""]);
        let wider = group.replace("Bash", "Edit|Bash");
        assert_eq!(case(group, &wider).marked(&HANDLER_TWICE).len(), 1);
        let other = group.replace("Bash", "Edit");
        assert!(case(group, &other).marked(&HANDLER_TWICE).is_empty());
        let filtered = group.replace("\"type\"", "\"if\": \"Bash(git *)\", \"type\"");
        assert!(case(group, &filtered).marked(&HANDLER_TWICE).is_empty());
    }

    #[test]
    fn agents_and_skills_are_apart() {
        let hook =
            "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: \"true\"\n";
        let text = format!("---\nname: a\ndescription: b\n{hook}---\n");
        let case = LintCase::settings(
            r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#,
        );
        let case = case.with_file(SettingsSource::Agent, ".claude/agents/a.md", &text).with_file(
            SettingsSource::Skill,
            ".claude/skills/a/SKILL.md",
            &text,
        );
        assert_eq!(case.marked(&HANDLER_TWICE), [""; 0]);
    }
}
