//! The registrations of MCP servers: their files, their precedence, and the reasons for which the client does not start
//! a server.
//!
//! Measured on clients 2.1.325 and 2.1.197 with `claude mcp get`: of several servers with one name the client starts
//! the local one, else the project's, else the user's. It passes over one that is disabled or waits for approval. It
//! also reads `.mcp.json` in every parent folder. It skips a single entry that it cannot load, and the whole of a file
//! that it cannot parse.

use std::path::PathBuf;

use rutter_contract::javascript::{JsonKind, JsonNode};
use serde::Serialize;
use serde_json::Value;

use super::admission::{Admission, ServerBlock};
use super::document::{ClientDocument, DocumentFault, LoadedDocument};
use super::files::{ClientFiles, SERVERS_KEY, local_servers_keys, project_servers_file};
use super::layers::{SettingsLayer, SettingsSource};
use super::location::FileLocation;
use super::plugins::{EnabledPlugin, load_server_files};
use super::rules;
use super::state::ClientState;

/// A registration of a server.
#[derive(Debug)]
pub struct McpServer {
    /// The name under which it is registered.
    pub name: String,
    /// The kind of file that contains the registration. `Local` and `User` are both in the client's state file.
    pub whose: SettingsSource,
    /// Position of the registration.
    pub place: FileLocation,
    /// The entry itself. Null if it contains a lone surrogate or a number out of range.
    pub entry: Value,
    /// The plugin that contains the registration. None for other registrations.
    pub plugin: Option<ServerPlugin>,
    /// The effect of the registration.
    pub state: ServerState,
    /// The reason for which the client cannot load the entry.
    pub fault: Option<ServerFault>,
    /// The reason for which the client does not start the server, although it may be able to load the entry.
    pub block: Option<ServerBlock>,
}

/// The plugin of a server.
#[derive(Debug)]
pub struct ServerPlugin {
    /// `name@marketplace`.
    pub name: String,
    /// Installation folder.
    pub folder: PathBuf,
}

/// The effect of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerState {
    /// The client starts it.
    Used,
    /// The client starts another server with that name.
    Shadowed,
    /// The registration waits for the user's approval.
    Pending,
    /// The server is disabled, or not admitted by the settings.
    Off,
    /// The client cannot load it.
    Skipped,
}

/// The reason for which the client cannot load a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerFault {
    /// The entry is not an object.
    NotObject,
    /// The client does not know the `type`.
    UnknownType,
    /// `command` is missing, empty or not a string.
    NoCommand,
    /// `args` is not a list of strings.
    ArgsNotTexts,
    /// `env` is not an object of strings.
    EnvNotTexts,
}

impl McpServer {
    fn new(
        whose: SettingsSource,
        name: &str,
        document: &ClientDocument,
        node: &JsonNode,
        plugin: Option<ServerPlugin>,
    ) -> Self {
        let entry = document.to_json(node);
        Self {
            name: name.to_owned(),
            whose,
            place: document.location(node.at),
            fault: find_server_fault(&entry),
            entry,
            plugin,
            state: ServerState::Used,
            block: None,
        }
    }

    /// Returns the client's name for the server.
    pub fn client_name(&self) -> String {
        match &self.plugin {
            Some(plugin) => {
                let plugin = plugin.name.split('@').next().unwrap_or_default();
                format!("plugin:{plugin}:{}", self.name)
            }
            None => self.name.clone(),
        }
    }

    /// Returns the permission rule that allows all tools of the server.
    pub fn allow_rule(&self) -> String {
        rules::server_rule(&self.client_name())
    }
}

/// Returns the reason for which the client cannot load the entry of a server, if any.
fn find_server_fault(entry: &Value) -> Option<ServerFault> {
    let texts = |value: &Value| match value {
        Value::Array(items) => items.iter().all(Value::is_string),
        Value::Object(members) => members.values().all(Value::is_string),
        _ => false,
    };
    let wrong = |key: &str, list: bool| {
        entry.get(key).is_some_and(|value| value.is_array() != list || !texts(value))
    };
    if !entry.is_object() {
        return Some(ServerFault::NotObject);
    }
    match entry.get("type").map(Value::as_str) {
        None | Some(Some("stdio")) => {}
        Some(Some("http" | "sse" | "ws")) => return None,
        Some(_) => return Some(ServerFault::UnknownType),
    }
    if entry["command"].as_str().is_none_or(str::is_empty) {
        Some(ServerFault::NoCommand)
    } else if wrong("args", true) {
        Some(ServerFault::ArgsNotTexts)
    } else if wrong("env", false) {
        Some(ServerFault::EnvNotTexts)
    } else {
        None
    }
}

