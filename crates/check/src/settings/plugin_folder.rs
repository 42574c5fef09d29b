//! The files of one plugin that can hold hooks, and the faults for which the client does not load them.
//!
//! Measured on clients 2.1.325 and 2.1.197 with `--plugin-dir`.

use std::path::{Component, Path, PathBuf};

use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;

use super::document::{ClientDocument, LoadedDocument};
use super::hook_container::HookContainer;
use super::layers::{LayerState, SettingsLayer, SettingsSource};
use super::location::FileLocation;
use super::markdown_files::load_markdown_layers;

/// The file with hooks that the client reads without being told.
const HOOKS_FILE: &str = "hooks/hooks.json";
/// The manifest.
const MANIFEST_FILE: &str = ".claude-plugin/plugin.json";

/// A plugin in a folder.
#[derive(Debug)]
pub struct PluginFolder {
    /// The folder.
    pub folder: PathBuf,
    /// The files with hooks: `hooks/hooks.json`, files that the manifest names, the manifest itself if it has hooks or
    /// faults, and skills, agents and commands.
    pub layers: Vec<SettingsLayer>,
    /// The faults that are not those of one layer.
    pub faults: Vec<PluginFault>,
    /// True if the client does not load the plugin, so that no hook of it runs.
    pub is_void: bool,
}

/// A fault of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFault {
    /// The fault.
    pub kind: PluginFaultKind,
    /// Its position.
    pub location: FileLocation,
    /// The part of the plugin that the client does not load.
    pub lost: LostPart,
}

/// A kind of fault of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginFaultKind {
    /// A hooks file has no `hooks` around its events.
    MissingWrapper,
    /// `hooks` stands inside `hooks`.
    DoubledWrapper,
    /// A hooks file is empty.
    EmptyFile,
    /// A file begins with a byte order mark.
    ByteOrderMark,
    /// The path of a hooks file in the manifest does not start with `./`.
    PathWithoutPrefix {
        /// The path.
        path: String,
    },
    /// The path of a hooks file leads out of the plugin.
    PathOutside {
        /// The path.
        path: String,
    },
    /// The manifest names a hooks file that does not exist.
    MissingFile {
        /// The path.
        path: String,
    },
}

/// The part of a plugin that a fault costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostPart {
    /// The hooks of one file.
    File,
    /// The whole plugin.
    Plugin,
}

/// Reads the files of a plugin that can hold hooks. Layers of which nothing runs are void.
pub fn load_plugin_folder(folder: &Path, contract: Contract) -> PluginFolder {
    let mut plugin = read_hook_files(folder, contract);
    let is_newer = contract.has(Contract::NEWEST);
    plugin.is_void = plugin.faults.iter().any(|fault| fault.lost == LostPart::Plugin)
        || plugin.layers.iter().any(|layer| {
            let is_manifest = layer.path.ends_with(MANIFEST_FILE);
            // A hooks file that cannot be parsed costs its own hooks only.
            layer.state == LayerState::Void
                && (is_manifest || (is_newer && layer.document.is_some()))
        });
    let lost: Vec<&Path> =
        plugin.faults.iter().map(|fault| fault.location.file.as_path()).collect();
    for layer in &mut plugin.layers {
        // Faults in the manifest are about the files that it names.
        let is_lost = lost.contains(&layer.path.as_path()) && !layer.path.ends_with(MANIFEST_FILE);
        if (is_lost || plugin.is_void) && layer.state == LayerState::Read {
            layer.state = LayerState::Void;
        }
    }
    let mut markdown = load_markdown_layers(folder, Some(folder), contract);
    for layer in &mut markdown {
        if plugin.is_void {
            layer.state = LayerState::Void;
        }
    }
    plugin.layers.extend(markdown);
    plugin
}

/// Returns the manifest of a plugin.
pub(super) fn manifest_file(folder: &Path) -> PathBuf {
    folder.join(MANIFEST_FILE)
}

/// Reads the hooks files and the manifest of a plugin. Paths of the layers are canonical.
pub(super) fn read_hook_files(folder: &Path, contract: Contract) -> PluginFolder {
    let mut plugin = PluginFolder {
        folder: folder.to_owned(),
        layers: Vec::new(),
        faults: Vec::new(),
        is_void: false,
    };
    plugin.add_hooks_file(&folder.join(HOOKS_FILE), contract);
    let path = manifest_file(folder);
    let path = path.canonicalize().unwrap_or(path);
    let document = LoadedDocument::load(&path);
    let has_hooks = match &document {
        LoadedDocument::Absent => false,
        LoadedDocument::Blank | LoadedDocument::Void(_) => true,
        LoadedDocument::Document(manifest) => {
            plugin.check_manifest(manifest, contract);
            manifest.root.get("hooks").is_some()
        }
    };
    if has_hooks {
        let (source, container) = (SettingsSource::Plugin, HookContainer::PluginManifest);
        let layer = SettingsLayer::from_document(
            source,
            &path,
            Some(folder),
            document,
            container,
            contract,
        );
        plugin.layers.push(layer);
    }
    plugin
}

