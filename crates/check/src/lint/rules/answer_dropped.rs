//! Answers in a form that the client drops.

use rutter_contract::EventName;
use rutter_contract::verdict::{AnswerDiagnostic, HookRun, MistakeSeverity, judge_answer};
use rutter_contract::version::Contract;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding, ScriptReading, Severity};
use crate::script::{AnswerLiteral, answer_edits};
use crate::text_edit::TextEdit;

lint_rule! {
    /// A script prints an answer that the client drops, or reads in another way.
    ///
    /// Each JSON object that a script prints as a literal is judged as by `rutter contract explain`: a key on the wrong level,
    /// a wrong value, the name of another event.
    ///
    /// ```sh
    /// echo '{"permissionDecision": "deny"}'     # dropped: it belongs into hookSpecificOutput
    /// ```
    ///
    /// On 2.1.197 an answer with a wrong value also cancels the block of exit code 2; 2.1.325 blocks whatever stdout is
    /// (anthropics/claude-code#43407).
    ///
    /// The rule reports an answer only if it is wrong for every event on which the script runs.
    ///
    /// `--fix` corrects the answers of a script that runs on one event, as `rutter contract fix` does, if no value that decides is
    /// computed.
    ANSWER_DROPPED = "answer-dropped", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for reading in &context.commands {
        let Some(handler) = reading.node(&context.files) else { continue };
        for answer in &reading.report.inline.answers {
            if let Some((message, help, severity)) =
                judge(answer, &[handler.event], context.contract)
            {
                let range = reading.range_in_file(&context.files, None, &answer.range);
                let finding = LintFinding::new(&ANSWER_DROPPED, reading.file, range, message, help);
                findings.push(finding.with_severity(severity));
            }
        }
    }
    for script in &context.scripts {
        for answer in &script.report.answers {
            if let Some((message, help, severity)) = judge(answer, &script.events, context.contract)
            {
                let range = answer.range.clone();
                let finding = LintFinding::new(&ANSWER_DROPPED, script.file, range, message, help)
                    .with_severity(severity);
                findings.push(match script_edits(context, script, answer) {
                    Some(edits) => finding.with_edits(edits),
                    None => finding,
                });
            }
        }
    }
}

/// Returns the edits that correct an answer of a script that runs on one event.
fn script_edits(
    context: &LintContext<'_>,
    script: &ScriptReading,
    answer: &AnswerLiteral,
) -> Option<Vec<TextEdit>> {
    let [event] = script.events[..] else { return None };
    let text = &context.files.get(script.file)?.text;
    answer_edits(text, script.language, &script.report, answer, event, context.contract)
}

/// Returns the most severe mistake of an answer, if it has one on every event.
fn judge(
    answer: &AnswerLiteral,
    events: &[EventName],
    contract: Contract,
) -> Option<(String, String, Severity)> {
    let stdout = answer.stdout.as_deref()?;
    let mut found: Option<(EventName, AnswerDiagnostic)> = None;
    for event in events {
        let run = HookRun { event: *event, stdout, stderr: "", exit: 0 };
        let verdict = judge_answer(&run, contract);
        let mut mistakes = verdict.diagnostics;
        mistakes.retain(|one| is_certain(one, answer));
        let worst =
            mistakes.into_iter().max_by_key(|one| one.severity == MistakeSeverity::Error)?;
        found.get_or_insert((*event, worst));
    }
    let (event, mistake) = found?;
    let severity = match mistake.severity {
        MistakeSeverity::Error => Severity::Error,
        _ => Severity::Warning,
    };
    let message = format!("{} on {event}: {}", mistake.code, mistake.message);
    Some((message, mistake.help, severity))
}

/// Returns true if a diagnostic is about the object itself, and not about what a literal leaves open: the exit code, other
/// output, the length of a text, or keys of a script's own.
fn is_certain(diagnostic: &AnswerDiagnostic, answer: &AnswerLiteral) -> bool {
    const UNCERTAIN_CODES: &[&str] = &[
        "exit-1",
        "exit-2-silent",
        "exit-2-ignored",
        "missing-script",
        "too-long",
        "text-before-json",
        "text-after-json",
        "two-objects",
        "truncated-json",
        "broken-json",
        "deprecated-decision",
        "rewritten-input",
        "no-reason",
    ];
    diagnostic.severity != MistakeSeverity::Info
        && !UNCERTAIN_CODES.contains(&diagnostic.code)
        && (answer.has_known_key() || diagnostic.code != "unknown-key")
}

#[cfg(test)]
mod tests {
    use super::ANSWER_DROPPED;
    use crate::lint::testing::LintCase;

    fn case(event: &str, answer: &str) -> LintCase {
        LintCase::command(event, "\"command\": \"\\\"$CLAUDE_PROJECT_DIR\\\"/a.sh\"")
            .with_text("a.sh!", &format!("#!/bin/sh\necho '{answer}'\n"))
    }

    #[test]
    fn finds_dropped_answers() {
        for answer in [
            r#"{"permissionDecision": "deny", "permissionDecisionReason": "no"}"#,
            r#"{"decision": "deny", "reason": "no"}"#,
            r#"{"hookSpecificOutput": {"hookEventName": "PreToolCall", "permissionDecision": "deny"}}"#,
        ] {
            assert_eq!(case("PreToolUse", answer).marked(&ANSWER_DROPPED).len(), 1, "{answer}");
        }
    }

    #[test]
    fn computed_values_of_dropped_keys_are_found() {
        for command in [
            "jq -n --arg text \"$(git log -1)\" '{context: $text}'",
            "jq -n --arg text \"$(git log -1)\" '{type: \"note\", content: $text}'",
            "printf '{\"permissionDecision\": \"%s\"}' \"$decision\"",
        ] {
            let case = case("UserPromptSubmit", "x")
                .with_text("a.sh!", &format!("#!/bin/sh\n{command}\n"));
            assert_eq!(case.marked(&ANSWER_DROPPED).len(), 1, "{command}");
        }
        let unknown = "jq -n --arg text \"$(date)\" '{started: $text}'";
        let case =
            case("UserPromptSubmit", "x").with_text("a.sh!", &format!("#!/bin/sh\n{unknown}\n"));
        assert!(case.marked(&ANSWER_DROPPED).is_empty());
    }

    #[test]
    fn answers_of_scripts_are_corrected() {
        let fixed =
            case("PreToolUse", r#"{"decision": "deny", "reason": "no"}"#).fixed(&ANSWER_DROPPED);
        assert!(fixed.contains(r#""permissionDecision": "deny""#), "{fixed}");
    }

    #[test]
    fn right_answers_are_clean() {
        for (event, answer) in [
            (
                "PreToolUse",
                r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}"#,
            ),
            ("Stop", r#"{"decision": "block", "reason": "tests fail"}"#),
            (
                "UserPromptSubmit",
                r#"{"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "x"}}"#,
            ),
            ("PreToolUse", r#"{"continue": true}"#),
            ("PreToolUse", "{}"),
        ] {
            assert!(case(event, answer).marked(&ANSWER_DROPPED).is_empty(), "{event} {answer}");
        }
    }
}
