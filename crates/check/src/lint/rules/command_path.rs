//! Paths that lead to the wrong place.

use std::ops::Range;

use crate::lint::rule::lint_rule;
use crate::lint::{CommandReading, LintContext, LintFile, LintFinding, Severity};
use crate::script::CommandFaultKind;
use crate::text_edit::TextEdit;

lint_rule! {
    /// The path in a command does not lead to the script in every case.
    ///
    /// - A relative path (`./check.sh`): a hook runs in the session's working directory, which follows `cd`. After a `cd` the
    ///   script is not found. A warning.
    /// - `$CLAUDE_PROJECT_DIR` without quotes: a folder with a space in its path becomes two words. A remark, or an error if
    ///   this folder has a space.
    /// - A path with a space without quotes. An error.
    /// - `"~/log.txt"`: in quotes, the shell does not expand `~`. An error.
    /// - `~`, `$HOME` or `$CLAUDE_PROJECT_DIR` in a command with `args`: no shell expands them. Only
    ///   `${CLAUDE_PROJECT_DIR}`, `${CLAUDE_PLUGIN_ROOT}` and `${CLAUDE_PLUGIN_DATA}` are replaced. An error.
    ///
    /// ```json
    /// { "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh" }] }] } }
    /// ```
    ///
    /// Write `"$CLAUDE_PROJECT_DIR"/check.sh`. `--fix` puts `$CLAUDE_PROJECT_DIR` and the variables of
    /// plugins into quotes.
    COMMAND_PATH = "command-path", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for reading in &context.commands {
        let file = &context.files[reading.file];
        for fault in &reading.report.faults {
            let (message, help, severity) = match &fault.kind {
                CommandFaultKind::RelativePath { path } => (
                    format!(
                        "`{}` is relative: after a `cd` in the session, the hook does not find it",
                        path.display()
                    ),
                    "write \"$CLAUDE_PROJECT_DIR\"/ before it".to_owned(),
                    Severity::Warning,
                ),
                CommandFaultKind::UnquotedVariable { name } => {
                    let has_space = file
                        .project
                        .as_ref()
                        .is_some_and(|project| project.to_string_lossy().contains(' '));
                    let severity = if has_space { Severity::Error } else { Severity::Info };
                    (
                        format!("${name} without quotes: in a folder with a space in its path the hook fails"),
                        format!("write \"${name}\" in quotes"),
                        severity,
                    )
                }
                CommandFaultKind::UnquotedSpace { path } => (
                    format!("`{}` has a space and no quotes: the shell reads two words", path.display()),
                    "put the path in quotes".to_owned(),
                    Severity::Error,
                ),
                CommandFaultKind::NotExpanded { text } if text == "~" && !has_arguments(context, reading) => (
                    "the shell does not expand `~` in quotes: it looks for a folder of that name".to_owned(),
                    "write \"$HOME/…\", or ~ without quotes".to_owned(),
                    Severity::Error,
                ),
                CommandFaultKind::NotExpanded { text } => (
                    format!("nothing expands `{text}` here: the hook fails every time"),
                    "write the whole path, or ${CLAUDE_PROJECT_DIR} with braces".to_owned(),
                    Severity::Error,
                ),
                CommandFaultKind::SpaceInProgram => (
                    "with `args`, all of `command` is the name of the program: there is no such program".to_owned(),
                    "move the words after the first into `args`".to_owned(),
                    Severity::Error,
                ),
                _ => continue,
            };
            let range = reading.range_in_file(&context.files, fault.argument, &fault.range);
            let quoted = quote_variable(file, &fault.kind, range.clone());
            let mut finding = LintFinding::new(&COMMAND_PATH, reading.file, range, message, help);
            if let Some(edit) = quoted {
                finding = finding.with_edits(vec![edit]);
            }
            findings.push(finding.with_severity(severity));
        }
    }
}

/// Returns true if a handler has `args`, so that no shell runs.
fn has_arguments(context: &LintContext<'_>, reading: &CommandReading) -> bool {
    reading.node(&context.files).is_some_and(|handler| handler.node.get("args").is_some())
}

/// Returns the edit that puts an unquoted variable of a command into quotes. None in frontmatter, where quotes have another
/// meaning, and if the text of the variable is not found as it is.
fn quote_variable(
    file: &LintFile,
    kind: &CommandFaultKind,
    range: Range<usize>,
) -> Option<TextEdit> {
    let CommandFaultKind::UnquotedVariable { name } = kind else { return None };
    let written = file.text.get(range.clone())?;
    let is_variable = written == format!("${name}") || written == format!("${{{name}}}");
    (is_variable && !file.whose.is_markdown())
        .then(|| TextEdit { range, text: format!("\\\"{written}\\\"") })
}

#[cfg(test)]
mod tests {
    use super::COMMAND_PATH;
    use crate::lint::testing::LintCase;

    fn case(fields: &str) -> LintCase {
        LintCase::command("PreToolUse", fields).with_text("a.sh!", "#!/bin/sh\nexit 0\n")
    }

    #[test]
    fn finds_paths_that_lead_elsewhere() {
        for (fields, words) in [
            ("\"command\": \"./a.sh\"", "is relative"),
            ("\"command\": \"$CLAUDE_PROJECT_DIR/a.sh\"", "without quotes"),
            ("\"command\": \"$HOME/a.sh\", \"args\": []", "nothing expands"),
            ("\"command\": \"echo x >> '~/log'\"", "does not expand `~`"),
            ("\"command\": \"~/a.sh\", \"args\": []", "nothing expands"),
            ("\"command\": \"sh a.sh\", \"args\": []", "name of the program"),
        ] {
            let messages = case(fields).messages(&COMMAND_PATH);
            assert!(messages.len() == 1 && messages[0].contains(words), "{fields}: {messages:?}");
        }
    }

    #[test]
    fn variables_get_quotes() {
        for (fields, fixed) in [
            (
                "\"command\": \"$CLAUDE_PROJECT_DIR/a.sh --fast\"",
                r#""command": "\"$CLAUDE_PROJECT_DIR\"/a.sh --fast""#,
            ),
            (
                "\"command\": \"sh ${CLAUDE_PROJECT_DIR}/a.sh\"",
                r#""command": "sh \"${CLAUDE_PROJECT_DIR}\"/a.sh""#,
            ),
        ] {
            let text = case(fields).fixed(&COMMAND_PATH);
            assert!(text.contains(fixed), "{text}");
            let again = LintCase::settings(&text).with_text("a.sh!", "#!/bin/sh\nexit 0\n");
            assert!(again.all().is_empty(), "{:?}", again.all());
        }
        let escaped = case(r#""command": "sh -c 'x \"y\"' $CLAUDE_PROJECT_DIR/a.sh""#);
        assert!(!escaped.marked(&COMMAND_PATH).is_empty());
    }

    #[test]
    fn quoted_and_whole_paths_are_clean() {
        for fields in [
            "\"command\": \"\\\"$CLAUDE_PROJECT_DIR\\\"/a.sh\"",
            "\"command\": \"\\\"$CLAUDE_PROJECT_DIR/a.sh\\\"\"",
            "\"command\": \"${CLAUDE_PROJECT_DIR}/a.sh\", \"args\": []",
        ] {
            assert!(case(fields).marked(&COMMAND_PATH).is_empty(), "{fields}");
        }
    }
}
