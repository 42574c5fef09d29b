//! Findings about the registrations of rutter's MCP server.

use rutter_check::settings::{
    ClientState, DocumentFaultKind, FileLocation, LoadedServers, McpServer, ServerFault,
    ServerFileFault, ServerState, SettingsLayer,
};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};
use serde_json::Value;

use super::codes;
use super::entry::LaunchCommand;
use super::finding::{DoctorFinding, display_name};
use super::layers::our_entries;
use super::{advice, rules, server_policy};
use crate::install::server;
use crate::shell;

/// A registration of a server with rutter's name, or of a plugin's server that starts rutter.
#[derive(Debug)]
pub(crate) struct ServerRegistration {
    pub(crate) registered: McpServer,
    pub(crate) kind: ServerKind,
    /// Number of tools. None if the server was not started or did not answer.
    pub(crate) tools: Option<usize>,
    /// Time until the server had listed its tools.
    pub(crate) milliseconds: Option<f64>,
}

impl Serialize for ServerRegistration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("ServerRegistration", 6)?;
        out.serialize_field("whose", &self.registered.whose)?;
        out.serialize_field("place", &self.registered.place)?;
        out.serialize_field("state", &self.registered.state)?;
        out.serialize_field("kind", &self.kind)?;
        out.serialize_field("tools", &self.tools)?;
        out.serialize_field("milliseconds", &self.milliseconds)?;
        out.end()
    }
}

