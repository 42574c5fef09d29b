//! Two hooks that rewrite the input of the same tool.

use rutter_contract::EventName;
use rutter_contract::table;

use crate::lint::rule::lint_rule;
use crate::lint::{CommandReading, LintContext, LintFinding};
use crate::matcher::Matcher;

lint_rule! {
    /// Two hooks rewrite the input of the same tool, and only one of them takes effect.
    ///
    /// Hooks of one event run at the same time. If several answer with `updatedInput`, the last one to finish wins, which
    /// changes from call to call.
    ///
    /// Rewrite the input in one hook. The rule reports scripts whose text prints an object with `updatedInput`, and only if
    /// their matchers have a common tool.
    REWRITE_CONFLICT = "rewrite-conflict", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    let rewriting: Vec<&CommandReading> =
        context.commands.iter().filter(|reading| rewrites(reading, context)).collect();
    for (number, reading) in rewriting.iter().enumerate() {
        let Some(handler) = reading.node(&context.files) else { continue };
        if handler.event != EventName::PreToolUse {
            continue;
        }
        let other = rewriting[..number].iter().filter_map(|other| other.node(&context.files)).any(
            |other| {
                other.event == handler.event
                    && other.text("command") != handler.text("command")
                    && may_overlap(other.matcher(), handler.matcher(), context)
            },
        );
        if let Some(command) = handler.node.member("command").filter(|_| other) {
            let message =
                "another hook rewrites the input of the same tool too: the last one to finish wins";
            let help = "rewrite the input in one hook";
            findings.push(LintFinding::new(
                &REWRITE_CONFLICT,
                reading.file,
                command.range(),
                message,
                help,
            ));
        }
    }
}

/// Returns true if a command or its script prints an answer with `updatedInput`.
fn rewrites(reading: &CommandReading, context: &LintContext<'_>) -> bool {
    let scripts = reading.scripts.iter().map(|script| &context.scripts[*script].report);
    scripts.chain([&reading.report.inline]).any(|report| report.rewrites_input)
}

/// Returns true if two matchers certainly match a common tool.
fn may_overlap(one: Option<&str>, other: Option<&str>, context: &LintContext<'_>) -> bool {
    let spec = table::event_spec(EventName::PreToolUse);
    let reach = |text| Matcher::parse(text, spec, context.contract).reach();
    reach(one).has_common_value(&reach(other))
}

#[cfg(test)]
mod tests {
    use super::REWRITE_CONFLICT;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_two_rewriters_of_one_tool() {
        let script = "#!/bin/sh\necho '{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"updatedInput\": {\"command\": \"ls\"}}}'\n";
        let case = |first: &str, second: &str| {
            let group = |matcher: &str, name: &str| {
                format!(
                    r#"{{"matcher": "{matcher}", "hooks": [{{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/{name}.sh"}}]}}"#
                )
            };
            let text = format!(
                r#"{{"hooks": {{"PreToolUse": [{}, {}]}}}}"#,
                group(first, "a"),
                group(second, "b")
            );
            LintCase::settings(&text).with_text("a.sh!", script).with_text("b.sh!", script)
        };
        assert_eq!(case("Bash", "Bash|Edit").marked(&REWRITE_CONFLICT).len(), 1);
        assert!(case("Bash", "Edit").marked(&REWRITE_CONFLICT).is_empty());
    }
}
