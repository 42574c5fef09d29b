//! What was put in front of the agent, and whether it helped. Prompts themselves are not kept.

use serde::{Deserialize, Serialize};

use crate::document::Kind;
use crate::{Clean, Id, Time};
use rutter_redact::choice;

choice! {
    /// What the next outcome said.
    Effect, "effect" {
        /// It was better.
        Helped = "helped",
        /// It was worse.
        Hurt = "hurt",
    }
}

choice! {
    /// Where something that is put before an agent comes from.
    Source, "kind of context" {
        /// What was asked to be remembered.
        Memory = "memory",
        /// What a resolved GHAP left.
        Experience = "experience",
        /// A failure and what turned it green.
        Episode = "episode",
        /// What many experiences say together.
        Value = "value",
    }
}

impl From<Kind> for Source {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Memory => Self::Memory,
            Kind::Experience => Self::Experience,
            Kind::Episode => Self::Episode,
        }
    }
}

/// How often a row was better and worse to have been shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Effects {
    /// How often the next outcome was better.
    pub helped: u32,
    /// How often it was worse.
    pub hurt: u32,
}

impl Effects {
    /// Whether it has done more harm than good, and not by chance: then nobody is told of it who did not ask.
    pub fn is_harmful(self) -> bool {
        self.hurt >= 2 && self.hurt > self.helped
    }
}

/// One row that was shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Injection {
    /// Its identity.
    pub id: Id,
    /// In which session, by the client's name for it.
    pub session: Clean,
    /// To which agent; none is the main one.
    pub agent: Option<Clean>,
    /// On which event of the client.
    pub event: Clean,
    /// Which row.
    pub row: Id,
    /// How well it fitted.
    pub score: f64,
    /// A hash of what it was shown for.
    pub prompt: Clean,
    /// When.
    pub at: Time,
    /// What came of it.
    pub effect: Option<Effect>,
    /// Whether only a one-line reference to the row was shown. The row may then still be shown in full.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub brief: bool,
}
