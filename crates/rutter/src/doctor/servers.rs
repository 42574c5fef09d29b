//! The registrations of rutter's MCP server: their files, their precedence, and the reasons for which the client does
//! not start the server.
//!
//! Measured on clients 2.1.325 and 2.1.197 with `claude mcp get`: of several servers with one name the client starts
//! the local one, else the project's, else the user's. It passes over one that is disabled or waits for approval. It
//! also reads `.mcp.json` in every parent folder. It skips a single entry that it cannot load, and the whole of a file
//! that it cannot parse.

use std::path::PathBuf;

use rutter_contract::javascript::{JsonKind, JsonNode};
use serde::Serialize;
use serde_json::Value;

use super::codes;
use super::document::{ClientDocument, LoadedDocument};
use super::entry::LaunchCommand;
use super::finding::{DoctorFinding, FileLocation, display_name};
use super::layers::{SettingsLayer, SettingsSource};
use super::places::ClientEnvironment;
use super::plugins::{self, EnabledPlugin};
use super::trust::ClientState;
use super::{admission, advice, rules};
use crate::install::{InstallScope, server};
use crate::shell;

/// The client's key for the list of servers.
const SERVERS_KEY: &str = "mcpServers";

/// A registration of a server with rutter's name, or of a plugin's server that starts rutter.
#[derive(Debug, Serialize)]
pub(crate) struct ServerRegistration {
    pub(crate) whose: SettingsSource,
    pub(crate) place: FileLocation,
    pub(crate) state: RegistrationState,
    pub(crate) kind: ServerKind,
    /// Number of tools. None if the server was not started or did not answer.
    pub(crate) tools: Option<usize>,
    /// Time until the server had listed its tools.
    pub(crate) milliseconds: Option<f64>,
    #[serde(skip)]
    pub(crate) entry: Value,
    /// The plugin that contains the registration. None for other registrations.
    #[serde(skip)]
    pub(crate) plugin: Option<PluginServer>,
}

/// The server of a plugin.
#[derive(Debug)]
pub(crate) struct PluginServer {
    /// `name@marketplace`.
    plugin: String,
    /// The plugin's name for the server.
    server: String,
    pub(crate) folder: PathBuf,
}

/// The effect of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RegistrationState {
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

/// The program that a registration starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ServerKind {
    /// `rutter mcp`.
    Ours,
    /// A running `rutter mcp --http` on this machine, which the client does not start.
    Http,
    /// Another program.
    Foreign,
}

impl ServerRegistration {
    fn new(whose: SettingsSource, document: &ClientDocument, node: &JsonNode) -> Self {
        let entry = document.to_json(node);
        let kind = if server::is_our_server(&entry) {
            ServerKind::Ours
        } else if server::is_http_server(&entry) {
            ServerKind::Http
        } else {
            ServerKind::Foreign
        };
        Self {
            whose,
            place: document.location(node.at),
            state: RegistrationState::Shadowed,
            kind,
            tools: None,
            milliseconds: None,
            entry,
            plugin: None,
        }
    }

    /// Returns the client's name for the server.
    pub(super) fn name(&self) -> String {
        match &self.plugin {
            Some(PluginServer { plugin, server, .. }) => {
                format!("plugin:{}:{server}", plugin.split('@').next().unwrap_or_default())
            }
            None => server::SERVER_NAME.to_owned(),
        }
    }

    /// Returns the permission rule that allows all tools of the server.
    fn allow_rule(&self) -> String {
        let plain =
            |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        format!("mcp__{}", self.name().chars().map(plain).collect::<String>())
    }

    /// Returns the command with which the client starts the server.
    pub(crate) fn launch_command(&self) -> Option<LaunchCommand> {
        let program = server::server_program(&self.entry)?.to_owned();
        let args = self.entry["args"].as_array()?;
        let args: Vec<String> = args.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Some(if self.entry["command"] == "sh" {
            LaunchCommand::Guarded { line: args.get(1)?.clone(), program }
        } else {
            LaunchCommand::Exec { program, args }
        })
    }

    /// Returns the command that removes the registration.
    fn removal_command(&self) -> String {
        match &self.plugin {
            Some(plugged) => {
                format!("claude plugin disable {}", shell::quote_word(&plugged.plugin))
            }
            None => format!("claude mcp remove {} -s {}", server::SERVER_NAME, self.whose.as_str()),
        }
    }

