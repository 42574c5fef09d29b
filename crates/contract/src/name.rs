//! The names of the events, and suggestions for unknown names.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::near::find_nearest;

/// Declares the enum, the list and the spelling in one place, in the order of the client's list.
macro_rules! event_names {
    ($($name:ident),* $(,)?) => {
        /// A hook event of the client, in the client's spelling and case. A new event is a new variant, so
        /// that a `match` without it does not compile.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the table says when each one fires")]
        pub enum EventName { $($name),* }

        impl EventName {
            /// Every event, in the client's order.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];

            /// Returns the name in the client's spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($name)),* }
            }
        }
    };
}

event_names! {
    PreToolUse, PostToolUse, PostToolUseFailure, PostToolBatch, Notification, UserPromptSubmit,
    UserPromptExpansion, SessionStart, SessionEnd, Stop, StopFailure, SubagentStart, SubagentStop,
    PreCompact, PostCompact, PreModelSwitch, PostModelSwitch, PermissionRequest, PermissionDenied,
    Setup, TeammateIdle, TaskCreated, TaskCompleted, Elicitation, ElicitationResult, ConfigChange,
    WorktreeCreate, WorktreeRemove, InstructionsLoaded, CwdChanged, FileChanged, DirectoryAdded,
    MessageDisplay,
}

/// Wrong names for events, from documents and other agents.
const KNOWN_MISTAKES: &[(&str, EventName)] = &[
    ("PreToolCall", EventName::PreToolUse),
    ("PostToolCall", EventName::PostToolUse),
    ("BeforeTool", EventName::PreToolUse),
    ("AfterTool", EventName::PostToolUse),
    ("ToolError", EventName::PostToolUseFailure),
    ("UserPrompt", EventName::UserPromptSubmit),
    ("BeforeAgent", EventName::UserPromptSubmit),
    ("beforeSubmitPrompt", EventName::UserPromptSubmit),
    ("userPromptSubmitted", EventName::UserPromptSubmit),
    ("AfterAgent", EventName::Stop),
    ("agentStop", EventName::Stop),
    ("PreCompress", EventName::PreCompact),
];

impl EventName {
    /// Returns the name in the spelling of its schema files: `PreToolUse` is `pre-tool-use`.
    pub fn kebab(self) -> String {
        self.separated('-')
    }

    /// Returns the name in the spelling of a Rust module: `PreToolUse` is `pre_tool_use`.
    pub fn snake(self) -> String {
        self.separated('_')
    }

    fn separated(self, separator: char) -> String {
        let mut out = String::with_capacity(self.as_str().len() + 4);
        for (at, c) in self.as_str().char_indices() {
            if at > 0 && c.is_ascii_uppercase() {
                out.push(separator);
            }
            out.push(c.to_ascii_lowercase());
        }
        out
    }

    /// Returns the event that older documents or other agents call `text`.
    pub fn from_mistaken_name(text: &str) -> Option<Self> {
        KNOWN_MISTAKES.iter().find(|(name, _)| *name == text).map(|(_, event)| *event)
    }

    /// Returns the event with the name nearest to `text`, or `None` if no name is near.
    pub fn nearest(text: &str) -> Option<Self> {
        let mistaken = KNOWN_MISTAKES.iter().copied();
        let right = Self::ALL.iter().map(|&event| (event.as_str(), event));
        find_nearest(text, right.chain(mistaken))
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for EventName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The error for a text that is not the name of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEvent {
    /// The text, cut to a length that fits a message.
    pub text: String,
    /// The event with the nearest name.
    pub nearest: Option<EventName>,
}

impl fmt::Display for UnknownEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a hook event of Claude Code", self.text)?;
        match self.nearest {
            Some(event) => write!(f, "; did you mean `{event}`?"),
            None => f.write_str("; `rutter contract events` lists all of them"),
        }
    }
}

impl std::error::Error for UnknownEvent {}

impl FromStr for EventName {
    type Err = UnknownEvent;

    /// Compares exactly and case-sensitively, as the client does.
    fn from_str(text: &str) -> Result<Self, UnknownEvent> {
        Self::ALL.into_iter().find(|event| event.as_str() == text).ok_or_else(|| UnknownEvent {
            text: text.chars().take(60).collect(),
            nearest: Self::nearest(text),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_33_names_round_trip() {
        assert_eq!(EventName::ALL.len(), 33);
        for event in EventName::ALL {
            assert_eq!(event.as_str().parse(), Ok(event));
        }
    }

    #[test]
    fn names_are_case_sensitive() {
        let error = "pretooluse".parse::<EventName>().unwrap_err();
        assert_eq!(error.nearest, Some(EventName::PreToolUse));
    }

    #[test]
    fn suggests_nearest_name() {
        for (wrong, right) in [
            ("PreToolCall", EventName::PreToolUse),
            ("PostToolCall", EventName::PostToolUse),
            ("pre-tool-use", EventName::PreToolUse),
            ("SesionStart", EventName::SessionStart),
            ("UserPromptSubmitted", EventName::UserPromptSubmit),
            ("SubAgentStop", EventName::SubagentStop),
            ("PreCompaction", EventName::PreCompact),
            ("ToolError", EventName::PostToolUseFailure),
        ] {
            assert_eq!(EventName::nearest(wrong), Some(right), "{wrong}");
        }
    }

    #[test]
    fn suggests_nothing_for_distant_names() {
        for text in ["", "xyz", "----", "日本語", &"Stop".repeat(40)] {
            assert_eq!(EventName::nearest(text), None, "{text}");
        }
    }

    #[test]
    fn kebab_and_snake() {
        assert_eq!(EventName::PreToolUse.kebab(), "pre-tool-use");
        assert_eq!(EventName::Stop.kebab(), "stop");
        assert_eq!(EventName::PostToolUseFailure.snake(), "post_tool_use_failure");
    }
}
