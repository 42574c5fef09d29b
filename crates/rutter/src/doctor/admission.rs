//! Settings, organisation policies and user answers that decide if the client may start a server.

use rutter_contract::javascript::{Kind, Node};

use super::codes::{self, Code};
use super::document::{Document, Reading};
use super::finding::{Finding, Place};
use super::layers::{Layer, Whose};
use super::servers::{Around, Server};
use crate::install::{Scope, server};

/// Returns the client's state for the folder under which it records the current one.
fn noted<'a>(around: &Around<'a>) -> Option<(&'a Document, &'a Node)> {
    let document = around.state.document.as_deref()?;
    let (_, keys) = Scope::Local.servers(&around.places.folder, Some(&document.path))?;
    let node = document.root.get(keys.first()?)?.get(keys.get(1)?)?;
    Some((document, node))
}

/// Returns true if a list of names, or a single name, contains this name.
fn names(node: &Node, name: &str) -> bool {
    match &node.kind {
        Kind::List(names) => names.iter().any(|one| one.text() == Some(name)),
        Kind::Text(one) => one == name,
        _ => false,
    }
}

/// Returns a finding with the reason for which the client does not start a server, if any.
pub(super) fn off(server: &Server, around: &Around<'_>) -> Option<Finding> {
    if server.plugin.is_none()
        && let Some(finding) = managed(around)
    {
        return Some(finding);
    }
    if let Some(finding) = excluded(server, around.layers) {
        return Some(finding);
    }
    let switched = |code: &'static Code, what: &str, place: Place| {
        Some(Finding::new(code, what.to_owned()).at(place))
    };
    let noted = noted(around);
    if let Some((document, node)) = noted
        && let Some(list) = node.get("disabledMcpServers")
        && names(list, &server.name())
    {
        let what = "the server is switched off for this folder, so the agent has none of its tools";
        return switched(&codes::SERVER_OFF, what, document.place(list.at));
    }
    if server.whose == Whose::Project {
        const KEY: &str = "disabledMcpjsonServers";
        let of_layers = around.layers.iter().filter_map(|layer| layer.get(KEY));
        let of_notes = noted.and_then(|(document, node)| Some((document, node.get(KEY)?)));
        let mut lists = of_layers.chain(of_notes);
        if let Some((document, list)) = lists.find(|(_, list)| names(list, server::NAME)) {
            let what =
                "somebody has said no to the server of this project: `disabledMcpjsonServers`";
            let finding = switched(&codes::SERVER_OFF, what, document.place(list.at))?;
            return Some(finding.advise("take `rutter` out of disabledMcpjsonServers there"));
        }
    }
    None
}

/// Returns true if the project's server waits for the user's approval. In an untrusted folder, only approval in the
/// user's or managed settings counts.
pub(super) fn is_pending(around: &Around<'_>) -> bool {
    let trusted = around.state.trusts(&around.places.folder);
    let says = |key: &dyn Fn(&str) -> Option<Node>| {
        let all = key("enableAllProjectMcpServers").is_some_and(|all| all.kind == Kind::Bool(true));
        all || key("enabledMcpjsonServers").is_some_and(|list| names(&list, server::NAME))
    };
    let of_layers = around.layers.iter().any(|layer| {
        let counts = trusted || matches!(layer.whose, Whose::User | Whose::Managed);
        counts && says(&|key| layer.get(key).map(|(_, node)| node.clone()))
    });
    let of_notes =
        noted(around).is_some_and(|(_, noted)| trusted && says(&|key| noted.get(key).cloned()));
    !of_layers && !of_notes
}

/// Returns a finding if the organisation's policy excludes our server.
fn managed(around: &Around<'_>) -> Option<Finding> {
    let finding = |what: &str, place: Place| {
        let finding = Finding::new(&codes::SERVER_NOT_ADMITTED, what).at(place);
        Some(finding.advise(codes::HOOKS_MANAGED_ONLY.advice))
    };
    let path = &around.places.managed_servers;
    if let Reading::Document(document) = Reading::of(path) {
        let ours = document.root.get("mcpServers").and_then(|list| list.get(server::NAME));
        if ours.is_none() {
            let what = "the organisation has its own list of servers, and no others are started";
            return finding(what, Place::file(path));
        }
    }
    around.layers.iter().filter(|layer| layer.whose == Whose::Managed).find_map(|layer| {
        let (document, node) = layer.get("strictPluginOnlyCustomization")?;
        let locks = match &node.kind {
            Kind::Bool(locks) => *locks,
            Kind::List(surfaces) => surfaces.iter().any(|surface| surface.text() == Some("mcp")),
            _ => false,
        };
        let what = "`strictPluginOnlyCustomization`: only servers of plugins are started";
        if locks { finding(what, document.place(node.at)) } else { None }
    })
}

/// Returns a finding if the lists of allowed and denied servers exclude the server. The lists of all settings are
/// combined.
fn excluded(server: &Server, layers: &[Layer]) -> Option<Finding> {
    let lists = |key: &'static str| {
        layers.iter().filter_map(move |layer| {
            let (document, node) = layer.get(key)?;
            let Kind::List(entries) = &node.kind else { return None };
            Some((layer, document, node, entries))
        })
    };
    let finding = |layer: &Layer, what: &str, place: Place, advice: &str| {
        let advice = match layer.whose {
            Whose::Managed => codes::HOOKS_MANAGED_ONLY.advice,
            _ => advice,
        };
        Finding::new(&codes::SERVER_NOT_ADMITTED, what).at(place).advise(advice)
    };
    let is_named = |entry: &Node| {
        let name = server.name();
        entry.get("serverName").and_then(Node::text) == Some(name.as_str())
    };
    let is_started = |entry: &Node| {
        let Some(Kind::List(words)) = entry.get("serverCommand").map(|words| &words.kind) else {
            return false;
        };
        let args = server.entry["args"].as_array().into_iter().flatten();
        let command = std::iter::once(&server.entry["command"]).chain(args);
        command.map(serde_json::Value::as_str).eq(words.iter().map(Node::text))
    };
    for (layer, document, _, entries) in lists("deniedMcpServers") {
        if let Some(entry) = entries.iter().find(|entry| is_named(entry) || is_started(entry)) {
            let what = "`deniedMcpServers` has rutter's server, so the client leaves it out";
            return Some(finding(layer, what, document.place(entry.at), "take it out there"));
        }
    }
    // A plugin's server has another name, and the effect of these lists on it was not measured.
    let (layer, document, node, _) =
        lists("allowedMcpServers").next().filter(|_| server.plugin.is_none())?;
    let entries: Vec<&Node> =
        lists("allowedMcpServers").flat_map(|(.., entries)| entries.iter()).collect();
    // Measured: if any entry lists a command, names have no effect.
    let by_command = entries.iter().any(|entry| entry.get("serverCommand").is_some());
    let admitted = if by_command {
        entries.iter().any(|entry| is_started(entry))
    } else {
        entries.iter().any(|entry| is_named(entry))
    };
    (!admitted).then(|| {
        let what = "`allowedMcpServers` does not have rutter's server, so the client leaves it out";
        let advice = "add { \"serverName\": \"rutter\" } there";
        finding(layer, what, document.place(node.at), advice)
    })
}
