//! Programs that are not installed.

use std::path::Path;

use super::command_windows::{first_word, has_windows_path};
use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding, Severity};
use crate::script::CommandFaultKind;
use crate::settings::SettingsSource;

lint_rule! {
    /// A program that a hook starts is not installed on this machine.
    ///
    /// The hook fails every time, and the client goes on. A guard without its `jq` lets everything through.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "jq -e '.tool_input.command' > /dev/null" }] }] } }
    /// ```
    ///
    /// Install the program, or use `rutter contract` to read payloads. The rule looks in `PATH`, at the first word of each
    /// command and at interpreters. It is a warning in your own settings, and a remark in files that others share.
    COMMAND_PROGRAM = "command-program", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for reading in &context.commands {
        // The rule command-windows reports a path with backslashes.
        let command = reading.node(&context.files).and_then(|handler| handler.text("command"));
        if command.is_some_and(|command| has_windows_path(first_word(command))) {
            continue;
        }
        for fault in &reading.report.faults {
            let CommandFaultKind::ProgramMissing { name } = &fault.kind else { continue };
            let message = format!("`{name}` is not installed here: the hook fails every time");
            let help = format!("install `{name}`, or write its path");
            let range = reading.range_in_file(&context.files, fault.argument, &fault.range);
            // Files that others share run on other machines too.
            let file = &context.files[reading.file];
            let is_personal = match file.whose {
                SettingsSource::User | SettingsSource::Checkout | SettingsSource::Managed => true,
                // A copy without its project comes from another machine.
                SettingsSource::Local => file.has_other_files(Path::new("")),
                _ => false,
            };
            let severity = if is_personal { Severity::Warning } else { Severity::Info };
            let finding = LintFinding::new(&COMMAND_PROGRAM, reading.file, range, message, help);
            findings.push(finding.with_severity(severity));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::COMMAND_PROGRAM;
    use crate::lint::Severity;
    use crate::lint::testing::LintCase;
    use crate::settings::SettingsSource;

    #[test]
    fn finds_missing_programs() {
        let case = |command| LintCase::command("Stop", &format!("\"command\": \"{command}\""));
        assert_eq!(case("no-such-program-7 --x").marked(&COMMAND_PROGRAM), ["no-such-program-7"]);
        assert!(case("cat | grep x").marked(&COMMAND_PROGRAM).is_empty());
    }

    #[test]
    fn personal_settings_get_a_warning() {
        let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "no-such-program-7"}]}]}}"#;
        let case = |whose, path| LintCase::empty().with_file(whose, path, text);
        let local = || case(SettingsSource::Local, ".claude/settings.local.json");
        assert_eq!(local().severities(&COMMAND_PROGRAM), [Severity::Info], "copied alone");
        let in_project = local().with_text("Cargo.toml", "");
        assert_eq!(in_project.severities(&COMMAND_PROGRAM), [Severity::Warning]);
        let shared = case(SettingsSource::Project, ".claude/settings.json");
        assert_eq!(
            shared.with_text("Cargo.toml", "").severities(&COMMAND_PROGRAM),
            [Severity::Info]
        );
    }
}