/// All registrations that a client reads.
#[derive(Debug, Default)]
pub struct LoadedServers {
    /// The registrations, the most specific first, then those of plugins.
    pub servers: Vec<McpServer>,
    /// The faults of the files. Faults of plugins are left out, because only their authors can fix them.
    pub faults: Vec<ServerFileFault>,
}

/// A fault for which the client finds no servers in a file.
#[derive(Debug)]
pub enum ServerFileFault {
    /// The client ignores the file, because it is not a JSON object.
    Document(Box<DocumentFault>),
    /// The file has no list of servers.
    NoList(FileLocation),
    /// The list of servers, or an object on the way to it, is not an object.
    NotObject {
        /// The key.
        key: String,
        /// Name of its type.
        found: &'static str,
        /// Position of the value.
        location: FileLocation,
    },
}

/// Reads all files in which a client that is started in a folder looks for servers, and determines which servers it
/// starts.
pub fn load_servers(
    files: &ClientFiles,
    state: &ClientState,
    layers: &[SettingsLayer],
    plugins: &[EnabledPlugin],
) -> LoadedServers {
    let mut loaded = LoadedServers::default();
    let list = [SERVERS_KEY.to_owned()];
    if let Some(document) = &state.document
        && let Some(keys) = local_servers_keys(&files.folder)
    {
        loaded.add_servers(SettingsSource::Local, document, &keys);
    }
    let folder = files.folder.canonicalize().unwrap_or_else(|_| files.folder.clone());
    for folder in folder.ancestors() {
        match LoadedDocument::load(&project_servers_file(folder)) {
            LoadedDocument::Absent | LoadedDocument::Blank => {}
            LoadedDocument::Void(fault) => loaded.faults.push(ServerFileFault::Document(fault)),
            LoadedDocument::Document(document) => {
                let root = &document.root;
                if root.get(SERVERS_KEY).is_none() && !root.members().is_empty() {
                    loaded.faults.push(ServerFileFault::NoList(document.location(root.at)));
                }
                loaded.add_servers(SettingsSource::Project, &document, &list);
            }
        }
    }
    if let Some(document) = &state.document {
        loaded.add_servers(SettingsSource::User, document, &list);
    }
    for plugin in plugins {
        loaded.add_plugin_servers(plugin);
    }
    loaded.determine_states(&Admission::load(files, state, layers));
    loaded
}

impl LoadedServers {
    /// Adds the servers in the object at this key path.
    fn add_servers(&mut self, whose: SettingsSource, document: &ClientDocument, keys: &[String]) {
        let mut node = &document.root;
        for key in keys {
            let Some(next) = node.get(key) else { return };
            if !matches!(next.kind, JsonKind::Object(_)) {
                let location = document.location(next.at);
                let (key, found) = (key.clone(), next.kind.name());
                return self.faults.push(ServerFileFault::NotObject { key, found, location });
            }
            node = next;
        }
        for (name, node) in node.members() {
            self.servers.push(McpServer::new(whose, name, document, node, None));
        }
    }

    fn add_plugin_servers(&mut self, plugin: &EnabledPlugin) {
        let Some(folder) = &plugin.folder else { return };
        for document in load_server_files(folder) {
            let list = document.root.get(SERVERS_KEY).unwrap_or(&document.root);
            for (name, node) in list.members() {
                let plugin = ServerPlugin { name: plugin.name.clone(), folder: folder.clone() };
                let whose = SettingsSource::Plugin;
                self.servers.push(McpServer::new(whose, name, &document, node, Some(plugin)));
            }
        }
    }

