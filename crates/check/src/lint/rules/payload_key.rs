//! Keys of the payload that the client never sends.

use rutter_contract::EventName;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};
use crate::script::UnsentKey;

lint_rule! {
    /// A script reads a key that the client never sends, so it finds nothing.
    ///
    /// The tool is `tool_name`, its arguments are in `tool_input`, and the path of an edit is `tool_input.file_path`. There is
    /// no `tool`, `command`, `exit_code` or `phase` at the top.
    ///
    /// ```sh
    /// tool=$(jq -r .tool)          # always null: the key is tool_name
    /// ```
    ///
    /// `rutter contract payload PreToolUse --tool Bash` prints a real payload. A script that accepts several spellings is not
    /// reported, nor one that names another agent, whose payloads differ.
    PAYLOAD_KEY = "payload-key", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for reading in &context.commands {
        let Some(handler) = reading.node(&context.files) else { continue };
        for key in &reading.report.inline.unsent_keys {
            let (message, help) = describe(key, &[handler.event]);
            let range = reading.range_in_file(&context.files, None, &key.range);
            findings.push(LintFinding::new(&PAYLOAD_KEY, reading.file, range, message, help));
        }
    }
    for script in &context.scripts {
        for key in &script.report.unsent_keys {
            let (message, help) = describe(key, &script.events);
            findings.push(LintFinding::new(
                &PAYLOAD_KEY,
                script.file,
                key.range.clone(),
                message,
                help,
            ));
        }
    }
}

fn describe(key: &UnsentKey, events: &[EventName]) -> (String, String) {
    let message = match (&key.sent_by[..], events) {
        ([_, ..], [event]) => {
            format!("the payload of {event} has no `{}`: other events send it", key.key)
        }
        _ => format!("no payload has the key `{}`", key.key),
    };
    let help = key.meant.map_or_else(
        || "`rutter contract payload EVENT` prints a real payload".to_owned(),
        |meant| format!("read `{meant}`"),
    );
    (message, help)
}

#[cfg(test)]
mod tests {
    use super::PAYLOAD_KEY;
    use crate::lint::testing::LintCase;

    fn case(script: &str) -> LintCase {
        LintCase::command("PreToolUse", "\"command\": \"\\\"$CLAUDE_PROJECT_DIR\\\"/a.sh\"")
            .with_text("a.sh!", script)
    }

    #[test]
    fn finds_keys_that_never_arrive() {
        let bash = case("#!/bin/bash\ntool=$(jq -r .tool)\n[ \"$tool\" = Bash ] && exit 2\n");
        assert_eq!(bash.messages(&PAYLOAD_KEY), ["no payload has the key `tool`"]);
        let right = case("#!/bin/bash\ntool=$(jq -r .tool_name)\n[ \"$tool\" = Bash ] && exit 2\n");
        assert!(right.marked(&PAYLOAD_KEY).is_empty());
    }
}
