//! Files that the client cannot parse.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFile, LintFinding};
use crate::settings::{
    DocumentFaultKind, JsonMistake, JsonMistakeKind, SettingsFault, line_and_column,
};
use crate::text_edit::TextEdit;

lint_rule! {
    /// The file is not JSON, so the client skips it as a whole.
    ///
    /// Settings are strict JSON: no comments, no comma after the last item, double quotes only. One mistake anywhere loses
    /// all hooks, permissions and other settings of the file.
    ///
    /// ```json
    /// {
    ///   // run the tests before the agent stops
    ///   "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh" }] }] },
    /// }
    /// ```
    ///
    /// `--fix` removes comments and superfluous commas, adds missing commas and changes quotes. If every mistake can be
    /// corrected, the other rules check the corrected text too.
    JSON_INVALID = "json-invalid", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for fault in &file.faults {
            let SettingsFault::Document(fault) = fault else { continue };
            match &fault.kind {
                DocumentFaultKind::NotJson { mistakes, .. } if !mistakes.is_empty() => {
                    findings.extend(
                        mistakes.iter().map(|mistake| describe_mistake(mistake, file, index)),
                    );
                }
                DocumentFaultKind::NotJson { expected, .. } => {
                    let message = format!("this is not JSON: expected {expected}; {}", lost(file));
                    let help = "write strict JSON: no comments, double quotes, no comma at the end";
                    findings.push(voiding(
                        file,
                        index,
                        fault.at..next_char(file, fault.at),
                        message,
                        help,
                    ));
                }
                DocumentFaultKind::NotObject { found } => {
                    let message =
                        format!("the file must contain an object, not {found}; {}", lost(file));
                    findings.push(voiding(
                        file,
                        index,
                        fault.at..next_char(file, fault.at),
                        message,
                        "write { … }",
                    ));
                }
                DocumentFaultKind::NotYaml { message } => {
                    let message = format!(
                        "the frontmatter is not YAML ({message}): the client ignores all of it"
                    );
                    let help =
                        "correct it there; a value with `: ` or a leading `[` or `{` needs quotes";
                    findings.push(voiding(
                        file,
                        index,
                        fault.at..next_char(file, fault.at),
                        message,
                        help,
                    ));
                }
                _ => {}
            }
        }
    }
}

fn voiding(
    _file: &LintFile,
    index: usize,
    range: std::ops::Range<usize>,
    message: String,
    help: &str,
) -> LintFinding {
    LintFinding::new(&JSON_INVALID, index, range, message, help).voiding_file(true)
}

fn next_char(file: &LintFile, at: usize) -> usize {
    at + file.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
}

fn lost(file: &LintFile) -> &'static str {
    if file.is_plugin() {
        "no hook of it runs"
    } else {
        "the client skips the whole file, with its hooks and permissions"
    }
}

fn describe_mistake(mistake: &JsonMistake, file: &LintFile, index: usize) -> LintFinding {
    let (what, help) = match mistake.kind {
        JsonMistakeKind::Comment => ("JSON has no comments", "remove it"),
        JsonMistakeKind::ExtraComma => ("no value follows this comma", "remove the comma"),
        JsonMistakeKind::MissingComma => ("a comma is missing here", "add a comma"),
        JsonMistakeKind::SingleQuotes => {
            ("JSON strings have double quotes", "write it in double quotes")
        }
        JsonMistakeKind::UnescapedQuote => (
            "this quote ends the string, and more text follows",
            "write \\\" for a quote inside a string",
        ),
        JsonMistakeKind::UnquotedKey => ("keys have double quotes", "write it in double quotes"),
        JsonMistakeKind::UnknownWord => {
            ("this word is not JSON", "write true, false, null or a string")
        }
        JsonMistakeKind::ControlCharacter => (
            "a string contains a line break, a tab or another control character",
            "write \\n, \\t or \\u00XX",
        ),
        JsonMistakeKind::Unclosed { opened } => {
            return describe_unclosed(mistake, opened, file, index);
        }
        JsonMistakeKind::TextAfterEnd => {
            ("text follows the end of the object", "remove it, or a brace before it")
        }
        JsonMistakeKind::Other => ("this is not JSON", "write strict JSON"),
    };
    let end = mistake.range.end.max(mistake.range.start);
    let range = mistake.range.start..end;
    let finding = voiding(file, index, range, format!("{what}: {}", lost(file)), help);
    match &mistake.repair {
        Some((range, text)) => {
            finding.with_edits(vec![TextEdit { range: range.clone(), text: text.clone() }])
        }
        None => finding,
    }
}

/// Describes a text that ends too early, with the line of the sign that is not closed.
fn describe_unclosed(
    mistake: &JsonMistake,
    opened: usize,
    file: &LintFile,
    index: usize,
) -> LintFinding {
    let sign = file.text.get(opened..).and_then(|rest| rest.chars().next()).unwrap_or('{');
    let closing = match sign {
        '{' => "`}`",
        '[' => "`]`",
        _ => "`\"`",
    };
    let (line, _) = line_and_column(&file.text, opened);
    let message =
        format!("the text ends before the `{sign}` of line {line} is closed: {}", lost(file));
    let help = format!("add {closing} here, or where that value should end");
    voiding(file, index, mistake.range.clone(), message, &help)
}

#[cfg(test)]
mod tests {
    use super::JSON_INVALID;
    use crate::lint::testing::LintCase;
    use crate::settings::SettingsSource;

    #[test]
    fn comments_and_commas_are_fixed() {
        let text = "{\n  // why\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\",}]}]},\n}\n";
        let case = LintCase::settings(text);
        assert_eq!(case.marked(&JSON_INVALID), ["// why", ",", ","]);
        let fixed = case.fixed(&JSON_INVALID);
        assert!(LintCase::settings(&fixed).all().is_empty(), "{fixed}");
        assert!(fixed.contains("\"command\": \"true\"}"), "{fixed}");
    }

    #[test]
    fn other_rules_read_the_repaired_text() {
        let case = LintCase::command("PreToolCall", "\"command\": \"true\",");
        assert_eq!(case.all(), ["json-invalid 1:76", "event-unknown 1:12"]);
    }

    #[test]
    fn missing_brace_is_reported_at_the_end() {
        let text = "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n";
        let case = LintCase::settings(text);
        assert_eq!(case.all(), ["json-invalid 4:4"]);
        let messages = case.messages(&JSON_INVALID);
        assert!(messages[0].contains("the `{` of line 1 is closed"), "{messages:?}");
    }

    #[test]
    fn broken_text_has_a_position() {
        assert_eq!(LintCase::settings("{\"hooks\": {").all().len(), 1);
        assert_eq!(LintCase::settings("[1]").all(), ["json-invalid 1:1"]);
        let skill = "---\nname: a\n  hooks: {\n---\n";
        let case =
            LintCase::empty().with_file(SettingsSource::Skill, ".claude/skills/a/SKILL.md", skill);
        assert!(case.messages(&JSON_INVALID)[0].contains("not YAML"));
    }
}
