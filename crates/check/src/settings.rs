//! The client's configuration, read as the client reads it.
//!
//! A client that is started in a folder reads settings files, plugins, registrations of MCP servers, the frontmatter of
//! skills, agents and commands, and a state file of its own. This module reads the same files by the same rules. It
//! reports what the client uses, what the client skips, and where each of them is written. It does not judge any of
//! this: codes, messages and advice belong to the callers.
//!
//! Nothing here reads the environment or looks for a home folder. Callers pass all paths.
//!
//! Settings contain tokens. Faults name keys and types, but never quote a value. A name may still contain a secret that
//! was pasted into the wrong place, so callers redact names before they show them.

mod admission;
mod client_files;
mod document;
mod edited_text;
mod entry;
mod entry_fault;
mod frontmatter;
mod guard_search;
mod hook_container;
mod hook_files;
mod hooks;
mod json_mistakes;
mod keys;
mod layers;
mod location;
mod markdown_files;
mod outline;
mod plugin_folder;
mod plugins;
#[cfg(test)]
mod properties;
mod recorder;
mod regular_file;
mod rules;
mod servers;
mod spans;
mod state;
mod storage;
mod switches;
mod yaml;

pub use admission::{BlockReason, ServerBlock};
pub use client_files::{
    ClientFiles, FIRST_CHECKOUT_SETTINGS_VERSION, MANAGED_FOLDER, SERVERS_KEY, WorkTreeFolders,
    checkout_settings_file, local_servers_keys, local_settings_file, managed_servers_file,
    managed_settings_files, project_servers_file, project_settings_file, user_settings_file,
};
pub use document::{
    ClientDocument, DocumentFault, DocumentFaultKind, DocumentFormat, DuplicateKey, LoadedDocument,
    MAX_DOCUMENT_BYTES,
};
pub use entry::{EntrySource, HookEntry, collect_entries};
pub use entry_fault::{
    EntryFault, EntryField, EntryFieldType, common_entry_fields, entry_fields, entry_form,
    entry_types,
};
pub use hook_container::HookContainer;
pub use hook_files::{HookFile, HookFileKind, HookLayers, load_folder_layers};
pub use hooks::{
    HookFault, HookFaultKind, LoadFault, LoadedGroup, LoadedHooks, load_hooks, load_hooks_of,
};
pub use json_mistakes::{JsonMistake, JsonMistakeKind};
pub use keys::{SettingType, WrongType};
pub use layers::{LayerState, SettingsFault, SettingsLayer, SettingsSource, load_layers};
pub use location::{FileLocation, LineIndex, line_and_column};
pub use outline::{JsonItem, JsonOutline, JsonType};
pub use plugin_folder::{LostPart, PluginFault, PluginFaultKind, PluginFolder, load_plugin_folder};
pub use plugins::{EnabledPlugin, enabled_plugins, load_plugin_layers};
pub use recorder::{
    PROGRAM_WORD, RECORDER_WORDS, RecorderEdit, SHELL_OPTION, add_recorder, remove_recorder,
};
pub use regular_file::{FileReadError, is_same_path, read_regular_file};
pub use rules::{
    PermissionRule, RuleList, allows_tools, allows_whole_server, bypasses_permissions,
    covers_server, find_managed_rules_only, name_in_tools, permission_rules,
};
pub use servers::{
    LoadedServers, McpServer, ServerFault, ServerFileFault, ServerPlugin, ServerState, load_servers,
};
pub use spans::FieldSpan;
pub use state::ClientState;
pub use storage::client_storage_folder;
pub use switches::{
    DISABLE_HOOKS_KEY, SIMPLE_VARIABLE, find_disabled_hooks, find_env_setting,
    find_managed_hooks_only, find_plugin_hooks_only, is_truthy,
};
