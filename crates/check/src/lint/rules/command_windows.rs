//! Commands that Windows shells read differently.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// A path with backslashes, or a variable as `%NAME%`, works in no shell that the client uses for hooks.
    ///
    /// On Windows the client runs commands in Git Bash, where a backslash escapes the next character, and on Linux and macOS
    /// in `/bin/sh`. This is documented and was not observed here.
    ///
    /// ```json
    /// { "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": ".claude\\hooks\\check.sh" }] }] } }
    /// ```
    ///
    /// Write `/` between folders.
    COMMAND_WINDOWS = "command-windows", Info, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers().filter(|handler| handler.is_type("command")) {
            let Some(command) = handler.node.member("command") else { continue };
            let is_powershell = handler.text("shell") == Some("powershell");
            let text = command.node.text().unwrap_or_default();
            let word = first_word(text);
            let variable = text.split('%').skip(1).step_by(2).any(|name| {
                name.len() > 3 && name.bytes().all(|c| c.is_ascii_uppercase() || c == b'_')
            });
            if !is_powershell && variable {
                let message =
                    "`%NAME%` is read by cmd.exe alone, which the client does not use for hooks";
                let finding = LintFinding::new(
                    &COMMAND_WINDOWS,
                    index,
                    command.range(),
                    message,
                    "write \"$NAME\"",
                );
                findings.push(finding);
            } else if !is_powershell && handler.node.get("args").is_none() && has_windows_path(word)
            {
                let message = "a backslash in this path escapes the next character, also in Git Bash on Windows";
                let finding = LintFinding::new(
                    &COMMAND_WINDOWS,
                    index,
                    command.range(),
                    message,
                    "write `/` between folders",
                );
                findings.push(finding);
            }
        }
    }
}

/// Returns the first word of a command, without quotes.
pub(super) fn first_word(command: &str) -> &str {
    command.split_ascii_whitespace().next().unwrap_or_default().trim_matches(['"', '\''])
}

/// Returns true for a path such as `.claude\hooks\a.sh` or `C:\hooks\a.sh`.
pub(super) fn has_windows_path(word: &str) -> bool {
    let mut parts = word.split('\\');
    let first = parts.next().unwrap_or_default();
    let is_name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    let is_drive = first.len() == 2
        && first.ends_with(':')
        && first.starts_with(|c: char| c.is_ascii_alphabetic());
    let rest: Vec<&str> = parts.collect();
    !rest.is_empty() && (is_drive || is_name(first)) && rest.iter().all(|part| is_name(part))
}

#[cfg(test)]
mod tests {
    use super::COMMAND_WINDOWS;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_paths_with_backslashes() {
        let case = |command| LintCase::command("Stop", &format!("\"command\": \"{command}\""));
        assert_eq!(case(".claude\\\\hooks\\\\check.sh").marked(&COMMAND_WINDOWS).len(), 1);
        assert_eq!(case("C:\\\\hooks\\\\check.sh").marked(&COMMAND_WINDOWS).len(), 1);
        assert_eq!(case("%CLAUDE_PROJECT_DIR%/check.sh").marked(&COMMAND_WINDOWS).len(), 1);
        for command in ["date +%H:%M:%S", "echo a\\\\b", "printf '\\\\n'", "./check.sh"] {
            assert!(case(command).marked(&COMMAND_WINDOWS).is_empty(), "{command}");
        }
    }
}
