//! `if` rules with which a hook never runs.

use rutter_contract::table::event_spec;
use rutter_contract::version::Contract;

use crate::lint::rule::lint_rule;
use crate::lint::{HandlerNode, LintContext, LintFinding};
use crate::matcher::{
    IF_EVENTS, IfFault, IfRule, Matcher, MatcherReach, NameState, current_tool_name, tool_names,
};

lint_rule! {
    /// The `if` of a hook can never be true, so the hook never runs.
    ///
    /// `if` takes one permission rule, such as `Bash(git *)` or `Edit(*.ts)`, and only on PreToolUse, PostToolUse,
    /// PostToolUseFailure, PermissionRequest and PermissionDenied. On every other event a hook with an `if` never runs. Lists
    /// (`Bash(a)|Read`), `||`, unknown names and another case match nothing.
    ///
    /// ```json
    /// { "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh", "if": "Bash(git *)" }] }] } }
    /// ```
    ///
    /// A rule for a tool that the matcher of the group does not match is never evaluated.
    ///
    /// Remove it, or write two hooks with the same command and one rule each. `--fix` corrects the case of the tool's name.
    IF_NEVER_RUNS = "if-never-runs", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers() {
            let Some(member) = handler.node.member("if") else { continue };
            let Some(text) = member.node.text() else { continue };
            let rule = IfRule::parse(text);
            let Some(fault) = rule.find_fault(handler.event, context.contract) else {
                if let Some(tool) = unmatched_tool(&rule, handler, context.contract) {
                    let message = format!(
                        "`if` wants {tool}, which the matcher of the group does not match: the hook never runs"
                    );
                    let help = format!("add {tool} to the matcher, or correct `if`");
                    findings.push(LintFinding::new(
                        &IF_NEVER_RUNS,
                        index,
                        member.range(),
                        message,
                        help,
                    ));
                }
                continue;
            };
            let (message, help) = describe(fault, &rule, handler);
            let message = format!("{message}: the hook never runs");
            let finding = LintFinding::new(&IF_NEVER_RUNS, index, member.range(), message, help);
            findings.push(match (fault, &rule) {
                (
                    IfFault::ImpossibleTool(NameState::WrongCase(right)),
                    IfRule::Tool { name, .. },
                ) => {
                    let text = text.replacen(name.as_str(), right, 1);
                    match serde_json::to_string(&text) {
                        Ok(text) => finding.with_edit(member.node.range.clone(), text),
                        Err(_) => finding,
                    }
                }
                _ => finding,
            });
        }
    }
}

/// Returns the tool of a rule if the matcher of the group certainly does not match it.
fn unmatched_tool(rule: &IfRule, handler: HandlerNode<'_>, contract: Contract) -> Option<String> {
    let IfRule::Tool { name, .. } = rule else { return None };
    let tool = current_tool_name(name, contract);
    let matcher = Matcher::parse(handler.matcher(), event_spec(handler.event), contract);
    // A hook for Bash also runs for some calls of other tools, and a rule for Bash covers those.
    let is_certain = tool_names(contract).contains(&tool)
        && matcher.matches(tool) == Some(false)
        && !matches!(matcher.reach(), MatcherReach::Never(_))
        && !(tool == "Monitor" && matcher.matches_as_bash())
        && !(tool == "Bash" && matcher.matches("Monitor") == Some(true));
    is_certain.then(|| tool.to_owned())
}

