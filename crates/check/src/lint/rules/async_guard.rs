//! Guards that run in the background.

use crate::lint::rule::lint_rule;
use crate::lint::{CommandReading, LintContext, LintFinding, SourceNode};

lint_rule! {
    /// A hook that decides runs with `async`, so its decision comes too late.
    ///
    /// The client does not wait for an `async` hook and ignores its answer.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "./guard.sh", "async": true }] }] } }
    /// ```
    ///
    /// Remove `async`. The rule reports only hooks whose command or script certainly denies or exits with 2.
    ASYNC_GUARD = "async-guard", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for reading in &context.commands {
        let Some(handler) = reading.node(&context.files) else { continue };
        let Some(member) = handler.node.member("async") else { continue };
        let rewakes = handler.node.get("asyncRewake").and_then(SourceNode::flag) == Some(true);
        if member.node.flag() == Some(true) && !rewakes && decides(reading, context) {
            let message = "this hook denies or blocks, but runs in the background: the client ignores its answer";
            findings.push(LintFinding::new(
                &ASYNC_GUARD,
                reading.file,
                member.range(),
                message,
                "remove `async`",
            ));
        }
    }
}

/// Returns true if a command or its script certainly denies or exits with 2.
pub(super) fn decides(reading: &CommandReading, context: &LintContext<'_>) -> bool {
    let scripts = reading.scripts.iter().map(|script| &context.scripts[*script].report);
    scripts
        .chain(std::iter::once(&reading.report.inline))
        .any(|report| report.exits.has_denial || report.exits.has_exit(2))
}

#[cfg(test)]
mod tests {
    use super::ASYNC_GUARD;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_guards_in_the_background() {
        let case = |script: &str, more: &str| {
            LintCase::command(
                "PreToolUse",
                &format!("\"command\": \"\\\"$CLAUDE_PROJECT_DIR\\\"/a.sh\"{more}"),
            )
            .with_text("a.sh!", &format!("#!/bin/sh\n{script}\n"))
        };
        assert_eq!(case("exit 2", ", \"async\": true").marked(&ASYNC_GUARD), ["\"async\": true"]);
        assert!(case("echo done >> log", ", \"async\": true").marked(&ASYNC_GUARD).is_empty());
        assert!(case("exit 2", "").marked(&ASYNC_GUARD).is_empty());
    }
}
