//! The settings files that a client reads in a folder, the strongest first.

use std::path::{Path, PathBuf};

use rutter_contract::javascript::JsonNode;
use rutter_contract::version::Contract;
use serde::Serialize;

use super::client_files::ClientFiles;
use super::document::{ClientDocument, DocumentFault, DuplicateKey, LoadedDocument};
use super::entry::{HookEntry, collect_entries};
use super::hook_container::HookContainer;
use super::hooks::{HookFault, load_hooks_of};
use super::keys::{WrongType, find_wrong_types};
use super::location::FileLocation;
use super::regular_file::is_same_path;

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
    /// A hooks file or the manifest of a plugin.
    Plugin,
    /// A skill.
    Skill,
    /// An agent.
    Agent,
    /// A command.
    Command,
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
            Self::Skill => "skill",
            Self::Agent => "agent",
            Self::Command => "command",
        }
    }

    /// Returns true for settings files, which have settings beside their hooks.
    pub const fn has_settings(self) -> bool {
        !matches!(self, Self::Plugin | Self::Skill | Self::Agent | Self::Command)
    }

    /// Returns true for markdown files, which have their hooks in the frontmatter.
    pub const fn is_markdown(self) -> bool {
        matches!(self, Self::Skill | Self::Agent | Self::Command)
    }

    /// Returns the rules by which the client loads hooks from such a file, inside or outside a plugin.
    pub const fn hook_container(self, in_plugin: bool) -> HookContainer {
        match self {
            Self::Plugin => HookContainer::PluginHooks,
            Self::Agent | Self::Command if in_plugin => HookContainer::IgnoredHooks,
            Self::Skill | Self::Command => HookContainer::Skill,
            Self::Agent => HookContainer::Agent,
            _ => HookContainer::Settings,
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

/// A file with hooks: settings, a file of a plugin, or markdown with frontmatter.
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
    /// Reads a file. For a file of a plugin, `plugin` is the plugin's folder.
    pub fn load(
        whose: SettingsSource,
        path: &Path,
        plugin: Option<&Path>,
        contract: Contract,
    ) -> Self {
        Self::load_as(whose, path, plugin, whose.hook_container(plugin.is_some()), contract)
    }

    /// Reads a file by the rules for a kind of file.
    pub(super) fn load_as(
        whose: SettingsSource,
        path: &Path,
        plugin: Option<&Path>,
        container: HookContainer,
        contract: Contract,
    ) -> Self {
        let document = if whose.is_markdown() {
            LoadedDocument::load_frontmatter(path, contract)
        } else {
            LoadedDocument::load(path)
        };
        Self::from_document(whose, path, plugin, document, container, contract)
    }

    /// Creates a layer from bytes instead of a file. The path only names the file.
    pub fn parse(
        whose: SettingsSource,
        path: &Path,
        plugin: Option<&Path>,
        bytes: &[u8],
        contract: Contract,
    ) -> Self {
        let document = if whose.is_markdown() {
            LoadedDocument::parse_frontmatter(path, bytes, contract)
        } else {
            LoadedDocument::parse(path, bytes)
        };
        let container = whose.hook_container(plugin.is_some());
        Self::from_document(whose, path, plugin, document, container, contract)
    }

    /// Creates a layer from a file that has been read.
    pub(super) fn from_document(
        whose: SettingsSource,
        path: &Path,
        plugin: Option<&Path>,
        document: LoadedDocument,
        container: HookContainer,
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
        match document {
            LoadedDocument::Absent => {}
            LoadedDocument::Blank => layer.state = LayerState::Blank,
            LoadedDocument::Void(fault) => {
                layer.state = LayerState::Void;
                layer.faults.push(SettingsFault::Document(fault));
            }
            LoadedDocument::Document(document) => {
                layer.load_document(document, plugin, container, contract);
            }
        }
        layer
    }

    fn load_document(
        &mut self,
        document: Box<ClientDocument>,
        plugin: Option<&Path>,
        container: HookContainer,
        contract: Contract,
    ) {
        if document.replaced {
            self.faults.push(SettingsFault::NotUtf8(FileLocation::whole_file(&document.path)));
        }
        // Elsewhere a duplicate key is harmless to hooks and settings.
        for parent in ["", "/hooks", "/env"] {
            let keys = document.duplicate_keys().into_iter().filter(|key| key.parent == parent);
            self.faults.extend(keys.map(SettingsFault::DuplicateKey));
        }
        // Only settings files have these keys.
        let is_settings = plugin.is_none() && self.whose.has_settings();
        let wrong = if is_settings { find_wrong_types(&document, contract) } else { Vec::new() };
        let hooks = load_hooks_of(&document, container, contract);
        let void = !wrong.is_empty() || hooks.faults.iter().any(|fault| fault.skips_file);
        self.state = if void { LayerState::Void } else { LayerState::Read };
        self.entries = collect_entries(&document, &hooks, self.whose, plugin);
        self.faults.extend(wrong.into_iter().map(SettingsFault::WrongType));
        self.faults.extend(hooks.faults.into_iter().map(SettingsFault::Hooks));
        self.document = Some(document);
    }

    /// Returns the document of a file that the client reads, or the repaired document of one that it cannot read.
    pub fn readable_document(&self) -> Option<&ClientDocument> {
        let repaired = self.faults.iter().find_map(|fault| match fault {
            SettingsFault::Document(fault) => fault.repaired.as_deref(),
            _ => None,
        });
        self.document.as_deref().or(repaired)
    }

    /// Returns the value of a settings key if the client uses the file. Returns None for plugins and
    /// markdown files, which have other keys.
    pub fn setting(&self, key: &str) -> Option<(&ClientDocument, &JsonNode)> {
        if !self.whose.has_settings() || self.state != LayerState::Read {
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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::super::client_files::{WorkTreeFolders, managed_settings_files};
    use super::super::switches::{find_disabled_hooks, find_env_setting};
    use super::*;

    fn write_file(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn client_files(root: &Path) -> ClientFiles {
        write_file(&root.join("etc/managed-settings.d/10-a.json"), "{}");
        ClientFiles {
            folder: root.join("ship/inside"),
            work_tree: Some(WorkTreeFolders {
                root: root.join("ship"),
                common_dir: root.join("ship/.git"),
            }),
            managed: managed_settings_files(&root.join("etc")),
            config: Some(root.join("home/.claude")),
            ..ClientFiles::default()
        }
    }

    #[test]
    fn newer_client_reads_main_checkout() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let mut files = client_files(&root);
        std::fs::create_dir_all(&files.folder).unwrap();
        let sources = |files: &ClientFiles, contract| -> Vec<&str> {
            load_layers(files, contract).iter().map(|layer| layer.whose.as_str()).collect()
        };
        let [older, newer] = Contract::MEASURED.map(Contract::for_client);
        let all = ["managed", "managed", "local", "checkout", "project", "user"];
        assert_eq!(sources(&files, newer), all);
        assert_eq!(sources(&files, older), ["managed", "managed", "local", "project", "user"]);
        // In the main checkout and in the home folder, the same files are not read twice.
        files.folder = root.join("ship");
        assert_eq!(sources(&files, newer), ["managed", "managed", "local", "project", "user"]);
        files.config = Some(root.join("ship/.claude"));
        assert_eq!(sources(&files, newer), ["managed", "managed", "local", "user"]);
    }

    #[test]
    fn strongest_used_file_decides() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let files = client_files(&root);
        let newest = Contract::newest();
        let disabled = || {
            let found = find_disabled_hooks(&load_layers(&files, newest));
            found.map(|location| location.file.strip_prefix(&root).unwrap().to_owned())
        };
        let user =
            "{\"disableAllHooks\": true, \"env\": {\"A\": 1, \"CLAUDE_CODE_SIMPLE\": \"1\"}}";
        write_file(&files.user_settings().unwrap(), user);
        assert_eq!(disabled().as_deref(), Some(Path::new("home/.claude/settings.json")));
        write_file(&files.project_settings(), "{\"disableAllHooks\": false}");
        assert_eq!(disabled(), None);
        // The client skips the project's file, so the user's counts again.
        write_file(&files.project_settings(), "{\"disableAllHooks\": false, \"model\": 1}");
        assert_eq!(disabled().as_deref(), Some(Path::new("home/.claude/settings.json")));
        let local = "{\"env\": {\"A\": true, \"CLAUDE_CODE_SIMPLE\": \"0\"}}";
        write_file(&files.local_settings(), local);
        let layers = load_layers(&files, newest);
        let value = |name| find_env_setting(&layers, name, newest).map(|(value, _)| value);
        assert_eq!(value("A").as_deref(), Some("true"));
        assert_eq!(value("CLAUDE_CODE_SIMPLE").as_deref(), Some("1"), "the folder's is ignored");
    }
}
