//! Guards that let everything through when they fail.

use rutter_contract::table;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding, Severity};

lint_rule! {
    /// A guard exits with 1, which blocks nothing.
    ///
    /// Only exit code 2 blocks. After any other code the client shows an error and goes on: the call that the guard wanted to
    /// stop runs. An error is reported for a script that writes a refusal to stderr and then exits with 1, and never with 2. A
    /// message is a refusal if it says so, or if the script writes it only when `tool_input` matches a pattern.
    ///
    /// ```sh
    /// echo "blocked: rm -rf" >&2
    /// exit 1
    /// ```
    ///
    /// Write `exit 2`. `--fix` does it.
    ///
    /// A remark is reported for a guard with `set -e` and no trap: if any command in it fails, the script exits with that
    /// code and the call runs. Add `trap 'exit 2' ERR`, or `"onFailure": "block"` to the hook.
    GUARD_FAILS_OPEN = "guard-fails-open", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for script in &context.scripts {
        let can_block = script.events.iter().all(|event| table::event_spec(*event).can_block.value);
        if !can_block || script.events.is_empty() {
            continue;
        }
        let exits = &script.report.exits;
        let file = &context.files[script.file];
        for exit in exits.failed_blocks() {
            let message = "exit code 1 does not block: the client shows an error and goes on";
            let finding = LintFinding::new(
                &GUARD_FAILS_OPEN,
                script.file,
                exit.range.clone(),
                message,
                "exit with 2",
            );
            let text = file.text.get(exit.range.clone()).unwrap_or_default();
            findings.push(match text.matches('1').count() {
                1 => finding.with_edit(exit.range.clone(), text.replacen('1', "2", 1)),
                _ => finding,
            });
        }
        if exits.sets_errexit
            && !exits.has_trap
            && (exits.has_exit(2) || exits.has_denial)
            && !blocks_on_failure(context, script.file)
        {
            let at = file.text.find("set -e").unwrap_or_default();
            let range = at..at + file.text.get(at..).and_then(|rest| rest.find('\n')).unwrap_or(0);
            let message = "with `set -e`, a command that fails ends this guard with another code than 2, and the call runs";
            let help = "add trap 'exit 2' ERR, or \"onFailure\": \"block\" to the hook";
            let finding = LintFinding::new(&GUARD_FAILS_OPEN, script.file, range, message, help);
            findings.push(finding.with_severity(Severity::Info));
        }
    }
}

/// Returns true if every hook that starts a script blocks when it fails.
fn blocks_on_failure(context: &LintContext<'_>, file: usize) -> bool {
    let starts = context.commands.iter().filter(|reading| {
        reading.scripts.iter().any(|script| context.scripts[*script].file == file)
    });
    let mut handlers = starts.filter_map(|reading| reading.node(&context.files));
    handlers.all(|handler| handler.text("onFailure") == Some("block"))
}

#[cfg(test)]
mod tests {
    use super::GUARD_FAILS_OPEN;
    use crate::lint::testing::LintCase;

    fn case(event: &str, script: &str) -> LintCase {
        LintCase::command(event, "\"command\": \"\\\"$CLAUDE_PROJECT_DIR\\\"/a.sh\"")
            .with_text("a.sh!", &format!("#!/bin/bash\n{script}"))
    }

    #[test]
    fn exit_1_after_a_refusal_is_fixed() {
        let guard = "if grep -q rm; then\n  echo 'Blocked: rm' >&2\n  exit 1\nfi\n";
        assert_eq!(case("PreToolUse", guard).marked(&GUARD_FAILS_OPEN), ["exit 1"]);
        assert!(case("PreToolUse", guard).fixed(&GUARD_FAILS_OPEN).contains("exit 2"));
        assert!(case("SessionStart", guard).marked(&GUARD_FAILS_OPEN).is_empty());
        assert!(case("PreToolUse", &guard.replace('1', "2")).marked(&GUARD_FAILS_OPEN).is_empty());
    }

    #[test]
    fn exit_1_after_a_test_of_the_input_is_fixed() {
        let guard = "command=$(jq -r '.tool_input.command')\ncase \"$command\" in\n  *prod*)\n    \
                     echo 'use the pipeline' >&2\n    exit 1\n    ;;\nesac\nexit 0\n";
        assert_eq!(case("PreToolUse", guard).marked(&GUARD_FAILS_OPEN), ["exit 1"]);
        assert!(case("PreToolUse", guard).fixed(&GUARD_FAILS_OPEN).contains("exit 2"));
        assert!(case("SessionStart", guard).marked(&GUARD_FAILS_OPEN).is_empty());
        let other = guard.replace(".tool_input.command", ".cwd");
        assert!(case("PreToolUse", &other).marked(&GUARD_FAILS_OPEN).is_empty());
    }

    #[test]
    fn errexit_without_trap_is_a_remark() {
        let guard = "set -euo pipefail\ncommand=$(jq -r .tool_input.command)\nif [ \"$command\" = rm ]; then\n  exit 2\nfi\n";
        assert_eq!(case("PreToolUse", guard).marked(&GUARD_FAILS_OPEN), ["set -euo pipefail"]);
        let trapped = format!("trap 'exit 2' ERR\n{guard}");
        assert!(case("PreToolUse", &trapped).marked(&GUARD_FAILS_OPEN).is_empty());
    }
}
