//! Scripts that cannot run.

use std::path::Path;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFile, LintFinding, Severity};
use crate::script::CommandFaultKind;

lint_rule! {
    /// The script of a hook cannot run, so the hook fails every time, and a guard lets everything through.
    ///
    /// The client reports a command that fails as a non-blocking error and goes on. The rule finds scripts that do not exist,
    /// are a folder, are started without being executable, have no shebang although they are no shell script, or have
    /// Windows line ends, which the system takes for a part of the interpreter's name.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/gaurd.sh" }] }] } }
    /// ```
    ///
    /// `python3` and `sh` (dash) exit with 2 if the script is missing, and 2 is a denial: on PreToolUse such a hook blocks every
    /// matching call (anthropics/claude-code#80697).
    ///
    /// Only commands that can be read with certainty are checked. Scripts are looked for in the folder that the settings
    /// belong to, unless the settings file is the only file there. A script elsewhere that is missing is a warning.
    COMMAND_SCRIPT = "command-script", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for reading in &context.commands {
        let file = &context.files[reading.file];
        for fault in &reading.report.faults {
            let mut severity = Severity::Error;
            let (message, help) = match &fault.kind {
                CommandFaultKind::ScriptMissing { path } if !is_tree_present(file, path) => {
                    continue;
                }
                CommandFaultKind::ScriptMissing { path } if !is_inside(file, path) => {
                    severity = Severity::Warning;
                    (
                        format!(
                            "the script {} does not exist on this machine: the hook fails here",
                            path.display()
                        ),
                        "correct the path, or create the script".to_owned(),
                    )
                }
                CommandFaultKind::ScriptMissing { path } => (
                    format!(
                        "the script {} does not exist: the hook fails every time",
                        path.display()
                    ),
                    "correct the path, or create the script".to_owned(),
                ),
                CommandFaultKind::ScriptIsFolder { path } => (
                    format!("{} is a folder: the hook fails every time", path.display()),
                    "name the script in it".to_owned(),
                ),
                CommandFaultKind::NotExecutable { path } => (
                    format!("{} is not executable: the hook fails every time", path.display()),
                    format!("run `chmod +x {}`, or start it with its interpreter", path.display()),
                ),
                CommandFaultKind::NoShebang { path } => (
                    format!("{} has no shebang: a shell reads it and fails", path.display()),
                    "begin it with `#!/usr/bin/env python3` or its interpreter".to_owned(),
                ),
                CommandFaultKind::CarriageReturns { path } => (
                    format!("{} has Windows line ends: the hook fails every time", path.display()),
                    "save it with Unix line ends (LF)".to_owned(),
                ),
                _ => continue,
            };
            let range = reading.range_in_file(&context.files, fault.argument, &fault.range);
            let finding = LintFinding::new(&COMMAND_SCRIPT, reading.file, range, message, help);
            findings.push(finding.with_severity(severity));
        }
    }
}

/// Returns true if a path is in the folder of the project or plugin.
fn is_inside(file: &LintFile, path: &Path) -> bool {
    let folders = [file.project.as_deref(), file.plugin.as_deref()];
    folders.into_iter().flatten().any(|folder| path.starts_with(folder))
}

/// Returns true if the other files of the project or plugin are there. A settings file that was copied alone says nothing
/// about its scripts.
fn is_tree_present(file: &LintFile, path: &Path) -> bool {
    if !is_inside(file, path) {
        return true;
    }
    if path.parent().is_some_and(|folder| folder.is_dir() && !folder.ends_with(".claude")) {
        return true;
    }
    let Some(folder) = file.plugin.as_deref().or(file.project.as_deref()) else { return false };
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let mut names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    names.any(|name| !matches!(name.to_str(), Some(".claude" | ".claude-plugin" | "hooks")))
}

#[cfg(test)]
mod tests {
    use super::COMMAND_SCRIPT;
    use crate::lint::testing::LintCase;

    fn case(command: &str) -> LintCase {
        LintCase::command("PreToolUse", &format!("\"command\": \"{command}\""))
    }

    #[test]
    fn finds_scripts_that_cannot_run() {
        let missing = case("$CLAUDE_PROJECT_DIR/none.sh").with_text("README.md", "");
        assert!(missing.messages(&COMMAND_SCRIPT)[0].contains("none.sh does not exist"));
        let plain = || case("$CLAUDE_PROJECT_DIR/a.sh").with_text("a.sh", "#!/bin/sh\nexit 0\n");
        assert!(plain().messages(&COMMAND_SCRIPT)[0].contains("is not executable"));
        let crlf = case("$CLAUDE_PROJECT_DIR/a.sh").with_text("a.sh!", "#!/bin/sh\r\nexit 0\r\n");
        assert!(crlf.messages(&COMMAND_SCRIPT)[0].contains("Windows line ends"));
        let python = case("$CLAUDE_PROJECT_DIR/a.py").with_text("a.py!", "import sys\nprint(1)\n");
        assert!(python.messages(&COMMAND_SCRIPT)[0].contains("no shebang"));
    }

    #[test]
    fn scripts_that_run_are_clean() {
        let run = case("$CLAUDE_PROJECT_DIR/a.sh").with_text("a.sh!", "#!/bin/sh\nexit 0\n");
        assert!(run.marked(&COMMAND_SCRIPT).is_empty());
        let started = case("sh \\\"$CLAUDE_PROJECT_DIR\\\"/a.sh").with_text("a.sh", "exit 0\n");
        assert!(started.marked(&COMMAND_SCRIPT).is_empty());
        assert!(case("true").marked(&COMMAND_SCRIPT).is_empty());
        let alone = case("$CLAUDE_PROJECT_DIR/.claude/hooks/none.sh");
        assert!(
            alone.marked(&COMMAND_SCRIPT).is_empty(),
            "the settings were copied without their project"
        );
    }
}
