//! Finds other memory tools that add their own text to the agent's context.

use std::path::Path;

use rutter_check::settings::{
    ClientDocument, ClientState, EnabledPlugin, FileLocation, LoadedDocument, SERVERS_KEY,
    SettingsLayer, load_hooks, project_servers_file,
};
use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;

use super::codes;
use super::finding::{DoctorFinding, display_name};
use super::places::ClientEnvironment;
use crate::shell;

/// The name of each tool, and the words that identify it in commands and as the name of a plugin or server. Words that
/// are likely names of unrelated projects are left out.
const OTHER_MEMORIES: &[(&str, &[&str])] = &[
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
fn find_memory_name(text: &str) -> Option<&'static str> {
    let words = || text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
    let memory = OTHER_MEMORIES.iter().find(|(_, names)| {
        names.iter().any(|name| words().any(|word| word.eq_ignore_ascii_case(name)))
    });
    memory.map(|(name, _)| *name)
}

/// Reports every tool once, at its first occurrence.
pub(crate) fn find_other_memories(
    layers: &[SettingsLayer],
    plugins: &[EnabledPlugin],
    state: &ClientState,
    places: &ClientEnvironment,
    contract: Contract,
) -> Vec<DoctorFinding> {
    let mut met = OtherMemoryFindings::default();
    for plugin in plugins {
        let name = plugin.name.split('@').next().unwrap_or_default();
        let advice =
            format!("claude plugin disable {}", shell::quote_word(&display_name(&plugin.name)));
        met.add_memory(
            find_memory_name(name),
            "is enabled as a plugin",
            FileLocation::whole_file(&plugin.by),
            advice,
        );
    }
    for layer in layers {
        let Some(document) = &layer.document else { continue };
        for group in load_hooks(document, contract).groups {
            for entry in group.entries {
                let advice = "remove its entries there";
                met.add_memory(
                    find_memory_name(&command_words(entry)),
                    "has a hook",
                    document.location(entry.at),
                    advice,
                );
            }
        }
    }
    let own = LoadedDocument::load(&project_servers_file(&places.files.folder));
    if let LoadedDocument::Document(document) = &own {
        met.add_servers(document, document.root.get(SERVERS_KEY));
    }
    if let Some(document) = &state.document {
        met.add_servers(document, document.root.get(SERVERS_KEY));
        let settled = places.files.folder.canonicalize();
        for folder in
            [Some(places.files.folder.as_path()), settled.as_deref().ok()].into_iter().flatten()
        {
            met.add_servers(
                document,
                state.folder_state(folder).and_then(|project| project.get(SERVERS_KEY)),
            );
        }
    }
    met.findings
}

/// Returns the words of a hook or a server entry that identify its program.
fn command_words(node: &JsonNode) -> String {
    let mut words = Vec::new();
    for key in ["command", "url", "server"] {
        words.extend(node.get(key).and_then(JsonNode::text));
    }
    if let Some(JsonKind::List(args)) = node.get("args").map(|args| &args.kind) {
        words.extend(args.iter().filter_map(JsonNode::text));
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
struct OtherMemoryFindings {
    names: Vec<&'static str>,
    findings: Vec<DoctorFinding>,
}

impl OtherMemoryFindings {
    fn add_memory(
        &mut self,
        name: Option<&'static str>,
        how: &str,
        place: FileLocation,
        advice: impl Into<String>,
    ) {
        let Some(name) = name.filter(|name| !self.names.contains(name)) else { return };
        self.names.push(name);
        let what = format!("{name} {how}: both add context for the agent");
        self.findings
            .push(DoctorFinding::new(&codes::RIVAL, what).with_location(place).with_advice(advice));
    }

    fn add_servers(&mut self, document: &ClientDocument, servers: Option<&JsonNode>) {
        for (name, server) in servers.map(JsonNode::members).unwrap_or_default() {
            let advice = format!("claude mcp remove {}", shell::quote_word(&display_name(name)));
            let memory =
                find_memory_name(name).or_else(|| find_memory_name(&command_words(server)));
            self.add_memory(memory, "is an MCP server", document.location(server.at), advice);
        }
    }
}