impl PluginFolder {
    /// Reads a hooks file, if it exists and has not been read yet.
    fn add_hooks_file(&mut self, path: &Path, contract: Contract) {
        let Ok(path) = path.canonicalize() else { return };
        if self.layers.iter().any(|layer| layer.path == path) {
            return;
        }
        let layer =
            SettingsLayer::load(SettingsSource::Plugin, &path, Some(&self.folder), contract);
        self.faults.extend(check_wrapper(&layer));
        self.layers.push(layer);
    }

    /// Reads the hooks files that a manifest names, and checks the hooks in it.
    fn check_manifest(&mut self, manifest: &ClientDocument, contract: Contract) {
        if manifest.has_byte_order_mark && !contract.has(Contract::NEWEST) {
            let location = manifest.location(0);
            let (kind, lost) = (PluginFaultKind::ByteOrderMark, LostPart::Plugin);
            self.faults.push(PluginFault { kind, location, lost });
        }
        let Some(hooks) = manifest.root.get("hooks") else { return };
        let items = match &hooks.kind {
            JsonKind::List(items) => items.as_slice(),
            _ => std::slice::from_ref(hooks),
        };
        for item in items {
            match &item.kind {
                JsonKind::Text(path) => self.add_named_file(manifest, item, path, contract),
                _ => self.faults.extend(find_doubled_wrapper(manifest, item)),
            }
        }
    }

    fn add_named_file(
        &mut self,
        manifest: &ClientDocument,
        node: &JsonNode,
        path: &str,
        contract: Contract,
    ) {
        let (name, target) = (path.to_owned(), self.folder.join(path));
        let fault = if !path.starts_with("./") {
            Some((PluginFaultKind::PathWithoutPrefix { path: name }, LostPart::Plugin))
        } else if leads_outside(path) {
            Some((PluginFaultKind::PathOutside { path: name }, LostPart::File))
        } else if !target.exists() {
            Some((PluginFaultKind::MissingFile { path: name }, LostPart::File))
        } else {
            None
        };
        let is_outside = matches!(fault, Some((PluginFaultKind::PathOutside { .. }, _)));
        if let Some((kind, lost)) = fault {
            let location = manifest.location(node.at);
            self.faults.push(PluginFault { kind, location, lost });
        }
        if !is_outside {
            self.add_hooks_file(&target, contract);
        }
    }
}

/// Finds the faults of a hooks file that concern the object around its events.
fn check_wrapper(layer: &SettingsLayer) -> Option<PluginFault> {
    let whole_file = FileLocation::whole_file(&layer.path);
    let fault = |kind, location| Some(PluginFault { kind, location, lost: LostPart::File });
    if layer.state == LayerState::Blank {
        return fault(PluginFaultKind::EmptyFile, whole_file);
    }
    let document = layer.document.as_deref()?;
    if document.has_byte_order_mark {
        return fault(PluginFaultKind::ByteOrderMark, document.location(0));
    }
    let has_modules = document
        .root
        .get("modules")
        .is_some_and(|modules| matches!(&modules.kind, JsonKind::List(items) if !items.is_empty()));
    match document.root.get("hooks").map(|hooks| &hooks.kind) {
        None if has_modules => None,
        None | Some(JsonKind::Null) => {
            fault(PluginFaultKind::MissingWrapper, document.location(document.root.at))
        }
        Some(_) => {
            document.root.get("hooks").and_then(|hooks| find_doubled_wrapper(document, hooks))
        }
    }
}

/// Returns the fault of an object of events with events in another `hooks`.
fn find_doubled_wrapper(document: &ClientDocument, hooks: &JsonNode) -> Option<PluginFault> {
    let inner = hooks.get("hooks").filter(|inner| matches!(inner.kind, JsonKind::Object(_)))?;
    let (kind, location) = (PluginFaultKind::DoubledWrapper, document.location(inner.at));
    Some(PluginFault { kind, location, lost: LostPart::File })
}

