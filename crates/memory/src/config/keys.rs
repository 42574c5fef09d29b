//! All configuration keys: type, default, range, description, and the limits for untrusted files.

use std::fmt;

use serde::Serialize;

use super::{
    Config, ContextDepth, GateFault, GateMode, Notify, ProjectIdentity, RecallScope,
    UnresolvedPolicy,
};

/// A configuration key.
#[derive(Debug)]
pub struct ConfigKey {
    /// The table of the key; empty at the top level.
    pub section: &'static str,
    /// The name in the table.
    pub name: &'static str,
    /// The description.
    pub about: &'static str,
    /// The limits for a project file.
    pub rule: ProjectRule,
    /// Minimum and maximum of a number.
    pub range: (u32, u32),
    slot: fn(&mut Config) -> ConfigSlot<'_>,
}

/// The changes to a key that an untrusted project file may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectRule {
    /// Switch off, or choose a smaller value.
    Lower,
    /// Choose a larger value: the hook then speaks less often.
    Higher,
    /// Add to the list.
    Add,
    /// Choose a smaller value. Even a trusted file may not choose a larger one; only the user's file may.
    Narrow,
    /// No change unless the file is trusted.
    Trusted,
    /// No change, even if the file is trusted: all projects share the setting.
    User,
}

/// A mutable reference to the value of a key.
#[derive(Debug)]
pub(super) enum ConfigSlot<'a> {
    Flag(&'a mut bool),
    Number(&'a mut u32),
    Share(&'a mut f64),
    Words(&'a mut Vec<String>),
    Choice(&'a mut dyn ChoiceSlot),
}

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ConfigValue {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Number(u32),
    /// A share, from 0 to 1.
    Share(f64),
    /// A list of texts. The lists of all files are combined.
    Words(Vec<String>),
    /// A word from a fixed list.
    Choice(&'static str),
}

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are those of `Value`")]
pub enum ConfigValueKind {
    Flag,
    Number,
    Share,
    Words,
    Choice(&'static [&'static str]),
}

/// A value from a fixed list of words, independent of its type.
pub(super) trait ChoiceSlot: fmt::Debug {
    fn names(&self) -> &'static [&'static str];
    fn name(&self) -> &'static str;
    fn choose(&mut self, name: &str);
}

/// A type of values that keys can have.
trait ConfigSetting {
    fn slot(&mut self) -> ConfigSlot<'_>;
}

macro_rules! settings {
    ($($type:ty => $variant:ident),* ; $($choice:ty),*) => {
        $(impl ConfigSetting for $type {
            fn slot(&mut self) -> ConfigSlot<'_> {
                ConfigSlot::$variant(self)
            }
        })*
        $(
            impl ChoiceSlot for $choice {
                fn names(&self) -> &'static [&'static str] {
                    Self::NAMES
                }

                fn name(&self) -> &'static str {
                    self.as_str()
                }

                fn choose(&mut self, name: &str) {
                    if let Ok(chosen) = name.parse() {
                        *self = chosen;
                    }
                }
            }

            impl ConfigSetting for $choice {
                fn slot(&mut self) -> ConfigSlot<'_> {
                    ConfigSlot::Choice(self)
                }
            }
        )*
    };
}

settings! {
    bool => Flag, u32 => Number, f64 => Share, Vec<String> => Words;
    ContextDepth, RecallScope, UnresolvedPolicy, Notify, ProjectIdentity, GateMode, GateFault
}

