//! What the user has decided: which hooks speak, how much, where, and what is kept.
//!
//! Two files say it: the user's, and `.rutter.toml` in the root of a checkout, which goes before it. A checkout is
//! somebody else's work until `rutter trust` says otherwise, so its file may make Rutter do less and never more.
//!
//! Hooks read this on every call. Without files that is two failed opens and a struct of constants; nothing here
//! builds a table or fails. What is wrong with a file is a [`Finding`], and the default stays.
//!
//! [`keys`] is the one list: the types, the loader, the schema for editors and the reference come from it.

use std::time::Duration;

use serde::Serialize;

use crate::store::tend::Bounds;
use rutter_redact::checksum;
use rutter_redact::choice;

mod exclude;
mod file;
mod finding;
mod hooks_yaml;
pub mod keys;
mod layer;
mod load;
mod schema;
mod sha256;
pub mod trust;

pub use file::SIZE;
pub use finding::{Finding, Mistake, Position};
pub use hooks_yaml::{HOOKS_YAML, Meaning, YamlError, YamlKey, read_hooks_yaml};
pub use keys::{
    Cohort, Edits, GhapCheckin, OutcomeCapture, PreCompact, Privacy, Retention, Scope, SessionEnd,
    SessionStart, Stop, SubagentStart, UserPromptSubmit,
};
pub use load::{Loaded, Origin, PROJECT_FILE, Standing, check, preview, project_bytes};
pub use schema::schema;

/// Everything that can be decided.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Config {
    /// What each hook does.
    pub hooks: Hooks,
    /// Where Rutter works, and where it looks.
    pub scope: Scope,
    /// How much is kept.
    pub retention: Retention,
    /// What is not kept.
    pub privacy: Privacy,
    /// Sessions that are only watched.
    pub cohort: Cohort,
    /// What the user is told, beside the model.
    pub notify: Notify,
    /// What a checkout is told apart by.
    pub identity: Identity,
}

/// What each hook does.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[expect(missing_docs, reason = "each has its own type, which says what it is")]
pub struct Hooks {
    pub session_start: SessionStart,
    pub user_prompt_submit: UserPromptSubmit,
    pub ghap_checkin: GhapCheckin,
    pub outcome_capture: OutcomeCapture,
    pub edits: Edits,
    pub subagent_start: SubagentStart,
    pub pre_compact: PreCompact,
    pub stop: Stop,
    pub session_end: SessionEnd,
}

// Each begins with what does least: that is how one of an untrusted file is compared.

choice! {
    /// How much is recalled for a prompt.
    #[derive(Default)]
    ContextDepth, "context depth" {
        /// A few lessons.
        #[default]
        Light = "light",
        /// As much as helps somebody who begins.
        Rich = "rich",
    }
}

impl ContextDepth {
    /// At most so many things.
    pub const fn limit(self) -> usize {
        match self {
            Self::Light => 3,
            Self::Rich => 20,
        }
    }

    /// At most so many tokens.
    pub const fn tokens(self) -> usize {
        match self {
            Self::Light => 300,
            Self::Rich => 2_000,
        }
    }
}

choice! {
    /// Whose lessons are recalled.
    #[derive(Default)]
    Recall, "place to recall from" {
        /// Those of this project, and those that are for all.
        #[default]
        Project = "project",
        /// Those of every project.
        Everywhere = "everywhere",
    }
}

choice! {
    /// What happens to a GHAP that is open when its session ends.
    #[derive(Default)]
    Unresolved, "end of a session" {
        /// It stays, for a session that is resumed or adopts it.
        #[default]
        Keep = "keep",
        /// It is given up.
        Abandon = "abandon",
    }
}

choice! {
    /// What the user is told.
    #[derive(Default)]
    Notify, "way to notify" {
        /// Nothing.
        #[default]
        Off = "off",
        /// A line.
        Brief = "brief",
        /// A card.
        Card = "card",
    }
}

choice! {
    /// What a checkout is told apart by.
    #[derive(Default)]
    Identity, "identity" {
        /// Its path: every checkout, with its linked worktrees, is a project of its own.
        Path = "path",
        /// Its remote: all checkouts that name one remote are one project.
        #[default]
        Remote = "remote",
    }
}

impl From<&Retention> for Bounds {
    fn from(retention: &Retention) -> Self {
        let days = |days: u32| Duration::from_hours(u64::from(days) * 24);
        Self {
            outcome_age: days(retention.outcome_days),
            outcomes: retention.outcomes,
            injection_age: days(retention.injection_days),
            episode_silence: days(retention.episode_days),
            ..Self::default()
        }
    }
}

impl Cohort {
    /// Whether a session is only watched. The same for every call of it, on every machine.
    pub fn is_control(&self, session: &str) -> bool {
        // The checksum's last step leaves its upper bits alike for ids that differ at their end.
        let mut sum = checksum::of(session.as_bytes());
        sum = (sum ^ (sum >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        sum = (sum ^ (sum >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        sum ^= sum >> 33;
        #[expect(clippy::cast_precision_loss, reason = "53 bits are what a double holds")]
        let share = (sum >> 11) as f64 / (1_u64 << 53) as f64;
        share < self.control
    }
}

#[cfg(test)]
mod tests;
