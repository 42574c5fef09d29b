//! The user's configuration: which hooks are active, how much they say, where, and what is stored.
//!
//! There are two files: the user's, and `.rutter.toml` in the root of a checkout, which takes precedence. A checkout
//! may be the work of another person until the user runs `rutter trust`, so its file can make Rutter do less, never
//! more.
//!
//! Hooks read the configuration on every call. Without files that costs two failing opens and a struct of constants;
//! nothing here builds a table or fails. A mistake in a file is a [`ConfigFinding`], and the default stays.
//!
//! [`keys`] is the only list of keys: the types, the loader, the schema for editors and the reference come from it.

use std::path::Path;

use serde::Serialize;

use crate::project::LocatedProject;
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
pub mod trust;

pub use crate::project::ProjectIdentity;
pub use file::{MAX_CONFIG_FILE_BYTES, PROJECT_FILE};
pub use finding::{ConfigFinding, ConfigMistake, FilePosition};
pub use hooks_yaml::{HOOKS_YAML, YamlError, YamlKey, YamlMeaning, read_hooks_yaml};
pub use keys::{
    ActionHintSettings, CohortSettings, EditsSettings, GhapCheckinSettings, LintSettings,
    OutcomeCaptureSettings, PreCompactSettings, PrivacySettings, RetentionSettings, ScopeSettings,
    SessionEndSettings, SessionStartSettings, StopSettings, SubagentStartSettings,
    TestsFirstGateSettings, UserPromptSubmitSettings,
};
pub use load::{
    LoadedConfig, ProjectFileTrust, SettingOrigin, check_file, preview_trusted, read_project_file,
};
pub use schema::schema;

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Config {
    /// Settings of each hook.
    pub hooks: HookSettings,
    /// Folders in which Rutter works, and projects that it recalls from.
    pub scope: ScopeSettings,
    /// Limits on the number and age of stored rows.
    pub retention: RetentionSettings,
    /// Data that is not stored.
    pub privacy: PrivacySettings,
    /// The gates, which are off until a person enables one.
    pub gates: GateSettings,
    /// The rules of the linter that report nothing.
    pub lint: LintSettings,
    /// The control cohort: sessions that are only observed.
    pub cohort: CohortSettings,
    /// Messages to the user, in addition to those for the model.
    pub notify: Notify,
    /// The property that identifies a project.
    pub identity: ProjectIdentity,
}

/// Settings of each hook.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[expect(missing_docs, reason = "each has its own type, which says what it is")]
pub struct HookSettings {
    pub session_start: SessionStartSettings,
    pub user_prompt_submit: UserPromptSubmitSettings,
    pub ghap_checkin: GhapCheckinSettings,
    pub outcome_capture: OutcomeCaptureSettings,
    pub edits: EditsSettings,
    pub action_hints: ActionHintSettings,
    pub subagent_start: SubagentStartSettings,
    pub pre_compact: PreCompactSettings,
    pub stop: StopSettings,
    pub session_end: SessionEndSettings,
}

/// Settings of each gate.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct GateSettings {
    /// The gate for tests.
    pub tests_first: TestsFirstGateSettings,
}

// The variants of each choice start with the one that does least: that is how a value of an untrusted file is compared.

choice! {
    /// Amount of context that is recalled for a prompt.
    #[derive(Default)]
    ContextDepth, "context depth" {
        /// A few lessons.
        #[default]
        Light = "light",
        /// Enough for a session that begins.
        Rich = "rich",
    }
}

impl ContextDepth {
    /// Returns the default limits of this depth: the maximum number of tokens and of rows.
    pub(crate) const fn limits(self) -> (u32, u32) {
        match self {
            Self::Light => (300, 3),
            Self::Rich => (2_000, 20),
        }
    }

    /// Maximum number of recalled rows.
    pub const fn limit(self) -> usize {
        self.limits().1 as usize
    }

    /// Maximum number of tokens.
    pub const fn tokens(self) -> usize {
        self.limits().0 as usize
    }
}

choice! {
    /// The projects that lessons are recalled from.
    #[derive(Default)]
    RecallScope, "place to recall from" {
        /// This project, and lessons that hold everywhere.
        #[default]
        Project = "project",
        /// Every project.
        Everywhere = "everywhere",
    }
}

choice! {
    /// Treatment of a GHAP that is open when its session ends.
    #[derive(Default)]
    UnresolvedPolicy, "end of a session" {
        /// Keep it for a session that is resumed or adopts it.
        #[default]
        Keep = "keep",
        /// Abandon it.
        Abandon = "abandon",
    }
}

choice! {
    /// Messages to the user.
    #[derive(Default)]
    Notify, "way to notify" {
        /// No messages.
        #[default]
        Off = "off",
        /// A line of text.
        Brief = "brief",
        /// A card.
        Card = "card",
    }
}

choice! {
    /// What a gate does with a call that it does not accept.
    #[derive(Default)]
    GateMode, "gate mode" {
        /// Nothing: the gate is off.
        #[default]
        Off = "off",
        /// The call passes, and the decision is recorded.
        Observe = "observe",
        /// The call is denied once. The same call passes the second time.
        Hold = "hold",
        /// The client asks the user.
        Ask = "ask",
        /// The call is denied.
        Deny = "deny",
    }
}

choice! {
    /// What happens to a call about which a gate cannot decide.
    #[derive(Default)]
    GateFault, "treatment of a fault" {
        /// The call passes.
        #[default]
        Open = "open",
        /// The call is denied.
        Closed = "closed",
    }
}

impl LocatedProject {
    /// Finds the project of a folder like [`find_from`](Self::find_from), loads its configuration, and applies its
    /// `identity`. `user` is the user's configuration file, `data` the data directory.
    pub fn find_configured(
        folder: &Path,
        started_in: Option<&Path>,
        user: &Path,
        data: &Path,
    ) -> (Self, LoadedConfig) {
        let located = Self::find_from(folder, started_in);
        let loaded = Config::load(user, Some(&located.root), data);
        (located.identified_by(loaded.config.identity), loaded)
    }
}

impl CohortSettings {
    /// Returns true if a session is in the control cohort. The result is the same for every call of a session, on every
    /// machine.
    pub fn is_control(&self, session: &str) -> bool {
        // FNV's last step leaves the upper bits nearly equal for ids that differ only at the end, so the bits are
        // mixed.
        let mut sum = checksum::fnv1a(session.as_bytes());
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
