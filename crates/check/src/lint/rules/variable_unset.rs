//! Variables that the client never sets.

use rutter_contract::EventName;
use rutter_contract::table::event_spec;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// A hook reads a variable that the client never sets, so the text is empty.
    ///
    /// The client gives the payload on stdin, and no variables such as `$CLAUDE_TOOL_INPUT`, `$CLAUDE_FILE_PATHS` or
    /// `$TOOL_NAME`. Other documentation mentions them, and hooks that use them do nothing.
    ///
    /// ```json
    /// { "hooks": { "PostToolUse": [{ "matcher": "Edit", "hooks": [{ "type": "command", "command": "prettier --write $CLAUDE_FILE_PATHS" }] }] } }
    /// ```
    ///
    /// `$CLAUDE_PLUGIN_ROOT` and `$CLAUDE_PLUGIN_DATA` are set for hooks of plugins alone, and `$CLAUDE_ENV_FILE` on SessionStart,
    /// Setup, CwdChanged and FileChanged alone. `${user_config.…}` is replaced only in `args`, which is documented.
    ///
    /// Read stdin: `jq -r .tool_input.file_path`. `rutter contract payload PostToolUse --tool Edit` prints what arrives there.
    /// A variable that the command or the settings set is not reported.
    VARIABLE_UNSET = "variable-unset", Error, check
}

/// The variable with the file that adds variables to later Bash calls.
const ENV_FILE: &str = "CLAUDE_ENV_FILE";

/// Returns true if a shell text writes to the file of a variable without looking first whether it is set.
fn reads_plainly(text: &str, name: &str) -> bool {
    let redirects = [
        format!(">> \"${name}\""),
        format!(">> ${name}"),
        format!(">>\"${name}\""),
        format!(">>${name}"),
    ];
    redirects.iter().any(|form| text.contains(form.as_str()))
        && !text.contains(&format!("-n \"${name}"))
        && !text.contains(&format!("-z \"${name}"))
        && !text.contains(&format!("${{{name}:"))
        && !text.contains(&format!("{name}="))
}

