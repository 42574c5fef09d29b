//! The values of an event that a matcher can match.

use rutter_contract::spec::{EventSpec, MatcherValues};
use rutter_contract::version::Contract;

use super::names::known_values;
use super::{Matcher, MatcherKind};

/// The values of an event that a matcher can match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatcherReach {
    /// Every value: hooks with this matcher always run.
    Every,
    /// At least these known values, in the order of [`known_values`].
    Known(Vec<&'static str>),
    /// No known value. The matcher may match others: tools of servers, agents and commands of the user, file names.
    Maybe,
    /// No value: hooks with this matcher never run.
    Never(NeverReason),
}

impl MatcherReach {
    /// Returns true if two matchers of one event certainly match a common value.
    pub fn has_common_value(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Every, Self::Every | Self::Known(_)) | (Self::Known(_), Self::Every) => true,
            (Self::Known(one), Self::Known(other)) => one.iter().any(|name| other.contains(name)),
            _ => false,
        }
    }
}

/// The reason for which a matcher never matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeverReason {
    /// The text is not a valid regular expression.
    InvalidPattern,
    /// The text has only separators.
    NoNames,
    /// No name of the list can be a value of the event; see [`Matcher::name_states`].
    NoPossibleName,
    /// The pattern matches none of the values, and the event has no others.
    NoListedValue,
}

/// Returns the values that a matcher can match.
pub(super) fn find_reach(matcher: &Matcher, spec: &EventSpec, contract: Contract) -> MatcherReach {
    match matcher.kind() {
        MatcherKind::All | MatcherKind::Ignored => return MatcherReach::Every,
        MatcherKind::Unjudged { .. } => return MatcherReach::Maybe,
        MatcherKind::InvalidPattern { .. } => {
            return MatcherReach::Never(NeverReason::InvalidPattern);
        }
        MatcherKind::Names(names) if names.is_empty() => {
            return MatcherReach::Never(NeverReason::NoNames);
        }
        MatcherKind::Names(_) | MatcherKind::Pattern(_) => {}
    }
    let known = known_values(spec, contract);
    let results: Vec<_> = known.iter().map(|value| matcher.matches(value)).collect();
    let pairs = known.iter().zip(&results).filter(|(_, result)| **result == Some(true));
    let values: Vec<&'static str> = pairs.map(|(value, _)| *value).collect();
    if !values.is_empty() {
        return MatcherReach::Known(values);
    }
    let states = matcher.name_states();
    if !states.is_empty() && states.iter().all(|(_, state)| state.never_matches()) {
        return MatcherReach::Never(NeverReason::NoPossibleName);
    }
    let is_closed = matches!(spec.matcher.values, MatcherValues::List(list) if !list.open);
    if is_closed && states.is_empty() && results.iter().all(|result| *result == Some(false)) {
        return MatcherReach::Never(NeverReason::NoListedValue);
    }
    MatcherReach::Maybe
}
