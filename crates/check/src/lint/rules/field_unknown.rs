//! Fields of a hook that the client does not know.

use rutter_contract::{find_misspelled, find_nearest};

use super::field_misplaced::is_group_field;
use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding, SourceNode};
use crate::settings::{common_entry_fields, entry_fields};

lint_rule! {
    /// A hook has a field that the client does not know and ignores.
    ///
    /// The client accepts any field and reads only those of the hook's type. `enabled: false` does not switch a hook off,
    /// `timeout_ms` sets no timeout, `script` starts nothing.
    ///
    /// ```json
    /// { "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh", "timeout_ms": 500 }] }] } }
    /// ```
    ///
    /// `--fix` corrects the spelling of a field if the right one is not there. A field that begins with `_`, `$` or `x-`, and
    /// `description`, `comment` or `name`, is a note of the author and not reported.
    FIELD_UNKNOWN = "field-unknown", Warning, check
}

/// Fields that people use for notes.
const NOTE_FIELDS: &[&str] =
    &["description", "comment", "comments", "name", "id", "note", "notes", "title", "label", "//"];

/// Fields of other agents and of old documentation, and what to do instead.
const KNOWN_MISTAKES: &[(&str, &str)] = &[
    ("enabled", "it does not switch the hook off; remove the hook to do so"),
    ("disabled", "it does not switch the hook off; remove the hook to do so"),
    ("frequency", "the hook runs on every event; count in the hook to run it less often"),
    ("script", "write the path of the script as `command`"),
    ("timeout_ms", "write `timeout`, in seconds"),
    ("timeoutMs", "write `timeout`, in seconds"),
    ("timeoutSec", "write `timeout`, in seconds"),
    ("env", "set the variable in the command or in `env` of the settings"),
    ("cwd", "write `cd` in the command"),
    ("workingDirectory", "write `cd` in the command"),
    ("condition", "write `if` with one permission rule"),
    ("background", "write `async`"),
    ("run_in_background", "write `async`"),
    ("blocking", "exit with 2 to block"),
    ("continueOnError", "a failing hook does not block; exit with 2 to block"),
    ("bash", "write `command`"),
];

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers() {
            let Some(known) = handler.text("type").and_then(entry_fields) else { continue };
            let fields = || known.clone().chain(common_entry_fields()).chain(["type"]);
            for member in handler.node.members() {
                let key = member.key.as_str();
                let is_note = key.starts_with(['_', '$'])
                    || key.starts_with("x-")
                    || NOTE_FIELDS.contains(&key);
                if is_note || fields().any(|field| field == key) || is_group_field(key) {
                    continue;
                }
                let form = handler.text("type").unwrap_or_default();
                let message =
                    format!("a `{form}` hook has no field `{key}`: the client ignores it");
                let known_mistake = KNOWN_MISTAKES.iter().find(|(name, _)| *name == key);
                let near = find_nearest(key, fields().map(|field| (field, field)))
                    .filter(|_| known_mistake.is_none());
                let help = match (known_mistake, near) {
                    (Some((_, help)), _) => (*help).to_owned(),
                    (None, Some(near)) => format!("write `{near}`"),
                    (None, None) => format!(
                        "remove it; the fields are {}",
                        fields().collect::<Vec<_>>().join(", ")
                    ),
                };
                let finding =
                    LintFinding::new(&FIELD_UNKNOWN, index, member.range(), message, help);
                let fix = find_misspelled(key, fields().map(|field| (field, field)))
                    .filter(|_| near.is_some())
                    .filter(|near| handler.node.get(near).is_none() && fits(near, &member.node));
                findings.push(match fix {
                    Some(near) => {
                        finding.with_edit(member.key_range.clone(), format!("\"{near}\""))
                    }
                    None => finding,
                });
            }
        }
    }
}

/// Returns true if a value may be that of a field. A value of the wrong type would make the hook invalid.
fn fits(field: &str, value: &SourceNode) -> bool {
    match field {
        "timeout" => value.number().is_some_and(|seconds| seconds > 0.0 && seconds <= 3600.0),
        "async" | "asyncRewake" | "once" | "continueOnBlock" => value.flag().is_some(),
        "command" | "if" | "statusMessage" | "prompt" | "model" | "tool" | "server" => {
            value.text().is_some()
        }
        "args" | "allowedEnvVars" => {
            !value.items().is_empty() && value.items().iter().all(|item| item.text().is_some())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::FIELD_UNKNOWN;
    use crate::lint::testing::LintCase;

    fn case(fields: &str) -> LintCase {
        LintCase::command("Stop", &format!("\"command\": \"true\", {fields}"))
    }

    #[test]
    fn finds_ignored_fields() {
        for field in
            ["\"enabled\": false", "\"timeout_ms\": 500", "\"frequency\": 10", "\"shel\": \"bash\""]
        {
            assert_eq!(case(field).marked(&FIELD_UNKNOWN), [field]);
        }
    }

    #[test]
    fn misspelled_fields_are_fixed() {
        assert!(case("\"Timeout\": 5").fixed(&FIELD_UNKNOWN).contains("\"timeout\": 5"));
        assert!(
            case("\"statusmessage\": \"x\"")
                .fixed(&FIELD_UNKNOWN)
                .contains("\"statusMessage\": \"x\"")
        );
        let kept = case("\"Timeout\": 5, \"timeout\": 6").fixed(&FIELD_UNKNOWN);
        assert!(kept.contains("\"Timeout\": 5, \"timeout\": 6"));
        assert!(case("\"Timeout\": \"5s\"").fixed(&FIELD_UNKNOWN).contains("\"Timeout\""));
    }

    #[test]
    fn notes_and_known_fields_are_clean() {
        for fields in [
            "\"description\": \"x\"",
            "\"_why\": 1",
            "\"timeout\": 5, \"async\": true, \"if\": \"Bash\"",
            "\"args\": []",
        ] {
            assert!(case(fields).marked(&FIELD_UNKNOWN).is_empty(), "{fields}");
        }
    }
}