fn describe(fault: IfFault, rule: &IfRule, handler: HandlerNode<'_>) -> (String, String) {
    let name = match rule {
        IfRule::Tool { name, .. } => name.as_str(),
        _ => "",
    };
    let (message, help): (String, String) = match fault {
        IfFault::WrongEvent => {
            let events: Vec<&str> = IF_EVENTS.iter().map(|event| event.as_str()).collect();
            (
                format!("the client evaluates no `if` on {}", handler.event),
                format!("remove `if`; it works on {}", events.join(", ")),
            )
        }
        IfFault::ToolList => (
            "`if` takes one rule, and this names several tools".into(),
            "write one hook with the same command for each rule".into(),
        ),
        IfFault::UnbalancedParentheses => (
            "the client cannot read this rule: a parenthesis has no partner".into(),
            "write one rule such as `Bash(git *)`; escape a parenthesis with a backslash".into(),
        ),
        IfFault::TextAfterContent => (
            "the client cannot read this rule: text follows the closing parenthesis".into(),
            "write one rule such as `Bash(git *)`".into(),
        ),
        IfFault::NoTool => (
            "this rule names no tool".into(),
            "write the tool before the parenthesis, for example `Bash(git *)`".into(),
        ),
        IfFault::SpaceInName => (
            "the name of the tool has a space".into(),
            "write the name alone, for example `Bash`".into(),
        ),
        IfFault::WildcardInName => (
            "the name of the tool has a `*`, and rules name one tool exactly".into(),
            "name the tool, or use the matcher of the group, which takes patterns".into(),
        ),
        IfFault::ToolWithoutContent => (
            format!("`{name}` compares no content, so a rule with parentheses never matches"),
            format!("write `{name}` alone, and filter inside the hook"),
        ),
        IfFault::ImpossibleTool(NameState::WrongCase(right)) => {
            (format!("`{name}` is not `{right}`: case counts"), format!("write `{right}`"))
        }
        IfFault::ImpossibleTool(NameState::Retired { instead }) => (
            format!("the client has no tool `{name}` any more"),
            instead
                .map_or_else(|| "remove `if`".to_owned(), |instead| format!("write `{instead}`")),
        ),
        IfFault::ImpossibleTool(_) => (
            format!("no tool is named `{name}`"),
            "write the name of one tool; a server's tools are `mcp__server__tool`".into(),
        ),
    };
    (message, help)
}

#[cfg(test)]
mod tests {
    use super::IF_NEVER_RUNS;
    use crate::lint::testing::LintCase;

    fn case(event: &str, rule: &str) -> LintCase {
        LintCase::command(event, &format!("\"command\": \"true\", \"if\": \"{rule}\""))
    }

    #[test]
    fn finds_rules_that_are_never_true() {
        for (event, rule) in [
            ("Stop", "Bash(git *)"),
            ("PreToolUse", "Bash(echo *)|Read"),
            ("PreToolUse", "Bash(git *"),
            ("PreToolUse", "bash(git *)"),
            ("PreToolUse", "MultiEdit"),
            ("PreToolUse", "mcp__github__*"),
        ] {
            assert_eq!(case(event, rule).marked(&IF_NEVER_RUNS), [format!("\"if\": \"{rule}\"")]);
        }
        assert!(
            case("PreToolUse", "bash(git *)").fixed(&IF_NEVER_RUNS).contains("\"Bash(git *)\"")
        );
    }

    #[test]
    fn matcher_and_rule_name_the_same_tool() {
        let case = |matcher: &str, rule: &str| {
            LintCase::settings(&format!(
                r#"{{"hooks": {{"PreToolUse": [{{"matcher": "{matcher}", "hooks": [{{"type": "command", "command": "true", "if": "{rule}"}}]}}]}}}}"#
            ))
        };
        assert_eq!(case("Edit|Write", "Bash(git *)").marked(&IF_NEVER_RUNS).len(), 1);
        for (matcher, rule) in [
            ("Edit|Bash", "Bash(git *)"),
            ("", "Bash"),
            ("Ba.*", "Bash"),
            ("mcp__x__y", "mcp__x__y"),
            ("Task", "Agent"),
        ] {
            assert!(case(matcher, rule).marked(&IF_NEVER_RUNS).is_empty(), "{matcher} {rule}");
        }
    }

    #[test]
    fn rules_that_can_be_true_are_clean() {
        for rule in
            ["Bash(git *)", "Edit(*.ts)", "Bash", "", "mcp__github__create_issue", "Read(./.env)"]
        {
            assert!(case("PreToolUse", rule).marked(&IF_NEVER_RUNS).is_empty(), "{rule}");
        }
    }
}
