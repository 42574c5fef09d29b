//! Plugins: which are switched on, and which of them run rutter.

use std::path::{Path, PathBuf};

use rutter_contract::javascript::{Kind, Node};
use rutter_contract::version::Contract;
use serde_json::Value;

use super::document::{self, Document, Reading};
use super::finding::Finding;
use super::layers::{Layer, Whose};
use super::places::Places;

/// A plugin that settings speak of, `name@marketplace`.
pub(crate) struct Plugin {
    pub(crate) name: String,
    /// The settings file that switches it on.
    pub(crate) by: PathBuf,
    /// Where it is, as far as the client says.
    folder: Option<PathBuf>,
}

/// The plugins that are switched on, after precedence.
pub(crate) fn enabled(layers: &[Layer], places: &Places) -> Vec<Plugin> {
    let installed = places.config.as_ref().and_then(|config| {
        let text = document::text(&config.join("plugins/installed_plugins.json"))?;
        serde_json::from_str::<Value>(&text).ok()
    });
    let mut seen: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for layer in layers {
        let Some((_, plugins)) = layer.get("enabledPlugins") else { continue };
        for (name, node) in plugins.members() {
            if seen.contains(&name.as_str()) {
                continue;
            }
            seen.push(name);
            if matches!(node.kind, Kind::Bool(false) | Kind::Null) {
                continue;
            }
            found.push(Plugin {
                name: name.clone(),
                by: layer.path.clone(),
                folder: installed.as_ref().and_then(|all| folder(all, name)),
            });
        }
    }
    found
}

/// Where the client has put a plugin: the last place that it notes, in either form of its notes.
fn folder(installed: &Value, name: &str) -> Option<PathBuf> {
    let of = |entry: &Value| entry["installPath"].as_str().map(PathBuf::from);
    let entry = &installed["plugins"][name];
    match entry.as_array() {
        Some(places) => places.iter().rev().find_map(of),
        None => of(entry),
    }
}

/// The plugins of which the client says where they are.
pub(crate) fn with_folders(plugins: &[Plugin]) -> impl Iterator<Item = (&str, &Path)> {
    plugins.iter().filter_map(|plugin| Some((plugin.name.as_str(), plugin.folder.as_deref()?)))
}

/// The files of a plugin that have servers. What is wrong with them, their author should hear.
pub(crate) fn server_files(folder: &Path) -> Vec<Document> {
    let read = |path: &Path| match Reading::of(path) {
        Reading::Document(document) => Some(*document),
        _ => None,
    };
    let manifest = read(&folder.join(".claude-plugin/plugin.json"));
    let named = manifest.as_ref().and_then(|manifest| manifest.root.get("mcpServers"));
    let other = named.and_then(Node::text).map(|path| folder.join(path));
    let mut files: Vec<Document> = vec![folder.join(".mcp.json")]
        .into_iter()
        .chain(other)
        .filter_map(|path| path.canonicalize().ok())
        .filter_map(|path| read(&path))
        .collect();
    files.dedup_by(|one, other| one.path == other.path);
    let inline = named.is_some_and(|named| matches!(named.kind, Kind::Object(_)));
    files.extend(manifest.filter(|_| inline));
    files
}

/// The hooks of plugins that run rutter, each a layer of its own.
pub(crate) fn read(
    plugins: &[Plugin],
    contract: Contract,
    findings: &mut Vec<Finding>,
) -> Vec<Layer> {
    let mut layers = Vec::new();
    for plugin in plugins {
        let Some(folder) = &plugin.folder else { continue };
        for path in files(folder) {
            let mut found = Vec::new();
            let mut layer = Layer::read(Whose::Plugin, &path, Some(folder), contract, &mut found);
            layer.plugin = Some(plugin.name.clone());
            // What is wrong with somebody else's plugin, its author should hear.
            if !layer.entries.is_empty() || !layer.lost.is_empty() {
                findings.extend(found);
                layers.push(layer);
            }
        }
    }
    layers
}

/// The files of a plugin that may have hooks.
fn files(folder: &Path) -> Vec<PathBuf> {
    let manifest = folder.join(".claude-plugin/plugin.json");
    let mut found = vec![folder.join("hooks/hooks.json")];
    let value = document::text(&manifest)
        .and_then(|text| serde_json::from_str::<Value>(&text).ok())
        .unwrap_or_default();
    match &value["hooks"] {
        Value::String(path) => found.push(folder.join(path)),
        Value::Array(paths) => {
            found.extend(paths.iter().filter_map(Value::as_str).map(|path| folder.join(path)));
        }
        Value::Object(_) => found.push(manifest),
        _ => {}
    }
    // `./hooks/hooks.json` is the one that is read anyway.
    let mut found: Vec<PathBuf> =
        found.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    found.dedup();
    found
}
