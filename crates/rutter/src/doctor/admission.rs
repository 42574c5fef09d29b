//! Settings, organisation policies and user answers that decide if the client may start a server.

use rutter_contract::javascript::{JsonKind, JsonNode};

use super::codes::{self, FindingCode};
use super::document::{ClientDocument, LoadedDocument};
use super::finding::{DoctorFinding, FileLocation};
use super::layers::{SettingsLayer, SettingsSource};
use super::servers::{ClientConfiguration, ServerRegistration};
use crate::install::{InstallScope, server};

/// Returns the client's state for the folder under which it records the current one.
fn folder_state<'a>(
    around: &ClientConfiguration<'a>,
) -> Option<(&'a ClientDocument, &'a JsonNode)> {
    let document = around.state.document.as_deref()?;
    let (_, keys) =
        InstallScope::Local.servers_file(&around.places.folder, Some(&document.path))?;
    let node = document.root.get(keys.first()?)?.get(keys.get(1)?)?;
    Some((document, node))
}

/// Returns true if a list of names, or a single name, contains this name.
fn contains_name(node: &JsonNode, name: &str) -> bool {
    match &node.kind {
        JsonKind::List(names) => names.iter().any(|one| one.text() == Some(name)),
        JsonKind::Text(one) => one == name,
        _ => false,
    }
}

/// Returns a finding with the reason for which the client does not start a server, if any.
pub(super) fn blocking_finding(
    server: &ServerRegistration,
    around: &ClientConfiguration<'_>,
) -> Option<DoctorFinding> {
    if server.plugin.is_none()
        && let Some(finding) = check_managed_policy(around)
    {
        return Some(finding);
    }
    if let Some(finding) = check_server_lists(server, around.layers) {
        return Some(finding);
    }
    let switched = |code: &'static FindingCode, what: &str, place: FileLocation| {
        Some(DoctorFinding::new(code, what.to_owned()).with_location(place))
    };
    let noted = folder_state(around);
    if let Some((document, node)) = noted
        && let Some(list) = node.get("disabledMcpServers")
        && contains_name(list, &server.name())
    {
        let what = "the server is disabled for this folder, so the agent has none of its tools";
        return switched(&codes::SERVER_OFF, what, document.location(list.at));
    }
    if server.whose == SettingsSource::Project {
        const KEY: &str = "disabledMcpjsonServers";
        let of_layers = around.layers.iter().filter_map(|layer| layer.setting(KEY));
        let of_notes = noted.and_then(|(document, node)| Some((document, node.get(KEY)?)));
        let mut lists = of_layers.chain(of_notes);
        if let Some((document, list)) =
            lists.find(|(_, list)| contains_name(list, server::SERVER_NAME))
        {
            let what = "`disabledMcpjsonServers` disables the server of this project";
            let finding = switched(&codes::SERVER_OFF, what, document.location(list.at))?;
            return Some(finding.with_advice("remove `rutter` from disabledMcpjsonServers there"));
        }
    }
    None
}

/// Returns true if the project's server waits for the user's approval. In an untrusted folder, only approval in the
/// user's or managed settings counts.
pub(super) fn is_pending(around: &ClientConfiguration<'_>) -> bool {
    let trusted = around.state.trusts(&around.places.folder);
    let says = |key: &dyn Fn(&str) -> Option<JsonNode>| {
        let all =
            key("enableAllProjectMcpServers").is_some_and(|all| all.kind == JsonKind::Bool(true));
        all || key("enabledMcpjsonServers")
            .is_some_and(|list| contains_name(&list, server::SERVER_NAME))
    };
    let of_layers = around.layers.iter().any(|layer| {
        let counts =
            trusted || matches!(layer.whose, SettingsSource::User | SettingsSource::Managed);
        counts && says(&|key| layer.setting(key).map(|(_, node)| node.clone()))
    });
    let of_notes = folder_state(around)
        .is_some_and(|(_, noted)| trusted && says(&|key| noted.get(key).cloned()));
    !of_layers && !of_notes
}