    /// Returns the reason for which the client cannot load the entry, if any.
    fn load_fault(&self) -> Option<&'static str> {
        let entry = &self.entry;
        let texts = |value: &Value| match value {
            Value::Array(items) => items.iter().all(Value::is_string),
            Value::Object(members) => members.values().all(Value::is_string),
            _ => false,
        };
        let wrong = |key: &str, list: bool| {
            entry.get(key).is_some_and(|value| value.is_array() != list || !texts(value))
        };
        if !entry.is_object() {
            return Some("an entry must be an object");
        }
        match entry.get("type").map(Value::as_str) {
            None | Some(Some("stdio")) => {}
            Some(Some("http" | "sse" | "ws")) => return None,
            Some(_) => return Some("unknown `type`; rutter needs \"stdio\""),
        }
        if entry["command"].as_str().is_none_or(str::is_empty) {
            Some("an entry needs `command`")
        } else if wrong("args", true) {
            Some("`args` must be an array of strings")
        } else if wrong("env", false) {
            Some("`env` must be an object of strings")
        } else {
            None
        }
    }
}

/// All registrations.
#[derive(Debug, Default)]
pub(crate) struct ServerRegistrations {
    /// Registrations, the most specific first.
    pub(crate) all: Vec<ServerRegistration>,
    /// True if an unreadable file may contain a registration of ours.
    unknown: bool,
}

/// The client files and settings that decide about servers.
pub(crate) struct ClientConfiguration<'a> {
    pub(crate) places: &'a ClientEnvironment,
    pub(crate) state: &'a ClientState,
    pub(crate) layers: &'a [SettingsLayer],
}

impl ServerRegistrations {
    /// Reads all files in which a client that is started here looks for servers.
    pub(crate) fn load(
        around: &ClientConfiguration<'_>,
        plugins: &[EnabledPlugin],
        findings: &mut Vec<DoctorFinding>,
    ) -> Self {
        let ClientConfiguration { places, state, .. } = around;
        let mut servers = Self { unknown: state.unreadable, ..Self::default() };
        if let Some(document) = &state.document {
            let local = InstallScope::Local.servers_file(&places.folder, Some(&document.path));
            if let Some((_, keys)) = local {
                servers.add_registration(SettingsSource::Local, document, &keys, findings);
            }
        }
        let folder = places.folder.canonicalize().unwrap_or_else(|_| places.folder.clone());
        for folder in folder.ancestors() {
            match LoadedDocument::load(&folder.join(".mcp.json")) {
                LoadedDocument::Absent | LoadedDocument::Blank => {}
                LoadedDocument::Void { finding, speaks_of_us } => {
                    servers.unknown |= speaks_of_us;
                    let what = "this cannot be read, so the client ignores the servers in it";
                    let mut void = DoctorFinding::new(&codes::SERVERS_VOID, what);
                    void.place = finding.place;
                    if finding.code == &codes::SETTINGS_NOT_JSON {
                        void.advice = finding.advice;
                    }
                    findings.push(void);
                }
                LoadedDocument::Document(document) => {
                    if document.root.get(SERVERS_KEY).is_none()
                        && !document.root.members().is_empty()
                    {
                        let what = "this has no `mcpServers`, so the client finds no servers in \
                                    it";
                        let finding = DoctorFinding::new(&codes::SERVERS_VOID, what);
                        findings.push(finding.with_location(document.location(document.root.at)));
                    }
                    servers.add_registration(
                        SettingsSource::Project,
                        &document,
                        &[SERVERS_KEY.to_owned()],
                        findings,
                    );
                }
            }
        }
        if let Some(document) = &state.document {
            servers.add_registration(
                SettingsSource::User,
                document,
                &[SERVERS_KEY.to_owned()],
                findings,
            );
        }
        for (plugin, folder) in plugins::plugin_folders(plugins) {
            for document in plugins::server_files(folder) {
                let list = document.root.get(SERVERS_KEY).unwrap_or(&document.root);
                for (name, node) in list.members() {
                    let mut found =
                        ServerRegistration::new(SettingsSource::Plugin, &document, node);
                    // Other servers of a plugin are not checked.
                    if found.kind == ServerKind::Ours {
                        found.plugin = Some(PluginServer {
                            plugin: plugin.to_owned(),
                            server: name.clone(),
                            folder: folder.to_owned(),
                        });
                        servers.all.push(found);
                    }
                }
            }
        }
        servers
    }

