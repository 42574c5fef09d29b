//! Exit code 2 where it blocks nothing.

use rutter_contract::EventName;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// A PermissionRequest hook exits with 2, which decides nothing there.
    ///
    /// On PreToolUse, exit code 2 blocks the call. On PermissionRequest the client ignores it and drops the reason on stderr.
    /// The user is asked as if there were no hook; where nobody can be asked, the call is refused as without the hook.
    ///
    /// Print `{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny"}}}` and exit with 0.
    /// The rule reports scripts and commands that exit with 2, print no decision, and run on PermissionRequest alone.
    EXIT_IGNORED = "exit-ignored", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    let message = "exit code 2 decides nothing on PermissionRequest: the user is asked as before";
    let help = "print hookSpecificOutput with decision.behavior \"deny\", and exit with 0";
    for script in &context.scripts {
        let exits = &script.report.exits;
        if script.events[..] != [EventName::PermissionRequest] || exits.has_denial {
            continue;
        }
        for exit in exits.exits.iter().filter(|exit| exit.code == 2) {
            let range = exit.range.clone();
            findings.push(LintFinding::new(&EXIT_IGNORED, script.file, range, message, help));
        }
    }
    for reading in &context.commands {
        let on_request = reading
            .node(&context.files)
            .is_some_and(|handler| handler.event == EventName::PermissionRequest);
        let exits = &reading.report.inline.exits;
        for exit in
            exits.exits.iter().filter(|exit| on_request && !exits.has_denial && exit.code == 2)
        {
            let range = reading.range_in_file(&context.files, None, &exit.range);
            findings.push(LintFinding::new(&EXIT_IGNORED, reading.file, range, message, help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EXIT_IGNORED;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_exit_2_on_permission_requests() {
        let case = |event: &str| {
            LintCase::command(event, "\"command\": \"\\\"$CLAUDE_PROJECT_DIR\\\"/a.sh\"")
                .with_text("a.sh!", "#!/bin/sh\necho no >&2\nexit 2\n")
        };
        assert_eq!(case("PermissionRequest").marked(&EXIT_IGNORED), ["exit 2"]);
        assert!(case("PreToolUse").marked(&EXIT_IGNORED).is_empty());
    }
}