    fn determine_states(&mut self, admission: &Admission<'_>) {
        for server in &mut self.servers {
            server.block = admission.find_block(server);
            server.state = if server.fault.is_some() {
                ServerState::Skipped
            } else if server.block.is_some() {
                ServerState::Off
            } else if server.whose == SettingsSource::Project && admission.is_pending(&server.name)
            {
                ServerState::Pending
            } else {
                ServerState::Used
            };
        }
        let mut names: Vec<String> =
            self.servers.iter().map(|server| server.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            self.mark_shadowed(&name);
        }
    }

    /// Marks the registrations of a name as shadowed. Of several with one name, the client uses the first approved one,
    /// else the first pending one. A pending one before the used one is not shadowed: `claude -p` starts it without
    /// asking. Servers of plugins have names of their own.
    fn mark_shadowed(&mut self, name: &str) {
        let same = |server: &McpServer| server.plugin.is_none() && server.name == name;
        let first = |state: ServerState| {
            self.servers.iter().position(|server| same(server) && server.state == state)
        };
        let Some(used) = first(ServerState::Used).or_else(|| first(ServerState::Pending)) else {
            return;
        };
        for server in self.servers.iter_mut().skip(used + 1) {
            if same(server) && matches!(server.state, ServerState::Used | ServerState::Pending) {
                server.state = ServerState::Shadowed;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;
    use std::path::Path;

    use rutter_contract::version::Contract;
    use serde_json::json;

    use super::super::layers::load_layers;
    use super::*;

    fn write_file(path: &Path, value: &Value) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().write_all(value.to_string().as_bytes()).unwrap();
    }

    fn load(files: &ClientFiles) -> LoadedServers {
        let layers = load_layers(files, Contract::newest());
        load_servers(files, &ClientState::load(files, Contract::newest()), &layers, &[])
    }

    fn states(files: &ClientFiles, name: &str) -> Vec<(&'static str, ServerState)> {
        let all = load(files).servers;
        let named = all.iter().filter(|server| server.name == name);
        named.map(|server| (server.whose.as_str(), server.state)).collect()
    }

    #[test]
    fn nearest_approved_server_is_used() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let files = ClientFiles {
            folder: root.join("ship/inside"),
            config: Some(root.join("home/.claude")),
            state: Some(root.join("home/.claude.json")),
            ..ClientFiles::default()
        };
        std::fs::create_dir_all(&files.folder).unwrap();
        let server = json!({ "command": "x" });
        write_file(&root.join("ship/.mcp.json"), &json!({ "mcpServers": { "a": server, "b": 1 } }));
        let state = json!({ "mcpServers": { "a": server, "c": server } });
        write_file(&root.join("home/.claude.json"), &state);
        let (project, user) = (("project", ServerState::Pending), ("user", ServerState::Used));
        assert_eq!(states(&files, "a"), [project, user]);
        assert_eq!(states(&files, "b"), [("project", ServerState::Skipped)]);
        assert_eq!(states(&files, "c"), [user]);
        let approved = json!({ "enabledMcpjsonServers": ["a"] });
        write_file(&root.join("home/.claude/settings.json"), &approved);
        let (project, user) = (("project", ServerState::Used), ("user", ServerState::Shadowed));
        assert_eq!(states(&files, "a"), [project, user]);
        let denied = json!({ "deniedMcpServers": [{ "serverCommand": ["x"] }] });
        write_file(&root.join("home/.claude/settings.json"), &denied);
        let (project, user) = (("project", ServerState::Off), ("user", ServerState::Off));
        assert_eq!(states(&files, "a"), [project, user]);
    }

    #[test]
    fn reports_files_without_servers() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let files = ClientFiles { folder: root.clone(), ..ClientFiles::default() };
        let path = root.join(".mcp.json");
        write_file(&path, &json!({ "servers": {} }));
        assert!(matches!(load(&files).faults[..], [ServerFileFault::NoList(_)]));
        write_file(&path, &json!({ "mcpServers": [] }));
        let faults = load(&files).faults;
        assert!(matches!(&faults[..], [ServerFileFault::NotObject { found: "array", .. }]));
        write_file(&path, &json!([]));
        assert!(matches!(load(&files).faults[..], [ServerFileFault::Document(_)]));
    }
}
