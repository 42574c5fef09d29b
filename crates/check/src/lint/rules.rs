//! The rules, one file each.

mod event_unknown;
mod matcher_ignored;
mod once_ignored;
mod timeout_too_long;

use super::rule::LintRule;

/// All rules, in the order of the reference.
pub static RULES: &[&LintRule] = &[
    &event_unknown::EVENT_UNKNOWN,
    &matcher_ignored::MATCHER_IGNORED,
    &once_ignored::ONCE_IGNORED,
    &timeout_too_long::TIMEOUT_TOO_LONG,
];
