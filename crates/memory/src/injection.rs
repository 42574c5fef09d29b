//! Rows that were shown to the agent, and their effects. Prompts themselves are not stored.

use serde::{Deserialize, Serialize};

use crate::document::DocumentKind;
use crate::{Clean, Id, Time};
use rutter_redact::choice;

choice! {
    /// The effect of a shown row, judged by the next outcome.
    ShownEffect, "effect" {
        /// The outcome was better.
        Helped = "helped",
        /// The outcome was worse.
        Hurt = "hurt",
    }
}

choice! {
    /// The kind of row that is shown to an agent.
    InjectionSource, "kind of context" {
        /// A memory that the user or the agent asked to remember.
        Memory = "memory",
        /// The lesson of a resolved GHAP.
        Experience = "experience",
        /// A failure and the change that fixed it.
        Episode = "episode",
        /// A rule that many experiences support.
        Value = "value",
    }
}

impl From<DocumentKind> for InjectionSource {
    fn from(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::Memory => Self::Memory,
            DocumentKind::Experience => Self::Experience,
            DocumentKind::Episode => Self::Episode,
        }
    }
}

/// The event of a row that an agent looked up by its id: the tool's name.
pub const LOOKUP_EVENT: &str = "recall_memories";

/// Numbers of times that showing a row helped and hurt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct EffectCounts {
    /// Number of times that the next outcome was better.
    pub helped: u32,
    /// Number of times that it was worse.
    pub hurt: u32,
}

impl EffectCounts {
    /// Returns true if the row hurt more often than it helped, and at least twice, so it is not chance. Such a row is
    /// shown only on request.
    pub fn is_harmful(self) -> bool {
        self.hurt >= 2 && self.hurt > self.helped
    }
}

/// A row that was shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Injection {
    /// Id of the injection.
    pub id: Id,
    /// The client's name for the session.
    pub session: Clean,
    /// The agent that it was shown to; None for the main agent.
    pub agent: Option<Clean>,
    /// The hook event of the client.
    pub event: Clean,
    /// Id of the shown row.
    pub row: Id,
    /// Relevance of the row.
    pub score: f64,
    /// Hash of the text that it was shown for.
    pub prompt: Clean,
    /// Time when it was shown.
    pub at: Time,
    /// The effect, once it is known.
    pub effect: Option<ShownEffect>,
    /// True if only a one-line reference to the row was shown. The row may then still be shown in full.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub brief: bool,
}
