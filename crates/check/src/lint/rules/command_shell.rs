//! Syntax of bash in a command that `/bin/sh` runs.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// A command uses syntax of bash, but the client runs it with `/bin/sh`.
    ///
    /// `shell: "bash"` changes nothing on Linux: the client ran `/bin/sh`, which is dash on Debian and Ubuntu. There `[[ … ]]`,
    /// `<<<`, `<( … )`, `source` and arrays are errors, and a guard fails open. Where `/bin/sh` is bash, the rule is silent.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "[[ $(cat) == *rm* ]] && exit 2" }] }] } }
    /// ```
    ///
    /// Put the command into a script that begins with `#!/usr/bin/env bash`, or write `bash -c '…'`.
    COMMAND_SHELL = "command-shell", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    if context.machine.has_bash_as_sh {
        return;
    }
    for reading in &context.commands {
        if let Some((range, construct)) = reading.report.inline.bash_syntax.first() {
            let message = format!(
                "{} is syntax of bash, and the client runs this command with /bin/sh",
                construct.description()
            );
            let help = "move it into a script with `#!/usr/bin/env bash`, or write bash -c '…'";
            let range = reading.range_in_file(&context.files, None, range);
            findings.push(LintFinding::new(&COMMAND_SHELL, reading.file, range, message, help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::COMMAND_SHELL;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_bash_syntax() {
        let case = |command| LintCase::command("Stop", &format!("\"command\": \"{command}\""));
        for command in ["[[ -f x ]] && exit 2", "cat <<< hello", "source ./x"] {
            assert_eq!(case(command).marked(&COMMAND_SHELL).len(), 1, "{command}");
        }
        for command in ["[ -f x ] && exit 2", "bash -c '[[ -f x ]]'", ". ./x"] {
            assert!(case(command).marked(&COMMAND_SHELL).is_empty(), "{command}");
        }
    }
}
