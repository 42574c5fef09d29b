//! Scripts that cannot run.

use std::path::Path;

use crate::lint::file::has_files_beside;
use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFile, LintFinding, Severity};
use crate::script::CommandFaultKind;

lint_rule! {
    /// The script of a hook cannot run, so the hook fails every time, and a guard usually lets everything through.
    ///
    /// The client reports a command that fails as a non-blocking error and goes on. The rule finds scripts that do not exist,
    /// are a folder, are started without being executable, have no shebang although they are no shell script, or have
    /// Windows line ends, which the system takes for a part of the interpreter's name.
    ///
    /// A shell reads a Python script without shebang up to its first syntax error, and may then exit with 2: such a guard
    /// blocks every call.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/gaurd.sh" }] }] } }
    /// ```
    ///
    /// `python3` and `sh` (dash) exit with 2 if the script is missing, and 2 is a denial: on PreToolUse such a hook blocks every
    /// matching call (anthropics/claude-code#80697).
    ///
    /// Only commands that can be read with certainty are checked. Scripts are looked for in the folder that the settings
    /// belong to, unless that folder has nothing but the settings. A missing script elsewhere is a warning. It is a remark if
    /// the folder has nothing but settings and scripts, of which some were probably not copied, or if the script is in the
    /// home of a user whom this machine does not have.
    COMMAND_SCRIPT = "command-script", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for reading in &context.commands {
        let file = &context.files[reading.file];
        for fault in &reading.report.faults {
            let mut severity = Severity::Error;
            let (message, help) = match &fault.kind {
                CommandFaultKind::ScriptMissing { path } => {
                    let Some(own) = missing_severity(file, path) else { continue };
                    severity = own;
                    let what = if is_inside(file, path) {
                        "does not exist: the hook fails every time"
                    } else {
                        "does not exist on this machine: the hook fails here"
                    };
                    (
                        format!("the script {} {what}", path.display()),
                        "correct the path, or create the script".to_owned(),
                    )
                }
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

/// Returns the severity of a missing script. None if the configuration was copied alone and says nothing about its scripts.
fn missing_severity(file: &LintFile, path: &Path) -> Option<Severity> {
    if !is_inside(file, path) {
        // A home folder that this machine does not have: the file is another person's.
        let is_foreign = ["/home", "/Users"].iter().any(|homes| {
            let home = path.strip_prefix(homes).ok().and_then(|rest| rest.iter().next());
            home.is_some_and(|home| !Path::new(homes).join(home).is_dir())
        });
        return Some(if is_foreign { Severity::Info } else { Severity::Warning });
    }
    if file.has_other_files(path) {
        return Some(Severity::Error);
    }
    let folder = path.parent().filter(|folder| !folder.ends_with(".claude"))?;
    has_files_beside(folder, &[]).then_some(Severity::Info)
}

#[cfg(test)]
mod tests {
    use super::COMMAND_SCRIPT;
    use crate::lint::Severity;
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
        let plugin = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}\"/hooks/none.sh"}]}]}}"#;
        let manifest = (".claude-plugin/plugin.json", r#"{"name": "a"}"#);
        let alone = LintCase::plugin(&[manifest, ("hooks/hooks.json", plugin)]);
        assert!(alone.marked(&COMMAND_SCRIPT).is_empty(), "the plugin was copied without scripts");
        let with_other = alone.with_text("hooks/other.sh!", "#!/bin/sh\n");
        assert_eq!(with_other.marked(&COMMAND_SCRIPT).len(), 1);
    }

    #[test]
    fn missing_scripts_have_a_severity() {
        let other = || case("$CLAUDE_PROJECT_DIR/.claude/hooks/none.sh");
        let severity = |case: LintCase| case.severities(&COMMAND_SCRIPT);
        assert_eq!(severity(other().with_text("Cargo.toml", "")), [Severity::Error]);
        let partial = other().with_text(".claude/hooks/other.sh!", "#!/bin/sh\n");
        assert_eq!(severity(partial), [Severity::Info]);
        assert_eq!(severity(case("/opt/none/none.sh")), [Severity::Warning]);
        assert_eq!(severity(case("/Users/nobody-1b7/none.sh")), [Severity::Info]);
    }
}
