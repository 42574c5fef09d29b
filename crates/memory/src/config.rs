//! What a user may set.

use std::path::Path;

use crate::choice::choice;
use crate::context::Depth;

macro_rules! hook { ($name:ident, $deadline:literal, { $($field:ident: $ty:ty = $value:expr),* $(,)? }) => {
    #[derive(Debug, Clone, PartialEq)]
    pub struct $name { pub enabled: bool, pub deadline_ms: u32, $(pub $field: $ty),* }
    impl Default for $name { fn default() -> Self { Self { enabled: true, deadline_ms: $deadline, $($field: $value),* } } }
} }
hook!(SessionStart, 500, { inject_light_context: bool = true, token_budget: u32 = 500, values: u32 = 5 });
hook!(UserPromptSubmit, 200, { context_depth: Depth = Depth::Light, token_budget: u32 = 300, limit: u32 = 3, include_code: bool = true });
hook!(GhapCheckin, 50, { frequency: u32 = 10 });
hook!(OutcomeCapture, 100, { matchers: Vec<String> = Vec::new(), auto_capture: bool = true, premortem: bool = true });
hook!(Edits, 50, {});
hook!(SubagentStart, 100, {});
hook!(PreCompact, 100, {});
hook!(Stop, 50, { ask: bool = false });
hook!(SessionEnd, 500, { on_unresolved: Unresolved = Unresolved::Keep });
choice! { /// x
Unresolved, "x" { /// k
Keep = "keep", /// a
Abandon = "abandon", } }
choice! { /// x
Reach, "x" { /// k
Project = "project", /// a
Everywhere = "everywhere", } }
choice! { /// x
Notify, "x" { /// k
Off = "off", /// a
Brief = "brief", /// c
Card = "card", } }
#[derive(Debug, Clone, PartialEq, Default)]
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
#[derive(Debug, Clone, PartialEq)]
pub struct Scope {
    pub exclude: Vec<String>,
    pub recall: Reach,
}
impl Scope {
    pub fn excludes(&self, _path: &Path) -> bool {
        false
    }
}
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cohort {
    pub control: f64,
}
impl Cohort {
    pub fn is_control(&self, _session: &str) -> bool {
        false
    }
}
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub hooks: Hooks,
    pub scope: Scope,
    pub cohort: Cohort,
    pub notify: Notify,
}
impl Default for Config {
    fn default() -> Self {
        Self {
            hooks: Hooks::default(),
            scope: Scope { exclude: Vec::new(), recall: Reach::Project },
            cohort: Cohort::default(),
            notify: Notify::Off,
        }
    }
}
pub struct Loaded {
    pub config: Config,
}
impl Config {
    pub fn load(_user: &Path, _root: Option<&Path>, _data: &Path) -> Loaded {
        Loaded { config: Self::default() }
    }
}
