//! The registrations of rutter's MCP server: their files, their precedence, and the reasons for which the client does
//! not start the server.
//!
//! Measured on clients 2.1.325 and 2.1.197 with `claude mcp get`: of several servers with one name the client starts
//! the local one, else the project's, else the user's. It passes over one that is disabled or waits for approval. It
//! also reads `.mcp.json` in every parent folder. It skips a single entry that it cannot load, and the whole of a file
//! that it cannot parse.

use std::path::PathBuf;

use rutter_contract::javascript::{Kind, Node};
use serde::Serialize;
use serde_json::Value;

use super::codes;
use super::document::{Document, Reading};
use super::entry::Start;
use super::finding::{Finding, Place, named};
use super::layers::{Layer, Whose};
use super::places::Places;
use super::plugins::{self, Plugin};
use super::trust::ClientState;
use super::{admission, advice, rules};
use crate::install::{Scope, server};
use crate::shell;

/// The client's key for the list of servers.
const SERVERS: &str = "mcpServers";

/// A registration of a server with rutter's name, or of a plugin's server that starts rutter.
#[derive(Debug, Serialize)]
pub(crate) struct Server {
    pub(crate) whose: Whose,
    pub(crate) place: Place,
    pub(crate) state: State,
    pub(crate) kind: Sort,
    /// Number of tools. None if the server was not started or did not answer.
    pub(crate) tools: Option<usize>,
    /// Time until the server had listed its tools.
    pub(crate) milliseconds: Option<f64>,
    #[serde(skip)]
    pub(crate) entry: Value,
    /// The plugin that contains the registration. None for other registrations.
    #[serde(skip)]
    pub(crate) plugin: Option<Plugged>,
}

/// The server of a plugin.
#[derive(Debug)]
pub(crate) struct Plugged {
    /// `name@marketplace`.
    plugin: String,
    /// The plugin's name for the server.
    server: String,
    pub(crate) folder: PathBuf,
}

/// The effect of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
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
pub(crate) enum Sort {
    /// `rutter mcp`.
    Ours,
    /// A running `rutter mcp --http` on this machine, which the client does not start.
    Http,
    /// Another program.
    Foreign,
}

impl Server {
    fn new(whose: Whose, document: &Document, node: &Node) -> Self {
        let entry = document.value(node);
        let kind = if server::is_ours(&entry) {
            Sort::Ours
        } else if server::is_over_http(&entry) {
            Sort::Http
        } else {
            Sort::Foreign
        };
        Self {
            whose,
            place: document.place(node.at),
            state: State::Shadowed,
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
            Some(Plugged { plugin, server, .. }) => {
                format!("plugin:{}:{server}", plugin.split('@').next().unwrap_or_default())
            }
            None => server::NAME.to_owned(),
        }
    }

    /// Returns the permission rule that allows all tools of the server.
    fn rule(&self) -> String {
        let plain =
            |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        format!("mcp__{}", self.name().chars().map(plain).collect::<String>())
    }

    /// Returns the command with which the client starts the server.
    pub(crate) fn start(&self) -> Option<Start> {
        let program = server::program(&self.entry)?.to_owned();
        let args = self.entry["args"].as_array()?;
        let args: Vec<String> = args.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Some(if self.entry["command"] == "sh" {
            Start::Guarded { line: args.get(1)?.clone(), program }
        } else {
            Start::Exec { program, args }
        })
    }

    /// Returns the command that removes the registration.
    fn removal(&self) -> String {
        match &self.plugin {
            Some(plugged) => format!("claude plugin disable {}", shell::word(&plugged.plugin)),
            None => format!("claude mcp remove {} -s {}", server::NAME, self.whose.as_str()),
        }
    }

    /// Returns the reason for which the client cannot load the entry, if any.
    fn fault(&self) -> Option<&'static str> {
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
            return Some("an entry has to be an object");
        }
        match entry.get("type").map(Value::as_str) {
            None | Some(Some("stdio")) => {}
            Some(Some("http" | "sse" | "ws")) => return None,
            Some(_) => return Some("there is no such `type`; that of rutter is \"stdio\""),
        }
        if entry["command"].as_str().is_none_or(str::is_empty) {
            Some("an entry needs `command`")
        } else if wrong("args", true) {
            Some("`args` has to be an array of strings")
        } else if wrong("env", false) {
            Some("`env` has to be an object of strings")
        } else {
            None
        }
    }
}

/// All registrations.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    /// Registrations, the most specific first.
    pub(crate) all: Vec<Server>,
    /// True if an unreadable file may contain a registration of ours.
    unknown: bool,
}

/// The client files and settings that decide about servers.
pub(crate) struct Around<'a> {
    pub(crate) places: &'a Places,
    pub(crate) state: &'a ClientState,
    pub(crate) layers: &'a [Layer],
}