impl ConfigKey {
    /// Returns the full name.
    pub fn path(&self) -> String {
        if self.section.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}.{}", self.section, self.name)
        }
    }

    /// Returns the type of the value.
    pub fn kind(&self) -> ConfigValueKind {
        match (self.slot)(&mut Config::default()) {
            ConfigSlot::Flag(_) => ConfigValueKind::Flag,
            ConfigSlot::Number(_) => ConfigValueKind::Number,
            ConfigSlot::Share(_) => ConfigValueKind::Share,
            ConfigSlot::Words(_) => ConfigValueKind::Words,
            ConfigSlot::Choice(choice) => ConfigValueKind::Choice(choice.names()),
        }
    }

    /// Returns the value in a configuration.
    pub fn value(&self, config: &Config) -> ConfigValue {
        match (self.slot)(&mut config.clone()) {
            ConfigSlot::Flag(flag) => ConfigValue::Flag(*flag),
            ConfigSlot::Number(number) => ConfigValue::Number(*number),
            ConfigSlot::Share(share) => ConfigValue::Share(*share),
            ConfigSlot::Words(words) => ConfigValue::Words(words.clone()),
            ConfigSlot::Choice(choice) => ConfigValue::Choice(choice.name()),
        }
    }

    /// Describes the valid values in words.
    pub fn expected(&self) -> String {
        let (least, most) = self.range;
        match self.kind() {
            ConfigValueKind::Flag => "true or false".to_owned(),
            ConfigValueKind::Number => format!("a whole number from {least} to {most}"),
            ConfigValueKind::Share => "a number from 0 to 1".to_owned(),
            ConfigValueKind::Words => "a list of non-empty texts".to_owned(),
            ConfigValueKind::Choice(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
                names.join(" or ")
            }
        }
    }

    /// Sets the value; a list is extended.
    pub(super) fn set(&self, config: &mut Config, value: ConfigValue) {
        match ((self.slot)(config), value) {
            (ConfigSlot::Flag(slot), ConfigValue::Flag(flag)) => *slot = flag,
            (ConfigSlot::Number(slot), ConfigValue::Number(number)) => *slot = number,
            (ConfigSlot::Share(slot), ConfigValue::Share(share)) => *slot = share,
            (ConfigSlot::Words(slot), ConfigValue::Words(words)) => {
                for word in words {
                    if !slot.contains(&word) {
                        slot.push(word);
                    }
                }
            }
            (ConfigSlot::Choice(slot), ConfigValue::Choice(name)) => slot.choose(name),
            (slot, value) => debug_assert!(false, "{slot:?} cannot hold {value:?}"),
        }
    }

    /// Returns true if the value makes Rutter do no more than this configuration does.
    pub(super) fn narrows(&self, config: &Config, wanted: &ConfigValue) -> bool {
        let now = self.value(config);
        let less = match (&now, wanted) {
            (ConfigValue::Flag(now), ConfigValue::Flag(wanted)) => *now || !wanted,
            (ConfigValue::Number(now), ConfigValue::Number(wanted)) => match self.rule {
                ProjectRule::Higher => wanted >= now,
                _ => wanted <= now,
            },
            (ConfigValue::Choice(now), ConfigValue::Choice(wanted)) => match self.kind() {
                ConfigValueKind::Choice(names) => {
                    let place = |name| names.iter().position(|known| *known == name);
                    place(*wanted) <= place(*now)
                }
                _ => false,
            },
            (ConfigValue::Words(_), ConfigValue::Words(_)) => self.rule == ProjectRule::Add,
            _ => false,
        };
        less && !matches!(self.rule, ProjectRule::Trusted | ProjectRule::User)
    }
}

/// Formats the value as in a file.
impl fmt::Display for ConfigValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Share(share) => write!(f, "{share:?}"),
            Self::Choice(name) => write!(f, "\"{name}\""),
            Self::Words(words) => {
                f.write_str("[")?;
                for (at, word) in words.iter().enumerate() {
                    f.write_str(if at == 0 { "\"" } else { ", \"" })?;
                    for c in word.chars() {
                        match c {
                            '"' | '\\' => write!(f, "\\{c}")?,
                            // A file of another person is shown on a terminal, which would interpret control
                            // characters.
                            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
                            c => write!(f, "{c}")?,
                        }
                    }
                    f.write_str("\"")?;
                }
                f.write_str("]")
            }
        }
    }
}