/// Returns a finding if the organisation's policy excludes our server.
fn check_managed_policy(around: &ClientConfiguration<'_>) -> Option<DoctorFinding> {
    let finding = |what: &str, place: FileLocation| {
        let finding = DoctorFinding::new(&codes::SERVER_NOT_ADMITTED, what).with_location(place);
        Some(finding.with_advice(codes::HOOKS_MANAGED_ONLY.advice))
    };
    let path = &around.places.managed_servers;
    if let LoadedDocument::Document(document) = LoadedDocument::load(path) {
        let ours = document.root.get("mcpServers").and_then(|list| list.get(server::SERVER_NAME));
        if ours.is_none() {
            let what = "the organisation has its own list of servers, and Claude Code starts no \
                        others";
            return finding(what, FileLocation::whole_file(path));
        }
    }
    around.layers.iter().filter(|layer| layer.whose == SettingsSource::Managed).find_map(|layer| {
        let (document, node) = layer.setting("strictPluginOnlyCustomization")?;
        let locks = match &node.kind {
            JsonKind::Bool(locks) => *locks,
            JsonKind::List(surfaces) => {
                surfaces.iter().any(|surface| surface.text() == Some("mcp"))
            }
            _ => false,
        };
        let what = "`strictPluginOnlyCustomization`: Claude Code starts only the servers of \
                    plugins";
        if locks { finding(what, document.location(node.at)) } else { None }
    })
}

/// Returns a finding if the lists of allowed and denied servers exclude the server. The lists of all settings are
/// combined.
fn check_server_lists(
    server: &ServerRegistration,
    layers: &[SettingsLayer],
) -> Option<DoctorFinding> {
    let lists = |key: &'static str| {
        layers.iter().filter_map(move |layer| {
            let (document, node) = layer.setting(key)?;
            let JsonKind::List(entries) = &node.kind else { return None };
            Some((layer, document, node, entries))
        })
    };
    let finding = |layer: &SettingsLayer, what: &str, place: FileLocation, advice: &str| {
        let advice = match layer.whose {
            SettingsSource::Managed => codes::HOOKS_MANAGED_ONLY.advice,
            _ => advice,
        };
        DoctorFinding::new(&codes::SERVER_NOT_ADMITTED, what)
            .with_location(place)
            .with_advice(advice)
    };
    let is_named = |entry: &JsonNode| {
        let name = server.name();
        entry.get("serverName").and_then(JsonNode::text) == Some(name.as_str())
    };
    let is_started = |entry: &JsonNode| {
        let Some(JsonKind::List(words)) = entry.get("serverCommand").map(|words| &words.kind)
        else {
            return false;
        };
        let args = server.entry["args"].as_array().into_iter().flatten();
        let command = std::iter::once(&server.entry["command"]).chain(args);
        command.map(serde_json::Value::as_str).eq(words.iter().map(JsonNode::text))
    };
    for (layer, document, _, entries) in lists("deniedMcpServers") {
        if let Some(entry) = entries.iter().find(|entry| is_named(entry) || is_started(entry)) {
            let what = "`deniedMcpServers` lists rutter's server, so Claude Code does not start \
                        it";
            return Some(finding(layer, what, document.location(entry.at), "remove it there"));
        }
    }
    // A plugin's server has another name, and the effect of these lists on it was not measured.
    let (layer, document, node, _) =
        lists("allowedMcpServers").next().filter(|_| server.plugin.is_none())?;
    let entries: Vec<&JsonNode> =
        lists("allowedMcpServers").flat_map(|(.., entries)| entries.iter()).collect();
    // Measured: if any entry lists a command, names have no effect.
    let by_command = entries.iter().any(|entry| entry.get("serverCommand").is_some());
    let admitted = if by_command {
        entries.iter().any(|entry| is_started(entry))
    } else {
        entries.iter().any(|entry| is_named(entry))
    };
    (!admitted).then(|| {
        let what = "`allowedMcpServers` does not list rutter's server, so Claude Code does not \
                    start it";
        let advice = "add { \"serverName\": \"rutter\" } there";
        finding(layer, what, document.location(node.at), advice)
    })
}