impl Servers {
    /// Reads all files in which a client that is started here looks for servers.
    pub(crate) fn read(
        around: &Around<'_>,
        plugins: &[Plugin],
        findings: &mut Vec<Finding>,
    ) -> Self {
        let Around { places, state, .. } = around;
        let mut servers = Self { unknown: state.unreadable, ..Self::default() };
        if let Some(document) = &state.document {
            let local = Scope::Local.servers(&places.folder, Some(&document.path));
            if let Some((_, keys)) = local {
                servers.look(Whose::Local, document, &keys, findings);
            }
        }
        let folder = places.folder.canonicalize().unwrap_or_else(|_| places.folder.clone());
        for folder in folder.ancestors() {
            match Reading::of(&folder.join(".mcp.json")) {
                Reading::Absent | Reading::Blank => {}
                Reading::Void { finding, speaks_of_us } => {
                    servers.unknown |= speaks_of_us;
                    let what = "this cannot be read, so the client goes without the servers in it";
                    let mut void = Finding::new(&codes::SERVERS_VOID, what);
                    void.place = finding.place;
                    if finding.code == &codes::SETTINGS_NOT_JSON {
                        void.advice = finding.advice;
                    }
                    findings.push(void);
                }
                Reading::Document(document) => {
                    if document.root.get(SERVERS).is_none() && !document.root.members().is_empty() {
                        let what = "there is no `mcpServers` in this, so the client takes no servers from it";
                        let finding = Finding::new(&codes::SERVERS_VOID, what);
                        findings.push(finding.at(document.place(document.root.at)));
                    }
                    servers.look(Whose::Project, &document, &[SERVERS.to_owned()], findings);
                }
            }
        }
        if let Some(document) = &state.document {
            servers.look(Whose::User, document, &[SERVERS.to_owned()], findings);
        }
        for (plugin, folder) in plugins::with_folders(plugins) {
            for document in plugins::server_files(folder) {
                let list = document.root.get(SERVERS).unwrap_or(&document.root);
                for (name, node) in list.members() {
                    let mut found = Server::new(Whose::Plugin, &document, node);
                    // Other servers of a plugin are not checked.
                    if found.kind == Sort::Ours {
                        found.plugin = Some(Plugged {
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
    fn look(
        &mut self,
        whose: Whose,
        document: &Document,
        keys: &[String],
        findings: &mut Vec<Finding>,
    ) {
        let mut node = &document.root;
        for key in keys {
            let Some(next) = node.get(key) else { return };
            if !matches!(next.kind, Kind::Object(_)) {
                let what = format!(
                    "`{}` has to be an object, and this is {}: the client finds no servers there",
                    named(key),
                    next.kind.name()
                );
                let finding = Finding::new(&codes::SERVERS_VOID, what);
                return findings.push(finding.at(document.place(next.at)));
            }
            node = next;
        }
        if let Some(node) = node.get(server::NAME) {
            self.all.push(Server::new(whose, document, node));
        }
    }

    /// Determines the state of each registration, and adds findings for their faults.
    pub(crate) fn examine(&mut self, around: &Around<'_>, findings: &mut Vec<Finding>) {
        let mut reasons: Vec<Option<Finding>> = Vec::new();
        for server in &mut self.all {
            let off = admission::off(server, around);
            server.state = if let Some(what) = server.fault() {
                let what = format!("{what}: the client skips this entry");
                findings.push(wrong(server, what));
                State::Skipped
            } else if off.is_some() {
                State::Off
            } else if server.whose == Whose::Project && admission::is_pending(around) {
                State::Pending
            } else {
                State::Used
            };
            reasons.push(off);
        }
        self.foreigners(around.layers, findings);
        self.settle();
        for server in self.all.iter().filter(|server| server.state == State::Used) {
            if server.kind == Sort::Ours && !server::is_right(&server.entry) {
                let what = "this starts rutter with other arguments than `rutter init` writes";
                findings.push(wrong(server, what.to_owned()));
            }
            findings.extend(moved(server));
        }
        let used = self.all.iter().any(|server| server.state == State::Used);
        let waits = self.all.iter().find(|server| server.state == State::Pending);
        if let Some(server) = waits.filter(|server| !used && server.kind != Sort::Foreign) {
            let what =
                "the client starts this server once somebody has said yes to it, which nobody has";
            findings.push(Finding::new(&codes::SERVER_PENDING, what).at(server.place.clone()));
        } else if !used {
            findings.extend(reasons.into_iter().flatten().next());
        }
        findings.extend(self.missing(around.layers));
        findings.extend(self.twice());
        let here = around.layers.iter().flat_map(|layer| &layer.entries).next();
        let here = here.map(|entry| &entry.place);
        for server in self.running() {
            findings.extend(rules::examine(around.layers, &server.rule(), here));
            findings.extend(rules::allowed_whole(around.layers, &server.rule()));
        }
    }

    /// Returns our servers that a session has, or would have after approval.
    pub(crate) fn running(&self) -> impl Iterator<Item = &Server> {
        let counts = |server: &&Server| matches!(server.state, State::Used | State::Pending);
        self.all.iter().filter(counts).filter(|server| server.kind != Sort::Foreign)
    }

    /// Marks registrations as shadowed. Of several with one name, the client uses the first approved one, else the
    /// first pending one. A pending one before the used one is not shadowed: `claude -p` starts it without asking.
    fn settle(&mut self) {
        let own = |server: &Server| server.plugin.is_none();
        let first =
            |state: State| self.all.iter().position(|server| own(server) && server.state == state);
        let Some(used) = first(State::Used).or_else(|| first(State::Pending)) else { return };
        for (at, server) in self.all.iter_mut().enumerate() {
            if at > used && own(server) && matches!(server.state, State::Used | State::Pending) {
                server.state = State::Shadowed;
            }
        }
    }

    /// Finds a server with our name that runs another program. Pending ones count: `claude -p` starts them without
    /// asking.
    fn foreigners(&self, layers: &[Layer], findings: &mut Vec<Finding>) {
        let mut own = self.all.iter().filter(|server| server.plugin.is_none());
        let first = own.find(|server| matches!(server.state, State::Used | State::Pending));
        let Some(server) = first.filter(|server| server.kind == Sort::Foreign) else { return };
        let again = format!("{} && {}", server.removal(), advice::init(server.whose));
        if server::runs_program(&server.entry) {
            let what =
                "this starts rutter, and not as `rutter mcp`, so the agent has none of its tools";
            return findings.push(wrong(server, what.to_owned()));
        }
        if let Some(rule) = rules::allowed(layers, server::RULE) {
            let what = format!(
                "this server is called `rutter` and is none of rutter's, and by {rule} the agent may call all of its tools \
                 without a question"
            );
            let finding = Finding::new(&codes::SERVER_FOREIGN_ALLOWED, what);
            return findings.push(finding.at(server.place.clone()).advise(server.removal()));
        }
        let what = "this server is called `rutter` and is none of rutter's, so the agent has none of rutter's tools";
        let finding = Finding::new(&codes::SERVER_FOREIGN, what).at(server.place.clone());
        findings.push(finding.advise(again));
    }

    /// Returns a finding if our hooks are registered but our server is not.
    fn missing(&self, layers: &[Layer]) -> Option<Finding> {
        if self.unknown || !self.all.is_empty() {
            return None;
        }
        let entry = layers.iter().flat_map(|layer| &layer.entries).next()?;
        let what = "rutter's hooks are here, and its server is registered nowhere: the agent has none of its tools";
        // The file of the hooks decides the `rutter init` command in the advice.
        let place = Place::file(&entry.place.file);
        Some(Finding::new(&codes::SERVER_MISSING, what).at(place))
    }

    /// Finds a plugin's server that runs in addition to a registered one. The client starts identical commands only
    /// once.
    fn twice(&self) -> Option<Finding> {
        let same = |one: &Server, other: &Server| {
            ["command", "args"].iter().all(|key| one.entry.get(key) == other.entry.get(key))
        };
        let own = self.running().find(|server| server.plugin.is_none())?;
        let plugin = self.running().find(|it| it.plugin.is_some() && !same(it, own))?;
        let what = format!("this and {} both run: the agent has every tool twice", own.place);
        let finding = Finding::new(&codes::SERVER_TWICE, what).at(plugin.place.clone());
        Some(finding.advise(plugin.removal()))
    }
}

/// Returns a finding for a wrong entry. `init` corrects only entries that it writes, not variables or foreign entries.
fn wrong(server: &Server, what: String) -> Finding {
    let init = advice::init(server.whose);
    let advice = if server.kind == Sort::Ours && server.fault().is_none() {
        init
    } else {
        format!("{} && {init}", server.removal())
    };
    Finding::new(&codes::SERVER_WRONG, what).at(server.place.clone()).advise(advice)
}

/// Finds variables that would give a server another data directory than the hooks have.
fn moved(server: &Server) -> Option<Finding> {
    let set = |name: &&str| server.entry["env"].get(name).is_some();
    let name = ["RUTTER_HOME", "XDG_DATA_HOME", "HOME"].into_iter().find(|name| set(name))?;
    let what = format!("`env` of this entry sets {name}: tools use another memory than hooks do");
    Some(Finding::new(&codes::ENV_MOVES, what).at(server.place.clone()))
}
