//! Enabled plugins, and their files with hooks and servers.

use std::path::{Path, PathBuf};

use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;
use serde_json::Value;

use super::client_files::{ClientFiles, project_servers_file};
use super::document::{self, ClientDocument, LoadedDocument};
use super::layers::SettingsLayer;
use super::plugin_folder::{manifest_file, read_hook_files};

/// An enabled plugin.
#[derive(Debug)]
pub struct EnabledPlugin {
    /// `name@marketplace`.
    pub name: String,
    /// The settings file that enables it.
    pub by: PathBuf,
    /// Installation folder. None if the client has not recorded it.
    pub folder: Option<PathBuf>,
}

/// Returns the enabled plugins, after precedence.
pub fn enabled_plugins(layers: &[SettingsLayer], files: &ClientFiles) -> Vec<EnabledPlugin> {
    let installed = files.config.as_ref().and_then(|config| {
        let text = document::read_text(&config.join("plugins/installed_plugins.json"))?;
        serde_json::from_str::<Value>(&text).ok()
    });
    let mut seen: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for layer in layers {
        let Some((_, plugins)) = layer.setting("enabledPlugins") else { continue };
        for (name, node) in plugins.members() {
            if seen.contains(&name.as_str()) {
                continue;
            }
            seen.push(name);
            if matches!(node.kind, JsonKind::Bool(false) | JsonKind::Null) {
                continue;
            }
            found.push(EnabledPlugin {
                name: name.clone(),
                by: layer.path.clone(),
                folder: installed.as_ref().and_then(|all| installation_folder(all, name)),
            });
        }
    }
    found
}

/// Returns the installation folder of a plugin: the last one recorded, in either format of the client's file.
fn installation_folder(installed: &Value, name: &str) -> Option<PathBuf> {
    let of = |entry: &Value| entry["installPath"].as_str().map(PathBuf::from);
    let entry = &installed["plugins"][name];
    match entry.as_array() {
        Some(places) => places.iter().rev().find_map(of),
        None => of(entry),
    }
}

/// Reads the hook files of plugins, each as a separate layer. Leaves out manifests without hooks of their own.
pub fn load_plugin_layers(plugins: &[EnabledPlugin], contract: Contract) -> Vec<SettingsLayer> {
    let mut layers = Vec::new();
    for plugin in plugins {
        let Some(folder) = &plugin.folder else { continue };
        let manifest = manifest_file(folder);
        let manifest = manifest.canonicalize().unwrap_or(manifest);
        let has_hooks = |layer: &SettingsLayer| {
            let root = layer.document.as_deref().map(|document| &document.root);
            let hooks = root.and_then(|root| root.get("hooks"));
            layer.path != manifest
                || hooks.is_some_and(|hooks| matches!(hooks.kind, JsonKind::Object(_)))
        };
        for mut layer in read_hook_files(folder, contract).layers.into_iter().filter(has_hooks) {
            layer.plugin = Some(plugin.name.clone());
            layers.push(layer);
        }
    }
    layers
}

/// Reads the files of a plugin that define servers. Skips files with faults.
pub(super) fn load_server_files(folder: &Path) -> Vec<ClientDocument> {
    let read = |path: &Path| match LoadedDocument::load(path) {
        LoadedDocument::Document(document) => Some(*document),
        _ => None,
    };
    let manifest = read(&manifest_file(folder));
    let named = manifest.as_ref().and_then(|manifest| manifest.root.get("mcpServers"));
    let other = named.and_then(JsonNode::text).map(|path| folder.join(path));
    let mut files: Vec<ClientDocument> = vec![project_servers_file(folder)]
        .into_iter()
        .chain(other)
        .filter_map(|path| path.canonicalize().ok())
        .filter_map(|path| read(&path))
        .collect();
    files.dedup_by(|one, other| one.path == other.path);
    let inline = named.is_some_and(|named| matches!(named.kind, JsonKind::Object(_)));
    files.extend(manifest.filter(|_| inline));
    files
}
