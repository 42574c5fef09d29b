//! Matchers and `if` rules of hooks, evaluated as the client evaluates them.
//!
//! A matcher is the text that decides for which values of an event a group of hooks runs: tool names on `PreToolUse`,
//! the source on `SessionStart`. The client reads it as everything, as a list of exact names, or as a JavaScript
//! regular expression. An `if` rule is a permission rule that restricts one handler further.
//!
//! Measured on 2.1.325 and 2.1.197 by `tests/it/matchers.rs`. Tool names are those in the clients' binaries. This
//! module does not decide what a mistake is: severity and advice belong to the caller.

mod if_rule;
mod names;
mod pattern;
mod pattern_shape;
mod reach;

use rutter_contract::EventName;
use rutter_contract::spec::{EventSpec, MatcherValues};
use rutter_contract::version::Contract;

pub use if_rule::{IF_EVENTS, IfFault, IfRule};
pub use names::{
    BUILT_IN_AGENTS, NameState, current_tool_name, known_values, old_tool_names, tool_names,
};
pub use pattern::{MAX_PATTERN_BYTES, MatcherPattern};
pub use reach::{MatcherReach, NeverReason};

/// A matcher of one event.
#[derive(Debug, Clone)]
pub struct Matcher {
    kind: MatcherKind,
    spec: &'static EventSpec,
    contract: Contract,
}

/// The client's reading of a matcher.
#[derive(Debug, Clone)]
pub enum MatcherKind {
    /// Matches every value: no matcher, an empty one, or `*`.
    All,
    /// Matches every value, because the client ignores matchers on this event.
    Ignored,
    /// Matches these exact names. Empty if the text has only separators; then it matches nothing.
    Names(Vec<String>),
    /// Matches every value in which the pattern occurs.
    Pattern(MatcherPattern),
    /// Matches nothing: the text is not a valid regular expression.
    InvalidPattern {
        /// The complaint of the regular expression parser.
        reason: String,
    },
    /// A regular expression that only the client can evaluate.
    Unjudged {
        /// The cause.
        reason: &'static str,
    },
}

impl Matcher {
    /// Parses the `matcher` of a group of hooks. `None` is a group without one.
    pub fn parse(text: Option<&str>, spec: &'static EventSpec, contract: Contract) -> Self {
        Self { kind: parse_kind(text.unwrap_or_default(), spec), spec, contract }
    }

    /// Returns the client's reading of the text.
    pub fn kind(&self) -> &MatcherKind {
        &self.kind
    }

    /// Returns true if hooks with this matcher run for `value`, and `None` if only the client can tell.
    ///
    /// `value` is what the event compares: a tool name as payloads have it, the base name of a file.
    /// On `PreToolUse` and `PermissionRequest` see also [`Self::matches_as_bash`].
    pub fn matches(&self, value: &str) -> Option<bool> {
        match &self.kind {
            MatcherKind::All | MatcherKind::Ignored => Some(true),
            MatcherKind::InvalidPattern { .. } => Some(false),
            MatcherKind::Unjudged { .. } => None,
            MatcherKind::Names(names) => Some(names.iter().any(|name| {
                let name = current_tool_name(name, self.contract);
                name == value || names::family_of(value, self.contract) == Some(name)
            })),
            MatcherKind::Pattern(pattern) => {
                let is_match = pattern.is_match(value)?;
                let mut old = old_tool_names(value, self.contract);
                // Old names are short, so they are always evaluated.
                Some(is_match || old.any(|name| pattern.is_match(name) == Some(true)))
            }
        }
    }

    /// Returns true if hooks with this matcher also run for a `Monitor` call with a command, whose payload then names
    /// `Bash`. The newer client does this on two events, for matchers that match `Bash` and not `Monitor`.
    pub fn matches_as_bash(&self) -> bool {
        let event = matches!(self.spec.name, EventName::PreToolUse | EventName::PermissionRequest);
        let is_tried = match &self.kind {
            MatcherKind::Pattern(pattern) if pattern.is_negated() => {
                pattern.as_str().contains("Bash")
            }
            _ => true,
        };
        event
            && is_tried
            && names::has_monitor_as_bash(self.contract)
            && self.matches("Bash") == Some(true)
            && self.matches("Monitor") == Some(false)
    }

    /// Returns the names of a list, each with the client's knowledge of it. Empty for other matchers.
    pub fn name_states(&self) -> Vec<(&str, NameState)> {
        let MatcherKind::Names(names) = &self.kind else { return Vec::new() };
        let state = |name: &String| names::name_state(name, self.spec, self.contract);
        names.iter().map(|name| (name.as_str(), state(name))).collect()
    }

    /// Returns the values of the event that this matcher can match.
    pub fn reach(&self) -> MatcherReach {
        reach::find_reach(self, self.spec, self.contract)
    }
}

/// Returns the client's reading of a text on an event.
fn parse_kind(text: &str, spec: &EventSpec) -> MatcherKind {
    if matches!(spec.matcher.values, MatcherValues::Ignored) {
        return MatcherKind::Ignored;
    }
    let text = without_context_suffixes(text, spec.name);
    if text.is_empty() || text == "*" {
        return MatcherKind::All;
    }
    let is_narrow = spec.matcher.has_narrow_lists;
    let in_list = |sign: char| {
        let is_wide = !is_narrow && matches!(sign, ',' | ' ' | '-');
        sign.is_ascii_alphanumeric() || matches!(sign, '_' | '|') || is_wide
    };
    if text.chars().all(in_list) {
        // A narrow list cannot have a comma.
        let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
        return MatcherKind::Names(names.map(str::to_owned).collect());
    }
    MatcherPattern::parse(&text)
}

/// Returns the text without the suffix `[1m]` of model ids, which the client removes on the events of a model switch.
fn without_context_suffixes(text: &str, event: EventName) -> std::borrow::Cow<'_, str> {
    if !matches!(event, EventName::PreModelSwitch | EventName::PostModelSwitch) {
        return text.into();
    }
    let mut shorter = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('[') {
        let (before, suffix) = rest.split_at(at);
        shorter.push_str(before);
        let is_suffix =
            ["[1m]", "[2m]", "[1M]", "[2M]"].iter().any(|mark| suffix.starts_with(mark))
                && suffix[4..].trim_start().chars().next().is_none_or(|next| "|,".contains(next));
        let length = if is_suffix { 4 } else { 1 };
        if !is_suffix {
            shorter.push('[');
        }
        rest = &suffix[length..];
    }
    shorter.push_str(rest);
    if shorter.trim().is_empty() { text.into() } else { shorter.into() }
}

#[cfg(test)]
mod tests;
