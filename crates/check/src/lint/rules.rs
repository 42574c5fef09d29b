//! The rules, one file each.

mod answer_dropped;
mod async_guard;
mod command_path;
mod command_program;
mod command_script;
mod command_shell;
mod command_windows;
mod entry_flat;
mod entry_invalid;
mod event_not_list;
mod event_too_new;
mod event_unknown;
mod exit_ignored;
mod field_misplaced;
mod field_unknown;
mod file_unreadable;
mod guard_fails_open;
mod guards_misplaced;
mod handler_not_run;
mod handler_twice;
mod hooks_invalid;
mod http_blocked;
mod http_variable;
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
mod output_before_json;
mod payload_key;
mod plugin_invalid;
mod rewrite_conflict;
mod session_end_timeout;
mod setting_wrong_type;
mod stop_loop;
mod switched_off;
mod timeout_too_long;
mod variable_unset;
mod wrapper_doubled;

use super::rule::LintRule;

/// All rules, in the order of the reference.
pub static RULES: &[&LintRule] = &[
    &answer_dropped::ANSWER_DROPPED,
    &async_guard::ASYNC_GUARD,
    &command_path::COMMAND_PATH,
    &command_program::COMMAND_PROGRAM,
    &command_script::COMMAND_SCRIPT,
    &command_shell::COMMAND_SHELL,
    &command_windows::COMMAND_WINDOWS,
    &entry_flat::ENTRY_FLAT,
    &entry_invalid::ENTRY_INVALID,
    &event_not_list::EVENT_NOT_LIST,
    &event_too_new::EVENT_TOO_NEW,
    &event_unknown::EVENT_UNKNOWN,
    &exit_ignored::EXIT_IGNORED,
    &field_misplaced::FIELD_MISPLACED,
    &field_unknown::FIELD_UNKNOWN,
    &file_unreadable::FILE_UNREADABLE,
    &guard_fails_open::GUARD_FAILS_OPEN,
    &guards_misplaced::GUARDS_MISPLACED,
    &handler_not_run::HANDLER_NOT_RUN,
    &handler_twice::HANDLER_TWICE,
    &hooks_invalid::HOOKS_INVALID,
    &http_blocked::HTTP_BLOCKED,
    &http_variable::HTTP_VARIABLE,
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
    &output_before_json::OUTPUT_BEFORE_JSON,
    &payload_key::PAYLOAD_KEY,
    &plugin_invalid::PLUGIN_INVALID,
    &rewrite_conflict::REWRITE_CONFLICT,
    &session_end_timeout::SESSION_END_TIMEOUT,
    &setting_wrong_type::SETTING_WRONG_TYPE,
    &stop_loop::STOP_LOOP,
    &switched_off::SWITCHED_OFF,
    &timeout_too_long::TIMEOUT_TOO_LONG,
    &variable_unset::VARIABLE_UNSET,
    &wrapper_doubled::WRAPPER_DOUBLED,
];