/// The program that a registration starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
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
    fn new(registered: McpServer) -> Self {
        let kind = if server::is_our_server(&registered.entry) {
            ServerKind::Ours
        } else if server::is_http_server(&registered.entry) {
            ServerKind::Http
        } else {
            ServerKind::Foreign
        };
        Self { registered, kind, tools: None, milliseconds: None }
    }

    /// Returns the command with which the client starts the server.
    pub(crate) fn launch_command(&self) -> Option<LaunchCommand> {
        let entry = &self.registered.entry;
        let program = server::server_program(entry)?.to_owned();
        let args = entry["args"].as_array()?;
        let args: Vec<String> = args.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Some(if entry["command"] == "sh" {
            LaunchCommand::Guarded { line: args.get(1)?.clone(), program }
        } else {
            LaunchCommand::Exec { program, args }
        })
    }

    /// Returns the command that removes the registration.
    fn removal_command(&self) -> String {
        let McpServer { whose, plugin, .. } = &self.registered;
        match plugin {
            Some(plugin) => format!("claude plugin disable {}", shell::quote_word(&plugin.name)),
            None => format!("claude mcp remove {} -s {}", server::SERVER_NAME, whose.as_str()),
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

impl ServerRegistrations {
    /// Selects the registrations that concern rutter, and adds findings for files without servers.
    pub(crate) fn new(
        loaded: LoadedServers,
        state: &ClientState,
        findings: &mut Vec<DoctorFinding>,
    ) -> Self {
        findings.extend(loaded.faults.iter().map(file_fault_finding));
        let may_have_ours = |fault: &ServerFileFault| match fault {
            ServerFileFault::Document(fault) => fault.mentions(server::SERVER_NAME),
            ServerFileFault::NoList(_) | ServerFileFault::NotObject { .. } => false,
        };
        let unknown = state.fault.is_some() || loaded.faults.iter().any(may_have_ours);
        let all = loaded.servers.into_iter().map(ServerRegistration::new);
        // Other servers of a plugin are not checked.
        let is_checked = |server: &ServerRegistration| match server.registered.plugin {
            Some(_) => server.kind == ServerKind::Ours,
            None => server.registered.name == server::SERVER_NAME,
        };
        Self { all: all.filter(is_checked).collect(), unknown }
    }

    /// Adds findings for the faults of registrations, and for registrations without effect.
    pub(crate) fn check_states(&self, layers: &[SettingsLayer], findings: &mut Vec<DoctorFinding>) {
        for server in &self.all {
            if let Some(fault) = server.registered.fault {
                let what = format!("{}: the client skips this entry", describe_fault(fault));
                findings.push(wrong_entry_finding(server, what));
            }
        }
        self.check_foreign(layers, findings);
        for server in self.all.iter().filter(|server| server.registered.state == ServerState::Used)
        {
            if server.kind == ServerKind::Ours
                && !server::is_correct_entry(&server.registered.entry)
            {
                let what = "this starts rutter with other arguments than `rutter init` writes";
                findings.push(wrong_entry_finding(server, what.to_owned()));
            }
            findings.extend(check_moved_memory(server));
        }
        let used = self.all.iter().any(|server| server.registered.state == ServerState::Used);
        let waits = self.all.iter().find(|server| server.registered.state == ServerState::Pending);
        if let Some(server) = waits.filter(|server| !used && server.kind != ServerKind::Foreign) {
            let what =
                "the client starts this server after you approve it, which has not happened yet";
            findings.push(
                DoctorFinding::new(&codes::SERVER_PENDING, what)
                    .with_location(server.registered.place.clone()),
            );
        } else if !used {
            let block = self.all.iter().find_map(|server| server.registered.block.as_ref());
            findings.extend(block.map(server_policy::block_finding));
        }
        findings.extend(self.check_missing(layers));
        findings.extend(self.check_duplicate());
        let here = our_entries(layers).next().map(|entry| &entry.place);
        for server in self.active() {
            findings.extend(rules::check_rules(layers, &server.registered.allow_rule(), here));
            findings
                .extend(rules::check_whole_server_rule(layers, &server.registered.allow_rule()));
        }
    }

    /// Returns our servers that a session has, or would have after approval.
    pub(crate) fn active(&self) -> impl Iterator<Item = &ServerRegistration> {
        let counts = |server: &&ServerRegistration| {
            matches!(server.registered.state, ServerState::Used | ServerState::Pending)
        };
        self.all.iter().filter(counts).filter(|server| server.kind != ServerKind::Foreign)
    }

    /// Finds a server with our name that runs another program. Pending ones count: `claude -p` starts them without
    /// asking.
    fn check_foreign(&self, layers: &[SettingsLayer], findings: &mut Vec<DoctorFinding>) {
        let mut own = self.all.iter().filter(|server| server.registered.plugin.is_none());
        let first = own.find(|server| {
            matches!(server.registered.state, ServerState::Used | ServerState::Pending)
        });
        let Some(server) = first.filter(|server| server.kind == ServerKind::Foreign) else {
            return;
        };
        let again = format!(
            "{} && {}",
            server.removal_command(),
            advice::init_command(server.registered.whose)
        );
        if server::starts_rutter(&server.registered.entry) {
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
                finding
                    .with_location(server.registered.place.clone())
                    .with_advice(server.removal_command()),
            );
        }
        let what = "this server is called `rutter` but is another program, so the agent has none of rutter's tools";
        let finding = DoctorFinding::new(&codes::SERVER_FOREIGN, what)
            .with_location(server.registered.place.clone());
        findings.push(finding.with_advice(again));
    }

    /// Returns a finding if our hooks are registered but our server is not.
    fn check_missing(&self, layers: &[SettingsLayer]) -> Option<DoctorFinding> {
        if self.unknown || !self.all.is_empty() {
            return None;
        }
        let entry = our_entries(layers).next()?;
        let what = "rutter's hooks are installed, but its server is not registered: the agent has none of its tools";
        // The file of the hooks decides the `rutter init` command in the advice.
        let place = FileLocation::whole_file(&entry.place.file);
        Some(DoctorFinding::new(&codes::SERVER_MISSING, what).with_location(place))
    }

    /// Finds a plugin's server that runs in addition to a registered one. The client starts identical commands only
    /// once.
    fn check_duplicate(&self) -> Option<DoctorFinding> {
        let same = |one: &ServerRegistration, other: &ServerRegistration| {
            ["command", "args"]
                .iter()
                .all(|key| one.registered.entry.get(key) == other.registered.entry.get(key))
        };
        let own = self.active().find(|server| server.registered.plugin.is_none())?;
        let plugin = self.active().find(|it| it.registered.plugin.is_some() && !same(it, own))?;
        let what =
            format!("this and {} both run: the agent has every tool twice", own.registered.place);
        let finding = DoctorFinding::new(&codes::SERVER_TWICE, what)
            .with_location(plugin.registered.place.clone());
        Some(finding.with_advice(plugin.removal_command()))
    }
}

/// Returns a finding for a wrong entry. `init` corrects only entries that it writes, not variables or foreign entries.
fn wrong_entry_finding(server: &ServerRegistration, what: String) -> DoctorFinding {
    let init = advice::init_command(server.registered.whose);
    let advice = if server.kind == ServerKind::Ours && server.registered.fault.is_none() {
        init
    } else {
        format!("{} && {init}", server.removal_command())
    };
    DoctorFinding::new(&codes::SERVER_WRONG, what)
        .with_location(server.registered.place.clone())
        .with_advice(advice)
}

/// Finds variables that would give a server another data directory than the hooks have.
fn check_moved_memory(server: &ServerRegistration) -> Option<DoctorFinding> {
    let set = |name: &&str| server.registered.entry["env"].get(name).is_some();
    let name = ["RUTTER_HOME", "XDG_DATA_HOME", "HOME"].into_iter().find(|name| set(name))?;
    let what =
        format!("`env` of this entry sets {name}: the tools use another memory than the hooks");
    Some(DoctorFinding::new(&codes::ENV_MOVES, what).with_location(server.registered.place.clone()))
}

/// Returns the finding about a file in which the client finds no servers.
fn file_fault_finding(fault: &ServerFileFault) -> DoctorFinding {
    let finding = |what: String, location: &FileLocation| {
        DoctorFinding::new(&codes::SERVERS_VOID, what).with_location(location.clone())
    };
    match fault {
        ServerFileFault::Document(fault) => {
            let what = "this cannot be read, so the client ignores the servers in it";
            let finding = finding(what.to_owned(), &fault.location);
            match fault.kind {
                DocumentFaultKind::NotJson { .. } => {
                    finding.with_advice(codes::SETTINGS_NOT_JSON.advice)
                }
                _ => finding,
            }
        }
        ServerFileFault::NoList(location) => {
            let what = "this has no `mcpServers`, so the client finds no servers in it";
            finding(what.to_owned(), location)
        }
        ServerFileFault::NotObject { key, found, location } => {
            let key = display_name(key);
            let what = format!(
                "`{key}` must be an object, not {found}: the client finds no servers there"
            );
            finding(what, location)
        }
    }
}

const fn describe_fault(fault: ServerFault) -> &'static str {
    match fault {
        ServerFault::NotObject => "an entry must be an object",
        ServerFault::UnknownType => "unknown `type`; rutter needs \"stdio\"",
        ServerFault::NoCommand => "an entry needs `command`",
        ServerFault::ArgsNotTexts => "`args` must be an array of strings",
        ServerFault::EnvNotTexts => "`env` must be an object of strings",
    }
}
