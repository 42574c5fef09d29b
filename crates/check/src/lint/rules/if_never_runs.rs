//! `if` rules with which a hook never runs.

use crate::lint::rule::lint_rule;
use crate::lint::{HandlerNode, LintContext, LintFinding};
use crate::matcher::{IF_EVENTS, IfFault, IfRule, NameState};

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
    /// Remove it, or write two hooks with the same command and one rule each. `--fix` corrects the case of the tool's name.
    IF_NEVER_RUNS = "if-never-runs", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers() {
            let Some(member) = handler.node.member("if") else { continue };
            let Some(text) = member.node.text() else { continue };
            let rule = IfRule::parse(text);
            let Some(fault) = rule.find_fault(handler.event, context.contract) else { continue };
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
    fn rules_that_can_be_true_are_clean() {
        for rule in
            ["Bash(git *)", "Edit(*.ts)", "Bash", "", "mcp__github__create_issue", "Read(./.env)"]
        {
            assert!(case("PreToolUse", rule).marked(&IF_NEVER_RUNS).is_empty(), "{rule}");
        }
    }
}