    /// Adds the server with rutter's name from the object of servers at this key path.
    fn add_registration(
        &mut self,
        whose: SettingsSource,
        document: &ClientDocument,
        keys: &[String],
        findings: &mut Vec<DoctorFinding>,
    ) {
        let mut node = &document.root;
        for key in keys {
            let Some(next) = node.get(key) else { return };
            if !matches!(next.kind, JsonKind::Object(_)) {
                let what = format!(
                    "`{}` must be an object, not {}: the client finds no servers there",
                    display_name(key),
                    next.kind.name()
                );
                let finding = DoctorFinding::new(&codes::SERVERS_VOID, what);
                return findings.push(finding.with_location(document.location(next.at)));
            }
            node = next;
        }
        if let Some(node) = node.get(server::SERVER_NAME) {
            self.all.push(ServerRegistration::new(whose, document, node));
        }
    }

    /// Determines the state of each registration, and adds findings for their faults.
    pub(crate) fn check_states(
        &mut self,
        around: &ClientConfiguration<'_>,
        findings: &mut Vec<DoctorFinding>,
    ) {
        let mut reasons: Vec<Option<DoctorFinding>> = Vec::new();
        for server in &mut self.all {
            let off = admission::blocking_finding(server, around);
            server.state = if let Some(what) = server.load_fault() {
                let what = format!("{what}: the client skips this entry");
                findings.push(wrong_entry_finding(server, what));
                RegistrationState::Skipped
            } else if off.is_some() {
                RegistrationState::Off
            } else if server.whose == SettingsSource::Project && admission::is_pending(around) {
                RegistrationState::Pending
            } else {
                RegistrationState::Used
            };
            reasons.push(off);
        }
        self.check_foreign(around.layers, findings);
        self.mark_shadowed();
        for server in self.all.iter().filter(|server| server.state == RegistrationState::Used) {
            if server.kind == ServerKind::Ours && !server::is_correct_entry(&server.entry) {
                let what = "this starts rutter with other arguments than `rutter init` writes";
                findings.push(wrong_entry_finding(server, what.to_owned()));
            }
            findings.extend(check_moved_memory(server));
        }
        let used = self.all.iter().any(|server| server.state == RegistrationState::Used);
        let waits = self.all.iter().find(|server| server.state == RegistrationState::Pending);
        if let Some(server) = waits.filter(|server| !used && server.kind != ServerKind::Foreign) {
            let what =
                "the client starts this server after you approve it, which has not happened yet";
            findings.push(
                DoctorFinding::new(&codes::SERVER_PENDING, what)
                    .with_location(server.place.clone()),
            );
        } else if !used {
            findings.extend(reasons.into_iter().flatten().next());
        }
        findings.extend(self.check_missing(around.layers));
        findings.extend(self.check_duplicate());
        let here = around.layers.iter().flat_map(|layer| &layer.entries).next();
        let here = here.map(|entry| &entry.place);
        for server in self.active() {
            findings.extend(rules::check_rules(around.layers, &server.allow_rule(), here));
            findings.extend(rules::check_whole_server_rule(around.layers, &server.allow_rule()));
        }
    }

    /// Returns our servers that a session has, or would have after approval.
    pub(crate) fn active(&self) -> impl Iterator<Item = &ServerRegistration> {
        let counts = |server: &&ServerRegistration| {
            matches!(server.state, RegistrationState::Used | RegistrationState::Pending)
        };
        self.all.iter().filter(counts).filter(|server| server.kind != ServerKind::Foreign)
    }

    /// Marks registrations as shadowed. Of several with one name, the client uses the first approved one, else the
    /// first pending one. A pending one before the used one is not shadowed: `claude -p` starts it without asking.
    fn mark_shadowed(&mut self) {
        let own = |server: &ServerRegistration| server.plugin.is_none();
        let first = |state: RegistrationState| {
            self.all.iter().position(|server| own(server) && server.state == state)
        };
        let Some(used) =
            first(RegistrationState::Used).or_else(|| first(RegistrationState::Pending))
        else {
            return;
        };
        for (at, server) in self.all.iter_mut().enumerate() {
            if at > used
                && own(server)
                && matches!(server.state, RegistrationState::Used | RegistrationState::Pending)
            {
                server.state = RegistrationState::Shadowed;
            }
        }
    }