fn env_file_message(events: &[EventName]) -> String {
    let events: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
    format!("${ENV_FILE} is not set on {}", events.join(", "))
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    let help = |name: &str| {
        let lower = name.to_ascii_lowercase();
        let key = if lower.contains("file") || lower.contains("path") {
            "jq -r .tool_input.file_path"
        } else if lower.contains("name") {
            "jq -r .tool_name"
        } else if lower.contains("input") || lower.contains("command") {
            "jq .tool_input"
        } else {
            "`rutter contract events` lists the fields"
        };
        format!("read the payload on stdin, for example {key}")
    };
    let message = |name: &str| format!("the client never sets ${name}: it is empty");
    for reading in &context.commands {
        for variable in &reading.report.inline.unset_variables {
            let range = reading.range_in_file(&context.files, None, &variable.range);
            let (message, help) = (message(&variable.name), help(&variable.name));
            findings.push(LintFinding::new(&VARIABLE_UNSET, reading.file, range, message, help));
        }
    }
    for (index, file) in
        context.files.iter().enumerate().filter(|(_, file)| file.whose.has_settings())
    {
        let handlers =
            file.handlers().filter(|handler| handler.is_type("command") && file.plugin.is_none());
        for command in handlers.filter_map(|handler| handler.node.member("command")) {
            let text = command.node.text().unwrap_or_default();
            for name in ["CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"] {
                let is_read = [format!("${name}"), format!("${{{name}}}")]
                    .iter()
                    .any(|form| text.contains(form.as_str()));
                if is_read && !text.contains(&format!("{name}=")) {
                    let message =
                        format!("${name} is set for hooks of plugins alone: here it is empty");
                    let help = "write \"$CLAUDE_PROJECT_DIR\" or the whole path";
                    findings.push(LintFinding::new(
                        &VARIABLE_UNSET,
                        index,
                        command.range(),
                        message,
                        help,
                    ));
                }
            }
        }
    }
    for reading in &context.commands {
        let Some(handler) = reading.node(&context.files) else { continue };
        let Some(command) = handler.node.member("command") else { continue };
        let text = command.node.text().unwrap_or_default();
        if reads_plainly(text, ENV_FILE) && !event_spec(handler.event).env_file.value {
            let message = env_file_message(&[handler.event]);
            let help = "use it on SessionStart, Setup, CwdChanged or FileChanged";
            findings.push(LintFinding::new(
                &VARIABLE_UNSET,
                reading.file,
                command.range(),
                message,
                help,
            ));
        }
        let file = &context.files[reading.file];
        if file.plugin.is_some()
            && handler.node.get("args").is_none()
            && text.contains("${user_config.")
        {
            let message = "the shell gets `${user_config.…}` as it is, and fails: the client replaces it only in `args`";
            let help = "read $CLAUDE_PLUGIN_OPTION_<KEY>, or use `args`";
            findings.push(LintFinding::new(
                &VARIABLE_UNSET,
                reading.file,
                command.range(),
                message,
                help,
            ));
        }
    }
    for script in &context.scripts {
        let text = context.files[script.file].text.as_str();
        let is_set = script.events.iter().any(|event| event_spec(*event).env_file.value);
        if !is_set && !script.events.is_empty() && reads_plainly(text, ENV_FILE) {
            let at = text.find(ENV_FILE).unwrap_or_default();
            let message = env_file_message(&script.events);
            let help = "use it on SessionStart, Setup, CwdChanged or FileChanged";
            let range = at..at + ENV_FILE.len();
            findings.push(LintFinding::new(&VARIABLE_UNSET, script.file, range, message, help));
        }
    }
    for script in &context.scripts {
        for variable in &script.report.unset_variables {
            let (message, help) = (message(&variable.name), help(&variable.name));
            let range = variable.range.clone();
            findings.push(LintFinding::new(&VARIABLE_UNSET, script.file, range, message, help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::VARIABLE_UNSET;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_variables_of_other_documentation() {
        let case =
            |command| LintCase::command("PostToolUse", &format!("\"command\": \"{command}\""));
        assert!(
            case("echo $CLAUDE_TOOL_INPUT").messages(&VARIABLE_UNSET)[0]
                .contains("CLAUDE_TOOL_INPUT")
        );
        assert!(case("cat \\\"$CLAUDE_FILE_PATHS\\\"").messages(&VARIABLE_UNSET).len() == 1);
        assert!(case("echo $CLAUDE_PROJECT_DIR $HOME").messages(&VARIABLE_UNSET).is_empty());
    }

    #[test]
    fn variables_of_plugins_are_empty_in_settings() {
        let fields = "\"command\": \"${CLAUDE_PLUGIN_ROOT}/a.sh\"";
        assert_eq!(LintCase::command("Stop", fields).marked(&VARIABLE_UNSET).len(), 1);
        let hooks = format!(
            "{{\"hooks\": {{\"Stop\": [{{\"hooks\": [{{\"type\": \"command\", {fields}}}]}}]}}}}"
        );
        let plugin = LintCase::plugin(&[
            (".claude-plugin/plugin.json", "{\"name\": \"a\"}"),
            ("hooks/hooks.json", &hooks),
        ]);
        assert!(plugin.marked(&VARIABLE_UNSET).is_empty());
    }

    #[test]
    fn env_file_depends_on_event() {
        let case = |event: &str, command: &str| {
            LintCase::command(event, &format!("\"command\": \"{command}\""))
        };
        let write = "echo 'export A=1' >> \\\"$CLAUDE_ENV_FILE\\\"";
        assert_eq!(case("PostToolUse", write).marked(&VARIABLE_UNSET).len(), 1);
        assert!(case("SessionStart", write).marked(&VARIABLE_UNSET).is_empty());
        let guarded = format!("[ -n \\\"$CLAUDE_ENV_FILE\\\" ] && {write}");
        assert!(case("PostToolUse", &guarded).marked(&VARIABLE_UNSET).is_empty());
    }

    #[test]
    fn variables_of_settings_are_set() {
        let text = r#"{"env": {"TOOL_NAME": "x"}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo $TOOL_NAME"}]}]}}"#;
        assert!(LintCase::settings(text).marked(&VARIABLE_UNSET).is_empty());
    }
}
