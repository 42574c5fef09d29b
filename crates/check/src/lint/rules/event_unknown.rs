//! Names under `hooks` that are no event.

use rutter_contract::{EventName, find_misspelled, find_nearest};

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding, SourceNode, SourceValue};

lint_rule! {
    /// A name under `hooks` is not an event, so its hooks never run.
    ///
    /// The client knows 33 events and compares names exactly, with upper and lower case. It ignores every other name and
    /// shows a warning only when an interactive session starts.
    ///
    /// ```json
    /// { "hooks": { "PreToolCall": [{ "hooks": [{ "type": "command", "command": "./guard.sh" }] }] } }
    /// ```
    ///
    /// `PreToolCall` and `PostToolCall` come from other documentation. The client's names are `PreToolUse` and, for calls
    /// that failed, `PostToolUseFailure` beside `PostToolUse`. `--fix` writes the event if only one is meant.
    ///
    /// A name that holds hooks of PreToolUse or PermissionRequest deeper inside makes newer clients skip the whole file.
    /// That is reported as `guards-misplaced`.
    EVENT_UNKNOWN = "event-unknown", Error, check
}

/// Names of other agents or of old documentation, and the events that are meant.
const OTHER_NAMES: &[(&str, EventName)] = &[
    ("PreToolCall", EventName::PreToolUse),
    ("PostToolCall", EventName::PostToolUse),
    ("BeforeTool", EventName::PreToolUse),
    ("AfterTool", EventName::PostToolUse),
    ("beforeShellExecution", EventName::PreToolUse),
    ("afterFileEdit", EventName::PostToolUse),
    ("beforeSubmitPrompt", EventName::UserPromptSubmit),
    ("userPromptSubmitted", EventName::UserPromptSubmit),
    ("PromptSubmit", EventName::UserPromptSubmit),
    ("UserPrompt", EventName::UserPromptSubmit),
    ("OnStop", EventName::Stop),
    ("AgentStop", EventName::Stop),
    ("PreCompress", EventName::PreCompact),
];

/// Names for which the nearest event is not what is meant, and what to do instead.
const UNMATCHED_NAMES: &[(&str, &str)] = &[
    ("SessionStop", "write `SessionEnd`, or `Stop` for the end of each turn"),
    ("PreCommit", GIT_HELP),
    ("PostCommit", GIT_HELP),
    ("PrePush", GIT_HELP),
];

const GIT_HELP: &str = "the client has no events of git; write a hook of git, or PreToolUse for Bash with `if`, such as `Bash(git commit *)`";

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for member in file.events() {
            if member.key.parse::<EventName>().is_ok()
                || file.is_guard_fault(member.node.range.start)
                // The rule wrapper-doubled reports it, with a fix.
                || member.key == "hooks" && member.node.is_object()
            {
                continue;
            }
            // A text under a name such as `_comment` is a note of the author.
            if !is_container(&member.node)
                && (member.key.starts_with(['_', '$', '/', '#'])
                    || meant_event(&member.key).is_none())
            {
                continue;
            }
            let meant = meant_event(&member.key);
            let message = format!(
                "`{}` is not an event: the client ignores it, and its hooks never run",
                member.key
            );
            let other = UNMATCHED_NAMES.iter().find(|(name, _)| *name == member.key);
            let help = match meant {
                _ if other.is_some() => other.map_or("", |(_, help)| help).to_owned(),
                Some(EventName::PostToolUse) => {
                    "write `PostToolUse`; a call that failed fires `PostToolUseFailure` instead"
                        .to_owned()
                }
                Some(event) => format!("write `{event}`"),
                None => "use one of the names that `rutter contract events` lists".to_owned(),
            };
            let finding =
                LintFinding::new(&EVENT_UNKNOWN, index, member.key_range.clone(), message, help);
            // With an entry of that name in the file, the fix would make a duplicate key.
            let fixable = certain_event(&member.key)
                .filter(|event| file.events().iter().all(|other| other.key != event.as_str()));
            findings.push(match fixable {
                Some(event) => finding.with_edit(member.key_range.clone(), format!("\"{event}\"")),
                None => finding,
            });
        }
    }
}

fn is_container(node: &SourceNode) -> bool {
    matches!(node.value, SourceValue::List(_) | SourceValue::Object(_))
}

/// Returns the event that was probably meant.
fn meant_event(name: &str) -> Option<EventName> {
    known_event(name).or_else(|| find_nearest(name, event_names()))
}

/// Returns the event that was certainly meant: that of another agent's name, or of a misspelling.
fn certain_event(name: &str) -> Option<EventName> {
    known_event(name).or_else(|| find_misspelled(name, event_names()))
}

fn known_event(name: &str) -> Option<EventName> {
    let known = OTHER_NAMES.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
    known.map(|(_, event)| *event)
}

fn event_names() -> impl Iterator<Item = (&'static str, EventName)> {
    EventName::ALL.into_iter().map(|event| (event.as_str(), event))
}

#[cfg(test)]
mod tests {
    use super::EVENT_UNKNOWN;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_unknown_names() {
        for (name, meant) in [
            ("PreToolCall", "PreToolUse"),
            ("pretooluse", "PreToolUse"),
            ("PostToolCall", "PostToolUse"),
            ("SubAgentStop", "SubagentStop"),
            ("SesionStart", "SessionStart"),
            ("OnStop", "Stop"),
        ] {
            let case = LintCase::command(name, "\"command\": \"true\"");
            assert_eq!(case.marked(&EVENT_UNKNOWN), [format!("\"{name}\"")], "{name}");
            assert!(case.fixed(&EVENT_UNKNOWN).contains(&format!("{{\"{meant}\": [")), "{name}");
        }
    }

    #[test]
    fn far_names_have_no_fix() {
        let case = LintCase::command("WheneverYouLike", "\"command\": \"true\"");
        assert_eq!(case.marked(&EVENT_UNKNOWN), ["\"WheneverYouLike\""]);
        assert!(case.fixed(&EVENT_UNKNOWN).contains("WheneverYouLike"));
    }

    #[test]
    fn uncertain_names_have_no_fix() {
        for name in ["PreCommit", "SessionStop"] {
            let case = LintCase::command(name, "\"command\": \"true\"");
            assert_eq!(case.marked(&EVENT_UNKNOWN), [format!("\"{name}\"")]);
            assert!(case.fixed(&EVENT_UNKNOWN).contains(name), "{name}");
        }
    }

    #[test]
    fn notes_are_clean() {
        let text = r#"{"hooks": {"_comment": "see the wiki", "Stop": []}}"#;
        assert!(LintCase::settings(text).all().is_empty());
    }

    #[test]
    fn known_names_are_clean() {
        assert!(
            LintCase::command("PostToolUseFailure", "\"command\": \"true\"")
                .marked(&EVENT_UNKNOWN)
                .is_empty()
        );
    }
}
