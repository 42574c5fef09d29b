//! The settings files that a client reads in a folder, the strongest first.

use std::path::{Path, PathBuf};

use rutter_contract::javascript::JsonNode;
use rutter_contract::version::Contract;
use serde::Serialize;

use super::document::{ClientDocument, DocumentFault, DuplicateKey, LoadedDocument};
use super::entry::HookEntry;
use super::file::is_same_path;
use super::files::ClientFiles;
use super::hooks::{HookFault, LoadedHooks, load_hooks};
use super::keys::{WrongType, find_wrong_types};
use super::location::FileLocation;

/// The kind of file that a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingsSource {
    /// Settings of the organisation.
    Managed,
    /// Settings of the user for this folder.
    Local,
    /// Settings of the user in the main checkout of the repository that contains the folder.
    Checkout,
    /// Settings of the project.
    Project,
    /// Settings of the user for all folders.
    User,
    /// A file of a plugin.
    Plugin,
}

impl SettingsSource {
    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Local => "local",
            Self::Checkout => "checkout",
            Self::Project => "project",
            Self::User => "user",
            Self::Plugin => "plugin",
        }
    }

    /// Returns true if the file may come from a checkout. A clone of a repository can contain any of these files.
    pub const fn is_in_checkout(self) -> bool {
        matches!(self, Self::Local | Self::Checkout | Self::Project)
    }
}

/// The way in which the client treats a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerState {
    /// The file does not exist.
    Absent,
    /// The file is blank.
    Blank,
    /// The client ignores the whole file.
    Void,
    /// The client uses the file.
    Read,
}

/// A settings file, or a file with hooks of a plugin.
#[derive(Debug)]
pub struct SettingsLayer {
    /// The kind of file.
    pub whose: SettingsSource,
    /// Path of the file.
    pub path: PathBuf,
    /// The way in which the client treats it.
    pub state: LayerState,
    /// The entries under `hooks` that the client can load. A void file has them too, although they do not run.
    pub entries: Vec<HookEntry>,
    /// The faults, in the order in which the file is checked.
    pub faults: Vec<SettingsFault>,
    /// The parsed file. None if it is absent, blank or not an object.
    pub document: Option<Box<ClientDocument>>,
    /// Name of the plugin that contains the file, as `name@marketplace`. None for settings.
    pub plugin: Option<String>,
}

/// A fault of a settings file.
#[derive(Debug)]
pub enum SettingsFault {
    /// The client ignores the file, because it is not a JSON object.
    Document(Box<DocumentFault>),
    /// The file is not UTF-8. The client replaces the wrong bytes.
    NotUtf8(FileLocation),
    /// A key occurs twice.
    DuplicateKey(DuplicateKey),
    /// The client ignores the file, because a value has the wrong type.
    WrongType(WrongType),
    /// A fault of the hooks.
    Hooks(HookFault),
}

impl SettingsLayer {
    /// Reads a settings file. For a file of a plugin, `plugin` is the plugin's folder.
    pub fn load(
        whose: SettingsSource,
        path: &Path,
        plugin: Option<&Path>,
        contract: Contract,
    ) -> Self {
        let mut layer = Self {
            whose,
            path: path.to_owned(),
            state: LayerState::Absent,
            entries: Vec::new(),
            faults: Vec::new(),
            document: None,
            plugin: None,
        };
        match LoadedDocument::load(path) {
            LoadedDocument::Absent => {}
            LoadedDocument::Blank => layer.state = LayerState::Blank,
            LoadedDocument::Void(fault) => {
                layer.state = LayerState::Void;
                layer.faults.push(SettingsFault::Document(fault));
            }
            LoadedDocument::Document(document) => layer.load_document(document, plugin, contract),
        }
        layer
    }

    fn load_document(
        &mut self,
        document: Box<ClientDocument>,
        plugin: Option<&Path>,
        contract: Contract,
    ) {
        if document.replaced {
            self.faults.push(SettingsFault::NotUtf8(FileLocation::whole_file(&document.path)));
        }
        self.faults.extend(document.duplicate_keys().into_iter().map(SettingsFault::DuplicateKey));
        // The keys of a plugin's file are different.
        let wrong =
            if plugin.is_none() { find_wrong_types(&document, contract) } else { Vec::new() };
        let LoadedHooks { groups, faults } = load_hooks(&document, contract);
        let void = !wrong.is_empty() || faults.iter().any(|fault| fault.skips_file);
        self.state = if void { LayerState::Void } else { LayerState::Read };
        for group in &groups {
            for node in &group.entries {
                self.entries.push(HookEntry {
                    event: group.event,
                    matcher: group.matcher.map(str::to_owned),
                    matcher_place: document.location(group.at),
                    place: document.location(node.at),
                    handler: document.to_json(node),
                    plugin: plugin.map(Path::to_owned),
                    whose: self.whose,
                });
            }
        }
        self.faults.extend(wrong.into_iter().map(SettingsFault::WrongType));
        self.faults.extend(faults.into_iter().map(SettingsFault::Hooks));
        self.document = Some(document);
    }

    /// Returns the value of a settings key if the client uses the file. Returns None for plugins, which have other
    /// keys.
    pub fn setting(&self, key: &str) -> Option<(&ClientDocument, &JsonNode)> {
        if self.whose == SettingsSource::Plugin || self.state != LayerState::Read {
            return None;
        }
        let document = self.document.as_deref()?;
        Some((document, document.root.get(key)?))
    }
}

/// Reads all settings files except those of plugins, the strongest first.
pub fn load_layers(files: &ClientFiles, contract: Contract) -> Vec<SettingsLayer> {
    let mut paths: Vec<(SettingsSource, PathBuf)> = Vec::new();
    paths.extend(files.managed.iter().map(|path| (SettingsSource::Managed, path.clone())));
    paths.push((SettingsSource::Local, files.local_settings()));
    paths.extend(files.checkout_settings(contract).map(|path| (SettingsSource::Checkout, path)));
    paths.push((SettingsSource::Project, files.project_settings()));
    paths.extend(files.user_settings().map(|path| (SettingsSource::User, path)));
    // In the home folder, the project's file and the user's file are the same, even if the paths differ by symbolic
    // links.
    if files.user_settings().is_some_and(|user| is_same_path(&user, &files.project_settings())) {
        paths.retain(|(whose, _)| *whose != SettingsSource::Project);
    }
    let load = |(whose, path): (_, PathBuf)| SettingsLayer::load(whose, &path, None, contract);
    paths.into_iter().map(load).collect()
}
