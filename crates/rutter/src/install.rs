//! Adds rutter to the client's files, and removes it again.
//!
//! These files belong to the user. They are never parsed and rewritten: [`places`] computes *edits* of a text, and
//! every byte outside an edit stays unchanged. [`record`] stores the positions of these edits, without any content of
//! the file, so that they can be reverted exactly. [`file`] writes a temporary file and renames it, and only if the
//! original has not changed since it was read. [`target`] handles one such file from end to end, [`apply`] several of them
//! as one change.

mod apply;
mod change;
mod document;
mod exclude;
mod file;
mod hooks;
mod layout;
mod lock;
mod places;
pub(crate) mod plugin;
mod precedence;
mod program;
mod record;
mod registered;
mod scope;
pub(crate) mod server;
mod table;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use apply::apply_steps;
pub(crate) use change::FileChange;
pub(crate) use document::MalformedFile;
pub(crate) use exclude::GitExclude;
pub(crate) use file::FileContents;
#[cfg(test)]
pub(crate) use places::has_our_content;
pub(crate) use places::{WantedContent, install};
pub(crate) use precedence::{
    SharedHook, defers_to_other_entry, find_ask_rule, find_deny_rule, has_our_hooks,
    is_installed_in, other_installs,
};
pub(crate) use program::{cargo_target_folder, choose_program, is_program_found};
pub(crate) use record::{InstallRecord, InstallRecords};
pub(crate) use registered::is_registered;
pub(crate) use scope::InstallScope;
pub(crate) use server::{
    PLUGIN_SERVER_RULE, build_server_entry, find_foreign_server, tool_rules, tools_without_rule,
};
pub(crate) use table::{
    HookGroup, ProgramReference, hook_groups, hook_program, is_our_hook, is_shared_hook,
    quote_shell_word,
};
pub(crate) use target::{InstallDirection, InstallStep, InstallTarget};
