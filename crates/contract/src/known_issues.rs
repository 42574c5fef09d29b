//! Issues of the client's tracker that bear on hooks, each with what was measured about it.
//!
//! Issues whose cause could not be measured are not listed, unless the note says so.

use std::fmt::Write as _;

use crate::name::EventName;

/// An issue of `anthropics/claude-code`.
#[derive(Debug, Clone, Copy)]
pub struct KnownIssue {
    /// Its number.
    pub number: u32,
    /// The events that it is about.
    pub events: &'static [EventName],
    /// What it is about.
    pub subject: IssueSubject,
    /// What was measured, and on which clients.
    pub note: &'static str,
}

/// What an issue is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueSubject {
    /// The answer of a hook.
    Answer,
    /// The registration of a hook in a file.
    Registration,
}

/// The known issues.
pub const KNOWN_ISSUES: &[KnownIssue] = &[
    KnownIssue {
        number: 15485,
        events: &[EventName::Stop, EventName::SubagentStop],
        subject: IssueSubject::Answer,
        note: "it says that a hookSpecificOutput is not valid here; on 2.1.325 one with `additionalContext` is valid \
               and continues the turn, as `decision` does",
    },
    KnownIssue {
        number: 43407,
        events: &[EventName::PreToolUse, EventName::UserPromptSubmit, EventName::Stop],
        subject: IssueSubject::Answer,
        note: "on 2.1.197 an invalid answer on stdout cancels the block of exit code 2; on 2.1.325 exit code 2 blocks \
               whatever stdout is",
    },
    KnownIssue {
        number: 20221,
        events: &[EventName::SubagentStop],
        subject: IssueSubject::Registration,
        note: "it says that a `prompt` hook cannot keep a subagent running, which was not measured; a `command` hook \
               can, on 2.1.325",
    },
    KnownIssue {
        number: 49990,
        events: &[EventName::PreToolUse, EventName::PermissionRequest],
        subject: IssueSubject::Registration,
        note: "a hook without the group around it makes the client skip the whole file, on 2.1.325 and 2.1.197",
    },
    KnownIssue {
        number: 75081,
        events: &[EventName::PreToolUse, EventName::PermissionRequest],
        subject: IssueSubject::Registration,
        note: "an invalid group or hook makes the client skip the whole file: on 2.1.325 only under this event and \
               one other, on 2.1.197 under every event",
    },
];

/// Returns the issues about an event as sentences, each with a leading blank. Empty if there are none.
pub fn describe_known_issues(event: EventName, subject: IssueSubject) -> String {
    let about = |issue: &&KnownIssue| issue.subject == subject && issue.events.contains(&event);
    let mut text = String::new();
    for KnownIssue { number, note, .. } in KNOWN_ISSUES.iter().filter(about) {
        let _ = write!(text, " Issue anthropics/claude-code#{number}: {note}.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_are_described_per_event() {
        let text = describe_known_issues(EventName::Stop, IssueSubject::Answer);
        assert!(text.starts_with(" Issue anthropics/claude-code#15485: "), "{text}");
        assert!(!text.contains("75081"), "{text}");
        assert_eq!(describe_known_issues(EventName::Stop, IssueSubject::Registration), "");
    }
}
