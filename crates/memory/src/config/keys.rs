//! All configuration keys: type, default, range, description, and the limits for untrusted files.

use std::fmt;

use serde::Serialize;

use super::{Config, ContextDepth, Identity, Notify, Recall, Unresolved};

/// A configuration key.
#[derive(Debug)]
pub struct Key {
    /// The table of the key; empty at the top level.
    pub section: &'static str,
    /// The name in the table.
    pub name: &'static str,
    /// The description.
    pub about: &'static str,
    /// The limits for a project file.
    pub rule: Rule,
    /// Minimum and maximum of a number.
    pub range: (u32, u32),
    slot: fn(&mut Config) -> Slot<'_>,
}

/// The changes to a key that an untrusted project file may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
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
pub(super) enum Slot<'a> {
    Flag(&'a mut bool),
    Number(&'a mut u32),
    Share(&'a mut f64),
    Words(&'a mut Vec<String>),
    Choice(&'a mut dyn Choose),
}

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
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
pub enum Kind {
    Flag,
    Number,
    Share,
    Words,
    Choice(&'static [&'static str]),
}

/// A value from a fixed list of words, independent of its type.
pub(super) trait Choose: fmt::Debug {
    fn names(&self) -> &'static [&'static str];
    fn name(&self) -> &'static str;
    fn choose(&mut self, name: &str);
}

/// A type of values that keys can have.
trait Setting {
    fn slot(&mut self) -> Slot<'_>;
}

macro_rules! settings {
    ($($type:ty => $variant:ident),* ; $($choice:ty),*) => {
        $(impl Setting for $type {
            fn slot(&mut self) -> Slot<'_> {
                Slot::$variant(self)
            }
        })*
        $(
            impl Choose for $choice {
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

            impl Setting for $choice {
                fn slot(&mut self) -> Slot<'_> {
                    Slot::Choice(self)
                }
            }
        )*
    };
}

settings! {
    bool => Flag, u32 => Number, f64 => Share, Vec<String> => Words;
    ContextDepth, Recall, Unresolved, Notify, Identity
}

impl Key {
    /// Returns the full name.
    pub fn path(&self) -> String {
        if self.section.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}.{}", self.section, self.name)
        }
    }

    /// Returns the type of the value.
    pub fn kind(&self) -> Kind {
        match (self.slot)(&mut Config::default()) {
            Slot::Flag(_) => Kind::Flag,
            Slot::Number(_) => Kind::Number,
            Slot::Share(_) => Kind::Share,
            Slot::Words(_) => Kind::Words,
            Slot::Choice(choice) => Kind::Choice(choice.names()),
        }
    }

    /// Returns the value in a configuration.
    pub fn value(&self, config: &Config) -> Value {
        match (self.slot)(&mut config.clone()) {
            Slot::Flag(flag) => Value::Flag(*flag),
            Slot::Number(number) => Value::Number(*number),
            Slot::Share(share) => Value::Share(*share),
            Slot::Words(words) => Value::Words(words.clone()),
            Slot::Choice(choice) => Value::Choice(choice.name()),
        }
    }

    /// Describes the valid values in words.
    pub fn expected(&self) -> String {
        let (least, most) = self.range;
        match self.kind() {
            Kind::Flag => "true or false".to_owned(),
            Kind::Number => format!("a whole number from {least} to {most}"),
            Kind::Share => "a number from 0 to 1".to_owned(),
            Kind::Words => "a list of texts, none of them empty".to_owned(),
            Kind::Choice(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
                names.join(" or ")
            }
        }
    }

    /// Sets the value; a list is extended.
    pub(super) fn set(&self, config: &mut Config, value: Value) {
        match ((self.slot)(config), value) {
            (Slot::Flag(slot), Value::Flag(flag)) => *slot = flag,
            (Slot::Number(slot), Value::Number(number)) => *slot = number,
            (Slot::Share(slot), Value::Share(share)) => *slot = share,
            (Slot::Words(slot), Value::Words(words)) => {
                for word in words {
                    if !slot.contains(&word) {
                        slot.push(word);
                    }
                }
            }
            (Slot::Choice(slot), Value::Choice(name)) => slot.choose(name),
            (slot, value) => debug_assert!(false, "{slot:?} cannot hold {value:?}"),
        }
    }

    /// Returns true if the value makes Rutter do no more than this configuration does.
    pub(super) fn narrows(&self, config: &Config, wanted: &Value) -> bool {
        let now = self.value(config);
        let less = match (&now, wanted) {
            (Value::Flag(now), Value::Flag(wanted)) => *now || !wanted,
            (Value::Number(now), Value::Number(wanted)) => match self.rule {
                Rule::Higher => wanted >= now,
                _ => wanted <= now,
            },
            (Value::Choice(now), Value::Choice(wanted)) => match self.kind() {
                Kind::Choice(names) => {
                    let place = |name| names.iter().position(|known| *known == name);
                    place(*wanted) <= place(*now)
                }
                _ => false,
            },
            (Value::Words(_), Value::Words(_)) => self.rule == Rule::Add,
            _ => false,
        };
        less && !matches!(self.rule, Rule::Trusted | Rule::User)
    }
}