    /// Finds a server with our name that runs another program. Pending ones count: `claude -p` starts them without
    /// asking.
    fn check_foreign(&self, layers: &[SettingsLayer], findings: &mut Vec<DoctorFinding>) {
        let mut own = self.all.iter().filter(|server| server.plugin.is_none());
        let first = own.find(|server| {
            matches!(server.state, RegistrationState::Used | RegistrationState::Pending)
        });
        let Some(server) = first.filter(|server| server.kind == ServerKind::Foreign) else {
            return;
        };
        let again =
            format!("{} && {}", server.removal_command(), advice::init_command(server.whose));
        if server::starts_rutter(&server.entry) {
            let what =
                "this starts rutter, but not as `rutter mcp`, so the agent has none of its tools";
            return findings.push(wrong_entry_finding(server, what.to_owned()));
        }
        if let Some(rule) = rules::find_allow_rule(layers, server::SERVER_RULE) {
            let what = format!(
                "this server is called `rutter` but is another program, and {rule} lets the \
                 agent call all of its tools without asking"
            );
            let finding = DoctorFinding::new(&codes::SERVER_FOREIGN_ALLOWED, what);
            return findings.push(
                finding.with_location(server.place.clone()).with_advice(server.removal_command()),
            );
        }
        let what = "this server is called `rutter` but is another program, so the agent has \
                    none of rutter's tools";
        let finding =
            DoctorFinding::new(&codes::SERVER_FOREIGN, what).with_location(server.place.clone());
        findings.push(finding.with_advice(again));
    }

    /// Returns a finding if our hooks are registered but our server is not.
    fn check_missing(&self, layers: &[SettingsLayer]) -> Option<DoctorFinding> {
        if self.unknown || !self.all.is_empty() {
            return None;
        }
        let entry = layers.iter().flat_map(|layer| &layer.entries).next()?;
        let what = "rutter's hooks are installed, but its server is not registered: the agent \
                    has none of its tools";
        // The file of the hooks decides the `rutter init` command in the advice.
        let place = FileLocation::whole_file(&entry.place.file);
        Some(DoctorFinding::new(&codes::SERVER_MISSING, what).with_location(place))
    }

    /// Finds a plugin's server that runs in addition to a registered one. The client starts identical commands only
    /// once.
    fn check_duplicate(&self) -> Option<DoctorFinding> {
        let same = |one: &ServerRegistration, other: &ServerRegistration| {
            ["command", "args"].iter().all(|key| one.entry.get(key) == other.entry.get(key))
        };
        let own = self.active().find(|server| server.plugin.is_none())?;
        let plugin = self.active().find(|it| it.plugin.is_some() && !same(it, own))?;
        let what = format!("this and {} both run: the agent has every tool twice", own.place);
        let finding =
            DoctorFinding::new(&codes::SERVER_TWICE, what).with_location(plugin.place.clone());
        Some(finding.with_advice(plugin.removal_command()))
    }
}

/// Returns a finding for a wrong entry. `init` corrects only entries that it writes, not variables or foreign entries.
fn wrong_entry_finding(server: &ServerRegistration, what: String) -> DoctorFinding {
    let init = advice::init_command(server.whose);
    let advice = if server.kind == ServerKind::Ours && server.load_fault().is_none() {
        init
    } else {
        format!("{} && {init}", server.removal_command())
    };
    DoctorFinding::new(&codes::SERVER_WRONG, what)
        .with_location(server.place.clone())
        .with_advice(advice)
}

/// Finds variables that would give a server another data directory than the hooks have.
fn check_moved_memory(server: &ServerRegistration) -> Option<DoctorFinding> {
    let set = |name: &&str| server.entry["env"].get(name).is_some();
    let name = ["RUTTER_HOME", "XDG_DATA_HOME", "HOME"].into_iter().find(|name| set(name))?;
    let what = format!(
        "`env` of this entry sets {name}: the tools use another memory than the \
                        hooks"
    );
    Some(DoctorFinding::new(&codes::ENV_MOVES, what).with_location(server.place.clone()))
}
