//! Stop hooks that block again and again.

use rutter_contract::EventName;

use super::async_guard::decides;
use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// A Stop hook blocks and never looks whether it blocked before, so it may keep the agent working for nothing.
    ///
    /// After a block, the agent works on and stops again, and the hook runs again. `stop_hook_active` in the payload is true
    /// then. A hook that does not read it blocks until its condition holds, which may be never. The client overrides the
    /// ninth block in a row; `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0` removes this limit.
    ///
    /// ```sh
    /// cargo test || { echo "tests fail" >&2; exit 2; }
    /// ```
    ///
    /// Let the hook exit with 0 if `stop_hook_active` is true, or count its own blocks.
    STOP_LOOP = "stop-loop", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for reading in &context.commands {
        let Some(handler) = reading.node(&context.files) else { continue };
        if !matches!(handler.event, EventName::Stop | EventName::SubagentStop)
            || !decides(reading, context)
        {
            continue;
        }
        let Some(command) = handler.node.member("command") else { continue };
        let texts = reading
            .scripts
            .iter()
            .map(|script| context.files[context.scripts[*script].file].text.as_str());
        let mut texts = texts.chain(command.node.text());
        // A script that counts, keeps a file or reads the field in another spelling has its own way out.
        let has_way_out = |text: &str| {
            [
                "stop_hook_active",
                "stopHookActive",
                "touch ",
                "attempt",
                "retry",
                "retries",
                "max_",
                "MAX_",
                "count",
            ]
            .iter()
            .any(|word| text.contains(word))
        };
        if texts.any(has_way_out) {
            continue;
        }
        let message = format!(
            "this {} hook can block again and again: it never reads `stop_hook_active`",
            handler.event
        );
        let help = "exit with 0 if `stop_hook_active` is true";
        // The exit or answer in the script says more than the command that starts it.
        let in_script = reading.scripts.iter().find_map(|script| {
            let script = &context.scripts[*script];
            let exit = script.report.exits.exits.iter().find(|exit| exit.code == 2);
            Some((script.file, exit?.range.clone()))
        });
        let (file, range) = in_script.unwrap_or_else(|| (reading.file, command.range()));
        findings.push(LintFinding::new(&STOP_LOOP, file, range, message, help));
    }
}

#[cfg(test)]
mod tests {
    use super::STOP_LOOP;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_hooks_without_a_way_out() {
        let case = |event: &str, script: &str| {
            LintCase::command(event, "\"command\": \"\\\"$CLAUDE_PROJECT_DIR\\\"/a.sh\"")
                .with_text("a.sh!", &format!("#!/bin/sh\n{script}\n"))
        };
        assert_eq!(case("Stop", "make test || exit 2").marked(&STOP_LOOP).len(), 1);
        let guarded = "[ \"$(jq -r .stop_hook_active)\" = true ] && exit 0\nmake test || exit 2";
        assert!(case("Stop", guarded).marked(&STOP_LOOP).is_empty());
        assert!(case("PreToolUse", "make test || exit 2").marked(&STOP_LOOP).is_empty());
        assert!(case("Stop", "make test").marked(&STOP_LOOP).is_empty());
    }
}
