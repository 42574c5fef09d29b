//! The client's configuration, read as the client reads it.
//!
//! A client that is started in a folder reads settings files, plugins, registrations of MCP servers and a state file of
//! its own. This module reads the same files by the same rules. It reports what the client uses, what the client skips,
//! and where each of them is written. It does not judge any of this: codes, messages and advice belong to the callers.
//!
//! Nothing here reads the environment or looks for a home folder. Callers pass all paths.
//!
//! Settings contain tokens. Faults name keys and types, but never quote a value. A name may still contain a secret that
//! was pasted into the wrong place, so callers redact names before they show them.

mod admission;
mod client_files;
mod document;
mod entry;
mod entry_fault;
mod hooks;
mod keys;
mod layers;
mod location;
mod outline;
mod plugins;
mod regular_file;
mod rules;
mod servers;
mod state;
mod storage;
mod switches;

pub use admission::{BlockReason, ServerBlock};
pub use client_files::{
    ClientFiles, FIRST_CHECKOUT_SETTINGS_VERSION, MANAGED_FOLDER, SERVERS_KEY, WorkTreeFolders,
    checkout_settings_file, local_servers_keys, local_settings_file, managed_servers_file,
    managed_settings_files, project_servers_file, project_settings_file, user_settings_file,
};
pub use document::{
    ClientDocument, DocumentFault, DocumentFaultKind, DuplicateKey, LoadedDocument,
    MAX_DOCUMENT_BYTES,
};
pub use entry::HookEntry;
pub use entry_fault::{EntryFault, EntryFieldType, common_entry_fields, entry_fields, entry_types};
pub use hooks::{HookFault, HookFaultKind, LoadFault, LoadedGroup, LoadedHooks, load_hooks};
pub use keys::{SettingType, WrongType};
pub use layers::{LayerState, SettingsFault, SettingsLayer, SettingsSource, load_layers};
pub use location::{FileLocation, line_and_column};
pub use outline::{JsonItem, JsonOutline, JsonType};
pub use plugins::{EnabledPlugin, enabled_plugins, load_plugin_layers};
pub use regular_file::{FileReadError, is_same_path, read_regular_file};
pub use rules::{
    PermissionRule, RuleList, allows_tools, allows_whole_server, bypasses_permissions,
    covers_server, find_managed_rules_only, name_in_tools, permission_rules,
};
pub use servers::{
    LoadedServers, McpServer, ServerFault, ServerFileFault, ServerPlugin, ServerState, load_servers,
};
pub use state::ClientState;
pub use storage::client_storage_folder;
pub use switches::{
    DISABLE_HOOKS_KEY, SIMPLE_VARIABLE, find_disabled_hooks, find_env_setting,
    find_managed_hooks_only, find_plugin_hooks_only, is_truthy,
};