/// Formats the value as in a file.
impl fmt::Display for Value {
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
        pub static KEYS: &[Key] = &[
            Key {
                section: "",
                name: "notify",
                about: "What you are told, beside the model: nothing, a line whenever the agent is told something, or a card as well when a session begins.",
                rule: Rule::Lower,
                range: (0, 0),
                slot: |config| config.notify.slot(),
            },
            Key {
                section: "",
                name: "identity",
                about: "What a checkout is told apart by. With `remote`, all that name one remote share a project: clones, and also forks and copies that claim it. With `path`, each checkout is a project of its own, with its linked worktrees.",
                rule: Rule::Narrow,
                range: (0, 0),
                slot: |config| config.identity.slot(),
            },
            $($(Key {
                section: $path,
                name: stringify!($field),
                about: $says,
                rule: Rule::$rule,
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
    SessionStart, "hooks.session_start" at (hooks.session_start),
    "When a session begins, goes on, or was compacted." {
        enabled: bool = true, Lower, "Whether the hook does anything.";
        deadline_ms: u32 = 500, Lower, "When it stops trying to speak, in milliseconds.", 1..=1_000;
        inject_light_context: bool = true, Lower, "Whether a session begins with preferences, values and recent work.";
        token_budget: u32 = 500, Lower, "How much it may say, in tokens. The client cuts at about 2,500.", 0..=2_500;
        preferences: u32 = 5, Lower, "How many preferences of importance 1 it may show.", 0..=50;
        values: u32 = 5, Lower, "How many values it may show.", 0..=50;
        recent_work: u32 = 3, Lower, "How many lines of recent work it may show.", 0..=50;
    }
    UserPromptSubmit, "hooks.user_prompt_submit" at (hooks.user_prompt_submit),
    "When you send a prompt." {
        enabled: bool = true, Lower, "Whether the hook does anything.";
        deadline_ms: u32 = 200, Lower, "When it stops trying to speak, in milliseconds.", 1..=1_000;
        context_depth: ContextDepth = ContextDepth::Light, Lower, "How much is recalled: decides what the next two are unless they are set.";
        token_budget: u32 = LIGHT.0, Lower, "How much it may say, in tokens: 300, or 2000 with `rich`.", 0..=2_500;
        limit: u32 = LIGHT.1, Lower, "How many things it may show: 3, or 20 with `rich`.", 0..=50;
        include_code: bool = true, Lower, "Whether code is among them; there is none yet.";
    }
    GhapCheckin, "hooks.ghap_checkin" at (hooks.ghap_checkin),
    "Before the agent uses a tool: is the hypothesis still valid?" {
        enabled: bool = true, Lower, "Whether the hook does anything.";
        deadline_ms: u32 = 50, Lower, "When it stops trying to speak, in milliseconds.", 1..=1_000;
        frequency: u32 = 10, Higher, "After how many uses it asks.", 1..=1_000;
    }
    OutcomeCapture, "hooks.outcome_capture" at (hooks.outcome_capture),
    "After a command: what a run of tests or a build said." {
        enabled: bool = true, Lower, "Whether the hook does anything.";
        deadline_ms: u32 = 100, Lower, "When it stops trying to speak, in milliseconds.", 1..=1_000;
        matchers: Vec<String> = Vec::new(), Trusted, "Commands that count as a run beside those that Rutter knows, such as `./verify all`.";
        only: Vec<String> = Vec::new(), Trusted, "If not empty, only these commands count as a run.";
        auto_capture: bool = true, Lower, "Whether a run settles a prediction.";
        premortem: bool = true, Lower, "Whether a failure without a GHAP brings up what went wrong before.";
        offer_ghap: bool = true, Lower, "Whether the first failure of a session that nothing is known about brings an offer to start a GHAP.";
    }
    Edits, "hooks.edits" at (hooks.edits),
    "After an edit: what was changed while a failure is followed." {
        enabled: bool = true, Lower, "Whether the hook does anything.";
        deadline_ms: u32 = 50, Lower, "When it stops trying, in milliseconds.", 1..=1_000;
    }
    SubagentStart, "hooks.subagent_start" at (hooks.subagent_start),
    "When a subagent begins: lessons for its task." {
        enabled: bool = true, Lower, "Whether the hook does anything.";
        deadline_ms: u32 = 100, Lower, "When it stops trying to speak, in milliseconds.", 1..=1_000;
    }
    PreCompact, "hooks.pre_compact" at (hooks.pre_compact),
    "Before the client compacts the context: what must not be lost." {
        enabled: bool = true, Lower, "Whether the hook does anything.";
        deadline_ms: u32 = 100, Lower, "When it stops trying to speak, in milliseconds.", 1..=1_000;
    }
    Stop, "hooks.stop" at (hooks.stop),
    "When the agent wants to stop." {
        enabled: bool = true, Lower, "Whether the hook does anything.";
        deadline_ms: u32 = 50, Lower, "When it stops trying to speak, in milliseconds.", 1..=1_000;
        ask: bool = false, Lower, "Whether it asks about an open GHAP, once. That prolongs the turn.";
    }
    SessionEnd, "hooks.session_end" at (hooks.session_end),
    "When a session ends." {
        enabled: bool = true, Lower, "Whether the hook does anything.";
        deadline_ms: u32 = 500, Lower, "When it stops trying, in milliseconds.", 1..=1_000;
        on_unresolved: Unresolved = Unresolved::Keep, Lower, "What happens to a GHAP that is still open.";
    }
    Scope, "scope" at (scope),
    "Where Rutter works, and where it looks." {
        exclude: Vec<String> = Vec::new(), Add, "Folders in which nothing happens, with all that is in them: `~/clients`, `/srv/*`, `**/secret`.";
        recall: Recall = Recall::Project, Lower, "Whose lessons are recalled: those of this project, or of all.";
    }
    Retention, "retention" at (retention),
    "How much is kept. There is one memory for all projects, so only your own file decides." {
        outcome_days: u32 = 180, User, "How many days runs are kept.", 1..=36_500;
        outcomes: u32 = 50_000, User, "How many runs of a project are kept.", 1..=10_000_000;
        injection_days: u32 = 90, User, "How many days it is known what was shown.", 1..=36_500;
        episode_days: u32 = 30, User, "After how many days without a run a failure is no longer followed.", 1..=36_500;
    }
    Privacy, "privacy" at (privacy),
    "What is not kept. Secrets never are." {
        capture_patches: bool = true, Lower, "Whether the lines that turned a failure green are kept.";
    }
    Cohort, "cohort" at (cohort),
    "Sessions that are only watched, to tell whether the others do better." {
        control: f64 = 0.0, User, "The share of sessions in which nothing is said.";
    }
}

/// Token budget and row limit of each depth.
pub(super) const LIGHT: (u32, u32) = (300, 3);
pub(super) const RICH: (u32, u32) = (2_000, 20);
