//! Settings, organisation policies and user answers that decide if the client may start a server.

use rutter_contract::javascript::{JsonKind, JsonNode};
use serde_json::Value;

use super::document::{ClientDocument, LoadedDocument};
use super::files::{ClientFiles, SERVERS_KEY, local_servers_keys};
use super::layers::{SettingsLayer, SettingsSource};
use super::location::FileLocation;
use super::servers::McpServer;
use super::state::ClientState;
use super::switches::{PLUGINS_ONLY_KEY, locks_surface};

/// The lists of servers that the client may start, and of those that it may not, in all settings.
const ALLOWED_KEY: &str = "allowedMcpServers";
const DENIED_KEY: &str = "deniedMcpServers";
/// The answers of the user about servers of the project, in settings and in the client's state.
const APPROVE_ALL_KEY: &str = "enableAllProjectMcpServers";
const APPROVED_KEY: &str = "enabledMcpjsonServers";
const REJECTED_KEY: &str = "disabledMcpjsonServers";
/// The list of servers that are off in a folder, in the client's state.
const DISABLED_KEY: &str = "disabledMcpServers";

/// The setting for which the client does not start a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerBlock {
    /// The reason.
    pub reason: BlockReason,
    /// Position of the setting.
    pub location: FileLocation,
    /// True if the organisation has written it.
    pub is_managed: bool,
}

/// A reason for which the client does not start a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockReason {
    /// The organisation has its own list of servers, and the server is not on it.
    NotManaged,
    /// The organisation admits only servers of plugins.
    PluginsOnly,
    /// The server is on the list of denied servers.
    Denied,
    /// The server is not on the list of allowed servers.
    NotAllowed,
    /// The user has disabled the server in this folder.
    Disabled,
    /// The user has rejected the server of the project.
    Rejected,
}

/// Everything that decides about servers.
pub(super) struct Admission<'a> {
    layers: &'a [SettingsLayer],
    /// The organisation's exclusive list of servers.
    managed_servers: Option<Box<ClientDocument>>,
    /// The client's state, and in it the data about the folder under which it records the current one.
    folder_state: Option<(&'a ClientDocument, &'a JsonNode)>,
    /// True if the client trusts the folder.
    trusted: bool,
}

/// Returns true if a list of names, or a single name, contains this name.
fn contains_name(node: &JsonNode, name: &str) -> bool {
    match &node.kind {
        JsonKind::List(names) => names.iter().any(|one| one.text() == Some(name)),
        JsonKind::Text(one) => one == name,
        _ => false,
    }
}

impl<'a> Admission<'a> {
    pub(super) fn load(
        files: &ClientFiles,
        state: &'a ClientState,
        layers: &'a [SettingsLayer],
    ) -> Self {
        let managed_servers = match LoadedDocument::load(&files.managed_servers) {
            LoadedDocument::Document(document) => Some(document),
            _ => None,
        };
        let folder_state = state.document.as_deref().and_then(|document| {
            let keys = local_servers_keys(&files.folder)?;
            let node = document.root.get(keys.first()?)?.get(keys.get(1)?)?;
            Some((document, node))
        });
        Self { layers, managed_servers, folder_state, trusted: state.trusts_folder(files) }
    }

    /// Returns the setting for which the client does not start a server, if any.
    pub(super) fn find_block(&self, server: &McpServer) -> Option<ServerBlock> {
        let managed = if server.plugin.is_none() { self.check_managed(server) } else { None };
        managed
            .or_else(|| self.check_denied(server))
            .or_else(|| self.check_allowed(server))
            .or_else(|| self.check_disabled(server))
    }

    /// Returns true if a project's server waits for the user's approval. In an untrusted folder, only approval in the
    /// user's or managed settings counts.
    pub(super) fn is_pending(&self, name: &str) -> bool {
        let approves = |all: Option<&JsonNode>, list: Option<&JsonNode>| {
            all.is_some_and(|all| all.kind == JsonKind::Bool(true))
                || list.is_some_and(|list| contains_name(list, name))
        };
        let in_layers = self.layers.iter().any(|layer| {
            let own = matches!(layer.whose, SettingsSource::User | SettingsSource::Managed);
            let value = |key: &str| layer.setting(key).map(|(_, node)| node);
            (self.trusted || own) && approves(value(APPROVE_ALL_KEY), value(APPROVED_KEY))
        });
        let in_state = self.folder_state.is_some_and(|(_, state)| {
            self.trusted && approves(state.get(APPROVE_ALL_KEY), state.get(APPROVED_KEY))
        });
        !in_layers && !in_state
    }