macro_rules! sections {
    ($(
        $section:ident, $path:literal at $place:tt, $about:literal {
            $($field:ident: $type:ty = $default:expr, $rule:ident, $says:literal $(, $least:literal..=$most:literal)?;)*
        }
    )*) => {
        $(
            #[doc = $about]
            #[derive(Debug, Clone, PartialEq, Serialize)]
            pub struct $section {
                $(#[doc = $says] pub $field: $type,)*
            }

            impl Default for $section {
                fn default() -> Self {
                    Self { $($field: $default),* }
                }
            }
        )*

        /// The tables and their descriptions.
        pub static SECTIONS: &[(&str, &str)] = &[$(($path, $about)),*];

        /// Every key, in the order of the reference.
        pub static KEYS: &[ConfigKey] = &[
            ConfigKey {
                section: "",
                name: "notify",
                about: "Rutter's messages to you: none, a line whenever the agent gets context, \
                        or also a card at the start of a session.",
                rule: ProjectRule::Lower,
                range: (0, 0),
                slot: |config| config.notify.slot(),
            },
            ConfigKey {
                section: "",
                name: "identity",
                about: "The identity of a project. With `remote`, all checkouts with the same \
                        remote share a project: clones, but also forks and copies that claim \
                        it. With `path`, each checkout with its linked worktrees is its own \
                        project.",
                rule: ProjectRule::Narrow,
                range: (0, 0),
                slot: |config| config.identity.slot(),
            },
            $($(ConfigKey {
                section: $path,
                name: stringify!($field),
                about: $says,
                rule: ProjectRule::$rule,
                range: sections!(@range $($least $most)?),
                slot: |config| sections!(@place config $place $field).slot(),
            },)*)*
        ];
    };
    (@range) => { (0, 0) };
    (@range $least:literal $most:literal) => { ($least, $most) };
    (@place $config:ident ($($place:tt)*) $field:ident) => { $config.$($place)*.$field };
}

sections! {
    SessionStartSettings, "hooks.session_start" at (hooks.session_start),
    "The hook at the start of a session, and after a resume or a compaction." {
        enabled: bool = true, Lower, "Enables the hook.";
        inject_light_context: bool = true, Lower, "Starts a session with preferences, values, \
                                                   lessons and recent work.";
        token_budget: u32 = 500, Lower, "Maximum number of tokens. The client cuts at about \
                                         2,500.", 0..=2_500;
        preferences: u32 = 5, Lower, "Maximum number of preferences of importance 1.", 0..=50;
        values: u32 = 5, Lower, "Maximum number of values.", 0..=50;
        lessons: u32 = 6, Lower, "Maximum number of lessons that are listed with their ids. A project with fewer \
                                  than five has no list.", 0..=50;
        recent_work: u32 = 3, Lower, "Maximum number of lines about recent work.", 0..=50;
    }
    UserPromptSubmitSettings, "hooks.user_prompt_submit" at (hooks.user_prompt_submit),
    "The hook on a prompt." {
        enabled: bool = true, Lower, "Enables the hook.";
        context_depth: ContextDepth = ContextDepth::Light, Lower, "The amount of recalled text. Sets \
            the defaults of the next two keys.";
        token_budget: u32 = ContextDepth::Light.limits().0, Lower, "Maximum number of tokens: 300, or 2000 with \
                                                    `rich`.", 0..=2_500;
        limit: u32 = ContextDepth::Light.limits().1, Lower, "Maximum number of rows: 3, or 20 with `rich`.", 0..=50;
        include_code: bool = true, Lower, "Includes code. Reserved: code is not stored yet.";
    }
    GhapCheckinSettings, "hooks.ghap_checkin" at (hooks.ghap_checkin),
    "The hook before a tool call: asks whether the hypothesis is still valid." {
        enabled: bool = true, Lower, "Enables the hook.";
        frequency: u32 = 10, Higher, "Number of tool calls between two check-ins.", 1..=1_000;
    }
    OutcomeCaptureSettings, "hooks.outcome_capture" at (hooks.outcome_capture),
    "The hook after a command: records test runs, builds and checks." {
        enabled: bool = true, Lower, "Enables the hook.";
        matchers: Vec<String> = Vec::new(), Trusted, "Commands that count as a run in addition \
                                                      to those that Rutter knows, such as \
                                                      `./verify all`.";
        only: Vec<String> = Vec::new(), Trusted, "If not empty, only these commands count as a run.";
        auto_capture: bool = true, Lower, "Lets a run confirm or contradict a prediction.";
        premortem: bool = true, Lower, "Shows similar earlier failures on a failure without a \
                                        GHAP.";
        offer_ghap: bool = true, Lower, "Suggests to start a GHAP on the first unknown failure of \
                                         a session.";
    }
    EditsSettings, "hooks.edits" at (hooks.edits),
    "The hook after an edit: records changes while a failure is open." {
        enabled: bool = true, Lower, "Enables the hook.";
    }
    ActionHintSettings, "hooks.action_hints" at (hooks.action_hints),
    "The hook before an edit or a command: one line if an edit removes the lines of an earlier fix, or if a command is known to fail." {
        enabled: bool = true, Lower, "Enables the hook.";
    }
    SubagentStartSettings, "hooks.subagent_start" at (hooks.subagent_start),
    "The hook at the start of a subagent: lessons for its task." {
        enabled: bool = true, Lower, "Enables the hook.";
    }
    PreCompactSettings, "hooks.pre_compact" at (hooks.pre_compact),
    "The hook before a compaction: the facts to keep." {
        enabled: bool = true, Lower, "Enables the hook.";
    }
    StopSettings, "hooks.stop" at (hooks.stop),
    "The hook when the agent stops." {
        enabled: bool = true, Lower, "Enables the hook.";
        ask: bool = false, Lower, "Asks once about an open GHAP. That prolongs the turn.";
    }
    SessionEndSettings, "hooks.session_end" at (hooks.session_end),
    "The hook at the end of a session." {
        enabled: bool = true, Lower, "Enables the hook.";
        on_unresolved: UnresolvedPolicy = UnresolvedPolicy::Keep, Lower, "Treatment of an \
            open GHAP.";
    }
    ScopeSettings, "scope" at (scope),
    "Excluded folders, and the projects to recall from." {
        exclude: Vec<String> = Vec::new(), Add, "Folders in which Rutter does nothing, with \
                                                 their subfolders: `~/clients`, `/srv/*`, \
                                                 `**/secret`.";
        recall: RecallScope = RecallScope::Project, Lower, "The projects whose lessons are \
                                                            recalled: this one, or all.";
    }
    RetentionSettings, "retention" at (retention),
    "Retention limits. All projects share one memory, so only your own file can set them." {
        outcome_days: u32 = 180, User, "Days to keep runs.", 1..=36_500;
        outcomes: u32 = 50_000, User, "Maximum number of runs to keep per project.", 1..=10_000_000;
        injection_days: u32 = 90, User, "Days to keep the record of shown rows.", 1..=36_500;
        episode_days: u32 = 30, User, "Days without a run after which an open failure is closed.", 1..=36_500;
    }
    PrivacySettings, "privacy" at (privacy),
    "What is not stored. Secrets never are." {
        capture_patches: bool = true, Lower, "Stores the lines that fixed a failure.";
    }
    TestsFirstGateSettings, "gates.tests_first" at (gates.tests_first),
    "The gate for tests: an agent writes the test of an implementation file first. `rutter gate enable` sets it for one project." {
        mode: GateMode = GateMode::Off, Trusted, "What the gate does with a call that it does not accept: nothing, \
            a record, a denial that the same call passes the second time, a question to you, or a denial.";
        require_red: bool = false, Trusted, "Demands that a run of the test failed since its last green one.";
        must_mention: bool = false, Trusted, "Demands that the test mentions the file or something that it defines.";
        exclude: Vec<String> = Vec::new(), Trusted, "Files that need no test: `scripts/`, `**/legacy/**`, `src/*.py`.";
        places: Vec<String> = Vec::new(), Trusted, "Further places of tests, with `{folder}`, `{name}` and `{ext}`: \
            `{folder}/{name}.check.{ext}`.";
        on_error: GateFault = GateFault::Open, Trusted, "What happens to a call about which the gate cannot decide: it \
            passes, or it is denied.";
    }
    LintSettings, "lint" at (lint),
    "The linter of hook configuration, `rutter contract lint`." {
        off: Vec<String> = Vec::new(), Add, "Rules that report nothing: `RULE`, or `RULE PATH` with \
                                             the end of a file's path.";
    }
    CohortSettings, "cohort" at (cohort),
    "The control group: sessions that are recorded but get no context, to measure the effect of \
     the others." {
        control: f64 = 0.0, User, "The share of sessions in the control group, from 0 to 1.";
    }
}