/// Returns true if a relative path leads out of the folder that contains it.
fn leads_outside(path: &str) -> bool {
    let mut depth = 0_usize;
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(_) => depth += 1,
            Component::ParentDir => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return true,
            },
            Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::*;

    const STOP: &str = r#"{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}"#;
    const BAD_GUARD: &str = r#"{"PreToolUse":[{"hooks":[{}]}],"Stop":[]}"#;

    fn load(files: &[(&str, &str)], contract: Contract) -> PluginFolder {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
        }
        load_plugin_folder(folder.path(), contract)
    }

    /// Returns the states of the layers, the kinds of faults, and true if the plugin is void.
    fn summary(plugin: &PluginFolder) -> (Vec<LayerState>, Vec<&PluginFaultKind>, bool) {
        let states = plugin.layers.iter().map(|layer| layer.state).collect();
        (states, plugin.faults.iter().map(|fault| &fault.kind).collect(), plugin.is_void)
    }

    #[test]
    fn wrapper_faults_lose_file() {
        use PluginFaultKind as K;
        for contract in Contract::MEASURED.map(Contract::for_client) {
            for (text, fault) in [
                (STOP.to_owned(), K::MissingWrapper),
                ("{}".to_owned(), K::MissingWrapper),
                ("{\"hooks\": null}".to_owned(), K::MissingWrapper),
                (String::new(), K::EmptyFile),
                (format!("{{\"hooks\":{{\"hooks\":{STOP}}}}}"), K::DoubledWrapper),
                (format!("\u{feff}{{\"hooks\":{STOP}}}"), K::ByteOrderMark),
            ] {
                let plugin = load(&[(HOOKS_FILE, &text)], contract);
                assert_eq!(plugin.faults.len(), 1, "{text}");
                assert_eq!(plugin.faults[0].kind, fault, "{text}");
                assert!(!plugin.is_void && plugin.layers[0].state != LayerState::Read, "{text}");
            }
            let plugin = load(&[(HOOKS_FILE, "{\"modules\": [\"./m.js\"]}")], contract);
            assert_eq!(summary(&plugin), (vec![LayerState::Read], vec![], false));
        }
    }

    #[test]
    fn wrong_guard_voids_plugin_of_newer_client() {
        let [older, newer] = Contract::MEASURED.map(Contract::for_client);
        let hooks = format!("{{\"hooks\":{BAD_GUARD}}}");
        let skill = "---\nhooks:\n  Stop:\n    - hooks: []\n---\n";
        let files = [(HOOKS_FILE, hooks.as_str()), ("skills/a/SKILL.md", skill)];
        let (void, read) = (LayerState::Void, LayerState::Read);
        assert_eq!(summary(&load(&files, newer)), (vec![void, void], vec![], true));
        assert_eq!(summary(&load(&files, older)), (vec![void, read], vec![], false));
        // Guards outside the wrapper are a fault of the layer and of the wrapper.
        let plugin = load(&[(HOOKS_FILE, BAD_GUARD)], newer);
        assert_eq!(summary(&plugin), (vec![void], vec![&PluginFaultKind::MissingWrapper], true));
    }

    #[test]
    fn manifest_faults_void_plugin() {
        let hooks = format!("{{\"hooks\":{STOP}}}");
        for manifest in
            ["{", "[]", r#"{"hooks": 5}"#, r#"{"hooks": null}"#, r#"{"hooks": "a.json"}"#]
        {
            let files = [(MANIFEST_FILE, manifest), (HOOKS_FILE, hooks.as_str())];
            let plugin = load(&files, Contract::newest());
            assert!(plugin.is_void, "{manifest}");
            assert!(
                plugin.layers.iter().all(|layer| layer.state == LayerState::Void),
                "{manifest}"
            );
            assert_eq!(plugin.layers.len(), 2);
        }
    }

    #[test]
    fn manifest_names_files() {
        let hooks = format!("{{\"hooks\":{STOP}}}");
        let manifest = format!(
            "{{\"hooks\": [\"./hooks/hooks.json\", \"./b.json\", \"./gone.json\", \"./x/../../c.json\",\n {STOP}]}}"
        );
        let files = [(MANIFEST_FILE, manifest.as_str()), (HOOKS_FILE, &hooks), ("b.json", &hooks)];
        let plugin = load(&files, Contract::newest());
        let read = LayerState::Read;
        let missing = PluginFaultKind::MissingFile { path: "./gone.json".to_owned() };
        let outside = PluginFaultKind::PathOutside { path: "./x/../../c.json".to_owned() };
        assert_eq!(summary(&plugin), (vec![read; 3], vec![&missing, &outside], false));
        assert_eq!(plugin.faults[0].location.position, Some((1, 46)));
        assert!(plugin.layers.iter().all(|layer| layer.entries.len() == 1));
        let files = [(MANIFEST_FILE, r#"{"hooks": "b.json"}"#), ("b.json", &hooks)];
        let plugin = load(&files, Contract::newest());
        let path = "b.json".to_owned();
        assert_eq!(plugin.faults[0].kind, PluginFaultKind::PathWithoutPrefix { path });
        assert!(plugin.is_void && plugin.layers[0].entries.len() == 1);
    }
}