    /// Returns the policy of the organisation that excludes a server, if any.
    fn check_managed(&self, server: &McpServer) -> Option<ServerBlock> {
        let block = |reason, location| Some(ServerBlock { reason, location, is_managed: true });
        if let Some(document) = &self.managed_servers
            && document.root.get(SERVERS_KEY).and_then(|list| list.get(&server.name)).is_none()
        {
            return block(BlockReason::NotManaged, FileLocation::whole_file(&document.path));
        }
        let managed = self.layers.iter().filter(|layer| layer.whose == SettingsSource::Managed);
        let mut settings = managed.filter_map(|layer| layer.setting(PLUGINS_ONLY_KEY));
        let (document, node) = settings.find(|(_, node)| locks_surface(node, "mcp"))?;
        block(BlockReason::PluginsOnly, document.location(node.at))
    }

    /// Returns the values of a list of servers. The lists of all settings are combined.
    fn server_lists(
        &self,
        key: &'static str,
    ) -> impl Iterator<Item = (&'a SettingsLayer, &'a ClientDocument, &'a JsonNode, &'a [JsonNode])>
    {
        self.layers.iter().filter_map(move |layer| {
            let (document, node) = layer.setting(key)?;
            let JsonKind::List(entries) = &node.kind else { return None };
            Some((layer, document, node, entries.as_slice()))
        })
    }

    /// Returns the entry of the lists of denied servers that excludes a server, if any.
    fn check_denied(&self, server: &McpServer) -> Option<ServerBlock> {
        self.server_lists(DENIED_KEY).find_map(|(layer, document, _, entries)| {
            let denies =
                |entry: &&JsonNode| names_server(entry, server) || starts_server(entry, server);
            let entry = entries.iter().find(denies)?;
            Some(ServerBlock {
                reason: BlockReason::Denied,
                location: document.location(entry.at),
                is_managed: layer.whose == SettingsSource::Managed,
            })
        })
    }

    /// Returns the first list of allowed servers if none of them admits a server.
    fn check_allowed(&self, server: &McpServer) -> Option<ServerBlock> {
        // A plugin's server has another name, and the effect of these lists on it was not measured.
        let (layer, document, node, _) =
            self.server_lists(ALLOWED_KEY).next().filter(|_| server.plugin.is_none())?;
        let entries: Vec<&JsonNode> =
            self.server_lists(ALLOWED_KEY).flat_map(|(.., entries)| entries).collect();
        // Measured: if any entry lists a command, names have no effect.
        let by_command = entries.iter().any(|entry| entry.get("serverCommand").is_some());
        let admits = if by_command { starts_server } else { names_server };
        if entries.iter().any(|entry| admits(entry, server)) {
            return None;
        }
        Some(ServerBlock {
            reason: BlockReason::NotAllowed,
            location: document.location(node.at),
            is_managed: layer.whose == SettingsSource::Managed,
        })
    }

    /// Returns the user's answer that switches a server off, if any.
    fn check_disabled(&self, server: &McpServer) -> Option<ServerBlock> {
        if let Some((document, state)) = self.folder_state
            && let Some(list) = state.get(DISABLED_KEY)
            && contains_name(list, &server.client_name())
        {
            let (reason, location) = (BlockReason::Disabled, document.location(list.at));
            return Some(ServerBlock { reason, location, is_managed: false });
        }
        if server.whose != SettingsSource::Project {
            return None;
        }
        let in_layers = self.layers.iter().filter_map(|layer| {
            let (document, list) = layer.setting(REJECTED_KEY)?;
            Some((document, list, layer.whose == SettingsSource::Managed))
        });
        let in_state = self
            .folder_state
            .and_then(|(document, state)| Some((document, state.get(REJECTED_KEY)?, false)));
        let (document, list, is_managed) =
            in_layers.chain(in_state).find(|(_, list, _)| contains_name(list, &server.name))?;
        let (reason, location) = (BlockReason::Rejected, document.location(list.at));
        Some(ServerBlock { reason, location, is_managed })
    }
}

/// Returns true if an entry of a list of servers names a server.
fn names_server(entry: &JsonNode, server: &McpServer) -> bool {
    let name = entry.get("serverName").and_then(JsonNode::text);
    name.is_some_and(|name| name == server.client_name())
}

/// Returns true if an entry of a list of servers has the command of a server.
fn starts_server(entry: &JsonNode, server: &McpServer) -> bool {
    let Some(JsonKind::List(words)) = entry.get("serverCommand").map(|words| &words.kind) else {
        return false;
    };
    let args = server.entry["args"].as_array().into_iter().flatten();
    let command = std::iter::once(&server.entry["command"]).chain(args);
    command.map(Value::as_str).eq(words.iter().map(JsonNode::text))
}
