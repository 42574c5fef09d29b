//! The same hook twice on one event.

use rutter_contract::table::event_spec;
use rutter_contract::version::Contract;

use crate::lint::rule::lint_rule;
use crate::lint::{HandlerNode, LintContext, LintFinding, Severity, SourceNode};
use crate::matcher::{Matcher, MatcherReach};

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
    /// Entries with another `if` both run. Under two matchers, the client runs the command once for a value that both match;
    /// that is not reported. The rule is a remark for entries that run once and a warning for entries that run twice.
    HANDLER_TWICE = "handler-twice", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    let mut seen: Vec<(HandlerNode<'_>, bool)> = Vec::new();
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers().filter(|handler| handler.is_type("command")) {
            let same = seen.iter().find(|(other, _)| {
                is_same(*other, handler) && may_overlap(*other, handler, context.contract)
            });
            let Some((_, in_plugin)) = same else {
                seen.push((handler, file.is_plugin()));
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

/// Returns true if two hooks differ at most in what the client does not compare.
fn is_same(one: HandlerNode<'_>, other: HandlerNode<'_>) -> bool {
    let list = |handler: HandlerNode<'_>| -> Option<Vec<String>> {
        let items = handler.node.get("args")?.items().iter();
        Some(items.filter_map(SourceNode::text).map(str::to_owned).collect())
    };
    one.event == other.event
        && one.text("command").is_some()
        && one.text("command") == other.text("command")
        && one.text("if").unwrap_or_default() == other.text("if").unwrap_or_default()
        && list(one) == list(other)
}

/// Returns true if the matchers are the same, or certainly match a common value.
fn may_overlap(one: HandlerNode<'_>, other: HandlerNode<'_>, contract: Contract) -> bool {
    if one.matcher().unwrap_or_default() == other.matcher().unwrap_or_default() {
        return true;
    }
    let spec = event_spec(one.event);
    let reach =
        |handler: HandlerNode<'_>| Matcher::parse(handler.matcher(), spec, contract).reach();
    match (reach(one), reach(other)) {
        (MatcherReach::Every, MatcherReach::Every | MatcherReach::Known(_))
        | (MatcherReach::Known(_), MatcherReach::Every) => true,
        (MatcherReach::Known(one), MatcherReach::Known(other)) => {
            one.iter().any(|name| other.contains(name))
        }
        _ => false,
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
        let wider = group.replace("Bash", "Edit|Bash");
        assert_eq!(case(group, &wider).marked(&HANDLER_TWICE).len(), 1);
        let other = group.replace("Bash", "Edit");
        assert!(case(group, &other).marked(&HANDLER_TWICE).is_empty());
        let filtered = group.replace("\"type\"", "\"if\": \"Bash(git *)\", \"type\"");
        assert!(case(group, &filtered).marked(&HANDLER_TWICE).is_empty());
    }
}
