//! The rules, one file each.

mod entry_flat;
mod entry_invalid;
mod event_not_list;
mod event_too_new;
mod event_unknown;
mod field_misplaced;
mod field_unknown;
mod file_unreadable;
mod guards_misplaced;
mod handler_not_run;
mod handler_twice;
mod hooks_invalid;
mod if_never_runs;
mod json_duplicate_key;
mod json_invalid;
mod matcher_broad;
mod matcher_dead_name;
mod matcher_ignored;
mod matcher_invalid;
mod matcher_never;
mod on_failure_ignored;
mod once_ignored;
mod plugin_invalid;
mod setting_wrong_type;
mod switched_off;
mod timeout_too_long;
mod wrapper_doubled;

use super::rule::LintRule;

/// All rules, in the order of the reference.
pub static RULES: &[&LintRule] = &[
    &entry_flat::ENTRY_FLAT,
    &entry_invalid::ENTRY_INVALID,
    &event_not_list::EVENT_NOT_LIST,
    &event_too_new::EVENT_TOO_NEW,
    &event_unknown::EVENT_UNKNOWN,
    &field_misplaced::FIELD_MISPLACED,
    &field_unknown::FIELD_UNKNOWN,
    &file_unreadable::FILE_UNREADABLE,
    &guards_misplaced::GUARDS_MISPLACED,
    &handler_not_run::HANDLER_NOT_RUN,
    &handler_twice::HANDLER_TWICE,
    &hooks_invalid::HOOKS_INVALID,
    &if_never_runs::IF_NEVER_RUNS,
    &json_duplicate_key::JSON_DUPLICATE_KEY,
    &json_invalid::JSON_INVALID,
    &matcher_broad::MATCHER_BROAD,
    &matcher_dead_name::MATCHER_DEAD_NAME,
    &matcher_ignored::MATCHER_IGNORED,
    &matcher_invalid::MATCHER_INVALID,
    &matcher_never::MATCHER_NEVER,
    &on_failure_ignored::ON_FAILURE_IGNORED,
    &once_ignored::ONCE_IGNORED,
    &plugin_invalid::PLUGIN_INVALID,
    &setting_wrong_type::SETTING_WRONG_TYPE,
    &switched_off::SWITCHED_OFF,
    &timeout_too_long::TIMEOUT_TOO_LONG,
    &wrapper_doubled::WRAPPER_DOUBLED,
];
